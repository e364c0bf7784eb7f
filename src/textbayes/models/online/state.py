"""Online posteriors as JSON and arrays, and back, with everything checked that a file could claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textbayes.core.errors import ModelFileError
from textbayes.core.state import from_state, part_of, to_state, under
from textbayes.core.types import AnyArray
from textbayes.models.online.base import Bank, OnlinePosterior
from textbayes.models.online.diagonal import DiagonalPosterior
from textbayes.models.online.full import FullPosterior
from textbayes.models.online.gp import GaussianProcess
from textbayes.models.online.low_rank import LowRankPosterior

CLASSES: dict[str, type[OnlinePosterior]] = {
    "diagonal": DiagonalPosterior,
    "full": FullPosterior,
    "low_rank": LowRankPosterior,
    "process": GaussianProcess,
}


def posterior_state(posterior: OnlinePosterior) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Numbers and arrays of a posterior, by its fields."""
    return to_state(posterior)


def bank_state(posterior: DiagonalPosterior | Bank[Any]) -> tuple[list[dict[str, Any]], dict[str, AnyArray]]:
    """The posteriors of all labels: one that they share, or one each."""
    described: list[dict[str, Any]] = []
    arrays: dict[str, AnyArray] = {}
    for number, one in enumerate(posterior if isinstance(posterior, Bank) else [posterior]):
        meta, own = posterior_state(one)
        described.append(meta)
        arrays |= under(str(number), own)
    return described, arrays


def bank_from_state(
    covariance: str, described: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int, kernel: Any = None
) -> DiagonalPosterior | Bank[Any]:
    """The posteriors that :func:`bank_state` described, of so many labels and features."""
    n = 1 if covariance == "diagonal" else n_columns
    if not isinstance(described, list) or len(described) != n or not all(isinstance(one, dict) for one in described):
        raise ModelFileError("the model's posteriors are not those of its labels; was the file altered?")
    posteriors = [
        posterior_from_state(covariance, meta, part_of(arrays, str(number)), n_columns, n_features, kernel)
        for number, meta in enumerate(described)
    ]
    return posteriors[0] if covariance == "diagonal" else Bank(posteriors)


def posterior_from_state(
    covariance: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
    n_columns: int,
    n_features: int,
    kernel: Any = None,
) -> Any:
    """The posterior that :func:`posterior_state` described; what does not belong together is refused."""
    given = {"kernel": kernel} if covariance == "process" else {}
    what = "the model's posterior"
    return from_state(CLASSES[covariance], meta, arrays, what, given=given, n_features=n_features, n_labels=n_columns)

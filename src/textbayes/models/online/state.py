"""Online posteriors as JSON and arrays, and back, with everything checked that a file could claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.errors import ModelFileError
from textbayes.core.saved_arrays import saved_array, saved_csr
from textbayes.core.state import part_of, under
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
CSR_PARTS = ("data", "indices", "indptr")


def posterior_state(posterior: OnlinePosterior) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Numbers and arrays of a posterior, which is a dataclass of these; a process' kernel is told elsewhere."""
    meta: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for item in fields(posterior):
        value = getattr(posterior, item.name)
        if isinstance(value, np.ndarray):
            arrays[item.name] = value
        elif item.name == "basis":
            arrays |= {f"basis_{part}": getattr(value, part) for part in CSR_PARTS}
        elif item.name != "kernel":
            meta[item.name] = value
    return meta, arrays


def bank_state(posterior: DiagonalPosterior | Bank[Any]) -> tuple[list[dict[str, Any]], dict[str, AnyArray]]:
    """The posteriors of all labels: one that they share, or one each."""
    told: list[dict[str, Any]] = []
    arrays: dict[str, AnyArray] = {}
    for number, one in enumerate(posterior if isinstance(posterior, Bank) else [posterior]):
        meta, own = posterior_state(one)
        told.append(meta)
        arrays |= under(str(number), own)
    return told, arrays


def bank_from_state(
    covariance: str, told: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int, kernel: Any = None
) -> DiagonalPosterior | Bank[Any]:
    """The posteriors that :func:`bank_state` described, of so many labels and features."""
    n = 1 if covariance == "diagonal" else n_columns
    if not isinstance(told, list) or len(told) != n or not all(isinstance(one, dict) for one in told):
        raise ModelFileError("the model's posteriors are not those of its labels; was the file altered?")
    posteriors = [
        posterior_from_state(covariance, meta, part_of(arrays, str(number)), n_columns, n_features, kernel)
        for number, meta in enumerate(told)
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

    def array(name: str, *shape: int, least: float = -1e100) -> AnyArray:
        return np.array(saved_array(arrays, name, np.float64, shape, least=least))

    if covariance == "diagonal":
        _numbers(meta, {})
        shape = (1 + n_features, n_columns)
        variances = array("var", *shape, least=0.0), array("prior_mean", *shape), array("prior_var", *shape, least=0.0)
        return DiagonalPosterior(array("mean", *shape), *variances)
    words = np.array(saved_array(arrays, "words", np.int64, (None,), least=0, most=n_features - 1))
    if len(np.unique(words)) < len(words):
        raise ModelFileError("the model's words are there twice; was the file altered?")
    size = 1 + len(words)
    if covariance == "full":
        _numbers(meta, {})
        cov = array("cov", size, size)
        if not (np.diag(cov) >= 0.0).all() or not np.array_equal(cov, cov.T):
            raise ModelFileError("the model's cov is no covariance; was the file altered?")
        priors = array("prior_mean", size), array("prior_var", size, least=0.0)
        return FullPosterior(words, array("mean", size), cov, *priors)
    if covariance == "low_rank":
        _numbers(meta, {"rank": (int, 1, 10**6), "n_columns": (int, 0, 2 * 10**6)})
        room = 2 * int(meta["rank"])
        if meta["n_columns"] > room:
            raise ModelFileError("the model's posterior has more directions than room; was the file altered?")
        root, n_used = array("root", room, room), int(meta["n_columns"])
        if not (np.diag(root)[:n_used] > 0.5).all():  # a Cholesky factor of I + F'D⁻¹F, whose pivots are at least 1
            raise ModelFileError("the model's root is no Cholesky factor; was the file altered?")
        return LowRankPosterior(
            words, meta["rank"], array("settled", size), array("diagonal", size, least=1e-30),
            array("factor", size, room), meta["n_columns"], root, array("pending", size),
            array("shift", room), array("prior_mean", size), array("prior_var", size, least=0.0),
        )  # fmt: skip
    _numbers(meta, {"n_basis": (int, 0, 10**6), "tolerance": (float, 0.0, 1e100), "jitter": (float, 0.0, 1e100)})
    budget = len(arrays.get("alpha", np.zeros(0)))
    if not meta["n_basis"] <= budget or budget < 1:
        raise ModelFileError("the model's basis is larger than its budget; was the file altered?")
    parts = {f"basis.{part}": arrays.get(f"basis_{part}", np.zeros(0)) for part in CSR_PARTS}
    basis = saved_csr(parts, "basis", (meta["n_basis"], len(words)), in_order=False)  # of a stream it is not
    return GaussianProcess(
        kernel, words, sparse.csr_matrix(basis), meta["n_basis"], array("alpha", budget),
        array("covariance", budget, budget), array("inverse", budget, budget), meta["tolerance"], meta["jitter"],
    )  # fmt: skip


def _numbers(meta: Mapping[str, Any], needed: dict[str, tuple[type, float, float]]) -> None:
    """Refuse numbers other than those that are needed, of their types and ranges."""
    fits = set(meta) == set(needed) and all(
        type(meta[name]) is kind and low <= meta[name] <= high for name, (kind, low, high) in needed.items()
    )
    if not fits:
        raise ModelFileError("the model's posterior is not described as it must be; was the file altered?")

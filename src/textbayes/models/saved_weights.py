"""Weights, their errors and draws as JSON and arrays, and back; no more is imported than scoring needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.codec import Described, Field, Null, Number, Text, read
from textbayes.core.errors import ModelFileError
from textbayes.core.machine import check_fits_memory
from textbayes.core.saved_arrays import saved_array, saved_dense
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, FloatArray
from textbayes.links import BaseLink, make_link

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws

_LONGEST_LINK = 200  # characters: links in links would nest without end
_LONGEST_LINKS = 2**24  # of many labels each may have its own


class LinkField(Text):
    """A link by its specification, or those of all labels with semicolons between them."""

    def __init__(self) -> None:
        super().__init__(_LONGEST_LINKS)

    def takes(self, value: Any) -> bool:
        return isinstance(value, str | BaseLink)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return value.spec if isinstance(value, BaseLink) else value

    def read(self, saved: Any, place: str, arrays: Mapping[str, AnyArray], sizes: dict[str, int]) -> Any:
        if any(len(link) > _LONGEST_LINK for link in saved.split(";")):
            raise ValueError(f"a link is longer than {_LONGEST_LINK} characters")
        return super().read(saved, place, arrays, sizes)


_FIELDS: dict[str, Field] = {
    "link": LinkField(),
    "held_scale": Number(above=0.0, most=1e100),
    "draws": Described() | Null(),
}


class SavedWeights(NamedTuple):
    """What a file says of weights beside their arrays."""

    link: BaseLink
    held_scale: float
    draws: dict[str, Any] | None


def weights_description(meta: Any, n_rows: int) -> SavedWeights:
    """The checked description of weights with so many rows."""
    found = read(_FIELDS, meta, {}, "the model's weights")
    link = make_link(found["link"])
    link.check_labels(n_rows)
    return SavedWeights(link, found["held_scale"], found["draws"])


def weights_state(model: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Weights of a fitted classifier with a weight for every word."""
    matrices = {"coef": model.coef_}
    if model.standard_errors_ is not None:
        matrices["errors"] = np.nan_to_num(model.standard_errors_)  # 0 stands for a word without one
    if model.mean_shifts_ is not None:
        matrices["shifts"] = model.mean_shifts_
    arrays: dict[str, AnyArray] = {"intercept": model.intercept_}
    for name, matrix in matrices.items():
        rows = sparse.csr_matrix(matrix)
        arrays |= {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
    if model.intercept_errors_ is not None:
        arrays["intercept_errors"] = model.intercept_errors_
    draws = None
    if model.draws_ is not None:
        draws, drawn = model.draws_.to_state()
        arrays |= under("draws", drawn)
    return {"link": model.link_.spec, "held_scale": model.held_scale_, "draws": draws}, arrays


def restored_weights(draws: Any, arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> dict[str, Any]:
    """Fitted attributes from the arrays of :func:`weights_state`, checked to be of that shape.

    Parameters
    ----------
    draws : dict or None
        The description of the draws.
    arrays : mapping of str to array
    shape : (n_rows, n_features)
    """
    with_errors = any(name.startswith("errors.") for name in arrays)
    with_shifts = any(name.startswith("shifts.") for name in arrays)
    check_fits_memory(8 * shape[0] * shape[1] * (1 + with_errors + with_shifts), "the weights of the model")
    coef, intercept = saved_coefficients(arrays, shape)
    found: dict[str, Any] = {"coef_": coef, "intercept_": intercept, "draws_": None}
    if draws is not None:
        found["draws_"] = _restored_draws(draws, arrays, shape)
    if with_errors:
        errors = saved_dense(arrays, "errors", shape, least=0.0)
        found["standard_errors_"] = np.where(errors > 0.0, errors, np.nan)
    if with_shifts:
        found["mean_shifts_"] = saved_dense(arrays, "shifts", shape)
    if "intercept_errors" in arrays:
        found["intercept_errors_"] = saved_array(arrays, "intercept_errors", np.float64, shape[:1], least=0.0)
    return found


def saved_coefficients(arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Weights and intercepts of a file, of that shape."""
    return saved_dense(arrays, "coef", shape), saved_array(arrays, "intercept", np.float64, shape[:1])


def _restored_draws(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> Draws:
    from textbayes.posterior.draws import Draws  # loads numba, which is slow

    draws = Draws.from_state(meta, part_of(arrays, "draws"))
    if (len(draws.labels), draws.n_features) != shape:
        raise ModelFileError("the model's draws are of other labels or words than its weights; was the file altered?")
    return draws

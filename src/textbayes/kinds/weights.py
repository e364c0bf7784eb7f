"""What fitted models with a weight for every word share: errors, draws, their form in a file, and learning on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from textbayes.core.errors import ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.memory import check_fits_memory
from textbayes.core.saved_arrays import saved_array, saved_dense
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.kinds.base import Fitted
from textbayes.priors import make_prior
from textbayes.priors.by_word import ByWord

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws


class FittedWeights(Fitted):
    """Weights and intercepts, one row for each label or class.

    Parameters
    ----------
    space : LabelSpace
    coef, intercept : arrays (n_rows, n_features), (n_rows,)
        Modes, or means of the posterior where it was sampled.
    errors, intercept_errors : arrays like them, or None
        Standard errors, NaN for words that have none.
    shifts : array like ``coef``, or None
        Posterior mean − mode of the weights, for their intervals.
    draws : Draws or None
    held_scale : float
        Scale of the prior of words without an error, for learning on.
    """

    def __init__(
        self,
        space: LabelSpace,
        coef: FloatArray,
        intercept: FloatArray,
        errors: FloatArray | None = None,
        intercept_errors: FloatArray | None = None,
        draws: Draws | None = None,
        held_scale: float = 1.0,
        shifts: FloatArray | None = None,
    ) -> None:
        super().__init__(space)
        self.coef, self.intercept, self.draws = coef, intercept, draws
        self.errors, self.intercept_errors, self.held_scale = errors, intercept_errors, held_scale
        self.shifts = shifts

    @property
    def has_posterior(self) -> bool:
        return self.draws is not None

    def known_words(self) -> BoolArray:
        return np.asarray((self.coef != 0.0).any(axis=0))

    def as_prior(self) -> dict[str, Any]:
        """The posterior as the prior of a further fit, N(weight, error²) word by word: parameters of an estimator."""
        if self.errors is None or self.intercept_errors is None:
            raise NotSupportedError(
                "this model does not know how sure it is of its weights, so it cannot learn on; train it with "
                "--intervals (intervals=True)"
            )
        held = np.isnan(self.errors)
        family = np.where(held, "laplace", "gaussian")
        prior = ByWord(scale=np.where(held, self.held_scale, self.errors), mean=self.coef, family=family)
        # An intercept that is all but certain keeps a little room, so that the prior is a density.
        spread = np.maximum(self.intercept_errors, 1e-6)
        return {"prior": prior, "intercept_mean": self.intercept, "intercept_scale": spread, "intervals": True}

    def weights_state(self) -> tuple[dict[str, Any] | None, dict[str, AnyArray]]:
        """The description of the draws, None where there are none, and all arrays by name."""
        matrices = {"coef": self.coef}
        if self.errors is not None:
            matrices["errors"] = np.nan_to_num(self.errors)  # 0 stands for a word without one
        if self.shifts is not None:
            matrices["shifts"] = self.shifts
        arrays: dict[str, AnyArray] = {"intercept": self.intercept}
        for name, matrix in matrices.items():
            rows = sparse.csr_matrix(matrix)
            arrays |= {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
        if self.intercept_errors is not None:
            arrays["intercept_errors"] = self.intercept_errors
        if self.draws is None:
            return None, arrays
        draws, drawn = self.draws.to_state()
        return draws, arrays | under("draws", drawn)


def restored_weights(draws: Any, arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> dict[str, Any]:
    """Arguments of :class:`FittedWeights` from what ``weights_state`` gave, checked to be of that shape.

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
    found: dict[str, Any] = {
        "coef": saved_dense(arrays, "coef", shape),
        "intercept": saved_array(arrays, "intercept", np.float64, shape[:1]),
        "draws": None if draws is None else _restored_draws(draws, arrays, shape),
    }
    if with_errors:
        errors = saved_dense(arrays, "errors", shape, least=0.0)
        found["errors"] = np.where(errors > 0.0, errors, np.nan)
    if with_shifts:
        found["shifts"] = saved_dense(arrays, "shifts", shape)
    if "intercept_errors" in arrays:
        found["intercept_errors"] = saved_array(arrays, "intercept_errors", np.float64, shape[:1], least=0.0)
    return found


def held_scale(estimator: Any) -> float:
    """A typical scale of an estimator's prior."""
    scale = np.asarray(make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign).scale)
    finite = scale[np.isfinite(scale)]
    return float(np.median(finite)) if finite.size else 1.0


def _restored_draws(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> Draws:
    from textbayes.posterior.draws import Draws  # loads numba, which is slow

    draws = Draws.from_state(meta, part_of(arrays, "draws"))
    if (len(draws.labels), draws.n_features) != shape:
        raise ModelFileError("the model's draws are of other labels or words than its weights; was the file altered?")
    return draws

"""Beta and isotonic calibration: one growing function for each label, from a model's probability to a better one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special

from textbayes.core.array_fields import Array
from textbayes.core.codec import Choice, Null
from textbayes.core.errors import InputError
from textbayes.core.labels import Kind
from textbayes.core.state import with_fields
from textbayes.core.types import BoolArray, FloatArray, IntArray

METHODS = ("beta", "isotonic")
_LEAST_TEXTS = {"beta": 300, "isotonic": 1_000}  # held out; scikit-learn advises isotonic from about 1,000 on
_LEAST_OF_LABEL = {"beta": 10, "isotonic": 50}  # with the label and without it, else its probabilities stay
_CLIP = 1e-12
_SD = 2.0  # of the prior of the beta map around the identity: held-out texts that are all right do not unbound it


def check_enough(method: str, n_texts: int) -> None:
    """Refuse a calibration that so few held-out texts cannot carry."""
    least = _LEAST_TEXTS[method]
    if n_texts < least:
        fewer = f"calibrate='beta' ({_LEAST_TEXTS['beta']} texts)" if method == "isotonic" else "calibrate=True"
        raise InputError(
            f"calibrate={method!r} needs {least:,} held-out texts and this training has {n_texts:,}; give more texts, "
            f"or use {fewer}, or leave it out"
        )


@with_fields(
    {
        "method": Choice(*METHODS),
        "coefficients": Array(np.float64, ("n_columns", 3)) | Null(),
        "starts": Array(np.int64, (lambda sizes: sizes["n_columns"] + 1,), least=0) | Null(),
        "knots": Array(np.float64, (None,), least=0.0, most=1.0) | Null(),
        "values": Array(np.float64, (None,), least=0.0, most=1.0) | Null(),
    }
)
class Recalibration(NamedTuple):
    """A map of the probabilities of each label; those of exclusive classes are normalised afterwards.

    ``beta``: log-odds a ln p − b ln(1 − p) + c with a, b ≥ 0, where (1, 1, 0) changes nothing; a and b have the prior
    N(1, 2²) and c N(0, 2²). ``isotonic``: the growing function of least squares, interpolated between its knots and
    kept from 1/(n + 2) to 1 − 1/(n + 2), with n the texts it was fitted to. Labels that few held-out texts have keep
    theirs.

    Attributes
    ----------
    method : {"beta", "isotonic"}
    coefficients : array (n_columns, 3) or None
        a, b and c of each label.
    starts, knots, values : arrays or None
        Knots and values of label k are those from ``starts[k]`` to ``starts[k + 1]``.

    References
    ----------
    Kull, Silva Filho & Flach (2017), Beta calibration, AISTATS, PMLR 54, 623–631. Zadrozny & Elkan (2002), Transforming
    classifier scores into accurate multiclass probability estimates, KDD.
    """

    method: str
    coefficients: FloatArray | None = None
    starts: IntArray | None = None
    knots: FloatArray | None = None
    values: FloatArray | None = None

    @classmethod
    def fit(
        cls,
        method: str,
        proba: FloatArray,
        indicator: BoolArray,
        usable: BoolArray,
        weight: FloatArray | None = None,
    ) -> Self:
        """The map of every label.

        Parameters
        ----------
        method : {"beta", "isotonic"}
        proba : array (n_docs, n_columns)
            Probabilities of texts that the model had not seen.
        indicator : boolean array (n_docs, n_columns)
        usable : boolean array (n_docs, n_columns)
            False where a probability means nothing.
        weight : array (n_docs,), optional
            How much each text counts.
        """
        counts = np.ones(len(proba)) if weight is None else weight
        found = []
        for k in range(proba.shape[1]):
            rows = usable[:, k] & (counts > 0.0)
            y = indicator[rows, k]
            enough = min(int(y.sum()), int((~y).sum())) >= _LEAST_OF_LABEL[method]
            found.append(_FITS[method](proba[rows, k], y, counts[rows]) if enough else _SAME[method])
        if method == "beta":
            return cls(method, np.array(found))
        knots, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return cls(method, None, np.cumsum([0, *(len(one[0]) for one in found)]), knots, values)

    def check_state(self) -> None:
        """Refuse what a file has of another method, or knots that are not those of growing functions."""
        if self.method == "beta":
            if self.coefficients is None or (self.coefficients[:, :2] < 0.0).any():
                raise ValueError("a beta map needs coefficients that are not negative")
            return
        if self.starts is None or self.knots is None or self.values is None or len(self.starts) < 2:
            raise ValueError("an isotonic map needs knots and values")
        ends = self.starts[0] == 0 and self.starts[-1] == len(self.knots) == len(self.values)
        inner = np.ones(max(len(self.knots) - 1, 0), dtype=np.bool_)
        if ends and (np.diff(self.starts) > 0).all():
            inner[self.starts[1:-1] - 1] = False  # from one label to the next
            if (np.diff(self.knots)[inner] >= 0.0).all() and (np.diff(self.values)[inner] >= 0.0).all():
                return
        raise ValueError("the knots of an isotonic map are not in order")

    def apply(self, proba: FloatArray, kind: Kind) -> FloatArray:
        """Calibrated probabilities, like ``proba`` (n_docs, n_columns).

        Parameters
        ----------
        proba : array (n_docs, n_columns)
        kind : {"binary", "multiclass", "multilabel"}
        """
        if self.coefficients is not None:
            p = np.clip(proba, _CLIP, 1.0 - _CLIP)
            a, b, c = self.coefficients.T
            mapped = special.expit(a * np.log(p) - b * np.log1p(-p) + c)
        else:
            assert self.starts is not None
            assert self.knots is not None
            assert self.values is not None
            mapped = np.empty_like(proba)
            for k, (start, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
                mapped[:, k] = np.interp(proba[:, k], self.knots[start:end], self.values[start:end])
        if kind == "multiclass":
            mapped = np.maximum(mapped, _CLIP)
            mapped /= mapped.sum(axis=1, keepdims=True)
        return np.asarray(mapped)


def _fit_beta(p: FloatArray, y: BoolArray, weight: FloatArray) -> FloatArray:
    """Mode of (a, b, c)."""
    from scipy import optimize  # scoring does without

    p = np.clip(p, _CLIP, 1.0 - _CLIP)
    design = np.column_stack([np.log(p), -np.log1p(-p), np.ones(len(p))])
    sign = np.where(y, 1.0, -1.0)

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        log_odds, off = sign * (design @ theta), theta - _SAME["beta"]
        gradient = off / _SD**2 - design.T @ (weight * sign * special.expit(-log_odds))
        return float(weight @ np.logaddexp(0.0, -log_odds) + 0.5 * off @ off / _SD**2), gradient

    bounds = [(0.0, None), (0.0, None), (None, None)]
    found = optimize.minimize(
        objective, _SAME["beta"], jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-8}
    )
    return np.asarray(found.x)


def _fit_isotonic(p: FloatArray, y: BoolArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Knots and values."""
    from sklearn.isotonic import IsotonicRegression  # scoring does without

    found = IsotonicRegression(out_of_bounds="clip").fit(p, y.astype(np.float64), sample_weight=weight)
    least = 1.0 / (len(p) + 2.0)
    return found.X_thresholds_, np.clip(found.y_thresholds_, least, 1.0 - least)


_FITS: dict[str, Callable[..., Any]] = {"beta": _fit_beta, "isotonic": _fit_isotonic}
_SAME: dict[str, Any] = {"beta": np.array([1.0, 1.0, 0.0]), "isotonic": (np.array([0.0, 1.0]), np.array([0.0, 1.0]))}

"""Measures of the probabilities themselves, whatever is decided on them.

Each column is one yes-or-no question; ``average=None`` gives one value per label, ``"micro"`` the mean over all
decisions. Lower is better for losses and errors.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_choice, check_indicator, check_probabilities, check_same_length

Binning = Literal["width", "mass"]
CLIP = 1e-15  # the least probability that a log-loss counts


def log_loss(
    Y_true: Matrix | ArrayLike, proba: ArrayLike, average: Literal["micro"] | None = "micro", clip: float = CLIP
) -> FloatArray:
    """Log-loss per yes-or-no decision, −mean of y ln p + (1−y) ln(1−p), no probability below ``clip``.

    Where classes exclude each other, ``class_log_losses`` is the loss per document.

    Parameters
    ----------
    Y_true : boolean array (n_docs, n_labels)
    proba : array (n_docs, n_labels)
    average : "micro" or None
        The mean over all decisions, or that of each label.
    clip : float
        Keeps the loss finite.

    Examples
    --------
    >>> float(log_loss([[1], [0]], [[0.5], [0.5]]).round(4))
    0.6931
    """
    return _mean(decision_losses(*check_forecast(Y_true, proba), clip), average)


def decision_losses(Y_true: BoolArray, proba: FloatArray, clip: float = CLIP) -> FloatArray:
    """Log-loss of every yes-or-no decision: −ln p where the label holds, −ln(1−p) where it does not.

    The one place where probabilities are clipped for a log-loss; what is measured, pooled or compared sums these.

    Parameters
    ----------
    Y_true : boolean array
    proba : array of the same shape
    clip : float
        The least probability that is counted; keeps the loss finite.
    """
    return -np.log(np.clip(np.where(Y_true, proba, 1.0 - proba), clip, 1.0))


def class_log_losses(Y_true: Matrix | ArrayLike, proba: ArrayLike, clip: float = CLIP) -> tuple[float, FloatArray]:
    """Log-loss −ln p(true class) of exclusive classes: the mean over documents, and over those of each class.

    The first is ``sklearn.metrics.log_loss``. Documents of none of the classes are left out; without any document the
    mean is NaN.

    Parameters
    ----------
    Y_true : boolean array (n_docs, n_classes)
    proba : array (n_docs, n_classes)
    clip : float
        Keeps the loss finite.

    Examples
    --------
    >>> overall, by_class = class_log_losses([[1, 0], [1, 0], [0, 1]], [[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]])
    >>> round(float(overall / np.log(2)), 6), (by_class / np.log(2)).round(6).tolist()
    (1.333333, [1.5, 1.0])
    """
    Y, p = check_forecast(Y_true, proba)
    loss = np.where(Y, decision_losses(Y, p, clip), 0.0)
    n = Y.sum(axis=0).astype(np.float64)
    by_class = np.divide(loss.sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)
    return float(loss.sum() / n.sum()) if n.sum() else float("nan"), by_class


def brier_loss(Y_true: Matrix | ArrayLike, proba: ArrayLike, average: Literal["micro"] | None = "micro") -> FloatArray:
    """Brier loss, the mean of (p − y)², Brier (1950).

    Parameters
    ----------
    Y_true : boolean array (n_docs, n_labels)
    proba : array (n_docs, n_labels)
    average : "micro" or None
        The mean over all decisions, or that of each label.

    Examples
    --------
    >>> float(brier_loss([[1], [0]], [[0.8], [0.4]]).round(4))
    0.1
    """
    Y, p = check_forecast(Y_true, proba)
    return _mean((p - Y) ** 2, average)


def average_log_evidence(
    Y_true: Matrix | ArrayLike,
    proba: ArrayLike,
    average: Literal["decision", "label"] = "decision",
    clip: float = CLIP,
) -> float:
    """Log-probability of what was observed, Σ_t ln p(y_t): per decision, or summed per label and averaged over labels.

    ``"decision"`` divides by the number of decisions T (minus the micro log-loss); ``"label"`` is the average
    log-evidence of Chai, Ng & Chieu (2002), appendix A.1, tables 6 and 7.

    Parameters
    ----------
    Y_true : boolean array (n_docs, n_labels)
    proba : array (n_docs, n_labels)
    average : {"decision", "label"}
    clip : float
        Keeps the logarithm finite.
    """
    check_choice("average", average, ("decision", "label"))
    per_label = -log_loss(Y_true, proba, None, clip)
    n_docs = len(check_indicator(Y_true)) if average == "label" else 1
    return float(per_label.mean() * n_docs)


class ReliabilityCurve(NamedTuple):
    """Reliability curve: mean probability, share of positives and number of decisions of each bin that holds one."""

    mean_proba: FloatArray
    share_positive: FloatArray
    n: IntArray


def reliability_curve(
    Y_true: Matrix | ArrayLike, proba: ArrayLike, n_bins: int = 10, binning: Binning = "width"
) -> ReliabilityCurve:
    """Observed against predicted frequency, all decisions pooled; a calibrated classifier lies on the diagonal.

    Bins are of equal width on [0, 1] (``"width"``) or hold equally many decisions (``"mass"``; equal probabilities stay
    together). Pass one column for the curve of one label.

    Parameters
    ----------
    Y_true : boolean array (n_docs, n_labels)
    proba : array (n_docs, n_labels)
    n_bins : int
    binning : {"width", "mass"}
    """
    Y, p = check_forecast(Y_true, proba)
    p, y = p.reshape(-1), Y.reshape(-1)
    bins = _bins(p, n_bins, binning)
    count = np.bincount(bins, minlength=n_bins)
    used = count > 0
    total = np.maximum(count, 1)
    mean = np.bincount(bins, weights=p, minlength=n_bins) / total
    share = np.bincount(bins, weights=y, minlength=n_bins) / total
    return ReliabilityCurve(mean[used], share[used], count[used])


def calibration_error(
    Y_true: Matrix | ArrayLike,
    proba: ArrayLike,
    average: Literal["micro"] | None = "micro",
    n_bins: int = 10,
    binning: Binning = "width",
) -> FloatArray:
    """Expected calibration error, Σ_b (n_b / n) |share of positives − mean probability| over bins b.

    Reference: Naeini, Cooper & Hauskrecht (2015), AAAI. Equal-mass bins are the less biased choice when most
    probabilities are close to 0, as they are for rare labels.

    Parameters
    ----------
    Y_true : boolean array (n_docs, n_labels)
    proba : array (n_docs, n_labels)
    average : "micro" or None
        All decisions together, or each label by itself.
    n_bins : int
    binning : {"width", "mass"}
        Bins of equal width, or of equally many decisions.
    """
    Y, p = check_forecast(Y_true, proba)
    check_choice("average", average, ("micro", None))
    if average is None:
        return np.array([_pooled_error(Y[:, [j]], p[:, [j]], n_bins, binning) for j in range(p.shape[1])])
    return _pooled_error(Y, p, n_bins, binning)


def check_forecast(Y_true: Matrix | ArrayLike, proba: ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Check an indicator and probabilities, which must be of the same shape, with at least one document."""
    Y, p = check_indicator(Y_true, "Y_true"), check_probabilities(proba)
    check_same_length(Y, "Y_true", p, "proba")
    if Y.shape != p.shape:
        raise InputError(f"Y_true has {Y.shape[1]} labels but proba has {p.shape[1]}; pass the same columns in both")
    if not Y.size:
        raise InputError("no documents were given; at least one is needed to measure probabilities")
    return Y, p


def _pooled_error(Y: BoolArray, p: FloatArray, n_bins: int, binning: Binning) -> Any:
    curve = reliability_curve(Y, p, n_bins, binning)
    return np.average(np.abs(curve.share_positive - curve.mean_proba), weights=curve.n)


def _bins(p: FloatArray, n_bins: int, binning: Binning) -> IntArray:
    check_choice("binning", binning, ("width", "mass"))
    if n_bins < 1:
        raise InputError(f"n_bins={n_bins!r} must be 1 or more")
    if binning == "width":
        return np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    inner = np.quantile(p, np.linspace(0, 1, n_bins + 1)[1:-1], method="inverted_cdf")
    return np.searchsorted(inner, p, side="left")


def _mean(values: FloatArray, average: str | None) -> FloatArray:
    check_choice("average", average, ("micro", None))
    return values.mean(axis=0) if average is None else values.mean()

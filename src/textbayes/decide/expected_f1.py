"""Decisions that maximise the F1 to be expected from the probabilities alone: no labels needed."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.codec import Fields, Null
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_choice, check_probabilities
from textbayes.decide._base import OF_LABELS, Rule, make_cuts, per_label, rules

Method = Literal["exact", "lewis"]


@rules.register("expected_f1")
class ExpectedF1(Rule):
    """Per label the cut of the batch with the highest expected F1, believing the probabilities.

    For independent labels the best set of k documents is the k most probable, so only k is sought.

    - ``method="lewis"``: E[F1] ≈ ∏(1 − p_i) for no yes, else 2 Σ_{i ∈ D+} p_i / (|D+| + Σ_{i ∈ D} p_i).
    - ``method="exact"``: the expectation itself, by recursion over the Poisson-binomial distribution; cuts that an
      upper bound rules out are not computed. F1 of nothing against nothing counts as 1.

    Documents of equal probability are decided alike. The decisions of one document depend on the others in the batch;
    with ``batch="fit"`` thresholds are learnt from the probabilities given to ``fit`` (still without labels) and
    documents can then be decided one at a time.

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,), after ``fit`` with ``batch="fit"``

    References
    ----------
    Lewis (1995), Evaluating and optimizing autonomous text classification systems, SIGIR.
    Chai, Ng & Chieu (2002), Bayesian online classifiers, SIGIR, § 4.1.2 (the two-case form).
    Jansche (2007), ACL; Ye, Chai, Lee & Chieu (2012), ICML (exact expectation).

    Examples
    --------
    >>> ExpectedF1().decide([[0.9], [0.45], [0.1]]).ravel()
    array([ True,  True, False])
    """

    name = "expected_f1"
    learnt: ClassVar[Fields] = {"thresholds_": OF_LABELS | Null()}

    def __init__(self, method: Method = "exact", batch: Literal["decide", "fit"] = "decide") -> None:
        self.method = method
        self.batch = batch

    @property
    def needs_probabilities(self) -> bool:
        return True

    @property
    def learns(self) -> bool:
        return self.batch == "fit"

    @property
    def has_thresholds(self) -> bool:  # type: ignore[override]  # with ``batch="fit"`` alone
        return self.batch == "fit"

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        if self.batch == "fit":
            self.thresholds_ = expected_f1_thresholds(proba, self.method)[0]

    def decide(self, proba: ArrayLike) -> BoolArray:
        """The set of highest expected F1 in this batch, per label (or p > ``thresholds_``, with ``batch="fit"``)."""
        proba = self._check_decide(proba)
        self.check_params(proba.shape[1])
        if self.batch == "fit":
            return proba > per_label(self.thresholds_, proba.shape[1], "thresholds_")
        return proba > expected_f1_thresholds(proba, self.method)[0]

    def reason(self, label: int, mirrored: bool = False) -> str:
        """The threshold, or that there is none for a text by itself."""
        if self.threshold_of(label) is None:
            return "decided with the other texts of its batch, for the highest expected F1"
        return super().reason(label, mirrored)

    def check_params(self, n_labels: int) -> None:
        check_choice("method", self.method, ("exact", "lewis"))
        check_choice("batch", self.batch, ("decide", "fit"))


def expected_f1_thresholds(proba: ArrayLike, method: Method = "exact") -> tuple[FloatArray, FloatArray]:
    """Per label the threshold of highest expected F1 in this batch, and that expected F1.

    Parameters
    ----------
    proba : array (n_docs, n_labels)
        Calibrated probabilities.
    method : {"exact", "lewis"}
        The expectation of F1, or Lewis's approximation of it.

    Returns
    -------
    tuple of arrays (n_labels,)
        Thresholds, and the expected F1 at each.

    Examples
    --------
    >>> thresholds, value = expected_f1_thresholds([0.9, 0.5, 0.1], "lewis")  # yes to two: 2 · 1.4 / (2 + 1.5)
    >>> thresholds, value
    (array([0.3]), array([0.8]))
    """
    proba = check_probabilities(proba)
    if not proba.size:
        return np.zeros(proba.shape[1]), np.ones(proba.shape[1])
    cuts = make_cuts(proba, np.zeros(proba.shape, dtype=np.bool_))
    lewis = _lewis(cuts.scores)
    k = cuts.best(lewis)
    value = cuts.at(lewis, k)
    if method == "exact":
        for label in range(len(k)):
            k[label], value[label] = _best_exact(cuts.scores[label], cuts.possible[label], int(k[label]))
    return cuts.thresholds(k), value


def _lewis(scores: FloatArray) -> FloatArray:
    """Lewis's approximation for every k (column) and label (row)."""
    n_labels, n_docs = scores.shape
    values = np.empty((n_labels, n_docs + 1))
    values[:, 0] = _none_positive(scores)
    head = np.cumsum(scores, axis=1)
    values[:, 1:] = 2 * head / (np.arange(1, n_docs + 1) + head[:, -1:])
    return values


def _none_positive(scores: FloatArray) -> FloatArray:
    """∏(1 − p) over the last axis."""
    with np.errstate(divide="ignore"):  # a certain document: log 0, no chance of "none positive"
        return np.exp(np.log1p(-scores).sum(axis=-1))


def _best_exact(scores: FloatArray, possible: BoolArray, k_guess: int) -> tuple[int, float]:
    """The cut of highest exact E[F1] and its value; only cuts whose upper bound reaches the guess are computed."""
    from textbayes.kernels.expected_f import expected_f1_curve

    best, found = 0, float(_none_positive(scores))
    if k_guess > 0:
        at_guess = float(expected_f1_curve(scores, k_guess, k_guess)[0])
        best, found = (k_guess, at_guess) if at_guess > found else (best, found)
    candidates = np.flatnonzero((_upper_bound(scores) >= found) & possible[1:]) + 1
    if len(candidates):
        first, last = int(candidates[0]), int(candidates[-1])
        curve = np.where(possible[first : last + 1], expected_f1_curve(scores, first, last), -np.inf)
        if curve.max() >= found:
            best, found = first + int(curve.argmax()), float(curve.max())
    return best, found


def _upper_bound(scores: FloatArray) -> FloatArray:
    """No less than the exact E[F1] of every cut k = 1 … n.

    Given B positives among the rest, F1 = 2A/(k + A + B) is concave in A, so its mean is at most 2m/(k + m + B) with
    m = E[A] (Jensen). B, of mean ν, falls below ν − t with probability at most exp(−t²/2ν) (Chernoff), hence
    E[F1] ≤ 2m/(k + m + ν − t) + 2m/(k + m) · exp(−t²/2ν). The best of a few t is taken; t = ν needs no second term.
    """
    head = np.cumsum(scores)
    k = np.arange(1, len(scores) + 1)
    rest = np.maximum(head[-1] - head, 0.0)
    bound = without_rest = 2 * head / (k + head)
    for exponent in (2.0, 5.0, 10.0, 20.0):  # t²/2ν
        likely_rest = np.maximum(rest - np.sqrt(2 * exponent * rest), 0.0)
        bound = np.minimum(bound, 2 * head / (k + head + likely_rest) + np.exp(-exponent) * without_rest)
    return bound + 1e-12  # rounding must not exclude a cut

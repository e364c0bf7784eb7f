"""Rules that choose words by their scores, threshold, false discovery rate, top k; the transformer that keeps them.

Rules given together must all hold, and ``k`` counts last: ``threshold=12.13, k=300`` is "every word above 12.13, at
most the 300 best" of the online paper. Equal scores are decided by column: the lower index first.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import encode_labels
from textbayes.core.protocols import ScoreFunction, ScoreResult
from textbayes.core.types import AnyArray, BoolArray, FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.lexical.exposures import takes_counts
from textbayes.lexical.p_values import benjamini_hochberg, storey
from textbayes.select.score_functions import scores

FdrMethod = Literal["bh", "storey"]
Combine = Literal["max", "union"]
_Q_VALUES = {"bh": benjamini_hochberg, "storey": storey}


def select_per_label(
    result: ScoreResult,
    *,
    k: int | None = None,
    threshold: float | None = None,
    fdr: float | None = None,
    fdr_method: FdrMethod = "bh",
) -> BoolArray:
    """Choose words for each label on its own: a mask (n_labels, n_features).

    Parameters
    ----------
    result
        Scores, and p-values where ``fdr`` is given.
    k
        At most so many words per label, those with the highest scores.
    threshold
        Only words with a score above it (strictly).
    fdr
        Only words with a q-value of at most this; the words of one label are one family of tests.
    fdr_method
        ``"bh"`` (Benjamini & Hochberg) or ``"storey"``.

    With no rule at all every word is selected.

    >>> result = ScoreResult(np.array([[3.0, 1.0, 3.0, 2.0]]), None)
    >>> select_per_label(result, k=3, threshold=1.5)
    array([[ True, False,  True,  True]])
    >>> select_per_label(result, k=1)
    array([[ True, False, False, False]])
    """
    _check_rules(k, threshold, fdr, fdr_method)
    passed = np.ones(result.scores.shape, dtype=np.bool_)
    if threshold is not None:
        passed &= result.scores > threshold
    if fdr is not None:
        if result.p_values is None:
            raise NotSupportedError(
                "fdr was given, but this score has no p-values; use k or threshold, or a score that has them,"
                " such as likelihood_ratio"
            )
        passed &= _Q_VALUES[fdr_method](result.p_values) <= fdr
    return passed if k is None else _top(result.scores, passed, int(k))


def select_global(
    result: ScoreResult,
    *,
    k: int | None = None,
    threshold: float | None = None,
    fdr: float | None = None,
    fdr_method: FdrMethod = "bh",
    combine: Combine = "max",
) -> BoolArray:
    """Choose one set of words for all labels: a mask (n_features,).

    ``combine="max"`` applies the rules once, to each word's best score over the labels (at most k words in all); its
    p-value is the smallest one times the number of labels (Bonferroni), so that ``fdr`` stays honest however many
    labels were tried. ``combine="union"`` keeps what ``select_per_label`` keeps for at least one label (at most k
    words per label). The other parameters are those of ``select_per_label``.

    Parameters
    ----------
    result : ScoreResult
        Scores, and p-values where ``fdr`` is given.
    k, threshold, fdr, fdr_method
        As for :func:`select_per_label`.
    combine : {"max", "union"}

    Examples
    --------
    >>> result = ScoreResult(np.array([[9.0, 8.0, 0.0], [0.0, 1.0, 2.0]]), None)
    >>> select_global(result, k=1), select_global(result, k=1, combine="union")
    (array([ True, False, False]), array([ True, False,  True]))
    """
    check_choice("combine", combine, ("max", "union"))
    if combine == "max":
        result = best_over_labels(result)
    chosen = select_per_label(result, k=k, threshold=threshold, fdr=fdr, fdr_method=fdr_method)
    return np.logical_or.reduce(chosen, axis=0)


def best_over_labels(result: ScoreResult) -> ScoreResult:
    """Each word's highest score and Bonferroni-corrected smallest p-value, as if for a single label."""
    scores: FloatArray = result.scores.max(axis=0, keepdims=True)
    if result.p_values is None:
        return ScoreResult(scores, None)
    smallest = result.p_values.min(axis=0, keepdims=True)
    return ScoreResult(scores, np.minimum(1.0, smallest * len(result.p_values)))


def _top(scores: FloatArray, passed: BoolArray, k: int) -> BoolArray:
    """The k highest scores of each row among those passed, without a sort: all above the k-th, then ties in order."""
    n_features = scores.shape[1]
    if k >= n_features:
        return passed
    ranked = np.where(passed, scores, -np.inf)
    kth = np.partition(ranked, n_features - k, axis=1)[:, n_features - k, None]
    above = ranked > kth
    tied = (ranked == kth) & passed
    room = k - above.sum(axis=1, keepdims=True)
    return above | (tied & (np.cumsum(tied, axis=1) <= room))


def _check_rules(k: int | None, threshold: float | None, fdr: float | None, fdr_method: str) -> None:
    check_choice("fdr_method", fdr_method, tuple(_Q_VALUES))
    if k is not None and (not isinstance(k, Integral) or k < 1):
        raise InputError(f"k={k!r} must be a whole number of at least 1, or None for no limit")
    if threshold is not None and (not isinstance(threshold, Real) or np.isnan(threshold)):
        raise InputError(f"threshold={threshold!r} must be a number, or None for no threshold")
    if fdr is not None and (not isinstance(fdr, Real) or not 0.0 < fdr <= 1.0):
        raise InputError(f"fdr={fdr!r} must lie in (0, 1], for example 0.05, or be None")


class SelectWords(SelectorMixin, BaseEstimator):
    """Keep the words that a score function and a rule choose, one set for all labels.

    Parameters
    ----------
    score_function
        Name of a registered score function (``textbayes.select.scores.names()``) or a function (X, Y) -> ScoreResult.
    k, threshold, fdr, fdr_method
        The rules, as in :func:`~textbayes.select.selectors.select_per_label`; with none of them every word is selected.
    combine
        ``"max"``: rules on each word's best score over the labels; ``"union"``: words chosen for at least one label.
        With a binary vector of labels both mean the same.

    Attributes
    ----------
    scores_ : array (n_labels, n_features)
        One row per label: the second class only for a binary vector of labels.
    p_values_ : array (n_labels, n_features) or None
    support_ : bool array (n_features,)
        The selected words.
    label_names_ : list of str
        The label of each row.

    Examples
    --------
    The words of the online paper, −2 ln λ > 12.13 and at most 300 for each category:

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["corn", "gold", "ship"], 50)
    >>> X = rng.poisson(0.3, (150, 6)) + 3 * (y[:, None] == ["corn", "gold", "", "", "", ""])
    >>> select = SelectWords("likelihood_ratio", threshold=12.13, k=300, combine="union").fit(X, y)
    >>> select.get_support()
    array([ True,  True, False, False, False, False])
    >>> select.label_names_, select.get_label_support()[0]
    (['corn', 'gold', 'ship'], array([ True,  True, False, False, False, False]))
    """

    def __init__(
        self,
        score_function: str | ScoreFunction = "likelihood_ratio",
        *,
        k: int | None = None,
        threshold: float | None = None,
        fdr: float | None = None,
        fdr_method: FdrMethod = "bh",
        combine: Combine = "max",
    ) -> None:
        self.score_function = score_function
        self.k = k
        self.threshold = threshold
        self.fdr = fdr
        self.fdr_method = fdr_method
        self.combine = combine

    @all_or_nothing
    def fit(self, X: Matrix, y: Any, lengths: ArrayLike | None = None) -> SelectWords:
        """Score the words of X (n_docs, n_features) and choose.

        ``y`` holds one label per document, a list of labels per document, or an indicator matrix. ``lengths``, in
        thousands of words, are for scores that are tests on counts (``delta2``); they are the row sums of X else.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        y : sequence of labels, of lists of labels, or array (n_docs, n_labels)
        lengths : array (n_docs,), optional
        """
        if y is None:
            raise InputError("SelectWords requires y to be passed, but the target y is None; pass the labels")
        function = scores.get(self.score_function) if isinstance(self.score_function, str) else self.score_function
        X = validate_data(self, X, accept_sparse=("csr", "csc"))
        indicator, space = encode_labels(y if sparse.issparse(y) or isinstance(y, (list, tuple)) else np.asarray(y))
        if lengths is None:
            result = function(X, indicator)
        elif takes_counts(function):
            result = function(X, indicator, lengths=lengths)  # type: ignore[call-arg]
        else:
            raise NotSupportedError(
                f"lengths were given, but score_function={self.score_function!r} does not use any; leave them out, or"
                " use delta2"
            )
        self.support_ = select_global(result, combine=self.combine, **self._rules())
        self.scores_, self.p_values_ = result
        self.label_names_ = space.column_names
        return self

    def get_label_support(self) -> BoolArray:
        """The words the rules choose for each label on its own: a mask (n_labels, n_features)."""
        check_is_fitted(self)
        return select_per_label(ScoreResult(self.scores_, self.p_values_), **self._rules())

    def _rules(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("k", "threshold", "fdr", "fdr_method")}

    def _get_support_mask(self) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(self.support_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True  # the default score counts documents
        return tags

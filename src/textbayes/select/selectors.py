"""A scikit-learn transformer that keeps the words a score function and a rule choose."""

from __future__ import annotations

from typing import Any

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
from textbayes.core.types import AnyArray, BoolArray, Matrix
from textbayes.lexical.exposures import takes_counts
from textbayes.select.rules import Combine, FdrMethod, select_global, select_per_label
from textbayes.select.score_functions import scores


class SelectWords(SelectorMixin, BaseEstimator):
    """Keep the words that a score function and a rule choose, one set for all labels.

    Parameters
    ----------
    score_function
        Name of a registered score function (``textbayes.select.scores.names()``) or a function (X, Y) -> ScoreResult.
    k, threshold, fdr, fdr_method
        The rules, as in :func:`~textbayes.select.rules.select_per_label`; with none of them every word is selected.
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

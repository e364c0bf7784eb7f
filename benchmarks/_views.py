"""Views of the words that peers choose from: words, words with their pairs, stems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from textbayes.categorizer.presets import default_vectorizer

FEW_ROWS = 200  # with fewer, pairs that occur once are kept: they are most of what there is


class Views:
    """Counts of all texts in three views, made when first asked for.

    Parameters
    ----------
    texts : sequence of str
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._counts = texts, dict[str, Any]()

    def counts(self, view: str) -> Any:
        """Counts of words, of words and pairs, or of stems, CSR (n_texts, n_columns)."""
        if view not in self._counts:
            vectorizer = {
                "words": CountVectorizer(),
                "pairs": CountVectorizer(ngram_range=(1, 2)),
                "stems": default_vectorizer().set_params(min_df=1),
            }[view]
            self._counts[view] = sparse.csr_matrix(vectorizer.fit_transform(self._texts), dtype=np.float64)
        return self._counts[view]

    def matrices(self, view: str, weights: str, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        """Training and test rows with the words of the training rows and weights learnt from these alone."""
        counts = self.counts(view)
        X = counts[train]
        least = 2 if view == "pairs" and len(train) >= FEW_ROWS else 1
        kept = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= least)
        X, T = X[:, kept], counts[test][:, kept]
        if weights == "tfidf":
            weighting = TfidfTransformer(sublinear_tf=True).fit(X)
            return weighting.transform(X), weighting.transform(T)
        if weights == "binary":
            X.data[:], T.data[:] = 1.0, 1.0
        return X, T

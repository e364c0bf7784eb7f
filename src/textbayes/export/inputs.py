"""Input of exported models that take counts: terms of texts, counted as each view of a model reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from textbayes.categorizer import TextCategorizer
from textbayes.core.types import IntArray
from textbayes.export.readings import read_views


class TermCounts(NamedTuple):
    """Counts of the terms of texts, by view.

    Attributes
    ----------
    counts : dict of str to CSR matrix (n_texts, n_terms)
    terms : dict of str to list of str
        The terms by column.
    words : array (n_texts,)
        Number of words of each text, those that the model does not know too; 0 where it does not ask.
    """

    counts: dict[str, sparse.csr_matrix]
    terms: dict[str, list[str]]
    words: IntArray

    def rows(self) -> Iterator[tuple[int, str, str, int]]:
        """Rows (number of the text, view, term, count), as the table ``textbayes_counts`` of an SQL script has them."""
        for view, counts in self.counts.items():
            entries = counts.tocoo()
            for doc, column, n in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
                yield doc, view, self.terms[view][column], n


def count_terms(model: TextCategorizer, texts: Iterable[str]) -> TermCounts:
    """Count the terms of texts as a model reads them: the input of its SQL and ONNX forms.

    Parameters
    ----------
    model : fitted TextCategorizer
    texts : iterable of str

    Examples
    --------
    >>> from textbayes import TextCategorizer, TextVectorizer
    >>> model = TextCategorizer(TextVectorizer(), model="linear").fit(["corn falls", "rates rise"] * 5, ["c", "r"] * 5)
    >>> list(count_terms(model, ["corn and corn"]).rows())
    [(0, 'words', 'corn', 2)]
    """
    features = model.features(texts)
    counts, terms = {}, {}
    for view in read_views(model):
        terms[view.name] = view.vectorizer.get_feature_names_out().tolist()
        counts[view.name] = features.counts[:, view.start : view.start + len(terms[view.name])]
    words = np.rint(1000.0 * features.lengths).astype(np.int64) * model.model_.uses_lengths
    return TermCounts(counts, terms, words)

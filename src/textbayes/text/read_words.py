"""Texts to weights of words as a model file has them, without the estimators that learnt them (and scikit-learn)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.saved import read_saved
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray, FloatArray
from textbayes.text.analyze import Analysis, TextOptions, analyze, check_analysis, columns_to_csr
from textbayes.text.head import head
from textbayes.text.saved import SavedViews, SavedViewsWeighting, SavedWeighting
from textbayes.text.term_weights import Entries, read_idf, weigh
from textbayes.text.vocabulary import Vocabulary, read_vocabulary


class WordView(NamedTuple):
    """One reading of texts: ``TextVectorizer``, ``TermWeighting`` and ``View`` as plain data; it reads as they do."""

    options: TextOptions
    vocabulary: Vocabulary
    binary: bool
    scheme: str
    norm: str | None
    idf: FloatArray
    part: str = "text"
    factor: float = 1.0

    def weights(self, analysis: Analysis, first: int, n_docs: int) -> Entries:
        """Weights of the words of some documents, from the ``first`` on, (n_docs, n_words)."""
        data, columns, starts = columns_to_csr(analysis.pieces, self.vocabulary.find(analysis.terms))
        starts = starts[first : first + n_docs + 1]
        data, columns = data[starts[0] : starts[-1]], columns[starts[0] : starts[-1]]
        counts = np.ones(len(data)) if self.binary else data.astype(np.float64)
        found = weigh(Entries(counts, columns, starts - starts[0]), self.scheme, self.norm, self.idf)
        return found._replace(data=self.factor * found.data)


class WordViews:
    """Several readings of the same texts; those that differ in the part of a text that they read share the reading."""

    def __init__(self, views: Sequence[WordView]) -> None:
        self.widths = [len(view.idf) for view in views]
        self._groups: list[list[tuple[int, WordView]]] = []
        for number, view in enumerate(views):
            alike = (group for group in self._groups if group[0][1].options == view.options)
            group = next(alike, None)
            if group is None:
                self._groups.append([(number, view)])
            else:
                group.append((number, view))

    def weights(self, texts: Sequence[str]) -> list[Entries]:
        """Weights of the words of texts, (n_docs, n_words) for each view."""
        found: dict[int, Entries] = {}
        for group in self._groups:
            parts = [texts if view.part == "text" else [head(text) for text in texts] for _, view in group]
            analysis = analyze(chain.from_iterable(parts), group[0][1].options)
            for place, (number, view) in enumerate(group):
                found[number] = view.weights(analysis, place * len(texts), len(texts))
        return [found[number] for number in range(len(found))]


def read_word_views(
    vectorizer: Mapping[str, Any], weighting: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> WordViews | None:
    """The views of a model file; None where one of them does not count words of a vocabulary (hashes, vectors).

    Parameters
    ----------
    vectorizer, weighting : mappings
        What the file says of both.
    arrays : mapping of str to array
        All arrays of the model.
    """
    own = {name: value for name, value in vectorizer.items() if name != "class"}
    words, weights = part_of(arrays, "vectorizer"), part_of(arrays, "weighting")
    if vectorizer.get("class") == "TextVectorizer":
        told = read_saved(SavedWeighting, weighting, "the model's weighting")
        return WordViews([_view(own, words, told, weights)])
    if vectorizer.get("class") != "TextViews":
        return None
    views = read_saved(SavedViews, own, "the model's views").views
    both = read_saved(SavedViewsWeighting, weighting, "the model's weighting")
    if any(view.reads != "words" for view in views):
        return None
    if len({view.name for view in views}) < len(views):
        raise ModelFileError("the model has two views of one name; was the file altered?")
    if both.factors != [view.factor for view in views] or [dict(one.params) for one in both.blocks] != [
        dict(view.weighting) for view in views
    ]:
        raise ModelFileError("the model's words and their weights do not belong together; was the file altered?")
    read = [
        _view(view.words, part_of(words, str(k)), block, part_of(weights, str(k)))._replace(
            part=view.part, factor=view.factor
        )
        for k, (view, block) in enumerate(zip(views, both.blocks, strict=True))
    ]
    return WordViews(read)


def _view(
    words: Mapping[str, Any], terms: Mapping[str, AnyArray], weighting: Any, weights: Mapping[str, AnyArray]
) -> WordView:
    told, packed, _ = read_vocabulary(words, terms)
    given = told.params
    check_analysis(given.analyzer, given.token_pattern, given.stop_words, given.stemmer)
    options = TextOptions(
        given.analyzer, tuple(given.ngram_range), given.lowercase, given.token_pattern, tuple(told.stop_words),
        given.stemmer,
    )  # fmt: skip
    idf = read_idf(weighting.params.scheme, weighting.n_docs, weights)
    if len(idf) != packed.n_strings:
        raise ModelFileError("the model's words and their weights do not belong together; was the file altered?")
    return WordView(options, Vocabulary(packed), given.binary, weighting.params.scheme, weighting.params.norm, idf)

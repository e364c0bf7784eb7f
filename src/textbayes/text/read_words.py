"""Texts to weights of words as a model file has them, without the estimators that learnt them (and scikit-learn)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray, FloatArray
from textbayes.text.analyze import TextOptions, check_analysis
from textbayes.text.batches import head
from textbayes.text.term_weights import Entries, read_idf, stack_rows, weigh
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

    def counts(self, texts: Sequence[str], start: int) -> Entries:
        """Counts of the words of some texts, a row each; the columns of the view begin at ``start``."""
        read = texts if self.part == "text" else [head(text) for text in texts]
        counts, columns, starts = self.vocabulary.count_batch(read, self.options)
        data = np.ones(len(counts)) if self.binary else counts.astype(np.float64)
        return Entries(data, columns + np.int32(start), starts)


class WordViews:
    """Several readings of the same texts, each with a block of columns.

    Parameters
    ----------
    views : sequence of WordView
    """

    def __init__(self, views: Sequence[WordView]) -> None:
        self.widths = [len(view.idf) for view in views]
        self._views, self._starts = views, np.cumsum([0, *self.widths]).tolist()
        self._idf = np.concatenate([view.idf for view in views])
        alike = groupby(range(len(views)), lambda number: (views[number].scheme, views[number].norm))
        self._alike = [list(numbers) for _, numbers in alike]

    def weights(self, texts: Sequence[str]) -> Entries:
        """Weights of the words of texts, a row for each view and text: all rows of the first view, then the others'."""
        return stack_rows([self._weigh(numbers, texts) for numbers in self._alike])

    def _weigh(self, numbers: list[int], texts: Sequence[str]) -> Entries:
        """Weights of the words of texts in views that are weighed alike."""
        views = [self._views[number] for number in numbers]
        counts = stack_rows([self._views[number].counts(texts, self._starts[number]) for number in numbers])
        found = weigh(counts, views[0].scheme, views[0].norm, self._idf)
        for place, view in enumerate(views):
            if view.factor != 1.0:
                begin, end = found.indptr[[place * len(texts), (place + 1) * len(texts)]]
                found.data[begin:end] *= view.factor
        return found


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
    from textbayes.core.saved import read_saved
    from textbayes.text.saved import SavedViews, SavedViewsWeighting, SavedWeighting  # loads pydantic

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

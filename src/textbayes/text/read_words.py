"""Texts to weights of words as a model file has them, without the estimators that learnt them (and scikit-learn)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.codec import Choice, Described, Field, List, Named, Number, Record, Unread, Whole, read, restoring
from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray, FloatArray
from textbayes.text.analyze import TextOptions, check_analysis, check_found
from textbayes.text.batches import head
from textbayes.text.term_weights import WEIGHED, WEIGHTING, Entries, check_idf, stack_rows, weigh
from textbayes.text.vocabulary import WORDS, WORDS_FOUND, Vocabulary, check_terms

MOST_VIEWS = 20
_LONGEST_NAME = 40
_READ = ("words", "sentences", "tokens")  # vectorizers of views
FACTOR = Number(above=0.0, most=1e6)  # of the weights of a view
VIEW: dict[str, Field] = {"number": Whole(0, MOST_VIEWS - 1), "part": Choice("text", "head"), "factor": FACTOR}
_VIEW: dict[str, Field] = {**VIEW, "weighting": Described(), "vectorizer": Described()}
_BOTH: dict[str, Field] = {"weightings_": List(Described(), 1, MOST_VIEWS), "factors": List(FACTOR, 1, MOST_VIEWS)}
_OPTIONS = ("analyzer", "ngram_range", "lowercase", "token_pattern", "stop_words_", "stemmer")
_WORDS, _WEIGHTS = "the model's vectorizer", "the model's weighting"
_APART = "the model's words and their weights do not belong together; was the file altered?"


def check_views(names: Sequence[str], numbers: Sequence[int], vectorizers: Sequence[str]) -> None:
    """Refuse the views of a file by their names, their places, and the names of their vectorizers."""
    if not 1 <= len(names) <= MOST_VIEWS or any(not 1 <= len(name) <= _LONGEST_NAME for name in names):
        raise ModelFileError(
            f"the model has {len(names)} views, where 1 to {MOST_VIEWS} with names of 1 to {_LONGEST_NAME} characters "
            "are possible; was the file altered?"
        )
    if list(numbers) != list(range(len(names))):
        raise ModelFileError("the model's views stand in another order than their columns; was the file altered?")
    if not set(vectorizers) <= set(_READ) or vectorizers[0] != _READ[0]:
        raise ModelFileError("the first of the model's views must be one of words; was the file altered?")


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
        What the file says of both: their names and fields.
    arrays : mapping of str to array
        All arrays of the model.
    """
    names = vectorizer.get("name"), weighting.get("name")
    words, weights = vectorizer.get("fields"), weighting.get("fields")
    if names == ("words", "words"):
        return WordViews([_view(words, "vectorizer", weights, "weighting", arrays)])
    if names != ("views", "views"):
        return None
    described = read({"fitted_views": Named(Record(_VIEW))}, words, arrays, _WORDS, "vectorizer")["fitted_views"]
    both = read(_BOTH, weights, arrays, _WEIGHTS, "weighting")
    vectorizers = [one["vectorizer"].get("name") for one in described.values()]
    check_views(list(described), [one["number"] for one in described.values()], vectorizers)
    if any(name != "words" for name in vectorizers):
        return None
    if both["factors"] != [one["factor"] for one in described.values()] or len(both["weightings_"]) != len(described):
        raise ModelFileError(_APART)
    found = []
    for k, (name, one) in enumerate(described.items()):
        place, block = f"vectorizer.fitted_views.{name}.vectorizer", both["weightings_"][k].get("fields")
        view = _view(one["vectorizer"].get("fields"), place, block, f"weighting.weightings_.{k}", arrays)
        if one["weighting"] != {"name": "words", "fields": {"scheme": view.scheme, "norm": view.norm}}:
            raise ModelFileError(_APART)
        found.append(view._replace(part=one["part"], factor=one["factor"]))
    return WordViews(found)


def _view(words: Any, words_at: str, weights: Any, weights_at: str, arrays: Mapping[str, AnyArray]) -> WordView:
    with restoring(_WORDS):
        told = read({**WORDS, **WORDS_FOUND}, words, arrays, _WORDS, words_at)
        check_found(told["stop_words"], told["stop_words_"])
        check_analysis(told["analyzer"], told["token_pattern"], told["stop_words"], told["stemmer"])
        vocabulary: Vocabulary = told["_vocabulary"]
        check_terms(vocabulary, told["vocabulary"])
    options = TextOptions(*(told[name] for name in _OPTIONS))
    with restoring(_WEIGHTS):
        weighed = read({**WEIGHTING, **WEIGHED, "document_frequency_": Unread()}, weights, arrays, _WEIGHTS, weights_at)
        scheme, norm, idf = weighed["scheme"], weighed["norm"], weighed["idf_"]
        check_idf(scheme, weighed["n_docs_"], idf)
    if len(idf) != vocabulary.terms.n_strings:
        raise ModelFileError(_APART)
    return WordView(options, vocabulary, told["binary"], scheme, norm, idf)

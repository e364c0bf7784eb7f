"""One topic of a filter: what is believed of its words, what was counted, and what is to be rehearsed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.kernels.online.document import restrict_rows
from textbayes.models.online import (
    DeferredPosterior,
    DiagonalPosterior,
    FullPosterior,
    GaussianProcess,
    LowRankPosterior,
    OnlinePosterior,
)
from textbayes.models.online.base import LinearPredictor, WordRows
from textbayes.models.online.gp import KERNELS
from textbayes.stream.settings import FilterSettings
from textbayes.stream.words import WeighedRows

POSTERIORS: dict[str, type[Any]] = {
    "full": FullPosterior,
    "low_rank": LowRankPosterior,
    "diagonal": DiagonalPosterior,
    "gp": GaussianProcess,
}


class WordCounts(NamedTuple):
    """In how many judged documents of a topic each word is, beside the training documents that all topics share.

    ``relevant`` counts relevant documents, training ones too; ``later`` all documents judged for this topic alone: its
    statements and those of the stream. With n the training documents that have a word, ``n + later`` judged documents
    have it. Arrays may have room for columns to come, and are counted up in place: copying them with every judgement
    would cost more the longer the stream is.
    """

    relevant: AnyArray
    later: AnyArray

    def resized(self, n_words: int) -> WordCounts:
        """With room for so many words, and for some to come, so seldom made anew."""
        if n_words <= len(self.relevant):
            return self
        zeros = np.zeros(n_words + n_words // 4 - len(self.relevant), dtype=np.int32)
        return WordCounts(np.concatenate([self.relevant, zeros]), np.concatenate([self.later, zeros]))

    def copy(self) -> WordCounts:
        """Counts that go their own way."""
        return WordCounts(self.relevant.copy(), self.later.copy())


@dataclass(frozen=True, eq=False)
class Topic:
    """What a filter knows of one topic. Never changed but for its counts and examples: learning makes another.

    Attributes
    ----------
    words : array
        Columns of the lexicon; the weight of ``words[i]`` stands at position i + 1 of the posterior.
    counts : WordCounts
    n_relevant, n_later : int
        Relevant documents, and documents judged for this topic alone.
    examples : list of int
        Numbers of the kept relevant documents, in the order they came; changed in place, as counts are.
    turn : int
        Which of them is rehearsed next.
    delivered : int
        Documents delivered for this topic.
    """

    name: str
    posterior: OnlinePosterior
    words: IntArray
    counts: WordCounts
    n_relevant: int = 0
    n_later: int = 0
    examples: list[int] = field(default_factory=list)
    turn: int = 0
    delivered: int = 0

    @property
    def mean(self) -> FloatArray:
        """Means of the bias and of the weights of ``words``; of a Gaussian process what its basis says of them."""
        if isinstance(self.posterior, GaussianProcess):
            return self.posterior.word_weights
        mean = self.posterior.mean
        return mean if mean.ndim == 1 else mean.ravel()

    def copy(self) -> Self:
        """A topic that goes its own way."""
        return replace(self, counts=self.counts.copy(), examples=list(self.examples))

    def delivered_again(self) -> Self:
        """With one more delivery; in a stream this happens often, so without ``replace``, which calls the class."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, delivered=self.delivered + 1)
        return other

    def position(self, n_words: int) -> AnyArray:
        """The position of every column of a lexicon, −1 for the words of others."""
        table = np.full(n_words, -1, dtype=np.int32)
        table[self.words] = np.arange(1, len(self.words) + 1)
        return table

    def grown(self, columns: IntArray, variance: float) -> Self:
        """With more words, of mean 0 and the prior variance (§ 4.2.1)."""
        if not len(columns):
            return self
        words = np.concatenate([self.words, columns])
        posterior: Any = self.posterior
        if isinstance(posterior, DiagonalPosterior):
            posterior = posterior.grow(len(words), variance)
        elif isinstance(posterior, GaussianProcess):
            posterior = posterior.grow(columns)  # the kernel has the variance
        else:
            posterior = posterior.grow(columns, variance)
        return replace(self, words=words, posterior=posterior)


def start_posterior(settings: FilterSettings, words: IntArray) -> Any:
    """The prior over the weights of some words."""
    if settings.covariance == "gp":
        return GaussianProcess.start(words, KERNELS[settings.kernel], settings.basis)
    if settings.covariance == "diagonal":
        return DiagonalPosterior.start(len(words), variance=settings.variance, bias_variance=settings.variance)
    kind = POSTERIORS[settings.covariance]
    return kind.start(words, variance=settings.variance, bias_variance=settings.variance)


def ready_to_judge(posterior: Any, settings: FilterSettings) -> Any:
    """A posterior as single judgements will find it: of a full covariance their updates may wait beside it."""
    if settings.covariance == "full" and settings.deferred:
        return DeferredPosterior.of(posterior, settings.variance)
    return posterior


class WordPlaces:
    """Where a topic has the weights of some columns, by bisection: costs nothing for words that others have.

    >>> WordPlaces().of(np.array([7, 2]), np.array([2, 3, 7]))
    array([ 2, -1,  1], dtype=int32)
    """

    def __init__(self) -> None:
        self._sorted = self._order = np.zeros(0, dtype=np.int64)

    def of(self, words: IntArray, columns: AnyArray) -> AnyArray:
        """Positions among the weights of ``words``, to which words are only ever added; −1 for other columns."""
        if len(words) != len(self._order):
            self._order = np.argsort(words)
            self._sorted = words[self._order]
        found = np.full(len(columns), -1, dtype=np.int32)
        if len(words):
            at = np.minimum(np.searchsorted(self._sorted, columns), len(words) - 1)
            own = self._sorted[at] == columns
            found[own] = self._order[at[own]] + 1
        return found


def lesson_rows(rows: WeighedRows, positions: AnyArray) -> WordRows:
    """The same as :func:`local_rows`, with the position of every entry of the rows."""
    return local_rows(rows._replace(indices=np.arange(len(positions), dtype=np.int32)), positions)


def local_rows(rows: WeighedRows, position: AnyArray) -> WordRows:
    """The documents as far as they have the words of one topic."""
    return WordRows(*restrict_rows(rows.indptr, rows.indices, rows.data, position))


def predict(topic: Topic, rows: WeighedRows, position: AnyArray) -> LinearPredictor:
    """Mean and variance of the linear predictor of every document, each (n_docs, 1)."""
    return topic.posterior.predict(local_rows(rows, position))

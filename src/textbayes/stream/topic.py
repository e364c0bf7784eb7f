"""One topic of a filter: what is believed of its words, what was counted, and what is to be rehearsed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.online import (
    DiagonalPosterior,
    FullPosterior,
    GaussianProcess,
    LinearPredictor,
    LowRankPosterior,
    OnlinePosterior,
)
from textbayes.online.base import Rows as LocalRows
from textbayes.stream.settings import FilterSettings
from textbayes.stream.words import Rows

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
    have it.
    """

    relevant: AnyArray
    later: AnyArray

    def resized(self, n_words: int) -> WordCounts:
        """With room for more words."""
        missing = n_words - len(self.relevant)
        if missing <= 0:
            return self
        zeros = np.zeros(missing, dtype=np.int32)
        return WordCounts(np.concatenate([self.relevant, zeros]), np.concatenate([self.later, zeros]))


@dataclass(frozen=True, eq=False)
class Topic:
    """What a filter knows of one topic. Never changed: learning makes another.

    Attributes
    ----------
    words : array
        Columns of the lexicon; the weight of ``words[i]`` stands at position i + 1 of the posterior.
    counts : WordCounts
    n_relevant, n_later : int
        Relevant documents, and documents judged for this topic alone.
    examples : tuple of int
        Numbers of the kept relevant documents, in the order they came.
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
    examples: tuple[int, ...] = ()
    turn: int = 0
    delivered: int = 0

    @property
    def mean(self) -> FloatArray:
        """Means of the bias and of the weights of ``words``; of a Gaussian process what its basis says of them."""
        if isinstance(self.posterior, GaussianProcess):
            return self.posterior.word_weights
        mean = self.posterior.mean
        return mean if mean.ndim == 1 else mean.ravel()

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
        from textbayes.online.gp_kernels import KERNELS

        return GaussianProcess.start(words, KERNELS[settings.kernel], settings.basis)
    if settings.covariance == "diagonal":
        return DiagonalPosterior.start(len(words), variance=settings.variance, bias_variance=settings.variance)
    kind = POSTERIORS[settings.covariance]
    return kind.start(words, variance=settings.variance, bias_variance=settings.variance)


def local_rows(rows: Rows, position: AnyArray) -> LocalRows:
    """The documents as far as they have the words of one topic."""
    from textbayes.kernels.online_rows import restrict_rows

    return LocalRows(*restrict_rows(rows.indptr, rows.indices, rows.data, position))


def predict(topic: Topic, rows: Rows, position: AnyArray) -> LinearPredictor:
    """Mean and variance of the linear predictor of every document, each (n_docs, 1)."""
    return topic.posterior.predict(local_rows(rows, position))

"""What topics say of documents: topic by topic for any posterior, or all topics in one reading of each document.

Both ways give the same bits; which one is used follows from the posteriors alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.kernels.online import filter_scores
from textbayes.kernels.online.document import expected_gain
from textbayes.models.online import (
    DeferredPosterior,
    FullPosterior,
    OnlineLikelihood,
    OnlinePosterior,
    expected_information_gain,
)
from textbayes.models.online.full import MOST
from textbayes.models.online.information import gain_in_region
from textbayes.stream.topic import Topic, local_rows, predict
from textbayes.stream.words import Bags, DocumentCounts, FilterLexicon, WeighedRows
from textbayes.text.batches import in_order

_BLOCK = 128  # documents that one core scores at a time
Gain = Literal["paper", "gaussian", "exact"]


class Scores(NamedTuple):
    """Probability of relevance and expected information gain in bits, arrays (n_docs, n_topics)."""

    probability: FloatArray
    gain: FloatArray


class WeighedBlock(NamedTuple):
    """Documents of ``bags`` from ``start`` to ``stop``, weighed when the lexicon had ``n_words``."""

    bags: Bags
    start: int
    stop: int
    version: int
    n_words: int
    rows: WeighedRows

    def is_old(self, i: int, lexicon: FilterLexicon) -> bool:
        """Whether words of a document have got columns since: others weigh less beside them."""
        return self.bags.has_columns_from(self.n_words, lexicon, i)


class TopicScorer(Protocol):
    """Follows the topics of a filter and predicts for all of them."""

    def follow(self, topics: Sequence[Topic], version: int, n_words: int) -> None:
        """Take over what has changed since the last call.

        ``version`` differs if a topic has learnt; the lexicon has ``n_words`` columns.
        """

    def places(self, k: int) -> AnyArray:
        """The position of every column among the weights of topic k, below 1 for words of others."""

    def predict(self, rows: WeighedRows) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the linear predictors, (n_docs, n_topics)."""


def make_scorer(topics: Sequence[Topic]) -> TopicScorer:
    """The fastest way to score for these topics."""
    full = all(isinstance(topic.posterior, FullPosterior | DeferredPosterior) for topic in topics)
    return TopicBank(topics) if full else EachTopic(topics)


class EachTopic:
    """One topic after the other, whatever its posterior: the reference."""

    def __init__(self, topics: Sequence[Topic]) -> None:
        self._topics: Sequence[Topic] = ()
        self._places: list[AnyArray] = [np.zeros(0, dtype=np.int32)] * len(topics)
        self._placed = [-1] * len(topics)

    def follow(self, topics: Sequence[Topic], version: int, n_words: int) -> None:
        self._topics = topics
        for k, topic in enumerate(topics):
            if len(self._places[k]) < n_words or self._placed[k] < 0:
                # With room for columns to come, so seldom made anew.
                self._places[k] = topic.position(n_words + n_words // 4)
            else:  # words only ever join, at the end
                self._places[k][topic.words[self._placed[k] :]] = np.arange(self._placed[k] + 1, len(topic.words) + 1)
            self._placed[k] = len(topic.words)

    def places(self, k: int) -> AnyArray:
        return self._places[k]

    def predict(self, rows: WeighedRows) -> tuple[FloatArray, FloatArray]:
        mean, var = np.empty((2, rows.n_docs, len(self._topics)))
        for k, topic in enumerate(self._topics):
            column = predict(topic, rows, self._places[k])
            mean[:, k], var[:, k] = column.mean[:, 0], column.var[:, 0]
        return mean, var


class TopicBank:
    """Posteriors with full covariance laid end to end, a copy that follows the topics.

    A document is read once, and each of its words says for which topics it counts. When a topic learns, its part is
    copied anew: about what learning itself costs. Of a :class:`DeferredPosterior` what waits stands here too, and the
    covariance is copied when it is another.
    """

    def __init__(self, topics: Sequence[Topic]) -> None:
        self._version = -1
        self._held: list[object] = [None] * len(topics)
        self._placed = np.zeros(len(topics), dtype=np.int64)
        self._size = np.zeros(len(topics), dtype=np.int64)
        self._room = np.zeros(len(topics), dtype=np.int64)
        self._mean_at = self._cov_at = np.zeros(len(topics), dtype=np.int64)
        self._means = self._covs = np.zeros(0)
        self._directions = np.zeros((0, MOST))
        self._n_waiting = np.zeros(len(topics), dtype=np.int64)
        self._removed = np.zeros((len(topics), MOST))
        self._place = np.zeros((0, len(topics)), dtype=np.int32)

    def follow(self, topics: Sequence[Topic], version: int, n_words: int) -> None:
        if len(self._place) < n_words:  # with room for columns to come, so seldom made anew
            more = np.full((n_words + n_words // 4 - len(self._place), len(topics)), -1, dtype=np.int32)
            self._place = np.concatenate([self._place, more])
        if version == self._version:
            return
        self._version = version
        changed = [k for k, topic in enumerate(topics) if topic.posterior is not self._held[k]]
        if changed:
            self._size[changed] = [_side(topics[k].posterior) for k in changed]
            if (self._size > self._room).any():
                self._lay_out()
                self._held = [None] * len(topics)
                changed = list(range(len(topics)))
        for k in changed:
            self._copy(k, topics[k].posterior)
            new = topics[k].words[self._placed[k] :]  # words only ever join, at the end
            self._place[new, k] = np.arange(self._placed[k] + 1, len(topics[k].words) + 1)
            self._placed[k] = len(topics[k].words)

    def _copy(self, k: int, posterior: OnlinePosterior) -> None:
        held, mean_at, cov_at = self._held[k], self._mean_at[k], self._cov_at[k]
        self._means[mean_at : mean_at + posterior.n_weights] = posterior.mean
        self._held[k] = posterior
        if isinstance(posterior, FullPosterior):
            self._covs[cov_at : cov_at + posterior.cov.size] = posterior.cov.ravel()
            return
        assert isinstance(posterior, DeferredPosterior)
        first, n, size = 0, posterior.n_waiting, self._size[k]  # directions have room as the covariance has
        if isinstance(held, DeferredPosterior) and held.base is posterior.base:
            # What waited before still does, unless another posterior took its room.
            first = held.n_waiting if held.waiting is posterior.waiting else 0
        else:
            self._covs[cov_at : cov_at + posterior.base.size] = posterior.base.ravel()
        self._directions[mean_at : mean_at + size, first:n] = posterior.waiting.directions[first:n].T
        self._n_waiting[k], self._removed[k, first:n] = n, posterior.removed[first:]

    def _lay_out(self) -> None:
        """Room for every topic, with some to grow."""
        self._room = np.where(self._size > self._room, self._size + self._size // 4, self._room)
        ends = np.cumsum(self._room), np.cumsum(self._room**2)
        self._mean_at, self._cov_at = ends[0] - self._room, ends[1] - self._room**2
        self._means, self._covs = np.zeros(ends[0][-1]), np.zeros(ends[1][-1])
        self._directions = np.zeros((ends[0][-1], MOST))

    def places(self, k: int) -> AnyArray:
        return self._place[:, k]

    def predict(self, rows: WeighedRows) -> tuple[FloatArray, FloatArray]:
        bank = self._place, self._size, self._mean_at, self._means, self._cov_at, self._covs
        waiting = self._n_waiting, self._mean_at, self._directions, self._removed
        mean, var = filter_scores.predict_topics(*rows, *bank, *waiting)
        return mean, var


def _side(posterior: OnlinePosterior) -> int:
    """Rows of the covariance, those with room for words to come among them."""
    return len(posterior.base) if isinstance(posterior, DeferredPosterior) else posterior.n_weights


def score_rows(
    scorer: TopicScorer, rows: WeighedRows, likelihood: OnlineLikelihood, method: Gain, all_cores: bool = True
) -> Scores:
    """Score weighed documents for all topics; a document's scores do not depend on the others."""
    cuts = [*range(0, max(rows.n_docs, 1), _BLOCK), rows.n_docs]
    parts = [rows._replace(indptr=rows.indptr[a : b + 1]) for a, b in pairwise(cuts)]
    each = in_order if all_cores else map
    done = list(each(lambda part: scores_of(*scorer.predict(part), likelihood, method), parts))
    if len(done) == 1:
        return done[0]
    return Scores(*(np.concatenate(arrays) for arrays in zip(*done, strict=True)))


def scores_of(mean: FloatArray, var: FloatArray, likelihood: OnlineLikelihood, method: Gain) -> Scores:
    """Probability and expected information gain of linear predictors N(mean, var), compiled where there is a form."""
    closed = likelihood.closed_form
    if closed is None or method == "exact" or (method == "paper" and not (closed[0] == 0.0 < closed[1])):
        return Scores(likelihood.predictive(mean, var), expected_information_gain(mean, var, likelihood, method))
    if method == "paper":
        gain, proba = filter_scores.expected_paper_gain(mean, var, closed[1])
        return Scores(proba, gain)
    gain, proba = expected_gain(mean.ravel(), var.ravel(), *closed)
    return Scores(proba.reshape(mean.shape), gain.reshape(mean.shape))


IN_REGION: Final = 50  # of a topic's relevant documents, the latest, are its region


class Region(NamedTuple):
    """A topic's region by what it knows now: C u of its documents (1 + n_words, n), u'C u, and whose they are."""

    covariances: FloatArray
    var: FloatArray
    posterior: Any
    n_examples: int


class Regions:
    """The regions of all topics, made anew where a topic has learnt."""

    def __init__(self) -> None:
        self._regions: dict[int, Region] = {}

    def gain(
        self,
        topics: Sequence[Topic],
        rows: WeighedRows,
        scorer: TopicScorer,
        likelihood: OnlineLikelihood,
        kept: Sequence[DocumentCounts],
        lexicon: FilterLexicon,
    ) -> FloatArray:
        """Expected bits about the predictors of each topic's region, (n_docs, n_topics); NaN of topics without one.

        Products are made document by document, so that the bits do not depend on which of them are scored together.
        """
        mean, var = scorer.predict(rows)
        gain = np.full(mean.shape, np.nan)
        for k, topic in enumerate(topics):
            if not topic.examples:
                continue
            places = scorer.places(k)
            region = self._region(k, topic, places, kept, lexicon)
            own = local_rows(rows, places)
            cross = np.empty((rows.n_docs, len(region.var)))
            for i in range(rows.n_docs):
                words, values = own.document(i)
                cross[i] = region.covariances[0] + values @ region.covariances[words]
            with np.errstate(divide="ignore", invalid="ignore"):
                shared = np.where(region.var > 0.0, cross**2 / region.var, 0.0)
            gain[:, k] = gain_in_region(mean[:, k], var[:, k], shared, likelihood)
        return gain

    def _region(
        self, k: int, topic: Topic, places: AnyArray, kept: Sequence[DocumentCounts], lexicon: FilterLexicon
    ) -> Region:
        known = self._regions.get(k)
        if known is not None and known.posterior is topic.posterior and known.n_examples == len(topic.examples):
            return known
        latest = topic.examples[max(0, len(topic.examples) - IN_REGION) : len(topic.examples)]
        documents = local_rows(lexicon.weigh_kept([kept[number] for number in latest]), places)
        cov = topic.posterior.cov  # type: ignore[attr-defined]  # a full one, as the settings say
        covariances, var = np.empty((len(cov), documents.n_docs)), np.empty(documents.n_docs)
        for i in range(documents.n_docs):
            words, values = documents.document(i)
            covariances[:, i] = cov[0] + values @ cov[words]
            var[i] = covariances[0, i] + values @ covariances[words, i]
        self._regions[k] = Region(covariances, var, topic.posterior, len(topic.examples))
        return self._regions[k]

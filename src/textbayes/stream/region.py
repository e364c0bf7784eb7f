"""Information where it matters: what a judgement would teach of a topic's relevant documents, not of odd ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.models.online import OnlineLikelihood
from textbayes.models.online.information import gain_in_region
from textbayes.stream.scoring import Scorer
from textbayes.stream.topic import Topic, local_rows
from textbayes.stream.words import Columns, Lexicon, Rows

MOST: Final = 50  # of a topic's relevant documents, the latest, are its region


class Region(NamedTuple):
    """A topic's region by what it knows now: C u of its documents (1 + n_words, n), u'C u, and whose they are."""

    spread: FloatArray
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
        rows: Rows,
        scorer: Scorer,
        likelihood: OnlineLikelihood,
        kept: Sequence[Columns],
        lexicon: Lexicon,
    ) -> FloatArray:
        """Expected bits about the predictors of each topic's region, (n_docs, n_topics); NaN of topics without one.

        Document by document, so that the bits do not depend on which of them are scored together.
        """
        mean, var = scorer.predict(rows)
        gain = np.full(mean.shape, np.nan)
        for k, topic in enumerate(topics):
            if not topic.examples:
                continue
            places = scorer.places(k)
            region = self._region(k, topic, places, kept, lexicon)
            own = local_rows(rows, places)
            for i in range(rows.n_docs):
                words, values = own.document(i)
                cross = region.spread[0] + values @ region.spread[words]
                with np.errstate(divide="ignore", invalid="ignore"):
                    shared = np.where(region.var > 0.0, cross**2 / region.var, 0.0)
                one = slice(i, i + 1)
                gain[one, k] = gain_in_region(mean[one, k], var[one, k], shared[None], likelihood)
        return gain

    def _region(self, k: int, topic: Topic, places: AnyArray, kept: Sequence[Columns], lexicon: Lexicon) -> Region:
        known = self._regions.get(k)
        if known is not None and known.posterior is topic.posterior and known.n_examples == len(topic.examples):
            return known
        latest = topic.examples[max(0, len(topic.examples) - MOST) : len(topic.examples)]
        documents = local_rows(lexicon.weigh_kept([kept[number] for number in latest]), places)
        cov = topic.posterior.cov  # type: ignore[attr-defined]  # a full one, as the settings say
        spread, var = np.empty((len(cov), documents.n_docs)), np.empty(documents.n_docs)
        for i in range(documents.n_docs):
            words, values = documents.document(i)
            spread[:, i] = cov[0] + values @ cov[words]
            var[i] = spread[0, i] + values @ spread[words, i]
        self._regions[k] = Region(spread, var, topic.posterior, len(topic.examples))
        return self._regions[k]

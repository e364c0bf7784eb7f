"""The topics of a filter as a model that can be saved: the same words, weights and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.assemble import assembled
from textbayes.core.labels import LabelSpace
from textbayes.models.online import (
    BayesOnlineClassifier,
    DeferredPosterior,
    DiagonalPosterior,
    FullPosterior,
    GaussianProcess,
    OnlinePosterior,
)
from textbayes.models.online.base import Bank
from textbayes.models.online.process import BayesProcessClassifier
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import Topic
from textbayes.stream.words import Lexicon, vectorizer_of
from textbayes.text import TermWeighting


def export_model(filter: AdaptiveFilter) -> TextCategorizer:
    """A multi-label ``TextCategorizer`` whose labels are the topics of a filter, with the filter's probabilities.

    What is kept: the words that have a column, how they are weighed, the posterior of every topic, the threshold, and
    how many documents are relevant to each topic. The documents themselves, judgements and schedules are not.

    Parameters
    ----------
    filter : AdaptiveFilter

    Examples
    --------
    >>> from textbayes.core.types import Document
    >>> grain = [Document("", text, ("grain",)) for text in ["corn wheat", "corn rain", "wheat rain"] * 4]
    >>> other = [Document("", text) for text in ["bank rates", "bank loans", "goal match"] * 4]
    >>> desk = AdaptiveFilter.start([*grain, *other])
    >>> model = export_model(desk)
    >>> model.predict_labels(["the corn harvest", "bank loans"])
    [('grain',), ()]
    """
    settings, n_words = filter.settings, len(filter.lexicon)
    topics = sorted(filter.topics, key=lambda topic: topic.name)
    space = LabelSpace(np.array([topic.name for topic in topics], dtype=object), "multilabel")
    estimator = _estimator(settings)
    posterior, evidence = _posterior(topics, n_words, settings), [0.0] * len(topics)
    nothing = np.zeros((1, len(topics)))
    return assembled(
        estimator,
        estimator.unfitted().with_posterior(posterior, evidence, space, n_words),
        vectorizer_of(settings.text, filter.lexicon),
        _weighting(filter.lexicon),
        f"fixed:threshold={settings.threshold!r}",
        nothing,
        nothing > 0.0,
        np.array([topic.n_relevant for topic in topics]),
        None,  # a filter keeps no texts
    )


def _estimator(settings: FilterSettings) -> BayesOnlineClassifier:
    """What learns the same way from the same prior."""
    shared: dict[str, Any] = {"link": settings.link, "noise": settings.noise, "passes": settings.passes}
    if settings.covariance == "gp":
        return BayesProcessClassifier(kernel=settings.kernel, budget=settings.basis, **shared)
    scale = float(np.sqrt(settings.variance))
    return BayesOnlineClassifier(scale=scale, intercept_scale=scale, covariance=settings.covariance, **shared)


def _posterior(topics: Sequence[Topic], n_words: int, settings: FilterSettings) -> DiagonalPosterior | Bank[Any]:
    if settings.covariance != "diagonal":
        return Bank([_own(topic.posterior) for topic in topics])
    names = ("mean", "var", "prior_mean", "prior_var")
    arrays = {name: np.zeros((1 + n_words, len(topics))) for name in names}  # variance 0: not a word of the topic
    for k, topic in enumerate(topics):
        at = np.concatenate([[0], 1 + topic.words])
        for name, array in arrays.items():
            array[at, k] = getattr(topic.posterior, name)[:, 0]
    return DiagonalPosterior(**arrays)


def _own(posterior: OnlinePosterior) -> OnlinePosterior:
    """A posterior of one topic that a file can keep; what waits is brought into the covariance."""
    if isinstance(posterior, GaussianProcess):
        return replace(posterior.copy(), basis=posterior.basis.sorted_indices())
    if not isinstance(posterior, DeferredPosterior):
        return posterior.copy()
    size = posterior.n_weights
    prior = np.zeros(size), np.full(size, posterior.variance)
    return FullPosterior(posterior.words, posterior.mean.copy(), posterior.cov, *prior)


def _weighting(lexicon: Lexicon) -> TermWeighting:
    weighting = TermWeighting(lexicon.scheme, lexicon.norm)
    weighting.n_docs_, weighting.idf_, weighting.document_frequency_ = lexicon.n_docs, lexicon.idf.copy(), None
    weighting.check_state()
    return weighting

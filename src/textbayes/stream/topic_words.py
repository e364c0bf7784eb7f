"""The words of a topic with the largest weights, and how sure the filter is of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.models.online import DiagonalPosterior, GaussianProcess
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.topic import Topic


class TopicWord(NamedTuple):
    """The posterior mean of a word's weight and an interval that holds the weight with a given probability.

    A Gaussian process is over documents and has no posterior of weights: ``low`` and ``high`` are None.
    """

    word: str
    weight: float
    low: float | None
    high: float | None


def topic_words(filter: AdaptiveFilter, topic: str, top: int = 20, level: float = 0.9) -> list[TopicWord]:
    """The ``top`` words of a topic by the size of their mean weight, largest first."""
    from scipy.stats import norm

    own = filter.topics[filter.index[topic]]
    mean, sd = own.mean[1:], _deviations(own)
    order = np.argsort(-np.abs(mean), kind="stable")[:top]
    half = None if sd is None else float(norm.ppf(0.5 + level / 2)) * sd
    found = []
    for j in order.tolist():
        weight = float(mean[j])
        bounds = (None, None) if half is None else (weight - float(half[j]), weight + float(half[j]))
        found.append(TopicWord(filter.lexicon.name(int(own.words[j])), weight, *bounds))
    return found


def _deviations(topic: Topic) -> FloatArray | None:
    """Posterior standard deviations of the weights of a topic's words."""
    posterior = topic.posterior
    if isinstance(posterior, GaussianProcess):
        return None
    if isinstance(posterior, DiagonalPosterior):
        return np.sqrt(posterior.var[1:, 0])
    deviations: FloatArray = np.sqrt(np.maximum(np.diag(posterior.cov)[1:], 0.0))  # type: ignore[attr-defined]
    return deviations

"""A filter as JSON and arrays, and back: to the last bit, and without running anything that is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray
from textbayes.models.online import DeferredPosterior, GaussianProcess
from textbayes.models.online.gp_kernels import KERNELS
from textbayes.models.online.state import posterior_from_state, posterior_state
from textbayes.stream.decide import Spent
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.kept import KeptDocuments
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import Examples, Topic, WordCounts
from textbayes.stream.words import Lexicon
from textbayes.text.packed import checked

_COUNTED = ("n_relevant", "n_later", "turn", "delivered")


def filter_state(filter: AdaptiveFilter) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """All that a filter knows."""
    terms = filter.lexicon.terms()
    meta: dict[str, Any] = {
        "settings": filter.settings.to_json(),
        "n_docs": filter.lexicon.n_docs,
        "n_seen": filter.n_seen,
        "spent": list(filter.spent),
        "patience": filter.patience.to_state(),
        "ids": filter.ids,
        "judgements": [[number, k, relevant] for (number, k), relevant in filter.judgements.items()],
        "topics": [],
    }
    arrays = {
        "terms": terms.data,
        "term_offsets": terms.offsets,
        "document_frequency": filter.lexicon.document_frequency,
        **filter.kept.to_arrays(),
    }
    for k, topic in enumerate(filter.topics):
        told, own = _topic_state(topic)
        meta["topics"].append(told)
        arrays |= under(f"topic{k}", own)
    return meta, arrays


def complete_state(told: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What a snapshot tells, with the settings that it means and what filters of its time did not tell from another."""
    settings = FilterSettings.from_json(told["settings"]).to_json()
    return {"patience": now["patience"], **told, "settings": settings}


def filter_from_state(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> AdaptiveFilter:
    """The filter that :func:`filter_state` described."""
    settings = FilterSettings.from_json(meta["settings"])
    terms = checked(arrays["terms"], arrays["term_offsets"], "the lexicon")
    frequency, n_docs = np.array(arrays["document_frequency"]), int(meta["n_docs"])
    lexicon = Lexicon(terms, frequency, n_docs, settings.weighting, settings.norm)
    if len(lexicon.document_frequency) != len(lexicon):
        raise ModelFileError("the lexicon cannot be read: words and their counts differ in number")
    topics = []
    for k, told in enumerate(meta["topics"]):
        own = {name: np.array(array) for name, array in part_of(arrays, f"topic{k}").items()}
        topics.append(_topic_from_state(told, own, settings, len(lexicon)))
    filter = AdaptiveFilter(settings, lexicon, topics, KeptDocuments.from_arrays(arrays, len(lexicon)))
    filter.ids = {str(name): int(number) for name, number in meta["ids"].items()}
    filter.judgements = {(int(number), int(k)): bool(relevant) for number, k, relevant in meta["judgements"]}
    filter.n_seen, filter.spent = int(meta["n_seen"]), Spent(*map(int, meta["spent"]))
    filter.patience.restore(meta.get("patience", {}), [topic.delivered for topic in topics])
    return filter


def _topic_state(topic: Topic) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    meta: dict[str, Any] = {"name": topic.name, **{name: getattr(topic, name) for name in _COUNTED}, "posterior": {}}
    arrays: dict[str, AnyArray] = {"words": topic.words, "examples": np.array(topic.examples, dtype=np.int64)}
    for name, counts in topic.counts._asdict().items():
        # Most words are in no document of a topic: only the others are written.
        columns = np.flatnonzero(counts)
        arrays |= {f"{name}.columns": columns, f"{name}.counts": counts[columns]}
    if isinstance(topic.posterior, DeferredPosterior):
        posterior, size = topic.posterior, topic.posterior.n_weights
        own = {"words": posterior.words, "mean": posterior.mean, "base": posterior.base[:size, :size]}
        own |= {"directions": posterior.directions, "removed": posterior.removed}
    else:
        meta["posterior"], own = posterior_state(topic.posterior)
    return meta, arrays | under("posterior", own)


def _posterior(told: Mapping[str, Any], parts: dict[str, Any], settings: FilterSettings, n_words: int) -> Any:
    if settings.covariance == "full" and settings.deferred:
        return DeferredPosterior.restore(**parts, variance=settings.variance)
    covariance = "process" if settings.covariance == "gp" else settings.covariance
    return posterior_from_state(covariance, told, parts, 1, n_words, KERNELS[settings.kernel])


def _topic_from_state(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], settings: FilterSettings, n_words: int
) -> Topic:
    words, parts = arrays["words"], part_of(arrays, "posterior")
    # A diagonal covariance has no words of its own: its rows are those of the topic.
    of_words = len(words) if settings.covariance == "diagonal" else n_words
    posterior = _posterior(meta["posterior"], parts, settings, of_words)
    counts = {}
    for name in WordCounts._fields:
        full = np.zeros(n_words, dtype=np.int32)
        full[arrays[f"{name}.columns"]] = arrays[f"{name}.counts"]
        counts[name] = full
    examples = Examples(arrays["examples"].tolist())
    n_known = len(posterior.words) if isinstance(posterior, GaussianProcess) else posterior.n_weights - 1
    if n_known != len(words):
        raise ModelFileError(f"topic {meta['name']!r} cannot be read: its words and weights differ in number")
    return Topic(
        str(meta["name"]),
        posterior,
        words,
        WordCounts(**counts),
        examples=examples,
        **{name: int(meta[name]) for name in _COUNTED},
    )

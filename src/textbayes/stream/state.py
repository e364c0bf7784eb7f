"""A filter as JSON and arrays, and back: to the last bit, and without running anything that is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray
from textbayes.models.online import DeferredPosterior, GaussianProcess
from textbayes.models.online.gp_kernels import KERNELS
from textbayes.models.online.state import CSR_PARTS, posterior_state
from textbayes.stream.decide import Spent
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.kept import KeptDocuments
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import POSTERIORS, Examples, Topic, WordCounts
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
        arrays |= {f"topic{k}.{name}": array for name, array in own.items()}
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
        mark = f"topic{k}."
        own = {name.removeprefix(mark): np.array(array) for name, array in arrays.items() if name.startswith(mark)}
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
        return meta, arrays | {f"posterior.{name}": array for name, array in own.items()}
    meta["posterior"], own = posterior_state(topic.posterior)
    return meta, arrays | {f"posterior.{name}": array for name, array in own.items()}


def _posterior(told: Mapping[str, Any], parts: dict[str, Any], settings: FilterSettings) -> Any:
    kind = POSTERIORS[settings.covariance]
    if settings.covariance == "full" and settings.deferred:
        return DeferredPosterior.restore(**parts, variance=settings.variance)
    if kind is not GaussianProcess:
        return kind(**parts, **told)
    csr = tuple(parts.pop(f"basis_{part}") for part in CSR_PARTS)
    basis = sparse.csr_matrix(csr, shape=(int(told["n_basis"]), len(parts["words"])))
    return GaussianProcess(kernel=KERNELS[settings.kernel], basis=basis, **parts, **told)


def _topic_from_state(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], settings: FilterSettings, n_words: int
) -> Topic:
    mark = "posterior."
    parts = {name.removeprefix(mark): array for name, array in arrays.items() if name.startswith(mark)}
    posterior = _posterior(meta["posterior"], parts, settings)
    counts = {}
    for name in WordCounts._fields:
        full = np.zeros(n_words, dtype=np.int32)
        full[arrays[f"{name}.columns"]] = arrays[f"{name}.counts"]
        counts[name] = full
    words, examples = arrays["words"], Examples(arrays["examples"].tolist())
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

"""A filter as JSON and arrays, and back: to the last bit, and without running anything that is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.saved_arrays import saved_array
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.models.online import DeferredPosterior
from textbayes.models.online.gp import KERNELS
from textbayes.models.online.state import posterior_from_state, posterior_state
from textbayes.stream.decide import Spent
from textbayes.stream.filter import DIGEST, AdaptiveFilter
from textbayes.stream.kept import KeptDocuments
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import Examples, Topic, WordCounts
from textbayes.stream.words import Lexicon, check_text_options
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
    if filter.settings.skip_seen:
        arrays["seen"] = np.frombuffer(b"".join(filter.seen), dtype=np.uint8).reshape(-1, DIGEST)
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
    """The filter that :func:`filter_state` described; ``meta`` has passed ``saved.check_state``, arrays are checked."""
    settings = FilterSettings.from_json(meta["settings"])
    check_text_options(settings.text)
    terms, n_docs = checked(arrays.get("terms"), arrays.get("term_offsets"), "the lexicon"), int(meta["n_docs"])
    frequency = saved_array(arrays, "document_frequency", np.int32, (terms.n_strings,), least=0, most=n_docs)
    lexicon = Lexicon(terms, np.array(frequency), n_docs, settings.weighting, settings.norm)
    if lexicon.terms().n_strings != len(lexicon):
        raise ModelFileError("the lexicon has a word twice; was the file altered?")
    kept = KeptDocuments.from_arrays(arrays, len(lexicon))
    topics = [
        _topic_from_state(told, part_of(arrays, f"topic{k}"), settings, lexicon, len(kept))
        for k, told in enumerate(meta["topics"])
    ]
    filter = AdaptiveFilter(settings, lexicon, topics, kept)
    filter.ids = {str(name): int(number) for name, number in meta["ids"].items()}
    filter.judgements = {(int(number), int(k)): bool(relevant) for number, k, relevant in meta["judgements"]}
    _check_documents(filter)
    filter.n_seen, filter.spent = int(meta["n_seen"]), Spent(*map(int, meta["spent"]))
    if settings.skip_seen:
        seen = saved_array(arrays, "seen", np.uint8, (None, DIGEST)).tobytes()
        filter.seen = {seen[start : start + DIGEST]: None for start in range(0, len(seen), DIGEST)}
        if len(filter.seen) * DIGEST < len(seen) or len(filter.seen) > filter.n_seen:
            raise ModelFileError("the documents seen are not as many as were counted; was the file altered?")
    filter.patience.restore(meta.get("patience") or {}, [topic.delivered for topic in topics])
    return filter


def _check_documents(filter: AdaptiveFilter) -> None:
    """Refuse numbers of documents that are not kept, and relevant ones that are not among a topic's examples."""
    if max(filter.ids.values(), default=-1) >= len(filter.kept):
        raise ModelFileError("a document that was delivered is not kept; was the file altered?")
    examples = [set(topic.examples) for topic in filter.topics]
    if any(relevant and number not in examples[k] for (number, k), relevant in filter.judgements.items()):
        raise ModelFileError("a relevant document is not among the examples of its topic; was the file altered?")


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


def _posterior(
    told: Mapping[str, Any], arrays: Mapping[str, AnyArray], settings: FilterSettings, words: IntArray, n_words: int
) -> Any:
    if settings.covariance == "full" and settings.deferred:
        return _deferred(arrays, settings, n_words)
    covariance = "process" if settings.covariance == "gp" else settings.covariance
    # A diagonal covariance has no words of its own: its rows are those of the topic.
    of_words = len(words) if covariance == "diagonal" else n_words
    return posterior_from_state(covariance, told, arrays, 1, of_words, KERNELS[settings.kernel])


def _deferred(arrays: Mapping[str, AnyArray], settings: FilterSettings, n_words: int) -> DeferredPosterior:
    words = np.array(saved_array(arrays, "words", np.int64, (None,), least=0, most=n_words - 1))
    size = 1 + len(words)
    mean, base = (np.array(saved_array(arrays, "mean", np.float64, (size,))), _covariance(arrays, size))
    directions = np.array(saved_array(arrays, "directions", np.float64, (None, size)))
    removed = np.array(saved_array(arrays, "removed", np.float64, (len(directions),)))
    return DeferredPosterior.restore(words, mean, base, directions, removed, settings.variance)


def _covariance(arrays: Mapping[str, AnyArray], size: int) -> FloatArray:
    base = np.array(saved_array(arrays, "base", np.float64, (size, size)))
    if not (np.diag(base) >= 0.0).all() or not np.array_equal(base, base.T):
        raise ModelFileError("a topic's base is no covariance; was the file altered?")
    return base


def _topic_from_state(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], settings: FilterSettings, lexicon: Lexicon, n_kept: int
) -> Topic:
    name, n_words = str(meta["name"]), len(lexicon)
    words = np.array(saved_array(arrays, "words", np.int64, (None,), least=0, most=n_words - 1))
    if len(np.unique(words)) < len(words):
        raise ModelFileError(f"topic {name!r} has a word twice; was the file altered?")
    posterior = _posterior(meta["posterior"], part_of(arrays, "posterior"), settings, words, n_words)
    own_words = getattr(posterior, "words", words)
    if not np.array_equal(own_words, words):
        raise ModelFileError(f"topic {name!r} has other words than its weights; was the file altered?")
    examples = saved_array(arrays, "examples", np.int64, (None,), least=0, most=n_kept - 1).tolist()
    if len(set(examples)) < len(examples) or not 0 <= meta["turn"] < max(len(examples), 1):
        raise ModelFileError(f"topic {name!r} has examples that cannot be rehearsed; was the file altered?")
    counts = WordCounts(*(_word_counts(arrays, part, n_words) for part in WordCounts._fields))
    with_word, n_judged = lexicon.document_frequency + counts.later, lexicon.n_docs + meta["n_later"]
    if (counts.relevant < 0).any() or (counts.relevant > with_word).any() or (with_word > n_judged).any():
        raise ModelFileError(f"topic {name!r} counts words that cannot be; was the file altered?")
    return Topic(name, posterior, words, counts, examples=Examples(examples), **{n: int(meta[n]) for n in _COUNTED})


def _word_counts(arrays: Mapping[str, AnyArray], name: str, n_words: int) -> AnyArray:
    """Counts of all words from those that were written."""
    columns = saved_array(arrays, f"{name}.columns", np.int64, (None,), least=0, most=n_words - 1)
    if (np.diff(columns) <= 0).any():
        raise ModelFileError(f"a topic's {name}.columns are not in order; was the file altered?")
    full = np.zeros(n_words, dtype=np.int32)
    full[columns] = saved_array(arrays, f"{name}.counts", np.int32, columns.shape)
    return full

"""The state of a filter: what the entries of its log add up to, and as JSON and arrays, to the last bit.

Nothing that is read is run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.array_fields import saved_array
from textbayes.core.errors import ModelFileError
from textbayes.core.state import part_of, to_state, under
from textbayes.core.types import AnyArray, Document, FloatArray, IntArray
from textbayes.display import snippet
from textbayes.models.online import DeferredPosterior
from textbayes.models.online.gp import KERNELS
from textbayes.models.online.text_model import posterior_from_state
from textbayes.store.event_folder import Entry
from textbayes.stream.decide import Delivery, Spent
from textbayes.stream.filter import DIGEST, AdaptiveFilter, FilterDecision
from textbayes.stream.judgements import Judgement
from textbayes.stream.scoring import Scores
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import Topic, WordCounts
from textbayes.stream.words import Bag, Bags, FilterLexicon, KeptDocuments, check_text_options
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
        described, own = _topic_state(topic)
        meta["topics"].append(described)
        arrays |= under(f"topic{k}", own)
    return meta, arrays


def filter_from_state(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> AdaptiveFilter:
    """The filter that :func:`filter_state` described; ``meta`` has passed ``saved.check_state``, arrays are checked."""
    settings = FilterSettings.from_json(meta["settings"])
    check_text_options(settings.text)
    terms, n_docs = checked(arrays.get("terms"), arrays.get("term_offsets"), "the lexicon"), int(meta["n_docs"])
    frequency = saved_array(arrays, "document_frequency", np.int32, (terms.n_strings,), least=0, most=n_docs)
    lexicon = FilterLexicon(terms, np.array(frequency), n_docs, settings.weighting, settings.norm)
    if lexicon.terms().n_strings != len(lexicon):
        raise ModelFileError("the lexicon has a word twice; was the file altered?")
    kept = KeptDocuments.from_arrays(arrays, len(lexicon))
    topics = [
        _topic_from_state(saved, part_of(arrays, f"topic{k}"), settings, lexicon, len(kept))
        for k, saved in enumerate(meta["topics"])
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
    filter.patience.restore(meta["patience"], [topic.delivered for topic in topics])
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
        meta["posterior"], own = to_state(topic.posterior)
    return meta, arrays | under("posterior", own)


def _posterior(
    saved: Mapping[str, Any], arrays: Mapping[str, AnyArray], settings: FilterSettings, words: IntArray, n_words: int
) -> Any:
    if settings.covariance == "full" and settings.deferred:
        return _deferred(arrays, settings, n_words)
    covariance = "process" if settings.covariance == "gp" else settings.covariance
    # A diagonal covariance has no words of its own: its rows are those of the topic.
    of_words = len(words) if covariance == "diagonal" else n_words
    return posterior_from_state(covariance, saved, arrays, 1, of_words, KERNELS[settings.kernel])


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
    meta: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
    settings: FilterSettings,
    lexicon: FilterLexicon,
    n_kept: int,
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
    return Topic(name, posterior, words, counts, examples=examples, **{n: int(meta[n]) for n in _COUNTED})


def _word_counts(arrays: Mapping[str, AnyArray], name: str, n_words: int) -> AnyArray:
    """Counts of all words from those that were written."""
    columns = saved_array(arrays, f"{name}.columns", np.int64, (None,), least=0, most=n_words - 1)
    if (np.diff(columns) <= 0).any():
        raise ModelFileError(f"a topic's {name}.columns are not in order; was the file altered?")
    full = np.zeros(n_words, dtype=np.int32)
    full[columns] = saved_array(arrays, f"{name}.counts", np.int32, columns.shape)
    return full


class FilterState:
    """A filter and how far it has come.

    Attributes
    ----------
    filter : AdaptiveFilter
    inputs : dict
        How far each input has been read, in documents, by the input's name.
    input : str
        The one at hand.
    place : int
        How far the one at hand has been read this time: a run that does not continue begins anew.
    sources : dict
        Bytes read of each file of judgements.
    """

    def __init__(self, filter: AdaptiveFilter) -> None:
        self.filter = filter
        self.inputs: dict[str, int] = {}
        self.input = ""
        self.place = 0
        self.sources: dict[str, int] = {}

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        meta, arrays = filter_state(self.filter)
        place = {"inputs": self.inputs, "input": self.input, "place": self.place}
        return {"filter": meta, **place, "sources": self.sources}, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> FilterState:
        """What :meth:`to_state` described."""
        state = cls(filter_from_state(meta["filter"], arrays))
        state.inputs = {str(name): int(n) for name, n in meta["inputs"].items()}
        state.input = str(meta["input"])
        state.place = int(meta["place"])
        state.sources = {str(name): int(n) for name, n in meta["sources"].items()}
        return state

    def apply(self, entry: Entry) -> None:
        """Bring the state up to an entry of the log, without deciding anything anew."""
        kind = entry["kind"]
        if kind == "run":
            self.begin(entry["input"], entry["passed_over"])
        elif kind == "settings":
            self.filter.use(self.filter.settings.changed(**entry["changes"]))
        elif kind == "document":
            deliveries = [Delivery(entry["id"], **one) for one in entry["delivered"]]
            kept = self.filter.lexicon.keep(Bag.from_json(entry["words"])) if deliveries else None
            records = {self.filter.index[topic]: best for topic, best in entry.get("records", {}).items()}
            self.filter.take_note(entry["id"], deliveries, entry["time"], kept, records, entry_digest(entry))
            self.read_one()
        elif kind == "repeated":
            if is_counted(entry, self.filter.settings.skip_seen):
                self.filter.take_note(entry["id"], [], entry["time"], digest=entry_digest(entry))
            self.read_one()
        elif kind == "judgement":
            bag = Bag.from_json(entry["words"]) if "words" in entry else None
            self.filter.judge(entry["id"], entry["topic"], entry["relevant"], bag)
            self.read_to(entry)
        elif kind == "refused":
            self.read_to(entry)
        else:
            raise ModelFileError(
                f"the log has an entry of kind {kind!r}, which this version of textbayes does not know"
            )

    def begin(self, name: str, passed_over: int) -> None:
        """Go over to an input, of which so many documents are passed over."""
        self.input, self.place = name, passed_over
        self.inputs.setdefault(name, 0)

    def read_one(self) -> None:
        """Count a document of the input at hand."""
        self.place += 1
        self.inputs[self.input] = max(self.inputs[self.input], self.place)

    def read_to(self, entry: Entry) -> None:
        """Note how far a file of judgements has been read."""
        if "source" in entry:
            self.sources[entry["source"]] = entry["offset"]


def document_entry(
    document: Document, seen: FilterDecision, time: float, bags: Bags, i: int, scores: Scores, filter: AdaptiveFilter
) -> Entry:
    """The decision on a document. ``scores`` is a digest of all its probabilities and gains, to the last bit."""
    known = {} if seen.digest is None else {"digest": seen.digest.hex()}
    if seen.repeated:
        return {"kind": "repeated", "id": seen.id, "time": time, **known}
    digest = hashlib.blake2b(scores.probability.tobytes() + scores.gain.tobytes(), digest_size=8).hexdigest()
    entry = {"kind": "document", "id": seen.id, "time": time, "scores": digest, **known}
    if seen.id != document.id:
        entry["given"] = document.id
    delivered = []
    for delivery in seen.deliveries:
        described = delivery._asdict()
        del described["id"]
        delivered.append(described)
    entry["delivered"] = delivered
    if seen.records:
        entry["records"] = {filter.topics[k].name: best for k, best in seen.records.items()}
    if delivered or filter.settings.keep == "all":
        entry["words"] = bags.bag(i).to_json()
    if delivered and filter.settings.snippet and document.text:
        entry["snippet"] = snippet(document.text, filter.settings.snippet)
    return entry


def entry_digest(entry: Entry) -> bytes | None:
    """What the document of an entry is known by from there on."""
    return bytes.fromhex(entry["digest"]) if "digest" in entry else None


def is_counted(entry: Entry, skip_seen: bool) -> bool:
    """Whether an entry counts one more document: not that of one that was seen before, where these are skipped."""
    return entry["kind"] == "document" or (entry["kind"] == "repeated" and ("digest" in entry or not skip_seen))


def judgement_entry(judgement: Judgement, bag: Bag | None, time: float, source: str | None, offset: int) -> Entry:
    """A judgement; with the words of its document where that was not delivered."""
    entry = {"kind": "judgement", **judgement._replace(text=None).to_json(), "time": time}
    if source is not None:
        entry |= {"source": source, "offset": offset}
    return entry if bag is None else {**entry, "words": bag.to_json()}

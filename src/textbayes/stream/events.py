"""What happens to a filter, as entries of its log; and what entries add up to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray, Document
from textbayes.display.escapes import snippet
from textbayes.store.log import Entry
from textbayes.stream.bags import Bag, Bags
from textbayes.stream.decide import Delivery
from textbayes.stream.filter import AdaptiveFilter, Seen
from textbayes.stream.judgements import Judgement
from textbayes.stream.scoring import Scores
from textbayes.stream.state import filter_from_state, filter_state


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
        state.place = int(meta.get("place", state.inputs.get(state.input, 0)))
        state.sources = {str(name): int(n) for name, n in meta["sources"].items()}
        return state

    def apply(self, entry: Entry) -> None:
        """Bring the state up to an entry of the log, without deciding anything anew."""
        kind = entry["kind"]
        if kind == "run":
            # Entries of before do not say where a run began: all of them were taken to go on.
            self.begin(entry["input"], entry.get("passed_over", self.inputs.get(entry["input"], 0)))
        elif kind == "settings":
            self.filter.use(self.filter.settings.changed(**entry["changes"]))
        elif kind == "document":
            deliveries = [Delivery(entry["id"], **told) for told in entry["delivered"]]
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
    document: Document, seen: Seen, time: float, bags: Bags, i: int, scores: Scores, filter: AdaptiveFilter
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
        told = delivery._asdict()
        del told["id"]
        delivered.append(told)
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

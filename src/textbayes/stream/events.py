"""What happens to a filter, as entries of its log; and what entries add up to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray, Document
from textbayes.stream.bags import Bag, Bags
from textbayes.stream.decide import Delivery
from textbayes.stream.filter import AdaptiveFilter, Seen
from textbayes.stream.judgements import Judgement
from textbayes.stream.log import Entry
from textbayes.stream.scoring import Scores
from textbayes.stream.state import filter_from_state, filter_state


class Account:
    """A filter and how far it has come.

    Attributes
    ----------
    filter : AdaptiveFilter
    inputs : dict
        Documents seen of each input, by the input's name.
    input : str
        The one at hand.
    sources : dict
        Bytes read of each file of judgements.
    """

    def __init__(self, filter: AdaptiveFilter) -> None:
        self.filter = filter
        self.inputs: dict[str, int] = {}
        self.input = ""
        self.sources: dict[str, int] = {}

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        meta, arrays = filter_state(self.filter)
        return {"filter": meta, "inputs": self.inputs, "input": self.input, "sources": self.sources}, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Account:
        """What :meth:`to_state` described; anything else is refused."""
        try:
            account = cls(filter_from_state(meta["filter"], arrays))
            account.inputs = {str(name): int(n) for name, n in meta["inputs"].items()}
            account.input = str(meta["input"])
            account.sources = {str(name): int(n) for name, n in meta["sources"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ModelFileError(f"a snapshot of the filter holds what cannot be used ({error!r})") from error
        return account

    def apply(self, entry: Entry) -> None:
        """Bring the account up to an entry of the log, without deciding anything anew."""
        kind = entry["kind"]
        if kind == "run":
            self.begin(entry["input"])
        elif kind == "settings":
            self.filter.use(self.filter.settings.changed(**entry["changes"]))
        elif kind == "document":
            deliveries = [Delivery(entry["id"], **told) for told in entry["delivered"]]
            kept = self.filter.lexicon.keep(Bag.from_json(entry["words"])) if deliveries else None
            self.filter.take_note(entry["id"], deliveries, entry["time"], kept)
            self.inputs[self.input] += 1
        elif kind == "repeated":
            self.filter.take_note(entry["id"], [], entry["time"])
            self.inputs[self.input] += 1
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

    def begin(self, name: str) -> None:
        """Go over to an input."""
        self.input = name
        self.inputs.setdefault(name, 0)

    def read_to(self, entry: Entry) -> None:
        """Note how far a file of judgements has been read."""
        if "source" in entry:
            self.sources[entry["source"]] = entry["offset"]


def document_entry(document: Document, seen: Seen, time: float, bags: Bags, i: int, scores: Scores, keep: str) -> Entry:
    """The decision on a document. ``scores`` is a digest of all its probabilities and gains, to the last bit."""
    if seen.repeated:
        return {"kind": "repeated", "id": seen.id, "time": time}
    digest = hashlib.blake2b(scores.probability.tobytes() + scores.gain.tobytes(), digest_size=8).hexdigest()
    entry = {"kind": "document", "id": seen.id, "time": time, "scores": digest}
    if seen.id != document.id:
        entry["given"] = document.id
    delivered = []
    for delivery in seen.deliveries:
        told = delivery._asdict()
        del told["id"]
        delivered.append(told)
    entry["delivered"] = delivered
    if delivered or keep == "all":
        entry["words"] = bags.bag(i).to_json()
    return entry


def judgement_entry(judgement: Judgement, bag: Bag | None, time: float, source: str | None, offset: int) -> Entry:
    """A judgement; with the words of its document where that was not delivered."""
    entry = {"kind": "judgement", **judgement._replace(text=None).to_json(), "time": time}
    if source is not None:
        entry |= {"source": source, "offset": offset}
    return entry if bag is None else {**entry, "words": bag.to_json()}

"""What has been delivered and judged, read beside a filter that may be running; without loading what it has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from textbayes.stream.judgements import Judgement, Verdict, check_known
from textbayes.stream.log import Entry, LogPosition, read_log
from textbayes.stream.snapshot import newest, read_meta


class Ledger(NamedTuple):
    """The topics, the ids of all documents that can be judged, and the judgements by (id, topic)."""

    topics: list[str]
    ids: set[str]
    judgements: dict[tuple[str, str], bool]

    def verdict(self, judgement: Judgement) -> Verdict:
        """What a judgement would be to the filter; one that it would refuse is refused."""
        can_learn = judgement.id in self.ids or judgement.text is not None
        check_known(judgement.id, judgement.topic, can_learn, self.topics)
        before = self.judgements.get((judgement.id, judgement.topic))
        return "new" if before is None else "same" if before == judgement.relevant else "changed"


def read_ledger(folder: Path) -> Ledger:
    """The ledger of a state folder: of its newest sound snapshot and the log after it."""
    meta, _ = newest(folder / "snapshots", read_meta)
    told: dict[str, Any] = meta["filter"]
    topics = [topic["name"] for topic in told["topics"]]
    names = {number: name for name, number in told["ids"].items()}
    judgements = {(names[number], topics[k]): bool(relevant) for number, k, relevant in told["judgements"]}
    ids = set(told["ids"])
    for entry, _ in read_log(folder / "log.jsonl", LogPosition(*meta["log"])):
        if entry["kind"] == "judgement" or (entry["kind"] == "document" and entry["delivered"]):
            ids.add(entry["id"])
        if entry["kind"] == "judgement":
            judgements[entry["id"], entry["topic"]] = entry["relevant"]
    return Ledger(topics, ids, judgements)


def read_pending(folder: Path) -> Iterator[Entry]:
    """What was delivered and has no judgement yet, in the order it was delivered."""
    judged = set(read_ledger(folder).judgements)
    for entry, _ in read_log(folder / "log.jsonl"):
        if entry["kind"] == "document":
            for told in entry["delivered"]:
                if (entry["id"], told["topic"]) not in judged:
                    yield {"id": entry["id"], **told}

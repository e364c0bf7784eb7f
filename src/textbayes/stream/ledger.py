"""What has been delivered and judged, read beside a filter that may be running; without loading what it has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from textbayes.core.errors import InputError
from textbayes.store.log import Entry, LogPosition, read_log
from textbayes.store.snapshots import newest
from textbayes.stream.judgements import INBOX, FileSource, Judgement, Verdict, check_known, parse_judgement
from textbayes.stream.snapshot import FILTER_FILE, checked_meta


class Ledger(NamedTuple):
    """The topics, the ids of all documents that can be judged, and the judgements by (id, topic).

    Those that wait in the inbox to be learnt are among them.
    """

    topics: list[str]
    ids: set[str]
    judgements: dict[tuple[str, str], bool]

    def verdict(self, judgement: Judgement) -> Verdict:
        """What a judgement would be to the filter; one that it would refuse is refused."""
        can_learn = judgement.id in self.ids or judgement.text is not None
        check_known(judgement.id, judgement.topic, can_learn, self.topics)
        before = self.judgements.get((judgement.id, judgement.topic))
        return "new" if before is None else "same" if before == judgement.relevant else "changed"

    def take(self, judgement: Judgement) -> None:
        """Note a judgement that has been given."""
        self.judgements[judgement.id, judgement.topic] = judgement.relevant
        self.ids.add(judgement.id)


def read_ledger(folder: Path) -> Ledger:
    """The ledger of a state folder: of its newest sound snapshot, the log after it, and what is in the inbox."""
    meta, _ = newest(folder / "snapshots", FILTER_FILE, checked_meta)
    told: dict[str, Any] = meta["filter"]
    topics = [topic["name"] for topic in told["topics"]]
    names = {number: name for name, number in told["ids"].items()}
    judgements = {(names[number], topics[k]): bool(relevant) for number, k, relevant in told["judgements"]}
    ledger, read = Ledger(topics, set(told["ids"]), judgements), int(meta["sources"].get(INBOX, 0))
    for entry, _ in read_log(folder / "log.jsonl", LogPosition(*meta["log"]), brief=True):
        if entry["kind"] == "judgement":
            ledger.take(Judgement(entry["id"], entry["topic"], entry["relevant"]))
        elif entry["kind"] == "document" and entry["delivered"]:
            ledger.ids.add(entry["id"])
        if entry.get("source") == INBOX:
            read = entry["offset"]
    for judgement in _unread(folder, read):
        if judgement.topic in topics and (judgement.id in ledger.ids or judgement.text is not None):
            ledger.take(judgement)
    return ledger


def _unread(folder: Path, offset: int) -> Iterator[Judgement]:
    """The judgements of the inbox after an offset; the filter will say what is wrong with others."""
    for line, _ in FileSource(folder / INBOX).lines(offset):
        try:
            yield parse_judgement(line)
        except InputError:
            continue


def read_pending(folder: Path) -> Iterator[Entry]:
    """What was delivered and has no judgement yet, in the order it was delivered; with the time and the snippet."""
    judged = set(read_ledger(folder).judgements)
    for entry, _ in read_log(folder / "log.jsonl", brief=True):
        if entry["kind"] == "document":
            for told in entry["delivered"]:
                if (entry["id"], told["topic"]) not in judged:
                    yield {"id": entry["id"], **told, "time": entry["time"], "snippet": entry.get("snippet")}


def most_informative(pending: Iterator[Entry]) -> list[Entry]:
    """What is pending, by the information that a judgement was expected to bring when it was delivered."""
    return sorted(pending, key=lambda row: -row["information_gain"])

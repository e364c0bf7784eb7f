"""The files of a filter, read beside one that may be running; without loading what it has learnt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from textbayes.core.codec import read
from textbayes.core.errors import InputError
from textbayes.data.layout import COLUMNS
from textbayes.store.container import open_container
from textbayes.store.event_folder import Entry, EventFolder, newest, position_of
from textbayes.store.file_format import FileFormat
from textbayes.stream.judgements import INBOX, FileSource, Judgement, Verdict, check_known, parse_judgement
from textbayes.stream.saved import check_state

FILTER_FILE = FileFormat(
    "textbayes filter", version=1, noun="filter file", remedy="restore the folder from a copy", largest=256 << 20
)


def filter_events(folder: str | Path) -> EventFolder:
    """The events of a state folder."""
    return EventFolder(Path(folder), FILTER_FILE)


def read_config(folder: Path) -> dict[str, Any]:
    """What a state folder says of itself; anything that is none is refused."""
    start = f"start one: textbayes filter {folder} --train labelled.jsonl"
    return filter_events(folder).config(f"{folder} is not the folder of a filter; {start}")


def read_columns(folder: Path) -> dict[str, Any] | None:
    """The columns of the file that a filter was started from (``data.layout.Columns.to_state``), if it had any."""
    columns = read_config(folder)["columns"]
    if columns is None:
        return None
    path = folder / "config.json"
    with FILTER_FILE.damage(path):
        found: dict[str, Any] = read(COLUMNS, columns, {}, path.name)
        return found


def checked_meta(path: Path, meta: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The JSON part of a snapshot, read unless given, with every field checked."""
    if meta is None:
        with open_container(path, FILTER_FILE) as container:
            meta = container.mark
    with FILTER_FILE.damage(path):
        check_state(meta)
    return meta


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
    events = filter_events(folder)
    meta, _ = newest(events.snapshots, FILTER_FILE, checked_meta)
    saved: dict[str, Any] = meta["filter"]
    topics = [topic["name"] for topic in saved["topics"]]
    names = {number: name for name, number in saved["ids"].items()}
    judgements = {(names[number], topics[k]): bool(relevant) for number, k, relevant in saved["judgements"]}
    ledger, read = Ledger(topics, set(saved["ids"]), judgements), int(meta["sources"].get(INBOX, 0))
    for entry, _ in events.entries(position_of(meta), brief=True):
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
    for entry, _ in filter_events(folder).entries(brief=True):
        if entry["kind"] == "document":
            for delivery in entry["delivered"]:
                if (entry["id"], delivery["topic"]) not in judged:
                    yield {"id": entry["id"], **delivery, "time": entry["time"], "snippet": entry.get("snippet")}


def most_informative(pending: Iterator[Entry]) -> list[Entry]:
    """What is pending, by the information that a judgement was expected to bring when it was delivered."""
    return sorted(pending, key=lambda row: -row["information_gain"])

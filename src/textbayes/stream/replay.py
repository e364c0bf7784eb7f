"""Every decision of a log computed anew from its start, and compared bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.progress import Progress
from textbayes.core.types import AnyArray, Document
from textbayes.store.container import read_container
from textbayes.store.event_folder import Entry, snapshots
from textbayes.stream.folder import read_state
from textbayes.stream.ledger import FILTER_FILE, checked_meta, filter_events, read_config
from textbayes.stream.state import FilterState, document_entry, entry_digest
from textbayes.stream.words import Bag, Bags


class Replay(NamedTuple):
    """What a replay found.

    ``unchecked`` documents were not delivered and the log does not keep their words (``keep="delivered"``).
    ``difference`` names the first place where log and computation part, None if there is none.
    """

    entries: int
    documents: int
    unchecked: int
    deliveries: int
    judgements: int
    snapshots: int
    difference: str | None


def replay_log(folder: str | Path, progress: Progress | None = None) -> Replay:
    """Compute every decision of a state folder anew; stops at the first difference.

    The learnt state is compared with every snapshot on the way as well. Decisions are the same to the last bit on the
    machine that made them; another processor may round differently.
    """
    path = Path(folder)
    read_config(path)
    events = filter_events(path)
    states = {int(place.stem): place for place in snapshots(events.snapshots)}
    if 0 not in states:
        raise ModelFileError(f"{path} has lost the snapshot of its start; restore the folder from a copy")
    state, start = read_state(states[0])
    counts = dict.fromkeys(Replay._fields[:-1], 0)
    difference: str | None = None
    for entry, position in events.entries(start):
        counts["entries"] += 1
        counts["judgements"] += entry["kind"] == "judgement"
        if entry["kind"] == "document":
            counts["documents"] += 1
            counts["deliveries"] += len(entry["delivered"])
            counts["unchecked"] += "words" not in entry
        difference = _differs(state, entry)
        if difference is None and position.sequence in states:
            counts["snapshots"] += 1
            difference = _differs_from(state, states[position.sequence])
        if difference is not None:
            difference = f"entry {position.sequence} of the log: {difference}"
            break
        if progress is not None and counts["entries"] % 64 == 0:
            progress("replaying", counts["entries"], None)
    return Replay(**counts, difference=difference)


def _differs(state: FilterState, entry: Entry) -> str | None:
    """Bring a state up to an entry; how the decision in it differs from that of the state."""
    if entry["kind"] != "document" or "words" not in entry:
        state.apply(entry)
        return None
    filter = state.filter
    document = Document(str(entry.get("given", entry["id"])), "")
    bags = Bags.of([Bag.from_json(entry["words"])])
    scores = filter.score(bags)
    seen = filter.see(document, entry["time"], bags, 0, scores, digest=entry_digest(entry))
    state.read_one()
    found = document_entry(document, seen, entry["time"], bags, 0, scores, filter)
    logged = {name: value for name, value in entry.items() if name != "snippet"}  # of a text that is not kept
    return _first_difference(logged, found, f"document {entry['id']!r}")


def _first_difference(logged: Mapping[str, Any], found: Mapping[str, Any], where: str) -> str | None:
    if logged == found:
        return None
    for was, now in zip(logged.get("delivered", []), found.get("delivered", []), strict=False):
        for name in was:
            if was[name] != now.get(name):
                topic = f"{where}, topic {was['topic']!r}"
                return f"{topic}: {name} was {was[name]!r}, and is {now.get(name)!r} when computed anew"
    for name in {**logged, **found}:
        if logged.get(name) != found.get(name):
            return f"{where}: {name} was {logged.get(name)!r}, and is {found.get(name)!r} when computed anew"
    return None


def _differs_from(state: FilterState, path: Path) -> str | None:
    """Where a snapshot is not what was computed anew; one that cannot be read says nothing."""
    try:
        logged, arrays = read_container(path, FILTER_FILE)
        checked_meta(path, logged)
    except ModelFileError:
        return None
    meta, computed = state.to_state()
    for name in meta:
        if meta[name] != logged.get(name):
            return f"{path.name}: its {name} is not what comes out when computed anew"
    if set(arrays) != set(computed):
        return f"{path.name}: it has other arrays than what comes out when computed anew"
    return next(
        (f"{path.name}: {name} has other bits" for name in arrays if not _same(arrays[name], computed[name])), None
    )


def _same(one: AnyArray, other: AnyArray) -> bool:
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == np.ascontiguousarray(other).tobytes()
    )

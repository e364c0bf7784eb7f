"""The loop: documents in, deliveries out, judgements learnt between documents; and the replay of a log.

A replay computes every decision of a log anew from its start, and compares bit for bit.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.progress import Progress
from textbayes.core.types import AnyArray, Document
from textbayes.store.container import read_container
from textbayes.store.event_folder import Entry, snapshots
from textbayes.stream.decide import Delivery
from textbayes.stream.filter import AdaptiveFilter, FilterDecision
from textbayes.stream.folder import read_state
from textbayes.stream.judgements import FILTER_FILE, Verdict, checked_meta, filter_events, read_config
from textbayes.stream.scoring import Scores, WeighedBlock
from textbayes.stream.state import FilterState, document_entry, entry_digest
from textbayes.stream.words import Bag, Bags

_MOST_READ = 4096  # documents counted at once: words that many of them share are looked at once
_MOST_AHEAD = 512  # documents scored at once


class Keeper(Protocol):
    """A filter, or something that keeps a record of what one does."""

    @property
    def filter(self) -> AdaptiveFilter: ...
    def see(self, document: Document, time: float, bags: Bags, i: int, scores: Scores) -> FilterDecision: ...
    def judge(self, document: str, topic: str, relevant: bool) -> Verdict: ...


def run(
    keeper: Keeper,
    batches: Iterable[Sequence[Document]],
    *,
    by_labels: bool = False,
    before_each: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.time,
    read_ahead: bool = False,
) -> Iterator[Delivery]:
    """Deliveries as documents come.

    Parameters
    ----------
    batches : iterable of sequences of Document
        Documents read together are scored ahead; what has become wrong through a judgement is scored again, so the
        result does not depend on the batches. Of one document each where documents come slowly.
    by_labels : bool
        Judge every delivered document at once, by its own labels: to try settings out on a labelled stream.
    before_each : callable, optional
        Called before each decision, to learn judgements that have come in.
    read_ahead : bool
        Count the next batch and score the next documents while others are decided on; not where documents are waited
        for.
    """
    with ThreadPoolExecutor(2) as threads:  # started when first used
        thread = threads if read_ahead else None
        for chunk, bags in _counted(keeper.filter, batches, thread):
            ahead = ScoreCache(keeper.filter, bags, thread)
            for i, document in enumerate(chunk):
                if before_each is not None:
                    before_each()
                seen = keeper.see(document, clock(), bags, i, ahead.scores(i))
                for delivery in seen.deliveries:
                    yield delivery
                    if by_labels:
                        keeper.judge(delivery.id, delivery.topic, delivery.topic in document.labels)


def simulate(
    filter: AdaptiveFilter,
    documents: Iterable[Document],
    batch: int = _MOST_READ,
    *,
    judged: bool = True,
    explain: bool = True,
) -> Iterator[Delivery]:
    """Filter a labelled stream with every delivered document judged at once by its labels, as in TREC-9.

    The filter learns; pass one that may. With ``judged=False`` nobody judges, and nothing is learnt; with
    ``explain=False`` the words behind deliveries are left out, which saves time. Documents have no time: budgets by
    time see one moment.
    """
    documents = iter(documents)
    batches = iter(lambda: list(islice(documents, batch)), [])
    return run(_InMemory(filter, explain), batches, by_labels=judged, clock=lambda: 0.0, read_ahead=True)


def _counted(
    filter: AdaptiveFilter, batches: Iterable[Sequence[Document]], thread: ThreadPoolExecutor | None
) -> Iterator[tuple[Sequence[Document], Bags]]:
    """Each batch with its counted words, which depend on the texts alone; the next one is counted in the thread."""
    waiting: deque[tuple[Sequence[Document], Future[Bags]]] = deque()
    for chunk in batches:
        texts = [document.text for document in chunk]
        if thread is None:
            yield chunk, filter.read(texts)
            continue
        waiting.append((chunk, thread.submit(filter.read, texts)))
        if len(waiting) > 1:
            done, bags = waiting.popleft()
            yield done, bags.result()
    for done, bags in waiting:
        yield done, bags.result()


class _InMemory:
    """A filter of which no record is kept."""

    def __init__(self, filter: AdaptiveFilter, explain: bool) -> None:
        self.filter, self._explain = filter, explain

    def see(self, document: Document, time: float, bags: Bags, i: int, scores: Scores) -> FilterDecision:
        return self.filter.see(document, time, bags, i, scores, self._explain)

    def judge(self, document: str, topic: str, relevant: bool) -> Verdict:
        return self.filter.judge(document, topic, relevant)


class ScoreCache:
    """Scores of the next documents: more at a time while nothing is learnt, one after something was.

    With a ``thread`` the block after the one at hand is scored there meanwhile, in the hope that nothing is learnt.
    """

    def __init__(self, filter: AdaptiveFilter, bags: Bags, thread: ThreadPoolExecutor | None = None) -> None:
        self._filter, self.bags, self._thread = filter, bags, thread
        self._block: WeighedBlock | None = None
        self._scores: Scores | None = None
        self._next: tuple[WeighedBlock, Future[Scores]] | None = None

    def scores(self, i: int) -> Scores:
        """The scores of one document, by what the filter knows now."""
        filter, block = self._filter, self._block
        stale = block is not None and block.version != filter.version
        if block is None or stale or i >= block.stop:
            size = 1 if block is None or stale else min(2 * (block.stop - block.start), _MOST_AHEAD)
            block = self._advance(i, size)
        if block.is_old(i, filter.lexicon):
            return filter.score(self.bags, i, i + 1)
        assert self._scores is not None
        row = i - block.start
        return Scores(self._scores.probability[row : row + 1], self._scores.gain[row : row + 1])

    def _advance(self, i: int, size: int) -> WeighedBlock:
        """Make the block that begins with a document the one at hand."""
        filter, ahead = self._filter, self._next
        self._next = None
        found = None if ahead is None else ahead[1].result()  # nothing is scored beside what comes now
        if ahead is not None and ahead[0].start == i and ahead[0].version == filter.version:
            self._block, self._scores = ahead[0], found
        else:
            self._block = filter.block(self.bags, i, min(i + size, len(self.bags)))
            self._scores = filter.score_block(self._block)
        filter.at_hand, stop = self._block, self._block.stop
        if self._thread is not None and size == _MOST_AHEAD and stop < len(self.bags):
            following = filter.block(self.bags, stop, min(stop + size, len(self.bags)))
            self._next = following, self._thread.submit(filter.score_block, following, False)
        return self._block


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

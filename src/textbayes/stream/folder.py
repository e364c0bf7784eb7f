"""A filter that lives in a folder: everything it decides and learns is in its log before it is printed or acknowledged.

::

    STATE/config.json   format, topics, settings at the start, columns of the training file
          log.jsonl     every decision and judgement, in order (see ``store.event_folder``)
          snapshots/    the state after so many entries; the first is the start
          inbox.jsonl   judgements that ``textbayes judge`` left
          surface.json  whole words that are shown in place of stems
          lock          held by the one process that filters

A judgement that is in the log is learnt, now or by whoever opens the folder next; one that is not has not been
acknowledged.
"""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from textbayes._version import __version__
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.types import Document
from textbayes.store.container import read_container
from textbayes.store.event_folder import Entry, EventFolder, LogPosition, check_new_folder, position_of, snapshots
from textbayes.stream.filter import AdaptiveFilter, FilterDecision
from textbayes.stream.judgements import (
    FILTER_FILE,
    INBOX,
    FileSource,
    Judgement,
    JudgementSource,
    Verdict,
    checked_meta,
    filter_events,
    parse_judgement,
    read_config,
)
from textbayes.stream.scoring import Scores
from textbayes.stream.state import FilterState, document_entry, judgement_entry
from textbayes.stream.words import Bags, vectorizer_of
from textbayes.text.linear_pattern import check_can_be_kept
from textbayes.text.surface import surface_forms

_SURFACE = "surface.json"
_SNAPSHOT_JUDGEMENTS = 200  # learnt between two snapshots: what a recovery may have to learn again
_SNAPSHOT_DOCUMENTS = 100_000  # seen between two: a recovery reads their entries
# Bytes of a snapshot that a judgement and a document may cost: a large state is written less often, so that the cost of
# a document does not grow with the past.
_BYTES_PER_JUDGEMENT, _BYTES_PER_DOCUMENT = 16_384, 512


class FilterFolder:
    """A filter and its folder, held by one process. Use :meth:`create` or :meth:`open`, and close it at the end.

    Attributes
    ----------
    state : FilterState
    n_repeated : int
        Documents that were skipped since the folder was opened: they were known already.
    last_text, last_snippet : str, str or None
        Of the document seen last: its text, and what is kept of it where it was delivered.
    notes : list of str
        What was found and put right when the folder was opened.
    """

    def __init__(self, events: EventFolder, state: FilterState, notes: list[str]) -> None:
        self.path, self.state, self.notes = events.path, state, notes
        self._events = events
        self._sources: list[JudgementSource] = [FileSource(self.path / INBOX, INBOX)]
        self.n_repeated = 0  # documents skipped since the folder was opened, since they were known
        self.last_text = ""
        self.last_snippet: str | None = None
        self._judged = self._seen = 0
        self._snapshot_size = max((place.stat().st_size for place in snapshots(events.snapshots)), default=0)
        self._whole = True  # whether state and log agree: not while an entry is being made

    # -- from start to end -------------------------------------------------------------------------------------------
    @classmethod
    def create(cls, path: str | Path, filter: AdaptiveFilter, columns: Mapping[str, Any] | None = None) -> None:
        """Make a folder of a filter that has just been started; it is there whole or not at all.

        ``columns`` say how the training file was read, see ``data.layout.Columns.to_state``: later files are read so.
        """
        check_can_be_kept(filter.settings.text.token_pattern)
        config = {
            "topics": [topic.name for topic in filter.topics],
            "settings": filter.settings.to_json(),
            "columns": None if columns is None else dict(columns),
        }
        with EventFolder.create(check_new(path), FILTER_FILE, config) as events:
            events.snapshot(*FilterState(filter).to_state())

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Take hold of a folder and bring its filter up to the end of its log."""
        folder = Path(path)
        read_config(folder)
        events = filter_events(folder)
        events.hold(
            f"{folder} is in use by another filter; wait for it or end it. Judgements can be given meanwhile with "
            "`textbayes judge`"
        )
        try:
            state, notes = load_state(events)
            cut_off = events.open_log().cut_off
        except BaseException:
            events.release()
            raise
        if cut_off > 0:
            notes.append(f"{cut_off} bytes of an unfinished entry at the end of the log were dropped")
        return cls(events, state, notes)

    def close(self) -> None:
        """Write what saves time at the next start, and let go of the folder."""
        try:
            if self._whole and (self._judged or self._seen):
                self.snapshot()
        finally:
            self._events.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what happens ------------------------------------------------------------------------------------------------
    @property
    def filter(self) -> AdaptiveFilter:
        return self.state.filter

    def begin(self, name: str, changes: Mapping[str, Any] | None = None, go_on: bool = False) -> int:
        """Begin with an input, under other settings if some are given; how many of its documents to pass over.

        With ``go_on`` these are the documents seen in earlier runs; else none, and the input is read from its start.
        """
        settings = self.filter.settings.changed(**(changes or {}))
        if settings != self.filter.settings:
            before = self.filter.settings
            changed = {key: value for key, value in (changes or {}).items() if value != getattr(before, key)}
            self._record({"kind": "settings", "changes": changed, "time": clock.time()}, durable=False)
        passed_over = self.state.inputs.get(name, 0) if go_on else 0
        entry = {"kind": "run", "input": name, "passed_over": passed_over, "textbayes": __version__}
        self._record({**entry, "time": clock.time()}, durable=False)
        return passed_over

    def see(self, document: Document, time: float, bags: Bags, i: int, scores: Scores) -> FilterDecision:
        """Decide on a document; what is delivered is on disk first."""
        self._whole = False
        seen = self.filter.see(document, time, bags, i, scores)
        entry = document_entry(document, seen, time, bags, i, scores, self.filter)
        self.last_text, self.last_snippet = document.text, entry.get("snippet")
        self.state.read_one()
        self._events.append(entry, durable=bool(seen.deliveries))
        self._whole = True
        self.n_repeated += seen.repeated
        self._seen += 1
        self._perhaps_snapshot()
        return seen

    def judge(self, document: str, topic: str, relevant: bool, text: str | None = None) -> Verdict:
        """Learn a judgement; it is on disk first."""
        return self._judge(Judgement(document, topic, relevant, text), None, 0)

    def listen(self, source: JudgementSource) -> None:
        """Read judgements from here too, besides the inbox."""
        self._sources.append(source)

    def take_judgements(self, warn: Callable[[str], None]) -> None:
        """Learn the judgements that have come in; others are passed to ``warn`` and not looked at again."""
        for source in self._sources:
            offset = 0 if source.name is None else self.state.sources.get(source.name, 0)
            for line, end in source.lines(offset):
                if not line.strip():
                    continue
                try:
                    self._judge(parse_judgement(line), source.name, end)
                except InputError as error:
                    where = "" if source.name == INBOX else f"{source.label}: "
                    warn(f"{where}{error}; this judgement is left out")
                    if source.name is not None:
                        entry = {"kind": "refused", "source": source.name, "offset": end, "why": str(error)}
                        self._record(entry, durable=False)

    def unread(self) -> Iterator[str]:
        """Files that end in a line which is not whole, and so has not been read."""
        for source in self._sources:
            if not isinstance(source, FileSource) or source.name is None or source.name == INBOX:
                continue
            if source.size() > self.state.sources.get(source.name, 0):
                yield source.label

    def _judge(self, judgement: Judgement, source: str | None, offset: int) -> Verdict:
        bag = None
        if judgement.text is not None and judgement.id not in self.filter.ids:
            bag = self.filter.read([judgement.text]).bag(0)
        self.filter.check_judgement(judgement.id, judgement.topic, bag)
        verdict = self.filter.verdict(judgement.id, judgement.topic, judgement.relevant)
        # What is in a file already can be read there again: it need not wait for the disk.
        entry = judgement_entry(judgement, bag, clock.time(), source, offset)
        self._record(entry, durable=source is None)
        self._judged += 1
        self._perhaps_snapshot()
        return verdict

    def _record(self, entry: Entry, durable: bool) -> None:
        self._whole = False
        self._events.append(entry, durable)
        self.state.apply(entry)
        self._whole = True

    # -- snapshots ---------------------------------------------------------------------------------------------------
    def snapshot(self) -> None:
        """Write the state as it is, and remove older snapshots but for the first and one before this."""
        self._snapshot_size = self._events.snapshot(*self.state.to_state())
        self._judged = self._seen = 0

    def _perhaps_snapshot(self) -> None:
        judged, seen = self._snapshot_size // _BYTES_PER_JUDGEMENT, self._snapshot_size // _BYTES_PER_DOCUMENT
        if self._judged >= max(_SNAPSHOT_JUDGEMENTS, judged) or self._seen >= max(_SNAPSHOT_DOCUMENTS, seen):
            self.snapshot()


def read_state(path: Path) -> tuple[FilterState, LogPosition]:
    """The state in a snapshot, and the place of the log it belongs to."""
    meta, arrays = read_container(path, FILTER_FILE)
    checked_meta(path, meta)
    with FILTER_FILE.damage(path):
        return FilterState.from_state(meta, arrays), position_of(meta)


def load_state(events: EventFolder) -> tuple[FilterState, list[str]]:
    """The state at the end of the log, and what was wrong with snapshots that could not be used."""
    state, notes = events.load(read_state)
    for entry in events.unread():
        state.apply(entry)
    return state, notes


def newest_state(folder: str | Path) -> FilterState:
    """The state of a state folder up to the end of its log, without locking it."""
    read_config(Path(folder))
    return load_state(filter_events(folder))[0]


def check_new(path: str | Path) -> Path:
    """The path, if the folder of a new filter can be made there."""
    try:
        read_config(Path(path))
    except (InputError, ModelFileError):  # something else is there, or nothing
        return check_new_folder(path, "one that is empty")
    raise InputError(
        f"{path} exists already, with its topics and all that it has learnt. To go on: textbayes filter {path} FILE. "
        "For other topics, or to start anew: name another folder"
    )


def forms_for(filter: AdaptiveFilter, texts: Sequence[str]) -> dict[str, str]:
    """The form of each stem that a filter knows, by the texts that it was started with."""
    return surface_forms(texts, vectorizer_of(filter.settings.text, filter.lexicon))


def write_surface(folder: str | Path, forms: Mapping[str, str]) -> None:
    """Write forms to the folder of a filter; they are shown, and decide nothing."""
    with atomic_write(Path(folder) / _SURFACE) as stream:
        stream.write(json.dumps(dict(forms), ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))


def read_surface(folder: str | Path) -> dict[str, str]:
    """The forms in the folder of a filter; none where there are none, or they cannot be read."""
    try:
        forms = json.loads((Path(folder) / _SURFACE).read_bytes().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(stem): str(form) for stem, form in forms.items()} if isinstance(forms, dict) else {}

"""A screening that lives in a folder: every answer is in its log, on disk, before it is acknowledged.

::

    SCREEN/config.json    format, settings
           records.jsonl  the records as they were read, duplicates merged
           words.tbw      their words as a matrix
           prior.csv      what is known of words from elsewhere, if anything is
           log.jsonl      everything that happened, in order (see ``store.event_folder``)
           records-7.jsonl, words-7.tbw  all records, once entry 7 of the log says that some were added
           snapshots/     the state after so many entries: they only save time
           lock           held for as long as something is written

Any number of processes may use a folder: each takes the lock for one step, catches up with what others have written,
and writes. The state is a pure function of records, settings and log, so that all of them have the same. Records may be
added: they come last, and the log is learnt again with them. They are written to files of their own first, and count
once the log says so: whatever is killed, a folder has all of them or none. The files before them are kept until records
are added again, for whoever is reading them.
"""

from __future__ import annotations

import json
import re
import shlex
import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textbayes.core.atomic import atomic_write
from textbayes.core.errors import ModelFileError
from textbayes.core.progress import Progress, silent
from textbayes.core.types import Document
from textbayes.knowledge import WordPriors
from textbayes.screen.collection import Collection, sentence_vectorizer
from textbayes.screen.duplicates import Merged, merge_duplicates, with_own_ids
from textbayes.screen.screening import Screening, check_record
from textbayes.screen.settings import MEDIUM, Pick, ScreenSettings
from textbayes.store.container import FileFormat, read_container, write_container
from textbayes.store.event_folder import (
    Entry,
    EventFolder,
    LogPosition,
    check_new_folder,
    position_of,
    snapshots,
    sync_folder,
)

SCREEN_FILE = FileFormat(
    "textbayes screening", version=1, noun="screening file", remedy="restore the folder from a copy", largest=256 << 20
)
_OWN = re.compile(r"records(-\d+)?\.jsonl|words(-\d+)?\.tbw|\.(records|words)(-\d+)?\.(jsonl|tbw)\..*\.tmp")
_SNAPSHOT_ENTRIES = 50  # learnt between two snapshots: what the next process may have to learn again


class ScreenFolder:
    """A screening and its folder. Use :meth:`create` once, then :meth:`open`.

    Parameters
    ----------
    path : Path
    settings : ScreenSettings

    Attributes
    ----------
    path : Path
    settings : ScreenSettings
    """

    def __init__(self, path: Path, settings: ScreenSettings) -> None:
        self.path, self.settings = path, settings
        self._events = EventFolder(path, SCREEN_FILE)
        self._screening: Screening | None = None
        self._added = 0  # the entry of the log that last added records
        self._since_snapshot = 0

    # -- from start to end -------------------------------------------------------------------------------------------
    @classmethod
    def create(
        cls,
        path: str | Path,
        records: Sequence[Document],
        settings: ScreenSettings | None = None,
        prior: WordPriors | None = None,
        embeddings: str | Path | None = None,
        report: Progress = silent,
    ) -> ScreenFolder:
        """Make a folder of records; it is there whole or not at all.

        Parameters
        ----------
        path : str or Path
        records : sequence of Document
        settings : ScreenSettings, optional
        prior : WordPriors, optional
            What is known of words, as ``screen prior`` writes it.
        embeddings : "auto", "off" or None, name or folder
            The sentence model whose vectors stand beside the words; ``auto`` takes the packaged one where it is
            installed.
        report : Progress
            Is told how many records have a vector.
        """
        chosen = settings or ScreenSettings()
        target = check_new_folder(path, f"go on with it: {_next_command(path)}")
        ids, texts = [record.id for record in records], [record.text for record in records]
        vectorizer = sentence_vectorizer(embeddings)
        collection = Collection.read(
            ids, texts, chosen.topics, chosen.questions, prior, vectorizer=vectorizer, report=report
        )
        with EventFolder.create(target, SCREEN_FILE, {"settings": chosen.to_json()}) as events:
            if prior is not None:
                with atomic_write(events.path / "prior.csv") as stream:
                    stream.write(prior.to_csv().encode())
            _write_records(events.path, 0, records, collection)
        return cls(target, chosen)

    @classmethod
    def open(cls, path: str | Path) -> ScreenFolder:
        """A folder that was made; nothing large is read before it is needed.

        Parameters
        ----------
        path : str or Path
        """
        folder = Path(path)
        start = f"start one: textbayes screen start {folder} refs.ris"
        config = EventFolder(folder, SCREEN_FILE).config(f"{folder} is not the folder of a screening; {start}")
        with SCREEN_FILE.damage(folder / "config.json"):
            return cls(folder, ScreenSettings.from_json(config["settings"]))

    # -- what happens ------------------------------------------------------------------------------------------------
    def add(self, records: Iterable[Document], report: Progress = silent) -> list[Merged]:
        """Add records, and tell which of them were there already; what was answered is learnt again with all records.

        Parameters
        ----------
        records : iterable of Document
            One whose id is taken gets a number.
        report : Progress
            Is told how many records have a sentence vector, where the screening has these.
        """
        with self._events.locked():
            sentences = self._caught_up().collection.sentences
            before = [Document(one["id"], one["text"], (), one["fields"]) for one in self.records()]
            taken = [record.id for record in before]
            found, merged = merge_duplicates(with_own_ids(records, taken), before)
            texts, table = [record.text for record in found], self.path / "prior.csv"
            prior = WordPriors.read(table) if table.exists() else None
            ids, chosen = [record.id for record in found], self.settings
            vectorizer = None if sentences is None else sentences.vectorizer
            known = {} if sentences is None else dict(zip([one.text for one in before], sentences.rows, strict=False))
            collection = Collection.read(ids, texts, chosen.topics, chosen.questions, prior, vectorizer, known, report)
            _write_records(self.path, self._events.position.sequence + 1, found, collection)
            sync_folder(self.path)  # the log must not tell of files that a crash of the machine takes away
            duplicates = [duplicate._asdict() for duplicate in merged]
            self._screening = None
            self._events.append(
                {"kind": "added", "records": ids[len(before) :], "merged": duplicates, "time": clock.time()}
            )
            _remove_others(self.path, (self._added, self._events.position.sequence))
            for place in snapshots(self._events.snapshots):  # of states of fewer records
                place.unlink(missing_ok=True)
            self._snapshot(self._caught_up())
        return merged

    def judge(self, id: str, answer: str, topic: str | None = None) -> None:
        """Keep an answer, and learn it: on disk when this returns.

        Parameters
        ----------
        id : str
        answer : {"relevant", "irrelevant", "unsure", "withdrawn"}
        topic : str, optional
            Needed where there are several.
        """

        def judgement(screening: Screening) -> Entry:
            check_record(id, screening.collection.row_of, f"`{_next_command(self.path)}`")
            return screening.judgement(id, answer, topic, clock.time())

        self._step(judgement)

    def withdraw(self, row: int, reason: str, topic: str | None = None) -> str:
        """Withdraw the answer to a record that is to be answered again; returns its id.

        Parameters
        ----------
        row : int
        reason : str
            For which it was handed out.
        topic : str, optional
        """
        id = self.screening.collection.ids[row]
        self.judge(id, "withdrawn", topic)
        self._step(lambda screening: screening.handing_out([Pick(row, reason)], topic))
        return id

    def favour(self, word: str, direction: str, topic: str | None = None, strength: str = MEDIUM) -> None:
        """Keep that a word speaks ``"for"`` or ``"against"`` a topic, or ``"forget"`` it.

        Parameters
        ----------
        word, direction : str
        topic : str, optional
        strength : {"weak", "medium", "strong"}
        """
        self._step(lambda screening: screening.word(word, direction, topic, strength))

    def next_records(self, n: int = 1, topic: str | None = None) -> list[Pick]:
        """Hand out the next records: none that was handed out before, to this process or to another.

        Parameters
        ----------
        n : int
        topic : str, optional
        """
        picks: list[Pick] = []

        def hand_out(screening: Screening) -> Entry | None:
            picks.extend(screening.next_records(n, topic))
            return screening.handing_out(picks, topic) if picks else None

        self._step(hand_out)
        return picks

    def note_advice(self, rule: str, stop: bool, reason: str, topic: str | None = None) -> None:
        """Keep what a stopping rule said.

        Parameters
        ----------
        rule : str
        stop : bool
        reason : str
        topic : str, optional
        """
        name = self.screening.topic(topic).name
        self._step(lambda _: {"kind": "advice", "topic": name, "rule": rule, "stop": stop, "reason": reason})

    @property
    def screening(self) -> Screening:
        """The state as of now: what others have written since is learnt first."""
        with self._events.locked():
            return self._caught_up()

    def records(self) -> Iterator[Mapping[str, Any]]:
        """The records as they were read: id, text and fields; in the order of the rows of :attr:`screening`."""
        if self._screening is None:
            _ = self.screening
        path, _ = _files(self.path, self._added)
        try:
            stream = path.open("rb")
        except FileNotFoundError:
            raise ModelFileError(f"{path} is not there; try again, for records may have been added meanwhile") from None
        with stream:
            for line in stream:
                yield json.loads(line.decode("utf-8", "surrogatepass"))

    def log(self) -> Iterator[Entry]:
        """Everything that happened, from the start."""
        return (entry for entry, _ in self._events.entries())

    def close(self) -> None:
        """Write what saves time at the next start."""
        if self._screening is not None and self._since_snapshot:
            with self._events.locked():
                self._snapshot(self._caught_up())

    # -- steps -------------------------------------------------------------------------------------------------------
    def _step(self, make: Callable[[Screening], Entry | None]) -> None:
        with self._events.locked():
            screening = self._caught_up()
            entry = make(screening)
            if entry is None:
                return
            self._events.append(entry)
            screening.apply(entry)
            self._since_snapshot += 1
            if self._since_snapshot >= _SNAPSHOT_ENTRIES:
                self._snapshot(screening)

    def _caught_up(self) -> Screening:
        screening = self._screening or self._load()
        for entry in self._events.unread():
            if entry["kind"] == "added" and self._events.position.sequence >= self._added:
                self._screening = None  # everything is learnt again, with more records
                return self._caught_up()
            screening.apply(entry)
            self._since_snapshot += 1
        return screening

    def _load(self) -> Screening:
        entries = self._events.entries()
        self._added = max((place.sequence for entry, place in entries if entry["kind"] == "added"), default=0)
        self._since_snapshot = 0
        _, path = _files(self.path, self._added)
        meta, arrays = read_container(path, SCREEN_FILE)
        with SCREEN_FILE.damage(path):
            collection = Collection.from_state(meta, arrays)

        def read(place: Path) -> tuple[Screening, LogPosition]:
            saved, state = read_container(place, SCREEN_FILE)
            with SCREEN_FILE.damage(place):
                position = position_of(saved)
                if position.sequence < self._added:
                    raise ModelFileError("it is of fewer records")
                screening = Screening(collection, self.settings)
                screening.restore(saved, state)
                return screening, position

        try:
            screening, _ = self._events.load(read)
        except ModelFileError:  # none yet, or none that is sound: the log says it all
            screening, self._events.position = Screening(collection, self.settings), LogPosition()
        self._screening = screening
        return screening

    def _snapshot(self, screening: Screening) -> None:
        self._events.snapshot(*screening.to_state())
        self._since_snapshot = 0


def _next_command(path: str | Path) -> str:
    return f"textbayes screen next {shlex.quote(str(path))}"


def _files(folder: Path, added: int) -> tuple[Path, Path]:
    """The files of the records, and of their matrix, that an entry of the log added the last of; 0 for the first."""
    mark = f"-{added}" if added else ""
    return folder / f"records{mark}.jsonl", folder / f"words{mark}.tbw"


def _write_records(folder: Path, added: int, records: Sequence[Document], collection: Collection) -> None:
    path, words = _files(folder, added)
    with atomic_write(path) as stream:
        for record in records:
            stored = {"id": record.id, "text": record.text, "fields": dict(record.fields)}
            stream.write(json.dumps(stored, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
    write_container(words, SCREEN_FILE, *collection.to_state())


def _remove_others(folder: Path, added: Iterable[int]) -> None:
    """Remove files of records but for those that some entries added, with what a killed process left of them."""
    current = {path for entry in added for path in _files(folder, entry)}
    for path in folder.iterdir():
        if path not in current and _OWN.fullmatch(path.name):
            path.unlink(missing_ok=True)


def replay(folder: ScreenFolder) -> Screening:
    """The state that the whole log leads to from the start, without snapshots.

    Parameters
    ----------
    folder : ScreenFolder
    """
    screening = Screening(folder.screening.collection, folder.settings)
    for entry in folder.log():
        screening.apply(entry)
    return screening

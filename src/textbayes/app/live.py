"""Projects that are open, each with its assignments and its screening: brought up to date by events, by nothing else.

An answer is an event in the database before it is acknowledged, and among the assignments at once. The screening learns
it when it is next asked, under a lock of its own: whoever answers does not wait for a model. Several processes may
serve one database: each catches up with the events of the others before it adds its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from textbayes._version import __version__
from textbayes.app.assignments import Assignments, Goal, ReviewerQueue
from textbayes.app.database import BY_HAND, Duplicate, Event, Project, Store, StoredRecord
from textbayes.app.labelling import TOPIC, Labelling, Labels, Rows
from textbayes.app.own_models import OwnModels
from textbayes.app.stages import is_full_text
from textbayes.core.atomic import make_private_folder
from textbayes.core.errors import InputError, TextBayesError
from textbayes.core.types import AnyArray
from textbayes.screen import Collection, Screening, ScreenSettings
from textbayes.screen.folder import SCREEN_FILE
from textbayes.screen.transfer import shipped_prior
from textbayes.store.container import read_container, write_container
from textbayes.store.event_folder import Entry


class ReviewCache:
    """Files that save time at the next start: matrices of records, and what screenings have learnt.

    They are in the user's cache, can go at any time, and are not believed: one that is damaged, or of another history
    than the database has, counts as not there.

    Parameters
    ----------
    folder : Path or None
        None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            make_private_folder(folder)  # the words of records are in it

    def collection(self, project: str, names: Sequence[str], read: Callable[[], Collection]) -> Collection:
        """The matrix of a project's records: the one that was kept, or else made now and kept.

        Parameters
        ----------
        project : str
        names : sequence of str
            Ids of the records.
        read : callable
            Makes it.
        """
        if self._folder is None:
            return read()
        mark = _mark_of(names)
        path = self._folder / f"{project}.words.tbw"
        with contextlib.suppress(TextBayesError):
            meta, arrays = read_container(path, SCREEN_FILE)
            if meta.get("mark") == mark:
                with SCREEN_FILE.damage(path):
                    found = Collection.from_state(meta, arrays)
                if found.ids == tuple(names):
                    return found
        made = read()
        meta, arrays = made.to_state()
        with contextlib.suppress(TextBayesError):  # a full disk costs time, not work
            write_container(path, SCREEN_FILE, {**meta, "mark": mark}, arrays)
        return made

    def keep(self, project: str, names: Sequence[str], sequence: int, at: float, screening: Screening) -> None:
        """Keep what a screening has learnt up to an event, and when that happened."""
        if self._folder is None:
            return
        meta, arrays = screening.to_state()
        described = {**meta, "mark": _mark_of(names), "sequence": sequence, "at": at}
        with contextlib.suppress(TextBayesError):
            write_container(self._folder / f"{project}.state.tbw", SCREEN_FILE, described, arrays)

    def newest(
        self, project: str, names: Sequence[str], time_of: Callable[[int], float | None]
    ) -> tuple[int, dict[str, Any], dict[str, AnyArray]] | None:
        """What was kept of a project with these records: up to which event, and the state; None if nothing fits."""
        if self._folder is None:
            return None
        with contextlib.suppress(TextBayesError):
            path = self._folder / f"{project}.state.tbw"
            meta, arrays = read_container(path, SCREEN_FILE)
            with SCREEN_FILE.damage(path):
                sequence = int(meta["sequence"])
                same_rules = meta["textbayes"] == __version__  # another version may learn otherwise
                if same_rules and meta["mark"] == _mark_of(names) and time_of(sequence) == meta["at"]:
                    return sequence, meta, arrays
        return None

    def remove(self, project: str) -> None:
        """Remove what was kept of a project."""
        for path in self._files(project):
            path.unlink(missing_ok=True)

    def _files(self, project: str) -> Iterator[Path]:
        if self._folder is not None:
            yield from self._folder.glob(f"{project}.*.tbw")


def _mark_of(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()


SCREENING, CATEGORIES = "screening", "categories"  # kinds of projects
Engine: TypeAlias = Screening | Labelling
_MOST_OPEN = 16  # projects kept in memory
_SNAPSHOT_EVENTS = 200  # learnt since the last snapshot
_AT_ONCE = 20  # events of people who are reading that are learnt with one fit


class MissingProjectError(InputError):
    """There is no such project, or it is not for this person."""


class LiveReview:
    """One project in memory. Use :meth:`ReviewRegistry.review`.

    Parameters
    ----------
    store : Store
    project : Project
    kept : ReviewCache
        Where matrices and snapshots are kept to save time.

    Attributes
    ----------
    id, name : str
    kind : {"screening", "categories"}
        What its records are read for.
    collection : Collection or Rows
    stale : bool
        Whether records were added, merged or separated since it was read.
    """

    def __init__(self, store: Store, project: Project, kept: ReviewCache) -> None:
        self.id, self.name, self.settings = project.id, project.name, project.settings
        self.kind: str = project.settings.get("kind", SCREENING)
        self.store, self._kept = store, kept
        self.waiting: dict[ReviewerQueue, int] = {}  # queues that want records, and how many they are to hold
        self.shown: dict[tuple[int, str, str], Any] = {}  # records made ready: person (0 for all), topic and id
        self.alone = project.settings.get("learns") == "own"  # whether each person has a model of their own answers
        self._assignments_lock, self._model_lock = threading.RLock(), threading.RLock()
        self._pending: deque[tuple[int, Entry]] = deque()
        self._sequence = self._restored = self._snapshot_at = 0
        self._engine: Engine
        self._open()

    # -- from the database -------------------------------------------------------------------------------------------
    def _open(self) -> None:
        """Read all records and events; a snapshot saves learning what it has learnt already."""
        with self.store.read() as session:
            last = select(func.max(Event.sequence)).where(Event.project_id == self.id)
            self._read_at = session.scalar(last) or 0
            rows = session.execute(
                select(StoredRecord.name, StoredRecord.text)
                .where(StoredRecord.project_id == self.id)
                .order_by(StoredRecord.row)
            ).all()
            names, texts = [row.name for row in rows], [row.text for row in rows]
            by_hand = Duplicate.project_id == self.id, Duplicate.reason == BY_HAND
            merged = set(session.scalars(select(Duplicate.name).where(*by_hand))).difference(names)
        labels = None
        if self.kind == CATEGORIES:
            several = bool(self.settings["several"])
            labels, self._engine = Labels(several), Labelling(names, texts, several)
        else:
            self._engine = self._screening(names, texts)
        self.stale = False
        self._assignments = Assignments(bool(self.settings.get("double")), labels, merged, self.alone)
        self._own = OwnModels(self.id, self._new_screening, self._kept)
        self._pending.clear()
        self._sequence = self._restored = self._snapshot_at = 0
        with self.store.read() as session:
            self._catch_up(session)
            restored = None
            if self.kind == SCREENING:
                restored = self._kept.newest(self.id, self.collection.ids, self._time_of(session))
        if restored is not None:
            sequence, meta, arrays = restored
            with contextlib.suppress(TextBayesError):  # one that says what cannot be counts as not there
                self.screening.restore(meta, arrays)
                self._restored = self._snapshot_at = sequence

    def _screening(self, names: Sequence[str], texts: Sequence[str]) -> Screening:
        chosen = ScreenSettings.from_json(self.settings["screen"])
        prior = shipped_prior() if self.settings.get("prior", "reviews") == "reviews" else None

        def read() -> Collection:
            return Collection.read(names, texts, chosen.topics, chosen.questions, prior)

        collection = self._kept.collection(self.id, names, read)
        collection.measure()
        return Screening(collection, chosen)

    def _new_screening(self) -> Screening:
        return Screening(self.screening.collection, ScreenSettings.from_json(self.settings["screen"]))

    @property
    def strategy(self) -> str:
        """By what records are chosen."""
        return self._engine.strategy if isinstance(self._engine, Labelling) else self._engine.settings.strategy

    @property
    def topics(self) -> tuple[str, ...]:
        """What is asked of every record."""
        return (TOPIC,) if isinstance(self._engine, Labelling) else self._engine.settings.topics

    def topic_of(self, name: str | None) -> str:
        """The topic of a name; the one there is, if none is named."""
        return TOPIC if isinstance(self._engine, Labelling) else self._engine.topic(name).name

    @property
    def collection(self) -> Collection | Rows:
        """Ids of the records and, of a review, their words."""
        return self._engine.collection

    def _time_of(self, session: Session) -> Callable[[int], float | None]:
        """When the event of a number happened: a snapshot of another history is not of this project."""

        def look(sequence: int) -> float | None:
            return session.scalar(select(Event.time).where(Event.project_id == self.id, Event.sequence == sequence))

        return look

    def _catch_up(self, session: Session) -> None:
        """Apply the events that this process has not seen."""
        unseen = (
            select(Event.sequence, Event.user_id, Event.time, Event.body)
            .where(Event.project_id == self.id, Event.sequence > self._sequence)
            .order_by(Event.sequence)
        )
        for sequence, user, at, body in session.execute(unseen):
            self._apply(sequence, user, at, body)

    def _apply(self, sequence: int, user: int, at: float, body: Entry) -> None:
        learnt = self._assignments.apply(user, at, body)
        learnt = [entry for entry in learnt if not is_full_text(entry.get("topic", ""))]
        kind, id = body["kind"], body.get("id", "")
        if self.alone:  # who has which record depends on what they said: that is nothing to others
            learnt = [entry for entry in learnt if entry["kind"] != "handed_out"]
            said = kind in ("judgement", "word") and id not in self._assignments.merged
            if said and not is_full_text(body["topic"]):
                self._own.note(user, sequence, at, body)
        self._pending.extend((sequence, entry) for entry in learnt)
        self._sequence = sequence
        if kind in ("full_text", "merged"):
            for key in [key for key in list(self.shown) if key[2] == id]:
                self.shown.pop(key, None)
        if sequence > self._read_at:  # what was before is in the records as they were read
            there = id in self.collection.row_of
            self.stale |= kind == "records" and body["n_records"] > self.collection.n_records
            self.stale |= (kind == "merged" and there) or (kind == "unmerged" and not there)
            if kind == "merged":
                self._assignments.merged.add(id)
            elif kind == "unmerged":
                self._assignments.merged.discard(id)

    # -- what happens ------------------------------------------------------------------------------------------------
    def step(
        self, user: int, make: Callable[[Assignments], list[Entry]], store: Callable[[Session], None] | None = None
    ) -> None:
        """Add events: in the database when this returns.

        Parameters
        ----------
        user : int
            Who did it.
        make : callable
            The entries, given assignments that are up to date; none where nothing is to be done.
        store : callable, optional
            What else is changed in the same transaction, before the entries are made.
        """
        self.write(lambda assignments: [(user, entry) for entry in make(assignments)], store)

    def write(
        self, make: Callable[[Assignments], list[tuple[int, Entry]]], store: Callable[[Session], None] | None = None
    ) -> None:
        """Add events of several people at once; else as :meth:`step`.

        Parameters
        ----------
        make : callable
            Pairs of a person and an entry, given assignments that are up to date.
        store : callable, optional
        """
        with self._assignments_lock:
            with self.store.write() as session:
                self.lock_project(session)
                self._catch_up(session)
                if store is not None:
                    store(session)
                events, now = make(self._assignments), time.time()
                for _, entry in events:
                    self._assignments.check_there(entry)
                rows = [
                    {"project_id": self.id, "sequence": number, "user_id": user, "time": now, "body": entry}
                    for number, (user, entry) in enumerate(events, start=self._sequence + 1)
                ]
                if rows:
                    session.execute(insert(Event), rows)
            for user, entry in events:
                self._apply(self._sequence + 1, user, now, entry)

    def lock_project(self, session: Session) -> None:
        """Let no other process change this project until the session has ended."""
        found = session.scalar(select(Project.id).where(Project.id == self.id).with_for_update())
        if found is None:
            raise MissingProjectError("there is no such project any more")

    @contextlib.contextmanager
    def looking(self) -> Iterator[Assignments]:
        """The assignments, which nobody changes for as long."""
        with self._assignments_lock:
            yield self._assignments

    @contextlib.contextmanager
    def engine(self) -> Iterator[Engine]:
        """What learns, with everything learnt that has happened; nobody else has it for as long."""
        with self._model_lock:
            if self.stale:
                self.reload()
            while self._pending:
                n = min(_AT_ONCE if self._pending[0][0] > self._read_at else 1, len(self._pending))
                pending = [self._pending.popleft() for _ in range(n)]
                if entries := [entry for sequence, entry in pending if sequence > self._restored]:
                    self._engine.apply(*entries)
            yield self._engine

    @contextlib.contextmanager
    def model(self) -> Iterator[Screening]:
        """The screening, as :meth:`engine` gives it."""
        with self.engine():
            yield self.screening

    @contextlib.contextmanager
    def engine_for(self, user: int) -> Iterator[Engine]:
        """What a person is shown guesses of: the model of all, or where the project has chosen so of their answers.

        Who chose to see all answers, and reads no more, sees the model of all.
        """
        with self.engine() as engine:
            with self._assignments_lock:
                assignments = self._assignments
                own = self.alone and not assignments.sees_all(user)
                users, said = self._own.said_by(lambda one: own and assignments.person(one) == user)
            yield self._own.of(user, users, said, self.strategy) if own else engine

    @contextlib.contextmanager
    def model_for(self, user: int) -> Iterator[Screening]:
        """The screening, as :meth:`engine_for` gives it."""
        with self.engine_for(user) as engine:
            yield engine if isinstance(engine, Screening) else self.screening

    @contextlib.contextmanager
    def labelling(self) -> Iterator[Labelling]:
        """The labelling of a project of categories, as :meth:`engine` gives it."""
        with self.engine() as engine:
            if not isinstance(engine, Labelling):
                raise InputError("the records of this project are relevant or not; it has no labels")
            yield engine

    @property
    def as_it_is(self) -> Engine:
        """What learns, for its settings and to make entries: those do not look at what it has learnt."""
        return self._engine

    @property
    def goal(self) -> Goal:
        """How much is to be found, and how surely: as it was chosen last."""
        settings = self.screening.settings
        return self._assignments.goal or Goal(settings.target, settings.confidence)

    @property
    def screening(self) -> Screening:
        """The same of a review."""
        if not isinstance(self._engine, Screening):
            raise InputError("this project sorts texts into categories; this belongs to projects that screen records")
        return self._engine

    def refresh(self) -> None:
        """Catch up with what other processes have written."""
        with self._assignments_lock, self.store.read() as session:
            self._catch_up(session)
        if self.stale:
            self.reload()

    def reload(self) -> None:
        """Read everything again: there are other records."""
        with self._model_lock, self._assignments_lock:
            self._open()

    def snapshot(self, at_least: int = _SNAPSHOT_EVENTS) -> None:
        """Keep what the screening has learnt, if that is more than a little: the next start is quicker."""
        if self.kind != SCREENING:
            return
        with self.model() as screening, self._assignments_lock:
            if at_least <= 1:
                self._own.snapshot()
            if self._pending or self._sequence - self._snapshot_at < at_least:
                return
            with self.store.read() as session:
                at = self._time_of(session)(self._sequence)
            if at is not None:
                self._kept.keep(self.id, self.collection.ids, self._sequence, at, screening)
                self._snapshot_at = self._sequence


class ReviewRegistry:
    """All projects of a database; those in use are kept in memory.

    Parameters
    ----------
    store : Store
    kept : ReviewCache
    """

    def __init__(self, store: Store, kept: ReviewCache) -> None:
        self.store, self.kept = store, kept
        self.progress: dict[str, tuple[int, Any]] = {}  # of projects by id, as it was after an event
        self._open: OrderedDict[str, LiveReview] = OrderedDict()
        self._lock, self._opening = threading.Lock(), threading.Lock()

    def review(self, project_id: str) -> LiveReview:
        """A project, read from the database if it is not in memory."""
        with self._lock:
            found = self._open.get(project_id)
            if found is not None:
                self._open.move_to_end(project_id)
        if found is not None:
            found.refresh()
            return found
        with self._opening:
            with self._lock:
                if project_id in self._open:
                    return self._open[project_id]
            with self.store.read() as session:
                project = session.get(Project, project_id)
            if project is None:
                raise MissingProjectError("there is no such project")
            opened = LiveReview(self.store, project, self.kept)
            with self._lock:
                self._open[project_id] = opened
                if len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)
            return opened

    @contextlib.contextmanager
    def looking(self, project: Project) -> Iterator[Assignments]:
        """The assignments of a project; its records are not read if it is not in memory."""
        with self._lock:
            opened = self._open.get(project.id)
        if opened is not None:
            opened.refresh()
            with opened.looking() as found:
                yield found
            return
        categories = project.settings.get("kind") == CATEGORIES
        labels = Labels(bool(project.settings["several"])) if categories else None
        found = Assignments(bool(project.settings.get("double")), labels)
        events = select(Event.user_id, Event.time, Event.body).where(Event.project_id == project.id)
        with self.store.read() as session:
            for user, at, body in session.execute(events.order_by(Event.sequence)):
                found.apply(user, at, body)
        yield found

    def forget(self, project_id: str) -> None:
        """Drop a project from memory, and what was kept of it."""
        with self._lock:
            self._open.pop(project_id, None)
            self.progress.pop(project_id, None)
        self.kept.remove(project_id)

    def close(self) -> None:
        """Keep what saves time at the next start, and give all connections back."""
        for review in list(self._open.values()):
            review.snapshot(at_least=1)
        self.store.close()


def next_row(session: Session, project_id: str) -> int:
    """The row of the next record of a project; those of records that were merged stay free."""
    last = session.scalar(select(func.max(StoredRecord.row)).where(StoredRecord.project_id == project_id))
    return 0 if last is None else last + 1


def count_records(session: Session, project_id: str) -> int:
    """Records of a project."""
    found: Any = session.scalar(
        select(func.count()).select_from(StoredRecord).where(StoredRecord.project_id == project_id)
    )
    return int(found)

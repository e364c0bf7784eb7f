"""Judgements from outside: how they are written, and how a filter reads each exactly once.

``textbayes judge`` appends to the ``inbox.jsonl`` of a state folder and has it on disk before it says so. The filter
reads on from where it stopped, between documents; how far it has read stands in the same log entry as what it learnt,
so neither a crash nor a second start can lose a judgement or learn it twice. A file that the user names is read in the
same way; a pipe is read once.

The :class:`Ledger` has the judgements of a state folder, read beside a filter that may be running, without loading what
it has learnt. What a snapshot may say is checked here; its arrays are checked where they are read, see ``state``.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from textbayes.core.atomic import naming
from textbayes.core.codec import Described, Field, Flag, List, Named, Null, Number, Record, Row, Text, Whole, read
from textbayes.core.errors import InputError, ModelFileError, did_you_mean_path
from textbayes.data.layout import COLUMNS
from textbayes.data.streams import open_file
from textbayes.store.container import FileFormat, open_container
from textbayes.store.event_folder import Entry, EventFolder, newest, position_of, sync_folder
from textbayes.store.lock import locked
from textbayes.text.analyze import READING

INBOX = "inbox.jsonl"
Verdict = Literal["new", "same", "changed"]
_YES, _NO = ("yes", "true", "1", "relevant"), ("no", "false", "0", "irrelevant")
_ID_FIELDS = ("id", "document")


class Judgement(NamedTuple):
    """Whether a document is relevant to a topic; ``text`` is needed for one that was not delivered."""

    id: str
    topic: str
    relevant: bool
    text: str | None = None

    def to_json(self) -> dict[str, Any]:
        fields = {"id": self.id, "topic": self.topic, "relevant": self.relevant}
        return fields if self.text is None else {**fields, "text": self.text}


def parse_relevant(value: Any) -> bool:
    """Yes or no, as users write it.

    >>> parse_relevant("yes"), parse_relevant(0)
    (True, False)
    """
    word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    if word not in (*_YES, *_NO):
        given = repr(value)[:60] if isinstance(value, (str, int, float)) else type(value).__name__
        raise InputError(f"relevant={given} is neither yes nor no; write one of {', '.join((*_YES, *_NO))}")
    return word in _YES


def parse_judgement(line: bytes) -> Judgement:
    """The judgement in a line such as ``{"id": "a7", "topic": "grain", "relevant": true}``."""
    example = 'write {"id": "a7", "topic": "grain", "relevant": true}'
    try:
        fields = json.loads(line.decode("utf-8"))
        if b"\\u" in line:
            json.dumps(fields, ensure_ascii=False).encode()  # half a surrogate pair could never be written again
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise InputError(f"a judgement is not UTF-8 text; {example}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{_short(line)} is not JSON; {example}") from None
    if not isinstance(fields, Mapping):
        raise InputError(f"{_short(line)} is not an object; {example}")
    identity = next((fields[name] for name in _ID_FIELDS if fields.get(name) is not None), None)
    for name, value in (("id", identity), ("topic", fields.get("topic")), ("relevant", fields.get("relevant"))):
        if value is None or (name != "relevant" and not isinstance(value, (str, int))):
            raise InputError(f"{_short(line)} has no usable {name!r}; {example}")
    text = fields.get("text")
    if text is not None and not isinstance(text, str):
        raise InputError(f"{_short(line)} has a text that is no string; {example}")
    return Judgement(str(identity), str(fields["topic"]), parse_relevant(fields["relevant"]), text)


def give_judgements(folder: str | Path, judgements: Iterable[Judgement]) -> None:
    """Append judgements to the inbox of a state folder; on disk when this returns. Safe beside a running filter."""
    data = b"".join(json.dumps(judgement.to_json()).encode() + b"\n" for judgement in judgements)
    path = Path(folder, INBOX)
    with locked(path.with_suffix(".lock")):
        new = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            end = _whole(file)
            os.ftruncate(file, end)  # the rest of a line whose writer was killed: it was never acknowledged
            os.lseek(file, end, os.SEEK_SET)
            done = 0
            with naming(path):
                while done < len(data):
                    done += os.write(file, data[done:])
                os.fsync(file)
        finally:
            os.close(file)
        if new:
            sync_folder(path.parent)


def check_known(document: str, topic: str, can_learn: bool, topics: Collection[str]) -> None:
    """Refuse a judgement for a topic there is none of, or of a document that cannot be learnt."""
    if topic not in topics:
        raise InputError(f"there is no topic {topic!r}; the topics are {', '.join(list(topics)[:20])}")
    if not can_learn:
        raise InputError(
            f"document {document!r} has not been delivered; judge one that has, or give its text with the judgement"
        )


class JudgementSource(Protocol):
    """Where lines with judgements come from. ``name`` is None for what cannot be read again."""

    name: str | None
    label: str

    def lines(self, offset: int) -> Iterator[tuple[bytes, int]]: ...


class FileSource:
    """A file that grows: its whole lines after an offset, without their ends, each with the offset after it.

    The last line of a file that somebody wrote needs no end: it counts once it is a whole object. One of the inbox
    does, for whoever was killed in writing it got no acknowledgement.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path, self._needs_end = path, name == INBOX
        self.name: str | None = name or os.path.abspath(path)
        self.label = str(path)

    def size(self) -> int:
        """Bytes of the file; none where it is not there yet."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def lines(self, offset: int) -> Iterator[tuple[bytes, int]]:
        size = self.size()
        if size < offset:
            raise InputError(
                f"{self.label} is shorter than what was read of it before; give new judgements in another file"
            )
        if size == offset:
            return
        with open_file(self._path) as stream:
            stream.seek(offset)
            data = stream.read(size - offset)
        *whole, last = data.split(b"\n")
        for line in whole:
            offset += len(line) + 1
            yield line, offset
        if not self._needs_end and _is_object(last):
            yield last, offset + len(last)


class PipeSource:
    """A pipe or standard input: the lines that have come in so far, without waiting for more."""

    name: str | None = None

    def __init__(self, file: int, label: str) -> None:
        self._file, self.label = file, label
        self._rest = b""

    def lines(self, offset: int) -> Iterator[tuple[bytes, int]]:
        while select.select([self._file], [], [], 0)[0]:
            data = os.read(self._file, 1 << 16)
            if not data:  # its end, and that of its last line
                self._rest += b"\n" if self._rest else b""
                break
            self._rest += data
        *whole, self._rest = self._rest.split(b"\n")
        for line in whole:
            yield line, 0


def open_source(path: str) -> JudgementSource:
    """The source that a user names: a file, which may grow or not be there yet, a named pipe, or ``-``."""
    if path == "-":
        return PipeSource(0, "standard input")
    place = Path(path)
    if place.is_fifo():
        # Read and write, so that the pipe does not end when one of its writers does.
        return PipeSource(os.open(place, os.O_RDWR | os.O_NONBLOCK), path)
    if place.is_dir():
        raise InputError(f"{place} is a folder where a file of judgements is needed; name a file in it")
    if not place.parent.is_dir():
        raise InputError(f"there is no folder {place.parent}; check the path of the judgements")
    return FileSource(place)


def _whole(file: int) -> int:
    """Where the last whole line ends."""
    end = os.lseek(file, 0, os.SEEK_END)
    while end > 0:
        start = max(end - 4096, 0)
        os.lseek(file, start, os.SEEK_SET)
        found = os.read(file, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _is_object(line: bytes) -> bool:
    """Whether a line is JSON to its end: no beginning of an object is one."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _short(line: bytes) -> str:
    shown = line.decode("utf-8", "replace").strip()
    return repr(shown if len(shown) <= 60 else shown[:59] + "…")


FILTER_FILE = FileFormat(
    "textbayes filter", version=1, noun="filter file", remedy="restore the folder from a copy", largest=256 << 20
)


def filter_events(folder: str | Path) -> EventFolder:
    """The events of a state folder."""
    return EventFolder(Path(folder), FILTER_FILE)


def read_config(folder: Path) -> dict[str, Any]:
    """What a state folder says of itself; anything that is none is refused."""
    start = f"; start one: textbayes filter {folder} --train labelled.csv"
    hint = start if folder.exists() else did_you_mean_path(folder, folders=True) or start
    return filter_events(folder).config(f"{folder} is not the folder of a filter{hint}")


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


_COUNT = Whole(0)
_COUNTS = Named(_COUNT, unicode=False)
_ANY = Text(unicode=False)  # names that came from elsewhere
_SETTINGS: dict[str, Field] = {  # ``FilterSettings``, which checks their ranges
    **dict.fromkeys(("threshold", "forgetting_factor", "word_threshold"), Number()),
    **dict.fromkeys(("ask", "explore", "rehearsal", "covariance", "kernel", "link", "gain"), Text()),
    **dict.fromkeys(("keep", "weighting"), Text()),
    **dict.fromkeys(("budget", "norm"), Text() | Null()),
    **dict.fromkeys(("patience", "least_words", "snippet"), _COUNT),
    **dict.fromkeys(("rehearse", "deferred", "skip_seen"), Flag()),
    **dict.fromkeys(("start_words", "most_words", "passes", "basis"), Whole(1)),
    "variance": Number(above=0.0),
    "noise": Number(0.0),
    "random_state": Whole(0, 2**64 - 1),
    "text": Record({**READING, "stop_words": List(_ANY)}),
}
_TOPIC: dict[str, Field] = {  # beside its arrays
    "name": _ANY,
    "n_relevant": _COUNT,
    "n_later": Whole(),  # of one that was started from a model it may take training texts back
    "turn": _COUNT,
    "delivered": _COUNT,
    "posterior": Described(),
}
_FILTER: dict[str, Field] = {
    "settings": Record(_SETTINGS),
    "n_docs": Whole(1),
    "n_seen": _COUNT,
    "spent": List(_COUNT, 2, 2),
    "patience": Record({"since": List(_COUNT), "best": List(Number(0.0, 1.0))}),
    "ids": _COUNTS,
    "judgements": List(Row(_COUNT, _COUNT, Flag())),  # a document, a topic, and yes or no
    "topics": List(Record(_TOPIC), 1),
}
_SNAPSHOT: dict[str, Field] = {  # the filter, and how far inputs, judgements and the log have been read
    **dict.fromkeys(("format", "textbayes", "input"), _ANY),
    "format_version": Whole(),
    "filter": Record(_FILTER),
    "inputs": _COUNTS,
    "place": _COUNT,
    "sources": _COUNTS,
    "log": List(_COUNT, 3, 3),
}


def check_state(meta: Mapping[str, Any]) -> None:
    """Refuse a snapshot that says what no filter would, before anything is made of it."""
    filter = read(_SNAPSHOT, meta, {}, "the snapshot")["filter"]
    topics, numbers = filter["topics"], set(filter["ids"].values())
    names = [topic["name"] for topic in topics]
    if len(set(names)) < len(names):
        raise ModelFileError("two topics have one name; was the file altered?")
    if len(numbers) < len(filter["ids"]):
        raise ModelFileError("two documents have one number; was the file altered?")
    for number, k, _ in filter["judgements"]:
        if number not in numbers or k >= len(names):
            raise ModelFileError("a judgement is of a document or a topic that is not there; was the file altered?")
    if len({(number, k) for number, k, _ in filter["judgements"]}) < len(filter["judgements"]):
        raise ModelFileError("a document is judged twice for one topic; was the file altered?")
    if not len(filter["patience"]["since"]) == len(filter["patience"]["best"]) == len(names):
        raise ModelFileError("how long topics have waited does not fit the topics; was the file altered?")
    for topic in topics:
        n_judged = filter["n_docs"] + topic["n_later"]
        if n_judged < 0 or topic["n_relevant"] > n_judged:
            raise ModelFileError(f"topic {topic['name']!r} has counts that cannot be; was the file altered?")

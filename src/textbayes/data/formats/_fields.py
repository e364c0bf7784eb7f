"""From a row of named fields (CSV, JSON lines, Parquet, Excel) to a record: which field is text, label and id."""

from __future__ import annotations

import difflib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.types import MISSING_LABEL, NO_FIELDS
from textbayes.data.formats import Record
from textbayes.data.layout import MOST_ROWS, Columns, Layout, first_of

# Usual names, in any letter case, with spaces, hyphens or underscores.
TEXT_PARTS = ("title", "headline", "abstract", "body", "content")
TEXT_NAMES = (
    *("texts", "full_text", "message", "comment", "comments", "review", "review_text", "tweet", "post", "article"),
    *("description", "document", "sentence", "summary", "answer", "question"),
)
LABEL_NAMES = (
    *("labels", "label", "categories", "category", "topics", "topic", "classes", "class", "targets", "target"),
    *("verdict", "sentiment", "intent", "genre"),
)
ID_NAMES = ("id", "doc_id", "document_id", "record_id")
_HEADINGS = TEXT_PARTS[:2]

_MOST_LAYOUTS = 256  # remembered at a time: rows that all differ in their fields must not fill the memory
_MOST_FIELDS = 20_000  # of a layout that is remembered
_MOST_LISTED = 20  # fields that a message names
_MOST_COMPARED = 1_000  # fields among which one that was misspelt is looked for


class Chosen(NamedTuple):
    """Fields of one kind of row: their names there; ``kept`` has the names that documents are to have them under."""

    text: tuple[str, ...]
    labels: tuple[str, ...]
    id: str | None
    kept: Mapping[str, str]


class NoFieldError(MalformedFileError):
    """A field that is needed is not there; ``names`` are those that are, for a person to choose among.

    ``examples`` has the first rows, as far as they are known; ``sheet`` is another sheet that may hold the texts.
    """

    def __init__(self, path: str, cause: str, line: int | None = None, names: Sequence[str] = ()) -> None:
        super().__init__(path, cause, line)
        self.names = tuple(names)
        self.examples: list[Mapping[str, str]] = []
        self.sheet: str | None = None

    def show(self, rows: Iterable[Sequence[str]], names: Sequence[str]) -> None:
        """Keep the first rows as examples."""
        rows = itertools.islice(rows, MOST_ROWS)
        self.examples = [first_of(dict(zip(names, row, strict=False))) for row in rows]


class NoTextFieldError(NoFieldError):
    """No field is known to be the text."""

    @property
    def has_label(self) -> bool:
        """Whether a field has a usual name of labels."""
        return any(_key(name) in LABEL_NAMES for name in self.names)


class NoNamedFieldError(NoFieldError):
    """There is no field that is called as ``option`` says; ``close`` is one of a similar name."""

    option: str
    wanted: str
    close: str | None


class ColumnOptions(TypedDict, total=False):
    """Which fields of a row are what; an option of every format that has rows.

    Names are matched whatever their letter case, with or without spaces at their ends. Without options the text is the
    field ``text``, or else those of ``title``, ``headline``, ``abstract``, ``body`` and ``content`` that exist, joined
    by a line end, or else the one field of another usual name such as ``review`` or ``message``; label and id are the
    first that exist of their usual names.

    Parameters
    ----------
    text_field : str or sequence of str, optional
        The fields of the text, several joined; guessed if not given.
    label_field : str or sequence of str, optional
        The fields of labels, several joined; guessed if not given.
    id_field : str, optional
        The field of ids; guessed if not given.
    label_separator : str, optional
        Splits a cell of several labels.
    keep_fields : bool, str or sequence of str
        The fields that documents carry as they are, as ``fields``; True means all of them.
    """

    text_field: str | Sequence[str] | None
    label_field: str | Sequence[str] | None
    id_field: str | None
    label_separator: str | None
    keep_fields: bool | str | Sequence[str]


class FieldReader:
    """Reads rows into records, by :class:`ColumnOptions`.

    >>> FieldReader("x.csv").record({"title": "Tea", "abstract": "Leaves.", "label": "drink"}, line=2)
    Record(text='Tea\\nLeaves.', labels=('drink',), id=None, line=2, fields=...)
    >>> FieldReader("x.csv", keep_fields=["year"]).record({"text": "Tea", "year": 1999}).kept
    {'year': '1999'}
    """

    def __init__(self, label: str, layout: Layout | None = None, **columns: Unpack[ColumnOptions]) -> None:
        self._source = label
        self._layout = layout or Layout()
        text, kept = columns.get("text_field"), columns.get("keep_fields", False)
        self._text = None if text is None else _as_tuple(text)
        labelled = columns.get("label_field")
        self._labels_of = () if labelled is None else _as_tuple(labelled)
        self._id = columns.get("id_field")
        self._separator = columns.get("label_separator")
        if self._separator is None and self._layout.expected is not None and not self._labels_of:
            self._separator = self._layout.expected.label_separator
        if self._separator == "":
            raise InputError("label_separator='' separates nothing; give what stands between labels, such as ';'")
        self._keep_all = kept is True
        self._kept = () if isinstance(kept, bool) else _as_tuple(kept)
        self._chosen: dict[tuple[str, ...], Chosen] = {}

    def fits(self, names: Sequence[str]) -> bool:
        """Whether a row of such names has the text, as it was named or by a usual name."""
        try:
            return bool(self._choose(tuple(names), None))
        except MalformedFileError:
            return False

    def is_header(self, row: Sequence[str]) -> bool:
        """Whether a row below the first one is the header: two different names or more, which have the text."""
        names = [name for name in row if name.strip()]
        return len(names) > 1 and len(set(names)) == len(names) and self.fits(names)

    def find_header(self, rows: Iterable[Sequence[str]]) -> int:
        """The place of the header among the first rows: below a title if that names no text.

        It is the first row with the text, or else, below rows of one value, the first with several.
        """
        first = list(rows)
        usual = next((k for k, row in enumerate(first) if self.is_header(row)), None)
        if usual is not None:
            return usual
        wide = next((k for k, row in enumerate(first) if sum(bool(name.strip()) for name in row) > 1), 0)
        return wide if len(set(first[wide])) == len(first[wide]) else 0

    def choose(self, names: Iterable[str], line: int | None = None) -> Chosen:
        """The fields to use among those there are; a missing one is refused with the list of those present."""
        key = tuple(names)
        if key not in self._chosen:
            if len(self._chosen) >= _MOST_LAYOUTS or len(key) > _MOST_FIELDS:
                self._chosen.clear()
            self._chosen[key] = chosen = self._choose(key, line)
            if self._layout.found is None or not self._layout.found.text:
                self._report(key, chosen)
        return self._chosen[key]

    def record(self, row: Mapping[str, Any], line: int | None = None) -> Record:
        """The record of one row."""
        try:
            columns = self.choose(row, line)
        except NoFieldError as error:
            error.examples = [first_of(row)]
            raise
        self._layout.remember(row)
        return Record(
            self._join_text(row, columns.text, line),
            self._all_labels(row, columns.labels, line),
            None if columns.id is None else self._identity(row[columns.id], line),
            line,
            row,
            self._keep(row, columns.kept, line) if columns.kept else NO_FIELDS,
        )

    def _choose(self, names: tuple[str, ...], line: int | None) -> Chosen:
        usual = {_key(name): name for name in reversed(names)}
        by_name: dict[str, list[str]] = {}
        for name in names:
            by_name.setdefault(_plain(name), []).append(name)
        expected = self._layout.expected or Columns()

        def named(wanted: Iterable[str], option: str) -> tuple[str, ...]:
            return tuple(self._named(name, option, by_name, names, line) for name in wanted)

        text = named(self._text or (), "text_field") or _expected(expected.text, by_name) or _usual_text(usual)
        if not text:
            raise NoTextFieldError(self._source, self._no_text(names, usual), line, names)
        labels = named(self._labels_of, "label_field") or _expected(expected.label, by_name)
        labels = labels or tuple(usual[name] for name in LABEL_NAMES if name in usual and usual[name] not in text)[:1]
        ids = named((self._id,) if self._id is not None else (), "id_field")
        ids = ids or _expected((expected.id,) if expected.id is not None else (), by_name)
        ids = ids or tuple(usual[name] for name in ID_NAMES if name in usual)
        kept = {name: name for name in names} if self._keep_all else {}
        kept |= dict(zip(self._kept, named(self._kept, "keep_fields"), strict=True))
        return Chosen(text, labels, ids[0] if ids else None, kept)

    def _named(
        self, wanted: str, option: str, by_name: Mapping[str, list[str]], names: tuple[str, ...], line: int | None
    ) -> str:
        """The field that the user named, whatever its letter case; a missing one is refused with those there are."""
        found = by_name.get(_plain(wanted), [])
        if wanted in found or len(found) == 1:
            return wanted if wanted in found else found[0]
        if found:
            cause = f"the fields {_listed(found)} are all {wanted!r} in another letter case: write {option} as one is"
            raise MalformedFileError(self._source, cause, line)
        close = difflib.get_close_matches(wanted, names[:_MOST_COMPARED], n=1)
        hint = f", for example {option}={close[0]!r}" if close else f" with {option}"
        cause = f"there is no field {wanted!r}; the fields are {_listed(names)}: choose among them{hint}"
        error = NoNamedFieldError(self._source, cause, line, names)
        error.option, error.wanted, error.close = option, wanted, close[0] if close else None
        raise error

    def _no_text(self, names: tuple[str, ...], usual: Mapping[str, str]) -> str:
        could_be = [usual[name] for name in TEXT_NAMES if name in usual]
        if len(could_be) > 1:
            return f"the text may be any of {_listed(could_be)}: name one, or several to be joined, as text_field"
        expected = self._layout.expected
        trained = "" if expected is None else f" (the model was trained on {_listed(expected.text)})"
        return (
            f"no field 'text', nor 'title', 'abstract', 'body' or another usual name{trained}; the fields are "
            f"{_listed(names)}: name one as text_field"
        )

    def _report(self, names: tuple[str, ...], chosen: Chosen) -> None:
        """Record what was chosen, with a message where it is not what was expected."""
        layout, expected = self._layout, self._layout.expected
        layout.add(text=chosen.text, label=chosen.labels, id=chosen.id, label_separator=self._separator)
        usual = {_key(name): name for name in reversed(names)}
        others = [usual[name] for name in LABEL_NAMES if name in usual]
        layout.other_labels = tuple(name for name in others if name not in (*chosen.labels, *chosen.text))
        if expected is not None and self._text is None and _unlike(expected.text, chosen.text):
            layout.say(
                f"{self._source} has no {_listed(expected.text)}, which the training texts had; the text is read "
                f"from {_listed(chosen.text)} (text_field names another)"
            )

    def _join_text(self, row: Mapping[str, Any], fields: tuple[str, ...], line: int | None) -> str:
        parts = []
        for field in fields:
            value = row[field]
            if isinstance(value, str):
                parts.append(value)
            elif value is not None or len(fields) == 1:
                given = "null" if value is None else type(value).__name__
                raise MalformedFileError(
                    self._source, f"{field!r} must be a string, it is {given}; correct the row", line
                )
        return parts[0] if len(parts) == 1 else "\n".join(part for part in parts if part)

    def _keep(self, row: Mapping[str, Any], names: Mapping[str, str], line: int | None) -> dict[str, str]:
        try:
            return {name: as_text(row[field]) for name, field in names.items()}
        except RecursionError as error:
            cause = "a field is nested too deeply to be kept; name the fields to keep without it"
            raise MalformedFileError(self._source, cause, line) from error

    def _all_labels(self, row: Mapping[str, Any], fields: tuple[str, ...], line: int | None) -> tuple[str, ...]:
        """The labels of all fields, each once; missing where every field lacks its label."""
        found = [self._labels(row[field], line) for field in fields]
        if len(found) == 1:
            return found[0]
        given = [labels for labels in found if labels is not MISSING_LABEL]
        return tuple(dict.fromkeys(name for labels in given for name in labels)) if given else MISSING_LABEL

    def _labels(self, value: Any, line: int | None) -> tuple[str, ...]:
        if isinstance(value, str) and self._separator is not None and tidy_label(value):
            value = value.split(self._separator)
        if isinstance(value, (list, tuple)):
            # dict.fromkeys: each label once, in the order given
            return tuple(dict.fromkeys(name for item in value if (name := self._label_name(item, line)) is not None))
        name = self._label_name(value, line)
        return MISSING_LABEL if name is None else (name,)

    def _label_name(self, value: Any, line: int | None) -> str | None:
        return self._name(tidy_label(value) if isinstance(value, str) else value, "a label", line)

    def _identity(self, value: Any, line: int | None) -> str | None:
        return self._name(value, "an id", line)

    def _name(self, value: Any, what: str, line: int | None) -> str | None:
        if value is None or value == "" or value != value:  # NaN: a missing value in a column of numbers
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # 3 read as 3.0 because another row of the column is empty
        if not isinstance(value, (str, int)) and not (isinstance(value, float) and math.isfinite(value)):
            cause = f"{what} must be a string or a number, it is {type(value).__name__}; correct the row"
            raise MalformedFileError(self._source, cause, line)
        return str(value)


def _as_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _plain(name: str) -> str:
    """A name as people compare it: whatever its letter case, without stray white space."""
    return tidy_label(name).casefold()


def _key(name: str) -> str:
    """A name as usual names are written: ``Review text`` is ``review_text``."""
    return re.sub(r"[\W_]+", "_", _plain(name)).strip("_")


def _expected(wanted: tuple[str, ...], by_name: Mapping[str, list[str]]) -> tuple[str, ...]:
    """The fields of an earlier input, if all are there."""
    found = tuple(by_name[_plain(name)][0] for name in wanted if _plain(name) in by_name)
    return found if len(found) == len(wanted) else ()


def _usual_text(usual: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that are the text by their names; none where two could be."""
    if "text" in usual:
        return (usual["text"],)
    parts = tuple(usual[name] for name in TEXT_PARTS if name in usual)
    if len(parts) > sum(name in usual for name in _HEADINGS):
        return parts
    others = tuple(usual[name] for name in TEXT_NAMES if name in usual)
    return () if len(others) > 1 else (*parts, *others)


def _unlike(expected: tuple[str, ...], chosen: tuple[str, ...]) -> bool:
    return list(map(_plain, expected)) != list(map(_plain, chosen))


def has_usual_names(names: Iterable[str]) -> bool:
    """Whether fields are a text and something more, by their names alone."""
    keys = {_key(name) for name in names}
    text = keys & {"text", *TEXT_PARTS, *TEXT_NAMES}
    return len(keys) > 1 and bool(text) and bool(keys & {"id", *LABEL_NAMES, *TEXT_PARTS})


def tidy_label(label: str) -> str:
    """A label without stray white space: none at its ends, one ordinary space where there was any within.

    >>> tidy_label("\\u00a0 North\\u00a0 Sea\\n")
    'North Sea'
    """
    # U+200B and U+FEFF are as invisible, but white space only to the eye.
    return " ".join(label.replace("\u200b", "").replace("\ufeff", "").split())


def as_text(value: Any) -> str:
    """A value of any kind as a spreadsheet would hold it: nothing is empty, lists and objects are JSON.

    >>> [as_text(value) for value in ("tea", None, 3, True, ["a", "b"])]
    ['tea', '', '3', 'true', '["a", "b"]']
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:  # NaN: a cell without a value in a column of numbers
        return ""
    if isinstance(value, (bool, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name if len(name) <= 60 else name[:59] + "…") for name in names[:_MOST_LISTED]) or "none"
    return shown + (f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else "")


def checked_header(row: list[str], label: str, line: int) -> list[str]:
    """The names of the columns, each once."""
    repeated = [name for name, times in Counter(row).items() if times > 1]
    if repeated:
        raise MalformedFileError(label, f"the header names {min(repeated)!r} twice; rename one of them", line)
    return row


def check_header_row(number: int | None, header: Sequence[str] | None) -> None:
    """Refuse a row of the header that cannot be, or that was named together with names in its place."""
    if number is not None and number < 1:
        raise InputError(f"header_row={number} is no row; the first is header_row=1")
    if number is not None and header is not None:
        raise InputError("header and header_row were both given: a file has a row of names, or needs names")

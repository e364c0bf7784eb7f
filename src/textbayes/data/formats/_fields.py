"""From a row of named fields (CSV, JSON lines, Parquet, Excel) to a record: which field is text, label and id."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.types import MISSING_LABEL, NO_FIELDS
from textbayes.data.records import Record

TEXT_PARTS = ("title", "abstract", "body", "content")
LABEL_NAMES = ("labels", "label", "categories", "category", "topics", "topic", "class", "target")
ID_NAMES = ("id", "doc_id", "document_id", "record_id")

_MOST_LAYOUTS = 256  # remembered at a time: rows that all differ in their fields must not fill the memory
_MOST_FIELDS = 20_000  # of a layout that is remembered
_MOST_LISTED = 20  # fields that a message names


class _Columns(NamedTuple):
    text: tuple[str, ...]
    labels: tuple[str, ...]
    id: str | None
    kept: tuple[str, ...]


class NoTextFieldError(MalformedFileError):
    """No field is known to be the text; ``names`` are those that there are, for a person to choose among."""

    def __init__(self, path: str, cause: str, line: int | None = None, names: Sequence[str] = ()) -> None:
        super().__init__(path, cause, line)
        self.names = tuple(names)


class ColumnOptions(TypedDict, total=False):
    """Which fields of a row are what; an option of every format that has rows.

    Without options the text is the field ``text``, or else those of ``title``, ``abstract``, ``body`` and ``content``
    that exist, joined by a line end; label and id are the first that exist of their usual names (in any letter case).

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

    def __init__(self, label: str, **columns: Unpack[ColumnOptions]) -> None:
        self._source = label
        text, kept = columns.get("text_field"), columns.get("keep_fields", False)
        self._text = None if text is None else _as_tuple(text)
        labelled = columns.get("label_field")
        self._labels_of = () if labelled is None else _as_tuple(labelled)
        self._id = columns.get("id_field")
        self._separator = columns.get("label_separator")
        if self._separator == "":
            raise InputError("label_separator='' separates nothing; give what stands between labels, such as ';'")
        self._keep_all = kept is True
        self._kept = () if isinstance(kept, bool) else _as_tuple(kept)
        self._chosen: dict[tuple[str, ...], _Columns] = {}

    def choose(self, names: Iterable[str], line: int | None = None) -> _Columns:
        """The fields to use among those there are; a missing one is refused with the list of those present."""
        key = tuple(names)
        if key not in self._chosen:
            if len(self._chosen) >= _MOST_LAYOUTS or len(key) > _MOST_FIELDS:
                self._chosen.clear()
            self._chosen[key] = self._choose(key, line)
        return self._chosen[key]

    def record(self, row: Mapping[str, Any], line: int | None = None) -> Record:
        """The record of one row."""
        columns = self.choose(row, line)
        return Record(
            self._join_text(row, columns.text, line),
            self._all_labels(row, columns.labels, line),
            None if columns.id is None else self._identity(row[columns.id], line),
            line,
            row,
            self._keep(row, columns.kept, line) if columns.kept else NO_FIELDS,
        )

    def _choose(self, names: tuple[str, ...], line: int | None) -> _Columns:
        present = set(names)
        for wanted in (*(self._text or ()), *self._labels_of, self._id, *self._kept):
            if wanted is not None and wanted not in present:
                cause = f"there is no field {wanted!r}; the fields are {_listed(names)}: choose among them"
                raise MalformedFileError(self._source, cause, line)
        by_lower = {name.strip().lower(): name for name in reversed(names)}
        if self._text is not None:
            text = self._text
        elif "text" in by_lower:
            text = (by_lower["text"],)
        else:
            text = tuple(by_lower[name] for name in TEXT_PARTS if name in by_lower)
        if not text:
            cause = (
                "no field 'text', nor 'title', 'abstract' or 'body'; "
                f"the fields are {_listed(names)}: name one as text_field"
            )
            raise NoTextFieldError(self._source, cause, line, names)
        labels = self._labels_of or tuple(by_lower[name] for name in LABEL_NAMES if name in by_lower)[:1]
        id = self._id or next((by_lower[name] for name in ID_NAMES if name in by_lower), None)
        return _Columns(text, labels, id, names if self._keep_all else self._kept)

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

    def _keep(self, row: Mapping[str, Any], names: tuple[str, ...], line: int | None) -> dict[str, str]:
        try:
            return {name: as_text(row[name]) for name in names}
        except RecursionError as error:
            cause = "a field is nested too deeply to be kept; name the fields to keep without it"
            raise MalformedFileError(self._source, cause, line) from error

    def _all_labels(self, row: Mapping[str, Any], fields: tuple[str, ...], line: int | None) -> tuple[str, ...]:
        """The labels of all fields, each once; missing where every field lacks its label."""
        found = [self._labels(row[field], line) for field in fields]
        if len(found) == 1:
            return found[0]
        told = [labels for labels in found if labels is not MISSING_LABEL]
        return tuple(dict.fromkeys(name for labels in told for name in labels)) if told else MISSING_LABEL

    def _labels(self, value: Any, line: int | None) -> tuple[str, ...]:
        if isinstance(value, str) and self._separator is not None:
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

"""How an input is laid out: which columns are text, label and id, and how its file is written.

Readers of tables say it while they read; commands print it, a model file remembers it, and the next input of that model
is read by it.

>>> Columns(text=("title", "abstract"), label=("topic",), delimiter=";").in_words()
"text in 'title' + 'abstract', label in 'topic', no id; delimiter ';'"
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from textbayes.core.codec import Choice, Field, List, Null, Text, Whole
from textbayes.core.errors import MalformedFileError

_USUAL_DELIMITERS = {",", "\t", None}
MOST_ROWS = 50  # that are remembered
_MOST_LISTED, _NAME_WIDTH, _VALUE_WIDTH = 20, 28, 44


_SEVERAL = ("text", "label", "missing_label")
_NAME = Text(2_000)
COLUMNS: dict[str, Field] = {  # what a file may say of columns
    "text": List(_NAME, 1, 1_000),
    "label": List(_NAME, 0, 1_000),
    "id": _NAME | Null(),
    "label_separator": Text(100, least=1) | Null(),
    "missing_label": List(_NAME, 0, 1_000),
    "format": Text(100, least=1) | Null(),
    "sheet": Text(100, least=1) | Null(),
    "header_row": Whole(1) | Null(),
    "delimiter": Text(1, least=1) | Null(),
    "encoding": Text(100, least=1) | Null(),
    "line_end": Choice("\n", "\r\n", None),
}


@dataclass(frozen=True)
class Columns:
    """Columns of a table, by what they are, and how its file is written; what is not known is None or empty.

    Parameters
    ----------
    text, label : tuple of str
        Names as the file has them; several are joined.
    id, label_separator, format, sheet, delimiter, encoding, line_end : str or None
        The encoding of a UTF-8 file with a byte order mark is ``utf-8-sig``.
    header_row : int or None
        From 1 on, of the row with the names of the columns.
    missing_label : tuple of str
        Labels that mean there is none, in small letters.
    """

    text: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    id: str | None = None
    label_separator: str | None = None
    format: str | None = None
    sheet: str | None = None
    header_row: int | None = None
    delimiter: str | None = None
    encoding: str | None = None
    line_end: str | None = None
    missing_label: tuple[str, ...] = ()

    def in_words(self) -> str:
        """What was found, in one line."""
        label = f"label in {_joined(self.label)}" if self.label else "no label"
        if self.missing_label:
            label += f" ({', '.join(map(repr, self.missing_label))}: no label)"
        parts = [f"text in {_joined(self.text)}", label, "no id" if self.id is None else f"id in {self.id!r}"]
        file = [] if self.sheet is None else [f"sheet {self.sheet!r}"]
        if self.header_row is not None and self.header_row > 1:
            file.append(f"header in row {self.header_row:,}")
        if self.delimiter not in _USUAL_DELIMITERS:
            file.append(f"delimiter {self.delimiter!r}")
        if self.encoding not in ("utf-8", "utf-8-sig", None):
            file.append(f"encoding {self.encoding}")
        return "; ".join(", ".join(one) for one in (parts, file) if one)

    @property
    def is_numbered(self) -> bool:
        """Whether the rows below a header have no id but their number."""
        return self.id is None and self.header_row is not None

    def to_state(self) -> dict[str, Any]:
        """The columns as JSON has them."""
        return asdict(self) | {name: list(getattr(self, name)) for name in _SEVERAL}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Columns:
        """Undo :meth:`to_state`."""
        given = {one.name: state.get(one.name) for one in fields(cls)}
        return cls(**given | {name: tuple(state.get(name) or ()) for name in _SEVERAL})


def _say_nothing(message: str) -> None:
    pass


@dataclass
class Layout:
    """What a reader is to expect of an input, and what it found in its first file.

    Parameters
    ----------
    expected : Columns, optional
        Those of an earlier input; looked for first, whatever the letter case.
    say : callable
        Is given sentences on what was chosen where the input leaves a choice.
    skip : callable, optional
        Is given the error of each line that cannot be read, and the line is skipped. Without it the error is raised.
    found : Columns or None
        None until a table was opened.
    rows : list of mappings of str to str
        The first rows, with the beginnings of their values.
    other_labels : tuple of str
        Columns whose names are usual for labels too, and which were not taken.
    """

    expected: Columns | None = None
    say: Callable[[str], None] = _say_nothing
    skip: Callable[[MalformedFileError], None] | None = None
    found: Columns | None = None
    rows: list[Mapping[str, str]] = field(default_factory=list)
    other_labels: tuple[str, ...] = ()

    def add(self, **found: Any) -> None:
        """Add to what was found."""
        self.found = replace(self.found or Columns(), **found)

    def refuse(self, error: MalformedFileError) -> None:
        """Raise the error of a line that cannot be read, unless such lines are skipped."""
        if self.skip is None:
            raise error
        self.skip(error)

    def remember(self, row: Mapping[str, Any]) -> None:
        """Remember a row, if it is one of the first."""
        if len(self.rows) < MOST_ROWS:
            self.rows.append(first_of(row))

    def found_label(self) -> bool:
        """Whether a column of labels was found."""
        return self.found is not None and bool(self.found.label)

    def likely_label(self, known: Collection[str] = ()) -> str | None:
        """The column that may be the label: of the fewest values, but more than one.

        Where the labels are ``known``, a column with one of them.
        """
        spelt = {name.casefold() for name in known}
        taken = () if self.found is None else (*self.found.text, self.found.id)
        values = {
            name: {row[name] for row in self.rows if row.get(name)}
            for name in (self.rows[0] if self.rows else ())
            if name not in taken
        }
        if spelt:
            of_labels = {name: own for name, own in values.items() if spelt & {value.casefold() for value in own}}
            return min(of_labels, key=lambda name: len(of_labels[name]), default=None)
        last_first = reversed(values)  # labels are more often in a later column than ids
        return min(last_first, key=lambda name: (len(values[name]) < 2, len(values[name])), default=None)

    def for_next_file(self) -> Layout:
        """A layout for a further file of the same input: what is found there is not recorded."""
        return Layout(self.expected, skip=self.skip)


def first_of(row: Mapping[str, Any]) -> dict[str, str]:
    """The beginnings of a row's values, on one line each."""
    shown = {}
    for name, value in list(row.items())[: _MOST_LISTED + 1]:
        text = " ".join(str("" if value is None else value)[: 4 * _VALUE_WIDTH].split())
        shown[name] = text if len(text) <= _VALUE_WIDTH else f"{text[: _VALUE_WIDTH - 1]}…"
    return shown


def listed_columns(example: Mapping[str, str]) -> list[str]:
    """Lines of columns with an example each, for a person to choose among."""
    names = list(example)[:_MOST_LISTED]
    width = min(max((len(name) for name in names), default=0), _NAME_WIDTH)
    lines = [f"  {_cut(name):{width}}  {example[name] or '(empty)'}" for name in names]
    return ["columns, with the first value of each:", *lines, *(["  …"] if len(example) > len(names) else [])]


def _cut(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else f"{name[: _NAME_WIDTH - 1]}…"


def _joined(names: Iterable[str]) -> str:
    return " + ".join(map(repr, names))

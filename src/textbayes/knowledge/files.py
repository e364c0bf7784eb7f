"""Tables of word priors as CSV and YAML.

CSV has a line for each row under a header that names some of the columns ``word, label, mean, scale, family, sign,
source``; ``word`` is needed, the others may be absent or blank. YAML goes label by label (``"*"`` is every label):

    grain:
      wheat: {mean: 2, scale: 0.5}     # columns by name
      corn: 1.5                        # a mean
      bank: against                    # or for: how strongly is the model's to say
    trade: [tariff, import, export]    # words that speak for it
    ship: Ships, ports and cargo       # a description: each of its words speaks for it

Words and labels are texts in YAML as well, whatever they look like: ``no`` is the word, not a falsehood.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import yaml

from textbayes.core import tables
from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.validation import check_choice
from textbayes.data.streams import Source, read_text, source_label
from textbayes.knowledge.rows import ALL_LABELS, COLUMNS, FOR, Refusal, WordPrior, checked

_ENDINGS = {".csv": "csv", ".yaml": "yaml", ".yml": "yaml"}
_SIGNS = {"": None, "+": 1, "+1": 1, "1": 1, "-": -1, "−": -1, "-1": -1, "0": 0}
_LOADER = getattr(
    yaml, "CSafeLoader", yaml.SafeLoader
)  # either reads plain values only; the one in C is ten times faster
_YAML_NUMBERS = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_NULL = "tag:yaml.org,2002:null"
_LARGEST = 1 << 30  # bytes of a file
_DEEPEST = 20  # levels of a YAML file; four are of use
_MOST_ALIASED = 1_000_000  # rows of a YAML file with aliases, which can stand for any number
_PLAIN = re.compile(r"[^\W\d_]\w*|-?\d+(\.\d+)?")
_NOT_TEXT = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")  # words that YAML takes for something else


def read_rows(source: Source, format: str | None = None, encoding: str = "utf-8") -> tuple[WordPrior, ...]:
    """Read and check the rows of a CSV or YAML file or stream; errors name the file and the line.

    Parameters
    ----------
    source : path, "-" or stream
    format : {"csv", "yaml"} or None
        None takes it from the name.
    encoding : str
    """
    label = source_label(source)
    format = _format(label) if format is None else format
    check_choice("format", format, ("csv", "yaml"))
    text = read_text(source, encoding, longest=_LARGEST)
    if not text.strip():
        raise MalformedFileError(label, "the file is empty; it must hold at least one word")
    read = _csv_rows if format == "csv" else _yaml_rows
    rows, lines = [], []
    for line, row in read(label, text):
        rows.append(row)
        lines.append(line)
    if not rows:
        raise MalformedFileError(label, "there is no row under the header; add a word")
    return checked(rows, refuse_in(label, lines))


def refuse_in(file: str, lines: Sequence[int]) -> Callable[[Refusal], NoReturn]:
    """Make a function that refuses a row of a file, naming its line."""

    def refuse(refusal: Refusal) -> NoReturn:
        earlier = "" if refusal.earlier is None else f" (it is in line {lines[refusal.earlier]} as well)"
        raise MalformedFileError(file, refusal.cause + earlier, lines[refusal.row])

    return refuse


def _format(label: str) -> str:
    base = label.lower()
    for packed in (".gz", ".xz", ".bz2"):
        base = base.removesuffix(packed)
    ending = os.path.splitext(base)[1]
    if ending not in _ENDINGS:
        raise InputError(f"{label} ends neither in .csv nor in .yaml; name its format, 'csv' or 'yaml'")
    return _ENDINGS[ending]


def _row(file: str, line: int, word: str, label: str, given: dict[str, str]) -> WordPrior:
    """A row of the texts that a file gives for its columns."""
    mean, sign = given.get("mean", "").strip(), given.get("sign", "").strip()
    if sign not in _SIGNS:
        raise MalformedFileError(file, f"sign {sign!r} is not known; use +, - or 0", line)
    return WordPrior(
        word.strip(),
        label.strip() or ALL_LABELS,
        mean.lower() if mean.isalpha() and mean.lower() != "inf" else _number(file, line, "mean", mean),
        _number(file, line, "scale", given.get("scale", "").strip()),
        given.get("family", "").strip() or None,
        _SIGNS[sign],
        given.get("source", "").strip(),
    )


def _number(file: str, line: int, column: str, text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        other = text.lower().replace("−", "-")
    try:
        return _YAML_NUMBERS[other] if other in _YAML_NUMBERS else float(other)
    except ValueError:
        raise MalformedFileError(file, f"{column} {text!r} is not a number; write it like 1.5", line) from None


# -- CSV -----------------------------------------------------------------------------------------------------------
def _csv_rows(file: str, text: str) -> Iterator[tuple[int, WordPrior]]:
    first = text.lstrip("\r\n").splitlines()[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next((cells for cells in reader if "".join(cells).strip()), [])
        names = _header(file, reader.line_num, header)
        for cells in reader:
            if not "".join(cells).strip():
                continue
            if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
                cause = f"{len(cells)} fields under a header of {len(names)}; quote a word that holds a {delimiter!r}"
                raise MalformedFileError(file, cause, reader.line_num)
            given = dict(zip(names, map(tables.unescape_formula, cells), strict=False))
            word, label = given.pop("word"), given.pop("label", "")
            yield reader.line_num, _row(file, reader.line_num, word, label, given)
    except csv.Error as error:
        raise MalformedFileError(file, f"this is not CSV ({error}); correct the line", reader.line_num) from error


def _header(file: str, line: int, cells: list[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    for name in names:
        if name not in COLUMNS:
            cause = f"column {name!r} is not known; the first line must name columns among {', '.join(COLUMNS)}"
            raise MalformedFileError(file, cause, line)
        if names.count(name) > 1:
            raise MalformedFileError(file, f"column {name!r} is there twice; keep one of them", line)
    if "word" not in names:
        raise MalformedFileError(file, "there is no column 'word'; name it in the first line", line)
    return names


def csv_text(rows: Iterable[WordPrior]) -> str:
    """The rows as CSV, with all columns; people edit it in spreadsheets, so that no text in it is a formula."""
    cells = ([row.word, row.label, _mean(row), _written(row.scale), row.family, _sign(row), row.source] for row in rows)
    return tables.csv_text([COLUMNS, *cells])


def _mean(row: WordPrior) -> str:
    return row.mean if isinstance(row.mean, str) else _written(row.mean)


def _written(value: float | None) -> str:
    return "" if value is None else repr(float(value)).removesuffix(".0")


def _sign(row: WordPrior) -> str:
    return "" if row.sign is None else {1: "+", -1: "-", 0: "0"}[row.sign]


# -- YAML ----------------------------------------------------------------------------------------------------------
def _yaml_rows(file: str, text: str) -> Iterator[tuple[int, WordPrior]]:
    try:
        aliases = _check_depth(file, text)
        # Nodes instead of values: they know their lines, and a word stays a word ("no", "1e3").
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        cause = getattr(error, "problem", None) or "it cannot be read"
        raise MalformedFileError(
            file, f"this is not YAML ({cause})", None if mark is None else mark.line + 1
        ) from error
    if not isinstance(root, yaml.MappingNode):
        line = 1 if root is None else _line(root)
        raise MalformedFileError(file, "the file must name labels, each followed by a colon and its words", line)
    if (
        aliases
        and sum(len(said.value) for _, said in root.value if isinstance(said, yaml.CollectionNode)) > _MOST_ALIASED
    ):
        cause = f"aliases (*name) stand for more than {_MOST_ALIASED:,} rows; write the words out, or use CSV"
        raise MalformedFileError(file, cause)
    for key, value in root.value:
        label = _text(file, key, "a label")
        if isinstance(value, yaml.MappingNode):
            for word, said in value.value:
                yield _line(word), _said(file, _text(file, word, "a word"), label, said)
        elif isinstance(value, yaml.SequenceNode):
            for word in value.value:
                yield _line(word), WordPrior(_text(file, word, "a word"), label, FOR)
        else:
            yield _line(value), WordPrior(_text(file, value, f"what is said of {label!r}"), label, FOR)


def _check_depth(file: str, text: str) -> bool:
    """Refuse what is nested deeply, which would end the process in the loader; whether there are aliases."""
    depth, aliases = 0, False
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                cause = (
                    f"lists or tables more than {_DEEPEST} deep; write label: word: {{mean: 1}}, as the manual shows"
                )
                raise MalformedFileError(file, cause, event.start_mark.line + 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        else:
            aliases = aliases or isinstance(event, yaml.AliasEvent)
    return aliases


def _said(file: str, word: str, label: str, node: Any) -> WordPrior:
    """The row of a word: columns by name, or a mean alone."""
    line = _line(node)
    if not isinstance(node, yaml.MappingNode):
        return _row(file, line, word, label, {"mean": _text(file, node, f"what is said of {word!r}")})
    given = {}
    for key, value in node.value:
        column = _text(file, key, "a column")
        if column not in COLUMNS[2:]:
            cause = f"column {column!r} is not known; what is said of a word is among {', '.join(COLUMNS[2:])}"
            raise MalformedFileError(file, cause, _line(key))
        if column in given:
            raise MalformedFileError(file, f"column {column!r} is there twice; keep one of them", _line(key))
        blank = isinstance(value, yaml.ScalarNode) and value.tag == _NULL
        given[column] = "" if blank else _text(file, value, column)
    return _row(file, line, word, label, given)


def _text(file: str, node: Any, what: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip() or (node.tag == _NULL and node.value != "null"):
        raise MalformedFileError(
            file, f"{what} must be a text or a number here; it is something else or blank", _line(node)
        )
    return str(node.value).strip()


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def yaml_text(rows: Iterable[WordPrior]) -> str:
    """The rows as YAML, label by label."""
    by_label: dict[str, list[str]] = {}
    for row in rows:
        mean = row.mean if isinstance(row.mean, str) else _written(row.mean)
        said = (mean, _written(row.scale), row.family or "", _sign(row), row.source)
        given = {column: _quoted(value) for column, value in zip(COLUMNS[2:], said, strict=True) if value}
        value = given["mean"] if list(given) == ["mean"] else f"{{{', '.join(map(': '.join, given.items()))}}}"
        by_label.setdefault(row.label, []).append(f"  {_quoted(row.word)}: {value}\n")
    return "".join(f"{_quoted(label)}:\n{''.join(lines)}" for label, lines in by_label.items())


def _quoted(text: str) -> str:
    """Plain where YAML reads the very text back, else as JSON writes it, which is YAML too.

    >>> _quoted("wheat"), _quoted("no"), _quoted("1.5"), _quoted("a: b")
    ('wheat', '"no"', '1.5', '"a: b"')
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isprintable() else "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)

"""JSON lines: one object a line; ``id``, ``text`` and ``labels`` (a string or a list) need no options.

One JSON array of such objects, over any number of lines, is read as well; it is held in memory as a whole.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> list(FORMATS.get("jsonl").read(io.StringIO('{"id": "a", "text": "rain", "labels": ["weather", "uk"]}')))
[Document(id='a', text='rain', labels=('weather', 'uk'))]
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Unpack

from textbayes.core.atomic import atomic_write
from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats._fields import ColumnOptions, FieldReader
from textbayes.data.layout import Layout
from textbayes.data.streams import Source, layout_of, read_lines, source_label

_ADVICE = "write one object on each line"
_SPACE = re.compile(r"\s*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_jsonl(
    source: Source,
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    **columns: Unpack[ColumnOptions],
) -> Iterator[Record]:
    """Read the objects of a JSON lines file; blank lines are passed over.

    Parameters
    ----------
    source : path, "-" or stream
    encoding : str
    errors : {"strict", "replace", "ignore"}
        What becomes of bytes that do not fit the encoding.
    **columns : ColumnOptions
        Which members are the text, the labels and the id, and which are kept.
    """
    label = source_label(source)
    layout = layout_of(source)
    layout.add(format="jsonl", encoding=encoding)
    fields = FieldReader(label, layout, **columns)
    every = read_lines(source, encoding, errors, skip=layout.refuse)
    lines = ((number, line) for number, line in every if not line.isspace())
    first = next(lines, None)
    if first is None:
        return
    whole = itertools.chain([first], lines)
    is_array = first[1].lstrip().startswith("[")
    for number, text, row in _array(whole, label) if is_array else _lines(whole, layout, label):
        try:
            record = fields.record(_object(row, text, label, number, errors), number)
        except MalformedFileError as error:
            layout.refuse(error)
        else:
            yield record


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write objects as a JSON lines file, whole or not at all.

    Parameters
    ----------
    path : Path
    rows : iterable of mappings
        Taken one at a time; an error in between leaves what was at the path.
    """
    with atomic_write(path) as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


_Rows = Iterator[tuple[int, str, Any]]  # line, source text and value


def _lines(lines: Iterable[tuple[int, str]], layout: Layout, label: str) -> _Rows:
    """The values of JSON lines."""
    for number, line in lines:
        try:
            value = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            layout.refuse(MalformedFileError(label, f"not valid JSON ({_reason(error)}): {_ADVICE}", number))
        else:
            yield number, line, value


def _array(lines: Iterable[tuple[int, str]], label: str) -> _Rows:
    """The elements of an array that is all there is, each with the line it begins in."""
    numbers, parts = zip(*lines, strict=True)
    text, starts = "".join(parts), list(itertools.accumulate(map(len, parts), initial=0))

    def line_of(place: int) -> int:
        return int(numbers[min(bisect.bisect_right(starts, place), len(numbers)) - 1])

    def refuse(reason: str, place: int) -> MalformedFileError:
        return MalformedFileError(label, f"not valid JSON ({reason}): {_ADVICE}", line_of(place))

    def after_space(place: int) -> tuple[int, str]:
        place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
        return place, text[place : place + 1]

    place, sign = after_space(text.index("[") + 1)
    while sign != "]":
        try:
            row, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise refuse(error.msg if isinstance(error, json.JSONDecodeError) else str(error), place) from error
        yield line_of(place), text[place:end], row
        place, sign = after_space(end)
        if sign == ",":
            place, _ = after_space(place + 1)
        elif sign != "]":
            raise refuse("the array is not closed" if not sign else "a comma is missing", min(place, len(text) - 1))
    end, more = after_space(place + 1)
    if more:
        raise refuse("something follows the array", end)


def _object(row: Any, text: str, label: str, number: int, errors: str) -> dict[str, Any]:
    """The value if it is an object that can be written again."""
    if not isinstance(row, dict):
        kind = "an array" if isinstance(row, list) else repr(row)[:40]
        raise MalformedFileError(label, f"{kind} where an object is needed: {_ADVICE}", number)
    if _SURROGATE.search(text):
        # \\ud83d without its second half is valid JSON but no character: it could never be written as UTF-8 again
        try:
            written = json.dumps(row, ensure_ascii=False)
            if errors == "strict":
                written.encode()
            else:
                row = json.loads(written.encode("utf-8", "replace"))
        except UnicodeEncodeError as error:
            cause = "half a surrogate pair (\\ud800 to \\udfff): correct the escape, or pass errors='replace'"
            raise MalformedFileError(label, cause, number) from error
        except RecursionError as error:
            raise MalformedFileError(label, f"not valid JSON ({_reason(error)}): {_ADVICE}", number) from error
    return row


def _reason(error: ValueError | RecursionError) -> str:
    return f"{error.msg} in column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _sniff(head: bytes) -> bool:
    return re.match(rb"(\[\s*)?\{", head.lstrip(b"\xef\xbb\xbf \t\r\n")) is not None


FORMATS.register("jsonl")(
    Format("jsonl", "JSON lines, one object per document", read_jsonl, (".jsonl", ".ndjson", ".jl", ".json"), _sniff)
)

"""JSON lines: one object a line; ``id``, ``text`` and ``labels`` (a string or a list) need no options.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> list(FORMATS.get("jsonl").read(io.StringIO('{"id": "a", "text": "rain", "labels": ["weather", "uk"]}')))
[Document(id='a', text='rain', labels=('weather', 'uk'))]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._fields import FieldReader
from textbayes.data.records import Record
from textbayes.data.streams import Source, read_lines, source_label

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_jsonl(
    source: Source,
    *,
    text_field: str | Sequence[str] | None = None,
    label_field: str | None = None,
    id_field: str | None = None,
    label_separator: str | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> Iterator[Record]:
    """Objects of a JSON lines file; blank lines are passed over. ``label_separator`` splits a string of labels."""
    label = source_label(source)
    fields = FieldReader(label, text_field, label_field, id_field, label_separator)
    for number, line in read_lines(source, encoding, errors):
        if not line.isspace():
            yield fields.record(_parse(line, label, number, errors), number)


def _parse(line: str, label: str, number: int, errors: str) -> dict[str, Any]:
    try:
        row = _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        reason = f"{error.msg} in column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise MalformedFileError(label, f"not valid JSON ({reason}): write one object on each line", number) from error
    if not isinstance(row, dict):
        kind = "an array" if isinstance(row, list) else repr(row)[:40]
        raise MalformedFileError(label, f"{kind} where an object is needed: write one object on each line", number)
    if _SURROGATE.search(line):
        # \\ud83d without its second half is valid JSON but no character: it could never be written as UTF-8 again
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            if errors == "strict":
                cause = "half a surrogate pair (\\ud800 to \\udfff): correct the escape, or pass errors='replace'"
                raise MalformedFileError(label, cause, number) from error
            row = json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
    return row


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _sniff(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


FORMATS.register("jsonl")(
    Format("jsonl", "JSON lines, one object per document", read_jsonl, (".jsonl", ".ndjson", ".jl", ".json"), _sniff)
)

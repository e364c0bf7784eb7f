"""Records whose fields begin with a line such as ``.W``, each opened by ``.I`` and a number (OHSUMED, LYRL2004)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from textbayes.core.errors import MalformedFileError
from textbayes.data.streams import Source, limits_of, read_lines, source_label

_MARK = re.compile(r"\.([A-Z])\s*$")
_START = re.compile(r"\.I\s+(\S+)\s*$")


class DottedRecord(NamedTuple):
    """The number after ``.I``, the line it stands in, and the text under each letter."""

    id: str
    line: int
    fields: dict[str, str]


def read_dotted(source: Source, letters: str, encoding: str, errors: str) -> Iterator[DottedRecord]:
    """Records in turn; only the ``letters`` given open a field, any other line belongs to the field above it."""
    label, limits = source_label(source), limits_of(source)
    size = 0
    start: tuple[str, int] | None = None
    fields: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in read_lines(source, encoding, errors):
        if opening := _START.match(line):
            if start is not None:
                yield _finish(start, fields)
            start, fields, current, size = (opening[1], number), {}, None, 0
        elif start is None:
            if not line.isspace():
                raise MalformedFileError(label, "text before the first '.I number' line; is it the right file?", number)
        elif (mark := _MARK.match(line)) and mark[1] in letters:
            if mark[1] in fields:
                raise MalformedFileError(label, f"field .{mark[1]} twice in record {start[0]}", number)
            current = fields.setdefault(mark[1], [])
        elif current is not None:
            current.append(line.strip())
            size += len(line)
            limits.check_record(size, label, start[1], "record")
        elif not line.isspace():
            raise MalformedFileError(label, f"text in record {start[0]} before a field such as .{letters[0]}", number)
    if start is None:
        raise MalformedFileError(label, "no record: each begins with a line '.I number'")
    yield _finish(start, fields)


def _finish(start: tuple[str, int], fields: dict[str, list[str]]) -> DottedRecord:
    return DottedRecord(*start, {letter: "\n".join(filter(None, lines)) for letter, lines in fields.items()})

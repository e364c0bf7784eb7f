r"""RIS, the format that reference managers and databases export.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> file = b"TY  - JOUR\nTI  - Tea\nAB  - Leaves.\nDO  - 10.1/x\nER  - \n"
>>> document = next(FORMATS.get("ris").read(io.BytesIO(file), keep_fields=["doi"]))
>>> document.text, document.fields["doi"]
('Tea\nLeaves.', '10.1/x')
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from textbayes.core.errors import MalformedFileError, MissingExtraError
from textbayes.data.formats import FORMATS
from textbayes.data.formats._references import Row, reference_format, reference_lines, reference_row
from textbayes.data.streams import Source, limits_of, source_label

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\d+\.?\s*)?TY {1,2}- ")
_STARTS, _ENDS = re.compile(r"(\s*)TY( {1,2})-"), re.compile(r"ER {1,2}-")
_TAG = re.compile(r"([A-Z][A-Z0-9])( {1,2})-(?= |$)")
_END = "ER  - \n"
_AT_ONCE = 500  # references
_MOST_LINES = 20_000  # of one reference: each line without a tag has the library copy all before it
_PMID = re.compile(r"(?:PMID:?\s*)?(\d{5,9})")


def _references(source: Source, encoding: str, errors: str) -> Iterator[Row]:
    try:
        import rispy  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("rispy", "screen", "reading RIS files") from None
    label = source_label(source)
    ids: _Ids | None = None
    for starts, text in _batches(source, encoding, errors):
        try:
            entries = rispy.loads(text, skip_unknown_tags=True)
        except (OSError, ValueError, KeyError) as error:
            cause = f"not valid RIS ({error}), here or in the references below: export it again, or correct it there"
            raise MalformedFileError(label, cause, starts[0]) from error
        ids = ids or _Ids(any(_own_id(entry) for entry in entries))
        for line, entry in zip(starts, entries, strict=True):
            yield line, ids.of(entry) | _row(entry)


class _Ids:
    """Ids of the references of a file: their own where they are given and unique, else their numbers.

    A file gives ids to all of its documents or to none; here the first batch decides.
    """

    def __init__(self, given: bool) -> None:
        self._given, self._number, self._taken = given, 0, set[str]()

    def of(self, entry: dict[str, Any]) -> dict[str, str]:
        """The field ``id`` of the next reference; none where the file gives no ids."""
        if not self._given:
            return {}
        self._number += 1
        id = _own_id(entry)
        if not id or id in self._taken:
            id = str(self._number)
            while id in self._taken:  # another reference has this number as its own id
                id += "-2"
        self._taken.add(id)
        return {"id": id}


def _own_id(entry: dict[str, Any]) -> str:
    return " ".join(str(entry.get("id", "")).split())


def _batches(source: Source, encoding: str, errors: str) -> Iterator[tuple[list[int], str]]:
    """Some references at a time, and the lines that they begin in: a file may be larger than is held at once.

    A reference ends where the next one or the file does, if it has no end of its own: the library would drop it. What
    stands between references is passed over, unless it is a field, which must have lost its beginning.
    """
    label, limits = source_label(source), limits_of(source)
    lines: list[str] = []
    starts: list[int] = []
    indent, spaces, size, inside, found = "", "", 0, False, False
    for number, line in reference_lines(source, encoding, errors):
        start = _STARTS.match(line)
        if start is not None:
            lines += [_END] if inside else []
            if len(starts) >= _AT_ONCE:
                yield starts, "".join(lines)
                lines, starts = [], []
            starts.append(number)
            (indent, spaces), size, inside, found = start.groups(), 0, True, True
        line = line.removeprefix(indent)
        tag = _TAG.match(line)
        if not inside:
            if tag is not None and _ENDS.match(line) is None:
                cause = f"a field ({tag[1]}) outside of a reference: begin each with a line 'TY  - '"
                raise MalformedFileError(label, cause, number)
            continue
        if _ENDS.match(line):
            line, inside = _END, False
        elif tag is not None and tag[2] == spaces:  # which may be one less than the library knows
            line = f"{tag[1]}  -{line[tag.end() :]}"
        lines.append(line)
        size += len(line)
        limits.check_record(size, label, starts[-1], "reference")
        if number - starts[-1] >= _MOST_LINES:
            cause = f"a reference of more than {_MOST_LINES:,} lines; is a line 'ER  - ' missing? Export it again"
            raise MalformedFileError(label, cause, starts[-1])
    if starts:
        yield starts, "".join([*lines, _END] if inside else lines)
    if not found:
        raise MalformedFileError(label, "no reference: each begins with a line 'TY  - '; is this an RIS file?")


def _row(entry: dict[str, Any]) -> dict[str, str]:
    """The usual fields: databases write titles, abstracts and journals under several tags."""
    number = _PMID.fullmatch(str(entry.get("accession_number", "")).strip())
    return reference_row(
        title=_first(entry, "title", "primary_title", "short_title", "secondary_title"),
        abstract=_first(entry, "abstract", "notes_abstract"),
        authors=entry.get("authors") or entry.get("first_authors"),
        year=_first(entry, "year", "publication_year")[:4],
        journal=_first(entry, "journal_name", "secondary_title", "alternate_title3", "alternate_title1"),
        doi=_first(entry, "doi"),
        pmid=number[1] if number else "",
        keywords=entry.get("keywords"),
        url=entry.get("urls"),
    )


def _first(entry: dict[str, Any], *names: str) -> str:
    for name in names:
        value = entry.get(name)
        if value:
            return value if isinstance(value, str) else "; ".join(value)
    return ""


FORMATS.register("ris")(reference_format("ris", "RIS", (".ris",), _BEGINS, _references))

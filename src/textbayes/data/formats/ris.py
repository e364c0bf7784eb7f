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
from textbayes.data.formats._references import Row, reference_format, reference_row
from textbayes.data.streams import Source, limits_of, read_lines, source_label

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\d+\.?\s*)?TY {1,2}- ")
_ENDS = re.compile(r"ER {1,2}-")
_AT_ONCE = 500  # references
_MOST_LINES = 20_000  # of one reference: each line without a tag has the library copy all before it
_PMID = re.compile(r"(?:PMID:?\s*)?(\d{5,9})")


def _references(source: Source, encoding: str, errors: str) -> Iterator[Row]:
    try:
        import rispy  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("rispy", "screen", "reading RIS files") from None
    label = source_label(source)
    for line, text in _batches(source, encoding, errors):
        try:
            entries = rispy.loads(text, skip_unknown_tags=True)
        except (OSError, ValueError, KeyError) as error:
            cause = f"not valid RIS ({error}), here or in the references below: export it again, or correct it there"
            raise MalformedFileError(label, cause, line) from error
        for entry in entries:
            yield None, _row(entry)


def _batches(source: Source, encoding: str, errors: str) -> Iterator[tuple[int, str]]:
    """Some references at a time, whole, and the line that they begin in: a file may be larger than is held at once."""
    label, limits = source_label(source), limits_of(source)
    lines: list[str] = []
    first, size, n, begun = 1, 0, 0, 1
    for number, line in read_lines(source, encoding, errors):
        lines.append(line)
        size += len(line)
        limits.check_record(size, label, first, "reference")
        if number - begun >= _MOST_LINES:
            cause = f"a reference of more than {_MOST_LINES:,} lines; is a line 'ER  - ' missing? Export it again"
            raise MalformedFileError(label, cause, begun)
        if _ENDS.match(line):
            size, n, begun = 0, n + 1, number + 1
            if n == _AT_ONCE:
                yield first, "".join(lines)
                lines, first, n = [], number + 1, 0
    if any(not line.isspace() for line in lines):
        yield first, "".join(lines)


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

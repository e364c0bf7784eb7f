r"""Bibliographic references: RIS, PubMed's format (NBIB, MEDLINE) and EndNote's XML, as rows of the same named fields.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> file = b"TY  - JOUR\nTI  - Tea\nAB  - Leaves.\nDO  - 10.1/x\nER  - \n"
>>> document = next(FORMATS.get("ris").read(io.BytesIO(file), keep_fields=["doi"]))
>>> document.text, document.fields["doi"]
('Tea\nLeaves.', '10.1/x')
>>> next(FORMATS.get("nbib").read(io.BytesIO(b"PMID- 7\nTI  - Tea and\n      us\nAB  - Leaves.\n")))
Document(id='7', text='Tea and us\nLeaves.', labels=())
>>> file = b"<xml><records><record><titles><title><style>Tea</style></title></titles></record></records></xml>"
>>> next(FORMATS.get("endnote").read(io.BytesIO(file)))
Document(id='1', text='Tea', labels=())
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Unpack

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats._fields import ColumnOptions, FieldReader
from textbayes.data.streams import Source, limits_of, open_input, read_elements, read_lines, source_label

Row = tuple[int | None, dict[str, str]]  # the line that a reference begins in, where it is known, and its fields
FIELDS = ("title", "abstract", "authors", "year", "journal", "doi", "pmid", "keywords", "url")
_Tags = dict[str, list[list[str]]]  # the lines of each occurrence of a tag
_PMID = re.compile(r"(?:PMID:?\s*)?(\d{5,9})")
_LOOKED_AT = 500  # references among which an id is looked for

_RIS_TAG = re.compile(r"([A-Z][A-Z0-9])(?:( )-(?=\s|$)|(?:[ \t]{2,8}|\t)-)(.*)")
_RIS_KNOWN = re.compile(
    "A[1-4BDNUV]|BT|C[1-8ANPTY]|D[ABOP]|E[DPRT]|I[DS]|J[12AFO]|KW|L[1-4ABK]|M[1-3]|N[12V]|OP|P[BPY]|R[INP]|S[ENPT]|"
    "T[1-3AITY]|UR|V[LO]|Y[1-3]"
)
_RIS_PROSE = ("AB", "N1", "N2")
_RIS_VALUES = {
    "TY": re.compile(r"[A-Z]{2,}\d*"),
    "ER": re.compile(""),
    "DO": re.compile(r"(?:doi:?\s*|https?://\S+/)?10\.\d{4,}/\S+", re.IGNORECASE),
    "PY": re.compile(r"\d{4}(?:/.*)?"),
    "UR": re.compile(r"https?://\S+"),
}
_NBIB_DOI = re.compile(r"(?:doi:\s*)?(\S+)\s*\[doi\]")
_NBIB_TAG = re.compile(r"(PMID|[A-Z]{2,4}(?= *-(?:\s|$))) *- ?(.*)")


def reference_format(
    name: str, title: str, suffixes: tuple[str, ...], begins: re.Pattern[bytes], rows: Callable[..., Iterator[Row]]
) -> Format:
    """A format of references whose text is title and abstract.

    Parameters
    ----------
    name, title : str
        The name users write, and whose references these are.
    suffixes : tuple of str
    begins : pattern
        That a head of such a file matches, and of no other.
    rows : callable
        ``rows(source, encoding, errors)``: references, one after the other.
    """

    def read(
        source: Source, *, encoding: str = "utf-8", errors: str = "strict", **columns: Unpack[ColumnOptions]
    ) -> Iterator[Record]:
        """Read references; the text is title and abstract.

        Parameters
        ----------
        source : path, "-" or stream
        encoding : str
        errors : {"strict", "replace", "ignore"}
            What becomes of bytes that do not fit the encoding.
        **columns : ColumnOptions
            Which fields are text and id, and which are kept.
        """
        fields = FieldReader(source_label(source), **columns)
        for line, row in rows(source, encoding, errors):
            yield fields.record(row, line)

    def sniff(head: bytes) -> bool:
        return begins.match(head) is not None

    return Format(name, f"references, {title}", read, suffixes, sniff)


def reference_row(**given: str | Iterable[Any] | None) -> dict[str, str]:
    """The fields of a reference, all of ``FIELDS``; lists are joined by "; ", and white space is tidied.

    >>> row = reference_row(title=" Tea\\n and us", authors=["Ann", "Bo"], year="May 1999")
    >>> row["title"], row["authors"], row["year"], row["doi"]
    ('Tea and us', 'Ann; Bo', '1999', '')
    """
    row = {name: _joined(given.get(name)) for name in FIELDS}
    year = re.search(r"\d{4}", row["year"])
    return row | {"year": year[0] if year else ""}


def _joined(value: str | Iterable[Any] | None) -> str:
    parts = [value] if isinstance(value, str) else [str(part) for part in value or ()]
    return "; ".join(" ".join(part.split()) for part in parts if part.strip())


def _lines(source: Source, encoding: str, errors: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers and without their ends; a carriage return alone ends a line too."""
    n = 0
    for _, text in read_lines(source, encoding, errors):
        line = text.removesuffix("\n").removesuffix("\r")
        for part in line.split("\r"):
            n += 1
            yield n, part


def _ris(source: Source, encoding: str, errors: str) -> Iterator[Row]:
    """The references of an RIS file, with their own ids (ID) where they are given and unique, else with their numbers.

    A file gives ids to all of its documents or to none; the first references decide.
    """
    references = _ris_tags(source, encoding, errors)
    first = list(itertools.islice(references, _LOOKED_AT))
    given = any(_own_id(tags) for _, tags in first)
    taken: set[str] = set()
    for number, (line, tags) in enumerate(itertools.chain(first, references), start=1):
        row = _ris_row(tags)
        if given:
            id = _own_id(tags)
            if not id or id in taken:
                id = str(number)
                while id in taken:  # another reference has this number as its own id
                    id += "-2"
            taken.add(id)
            row = {"id": id, **row}
        yield line, row


def _ris_tags(source: Source, encoding: str, errors: str) -> Iterator[tuple[int, _Tags]]:
    """The references of an RIS file: the line that each begins in, and its tags.

    A reference ends where the next one or the file does, if it has no end of its own. What stands between references is
    passed over, unless it is a field, which must have lost its beginning.
    """
    label, limits = source_label(source), limits_of(source)
    tags: _Tags | None = None
    start, size, last, indent, one_space, found = 0, 0, "", "", False, False
    for number, whole in _lines(source, encoding, errors):
        line, bare = whole.removeprefix(indent), whole.lstrip()
        field = _RIS_TAG.match(bare if tags is None or bare.startswith("TY") else line)
        tag = field and _ris_field(field, tags is not None and last in _RIS_PROSE, one_space)
        if field and tag == "TY":
            if tags is not None:
                yield start, tags
            tags, start, size, last, found = defaultdict(list), number, 0, tag, True
            indent, one_space = whole.removesuffix(bare), field[2] is not None
        elif tags is None:
            if tag and tag != "ER":
                cause = f"a field ({tag}) outside of a reference: begin each with a line 'TY  - '"
                raise MalformedFileError(label, cause, number)
        elif field and tag == "ER":
            yield start, tags
            tags = None
        elif field and tag:
            tags[tag].append([field[3].strip()])
            last = tag
        elif line.strip():
            if last == "TY":
                cause = f"{line.strip()[:60]!r} is neither a field, as in 'TI  - ', nor the rest of one: correct it"
                raise MalformedFileError(label, cause, number)
            tags[last][-1].append(line.strip())
        size += len(line)
        limits.check_record(size, label, start, "reference")
    if tags is not None:
        yield start, tags
    if not found:
        raise MalformedFileError(label, "no reference: each begins with a line 'TY  - '; is this an RIS file?")


def _ris_field(found: re.Match[str], prose: bool, one_space: bool) -> str | None:
    """The tag of a line that opens a field; None for a line that only looks like one, and continues the field above.

    Two spaces before the hyphen, as RIS has them, always open a field. One space does

    - in a reference whose own first line has one space,
    - elsewhere where RIS knows the tag.

    Within an abstract or note, one space opens a field only where the value has the form that the tag asks for: the
    type of a reference (``TY - JOUR``), the empty end (``ER -``), a DOI, a year or an address; and any field but
    TY and ER in a reference that has one space throughout.
    """
    tag, one, value = found.groups()
    if one is None:
        return str(tag)
    if not prose or (one_space and tag not in ("TY", "ER")):
        return str(tag) if one_space or _RIS_KNOWN.fullmatch(tag) else None
    form = _RIS_VALUES.get(tag)
    return str(tag) if form is not None and form.fullmatch(value.strip()) else None


def _ris_row(tags: _Tags) -> dict[str, str]:
    """The usual fields: databases write titles, abstracts and journals under several tags."""

    def values(*names: str) -> list[str]:
        """The values of the first of some tags that has one."""
        found = ([" ".join(lines) for lines in tags.get(name, [])] for name in names)
        return next((given for given in found if any(given)), [])

    def each_line(*names: str) -> list[str]:
        return list(dict.fromkeys(line for name in names for lines in tags.get(name, []) for line in lines))

    number, notes = _PMID.fullmatch(" ".join(values("AN")).strip()), "; ".join(values("N1"))
    row = reference_row(
        title=values("TI", "T1", "CT", "BT", "TT", "ST", "T2"),
        abstract=" ".join(values("AB", "N2")),
        authors=each_line("A1", "AU"),
        year=values("PY", "Y1", "DA"),
        journal=values("JO", "T2", "JF", "J2", "JA")[:1],
        doi=values("DO")[:1],
        pmid=number[1] if number else "",
        keywords=each_line("KW"),
        url=[url for line in each_line("UR") for url in line.split(";")],
    )
    return {**row, "notes": notes} if notes else row


def _own_id(tags: _Tags) -> str:
    return " ".join(" ".join(tags.get("ID", [[]])[0]).split())


def _nbib(source: Source, encoding: str, errors: str) -> Iterator[Row]:
    """The references of a PubMed file: a tag of four characters, a hyphen, and lines that go on below it, indented."""
    label, limits = source_label(source), limits_of(source)
    tags: _Tags = defaultdict(list)
    first, size, last, blank = 0, 0, "", False
    for number, line in _lines(source, encoding, errors):
        found = _NBIB_TAG.match(line)
        if found is not None:
            last = found[1]
            if last == "PMID" or (blank and last == "TI" and "TI" in tags):  # a reference may have no PubMed number
                if tags:
                    yield first, _nbib_row(tags)
                tags, first, size = defaultdict(list), number, 0
            tags[last].append([found[2].strip()])
        elif line[:1].isspace() and line.strip() and last:
            tags[last][-1].append(line.strip())
        elif line.strip():
            cause = "neither a tag, as in 'TI  - ', nor the rest of one: give a file that PubMed exported"
            raise MalformedFileError(label, cause, number)
        blank = not line.strip()
        size += len(line)
        limits.check_record(size, label, first, "reference")
    if tags:
        yield first, _nbib_row(tags)


def _nbib_row(lines: _Tags) -> dict[str, str]:
    tags = {tag: [" ".join(value) for value in values] for tag, values in lines.items()}
    numbers = [*tags.get("LID", []), *tags.get("AID", [])]
    dois = [found[1] for number in numbers if (found := _NBIB_DOI.fullmatch(number))]
    row = reference_row(
        title=tags.get("TI") or tags.get("BTI") or tags.get("TT"),
        abstract=tags.get("AB") or tags.get("OAB"),
        authors=tags.get("FAU") or tags.get("AU"),
        year=tags.get("DP"),
        journal=tags.get("JT") or tags.get("TA"),
        doi=dois[:1],
        pmid=tags.get("PMID"),
        keywords=[*tags.get("MH", []), *tags.get("OT", [])],
    )
    return {"id": row["pmid"], **row}


def read_endnote(source: Source, **columns: Unpack[ColumnOptions]) -> Iterator[Record]:
    """Read the references of an EndNote XML file, one at a time; the text is title and abstract.

    Parameters
    ----------
    source : path, "-" or stream
    **columns : ColumnOptions
        Which fields are text and id, and which are kept.
    """
    fields = FieldReader(source_label(source), **columns)
    with open_input(source) as stream:
        for record in read_elements(stream, "record", "valid XML", "export it again"):
            yield fields.record(_endnote_row(record), record.sourceline)


def _endnote_row(record: Any) -> dict[str, str]:
    def values(*paths: str) -> list[str]:
        """The texts at the first of some paths that has one; EndNote wraps each piece of a text in a style."""
        found = (["".join(element.itertext()).strip() for element in record.iterfind(path)] for path in paths)
        return next((given for given in found if any(given)), [])

    return reference_row(
        title=values("titles/title", "titles/short-title", "titles/translated-title", "titles/secondary-title"),
        abstract=values("abstract"),
        authors=values("contributors/authors/author"),
        year=values("dates/year", "dates/pub-dates/date"),
        journal=values("periodical/full-title", "titles/secondary-title", "periodical/abbr-1"),
        doi=values("electronic-resource-num"),
        pmid=[number[1] for value in values("accession-num") if (number := _PMID.fullmatch(value))],
        keywords=values("keywords/keyword"),
        url=values("urls/related-urls/url", "urls/web-urls/url"),
    )


_RIS_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\d+\.?\s*)?TY(?: {1,2}|\t)- ")
_NBIB_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*PMID ?- ?\d")
_ENDNOTE_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<xml>\s*<records>")

FORMATS.register("ris")(reference_format("ris", "RIS", (".ris",), _RIS_BEGINS, _ris))
FORMATS.register("nbib")(reference_format("nbib", "PubMed", (".nbib", ".medline"), _NBIB_BEGINS, _nbib))
FORMATS.register("endnote")(
    Format(
        "endnote",
        "references, EndNote XML",
        read_endnote,
        (".xml",),
        lambda head: _ENDNOTE_BEGINS.match(head) is not None,
    )
)

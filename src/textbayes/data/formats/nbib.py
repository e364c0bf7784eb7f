r"""PubMed's own format (NBIB, MEDLINE): a tag of four characters, a hyphen, and lines that go on below it.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> file = b"PMID- 7\nTI  - Tea and\n      us\nAB  - Leaves.\n"
>>> next(FORMATS.get("nbib").read(io.BytesIO(file)))
Document(id='7', text='Tea and us\nLeaves.', labels=())
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS
from textbayes.data.formats._references import Row, reference_format, reference_lines, reference_row
from textbayes.data.streams import Source, limits_of, source_label

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*PMID ?- ?\d")
_TAG = re.compile(r"([A-Z]{2,4}) *- ?(.*)")
_Tags = dict[str, list[list[str]]]  # the lines of each time that a tag is there


def _references(source: Source, encoding: str, errors: str) -> Iterator[Row]:
    label, limits = source_label(source), limits_of(source)
    tags: _Tags = defaultdict(list)
    first, size, last, blank = 0, 0, "", False
    for number, line in reference_lines(source, encoding, errors):
        found = _TAG.match(line)
        if found is not None:
            last = found[1]
            if last == "PMID" or (blank and last == "TI" and "TI" in tags):  # a reference may have no PubMed number
                if tags:
                    yield first, _row(tags)
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
        yield first, _row(tags)


def _row(lines: _Tags) -> dict[str, str]:
    tags = {tag: [" ".join(value) for value in values] for tag, values in lines.items()}
    doi = next((value.split()[0] for value in [*tags.get("LID", []), *tags.get("AID", [])] if "[doi]" in value), "")
    year = re.search(r"\d{4}", " ".join(tags.get("DP", [])))
    row = reference_row(
        title=tags.get("TI") or tags.get("BTI"),
        abstract=tags.get("AB"),
        authors=tags.get("FAU") or tags.get("AU"),
        year=year[0] if year else "",
        journal=tags.get("JT") or tags.get("TA"),
        doi=doi,
        pmid=tags.get("PMID"),
        keywords=[*tags.get("MH", []), *tags.get("OT", [])],
    )
    return {"id": row["pmid"], **row}


FORMATS.register("nbib")(reference_format("nbib", "PubMed", (".nbib", ".medline"), _BEGINS, _references))

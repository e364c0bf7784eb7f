"""EndNote's XML export.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> file = b"<xml><records><record><titles><title><style>Tea</style></title></titles></record></records></xml>"
>>> next(FORMATS.get("endnote").read(io.BytesIO(file)))
Document(id='1', text='Tea', labels=())
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Unpack

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._fields import ColumnOptions, FieldReader
from textbayes.data.formats._references import reference_row
from textbayes.data.records import Record
from textbayes.data.streams import Source, open_input, source_label

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<xml>\s*<records>")


def read_endnote(source: Source, **columns: Unpack[ColumnOptions]) -> Iterator[Record]:
    """Read the references of an EndNote XML file, one at a time; the text is title and abstract.

    Parameters
    ----------
    source : path, "-" or stream
    **columns : ColumnOptions
        Which fields are text and id, and which are kept.
    """
    from lxml import etree

    label = source_label(source)
    fields = FieldReader(label, **columns)
    with open_input(source) as stream:
        found = etree.iterparse(stream, tag="record", resolve_entities=False, no_network=True, load_dtd=False)
        try:
            for _, record in found:
                yield fields.record(_row(record), record.sourceline)
                record.clear()
        except etree.XMLSyntaxError as error:
            cause = f"not valid XML ({error.msg}): export it again"
            raise MalformedFileError(label, cause, error.lineno) from error


def _row(record: Any) -> dict[str, str]:
    number = _words(record, "accession-num")
    return reference_row(
        title=_words(record, "titles/title"),
        abstract=_words(record, "abstract"),
        authors=_words(record, "contributors/authors/author"),
        year=_words(record, "dates/year"),
        journal=_words(record, "periodical/full-title") or _words(record, "titles/secondary-title"),
        doi=_words(record, "electronic-resource-num"),
        pmid=[value for value in number if re.fullmatch(r"\d{5,9}", value)],
        keywords=_words(record, "keywords/keyword"),
        url=_words(record, "urls/related-urls/url"),
    )


def _words(record: Any, path: str) -> list[str]:
    """The text of every element at a path; EndNote wraps each piece of it in a style."""
    return ["".join(element.itertext()) for element in record.iterfind(path)]


FORMATS.register("endnote")(
    Format("endnote", "references, EndNote XML", read_endnote, (".xml",), lambda head: _BEGINS.match(head) is not None)
)

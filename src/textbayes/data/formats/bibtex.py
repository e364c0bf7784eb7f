r"""BibTeX files.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> file = b"@article{a7, title={The {T}ea}, abstract={Leaves.}, year=1999}"
>>> next(FORMATS.get("bibtex").read(io.BytesIO(file)))
Document(id='a7', text='The Tea\nLeaves.', labels=())
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from textbayes.core.errors import MalformedFileError, MissingExtraError
from textbayes.data.formats import FORMATS
from textbayes.data.formats._references import Row, reference_format, reference_row
from textbayes.data.streams import Source, read_text, source_label

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*@[A-Za-z]+\s*\{[^\n]*,\s*\n")


def _references(source: Source, encoding: str, errors: str) -> Iterator[Row]:
    try:
        import bibtexparser  # type: ignore[import-untyped]
        from bibtexparser.bparser import BibTexParser  # type: ignore[import-untyped]
        from bibtexparser.customization import convert_to_unicode  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("bibtexparser", "screen", "reading BibTeX files") from None
    parser = BibTexParser(common_strings=True, ignore_nonstandard_types=False, customization=convert_to_unicode)
    text = read_text(source, encoding, errors)
    try:
        entries = bibtexparser.loads(text, parser).entries
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:  # the parser refuses little
        cause = f"{type(error).__name__}: {error}; mend the entry, or export the references as RIS"
        raise MalformedFileError(source_label(source), cause) from error
    for entry in entries:
        told = {name: value.replace("{", "").replace("}", "") for name, value in entry.items()}
        row = reference_row(
            **{name: told.get(name) for name in ("title", "abstract", "year", "doi", "pmid", "keywords", "url")},
            authors=re.split(r"\s+and\s+", told.get("author", "")),
            journal=told.get("journal") or told.get("booktitle"),
        )
        yield None, {"id": told["ID"], **row}


FORMATS.register("bibtex")(reference_format("bibtex", "BibTeX", (".bib",), _BEGINS, _references))

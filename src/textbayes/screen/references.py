"""Records of a screening as files that reference managers read: RIS, BibTeX, PubMed's format and EndNote XML.

Each is read again by ``textbayes.data``; decision, probability and words are notes, or a field of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from textbayes.core.errors import MissingExtraError
from textbayes.screen.duplicates import pubmed_number

Row = Mapping[str, Any]
_USUAL = ("title", "abstract", "year", "doi", "journal", "url", "authors", "keywords")
_LISTS = ("authors", "keywords")
_KEY = re.compile(r"""[^\s,{}#%~\\"'=()@&$]+""")  # what BibTeX takes for one


def reference_of(row: Row) -> dict[str, Any]:
    """The usual fields of a row that are not empty, whatever the case of their names; lists as lists, and ``notes``.

    Each is one line: a further one that began with a tag would be a field, or a reference, of its own.

    Parameters
    ----------
    row : mapping
        Of :func:`~textbayes.screen.status.table_rows`.
    """
    title = str(row.get("text") or "").split("\n", 1)[0]
    given = {name.lower(): " ".join(str(value).split()) for name, value in row.items() if value is not None}
    reference: dict[str, Any] = {name: given[name] for name in _USUAL if given.get(name)}
    reference |= {name: [part for part in reference[name].split("; ") if part] for name in _LISTS if name in reference}
    reference.setdefault("title", " ".join(title.split()))
    number = pubmed_number(given)
    reference |= {"pmid": number} if number else {}
    decision = given.get("textbayes_decision", given.get("decision", "not read"))
    notes = {"decision": decision, "probability": row.get("probability"), "words": row.get("words")}
    return {**reference, "notes": [" ".join(f"{name}: {value}".split()) for name, value in notes.items()]}


def ris_of(rows: Sequence[Row]) -> str:
    """References as RIS; decision, probability and words are notes (N1), and the id of a record is its ``ID``.

    Parameters
    ----------
    rows : sequence of mappings
        Of :func:`~textbayes.screen.status.table_rows`.
    """
    try:
        import rispy  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("rispy", "screen", "writing RIS files") from None

    class Writer(rispy.RisWriter):
        """Without the line "1." before a reference, which is no part of RIS."""

        def set_header(self, count: int) -> str:
            return ""

    other = {"journal": "journal_name", "pmid": "accession_number", "url": "urls"}
    entries = []
    for row in rows:
        reference = {other.get(name, name): value for name, value in reference_of(row).items()}
        reference |= {"urls": [reference["urls"]]} if "urls" in reference else {}
        id = " ".join(_id_of(row).split())
        entries.append({"type_of_reference": "JOUR", **({"id": id} if id else {}), **reference})
    return str(rispy.dumps(entries, implementation=Writer))


def bibtex_of(rows: Sequence[Row]) -> str:
    """References as BibTeX; decision, probability and words are the field ``note``, and ids are keys where they can be.

    Parameters
    ----------
    rows : sequence of mappings
        Of :func:`~textbayes.screen.status.table_rows`.
    """
    try:
        from pybtex.database import BibliographyData, Entry  # type: ignore[import-untyped]
        from pybtex.database.output.bibtex import Writer  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("pybtex", "screen", "writing BibTeX files") from None
    entries, taken = {}, set[str]()
    for k, row in enumerate(rows, start=1):
        reference = reference_of(row)
        reference = {name: _braced(value) for name, value in reference.items() if name not in (*_LISTS, "notes")} | {
            name: _braced(joint.join(reference[key]))
            for name, key, joint in (
                ("author", "authors", " and "),
                ("keywords", "keywords", "; "),
                ("note", "notes", "; "),
            )
            if reference.get(key)
        }
        entries[_key_of(row, k, taken)] = Entry("article", reference)
    return str(Writer().to_string(BibliographyData(entries)))  # by name pybtex looks through all that is installed


def nbib_of(rows: Sequence[Row]) -> str:
    """References in PubMed's format; decision, probability and words are general notes (GN).

    Parameters
    ----------
    rows : sequence of mappings
        Of :func:`~textbayes.screen.status.table_rows`.
    """
    tags = {"title": "TI", "abstract": "AB", "authors": "FAU", "year": "DP", "journal": "JT", "keywords": "OT"}
    lines = []
    for row in rows:
        reference = reference_of(row)
        lines += [f"PMID- {reference['pmid']}"] if "pmid" in reference else []
        reference |= {"doi": f"{reference['doi']} [doi]"} if "doi" in reference else {}
        for name, tag in {**tags, "doi": "AID", "notes": "GN"}.items():  # the title first: it begins a reference
            values = reference.get(name, [])
            lines += [
                f"{tag:4s}- {' '.join(value.split())}" for value in ([values] if isinstance(values, str) else values)
            ]
        lines.append("")
    return "\n".join(lines)


def endnote_of(rows: Sequence[Row]) -> str:
    """References as EndNote XML; decision, probability and words are notes.

    Parameters
    ----------
    rows : sequence of mappings
        Of :func:`~textbayes.screen.status.table_rows`.
    """
    from lxml import etree

    places = {
        "title": "titles/title", "journal": "titles/secondary-title", "authors": "contributors/authors/author",
        "year": "dates/year", "abstract": "abstract", "doi": "electronic-resource-num", "pmid": "accession-num",
        "keywords": "keywords/keyword", "url": "urls/related-urls/url", "notes": "notes",
    }  # fmt: skip
    root = etree.Element("xml")
    records = etree.SubElement(root, "records")
    for row in rows:
        record, reference = etree.SubElement(records, "record"), reference_of(row)
        etree.SubElement(record, "ref-type", name="Journal Article").text = "17"
        reference["notes"] = "; ".join(reference["notes"])
        for name, place in places.items():
            values = reference.get(name, [])
            *above, last = place.split("/")
            for value in [values] if isinstance(values, str) else values:
                parent = record
                for tag in above:
                    found = parent.find(tag)
                    parent = etree.SubElement(parent, tag) if found is None else found
                etree.SubElement(parent, last).text = _xml_text(value)
    return str(etree.tostring(root, encoding="unicode", pretty_print=True))


WRITERS = {".ris": ris_of, ".bib": bibtex_of, ".nbib": nbib_of, ".xml": endnote_of}


def _id_of(row: Row) -> str:
    return str(row.get("textbayes_id", row.get("id", "")))


def _key_of(row: Row, number: int, taken: set[str]) -> str:
    """The id of a row, or its number where BibTeX would not take that or has it already, whatever the case."""
    key = _id_of(row)
    if not _KEY.fullmatch(key) or key.lower() in taken:
        key = next(name for tries in count() if (name := f"r{number}" + "x" * tries) not in taken)
    taken.add(key.lower())
    return key


def _braced(value: str) -> str:
    """A value that stands between braces: its own are left out, where they do not match."""
    return value if value.count("{") == value.count("}") == 0 else value.replace("{", "(").replace("}", ")")


def _xml_text(value: str) -> str:
    """Without the characters that XML does not have."""
    return "".join(
        char
        for char in value
        if char in "\t\n\r" or (char >= " " and not "\ud800" <= char <= "\udfff" and char not in "\ufffe\uffff")
    )

"""Records that are there twice: found by DOI, PubMed number or title, and merged."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from textbayes.core.types import Document

_SHORTEST_TITLE = 20  # letters: shorter ones ("Editorial", "Author's reply") are no sign of the same paper
PUBMED_FIELDS = ("pmid", "pubmedid", "pubmed_id")  # names of the field of a PubMed number, in lower case
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\S+)", re.IGNORECASE)


class Merged(NamedTuple):
    """A record that was taken for another one.

    Parameters
    ----------
    id, into : str
    reason : str
        What both have in common.
    """

    id: str
    into: str
    reason: str


def merge_duplicates(records: Iterable[Document], into: Iterable[Document] = ()) -> tuple[list[Document], list[Merged]]:
    """The records, those of one paper merged into the first of them, and which they were.

    Of a field that both have, the first record's stays; of two texts the longer. Records with the same title but
    different DOIs or PubMed numbers are different papers.

    Parameters
    ----------
    records : iterable of Document
        With their ``fields``; without any only the first line of a text, the title, can tell.
    into : iterable of Document
        Records that were there before and come first; of these none is merged into another.

    Examples
    --------
    >>> twice = [Document("a", "Tea", (), {"doi": "10.1/X"}), Document("b", "Tea!", (), {"doi": "doi:10.1/x"})]
    >>> merge_duplicates(twice)[1]
    [Merged(id='b', into='a', reason='DOI 10.1/x')]
    """
    retained = list(into)
    place_of: dict[tuple[str, str], int] = {}
    merged: list[Merged] = []
    for place, record in enumerate(retained):
        for key in _keys(record):
            place_of.setdefault(key, place)
    for record in records:
        keys = dict(_keys(record))
        found = next(
            (
                (place_of[key], key)
                for key in keys.items()
                if key in place_of and not _contradict(keys, dict(_keys(retained[place_of[key]])))
            ),
            None,
        )
        if found is None:
            place = len(retained)
            retained.append(record)
        else:
            place, (kind, value) = found
            merged.append(
                Merged(record.id, retained[place].id, f"{kind} {value}" if kind != "title" else "the same title")
            )
            retained[place] = _merge(retained[place], record)
        for key in keys.items():
            place_of.setdefault(key, place)
    return retained, merged


def with_own_ids(records: Iterable[Document], taken: Iterable[str] = ()) -> Iterator[Document]:
    """The records, each with an id of its own: one that was met before is given a number.

    Parameters
    ----------
    records : iterable of Document
    taken : iterable of str
        Ids that others have.

    Examples
    --------
    >>> [record.id for record in with_own_ids([Document("7", "Tea"), Document("7", "Ore")])]
    ['7', '7-2']
    """
    seen = set(taken)
    for record in records:
        name, number = record.id, 1
        while name in seen:
            number += 1
            name = f"{record.id}-{number}"
        seen.add(name)
        yield record._replace(id=name)


def pubmed_number(fields: Mapping[str, str]) -> str:
    """The PubMed number among the fields of a record, names in lower case; empty where there is none.

    Parameters
    ----------
    fields : mapping of str to str
    """
    number = next((fields[name] for name in PUBMED_FIELDS if fields.get(name)), "")
    digits = re.search(r"\d{4,9}", number)
    return "" if digits is None else digits[0]


def doi_of(fields: Mapping[str, str]) -> str:
    """The DOI among the fields of a record, names in lower case; empty where there is none.

    Parameters
    ----------
    fields : mapping of str to str

    Examples
    --------
    >>> doi_of({"doi": "https://doi.org/10.1/X."})
    '10.1/X'
    """
    found = _DOI.search(fields.get("doi", ""))
    return "" if found is None else found[1].rstrip(".,;")


def _keys(record: Document) -> Iterator[tuple[str, str]]:
    fields = {name.lower(): value for name, value in record.fields.items()}
    doi = doi_of(fields)
    if doi:
        yield "DOI", doi.lower()
    number = pubmed_number(fields)
    if number:
        yield "PMID", number
    title = _letters(fields.get("title") or record.text.split("\n", 1)[0])
    if len(title) >= _SHORTEST_TITLE:
        yield "title", title


def _letters(title: str) -> str:
    """Letters and digits alone, without accents, in lower case."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    return "".join(char for char in plain if char.isalnum())


def _contradict(one: dict[str, str], other: dict[str, str]) -> bool:
    return any(one[kind] != other[kind] for kind in ("DOI", "PMID") if kind in one and kind in other)


def _merge(first: Document, second: Document) -> Document:
    fields = {**second.fields, **{name: value for name, value in first.fields.items() if value}}
    text = max(first.text, second.text, key=len)
    return first._replace(text=text, fields={name: fields.get(name, "") for name in {**first.fields, **second.fields}})

"""SKOS vocabularies in RDF/XML: names, descriptions and a hierarchy of labels.

>>> import io
>>> file = io.BytesIO(b'''<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
...   xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="#tea">
...   <skos:prefLabel xml:lang="en">tea</skos:prefLabel><skos:altLabel xml:lang="en">chai</skos:altLabel>
...   <skos:definition xml:lang="en">A drink of leaves.</skos:definition></skos:Concept></rdf:RDF>''')
>>> described(read_concepts(file))
{'tea': 'chai. A drink of leaves.'}
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textbayes.core.errors import MalformedFileError
from textbayes.data.streams import Input, Source, open_input, peek_head, read_elements, source_label

NAMESPACE = "http://www.w3.org/2004/02/skos/core#"
_SKOS = f"{{{NAMESPACE}}}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_SUBJECTS = (f"{_SKOS}Concept", f"{_RDF}Description")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TURTLE = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*(?:@prefix|@base|prefix|base)\s", re.IGNORECASE)
_MOST_CONCEPTS = 500_000  # the largest thesauri have some 200,000
_TOLD = ("prefLabel", "altLabel", "definition", "scopeNote")


@dataclass
class _Found:
    """What statements say of a concept: (language, text) by property, and the addresses of broader concepts."""

    told: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    broader: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Concept:
    """A concept of a vocabulary, in one language: its address, name, other names, definition, and broader names."""

    address: str
    name: str
    others: tuple[str, ...] = ()
    definition: str = ""
    broader: tuple[str, ...] = ()


def is_vocabulary(source: Source) -> bool:
    """Whether a file begins like a SKOS vocabulary, in RDF/XML or in Turtle, which is refused when read."""
    with open_input(source) as stream:
        head = peek_head(stream)
    return NAMESPACE.encode() in head or (_TURTLE.match(head) is not None and b"skos" in head)


def read_concepts(source: Source, language: str = "en") -> list[Concept]:
    """Read the concepts of a SKOS vocabulary that have a name, in their order in the file.

    Parameters
    ----------
    source : path, "-" or stream
        RDF/XML; Turtle is refused, as are files that declare entities.
    language : str
        Names and definitions are those in this language; where there is none, those without a language, or else the
        first.
    """
    label = source_label(source)
    with open_input(source) as stream:
        head = peek_head(stream)
        if _TURTLE.match(head) or not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            cause = "this is not RDF/XML: vocabularies in Turtle, N-Triples or JSON-LD are not read; save it as RDF/XML"
            raise MalformedFileError(label, cause)
        found = _read(stream)
    names = {address: _chosen(one.told.get("prefLabel", ()), language) for address, one in found.items()}
    concepts = []
    for address, one in found.items():
        if names[address]:
            broader = dict.fromkeys(names[other][0] for other in one.broader if names.get(other))
            others = _chosen(one.told.get("altLabel", ()), language)
            definition = _chosen([*one.told.get("definition", ()), *one.told.get("scopeNote", ())], language)
            concepts.append(
                Concept(address, names[address][0], tuple(others), " ".join(definition), tuple(sorted(broader)))
            )
    if not concepts:
        raise MalformedFileError(label, "no concept here has a skos:prefLabel; give a SKOS vocabulary in RDF/XML")
    return concepts


def described(concepts: Iterable[Concept]) -> dict[str, str]:
    """Descriptions by name, as ``LabellingSession`` and ``from_descriptions`` take them: other names and definition.

    Concepts of one name are described together.
    """
    found: dict[str, list[str]] = {}
    for one in concepts:
        parts = [", ".join(one.others), one.definition]
        found.setdefault(one.name, []).extend(part for part in parts if part)
    return {name: ". ".join(parts) for name, parts in found.items()}


def read_parents(path: str | Path, language: str = "en") -> dict[str, tuple[str, ...]]:
    """Parents of labels, as ``LabelTree`` takes them: of a SKOS vocabulary, or a table with columns child and parent.

    Parameters
    ----------
    path : path
    language : str
        Of the names of a vocabulary.
    """
    if is_vocabulary(path):
        pairs = [(one.name, one.broader) for one in read_concepts(path, language)]
    else:
        from textbayes.data.documents import open_documents

        table = open_documents(path, text_field="child", label_field="parent", duplicates="keep")
        pairs = [(row.text.strip(), row.labels) for row in table]
    found: dict[str, list[str]] = {}
    for child, parents in pairs:
        found.setdefault(child, []).extend(parents)
    return {child: tuple(dict.fromkeys(parents)) for child, parents in found.items() if parents}


def _read(stream: Input) -> dict[str, _Found]:
    """Statements by the address of their concept."""
    from lxml import etree  # only when used

    found: dict[str, _Found] = {}
    for outer in read_elements(stream, _SUBJECTS, "valid XML", "save it again"):
        declared = outer.getroottree().docinfo.internalDTD
        if declared is not None and any(True for _ in declared.iterentities()):
            cause = "it declares entities, which are not read: save it as RDF/XML without a DOCTYPE"
            raise MalformedFileError(stream.label, cause)
        for _, element in etree.iterwalk(outer, events=("end",), tag=_SUBJECTS):
            _add(element, found)
            if len(found) > _MOST_CONCEPTS:
                raise MalformedFileError(stream.label, f"it has more than {_MOST_CONCEPTS:,} concepts: give a part")
    return found


def _add(element: Any, found: dict[str, _Found]) -> None:
    address = _address(element)
    if address is None:
        return
    one = found.setdefault(address, _Found())
    for child in element:
        if not isinstance(child.tag, str) or not child.tag.startswith(_SKOS):
            continue
        name = child.tag.removeprefix(_SKOS)
        if name in _TOLD and next(child.iter(_SUBJECTS), None) is None:  # else each would tell all within it again
            text = " ".join("".join(child.itertext()).split())
            if text:
                one.told.setdefault(name, []).append((_language(child), text))
        elif name in ("broader", "narrower"):
            inside = next((part for part in child if isinstance(part.tag, str)), None)
            other = child.get(f"{_RDF}resource") or (None if inside is None else _address(inside))
            if other is not None and name == "broader":
                one.broader.append(other)
            elif other is not None:
                found.setdefault(other, _Found()).broader.append(address)


def _address(element: Any) -> str | None:
    given = element.get(f"{_RDF}about") or element.get(f"{_RDF}nodeID")
    own = element.get(f"{_RDF}ID")
    return given or (None if own is None else f"#{own}")


def _language(element: Any) -> str:
    while element is not None:
        if (given := element.get(_LANGUAGE)) is not None:
            return str(given).lower()
        element = element.getparent()
    return ""


def _chosen(told: Iterable[tuple[str, str]], language: str) -> list[str]:
    """Texts in a language; else those without one, else those in the language of the first."""
    told, wanted = list(told), language.lower()
    kinds = [wanted, "", *(spoken for spoken, _ in told[:1])]
    for kind in kinds:
        found = [text for spoken, text in told if spoken == kind or (kind and spoken.startswith(f"{kind}-"))]
        if found:
            return list(dict.fromkeys(found))
    return []

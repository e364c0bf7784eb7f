"""CNXML, the markup of OpenStax's books: the plain text of a module, and the modules of a book."""

from __future__ import annotations

from typing import Any, NamedTuple

from textbayes.core.errors import MalformedFileError

_DROPPED = {"math", "media", "metadata", "solution", "table"}
_ON_LINES_OF_THEIR_OWN = {
    *("caption", "commentary", "definition", "equation", "example", "exercise", "figure", "footnote", "item", "list"),
    *("meaning", "newline", "note", "para", "problem", "quote", "section", "subfigure", "title"),
}


class Module(NamedTuple):
    """A module of a book: a section or chapter, with its title and plain text."""

    title: str
    text: str


def read_cnxml(data: bytes, name: str) -> Module:
    """Read a module's title and its text, a line a paragraph, without mathematics, tables, solutions and images.

    Parameters
    ----------
    data : bytes
    name : str
        What to call it in a refusal.

    >>> read_cnxml(b"<document><title>Tea</title><content><para>One <term>pot</term>.</para></content></document>", "")
    Module(title='Tea', text='One pot.')
    """
    root = _parse(data, name)
    pieces: list[str] = []
    for content in root.iterfind("{*}content"):
        _collect(content, pieces)
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return Module(" ".join(root.findtext("{*}title", "").split()), "\n".join(line for line in lines if line))


def read_collection(data: bytes, name: str) -> list[str]:
    """Names of the modules of a collection, in the order of the book."""
    return [module.get("document") for module in _parse(data, name).iterfind(".//{*}module")]


def _parse(data: bytes, name: str) -> Any:
    from lxml import etree

    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))
    except etree.XMLSyntaxError as error:
        raise MalformedFileError(name, f"not valid XML ({error.msg}): delete it and download it again") from error


def _collect(element: Any, pieces: list[str]) -> None:
    tag = str(element.tag).rpartition("}")[2]
    if tag in _DROPPED:
        return
    edge = "\n" if tag in _ON_LINES_OF_THEIR_OWN else ""
    pieces += [edge, element.text or ""]
    for child in element:
        _collect(child, pieces)
        pieces.append(child.tail or "")
    pieces.append(edge)

"""The text of an HTML document without its tags, in time linear in its length.

libxml2 (through lxml) reports tags and texts as it meets them and no tree is built. Trees of hostile HTML take
quadratic time and memory by the rules of HTML5 itself, and the standard library's parser takes quadratic time over
unfinished tags.
"""

from __future__ import annotations

import re
from typing import Any

_SILENT = ("script", "style", "iframe")
_FALLBACK = ("noscript", "noframes", "noembed")  # what mail readers show; the parser, like a browser, takes it for text
_SPACE = re.compile(r"[ \t\r\f\v]*\n\s*|[ \t\r\f\v]+")
_PIECE = 1 << 14  # characters given to the parser at a time
_DEEPEST = 1_000  # open tags; browsers stop at 512


def html_text(source: str) -> str:
    """The words of an HTML document; scripts and styles are left out, a tag separates words.

    >>> html_text("<p>Tea &amp; <b>caf&eacute;</b><script>x()</script>")
    'Tea & café'
    """
    text, fallback = _parsed(source)
    if fallback:
        text = f"{text} {_parsed(fallback)[0]}"
    return _SPACE.sub(lambda space: "\n" if "\n" in space[0] else " ", text).strip()


def _parsed(source: str) -> tuple[str, str]:
    """The text of a document, and the HTML in its elements for readers that run no scripts."""
    target = _Text()
    parser = _parser(target)
    start = 0
    while start < len(source):
        end = start + _PIECE
        if end < len(source):
            end = max(source.rfind("<", start + 1, end), 0) or end
        parser.feed(source[start:end].encode("utf-8", "replace").replace(b"\0", b" "))
        start = end
        if target.depth > _DEEPEST and start < len(source):
            # Every end tag is looked for among all that are open: begin anew, at a tag.
            parser.close()
            target.depth = 0
            parser = _parser(target)
    if source:
        parser.close()
    return "".join(target.parts), "".join(target.fallback)


def _parser(target: _Text) -> Any:
    from lxml import etree  # when needed: most mail is plain text

    return etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)


class _Text:
    """Collects the text between tags, in the form that lxml calls a target."""

    def __init__(self) -> None:
        self.depth = 0
        self.parts: list[str] = []
        self.fallback: list[str] = []
        self._inside = ""

    def start(self, tag: str, attributes: object) -> None:
        self.depth += 1
        self._inside = tag
        self.parts.append(" ")

    def end(self, tag: str) -> None:
        self.depth -= 1
        self._inside = ""
        self.parts.append(" ")

    def data(self, data: str) -> None:
        if self._inside in _FALLBACK:
            self.fallback.append(data)
        elif self._inside not in _SILENT:
            self.parts.append(data)

    def comment(self, text: str) -> None:
        self.parts.append(" ")

    def close(self) -> None:
        pass

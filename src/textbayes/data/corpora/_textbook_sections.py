"""Sections of the two open textbooks that go with the OpenStax corpus: geology in R Markdown, electronics in HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from textbayes.data.formats._cnxml import Module
from textbayes.data.formats._html import html_text

_MARKDOWN_SECTION = re.compile(r"^(?=##? )", re.MULTILINE)
_HTML_SECTION = re.compile(r"(?=<h[12][ >])", re.IGNORECASE)
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_UNREAD = re.compile(r"<!--.*?-->|<pre[ >].*?</pre>", re.DOTALL | re.IGNORECASE)  # listings of circuits, mostly numbers
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\\@ref\([^)]*\)|</?div[^>]*>|^#+|\{[^}]*\}|\*+|_", re.MULTILINE)


def markdown_sections(source: str) -> Iterator[Module]:
    """Sections of a chapter in R Markdown under headings of the first and second level, without code and figures.

    >>> [section.title for section in markdown_sections("# Rocks\\n\\nHard.\\n\\n## Lava {-}\\n\\n_Hot_.\\n")]
    ['Rocks', 'Lava']
    """
    for section in _MARKDOWN_SECTION.split(_FENCED.sub("", source))[1:]:
        yield _section(_MARKS.sub("", _LINK.sub(r"\1", section)))


def html_sections(source: str) -> Iterator[Module]:
    """Sections of a chapter in HTML under headings of the first and second level, without preformatted listings.

    >>> [section.text for section in html_sections("<h1>AC</h1><p>Current.<h2>Power</h2>In <b>watts</b><pre>1 2</pre>")]
    ['AC\\nCurrent.', 'Power\\nIn watts']
    """
    for section in _HTML_SECTION.split(_UNREAD.sub("", source))[1:]:
        heading, closing, rest = section.partition("</h")
        yield _section(f"{html_text(heading)}\n{closing}{rest}")


def _section(source: str) -> Module:
    lines = [" ".join(line.split()) for line in html_text(source).split("\n")]
    return Module(lines[0], "\n".join(line for line in lines if line))

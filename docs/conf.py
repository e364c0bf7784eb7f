"""Sphinx configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from textbayes import __version__

project = "textbayes"
author = "The textbayes developers"
copyright = "2026, The textbayes developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Bayesian text categorisation", "page_width": "75rem"}
html_show_sourcelink = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what parameters are
myst_heading_anchors = 3
autosummary_generate = False  # numpydoc loads autosummary; the pages list the names
numpydoc_show_class_members = False


def setup(app: Any) -> None:
    """Hooks of the reference; the docstring's comes before numpydoc's, at 500."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", escape_bars, priority=400)


def skip_member(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what others generate: scikit-learn's metadata requests, fields of named tuples without a text."""
    text = str(getattr(member, "__doc__", None) or "")
    return True if re.fullmatch(r"set_\w+_request", name) or text.startswith("Alias for field number") else None


def escape_bars(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """|w| in a docstring is an absolute value, not a substitution."""
    lines[:] = list(_escaped(lines))


def _escaped(lines: list[str]) -> Iterator[str]:
    example = False  # from >>> to the next blank line
    literal: int | None = None  # indentation of a line that ended in ::, until a line is indented no further
    for line in lines:
        indent = len(line) - len(line.lstrip())
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if example or literal is not None:
            yield line
        else:
            pieces = re.split(r"(``.*?``)", line)
            yield "".join(piece if piece.startswith("``") else re.sub(r"(?<!\\)\|", r"\|", piece) for piece in pieces)
        if line.rstrip().endswith("::"):
            literal = indent

"""Sphinx configuration; pyproject.toml (extra docs) says why this theme."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textbayes import __version__

sys.path.insert(0, str(Path(__file__).parent))  # for _mathml

project = "textbayes"
author = "The textbayes developers"
copyright = "2026, The textbayes developers"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "_mathml",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "textbayes"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "textbayes"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": []}
copybutton_exclude = ".linenos, .gp, .go"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what parameters are
myst_heading_anchors = 3
autosummary_generate = False  # the reference lists the names
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

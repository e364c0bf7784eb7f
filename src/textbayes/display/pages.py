"""HTML pages that need no other file, no network and no script; shared by reports and reproductions."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textbayes.core.errors import MissingExtraError

_PACKAGES = ("jinja2", "matplotlib")
_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF]
# What cannot be seen is named: a label must not look like another, nor turn round the text after it.
_VISIBLE = {code: f"[U+{code:04X}]" for code in (*_CONTROLS, *map(ord, _BIDI)) if chr(code) not in "\t\n\r"}
_VISIBLE |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # halves of a character, which have no bytes in UTF-8


def check_pages_extra(purpose: str) -> None:
    """Refuse at once, rather than after minutes of work, if the packages that pages and drawings need are missing."""
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package, "demo", purpose)


def visible(text: str) -> str:
    """The text with characters named that act without being seen.

    >>> visible("corn\\x1b[31m \\u202etxt.exe")
    'corn[U+001B][31m [U+202E]txt.exe'
    """
    return text.translate(_VISIBLE)


def render_page(
    template: Path, style: Path, filters: Mapping[str, Callable[..., str]] | None = None, **content: Any
) -> str:
    """Fill a template of this package; all text of the content is escaped, the style is a file of this package.

    Control characters and those that turn the direction of writing round are shown by name, whoever wrote them.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= dict(filters or {})
    page = environment.get_template(template.name)
    return page.render(style=Markup(style.read_text(encoding="utf-8")), **content)

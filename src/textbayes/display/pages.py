"""HTML pages that need no other file, no network and no script; shared by reports and reproductions."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textbayes.core.errors import MissingExtraError
from textbayes.display.escapes import visible

_PACKAGES = ("jinja2", "matplotlib")


def check_pages_extra(purpose: str) -> None:
    """Refuse at once, rather than after minutes of work, if the packages that pages and drawings need are missing."""
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package, "demo", purpose)


def render_page(
    template: Path, style: Path, filters: Mapping[str, Callable[..., str]] | None = None, **content: Any
) -> str:
    """Fill a template of this package; all text of the content is escaped, the style is a file of this package.

    Control characters and those that turn the direction of writing round are shown as escapes, whoever wrote them.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        finalize=lambda value: visible(value, unseen=True) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= dict(filters or {})
    page = environment.get_template(template.name)
    return page.render(style=Markup(style.read_text(encoding="utf-8")), **content)

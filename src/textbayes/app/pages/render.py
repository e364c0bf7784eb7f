"""From templates to pages: everything is escaped, and characters that act unseen are named."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from textbayes.app.access import Access
from textbayes.app.accounts import Visitor
from textbayes.app.stages import topic_of
from textbayes.core.errors import plural
from textbayes.display import visible
from textbayes.evaluate.intervals import Share
from textbayes.report.render import percent, signed

_TEMPLATES = Path(__file__).with_name("templates")


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=lambda value: visible(value, unseen=True) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": percent,
        "signed": signed,
        "day": day,
        "duration": duration,
        "count": plural,
        "sentence": sentence,
        "hits": hits,
        "topic_of": topic_of,
        "said": said,
    }
    return environment


def page(
    request: Request, template: str, who: Visitor | Access | None = None, http_status: int = 200, **content: Any
) -> HTMLResponse:
    """A page.

    Parameters
    ----------
    request : Request
    template : str
        A file in ``templates``.
    who : Visitor or Access, optional
        Who looks at it; of an access, the project is named at the top.
    http_status : int
    **content
        What the template shows.
    """
    access = who if isinstance(who, Access) else None
    shared = {
        "user": None if who is None else who.user,
        "csrf": "" if who is None else who.csrf or "",
        "access": access,
        "team": request.app.state.settings.team,
        "topic": content.pop("topic", None),
        "here": request.url.path,
    }
    return HTMLResponse(_environment().get_template(template).render(**shared, **content), http_status)


def error_page(request: Request, status: int, problem: str) -> HTMLResponse:
    """A page that says what is wrong."""
    return page(request, "error.html.jinja", http_status=status, problem=problem)


def sentence(text: str) -> str:
    """What is wrong as a sentence: a capital, unless it begins with a name, and a full stop.

    >>> sentence("the file is empty"), sentence("refs.ris is empty"), sentence("")
    ('The file is empty.', 'refs.ris is empty.', '.')
    """
    name = "." in text.split(" ", 1)[0]
    return f"{text if name else text[:1].upper() + text[1:]}."


_IN_WORDS = {
    "irrelevant": "not relevant",
    "unread": "without an answer",
    "conflict": "in conflict",
    "aside": "skipped",
    "noted": "with a note",
}


def said(answer: str) -> str:
    """An answer, or a name of a list of records, as buttons call it.

    >>> said("irrelevant"), said("relevant")
    ('not relevant', 'relevant')
    """
    return _IN_WORDS.get(answer, answer)


def hits(text: str, find: str) -> Markup:
    """A text with every place marked that has what was looked for, in any letter case.

    >>> str(hits("Tea & green tea", "tea"))
    '<mark class="hit">Tea</mark> &amp; green <mark class="hit">tea</mark>'
    """
    shown = visible(text, unseen=True)
    parts = re.split(f"({re.escape(find.strip())})", shown, flags=re.IGNORECASE) if find.strip() else [shown]
    marked = [Markup('<mark class="hit">{}</mark>').format(part) if k % 2 else escape(part)
              for k, part in enumerate(parts)]  # fmt: skip
    return Markup("").join(marked)


def share_in_words(share: Share | None) -> str:
    """An accuracy with its interval; empty where there are too few answers yet.

    >>> share_in_words(Share(0.8333, 0.7, 0.915)), share_in_words(None)
    ('83% (95% interval 70% to 92%)', '')
    """
    if share is None:
        return ""
    value, low, high = (f"{100.0 * part:.0f}%" for part in share[:3])
    return f"{value} (95% interval {low} to {high})"


def day(seconds: float) -> str:
    """A day, as 2026-11-16.

    >>> day(0.0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def duration(hours: float | None) -> str:
    """How long something takes, roughly.

    >>> duration(0.5), duration(3.2), duration(None)
    ('30 min', '3.2 h', '–')
    """
    if hours is None:
        return "–"
    return f"{60.0 * hours:.0f} min" if hours < 1.0 else f"{hours:.1f} h"

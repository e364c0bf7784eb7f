"""News feeds: RSS and Atom; the text of an entry is its title and what it says, without HTML.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> file = b"<rss><channel><item><title>Tea</title><guid>7</guid><category>Drink</category></item></channel></rss>"
>>> next(FORMATS.get("feed").read(io.BytesIO(file)))
Document(id='7', text='Tea', labels=('Drink',))
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any, Unpack

from textbayes.data.decoding import html_text
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats._fields import ColumnOptions, FieldReader
from textbayes.data.streams import Source, open_input, read_elements, source_label

_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:(?:<!--.*?-->|<\?[^>]*>)\s*)*<(?:rss|feed|(?:\w+:)?RDF)\b", re.DOTALL
)
_ENTRIES = ("{*}item", "{*}entry")


def read_feed(source: Source, **columns: Unpack[ColumnOptions]) -> Iterator[Record]:
    """Read the entries of an RSS or Atom feed, one at a time; the text is title and body, the labels are categories.

    An entry's id is the feed's own, its address where it has none, and a hash of its text where it has neither, so that
    an entry has the same id whenever the feed is read.

    Parameters
    ----------
    source : path, "-" or stream
    **columns : ColumnOptions
        Which fields are text, labels and id, and which are kept: ``title``, ``body``, ``categories``, ``id``, ``url``,
        ``date``, ``author``.
    """
    fields = FieldReader(source_label(source), **columns)
    with open_input(source) as stream:
        for entry in read_elements(stream, _ENTRIES, "a valid feed", "fetch it again"):
            yield fields.record(_row(entry), entry.sourceline)


def _row(entry: Any) -> dict[str, Any]:
    def first(*names: str) -> str:
        """The text of the first of some elements that has one."""
        texts = ("".join(found.itertext()).strip() for name in names for found in entry.iterfind(f"{{*}}{name}"))
        return next(filter(None, texts), "")

    title = html_text(first("title"))
    # Content is the whole of an entry, a description or summary its beginning; both may be HTML, written as text.
    body = html_text(first("encoded", "content", "description", "summary"))
    links = [link.get("href") for link in entry.iterfind("{*}link") if link.get("rel", "alternate") == "alternate"]
    url = first("link") or next(filter(None, links), "")
    names = (category.get("term") or category.text or "" for category in entry.iterfind("{*}category"))
    categories = [name.strip() for name in names if name.strip()]
    return {
        "title": title,
        "body": body,
        "categories": categories or None,
        "id": first("guid", "id") or url or hashlib.sha256(f"{title}\n{body}".encode()).hexdigest()[:16],
        "url": url,
        "date": first("pubDate", "updated", "published", "date"),
        "author": first("creator", "author"),
    }


FORMATS.register("feed")(
    Format(
        "feed",
        "news feed, RSS or Atom",
        read_feed,
        (".rss", ".atom", ".rdf"),
        lambda head: _BEGINS.match(head) is not None,
    )
)

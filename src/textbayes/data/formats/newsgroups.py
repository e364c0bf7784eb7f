"""20 Newsgroups: posts in a folder (or tar) per group, with headers, signatures and quotations taken off on request.

>>> strip_headers("From: a@b\\nSubject: Re: x\\n\\nHello.")
'Hello.'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from textbayes.core.validation import check_choice
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats.folder import read_folder
from textbayes.data.records import Record
from textbayes.data.streams import Source

_QUOTATION = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


def read_newsgroups(
    source: Source, *, remove: Collection[str] = (), encoding: str = "latin-1", errors: str = "strict"
) -> Iterator[Record]:
    """Read posts; ``remove`` names any of ``headers``, ``footers`` and ``quotes``, with the results of scikit-learn.

    ``record.fields["split"]`` is ``train`` or ``test`` where a folder of the path ends so.
    """
    for part in remove:
        check_choice("remove", part, tuple(_REMOVERS))
    for record in read_folder(source, encoding=encoding, errors=errors):
        text = record.text
        for part, strip in _REMOVERS.items():
            if part in remove:
                text = strip(text)
        *above, group, number = record.fields["path"].split("/")
        split = next((name for name in ("train", "test") if any(part.endswith(name) for part in above)), None)
        identity = f"{group}/{number}" if split else record.id
        yield record._replace(text=text, id=identity, fields={**record.fields, "split": split})


def strip_headers(text: str) -> str:
    """Remove the headers: the text after the first blank line."""
    return text.partition("\n\n")[2]


def strip_footer(text: str) -> str:
    """The text before the last line that is blank or made of hyphens; a text without one stays whole."""
    lines = text.strip().split("\n")
    last = next((i for i in range(len(lines) - 1, -1, -1) if not lines[i].strip().strip("-")), 0)
    return "\n".join(lines[:last]) if last > 0 else text


def strip_quotes(text: str) -> str:
    """Remove lines that quote (``>``, ``|``) or introduce a quotation (``… writes:``)."""
    return "\n".join(line for line in text.split("\n") if not _QUOTATION.search(line))


# In scikit-learn's order, which matters: the header's end is a blank line like the signature's start.
_REMOVERS: dict[str, Callable[[str], str]] = {
    "headers": strip_headers,
    "footers": strip_footer,
    "quotes": strip_quotes,
}

FORMATS.register("newsgroups")(
    Format("newsgroups", "20 Newsgroups posts in folders or a tar", read_newsgroups, takes_folders=True)
)

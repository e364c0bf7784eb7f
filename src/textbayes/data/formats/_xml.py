"""Elements of an XML file, one at a time and within bounds, without the entities and files that it names.

>>> import io
>>> from textbayes.data.streams import open_input
>>> with open_input(io.BytesIO(b"<list><item>Tea</item><item>Milk</item></list>")) as stream:
...     [item.text for item in read_elements(stream, "item", "a valid list", "fetch it again")]
['Tea', 'Milk']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from textbayes.core.errors import MalformedFileError
from textbayes.data.streams import DAMAGE, Input, damaged

_PIECE = 1 << 15  # bytes given to the parser at a time


def read_elements(stream: Input, tags: str | Sequence[str], wanted: str, remedy: str) -> Iterator[Any]:
    """The outermost elements with one of some tags, each complete; what was read is thrown away, wherever it stood.

    An element, and what stands between two, has no more bytes than a document may have: else elements that nobody asked
    for would fill the memory.

    Parameters
    ----------
    stream : Input
    tags : str or sequence of str
        As lxml writes them.
    wanted, remedy : str
        What the file is to be, and what to do where it is not, in messages.
    """
    from lxml import etree  # only when used

    parser = etree.XMLPullParser(
        events=("start", "end"), tag=tags, resolve_entities=False, no_network=True, load_dtd=False
    )
    label, limits, events = stream.label, stream.limits, parser.read_events()
    inside, line, size = 0, None, 0
    try:
        while piece := stream.read1(_PIECE):
            size += len(piece)
            parser.feed(piece)
            for event, element in events:
                inside += 1 if event == "start" else -1
                line = element.sourceline
                if inside == 0:
                    limits.check_record(sum(map(len, element.itertext())), label, line, "element")
                    yield element
                    _throw_away(element)
                    size = 0
            limits.check_record(size, label, line, "element")
        parser.close()
    except etree.XMLSyntaxError as error:
        raise MalformedFileError(label, f"not {wanted} ({error.msg}): {remedy}", error.lineno) from error
    except DAMAGE as error:
        raise damaged(label, error, line) from error


def _throw_away(element: Any) -> None:
    """Free an element and all that stands before it in the file."""
    element.clear()
    for one in (element, *element.iterancestors()):
        parent = one.getparent()
        while parent is not None and one.getprevious() is not None:
            del parent[0]

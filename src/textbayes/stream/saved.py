"""The fields of what a snapshot of a filter says, one line for each; what does not belong together is refused.

Arrays are checked where they are read, see ``stream.state``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textbayes.core.codec import Described, Field, Flag, List, Named, Null, Number, Record, Row, Text, Whole, read
from textbayes.core.errors import ModelFileError
from textbayes.text.analyze import READING

_COUNT = Whole(0)
_COUNTS = Named(_COUNT, unicode=False)
_ANY = Text(unicode=False)  # names that came from elsewhere
_SETTINGS: dict[str, Field] = {  # ``FilterSettings``, which checks their ranges
    **dict.fromkeys(("threshold", "forgetting_factor", "word_threshold"), Number()),
    **dict.fromkeys(("ask", "explore", "rehearsal", "covariance", "kernel", "link", "gain"), Text()),
    **dict.fromkeys(("keep", "weighting"), Text()),
    **dict.fromkeys(("budget", "norm"), Text() | Null()),
    **dict.fromkeys(("patience", "least_words", "snippet"), _COUNT),
    **dict.fromkeys(("rehearse", "deferred", "skip_seen"), Flag()),
    **dict.fromkeys(("start_words", "most_words", "passes", "basis"), Whole(1)),
    "variance": Number(above=0.0),
    "noise": Number(0.0),
    "random_state": Whole(0, 2**64 - 1),
    "text": Record({**READING, "stop_words": List(_ANY)}),
}
_TOPIC: dict[str, Field] = {  # beside its arrays
    "name": _ANY,
    "n_relevant": _COUNT,
    "n_later": Whole(),  # of one that was started from a model it may take training texts back
    "turn": _COUNT,
    "delivered": _COUNT,
    "posterior": Described(),
}
_FILTER: dict[str, Field] = {
    "settings": Record(_SETTINGS),
    "n_docs": Whole(1),
    "n_seen": _COUNT,
    "spent": List(_COUNT, 2, 2),
    "patience": Record({"since": List(_COUNT), "best": List(Number(0.0, 1.0))}),
    "ids": _COUNTS,
    "judgements": List(Row(_COUNT, _COUNT, Flag())),  # a document, a topic, and yes or no
    "topics": List(Record(_TOPIC), 1),
}
_SNAPSHOT: dict[str, Field] = {  # the filter, and how far inputs, judgements and the log have been read
    **dict.fromkeys(("format", "textbayes", "input"), _ANY),
    "format_version": Whole(),
    "filter": Record(_FILTER),
    "inputs": _COUNTS,
    "place": _COUNT,
    "sources": _COUNTS,
    "log": List(_COUNT, 3, 3),
}


def check_state(meta: Mapping[str, Any]) -> None:
    """Refuse a snapshot that says what no filter would, before anything is made of it."""
    filter = read(_SNAPSHOT, meta, {}, "the snapshot")["filter"]
    topics, numbers = filter["topics"], set(filter["ids"].values())
    names = [topic["name"] for topic in topics]
    if len(set(names)) < len(names):
        raise ModelFileError("two topics have one name; was the file altered?")
    if len(numbers) < len(filter["ids"]):
        raise ModelFileError("two documents have one number; was the file altered?")
    for number, k, _ in filter["judgements"]:
        if number not in numbers or k >= len(names):
            raise ModelFileError("a judgement is of a document or a topic that is not there; was the file altered?")
    if len({(number, k) for number, k, _ in filter["judgements"]}) < len(filter["judgements"]):
        raise ModelFileError("a document is judged twice for one topic; was the file altered?")
    if not len(filter["patience"]["since"]) == len(filter["patience"]["best"]) == len(names):
        raise ModelFileError("how long topics have waited does not fit the topics; was the file altered?")
    for topic in topics:
        n_judged = filter["n_docs"] + topic["n_later"]
        if n_judged < 0 or topic["n_relevant"] > n_judged:
            raise ModelFileError(f"topic {topic['name']!r} has counts that cannot be; was the file altered?")

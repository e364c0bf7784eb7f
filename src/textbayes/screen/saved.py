"""What files of a screening may say: fields, one line for each, and ranges of arrays, all checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.codec import (
    Choice,
    Described,
    Field,
    Flag,
    List,
    Named,
    Null,
    Number,
    Record,
    Row,
    Text,
    Whole,
    read,
)
from textbayes.core.errors import ModelFileError
from textbayes.core.saved_arrays import saved_array
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray
from textbayes.screen import solver

_ANSWERS = (-1, 2)  # the least and the greatest code of an answer
_ANY = Text(unicode=False)  # names that came from elsewhere
_MARK: dict[str, Field] = {  # what every file says of itself; a state in memory says nothing
    **dict.fromkeys(("format", "textbayes"), _ANY | Null()),
    "format_version": Whole() | Null(),
}
_OF_ROOM: dict[str, Field] = {"mark": _ANY | Null()}
_SENTENCES: dict[str, Field] = {"sentences": Described()}  # where sentence vectors stand beside the words
# Records beside their matrix; vectorizer and weighting are read by themselves.
_COLLECTION = Record(
    {
        "ids": List(_ANY, 1),
        **dict.fromkeys(("vectorizer", "weighting"), Described()),
        **dict.fromkeys(("questions", "known"), List(_ANY)),
        **_SENTENCES,
        **_MARK,
        **_OF_ROOM,
    },
    optional={**_SENTENCES, **_MARK, **_OF_ROOM},
)
_STRENGTHS: dict[str, Field] = {"strengths": Named(Choice("weak", "strong"), unicode=False)}
_TOPIC = Record(
    {
        "read": List(Row(Whole(0), Flag())),
        "handed_out": List(Row(Whole(0), Text())),
        "words": Named(Choice("for", "against"), unicode=False),
        **_STRENGTHS,
    },
    optional=_STRENGTHS,
)
# How far the log, or the room's events, had been read.
_PLACE: dict[str, Field] = {
    "log": List(Whole(0), 3, 3) | Null(),
    **dict.fromkeys(("n_records", "sequence"), Whole(0) | Null()),
    "at": Number() | Null(),
}
_SCREENING = Record({"topics": List(_TOPIC), "strategy": Text(), **_PLACE, **_MARK}, optional={**_PLACE, **_MARK})


def check_collection(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says of records; names that are there twice are refused."""
    saved: dict[str, Any] = read({"it": _COLLECTION}, {"it": meta}, {}, "the collection")["it"]
    for names, what in ((saved["ids"], "record"), (saved["questions"], "question"), (saved["known"], "topic")):
        if len(set(names)) < len(names):
            raise ModelFileError(f"a {what} is there twice; was the file altered?")
    return saved


def check_screening(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_topics: int, n_records: int, n_rows: int
) -> dict[str, Any]:
    """What a snapshot says, with all its arrays checked: of so many topics, records, and rows of the matrix."""
    saved: dict[str, Any] = read({"it": _SCREENING}, {"it": meta}, {}, "the snapshot")["it"]
    if len(saved["topics"]) != n_topics:
        raise ModelFileError(f"the snapshot has {len(saved['topics'])} topics, not {n_topics}; was the file altered?")
    for k, topic in enumerate(saved["topics"]):
        _check_topic(topic, part_of(arrays, str(k)), n_records, n_rows)
    return saved


def _check_topic(saved: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_records: int, n_rows: int) -> None:
    least, most = _ANSWERS
    answers = saved_array(arrays, "answers", np.int8, (n_records,), least=least, most=most)
    rows = [row for row, _ in saved["read"]]
    if sorted(rows) != np.flatnonzero(answers).tolist():
        raise ModelFileError("the records that were read are not those with an answer; was the file altered?")
    shown = [row for row, _ in saved["handed_out"]]
    if len(set(shown)) < len(shown) or max(shown, default=-1) >= n_records:
        raise ModelFileError("a record that was handed out is none; was the file altered?")
    saved_array(arrays, "read_predictors", np.float64, (len(rows),))
    y = saved_array(arrays, "y", np.float64, (n_rows,), least=-1, most=1)
    a = saved_array(arrays, "a", np.float64, (n_rows,), least=0)
    if not np.isin(y, (-1.0, 0.0, 1.0)).all() or (a[y == 0.0] != 0.0).any():
        raise ModelFileError("the snapshot has learnt from records without an answer; was the file altered?")
    saved_array(arrays, "c", np.float64, (2,), least=1e-100)
    if solver.is_small(n_rows):
        saved_array(arrays, "E", np.float64, (2, n_rows))
    else:
        saved_array(arrays, "b", np.float64, (1,))

"""What files of a screening may say: schemas, one line for each field, and ranges of arrays, all checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from textbayes.core.errors import ModelFileError
from textbayes.core.saved import Real, Saved, Text, WholeFrom0, read_saved
from textbayes.core.saved_arrays import saved_array
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray
from textbayes.screen import solver

_ANSWERS = (-1, 2)  # the least and the greatest code of an answer


class _Marked(Saved):
    """What every file says of itself; a state in memory says nothing."""

    format: str | None = None
    format_version: int | None = None
    textbayes: str | None = None


class SavedCollection(_Marked):
    """Records beside their matrix; ``mark`` is the review room's. Vectorizer and weighting are read by themselves."""

    ids: Annotated[list[str], Field(min_length=1)]
    vectorizer: dict[str, Any]
    weighting: dict[str, Any]
    questions: list[str]
    known: list[str]
    mark: str | None = None


class SavedTopic(Saved):
    """One topic of a screening beside its arrays."""

    read: list[Annotated[list[WholeFrom0 | bool], Field(min_length=2, max_length=2)]]
    handed_out: list[Annotated[list[WholeFrom0 | Text], Field(min_length=2, max_length=2)]]
    words: dict[str, Literal["for", "against"]]


class SavedScreening(_Marked):
    """A snapshot: the topics, and how far the log (or the room's events) had been read."""

    topics: list[SavedTopic]
    strategy: Text | None = None
    log: Annotated[list[WholeFrom0], Field(min_length=3, max_length=3)] | None = None
    n_records: WholeFrom0 | None = None
    sequence: WholeFrom0 | None = None
    at: Real | None = None


def check_collection(meta: Mapping[str, Any]) -> SavedCollection:
    """What a file says of records; names that are there twice are refused."""
    saved = read_saved(SavedCollection, meta, "the collection")
    for names, what in ((saved.ids, "record"), (saved.questions, "question"), (saved.known, "topic")):
        if len(set(names)) < len(names):
            raise ModelFileError(f"a {what} is there twice; was the file altered?")
    return saved


def check_screening(
    meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_topics: int, n_records: int, n_rows: int
) -> SavedScreening:
    """What a snapshot says, with all its arrays checked: of so many topics, records, and rows of the matrix."""
    saved = read_saved(SavedScreening, meta, "the snapshot")
    if len(saved.topics) != n_topics:
        raise ModelFileError(f"the snapshot has {len(saved.topics)} topics, not {n_topics}; was the file altered?")
    for k, topic in enumerate(saved.topics):
        _check_topic(topic, part_of(arrays, str(k)), n_records, n_rows)
    return saved


def _check_topic(saved: SavedTopic, arrays: Mapping[str, AnyArray], n_records: int, n_rows: int) -> None:
    least, most = _ANSWERS
    answers = saved_array(arrays, "answers", np.int8, (n_records,), least=least, most=most)
    rows = [row for row, drawn in saved.read if isinstance(drawn, bool) and not isinstance(row, bool)]
    if len(rows) < len(saved.read) or sorted(map(int, rows)) != np.flatnonzero(answers).tolist():
        raise ModelFileError("the records that were read are not those with an answer; was the file altered?")
    shown = [row for row, reason in saved.handed_out if isinstance(row, int) and isinstance(reason, str)]
    if len(shown) < len(saved.handed_out) or len(set(shown)) < len(shown) or max(shown, default=-1) >= n_records:
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

"""Schemas of what a snapshot of a filter says, one line for each field; what does not belong together is refused.

Arrays are checked where they are read, see ``stream.state``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from textbayes.core.errors import ModelFileError
from textbayes.core.saved import Positive, Real, Saved, Share, Text, WholeFrom0, WholeFrom1, read_saved
from textbayes.text.analyze import LONGEST_NGRAM
from textbayes.text.saved import LinearPattern

_Length = Annotated[int, Field(ge=1, le=LONGEST_NGRAM)]
_Seed = Annotated[int, Field(ge=0, lt=2**64)]
_FromZero = Annotated[Real, Field(ge=0)]


class SavedText(Saved):
    """How a filter counts words: ``TextOptions``."""

    analyzer: Literal["word", "char", "char_wb", "mixed"]
    ngram_range: Annotated[list[_Length], Field(min_length=2, max_length=2)]
    lowercase: bool
    token_pattern: LinearPattern
    stop_words: list[str]
    stemmer: Text | None


class SavedSettings(Saved):
    """``FilterSettings``, which checks their ranges."""

    threshold: Real
    ask: Text
    explore: Text
    budget: Text | None
    patience: WholeFrom0
    rehearse: bool
    rehearsal: Text
    forgetting_factor: Real
    word_threshold: Real
    least_words: WholeFrom0
    start_words: WholeFrom1
    most_words: WholeFrom1
    passes: WholeFrom1
    covariance: Text
    kernel: Text
    basis: WholeFrom1
    variance: Positive
    deferred: bool
    link: Text
    noise: _FromZero
    gain: Text
    random_state: _Seed
    keep: Text
    snippet: WholeFrom0
    skip_seen: bool
    text: SavedText
    weighting: Text
    norm: Text | None


class SavedPatience(Saved):
    """How long topics have waited; see :class:`textbayes.stream.decide.Patience`."""

    since: list[WholeFrom0]
    best: list[Share]


class SavedTopic(Saved):
    """One topic beside its arrays. Of one that was started from a model ``n_later`` may take training texts back."""

    name: str
    n_relevant: WholeFrom0
    n_later: Annotated[int, Field(ge=-(2**53), le=2**53)]
    turn: WholeFrom0
    delivered: WholeFrom0
    posterior: dict[str, Any]


class SavedFilter(Saved):
    """A filter beside its arrays."""

    settings: SavedSettings
    n_docs: WholeFrom1
    n_seen: WholeFrom0
    spent: Annotated[list[WholeFrom0], Field(min_length=2, max_length=2)]
    patience: SavedPatience
    ids: dict[str, WholeFrom0]
    judgements: list[Annotated[list[WholeFrom0 | bool], Field(min_length=3, max_length=3)]]
    topics: Annotated[list[SavedTopic], Field(min_length=1)]


class SavedState(Saved):
    """A snapshot: the filter, and how far inputs, judgements and the log have been read."""

    format: str
    format_version: int
    textbayes: str
    filter: SavedFilter
    inputs: dict[str, WholeFrom0]
    input: str
    place: WholeFrom0
    sources: dict[str, WholeFrom0]
    log: Annotated[list[WholeFrom0], Field(min_length=3, max_length=3)]


def check_state(meta: Mapping[str, Any]) -> None:
    """Refuse a snapshot that says what no filter would, before anything is made of it."""
    saved = read_saved(SavedState, meta, "the snapshot")
    filter, names = saved.filter, [topic.name for topic in saved.filter.topics]
    if len(set(names)) < len(names):
        raise ModelFileError("two topics have one name; was the file altered?")
    numbers = set(filter.ids.values())
    if len(numbers) < len(filter.ids):
        raise ModelFileError("two documents have one number; was the file altered?")
    for number, k, relevant in filter.judgements:
        if isinstance(number, bool) or isinstance(k, bool) or not isinstance(relevant, bool):
            raise ModelFileError("a judgement is not a document, a topic, and yes or no; was the file altered?")
        if number not in numbers or k >= len(names):
            raise ModelFileError("a judgement is of a document or a topic that is not there; was the file altered?")
    if len({(number, k) for number, k, _ in filter.judgements}) < len(filter.judgements):
        raise ModelFileError("a document is judged twice for one topic; was the file altered?")
    if not len(filter.patience.since) == len(filter.patience.best) == len(names):
        raise ModelFileError("how long topics have waited does not fit the topics; was the file altered?")
    for topic in filter.topics:
        if topic.n_later < -filter.n_docs or topic.n_relevant > filter.n_docs + topic.n_later:
            raise ModelFileError(f"topic {topic.name!r} has counts that cannot be; was the file altered?")

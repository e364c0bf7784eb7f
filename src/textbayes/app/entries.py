"""What events may say: every kind has a schema, so that nothing else gets into a log, whoever sends it.

``stranger`` and ``person``, which say who the people of a file are, name accounts of one room by number: no file may.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from textbayes.app.labelling import LONGEST_NAME
from textbayes.app.stages import stages_of
from textbayes.categorizer.suggest import STRATEGIES
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.screen.settings import make_strategy

Answer = Literal["relevant", "irrelevant", "unsure"]
Key = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[0-9A-Za-z-]+$")]
Text = Annotated[str, Field(max_length=4_000, pattern=r"^[^\x00]*$")]
Reason = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
Names = Annotated[list[Reason], Field(max_length=100)]
Count = Annotated[int, Field(ge=0)]


class _EventBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class JudgementEntry(_EventBody):
    """An answer, or one that is taken back."""

    kind: Literal["judgement"]
    topic: Text
    id: Text
    answer: Literal["relevant", "irrelevant", "unsure", "withdrawn"]
    reason: Reason | None = None
    key: Key | None = None


class WordEntry(_EventBody):
    """A word that speaks for or against a topic."""

    kind: Literal["word"]
    topic: Text
    word: Text
    direction: Literal["for", "against", "forget"]
    strength: Literal["weak", "strong"] | None = None


class HandedOutEntry(_EventBody):
    """Records that were put in a queue."""

    kind: Literal["handed_out"]
    topic: Text
    records: dict[Text, Text]


class ReleaseEntry(_EventBody):
    """Records that were fetched ahead are free for others again."""

    kind: Literal["release"]
    topic: Text


class SkipEntry(_EventBody):
    """A record that was put aside."""

    kind: Literal["skip"]
    topic: Text
    id: Text
    key: Key | None = None


class NoteEntry(_EventBody):
    """A person's note to a record."""

    kind: Literal["note"]
    id: Text
    text: Text
    key: Key | None = None


class TagsEntry(_EventBody):
    """A person's tags of a record."""

    kind: Literal["tags"]
    id: Text
    tags: Names
    key: Key | None = None


class ListsEntry(_EventBody):
    """The reasons and tags that people may choose from."""

    kind: Literal["lists"]
    reasons: Names
    tags: Names


class ImportedEntry(_EventBody):
    """A file was read: so many records were in it, so many of them were there already."""

    kind: Literal["imported"]
    source: Text
    n_found: Count
    n_merged: Count


class UnmergedEntry(_EventBody):
    """A duplicate became a record of its own."""

    kind: Literal["unmerged"]
    id: Text


class MergedEntry(_EventBody):
    """A record was taken for the same paper as another one, by hand."""

    kind: Literal["merged"]
    id: Text
    into: Text


class FullTextEntry(_EventBody):
    """The full text of a record came, by the name of its file; or it was removed."""

    kind: Literal["full_text"]
    id: Text
    file: Text


class SettleEntry(_EventBody):
    """The answer that settles a conflict."""

    kind: Literal["settle"]
    topic: Text
    id: Text
    answer: Answer
    reason: Reason | None = None


class StrategyEntry(_EventBody):
    """Another strategy."""

    kind: Literal["strategy"]
    strategy: Text


class GoalEntry(_EventBody):
    """How much is to be found, and how surely."""

    kind: Literal["goal"]
    target: Annotated[float, Field(gt=0.0, le=1.0)]
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)]


class RecordsEntry(_EventBody):
    """Records were added; so many there are now."""

    kind: Literal["records"]
    n_records: int


class UnblindEntry(_EventBody):
    """Somebody chose to see all answers, and reads no more."""

    kind: Literal["unblind"]


class AdviceEntry(_EventBody):
    """What a stopping rule said."""

    kind: Literal["advice"]
    topic: Text
    rule: Text
    stop: bool
    reason: Text


AnyEntry = (
    JudgementEntry | WordEntry | HandedOutEntry | SkipEntry | NoteEntry | SettleEntry | StrategyEntry | RecordsEntry
    | AdviceEntry | UnblindEntry | TagsEntry | ListsEntry | ImportedEntry | FullTextEntry | UnmergedEntry | MergedEntry
    | GoalEntry | ReleaseEntry
)  # fmt: skip
_ENTRY: TypeAdapter[AnyEntry] = TypeAdapter(Annotated[AnyEntry, Field(discriminator="kind")])
LABEL_NUMBERS = r"^(none|unsure|withdrawn|[0-9]{1,6}( [0-9]{1,6})*)$"  # an answer of labels
_Number = Annotated[int, Field(ge=1, lt=1_000_000)]


class LabelsEntry(_EventBody):
    """An answer of labels, by number."""

    kind: Literal["judgement"]
    topic: Text
    id: Text
    answer: Annotated[str, Field(max_length=4_000, pattern=LABEL_NUMBERS)]
    key: Key | None = None


class LabelSettleEntry(_EventBody):
    """The labels that settle a conflict."""

    kind: Literal["settle"]
    topic: Text
    id: Text
    answer: Annotated[str, Field(max_length=4_000, pattern=LABEL_NUMBERS)]


class GoldEntry(_EventBody):
    """A text whose answer is known, to ask people about; "withdrawn" makes it a text like others."""

    kind: Literal["gold"]
    topic: Text
    id: Text
    answer: Annotated[str, Field(max_length=4_000, pattern=LABEL_NUMBERS)]


class LabelEntry(_EventBody):
    """A label that was made, or has another name or description."""

    kind: Literal["label"]
    label: _Number
    name: Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]
    description: Text


class MergeLabelEntry(_EventBody):
    """A label that counts as another one."""

    kind: Literal["merge_label"]
    label: _Number
    into: _Number


class RemoveLabelEntry(_EventBody):
    """A label that was taken off all texts."""

    kind: Literal["remove_label"]
    label: _Number


OfCategories = (
    LabelsEntry | LabelEntry | MergeLabelEntry | RemoveLabelEntry | HandedOutEntry | SkipEntry | NoteEntry
    | StrategyEntry | RecordsEntry | ReleaseEntry | LabelSettleEntry | GoldEntry | UnblindEntry
)  # fmt: skip
_OF_CATEGORIES: TypeAdapter[OfCategories] = TypeAdapter(Annotated[OfCategories, Field(discriminator="kind")])


def checked_entry(given: Any, topics: Collection[str], ids: Collection[str], labels: bool = False) -> dict[str, Any]:
    """An entry that came from outside, refused unless it is of a known kind and speaks of what is there.

    Parameters
    ----------
    given : object
    topics, ids : collections of str
        Of the project.
    labels : bool
        Whether it is a project of categories.
    """
    try:
        entry: AnyEntry | OfCategories = (_OF_CATEGORIES if labels else _ENTRY).validate_python(given)
    except ValidationError as error:
        raise InputError(
            f"an event is not usable: {error.errors()[0]['msg']}; give a file that was not altered"
        ) from None
    named = [getattr(entry, "id", None), *getattr(entry, "records", {})]
    if isinstance(entry, MergedEntry):
        named.append(entry.into)
    if any(id is not None and id not in ids for id in named) or getattr(entry, "topic", topics) not in (
        topics,
        *stages_of(topics),
    ):
        raise InputError(f"an event of kind {entry.kind!r} names a record or a topic that is not there")
    if isinstance(entry, RecordsEntry) and entry.n_records > len(ids):
        raise InputError(f"an event tells of {entry.n_records:,} records; there are {len(ids):,}")
    if isinstance(entry, StrategyEntry) and labels:
        check_choice("strategy", entry.strategy, STRATEGIES)
    elif isinstance(entry, StrategyEntry):
        make_strategy(entry.strategy)
    return entry.model_dump(exclude_none=True)

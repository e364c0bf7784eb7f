"""Decisions that a file of records brings from elsewhere: found, taken out of what people see, offered as answers.

Known are columns of 0 and 1 such as ASReview's ``included``, the notes of Rayyan, in which every reviewer has a
decision, the exclusion reasons in the notes of Covidence, and the columns of our own exports.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from textbayes.core.types import Document

_YES_NO = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "y", "include", "included", "relevant"), "relevant"),
    **dict.fromkeys(
        ("0", "0.0", "false", "no", "n", "exclude", "excluded", "irrelevant", "not relevant"), "irrelevant"
    ),
    **dict.fromkeys(("maybe", "unsure", "undecided"), "unsure"),
}
_UNKNOWN = ("", "-1", "-1.0", "na", "n/a", "nan", "none", "null", "not read")
# Names in lower case with underscores; the first that is there counts, the others are taken out as well.
_COLUMNS = (
    "asreview_label",
    "label_included",
    "included_label",
    "final_included",
    "included_final",
    "label_final",
    "included",
    "include",
    "inclusion",
    "label_abstract_included",
    "included_abstract",
    "abstract_included",
    "label_abstract_screening",
    "decision",
    "textbayes_decision",
    "screening_decision",
    "your_answer",
    "label",
    "full_text",
)
_BESIDE = (
    "exclusion_reason",
    "reason_for_exclusion",
    "textbayes_reason",
    "reason",
    "full_text_reason",
)  # of a decision
_ANSWER_OF = "answer of "  # begins the columns of each person's answer in our exports
_RAYYAN = re.compile(r"RAYYAN-(INCLUSION|LABELS|EXCLUSION-REASONS): *(.*?)(?= *\| *[A-Z][A-Z-]+: |\s*$)", re.DOTALL)
_RAYYAN_SAID = re.compile(r'"+[^"]*"+ *=> *"+(Included|Excluded|Maybe)"+')
_COVIDENCE = re.compile(r"Exclusion reason: *([^;]*);?")
_OURS = re.compile(r"\bdecision: *(relevant|irrelevant|unsure|not read)\b.*", re.DOTALL)


class EarlierDecision(NamedTuple):
    """What was decided of a record elsewhere: the answer, the reason if it was excluded, and tags."""

    answer: str
    reason: str = ""
    tags: tuple[str, ...] = ()


@dataclass
class EarlierDecisions:
    """The decisions that a file brought.

    Parameters
    ----------
    columns : list of str
        The fields they were in, which records no longer have.
    by_id : dict
        Id of the record → decision.
    n_contradicted : int
        Records of which the reviewers of the file said different things; they have no decision here.
    """

    columns: list[str] = field(default_factory=list)
    by_id: dict[str, EarlierDecision] = field(default_factory=dict)
    n_contradicted: int = 0

    def count(self, answer: str) -> int:
        """How many records have an answer."""
        return sum(one.answer == answer for one in self.by_id.values())

    @property
    def reasons(self) -> list[str]:
        """The reasons for exclusion, the most frequent first."""
        found = Counter(one.reason for one in self.by_id.values() if one.answer == "irrelevant" and one.reason)
        return [reason for reason, _ in found.most_common()]

    @property
    def tags(self) -> list[str]:
        """The tags, the most frequent first."""
        return [tag for tag, _ in Counter(tag for one in self.by_id.values() for tag in one.tags).most_common()]


def take_decisions(records: Sequence[Document]) -> tuple[list[Document], EarlierDecisions]:
    """The records without what others decided of them, and those decisions.

    Parameters
    ----------
    records : sequence of Document

    Examples
    --------
    >>> records, found = take_decisions([Document("1", "Tea", (), {"title": "Tea", "included": "1"})])
    >>> records[0].fields, found.by_id["1"].answer
    ({'title': 'Tea'}, 'relevant')
    """
    columns = _decision_columns(records)
    found = EarlierDecisions(columns=list(columns))
    left = []
    for record in records:
        fields = {name: value for name, value in record.fields.items() if name not in columns}
        answer = next((said for said in (_plain(record.fields.get(name, "")) for name in columns) if said), "")
        beside = next((value for name, value in record.fields.items() if name in columns and _key(name) in _BESIDE), "")
        decision = EarlierDecision(answer, beside.strip() if answer == "irrelevant" else "") if answer else None
        for name in [name for name in fields if _key(name) in ("notes", "note")]:
            plain, said, contradicted = _of_notes(fields[name])
            if plain != fields[name]:
                found.columns = list(dict.fromkeys([*found.columns, name]))
                fields[name] = plain
            found.n_contradicted += contradicted
            decision = decision or said
        if decision is not None:
            found.by_id[record.id] = decision
        left.append(record._replace(fields=fields))
    return left, found


def _decision_columns(records: Iterable[Document]) -> dict[str, None]:
    """The fields that hold decisions and nothing else, the one that counts first."""
    values: dict[str, set[str]] = {}
    for record in records:
        for name, value in record.fields.items():
            if _key(name) in _COLUMNS or _key(name) in _BESIDE or name.lower().startswith(_ANSWER_OF):
                values.setdefault(name, set()).add(value.strip().lower())
    found = [name for name, said in values.items() if said <= _YES_NO.keys() | set(_UNKNOWN) and said - set(_UNKNOWN)]
    ordered = sorted(found, key=lambda name: _COLUMNS.index(_key(name)) if _key(name) in _COLUMNS else len(_COLUMNS))
    beside = [name for name in values if _key(name) in _BESIDE] if ordered else []
    return dict.fromkeys([*ordered, *beside])


def _key(name: str) -> str:
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


def _plain(value: str) -> str:
    return _YES_NO.get(value.strip().lower(), "")


def _of_notes(notes: str) -> tuple[str, EarlierDecision | None, bool]:
    """Notes without decisions, the decision if there is one, and whether reviewers contradict each other."""
    if "RAYYAN-" in notes:
        parts = dict(_RAYYAN.findall(notes))
        said = {_YES_NO[one.lower()] for one in _RAYYAN_SAID.findall(parts.get("INCLUSION", ""))}
        reasons, labels = (_split(parts.get(name, "")) for name in ("EXCLUSION-REASONS", "LABELS"))
        left = re.sub(r"\s*\|\s*(?=\||$)|^\s*\|\s*", "", _RAYYAN.sub("", notes)).strip()
        left = re.sub(r"\s*(\|\s*)+", " | ", left).strip(" |")
        if len(said) != 1:
            return left, None, len(said) > 1
        (answer,) = said
        return left, EarlierDecision(answer, reasons[0] if reasons and answer == "irrelevant" else "", labels), False
    covidence = _COVIDENCE.search(notes)
    if covidence is not None:
        return _COVIDENCE.sub("", notes).strip(), EarlierDecision("irrelevant", covidence[1].strip()), False
    ours = _OURS.search(notes)
    if ours is not None:
        answer = _plain(ours[1])
        return _OURS.sub("", notes).strip("; "), EarlierDecision(answer) if answer else None, False
    return notes, None, False


def _split(listed: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in listed.split(",") if part.strip()))

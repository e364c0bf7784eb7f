"""Reasons for exclusion and tags: the lists of a project, and what people said of records.

A reason belongs to an answer and is seen by those who see the answer. Tags belong to a person, as notes do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textbayes.core.errors import InputError
from textbayes.store.event_folder import Entry

if TYPE_CHECKING:
    from textbayes.app.assignments import Assignments

NOT_RETRIEVED = "full text not available"  # PRISMA counts these apart from what was read and excluded
USUAL_REASONS = ("wrong population", "wrong intervention", "wrong comparison", "wrong outcome", "wrong study design",
                 "wrong publication type")  # fmt: skip
MOST, LONGEST = 40, 100  # of a list, of a name


class Marks:
    """Reasons and tags of one project: a state machine that is given every event by its :class:`Assignments`.

    Attributes
    ----------
    reasons, tags : tuple of str
        The lists to choose from; the first reason that applies to a record counts.
    """

    def __init__(self) -> None:
        self.reasons: tuple[str, ...] = ()
        self.tags: tuple[str, ...] = ()
        self._excluded: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)  # stage and record → person → reason
        self._settled: dict[tuple[str, str], str] = {}
        self._tagged: dict[str, dict[int, tuple[str, ...]]] = defaultdict(dict)  # record → person → tags

    def apply(self, user: int, entry: Entry) -> None:
        """Bring the state up to an event."""
        kind = entry["kind"]
        if kind == "judgement":
            said = self._excluded[entry["topic"], entry["id"]]
            said.pop(user, None)
            if entry.get("reason"):
                said[user] = entry["reason"]
        elif kind == "settle":
            self._settled[entry["topic"], entry["id"]] = entry.get("reason", "")
        elif kind == "lists":
            self.reasons, self.tags = tuple(entry["reasons"]), tuple(entry["tags"])
        elif kind == "tags":
            self._tagged[entry["id"]].pop(user, None)
            if entry["tags"]:
                self._tagged[entry["id"]][user] = tuple(entry["tags"])

    def choices(self, full_text: bool) -> tuple[str, ...]:
        """The reasons to choose from; full texts are excluded by the usual ones where a project has none of its own."""
        return (*(self.reasons or USUAL_REASONS), NOT_RETRIEVED) if full_text else self.reasons

    def reasons_given(self, stage: str, id: str) -> dict[int, str]:
        """The reasons for excluding a record, by who gave them."""
        return self._excluded.get((stage, id), {})

    def own_reason(self, user: int, stage: str, id: str) -> str:
        """The reason that a person gave, under this account."""
        return self._excluded.get((stage, id), {}).get(user, "")

    def reason(self, assignments: Assignments, stage: str, id: str) -> str:
        """Why a record is excluded, as things stand; of several reasons the one that is first in the list."""
        if assignments.answer(stage, id) != "irrelevant":
            return ""
        said = assignments.opinions[stage].get(id, {})
        if len(set(said.values())) > 1:
            return self._settled.get((stage, id), "")
        given = self._excluded.get((stage, id), {})
        return min((given[user] for user in said if user in given), key=self._place, default="")

    def _place(self, reason: str) -> tuple[int, str]:
        order = self.choices(full_text=True)
        return (order.index(reason) if reason in order else len(order), reason)

    def reason_for(self, assignments: Assignments, user: int, stage: str, id: str) -> str:
        """The reason that a person may see: the one that stands, or else their own."""
        if assignments.answer_for(user, stage, id) != "irrelevant":
            return ""
        if assignments.answer(stage, id) is not None:
            return self.reason(assignments, stage, id)
        given = self._excluded.get((stage, id), {})
        return assignments.own(user, given) or (next(iter(given.values()), "") if assignments.sees_all(user) else "")

    def tagged(self, id: str) -> dict[int, tuple[str, ...]]:
        """The tags of a record, by who gave them."""
        return self._tagged.get(id, {})

    def own_tags(self, assignments: Assignments, user: int, id: str) -> tuple[str, ...]:
        """The tags that a person gave a record."""
        return assignments.own(user, self._tagged.get(id, {})) or ()

    def tags_for(self, assignments: Assignments, user: int, id: str) -> tuple[str, ...]:
        """The tags of a record that a person may see: their own, and those of others where that tells nothing."""
        given = self._tagged.get(id, {})
        seen = given if assignments.all_seen(user, id) else {0: self.own_tags(assignments, user, id)}
        found = {tag for theirs in seen.values() for tag in theirs}
        return tuple(tag for tag in (*self.tags, *sorted(found - set(self.tags))) if tag in found)

    def check_reason(self, stage_is_full_text: bool, answer: str, reason: str) -> None:
        """Refuse a reason that is not in the list, one of an answer that needs none, and an exclusion without one."""
        choices = self.choices(stage_is_full_text)
        if reason and answer != "irrelevant":
            raise InputError(f"the answer {answer!r} takes no reason; a reason is for records that are excluded")
        if reason and reason not in choices:
            listed = ", ".join(choices) or "none yet: an owner makes the list on the page Settings"
            raise InputError(f"the reason {reason!r} is not in the list of this project; choose one of these: {listed}")
        if stage_is_full_text and answer == "irrelevant" and not reason:
            raise InputError(f"a full text is excluded for a reason; choose one of these: {', '.join(choices)}")

    def check_tags(self, tags: Sequence[str]) -> None:
        """Refuse tags that are not in the list."""
        for tag in tags:
            if tag not in self.tags:
                raise InputError(
                    f"the tag {tag!r} is not in the list of this project; an owner adds tags on the page Settings"
                )


def checked_list(given: Sequence[str], what: str) -> list[str]:
    """Names of a list: each once, on one line, in the order given."""
    names = list(dict.fromkeys(name for name in (" ".join(one.replace("\x00", "").split()) for one in given) if name))
    if len(names) > MOST or any(len(name) > LONGEST for name in names):
        raise InputError(f"{len(names)} {what} were given; {MOST} of at most {LONGEST} characters are allowed")
    if what == "reasons" and NOT_RETRIEVED in names:
        names.remove(NOT_RETRIEVED)  # it is always there, as the last
    return names

"""Labels of a project of categories: made, renamed, merged and removed by events; answers stay as they were given.

An answer names labels by number, so that another name changes no answer. The rules:

- a merged label counts as the other one, in all answers, earlier and later;
- a removed label is taken off all texts; a text without any label left is asked about again.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from textbayes.core.errors import InputError, plural
from textbayes.store.event_folder import Entry

NONE, UNSURE, WITHDRAWN = "none", "unsure", "withdrawn"  # answers without a label
CONFLICT = "conflict"  # in place of an answer, where two people gave different ones
LABEL_KINDS = ("label", "merge_label", "remove_label")
LONGEST_NAME, LONGEST_DESCRIPTION, MOST_LABELS = 200, 4_000, 500
_NUMBERS = re.compile(r"\d{1,6}( \d{1,6})*")


class Label(NamedTuple):
    """A label: its number, which stays, its name, and what it means; the words of both are what guesses begin with."""

    number: int
    name: str
    description: str = ""


class Labels:
    """The labels of a project, brought up to date by :meth:`apply`; the other methods make entries, and look.

    Parameters
    ----------
    several : bool
        Whether a text may have several labels, or none.

    Examples
    --------
    >>> labels = Labels(several=False)
    >>> labels.apply(labels.new("sport"))
    >>> labels.apply(labels.new("football"))
    >>> labels.apply(labels.merging(2, 1))
    >>> labels.names("2"), [label.name for label in labels.in_use]
    (('sport',), ['sport'])
    """

    def __init__(self, several: bool) -> None:
        self.several = several
        self._labels: dict[int, Label] = {}
        self._into: dict[int, int | None] = {}

    def apply(self, entry: Entry) -> None:
        """Bring the labels up to an event of one of ``LABEL_KINDS``."""
        number = entry["label"]
        if entry["kind"] == "label":
            self._labels[number] = Label(number, entry["name"], entry["description"])
            self._into.pop(number, None)
        else:
            into = self._now(entry["into"]) if entry["kind"] == "merge_label" else None
            self._into[number] = None if into == number else into  # a file may say so, a page never does
            self._labels.pop(number, None)

    # -- a look -----------------------------------------------------------------------------------------------------
    @property
    def in_use(self) -> list[Label]:
        """The labels that there are, in the order in which they were made."""
        return list(self._labels.values())

    def numbers(self, answer: str | None) -> tuple[int, ...] | None:
        """Numbers of the labels that an answer stands for by now; None where it says nothing of labels."""
        if answer is None or answer in (UNSURE, WITHDRAWN, CONFLICT):
            return None
        given = [] if answer == NONE else [self._now(int(number)) for number in answer.split()]
        return tuple(sorted({number for number in given if number is not None}))

    def names(self, answer: str | None) -> tuple[str, ...] | None:
        """The same by name."""
        numbers = self.numbers(answer)
        return None if numbers is None else tuple(self._labels[number].name for number in numbers)

    def meaning(self, answer: str) -> tuple[int, ...] | str:
        """What an answer says by now: two that mean the same are equal."""
        numbers = self.numbers(answer)
        return answer if numbers is None else numbers

    def is_void(self, answer: str) -> bool:
        """Whether an answer names labels, all of which were removed, in a project where a text has one."""
        return not self.several and self.numbers(answer) == ()

    def shown(self, answer: str | None) -> str:
        """An answer in words."""
        names = self.names(answer)
        return (answer or "") if names is None else ", ".join(names) or "no label"

    def _now(self, number: int) -> int | None:
        found: int | None = number
        while found is not None and found in self._into:
            found = self._into[found]
        return found if found in self._labels else None

    # -- entries ----------------------------------------------------------------------------------------------------
    def checked(self, answer: str) -> str:
        """An answer as it is kept, refused where it names no label that there is, or several where one is wanted."""
        if answer in (UNSURE, WITHDRAWN) or (answer == NONE and self.several):
            return answer
        numbers = self.numbers(answer) if _NUMBERS.fullmatch(answer) else None
        if not numbers or len(numbers) < len(set(answer.split())):
            some = ", ".join(f"{label.number} ({label.name})" for label in self.in_use[:20]) or "none yet"
            raise InputError(f"the answer {answer[:100]!r} names a label that is not there; the labels are: {some}")
        if len(numbers) > 1 and not self.several:
            raise InputError(f"{len(numbers)} labels are given; a text of this project has one: give one number")
        return " ".join(map(str, numbers))

    def new(self, name: str, description: str = "") -> Entry:
        """The entry of a new label."""
        if len(self._labels) >= MOST_LABELS:
            raise InputError(f"there are {plural(len(self._labels), 'label')}, which is the most; merge some")
        number = 1 + max([*self._labels, *self._into], default=0)
        return self._entry(number, name, description)

    def changed(self, number: int, name: str, description: str | None = None) -> Entry:
        """The entry of another name or description."""
        label = self.find(number)
        return self._entry(number, name, label.description if description is None else description)

    def merging(self, number: int, into: int) -> Entry:
        """The entry by which a label counts as another one from now on."""
        if self.find(number) == self.find(into):
            raise InputError("a label cannot be merged into itself; choose another one")
        return {"kind": "merge_label", "label": number, "into": into}

    def removing(self, number: int) -> Entry:
        """The entry by which a label is taken off all texts."""
        return {"kind": "remove_label", "label": self.find(number).number}

    def find(self, number: int) -> Label:
        """A label that there is."""
        if number not in self._labels:
            raise InputError(f"there is no label {number}; it may have been merged or removed: load the page again")
        return self._labels[number]

    def _entry(self, number: int, name: str, description: str) -> Entry:
        tidy, told = (" ".join(text.replace("\x00", "").split()) for text in (name, description))
        if not 1 <= len(tidy) <= LONGEST_NAME or len(told) > LONGEST_DESCRIPTION:
            raise InputError(
                f"the label's name has {len(tidy)} characters and its description {len(told):,}; give a name of 1 to "
                f"{LONGEST_NAME} and at most {LONGEST_DESCRIPTION:,} for the description"
            )
        same = next((label for label in self.in_use if label.name.casefold() == tidy.casefold()), None)
        if same is not None and same.number != number:
            raise InputError(f"there is a label {same.name!r} already; choose another name, or merge the two")
        return {"kind": "label", "label": number, "name": tidy, "description": told}


def read_labels(given: str) -> dict[str, str]:
    """Names and descriptions of labels, one on each line, as ``name`` or ``name: description``.

    >>> read_labels("sport: football and tennis\\n\\npolitics")
    {'sport': 'football and tennis', 'politics': ''}
    """
    lines = [line.partition(":") for line in given.splitlines() if line.strip()]
    return {name.strip(): description.strip() for name, _, description in lines if name.strip()}

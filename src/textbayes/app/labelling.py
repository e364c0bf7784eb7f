"""A project of categories as a state machine, as ``Screening`` is of a review: entries in, guesses and questions out.

The engine is a ``LabellingSession``. It learns when it is asked, all that has happened since at once.

Labels are made, renamed, merged and removed by events. An answer names labels by number, so that another name changes
no answer, and answers stay as they were given. The rules:

- a merged label counts as the other one, in all answers, earlier and later;
- a removed label is taken off all texts; a text without any label left is asked about again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from textbayes.categorizer.suggest import STRATEGIES, LabellingSession
from textbayes.core.errors import InputError, plural
from textbayes.core.validation import check_choice
from textbayes.evaluate.intervals import Growth, Share
from textbayes.screen.screening import check_record
from textbayes.screen.settings import Pick
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


TOPIC = "label"  # the one question to every text
AT_RANDOM = "random"
_GUESSES, _MARKED = 3, 8  # labels that are named, and terms of a text that are marked
_NEW_ANSWERS = 5  # learnt before accuracy is measured again, or a tenth of those that there were
# Held-out figures need some texts drawn at random: until there are that many every second text is.
_FIRST_RANDOM, _FIRST_SHARE, _LATER_SHARE = 10, 0.5, 0.1


class Rows:
    """Ids of the texts, in the order of rows."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        self.row_of = {id: row for row, id in enumerate(ids)}

    @property
    def n_records(self) -> int:
        """Number of texts."""
        return len(self.ids)


class Guess(NamedTuple):
    """What the model would answer.

    Parameters
    ----------
    labels : list
        The likeliest labels, with probabilities.
    terms : dict
        What the strongest terms of the text add to the log-odds of the first label.
    words : dict
        Those that speak most for it, as the text has them.
    """

    labels: list[tuple[str, float]]
    terms: dict[str, float]
    words: dict[str, float]

    @property
    def probability(self) -> float:
        """Of the likeliest label; 0 where nothing is known yet."""
        return self.labels[0][1] if self.labels else 0.0


NO_GUESS = Guess([], {}, {})


class Labelling:
    """What was asked and answered, and what the model has learnt from it.

    Nothing changes but by :meth:`apply`.

    Parameters
    ----------
    ids, texts : sequences of str
    several : bool
        Whether a text may have several labels.
    """

    def __init__(self, ids: Sequence[str], texts: Sequence[str], several: bool) -> None:
        self.collection, self.labels = Rows(ids), Labels(several)
        self._session = LabellingSession(texts, multi_label=several)
        self._answers: dict[int, str] = {}
        self._out: set[int] = set()
        self._random: set[int] = set()
        self._to_learn = False
        self._n_learnt = 0  # times that it has learnt something
        self.last_share: Share | None = None  # as it was when it was last asked for
        self._share_of = -1

    @property
    def strategy(self) -> str:
        """By what texts are chosen."""
        return self._session.strategy

    @property
    def vectorizer(self) -> Any:
        """What reads the words of texts."""
        return self._session.reader

    def judgement(self, id: str, answer: str, topic: str | None = None) -> Entry:
        """The entry of an answer, which ``Labels.checked`` has to look at."""
        check_record(id, self.collection.row_of)
        return {"kind": "judgement", "topic": TOPIC, "id": id, "answer": answer}

    def change_of_strategy(self, strategy: str) -> Entry:
        """The entry of another strategy."""
        check_choice("strategy", strategy, STRATEGIES)
        return {"kind": "strategy", "strategy": strategy}

    def apply(self, *entries: Entry) -> None:
        """Take entries: answers, texts handed out, other strategies, or of labels."""
        for entry in entries:
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        kind = entry["kind"]
        if kind == "judgement":
            row = self.collection.row_of[entry["id"]]
            self._out.discard(row)
            self._answers.pop(row, None)
            if entry["answer"] != WITHDRAWN:
                self._answers[row] = entry["answer"]
        elif kind == "handed_out":
            for id, reason in entry["records"].items():
                row = self.collection.row_of[id]
                self._out.add(row)
                if reason == AT_RANDOM:
                    self._random.add(row)
        elif kind == "strategy":
            self._session.strategy = entry["strategy"]
        elif kind in LABEL_KINDS:
            self.labels.apply(entry)
        self._to_learn |= kind == "judgement" or kind in LABEL_KINDS

    def session(self) -> LabellingSession:
        """The session, which has learnt everything."""
        if self._to_learn:
            named = ((row, self.labels.names(answer)) for row, answer in self._answers.items())
            known = {
                row: names if self.labels.several else names[0]
                for row, names in named
                if names is not None and (names or self.labels.several)
            }
            described = {label.name: label.description for label in self.labels.in_use}
            self._session.restate(known, self._random, described)
            self._to_learn = False
            self._n_learnt += 1
        return self._session

    def next_records(self, n: int = 1, topic: str | None = None) -> list[Pick]:
        """The texts to ask about next; fewer where fewer are left."""
        session = self.session()
        session.random_share = _FIRST_SHARE if self.n_at_random < _FIRST_RANDOM else _LATER_SHARE
        found = session.suggest(n, without=self._out | self._answers.keys())
        return [Pick(one.index, one.reason) for one in found]

    def guess(self, row: int, words: bool = True) -> Guess:
        """What the model would answer, and unless they are not wanted by which words."""
        session = self.session()
        if session.proba is None:
            return NO_GUESS
        p = dict(zip(session.names, session.proba[row].tolist(), strict=True))
        best = sorted(p, key=lambda name: -p[name])[:_GUESSES]
        labels = [(name, p[name]) for name in best]
        if not words:
            return Guess(labels, {}, {})
        terms = session.contributions(row, best[0])
        strongest = sorted(terms, key=lambda term: -abs(terms[term]))[:_MARKED]
        return Guess(labels, {term: terms[term] for term in strongest}, session.words(row, best[0]))

    @property
    def n_at_random(self) -> int:
        """Labelled texts that were drawn at random; not those of which somebody was unsure."""
        random = (self.labels.names(answer) for row, answer in self._answers.items() if row in self._random)
        return sum(names is not None for names in random)

    def share_right(self) -> Share | None:
        """Share of all texts that the model is expected to get right, with its 95 % interval; None as yet."""
        session = self.session()
        if self._share_of != self._n_learnt:
            self.last_share, self._share_of = session.share_right(), self._n_learnt
        return self.last_share

    @property
    def share_is_old(self) -> bool:
        """Whether there are some more answers than at the last look."""
        return self._share_of < 0 or self._n_learnt >= self._share_of + max(_NEW_ANSWERS, self._share_of // 10)

    def growth(self, ahead: Sequence[int]) -> Growth | None:
        """How that share is expected to grow with so many more labels."""
        return self.session().growth(ahead)

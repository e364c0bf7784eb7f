"""Projects that sort texts into categories: made, their labels changed, how they stand, exports, what models learn.

Texts are handed out, answered, taken back and put aside as the records of a review are (``judging``).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import insert
from sqlalchemy.orm import Session

from textbayes.app.accounts import names_of
from textbayes.app.assignments import Assignments, ReviewerQueue
from textbayes.app.database import Event, User
from textbayes.app.labelling import CONFLICT, TOPIC, WITHDRAWN, Label, Labels
from textbayes.app.live import CATEGORIES, LiveReview, ReviewRegistry
from textbayes.app.projects import create_project, documents_of
from textbayes.core.statistics import wilson_interval
from textbayes.core.types import Document
from textbayes.evaluate.intervals import Growth, Share
from textbayes.store.event_folder import Entry

_AHEAD = (50, 100, 200)  # labels, for which accuracy is foretold


class NewCategories(NamedTuple):
    """What a new project of categories is to be.

    Parameters
    ----------
    name : str
    labels : name → description
        Those that it begins with; more can be made on the way.
    several : bool
        Whether a text may have several labels, or none.
    show_guess : bool
        Whether people see what the model would answer.
    double : bool
        Whether two people label every text, without knowing what the other says.
    """

    name: str
    labels: Mapping[str, str] = {}
    several: bool = False
    show_guess: bool = True
    double: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """As they are stored."""
        return {"kind": CATEGORIES, "several": self.several, "show_guess": self.show_guess, "double": self.double}


def create_categories(registry: ReviewRegistry, owner: User, plan: NewCategories, texts: Sequence[Document]) -> str:
    """Make a project; returns its id.

    Parameters
    ----------
    registry : ReviewRegistry
    owner : User
    plan : NewCategories
    texts : sequence of Document
    """
    made, entries = Labels(plan.several), []
    for name, description in plan.labels.items():
        entries.append(made.new(name, description))
        made.apply(entries[-1])

    def store(session: Session, project: str) -> None:
        rows = [
            {"project_id": project, "sequence": number, "user_id": owner.id, "time": time.time(), "body": entry}
            for number, entry in enumerate(entries, start=1)
        ]
        if rows:
            session.execute(insert(Event), rows)

    return create_project(registry, owner, plan, texts, store)


def labels_of(assignments: Assignments) -> Labels:
    """The labels of a project of categories."""
    assert assignments.labels is not None  # callers have a labelling
    return assignments.labels


def add_label(review: LiveReview, user: int, name: str, description: str = "") -> None:
    """Make a label."""
    _step(review, user, lambda labels: labels.new(name, description))


def change_label(review: LiveReview, user: int, number: int, name: str, description: str | None = None) -> None:
    """Give a label another name or description; answers stay."""
    _step(review, user, lambda labels: labels.changed(number, name, description))


def merge_labels(review: LiveReview, user: int, number: int, into: int) -> None:
    """Have a label count as another one, in all answers, from now on."""
    _step(review, user, lambda labels: labels.merging(number, into))


def remove_label(review: LiveReview, user: int, number: int) -> None:
    """Take a label off all texts; those that have no other label are asked about again.

    Parameters
    ----------
    review : LiveReview
    user : int
    number : int
    """
    _check(review)

    def entries(assignments: Assignments) -> list[tuple[int, Entry]]:
        labels = labels_of(assignments)
        found: list[tuple[int, Entry]] = [(user, labels.removing(number))]
        for id, said in assignments.opinions[TOPIC].items():
            for person, answer in said.items():
                if labels.numbers(answer) == (number,):
                    withdrawn = {"kind": "judgement", "topic": TOPIC, "id": id, "answer": WITHDRAWN}
                    found.append((person, withdrawn))
        return found

    review.write(entries)
    review.shown.clear()


def _step(review: LiveReview, user: int, make: Callable[[Labels], Entry]) -> None:
    _check(review)
    review.step(user, lambda assignments: [make(labels_of(assignments))])
    review.shown.clear()


def _check(review: LiveReview) -> None:
    with review.labelling():
        pass


def measure(review: LiveReview) -> None:
    """Measure accuracy again if there are some new answers: in the background, for the next page."""
    with review.labelling() as labelling:
        if labelling.share_is_old:
            labelling.share_right()


class GoldScore(NamedTuple):
    """How many of the gold questions a person answered right, and the 95 % interval of that share."""

    name: str
    n_asked: int
    n_right: int
    low: float
    high: float


@dataclass(frozen=True)
class Standing:
    """How a project of categories stands.

    Parameters
    ----------
    labels : list
        Every label and how many texts have it.
    n_texts, n_answered, n_unsure, n_conflicts, n_waiting, n_at_random : int
        Of two people's answers some are in conflict; some texts wait for the second person; some of those that were
        answered were drawn at random.
    gold : list of GoldScore
        How each person answered the gold questions.
    share : Share or None
        Share of all texts that the model is expected to get right, with its 95 % interval; None as long as there are
        too few answers: of many labels the mean share of labels in common with the truth.
    growth : Growth or None
        How that is expected to grow.
    """

    labels: list[tuple[Label, int]]
    n_texts: int
    n_answered: int
    n_unsure: int
    n_conflicts: int
    n_waiting: int
    n_at_random: int
    gold: list[GoldScore]
    share: Share | None
    growth: Growth | None


def standing(review: LiveReview, user: int | None = None, look_ahead: bool = True) -> Standing:
    """How a project stands.

    Parameters
    ----------
    review : LiveReview
    user : int, optional
        Who looks: a gold question that they have answered, and do not know as such, counts as other texts do.
    look_ahead : bool
        Whether it is said how accuracy will grow, which takes longer.
    """
    with review.labelling() as labelling:
        share, n_at_random = labelling.share_right(), labelling.n_at_random
        growth = labelling.growth(_AHEAD) if look_ahead else None
    with review.looking() as assignments:
        labels = labels_of(assignments)
        own_gold = [] if user is None else assignments.own_gold(user, TOPIC)
        answered = assignments.opinions[TOPIC].keys() - assignments.gold.keys()  # whose answers are not for all
        stands = [assignments.answer(TOPIC, id) for id in answered]
        stands += [assignments.stands_for(user, TOPIC, id) for id in own_gold if user is not None]
        given = [answer for answer in stands if answer is not None]
        told = [labels.numbers(answer) for answer in given if answer != CONFLICT]
        n_conflicts, n_waiting = len(given) - len(told), assignments.n_waiting(TOPIC)
        n_waiting += len(own_gold) if assignments.double else 0
        right = assignments.gold_answers(TOPIC)
        counts = Counter(number for numbers in told if numbers is not None for number in numbers)
        rows = [(label, counts[label.number]) for label in labels.in_use]
    n_unsure = sum(numbers is None for numbers in told)
    names = names_of(review.store)
    gold = [
        GoldScore(names.get(user, "?"), len(one), sum(one), *wilson_interval(sum(one), len(one)))
        for user, one in sorted(right.items())
    ]
    numbers = len(told), n_unsure, n_conflicts, n_waiting, n_at_random
    return Standing(rows, review.collection.n_records, *numbers, gold, share, growth)


def training_texts(registry: ReviewRegistry, review: LiveReview, user: int) -> tuple[list[Document], list[str]]:
    """The texts with labels, and all others: what a model of the answers learns from.

    Parameters
    ----------
    registry : ReviewRegistry
    review : LiveReview
    user : int
        Who asks: gold questions have their label for those who may know it, and one's own for others.
    """
    _check(review)
    names, rows = _names(review, user), documents_of(registry, review)
    labelled = [Document(row["id"], row["text"], names[row["id"]]) for row in rows if row["id"] in names]
    return labelled, [row["text"] for row in rows if row["id"] not in names]


def table_of_labels(registry: ReviewRegistry, review: LiveReview, user: int) -> list[dict[str, Any]]:
    """All texts with their fields, labels and why each was asked about, for ``train`` and ``ask``; then the guesses.

    Where two people label every text, a column for each has their answers, as far as this person may see them.

    Parameters
    ----------
    registry : ReviewRegistry
    review : LiveReview
    user : int
        Who asks.
    """
    rows, people = [], names_of(registry.store)
    with review.looking() as assignments:
        labels, reasons = labels_of(assignments), assignments.reasons(ReviewerQueue(user, TOPIC))
        several, double = labels.several, assignments.double
        ids = review.collection.ids
        stands = {id: assignments.stands_for(user, TOPIC, id) for id in ids}
        known = assignments.opinions[TOPIC].keys() - assignments.gold.keys()
        waiting = {id for id in (*known, *assignments.own_gold(user, TOPIC)) if stands[id] is None}
        notes = {id: assignments.notes_for(user, id) for id in assignments.notes}
        said = {id: assignments.answers_for(user, TOPIC, id) for id in assignments.opinions[TOPIC]} if double else {}
        by = {
            id: {f"answer of {people.get(who, '?')}": labels.shown(text) for who, text in sorted(theirs.items())}
            for id, theirs in said.items()
        }
    columns = sorted({name for one in by.values() for name in one})
    names = {id: labels.names(answer) for id, answer in stands.items()}
    with review.labelling() as labelling:
        for place, record in enumerate(documents_of(registry, review)):
            id = record["id"]
            guess = labelling.guess(place, words=False)
            found = names[id]
            told: Any = found if not found or several else found[0]
            status = "waiting" if id in waiting else "answered" if found is not None else stands[id] or ""
            own = {
                "id": id,
                ("labels" if several else "label"): list(told) if several and told is not None else told,
                "status": status,
                "asked": reasons.get(id, ""),
                "note": "\n".join(notes.get(id, {}).values()),
                **{name: by.get(id, {}).get(name, "") for name in columns},
                "guess": guess.labels[0][0] if guess.labels else "",
                "guess_probability": round(guess.probability, 6),
            }
            fields = record["fields"] or {"text": record["text"]}
            rows.append(fields | {f"textbayes_{name}" if name in fields and name != "id" else name: value
                                  for name, value in own.items()})  # fmt: skip
    return rows


def _names(review: LiveReview, user: int) -> dict[str, tuple[str, ...]]:
    """The names of the labels of every text that has an answer with labels."""
    with review.looking() as assignments:
        labels = labels_of(assignments)
        answered = assignments.opinions[TOPIC].keys() | assignments.gold.keys()
        found = {id: labels.names(assignments.stands_for(user, TOPIC, id)) for id in answered}
    return {id: names for id, names in found.items() if names is not None and (names or labels.several)}

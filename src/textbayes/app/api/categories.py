"""Projects of categories: their labels, accuracy, and models of the answers.

Texts are asked for and answered as the records of a review are; an answer has the numbers of labels.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from textbayes.app import categories
from textbayes.app.access import Owner, Reader, Registry, Reviewer, training_of
from textbayes.app.api.schemas import Body, Plain
from textbayes.app.labelling import LONGEST_NAME
from textbayes.app.models import ListedModel, find_model

router = APIRouter(prefix="/projects/{project_id}", tags=["categories"])
Number = Annotated[int, Path(ge=1, lt=1_000_000)]


class LabelGiven(Body):
    """A label's name and description; without a description the one there is stays."""

    name: Annotated[Plain, Field(min_length=1, max_length=LONGEST_NAME)]
    description: Plain | None = None


class Merge(Body):
    """The number of the label that another one is to count as."""

    into: Annotated[int, Field(ge=1, lt=1_000_000)]


class LabelListed(BaseModel):
    """A label and how many texts have it."""

    number: int
    name: str
    description: str
    texts: int


class Accuracy(BaseModel):
    """Share of all texts that the model is expected to get right, with its 95 % interval."""

    value: float
    low: float
    high: float


class LabelsStatus(BaseModel):
    """The labels, what was answered, and accuracy, which is null as long as there are too few answers."""

    labels: list[LabelListed]
    several: bool
    texts: int
    answered: int
    unsure: int
    accuracy: Accuracy | None


@router.get("/labels")
def labels(who: Reader) -> LabelsStatus:
    """List the labels of a project of categories, and see how it stands."""
    stands = categories.standing(who.review, who.user.id, look_ahead=False)
    return LabelsStatus(
        labels=[LabelListed(**label._asdict(), texts=n) for label, n in stands.labels],
        several=bool(who.review.settings["several"]), texts=stands.n_texts, answered=stands.n_answered,
        unsure=stands.n_unsure, accuracy=None if stands.share is None else Accuracy(**stands.share._asdict()),
    )  # fmt: skip


@router.post("/labels", status_code=204)
def add(who: Reviewer, given: LabelGiven) -> None:
    """Make a label."""
    categories.add_label(who.review, who.user.id, given.name, given.description or "")


@router.put("/labels/{label}", status_code=204)
def change(who: Reviewer, label: Number, given: LabelGiven) -> None:
    """Give a label another name or description; answers stay."""
    categories.change_label(who.review, who.user.id, label, given.name, given.description)


@router.post("/labels/{label}/merge", status_code=204)
def merge(who: Owner, label: Number, given: Merge) -> None:
    """Have a label count as another one, in all answers."""
    categories.merge_labels(who.review, who.user.id, label, given.into)


@router.delete("/labels/{label}", status_code=204)
def remove(who: Owner, label: Number) -> None:
    """Take a label off all texts; those that have no other label are asked about again."""
    categories.remove_label(who.review, who.user.id, label)


@router.post("/train", status_code=202)
def train(request: Request, registry: Registry, who: Reviewer) -> ListedModel:
    """Train a model of the answers; it is there, among your models, when its state is ready."""
    training = training_of(request)
    id = training.begin_with_answers(who.user, registry, who.review)
    return training.listed(find_model(registry.store, who.user, id))

"""The pages of a project of categories beside those of any project: its labels, and a model of the answers."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app import categories, judging
from textbayes.app.access import Owner, Reader, Registry, Reviewer, training_of
from textbayes.app.labelling import NONE
from textbayes.app.pages.render import page

router = APIRouter(prefix="/projects/{project_id}")


@router.get("/labels")
def labels_page(request: Request, who: Reader) -> HTMLResponse:
    """All labels, and how many texts have each."""
    stands = categories.standing(who.review, who.user.id, look_ahead=False)
    return page(request, "labels.html.jinja", who, stands=stands)


@router.post("/labels")
def change_label(
    who: Reviewer,
    name: Annotated[str, Form()],
    description: Annotated[str, Form()] = "",
    label: Annotated[int | None, Form(description="The number of a label that there is.")] = None,
    back: Annotated[str, Form()] = "labels",
) -> Response:
    """Make a label, or give one another name or description. ``back`` is the page that follows."""
    if label is None:
        categories.add_label(who.review, who.user.id, name, description)
    else:
        categories.change_label(who.review, who.user.id, label, name, description)
    return RedirectResponse(f"/projects/{who.review.id}/{'judge' if back == 'judge' else 'labels'}", 303)


@router.post("/labels/{label}/merge")
def merge(who: Owner, label: int, into: Annotated[int, Form()]) -> Response:
    """Have a label count as another one."""
    categories.merge_labels(who.review, who.user.id, label, into)
    return RedirectResponse(f"/projects/{who.review.id}/labels", 303)


@router.post("/labels/{label}/remove")
def remove(who: Owner, label: int) -> Response:
    """Take a label off all texts."""
    categories.remove_label(who.review, who.user.id, label)
    return RedirectResponse(f"/projects/{who.review.id}/labels", 303)


@router.post("/gold")
def set_gold(
    who: Owner,
    id: Annotated[str, Form()],
    answer: Annotated[str, Form()],
    label: Annotated[list[str] | None, Form(description="Numbers of labels, for the answer “labels”.")] = None,
) -> Response:
    """Make a text a gold question, or a text like others again."""
    given = " ".join(label or []) or NONE if answer == "labels" else answer
    judging.set_gold(who.review, who.queue_of(None), id, given)
    return RedirectResponse(f"/projects/{who.review.id}/record?{urlencode({'id': id})}", 303)


@router.post("/train")
def train(request: Request, registry: Registry, who: Reviewer) -> Response:
    """Train a model of the answers; it is among the models of whoever asked for it."""
    id = training_of(request).begin_with_answers(who.user, registry, who.review)
    return RedirectResponse(f"/models/{id}", 303)

"""The page of words that people favour or disfavour."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app.access import Access, Reader, Reviewer
from textbayes.app.pages.render import page
from textbayes.app.words import said_words, say, strong_words, words_of_protocol

router = APIRouter(prefix="/projects/{project_id}")


@router.get("/words")
def words_page(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """What was said of words, and the strongest words of the model."""
    return _words(request, who, topic)


@router.post("/words")
def say_word(
    who: Reviewer,
    direction: Annotated[str, Form()],
    word: Annotated[list[str], Form()],
    topic: Annotated[str | None, Form()] = None,
    back: Annotated[str, Form()] = "words",
) -> Response:
    """Favour, disfavour or forget words; commas stand between several. ``back`` is the page that follows."""
    place = who.place(topic or who.first_topic)
    for one in [part.strip() for given in word for part in given.split(",")]:
        if one:
            say(who.review, place, one, direction)
    after = "judge" if back == "judge" else "words"
    return RedirectResponse(f"/projects/{who.review.id}/{after}?{urlencode({'topic': place.topic})}", 303)


@router.post("/protocol")
def read_protocol(
    request: Request, who: Reviewer, text: Annotated[str, Form()] = "", topic: Annotated[str | None, Form()] = None
) -> HTMLResponse:
    """Find the words of a protocol that records have, for a person to choose among."""
    return _words(request, who, topic, found=words_of_protocol(who.review, text), pasted=text)


def _words(
    request: Request, who: Access, topic: str | None, found: list[str] | None = None, pasted: str = ""
) -> HTMLResponse:
    name = who.place(topic or who.first_topic).topic
    with who.review.model() as screening:
        said, strong = said_words(screening, name), strong_words(screening, name)
    known = {one.word for one in said}
    strong = [one for one in strong if one.word not in known]
    return page(request, "words.html.jinja", who, topic=name, said=said, strong=strong, found=found, pasted=pasted)

"""A project to try the room with: stories of the embedded news corpus."""

from __future__ import annotations

from textbayes.app.accounts import local_user
from textbayes.app.live import Room
from textbayes.app.projects import Plan, create_project, list_projects
from textbayes.core.errors import TextBayesError
from textbayes.screen import ScreenSettings

_QUESTION = "film awards: the Oscars, Bafta and Golden Globe nominations, actors and directors"


def make_sample(room: Room) -> str | None:
    """Make the project, unless there is any; returns its id.

    Parameters
    ----------
    room : Room
    """
    from textbayes.data import load_corpus

    user = local_user(room.store)
    if list_projects(room, user):
        return None
    try:
        stories = list(load_corpus("bbc").documents())
    except TextBayesError:  # the extra that brings them is not installed
        return None
    settings = ScreenSettings(questions={"relevant": _QUESTION})
    id = create_project(room, user, Plan("Which stories are about film awards?", settings, prior="none"), stories)
    room.review(id)
    return id

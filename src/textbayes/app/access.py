"""Who asks, and whether they may: what routes depend on."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Request
from sqlalchemy import select

from textbayes.app.accounts import Visitor, find_session, find_token
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.database import ROLES, Member, User
from textbayes.app.live import LiveReview, MissingProjectError, ReviewRegistry
from textbayes.app.settings import LOGIN

COOKIE = "textbayes_session"
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class NotSignedInError(Exception):
    """Nobody is logged in, or no longer."""


class ForbiddenError(Exception):
    """Somebody may not do this; the message says what is needed."""


class Access(NamedTuple):
    """A person at a project.

    Parameters
    ----------
    user : User
    review : LiveReview
    role : str
    csrf : str
    """

    user: User
    review: LiveReview
    role: str
    csrf: str

    def queue_of(self, topic: str | None) -> ReviewerQueue:
        """The person's queue of a topic; of the one there is, if none is named."""
        return ReviewerQueue(self.user.id, self.review.screening.topic(topic).name)

    @property
    def first_topic(self) -> str:
        """What pages show where no topic is named."""
        return self.review.screening.settings.topics[0]

    def may(self, role: str) -> bool:
        """Whether the person has a role, or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)


def registry_of(request: Request) -> ReviewRegistry:
    """The room that is served."""
    registry: ReviewRegistry = request.app.state.registry
    return registry


def find_visitor(request: Request) -> Visitor | None:
    """Who asks, by token or by cookie."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme:
        return find_token(registry_of(request).store, secret.strip()) if scheme.lower() == "bearer" else None
    cookie = request.cookies.get(COOKIE)
    return None if cookie is None else find_session(registry_of(request).store, cookie)


def may_send(request: Request) -> bool:
    """Whether what a request sends is read at all: of those who are logged in, or log in."""
    request.state.visitor = find_visitor(request)
    return request.state.visitor is not None or request.url.path == LOGIN


def visitor(request: Request) -> Visitor:
    """Who asks; somebody must be logged in."""
    found: Visitor | None = getattr(request.state, "visitor", None) or find_visitor(request)
    if found is None:
        raise NotSignedInError
    return found


async def writer(request: Request, found: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """Who asks to change something: a browser must show the secret of its session, which other sites do not know."""
    if found.csrf is not None:
        shown: Any = request.headers.get("x-csrf-token")
        if shown is None and request.headers.get("content-type", "").split(";")[0].strip().lower() in _FORMS:
            shown = (await request.form()).get("csrf")
        if not isinstance(shown, str) or not secrets.compare_digest(shown.encode(), found.csrf.encode()):
            raise ForbiddenError("the form has expired; reload the page and send it again")
    return found


def admin(found: Annotated[Visitor, Depends(writer)]) -> Visitor:
    """Who asks to change accounts."""
    return admin_looks(found)


def admin_looks(found: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """Who asks to see accounts."""
    if not found.user.admin:
        raise ForbiddenError("only an administrator may do this")
    return found


ProjectId = Annotated[str, Path(max_length=64, description="Id of the project.")]


def _access(role: str, found: Visitor, request: Request, project_id: str) -> Access:
    registry = registry_of(request)
    with registry.store.read() as session:
        own = session.scalar(
            select(Member.role).where(Member.project_id == project_id, Member.user_id == found.user.id)
        )
    if own is None:
        raise MissingProjectError("this project does not exist, or it is not shared with you")
    if ROLES.index(own) < ROLES.index(role):
        raise ForbiddenError(f"this needs the role {role}; you are {own} here")
    return Access(found.user, registry.review(project_id), own, found.csrf or "")


def reading() -> Callable[..., Access]:
    """A dependency: somebody who may look at the project."""

    def find(request: Request, project_id: ProjectId, found: Annotated[Visitor, Depends(visitor)]) -> Access:
        return _access("reader", found, request, project_id)

    return find


def changing(role: str) -> Callable[..., Access]:
    """A dependency: somebody who has a role in the project and asks to change something."""

    def find(request: Request, project_id: ProjectId, found: Annotated[Visitor, Depends(writer)]) -> Access:
        return _access(role, found, request, project_id)

    return find


Registry = Annotated[ReviewRegistry, Depends(registry_of)]
SignedIn = Annotated[Visitor, Depends(visitor)]
Writer = Annotated[Visitor, Depends(writer)]
Admin = Annotated[Visitor, Depends(admin)]
AdminLooks = Annotated[Visitor, Depends(admin_looks)]
Reader = Annotated[Access, Depends(reading())]
Reviewer = Annotated[Access, Depends(changing("reviewer"))]
Owner = Annotated[Access, Depends(changing("owner"))]

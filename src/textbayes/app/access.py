"""Who may come in: what every request must pass, launch tokens, and the dependencies by which routes know who asks.

A page of another site can make a browser send requests here. It cannot change the Host header, which a rebound DNS name
would give away, nor the Origin of a request that changes something.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import inspect
import json
import secrets
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Request, Response
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textbayes.app.accounts import Visitor, find_session, find_token
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.database import ROLES, Membership, User
from textbayes.app.live import LiveReview, MissingProjectError, ReviewRegistry
from textbayes.app.models import Training
from textbayes.app.settings import OPEN, AppSettings
from textbayes.app.stages import full_text_of, is_full_text, topic_of

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
        """The person's queue of a topic, or of its full texts; of the one topic there is, if none is named."""
        name = self.review.topic_of(None if topic is None else topic_of(topic))
        return ReviewerQueue(self.user.id, full_text_of(name) if topic and is_full_text(topic) else name)

    @property
    def first_topic(self) -> str:
        """What pages show where no topic is named."""
        return self.review.topics[0]

    def may(self, role: str) -> bool:
        """Whether the person has a role, or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)


def registry_of(request: Request) -> ReviewRegistry:
    """The room that is served."""
    registry: ReviewRegistry = request.app.state.registry
    return registry


async def _registry(request: Request) -> ReviewRegistry:
    """The room, as a dependency that needs no thread of its own."""
    return registry_of(request)


def training_of(request: Request) -> Training:
    """What trains models here."""
    training: Training = request.app.state.training
    return training


def find_visitor(request: Request) -> Visitor | None:
    """Who asks, by token or by cookie."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme:
        return find_token(registry_of(request).store, secret.strip()) if scheme.lower() == "bearer" else None
    cookie = request.cookies.get(COOKIE)
    return None if cookie is None else find_session(registry_of(request).store, cookie)


def check_team(request: Request) -> None:
    """Refuse what lets others into a room on one's own machine."""
    if not request.app.state.settings.team:
        raise ForbiddenError("this room is for you alone; start it with --team to invite others")


def may_send(request: Request) -> bool:
    """Whether what a request sends is read at all: of those who are logged in, log in or join."""
    request.state.visitor = find_visitor(request)
    return request.state.visitor is not None or request.url.path in OPEN


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
            select(Membership.role).where(Membership.project_id == project_id, Membership.user_id == found.user.id)
        )
    if own is None:
        raise MissingProjectError("this project does not exist, or it is not shared with you")
    if ROLES.index(own) < ROLES.index(role):
        raise ForbiddenError(f"this needs the role {role}; you are {own} here")
    return Access(found.user, registry.review(project_id), own, found.csrf or "")


def reading(role: str = "reader") -> Callable[..., Access]:
    """A dependency: somebody who has a role in the project and looks at it."""

    def find(request: Request, project_id: ProjectId, found: Annotated[Visitor, Depends(visitor)]) -> Access:
        return _access(role, found, request, project_id)

    return find


def changing(role: str) -> Callable[..., Access]:
    """A dependency: somebody who has a role in the project and asks to change something."""

    def find(request: Request, project_id: ProjectId, found: Annotated[Visitor, Depends(writer)]) -> Access:
        return _access(role, found, request, project_id)

    return find


Registry = Annotated[ReviewRegistry, Depends(_registry)]
SignedIn = Annotated[Visitor, Depends(visitor)]
Writer = Annotated[Visitor, Depends(writer)]
Admin = Annotated[Visitor, Depends(admin)]
AdminLooks = Annotated[Visitor, Depends(admin_looks)]
Reader = Annotated[Access, Depends(reading())]
OwnerLooks = Annotated[Access, Depends(reading("owner"))]
Reviewer = Annotated[Access, Depends(changing("reviewer"))]
Owner = Annotated[Access, Depends(changing("owner"))]


class LaunchTokens:
    """Secrets that let the one person of a local room in, each once.

    Parameters
    ----------
    *tokens : str
        Those that are there at the start; they last as long as the process.
    clock : callable
        Seconds.
    """

    def __init__(self, *tokens: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._ends = dict.fromkeys(tokens, float("inf"))
        self._clock, self._lock = clock, threading.Lock()

    def new(self, seconds: float = float("inf")) -> str:
        """A further secret, which is worth nothing after so many seconds."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._ends[token] = self._clock() + seconds
        return token

    def use_up(self, given: str) -> bool:
        """Whether a secret lets its bearer in; it does so once."""
        with self._lock:
            now = self._clock()
            self._ends = {token: end for token, end in self._ends.items() if end > now}
            found = next((one for one in self._ends if hmac.compare_digest(one.encode(), given.encode())), None)
            if found is not None:
                del self._ends[found]
            return found is not None


Knows = Callable[[Request], bool | Awaitable[bool]]
_SAFE = ("GET", "HEAD", "OPTIONS")
_LARGEST_LOGIN = 1 << 16  # bytes
PATIENCE = 30.0  # seconds that the head of a request has, and its body
_LEAST_A_SECOND = 10_000  # bytes of a body: for each second more it may take one more, as on slow lines
_HEADERS = {
    # Drawings carry their style within; nothing else may, and no script but our own files runs.
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class _Refused(Exception):
    """A body that goes on for too long, or does not go on."""


class Guards:
    """ASGI middleware that refuses what must not come in, and says in every answer what browsers must not do.

    Parameters
    ----------
    app : ASGI application
    settings : AppSettings
    """

    def __init__(self, app: ASGIApp, settings: AppSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a websocket: there are none here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        started, size, most = False, 0, self._most(scope)
        begun, more = asyncio.get_running_loop().time(), True

        async def limited() -> Message:
            nonlocal size, refusal, more
            if not more:  # whoever asks waits for the client to leave
                return await receive()
            try:
                async with asyncio.timeout_at(begun + PATIENCE + size / _LEAST_A_SECOND):
                    message = await receive()
            except TimeoutError:
                refusal = 408, "the request stopped coming; send it again"
                raise _Refused from None
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
            if size > most:
                refusal = 413, self._too_large()
                raise _Refused
            return message

        async def guarded(message: Message) -> None:
            nonlocal started
            if refusal is not None and not started:
                return  # whoever read the body took it for damaged; what is wrong is said below
            if message["type"] == "http.response.start":
                started = True
                there = {name for name, _ in message["headers"]}
                own = {**_HEADERS, **({} if b"cache-control" in there else {"cache-control": "no-store"})}
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in own.items())]
            await send(message)

        with contextlib.suppress(_Refused):
            await self._app(scope, limited, guarded)
        if refusal is not None and not started:
            await _refuse(send, *refusal)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        settings = self._settings
        n_hosts = sum(name == b"host" for name, _ in scope["headers"])  # of two, others might take the other one
        if n_hosts != 1 or headers["host"].lower() not in settings.hosts:
            return 421, f"this server answers for {settings.origin} only"
        if scope["method"] not in _SAFE:
            origin = headers.get("origin")
            if origin is not None and origin.lower() not in settings.origins:
                return 403, "requests from pages of other sites are refused"
            if origin is None and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
                return 403, "requests from pages of other sites are refused"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > self._most(scope):
            return 413, self._too_large()
        return None

    def _most(self, scope: Scope) -> int:
        return _LARGEST_LOGIN if scope["path"] in OPEN else self._settings.largest_upload

    def _too_large(self) -> str:
        return f"the request is larger than {self._settings.largest_upload >> 20} MB, which is the most; split the file"


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers: list[Any] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class AuthMiddleware:
    """ASGI middleware that refuses those whom nobody knows before any of what they send is read.

    Parameters
    ----------
    app : ASGI application
    knows : callable
        Whether the sender of a request may send something; it may ask the database, in a thread of its own unless it
        is a coroutine function.
    refuse : callable
        The answer to one who may not.
    """

    def __init__(self, app: ASGIApp, knows: Knows, refuse: Callable[[Request], Response]) -> None:
        self._app, self._knows, self._refuse = app, knows, refuse
        self._waits = inspect.iscoroutinefunction(knows)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "http" and scope["method"] not in _SAFE:
            request = Request(scope)
            known = self._knows(request) if self._waits else run_in_threadpool(self._knows, request)
            if not await known:  # type: ignore[misc]
                await self._refuse(request)(scope, receive, send)
                return
        await self._app(scope, receive, send)

"""What every request must pass before anything looks at it: host, the page it comes from, its size, and who sends it.

A page of another site can make a browser send requests here. It cannot change the Host header, which a rebound DNS name
would give away, nor the Origin of a request that changes something.
"""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textbayes.app.settings import LOGIN, AppSettings

Knows = Callable[[Request], bool | Awaitable[bool]]
_SAFE = ("GET", "HEAD", "OPTIONS")
_LARGEST_LOGIN = 1 << 16  # bytes
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


class _TooLarge(Exception):
    """A body that goes on for too long."""


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
        started, too_large, size, most = False, False, 0, self._most(scope)

        async def limited() -> Message:
            nonlocal size, too_large
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                too_large = True
                raise _TooLarge
            return message

        async def guarded(message: Message) -> None:
            nonlocal started
            if too_large and not started:
                return  # whoever read the body took it for damaged; what is wrong is said below
            if message["type"] == "http.response.start":
                started = True
                there = {name for name, _ in message["headers"]}
                own = {**_HEADERS, **({} if b"cache-control" in there else {"cache-control": "no-store"})}
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in own.items())]
            await send(message)

        with contextlib.suppress(_TooLarge):
            await self._app(scope, limited, guarded)
        if too_large and not started:
            await _refuse(send, 413, self._too_large())

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
        return _LARGEST_LOGIN if scope["path"] == LOGIN else self._settings.largest_upload

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

"""Start the review room, with a sample project if one is wanted, and serve it until it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from threadpoolctl import threadpool_limits  # scikit-learn brings it
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from textbayes.app.access import PATIENCE
from textbayes.app.accounts import local_user
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.live import ReviewRegistry
from textbayes.app.projects import NewProject, create_project, list_projects
from textbayes.app.settings import AppSettings, default_database
from textbayes.app.web import create_app
from textbayes.app.words import say
from textbayes.core.atomic import atomic_write, cache_folder, make_private_folder
from textbayes.core.errors import InputError, TextBayesError
from textbayes.screen import ScreenSettings

_QUESTION = "find all stories on takeovers"
_WORDS = ("takeover", "takeovers", "merger", "acquisition")  # most words of the question could ask for anything


def make_sample(registry: ReviewRegistry) -> str | None:
    """Make a project of the embedded news, unless there is any project; nothing is answered. Returns its id.

    Parameters
    ----------
    registry : ReviewRegistry
    """
    from textbayes.data import load_corpus

    user = local_user(registry.store)
    if list_projects(registry, user):
        return None
    try:
        stories = list(load_corpus("bbc").documents())
    except TextBayesError:  # the extra that brings them is not installed
        return None
    settings = ScreenSettings(questions={"relevant": _QUESTION})
    id = create_project(registry, user, NewProject("Stories on takeovers", settings, prior="none"), stories)
    for word in _WORDS:
        say(registry.review(id), ReviewerQueue(user.id, "relevant"), word, "for")
    return id


def open_browser(origin: str, token: str, folder: Path) -> Path:
    """Open the room in the browser by way of a file; returns the file, which is to be removed at the end.

    The link itself must not be an argument of the browser: every user of the machine sees the arguments of all
    processes (``ps``), and could enter with it. They see the name of a file that its owner alone can read. Its secret
    works once and for some minutes, so that what browsers keep in their history opens nothing.

    Parameters
    ----------
    origin, token : str
    folder : Path
        For the file; nobody else can look into it.
    """
    make_private_folder(folder)
    path = folder / f"open-{origin.rpartition(':')[2]}.html"  # one for each port; what a kill left is replaced
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>textbayes</title>'
        f'<meta http-equiv="refresh" content="0; url={origin}/enter?token={token}">'
        f'<p><a href="{origin}/enter?token={token}">Open the review room</a></p></html>\n'
    )
    with atomic_write(path, private=True) as stream:
        stream.write(page.encode())
    threading.Thread(target=webbrowser.open, args=(path.resolve().as_uri(),), daemon=True).start()
    return path


_PORT, _MORE_PORTS = 8765, 20
_BROWSER_SECONDS = 300.0  # that the browser has to come up


class Served(NamedTuple):
    """Where a room is.

    Parameters
    ----------
    link : str
        What opens it; of a room on one's own machine it holds a secret, and works once.
    database : str
        Without the password.
    """

    link: str
    database: str


def serve_room(
    database: str | None,
    team: bool,
    host: str,
    port: int | None,
    origin: str | None,
    largest_upload: int,
    sample: bool,
    browser: bool,
    tell: Callable[[Served], None],
    proxies: Sequence[str] = (),
) -> None:
    """Serve the room until the process is ended.

    Parameters
    ----------
    database : str or None
        The user's own if None.
    team : bool
    host : str
        Address to listen on.
    port : int or None
        The first free one from 8765 on if None.
    origin : str or None
        As browsers see it; host and port if None.
    largest_upload : int
        Bytes.
    sample : bool
        Whether a sample project is made where there is none.
    browser : bool
        Whether it is opened.
    tell : callable
        Is given where it is, when it can be reached.
    proxies : sequence of str
        Addresses or networks of gateways that are believed when they say for whom they ask (``X-Forwarded-For``).
    """
    check_proxies(proxies)
    with contextlib.closing(listen(host, port)) as listening:
        at = listening.getsockname()[1]
        settings = AppSettings(
            database=database or default_database(),
            team=team,
            origin=origin or f"http://{host}:{at}",
            largest_upload=largest_upload,
            cache=cache_folder() / "room",
        )
        secret = None if team else secrets.token_urlsafe(24)
        app = create_app(settings, secret)
        if sample:
            make_sample(app.state.registry)
        link = settings.origin if secret is None else f"{settings.origin}/enter?token={secret}"
        tell(Served(link, app.state.registry.store.engine.url.render_as_string(hide_password=True)))
        with contextlib.ExitStack() as after:
            after.enter_context(threadpool_limits(1, "blas"))  # people ask at once: its threads would be in their way
            if browser:
                token = app.state.launch.new(_BROWSER_SECONDS)
                file = open_browser(settings.origin, token, cache_folder() / "room")
                after.callback(file.unlink, missing_ok=True)
            serve(app, listening, proxies)


def serve(app: object, listening: socket.socket, proxies: Sequence[str] = ()) -> None:
    """Serve an application on a socket until the process is ended; requests under way are answered first.

    Parameters
    ----------
    app : ASGI application
    listening : socket
    proxies : sequence of str
        As for :func:`serve_room`. None by default: uvicorn would believe every program on this machine, which could
        then guess passwords under any address, and have any address in the audit log.
    """
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        http=_Patient,
        timeout_graceful_shutdown=10,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
    )
    uvicorn.Server(config).run(sockets=[listening])


class _Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed where the head of a request has not come for a while: uvicorn waits for ever."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:  # the next request has begun
            self._wait()
        elif self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(PATIENCE, self.transport.close)


def check_proxies(proxies: Sequence[str]) -> None:
    """Refuse what is no address of a gateway; uvicorn would take it for the name of a socket, or believe everybody."""
    for given in proxies:
        try:
            ipaddress.ip_network(given)
        except ValueError:
            raise InputError(
                f"proxy={given!r} is no address; give that of the gateway, such as 127.0.0.1 or 10.0.0.0/24"
            ) from None


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at a port, or at the first free one from 8765 on."""
    ports = [port] if port is not None else range(_PORT, _PORT + _MORE_PORTS)
    for tried in ports:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY on such
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, tried))
            listening.listen(128)
            return listening
        except OSError as error:
            listening.close()
            cause = error.strerror
    raise InputError(f"nothing can listen on {host} at port {ports[0]} ({cause}); choose another: port={_PORT + 1000}")

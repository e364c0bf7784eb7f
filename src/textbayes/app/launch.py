"""The way into a room on one's own machine: links that work once, and how the browser is given one."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path

from textbayes.core.atomic import atomic_write, make_private_folder

BROWSER_SECONDS = 300.0  # that the browser has to come up


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

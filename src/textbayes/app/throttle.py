"""Those who guess passwords wait: the longer the more they guess, whichever process of the room they ask.

Nobody can keep somebody else out by guessing. Browsers that a person has logged in with before are known by a cookie
and counted one by one, apart from all others ("device cookies", as OWASP describes them); the others are counted by
name and address together, and by name alone only far later and with short waits. An address alone counts for nothing:
behind a gateway it is everybody's.
"""

from __future__ import annotations

import contextlib
import ipaddress
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from textbayes.app.database import Store, Tries
from textbayes.core.errors import InputError

_FORGOTTEN = 3_600.0  # seconds after which failures do not count any more
_AT_ONCE, _WAITING = 2, 16  # passwords of unknown browsers that are checked at a time: each takes 64 MB and a while


class _Limit(NamedTuple):
    """How many failures are free, and the longest wait after them in seconds."""

    free: int
    longest: float


_LIMITS = {
    "device": _Limit(5, 900.0),
    "pair": _Limit(5, 900.0),
    "name": _Limit(50, 60.0),  # guesses from many addresses: 1,500 a day
}


class TooManyTriesError(InputError):
    """Somebody must wait before the next try."""


class Try(NamedTuple):
    """A try to log in.

    Parameters
    ----------
    name, address : str
        Whose password is tried, and from where.
    device : str or None
        Which browser of that person it is; None for one that never logged in with this name.
    """

    name: str
    address: str
    device: str | None = None

    @property
    def keys(self) -> dict[str, str]:
        """What its failure is counted under."""
        if self.device is not None:
            return {"device": f"device {self.device}"}
        name = self.name.strip().lower()[:200]
        return {"pair": f"pair {_network(self.address)} {name}", "name": f"name {name}"}


class Throttle:
    """Counts failures in the database.

    Parameters
    ----------
    store : Store
    clock : callable
        Seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._queue, self._working = threading.BoundedSemaphore(_WAITING), threading.BoundedSemaphore(_AT_ONCE)

    @contextlib.contextmanager
    def turn(self, tried: Try) -> Iterator[None]:
        """Wait for the turn to check a password; few at a time, and known browsers are not held up by the others."""
        if tried.device is not None:
            yield
            return
        if not self._queue.acquire(blocking=False):
            raise TooManyTriesError("many people log in at this moment; try again in a few seconds")
        try:
            with self._working:
                yield
        finally:
            self._queue.release()

    def attempt(self, tried: Try) -> None:
        """Refuse a try that comes too early; else count it as failed, so that many at once are not more than one."""
        with self._store.write() as session:
            now = self._clock()
            session.execute(delete(Tries).where(Tries.last < now - _FORGOTTEN))
            found = [(_LIMITS[kind], _locked(session, key)) for kind, key in tried.keys.items()]
            waits = [(_wait(one.number, limit), one.last) for limit, one in found]
            wait = max(last + seconds - now if seconds else 0.0 for seconds, last in waits)  # clocks may differ
            if wait > 0.0:
                raise TooManyTriesError(f"too many tries; wait {wait:.0f} seconds before the next")
            for _, one in found:
                one.number, one.last = one.number + 1, now

    def succeeded(self, tried: Try) -> None:
        """Forget the failures of one who got in; of those with this name elsewhere only the last, which was none."""
        with self._store.write() as session:
            for kind, key in tried.keys.items():
                one = _locked(session, key)
                one.number = max(one.number - 1, 0) if kind == "name" else 0


def forget_tries(session: Session, name: str) -> None:
    """Let a person with a new password try at once, from anywhere."""
    own = name.strip().lower()[:200]
    ending = Tries.key.endswith(f" {own}", autoescape=True)
    session.execute(delete(Tries).where(Tries.key.startswith("pair ") & ending | (Tries.key == f"name {own}")))


def _network(address: str) -> str:
    """An address as it is counted: of IPv6 a whole network, of which one machine has all addresses."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return address


def _wait(number: int, limit: _Limit) -> float:
    return min(limit.longest, 2.0 ** min(number - limit.free, 20)) if number > limit.free else 0.0


def _locked(session: Session, key: str) -> Tries:
    """The row of a key, made if there is none; nobody else changes it before the session ends."""
    kind: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[session.get_bind().dialect.name]
    session.execute(kind(Tries).values(key=key, number=0, last=0.0).on_conflict_do_nothing())
    return session.scalars(select(Tries).where(Tries.key == key).with_for_update()).one()

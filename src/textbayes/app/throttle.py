"""Those who guess passwords wait: the longer the more they guess, whichever process of the room they ask."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from textbayes.app.database import Tries
from textbayes.app.store import Store
from textbayes.core.errors import InputError

_FREE = {"name": 5, "address": 20}  # failures before anyone waits; an address may be that of a whole office
_LONGEST = 900.0  # seconds
_FORGOTTEN = 3_600.0  # seconds after which failures do not count any more


class TooManyTriesError(InputError):
    """Somebody must wait before the next try."""


class Throttle:
    """Counts failures by name and by address, in the database.

    Parameters
    ----------
    store : Store
    clock : callable
        Seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock

    def attempt(self, name: str, address: str) -> None:
        """Refuse a try that comes too early; else count it as failed, so that many at once are not more than one.

        Parameters
        ----------
        name, address : str
            Whose password is tried, and from where.
        """
        with self._store.write() as session:
            now = self._clock()
            session.execute(delete(Tries).where(Tries.last < now - _FORGOTTEN))
            found = [(kind, _locked(session, key)) for kind, key in _keys(name, address).items()]
            waits = [(_wait(one.number, _FREE[kind]), one.last) for kind, one in found]
            wait = max(last + seconds - now if seconds else 0.0 for seconds, last in waits)  # clocks may differ
            if wait > 0.0:
                raise TooManyTriesError(f"too many tries; wait {wait:.0f} seconds before the next")
            for _, one in found:
                one.number, one.last = one.number + 1, now

    def succeeded(self, name: str, address: str) -> None:
        """Forget the failures of one who got in; of the address only the last, which was none.

        Parameters
        ----------
        name, address : str
        """
        keys = _keys(name, address)
        with self._store.write() as session:
            session.execute(delete(Tries).where(Tries.key == keys["name"]))
            one = _locked(session, keys["address"])
            one.number = max(one.number - 1, 0)


def _keys(name: str, address: str) -> dict[str, str]:
    return {"address": f"address {address}", "name": f"name {name.strip().lower()[:200]}"}


def _wait(number: int, free: int) -> float:
    return min(_LONGEST, 2.0 ** min(number - free, 20)) if number > free else 0.0


def _locked(session: Session, key: str) -> Tries:
    """The row of a key, made if there is none; nobody else changes it before the session ends."""
    kind: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[session.get_bind().dialect.name]
    session.execute(kind(Tries).values(key=key, number=0, last=0.0).on_conflict_do_nothing())
    return session.scalars(select(Tries).where(Tries.key == key).with_for_update()).one()

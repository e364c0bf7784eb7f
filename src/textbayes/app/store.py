"""Sessions with the room's database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from textbayes.app.database import Audit, make_file, open_database
from textbayes.app.database_faults import in_one_sentence
from textbayes.app.migrate import upgrade


class Store:
    """A database whose tables are up to date.

    Parameters
    ----------
    address : str
        See :func:`~textbayes.app.database.open_database`.
    """

    def __init__(self, address: str) -> None:
        self.engine: Engine = open_database(address)
        self._writing = self.engine.execution_options(write=True)
        try:
            with in_one_sentence(self.engine.url):
                make_file(self.engine.url)
                upgrade(self.engine)
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[Session]:
        """A session that changes nothing."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """A session whose changes are on disk when the block has ended, all of them or none."""
        with Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def note_audit(session: Session, user: str, action: str, what: str) -> None:
    """Keep who did what; in the same transaction as the deed.

    Parameters
    ----------
    session : Session
    user, action, what : str
    """
    session.add(Audit(user=user, action=action, what=what))

"""What a database cannot do, in one sentence: not there, locked, read-only, damaged, or no database at all."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from textbayes.app.database import shown
from textbayes.core.errors import InputError

_SQLITE = {  # by the beginning of SQLite's names of errors
    "SQLITE_NOTADB": "is not a database; name one that a review room made, or a path where there is no file yet",
    "SQLITE_BUSY": "is locked by another program; end that one, or try again when it is done",
    "SQLITE_LOCKED": "is locked by another program; end that one, or try again when it is done",
    "SQLITE_READONLY": "cannot be written; allow it (chmod u+w on the file and its folder), or copy it elsewhere",
    "SQLITE_CANTOPEN": "cannot be opened; check that its folder exists and that you may write there",
    "SQLITE_PERM": "cannot be opened; check that its folder exists and that you may write there",
    "SQLITE_CORRUPT": "is damaged; put the last backup in its place",
    "SQLITE_FULL": "cannot grow: the disk is full; free some space",
}


@contextlib.contextmanager
def in_one_sentence(url: URL) -> Iterator[None]:
    """Turn errors of a database within the block into an error that says which it is and what to do."""
    try:
        yield
    except (DBAPIError, sqlite3.Error, OSError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise InputError(f"the database {shown(url)} {said_of(cause)}") from error


def said_of(cause: BaseException | None) -> str:
    """What is wrong, as the end of a sentence that begins with the name of the database."""
    if isinstance(cause, OSError):
        return f"cannot be opened ({cause.strerror}); check that its folder exists and that you may write there"
    name = getattr(cause, "sqlite_errorname", "")
    for start, sentence in _SQLITE.items():
        if name.startswith(start):
            return sentence
    first = " ".join(str(cause).split())[:300]
    return f"does not answer ({first}); check that it runs, and the address, name and password"

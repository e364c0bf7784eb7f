"""A copy of the whole database, made while it is in use."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO

from sqlalchemy.engine import URL

from textbayes.app.database import open_database, sqlite_file
from textbayes.app.database_faults import in_one_sentence
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError


def back_up(address: str, target: Path) -> None:
    """Copy a database to a file, whole or not at all.

    Parameters
    ----------
    address : str
        See :func:`~textbayes.app.database.open_database`.
    target : Path
    """
    url = open_database(address).url
    source = sqlite_file(url)
    if source is not None and source.exists() and target.exists() and target.samefile(source):
        raise InputError(f"{target} is the database itself; name another file for the copy")
    # It holds hashes of passwords, and all records.
    with in_one_sentence(url), atomic_write(target, private=True) as stream:
        if url.get_backend_name() == "sqlite":
            _copy_sqlite(Path(url.database or ""), target.parent, stream)
        else:
            _dump_postgresql(url, stream)


def _copy_sqlite(source: Path, folder: Path, stream: BinaryIO) -> None:
    """The database as it was at one moment, though others write to it."""
    if not source.is_file():
        raise InputError(f"there is no database {source}; name the one that `textbayes app` shows")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".textbayes-") as beside:
        path = Path(beside) / "copy"
        with contextlib.closing(sqlite3.connect(source)) as original, contextlib.closing(sqlite3.connect(path)) as copy:
            original.backup(copy)
        with path.open("rb") as copied:
            shutil.copyfileobj(copied, stream)


def _dump_postgresql(url: URL, stream: BinaryIO) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise InputError("a copy of PostgreSQL needs pg_dump, which is not there; install postgresql-client")
    # Everybody on the machine sees the arguments of a program: the password is not one of them.
    plain = url._replace(drivername="postgresql", password=None).render_as_string()
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    command = [program, "--format=custom", "--no-password", f"--dbname={plain}"]
    done = subprocess.run(command, env=environment, stdout=stream, stderr=subprocess.PIPE)
    if done.returncode:
        raise InputError(f"pg_dump could not copy the database: {done.stderr.decode(errors='replace').strip()[:500]}")

"""Tables of the review room, and how its database is opened: SQLite or PostgreSQL.

Events are the truth: what happened in a project, in order. They are only ever added; triggers refuse changes for as
long as the project exists. All else that a project shows is computed from its records and events.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import (
    JSON,
    Connection,
    Float,
    ForeignKey,
    LargeBinary,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    inspect,
    text,
)
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.orm import Session as DatabaseSession

from textbayes.core.atomic import atomic_write, make_private_file
from textbayes.core.errors import InputError, MissingExtraError

LOCK_SECONDS = 30.0  # for which one waits for others who write to an SQLite database
ROLES = ("reader", "reviewer", "owner")  # each may do what those before it may
BY_HAND = "merged by hand"  # the reason of a duplicate that was a record before: the log may speak of it
FROM_FILE = " (from a file)"  # ends the names of people whom a project's file named, and who cannot log in


class Base(DeclarativeBase):
    """All tables."""

    type_annotation_map = {dict[str, Any]: JSON, str: Text, bytes: LargeBinary, float: Float(53)}  # noqa: RUF012  # as SQLAlchemy has it


class User(Base):
    """A person who may log in; the one of a room on one's own machine has no password."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    password: Mapped[str | None]
    admin: Mapped[bool] = mapped_column(default=False)
    active: Mapped[bool] = mapped_column(default=True)
    created: Mapped[float] = mapped_column(default=time.time)


class Session(Base):
    """A browser that is logged in, known by the hash of its cookie."""

    __tablename__ = "sessions"
    key: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    csrf: Mapped[str]
    expires: Mapped[float]


class AccessToken(Base):
    """A key to the REST interface, known by its hash."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    key: Mapped[str] = mapped_column(unique=True)
    created: Mapped[float] = mapped_column(default=time.time)


class Project(Base):
    """A review: its settings, as they were at its start."""

    __tablename__ = "projects"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    settings: Mapped[dict[str, Any]]
    created: Mapped[float] = mapped_column(default=time.time)


class Membership(Base):
    """What a person may do in a project: one of ``ROLES``."""

    __tablename__ = "members"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[str]


class StoredRecord(Base):
    """A record of a project; its row is its place in the matrix, and stays."""

    __tablename__ = "records"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    text: Mapped[str]
    fields: Mapped[dict[str, Any]]


class Event(Base):
    """Something that happened in a project; ``body`` is an entry of ``Screening``, or one of ``Assignments``."""

    __tablename__ = "events"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int]
    time: Mapped[float]
    body: Mapped[dict[str, Any]]


class FullText(Base):
    """The full text of a record: its PDF, and the text that was found in it."""

    __tablename__ = "full_texts"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    file: Mapped[str]
    content: Mapped[bytes]
    text: Mapped[str]
    created: Mapped[float] = mapped_column(default=time.time)


class Duplicate(Base):
    """A record that was merged into another when its file was read, or by hand, as it was."""

    __tablename__ = "duplicates"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    name: Mapped[str]
    into: Mapped[str]
    reason: Mapped[str]
    text: Mapped[str]
    fields: Mapped[dict[str, Any]]


class Invite(Base):
    """A link by which people without an account join a project, known by the hash of its secret."""

    __tablename__ = "invites"
    id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    key: Mapped[str]
    role: Mapped[str]
    uses: Mapped[int]
    expires: Mapped[float]
    created: Mapped[float] = mapped_column(default=time.time)


class Upload(Base):
    """A file that was sent and is being looked at before it is taken; it is gone after a day."""

    __tablename__ = "uploads"
    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    content: Mapped[bytes]
    created: Mapped[float] = mapped_column(default=time.time)


class Model(Base):
    """A model that somebody trained, or is training: its file, the page of its report, and its table classified."""

    __tablename__ = "models"
    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    state: Mapped[str]
    message: Mapped[str]
    content: Mapped[bytes | None]
    report: Mapped[str | None]
    classified: Mapped[bytes | None]
    file: Mapped[str | None]
    created: Mapped[float] = mapped_column(default=time.time)


class Tries(Base):
    """Log-ins that failed lately, by name or by address: how many, and when the last was."""

    __tablename__ = "tries"
    key: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int]
    last: Mapped[float]


class Audit(Base):
    """Who did what to accounts, tokens and projects; names are kept, since what they name may go."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(primary_key=True)
    time: Mapped[float] = mapped_column(default=time.time)
    user: Mapped[str]
    action: Mapped[str]
    what: Mapped[str]


def open_database(address: str) -> Engine:
    """An engine for a database; its tables are those of ``migrate.upgrade``.

    Parameters
    ----------
    address : str
        ``sqlite:///path`` or ``postgresql://user:password@host/name``.
    """
    try:
        url = make_url(address)
    except ArgumentError:
        raise InputError(f"{address!r} names no database; give sqlite:///path or postgresql://…") from None
    kind = url.get_backend_name()
    if kind == "postgresql":
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtraError("psycopg", "app", "a PostgreSQL database") from None
        return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=20)
    if kind != "sqlite":
        raise InputError(f"{kind} databases are not known here; give sqlite:///path or postgresql://…")
    if not url.database or ":memory:" in url.database or url.query.get("mode") == "memory":
        raise InputError(f"{address!r} names no file, so that nothing would be kept; give sqlite:///path")
    engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS, "check_same_thread": False})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def shown(url: URL) -> str:
    """The address of a database as people give it, without the password."""
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)


def make_file(url: URL) -> None:
    """Make the file of a new SQLite database readable by its owner only: SQLite would go by the umask."""
    path = sqlite_file(url)
    if path is not None and not path.exists():
        make_private_file(path)


def prepare_file(engine: Engine) -> None:
    """Set up the file of an SQLite database: a write-ahead log, and nobody but its owner reads it or what is beside it.

    With the log readers do not wait for writers; it gets the mode of the database.
    """
    if engine.dialect.name == "sqlite":
        with contextlib.closing(engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA journal_mode=WAL")
    path = sqlite_file(engine.url)
    if path is not None:
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
            if file.is_file():
                make_private_file(file)


def sqlite_file(url: URL) -> Path | None:
    """The file of an SQLite database; None of PostgreSQL, or where SQLite itself reads the address."""
    if url.get_backend_name() != "sqlite" or "uri" in url.query:
        return None
    return Path(str(url.database))


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Sync at every commit: what was answered is on disk."""
    connection.isolation_level = None  # transactions begin where we say, see below
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("write") else "BEGIN")


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


_VERSION = "alembic_version"  # the table in which Alembic keeps the version
_OURS = {"users", "projects", "events", "records"}  # tables of every version


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Make or change tables until they are those of a version; nothing is done where they are already.

    Parameters
    ----------
    engine : Engine
    revision : str
        A version in ``migrations/versions``, or ``"head"``, the newest.
    """
    with engine.begin() as connection:
        _check_tables(connection, ScriptDirectory.from_config(_config()))
    prepare_file(engine)  # not before: a database of another program stays as it is
    with engine.execution_options(write=True).begin() as connection:
        make_tables(connection, revision)


def make_tables(connection: Connection, revision: str = "head") -> None:
    """Make or change tables within a transaction; else as :func:`upgrade`."""
    config = _config()
    _check_tables(connection, ScriptDirectory.from_config(config))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    connection.execute(text("DELETE FROM users WHERE 1 = 0"))  # here, and not later, one that is read-only is refused


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    return config


def _check_tables(connection: Connection, versions: ScriptDirectory) -> None:
    """Refuse tables of another program, which would be mixed up with ours, and those of a newer version."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return
    where = f"the database {shown(connection.engine.url)}"
    found = ""
    if _VERSION in tables:
        found = str(connection.scalar(text(f"SELECT version_num FROM {_VERSION}")) or "")
    known = {script.revision for script in versions.walk_revisions()}
    if not tables >= _OURS or not found.isdecimal():
        some = ", ".join(sorted(tables)[:5])
        raise InputError(
            f"{where} is a database of another program (its tables: {some}); name another with database=sqlite:///path "
            "or postgresql://…, one that is empty or that a review room made"
        )
    if found not in known:
        raise InputError(
            f"{where} has tables of version {found}, and this textbayes knows versions up to {max(known)}: a newer one "
            "made it; install a newer textbayes (pip install --upgrade textbayes), or name another database"
        )


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
    def read(self) -> Iterator[DatabaseSession]:
        """A session that changes nothing."""
        with DatabaseSession(self.engine, expire_on_commit=False) as session:
            yield session

    @contextlib.contextmanager
    def write(self) -> Iterator[DatabaseSession]:
        """A session whose changes are on disk when the block has ended, all of them or none."""
        with DatabaseSession(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def note_audit(session: DatabaseSession, user: str, action: str, what: str) -> None:
    """Keep who did what; in the same transaction as the deed.

    Parameters
    ----------
    session : Session
    user, action, what : str
    """
    session.add(Audit(user=user, action=action, what=what))


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

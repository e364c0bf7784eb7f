"""Tables of the review room, and how its database is opened: SQLite or PostgreSQL.

Events are the truth: what happened in a project, in order. They are only ever added; triggers refuse changes for as
long as the project exists. All else that a project shows is computed from its records and events.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Float, ForeignKey, LargeBinary, Text, UniqueConstraint, create_engine, event
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from textbayes.core.errors import InputError, MissingExtraError
from textbayes.core.folders import make_private_file

LOCK_SECONDS = 30.0  # for which one waits for others who write to an SQLite database
ROLES = ("reader", "reviewer", "owner")  # each may do what those before it may
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


class Token(Base):
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


class Member(Base):
    """What a person may do in a project: one of ``ROLES``."""

    __tablename__ = "members"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[str]


class Record(Base):
    """A record of a project; its row is its place in the matrix, and stays."""

    __tablename__ = "records"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    text: Mapped[str]
    fields: Mapped[dict[str, Any]]


class Event(Base):
    """Something that happened in a project; ``body`` is an entry of ``Screening``, or one of ``Desk``."""

    __tablename__ = "events"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int]
    time: Mapped[float]
    body: Mapped[dict[str, Any]]


class Upload(Base):
    """A file that was sent and is being looked at before it is taken; it is gone after a day."""

    __tablename__ = "uploads"
    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    content: Mapped[bytes]
    created: Mapped[float] = mapped_column(default=time.time)


class Model(Base):
    """A model that somebody trained, or is training: its file, and the page of its report."""

    __tablename__ = "models"
    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    state: Mapped[str]
    message: Mapped[str]
    content: Mapped[bytes | None]
    report: Mapped[str | None]
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
    """The file of an SQLite database; None of PostgreSQL, in memory, or where SQLite itself reads the address."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:") or "uri" in url.query:
        return None
    return Path(str(url.database))


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Sync at every commit: what was answered is on disk."""
    connection.isolation_level = None  # transactions begin where we say, see below
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("write") else "BEGIN")

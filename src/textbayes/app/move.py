"""A whole room from one database to another: from SQLite to PostgreSQL, or back; all of it or nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Integer, LargeBinary, Select, Table, func, insert, inspect, select

from textbayes.app.database import (
    Base,
    Store,
    in_one_sentence,
    make_file,
    make_tables,
    open_database,
    prepare_file,
    shown,
    sqlite_file,
)
from textbayes.core.errors import InputError

Report = Callable[[str, int, int | None], None]
_AT_ONCE = 1_000  # rows; of tables that hold files one


def move_room(source: str, target: str, report: Report) -> dict[str, int]:
    """Copy everything from one database to another that is empty; returns the rows of each table.

    All is in one transaction: whatever ends it before, the target stays empty. The source stays as it is, as it was at
    one moment.

    Parameters
    ----------
    source, target : str
        See :func:`~textbayes.app.database.open_database`.
    report : callable
        Is given a table, the rows done, and all of them.
    """
    file = sqlite_file(open_database(source).url)
    if file is not None and not file.is_file():
        raise InputError(f"there is no database {file}; name the one that `textbayes app` shows")
    store = Store(source)  # whose tables are then those of this version
    try:
        return _move(store.engine, open_database(target), report)
    finally:
        store.close()


def _move(source: Engine, target: Engine, report: Report) -> dict[str, int]:
    tables = Base.metadata.sorted_tables  # people before what belongs to them
    done: dict[str, int] = {}
    with in_one_sentence(target.url), _new_file(target), _at_one_moment(source) as old:
        with target.execution_options(write=True).begin() as new:
            _check_empty(new)
            make_tables(new)
            for table in tables:
                done[table.name] = _copy(old, new, table, report)
            for table in tables:
                there = new.scalar(select(func.count()).select_from(table))
                if there != done[table.name] or there != old.scalar(select(func.count()).select_from(table)):
                    raise InputError(
                        f"of {done[table.name]:,} rows of {table.name} {there:,} arrived in {shown(target.url)}, which "
                        "is left empty; nobody else may use it meanwhile: try again"
                    )
        return done


@contextlib.contextmanager
def _new_file(target: Engine) -> Iterator[None]:
    """Make the file of an SQLite database; one that was not there goes again where the block fails."""
    file = sqlite_file(target.url)
    is_new = file is not None and not file.exists()
    try:
        make_file(target.url)
        with target.begin() as connection:
            _check_empty(connection)
        prepare_file(target)
        yield
    except BaseException:
        target.dispose()
        if is_new and file is not None:
            for path in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))):
                path.unlink(missing_ok=True)
        raise
    target.dispose()


@contextlib.contextmanager
def _at_one_moment(source: Engine) -> Iterator[Connection]:
    """A connection that sees the database as it is now, whatever others write meanwhile."""
    with source.connect() as connection:
        if source.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


def _check_empty(connection: Connection) -> None:
    tables = inspect(connection).get_table_names()
    if tables:
        some = ", ".join(sorted(tables)[:5])
        raise InputError(
            f"the database {shown(connection.engine.url)} is not empty (its tables: {some}); name one without tables: "
            "a path where there is no file yet, or what createdb makes"
        )


def _copy(old: Connection, new: Connection, table: Table, report: Report) -> int:
    """Copy a table; returns how many rows it has."""
    total, n_done = old.scalar(select(func.count()).select_from(table)) or 0, 0
    at_once = 1 if any(isinstance(column.type, LargeBinary) for column in table.columns) else _AT_ONCE
    asked = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=at_once)
    report(table.name, 0, total)
    with contextlib.closing(_read(old, asked)) as found:
        for rows in found:
            new.execute(insert(table), [dict(row) for row in rows])
            n_done += len(rows)
            report(table.name, n_done, total)
    _go_on_counting(new, table)
    return n_done


def _read(old: Connection, asked: Select[Any]) -> Generator[Sequence[Any]]:
    with in_one_sentence(old.engine.url), old.execute(asked) as found:
        yield from found.mappings().partitions()


def _go_on_counting(new: Connection, table: Table) -> None:
    """Have PostgreSQL number new rows after those that came with numbers; SQLite does so by itself."""
    (first, *others) = table.primary_key.columns
    if new.dialect.name != "postgresql" or others or not isinstance(first.type, Integer):
        return
    counter: Any = func.pg_get_serial_sequence(f'"{table.name}"', first.name)
    last = new.scalar(select(func.max(first)))
    if last is not None:
        new.execute(select(func.setval(counter, last)))

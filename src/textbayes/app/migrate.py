"""Bring a database to the newest version of its tables, and refuse one that is not a room's."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import Engine

from textbayes.app.database import prepare_file, shown
from textbayes.core.errors import InputError

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
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    with engine.begin() as connection:
        _check_tables(connection, ScriptDirectory.from_config(config))
    prepare_file(engine)  # not before: a database of another program stays as it is
    with engine.execution_options(write=True).begin() as connection:
        _check_tables(connection, ScriptDirectory.from_config(config))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.execute(text("DELETE FROM users WHERE 1 = 0"))  # here, and not later, one that is read-only is told


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

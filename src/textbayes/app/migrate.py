"""Bring a database to the newest version of its tables."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy.engine import Engine


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Make or change tables until they are those of a version; nothing is done where they are already.

    Parameters
    ----------
    engine : Engine
    revision : str
        A version in ``migrations/versions``, or ``"head"``, the newest.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    with engine.execution_options(write=True).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

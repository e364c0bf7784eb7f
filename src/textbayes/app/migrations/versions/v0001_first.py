"""The first tables.

They are written out, not taken from ``database``: what later versions change there must not change this one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables, and the triggers that keep events as they were written."""
    op.create_table(
        "users",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("password", sa.Text),
        sa.Column("admin", sa.Boolean, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("key", sa.Text, primary_key=True),
        _user(),
        sa.Column("csrf", sa.Text, nullable=False),
        sa.Column("expires", sa.Float(53), nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer, primary_key=True),
        _user(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table("members", _project(), _user(primary_key=True), sa.Column("role", sa.Text, nullable=False))
    op.create_table(
        "records",
        _project(),
        sa.Column("row", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("fields", sa.JSON, nullable=False),
        sa.UniqueConstraint("project_id", "name"),
    )
    op.create_table(
        "events",
        _project(),
        sa.Column("sequence", sa.Integer, primary_key=True),
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("time", sa.Float(53), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
    )
    op.create_table(
        "uploads",
        sa.Column("id", sa.Text, primary_key=True),
        _user(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("time", sa.Float(53), nullable=False),
        sa.Column("user", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
    )
    op.create_table(
        "models",
        sa.Column("id", sa.Text, primary_key=True),
        _user(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary),
        sa.Column("report", sa.Text),
        sa.Column("classified", sa.LargeBinary),
        sa.Column("file", sa.Text),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "tries",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("last", sa.Float(53), nullable=False),
    )
    op.create_table(
        "full_texts",
        _project(),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "duplicates",
        sa.Column("id", sa.Integer, primary_key=True),
        _project(primary_key=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("into", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("fields", sa.JSON, nullable=False),
    )
    op.create_table(
        "invites",
        sa.Column("id", sa.Text, primary_key=True),
        _project(primary_key=False),
        _user(nullable=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("expires", sa.Float(53), nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.execute(statement)


def _project(primary_key: bool = True) -> sa.Column[str]:
    reference = sa.ForeignKey("projects.id", ondelete="CASCADE")
    return sa.Column("project_id", sa.Text, reference, nullable=False, primary_key=primary_key)


def _user(primary_key: bool = False, nullable: bool = False) -> sa.Column[int]:
    reference = sa.ForeignKey("users.id", ondelete="CASCADE")
    return sa.Column("user_id", sa.Integer, reference, nullable=nullable, primary_key=primary_key)


# Events go when their project goes, and not before.
_THERE = "EXISTS (SELECT 1 FROM projects WHERE id = OLD.project_id)"
_REFUSED = "events are never changed"
_SQLITE = (
    f"CREATE TRIGGER events_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END",
    f"CREATE TRIGGER events_delete BEFORE DELETE ON events WHEN {_THERE} BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END",
)
_POSTGRESQL = (
    f"""CREATE FUNCTION keep_events() RETURNS trigger AS $$ BEGIN
    IF TG_OP = 'UPDATE' OR {_THERE} THEN RAISE EXCEPTION '{_REFUSED}'; END IF;
    RETURN OLD; END $$ LANGUAGE plpgsql""",
    "CREATE TRIGGER events_kept BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION keep_events()",
)

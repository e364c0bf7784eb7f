"""Links by which people join a project."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "invites",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
        sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id", ondelete="CASCADE")),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("expires", sa.Float(53), nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )

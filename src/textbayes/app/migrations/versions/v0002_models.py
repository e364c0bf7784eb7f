"""Models that people train."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of models."""
    op.create_table(
        "models",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary),
        sa.Column("report", sa.Text),
        sa.Column("created", sa.Float(53), nullable=False),
    )

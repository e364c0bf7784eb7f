"""Full texts of records, records that were merged into others, and tables classified by their own models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of full texts and of duplicates; a model has its table, classified."""
    op.add_column("models", sa.Column("classified", sa.LargeBinary))
    op.add_column("models", sa.Column("file", sa.Text))
    op.create_table(
        "full_texts",
        sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "duplicates",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Text, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("into", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("fields", sa.JSON, nullable=False),
    )

"""Alembic's way in: the connection is that of ``textbayes.app.database``."""

from __future__ import annotations

from alembic import context

from textbayes.app.database import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()

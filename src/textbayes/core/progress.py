"""Progress reports of long work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and how much there is in all, None where nobody knows."""


def silent(what: str, done: int, total: int | None) -> None:
    """Report no progress."""

"""Rows as a pandas ``DataFrame``, for those who have pandas."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

from textbayes.core.errors import MissingExtraError


def make_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> Any:
    """A ``DataFrame`` of rows; pandas is imported here and nowhere else."""
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError("pandas", "pandas", "a DataFrame") from None
    return pandas.DataFrame(list(rows), columns=list(columns))

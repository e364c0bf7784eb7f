"""The compiled loops of a filter, imported when one is first used: a command that needs none starts sooner."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def filter_kernels() -> Any:
    """The module of the kernels; a stream asks for it several times a document, so it is looked up once."""
    from textbayes.kernels.online import filter_scores

    return filter_scores

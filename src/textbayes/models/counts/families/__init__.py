"""Count models, one file each; a new file that registers itself is picked up by name and by the contract tests."""

from __future__ import annotations

from typing import Any

from textbayes.core.registry import Registry
from textbayes.models.counts.base import BaseCountModel

count_models: Registry[type[BaseCountModel[Any, Any]]] = Registry("count model", "textbayes.models.counts.families")

__all__ = ["count_models"]

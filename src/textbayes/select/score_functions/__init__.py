"""Score functions, one file each; a new file that registers itself is picked up by name and by the contract tests."""

from __future__ import annotations

from textbayes.core.protocols import ScoreFunction
from textbayes.core.registry import Registry

scores: Registry[ScoreFunction] = Registry("score function", "textbayes.select.score_functions")

__all__ = ["scores"]

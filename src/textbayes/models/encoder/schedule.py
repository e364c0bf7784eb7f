"""How an encoder is fine-tuned: in which ways, how often texts are read, and what that costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

WAYS = ("all", "pairs", "head")  # all weights; the encoder by pairs of texts, then the head; the head alone
MANY_TEXTS = 2_000  # from here on a batch is large, and texts are read a few times
LARGE, SMALL = 48, 16  # texts of a batch
_LEAST_STEPS = 60  # however few the texts are
_OPERATIONS = 6.0  # for each weight and token: forward, and twice as many backward


class Schedule(NamedTuple):
    """How often texts are read, and how many at once."""

    epochs: int
    batch: int

    @classmethod
    def of(cls, n_texts: int) -> Schedule:
        """The schedule for so many texts: few are read often, and in small batches."""
        if n_texts >= MANY_TEXTS:
            return cls(2 if n_texts >= 10 * MANY_TEXTS else 4, LARGE)
        return cls(max(4, -(-_LEAST_STEPS * SMALL // n_texts)), SMALL)

    def n_steps(self, n_texts: int) -> int:
        """Batches in all."""
        return self.epochs * -(-n_texts // self.batch)


def operations(folder: Path, n_texts: int, n_tokens: float) -> float:
    """Floating-point operations of fine-tuning the encoder in a folder on texts of so many tokens in all."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    width, inner = int(config.get("hidden_size", 768)), int(config.get("intermediate_size", 3_072))
    weights = int(config.get("num_hidden_layers", 12)) * (4 * width**2 + 2 * width * inner)
    return _OPERATIONS * weights * n_tokens * Schedule.of(n_texts).epochs

"""What scores texts, read from a model file without what only training needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textbayes.categorizer.scorer import Scorer
from textbayes.store.model_format import MODEL_FILE, read_model

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer


def load_scorer(path: str | Path) -> Scorer | TextCategorizer:
    """Read what scores texts from the model file of a ``TextCategorizer``, without what only training needs.

    Models that a ``Scorer`` cannot hold are read whole.
    """
    path = Path(path)
    name, state, arrays = read_model(path)
    if name == "TextCategorizer":
        with MODEL_FILE.damage(path):
            scorer = Scorer.from_state(state, arrays)
        if scorer is not None:
            return scorer
    from textbayes.store.model_file import load_categorizer  # imports scikit-learn

    return load_categorizer(path)

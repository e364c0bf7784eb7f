"""A model applied to documents in batches, with both classes of a two-class model shown alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textbayes.core.errors import TextBayesError
from textbayes.core.types import AnyArray, BoolArray, Document, FloatArray, IntArray

if TYPE_CHECKING:
    from textbayes.categorizer import Scorer, TextCategorizer

BATCH = 512
_MOST_CHARACTERS = 1 << 24  # a batch of long documents ends earlier: memory is bounded by this, not by their number


class Assessed(NamedTuple):
    """A batch and what the model thinks of it: one column per class, also for two classes."""

    documents: list[Document]
    proba: FloatArray
    decisions: BoolArray
    unsure: BoolArray | None
    known_words: IntArray
    interval: tuple[FloatArray, FloatArray] | None = None


def batches(documents: Iterable[Document], size: int = BATCH) -> Iterator[list[Document]]:
    """Documents in lists of ``size``, fewer where they are long; those before a fault in the input come before it."""
    batch: list[Document] = []
    characters = 0
    try:
        for document in documents:
            batch.append(document)
            characters += len(document.text)
            if len(batch) >= size or characters >= _MOST_CHARACTERS:
                yield batch
                batch, characters = [], 0
    except TextBayesError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def assess(
    model: TextCategorizer | Scorer, documents: Iterable[Document], size: int = BATCH, level: float | None = None
) -> Iterator[Assessed]:
    """Probabilities and decisions, batch by batch; with ``level``, the intervals that hold the probabilities."""
    band = getattr(model.rule_, "unsure", None)  # a rule may leave a band of probabilities to people
    for batch in batches(documents, size):
        texts = [document.text for document in batch]
        found = model.assess(texts)
        proba, decisions, known = found.proba, found.decisions, found.known_words
        unsure = None if band is None else both_classes(band(proba), model, complement=False)
        interval = None if level is None else _interval(model, texts, level)
        yield Assessed(batch, both_classes(proba, model), both_classes(decisions, model), unsure, known, interval)


def _interval(model: TextCategorizer | Scorer, texts: list[str], level: float) -> tuple[FloatArray, FloatArray]:
    low, high = model.predict_interval(texts, level)
    if model.label_space_.kind != "binary":
        return low, high
    return np.hstack([1.0 - high, low]), np.hstack([1.0 - low, high])  # what is at most p of one is 1 − p of the other


def both_classes(columns: AnyArray, model: TextCategorizer | Scorer, complement: bool = True) -> Any:
    """One column per class: of two classes the model keeps the second only, the first is its complement."""
    if model.label_space_.kind != "binary":
        return columns
    first = columns if not complement else ~columns if columns.dtype == np.bool_ else 1.0 - columns
    return np.hstack([first, columns])


def class_names(model: TextCategorizer | Scorer) -> list[str]:
    """The labels, in the order of the columns above."""
    return [str(name) for name in model.label_space_.classes]


def decisions_row(assessed: Assessed, i: int, names: list[str], top: int | None = None) -> dict[str, Any]:
    """The ``i``-th document of a batch as the object that ``classify`` writes and ``compare`` reads."""
    proba = assessed.proba[i]
    shown = range(len(names)) if top is None else np.argsort(-proba, kind="stable")[:top]
    row = {
        "id": assessed.documents[i].id,
        "labels": [names[j] for j in np.flatnonzero(assessed.decisions[i])],
        "known_words": int(assessed.known_words[i]),
        "probabilities": {names[j]: float(proba[j]) for j in shown},
    }
    if assessed.interval is not None:
        low, high = assessed.interval
        row["intervals"] = {names[j]: [float(low[i, j]), float(high[i, j])] for j in shown}
    if assessed.unsure is not None:
        row["unsure"] = [names[j] for j in np.flatnonzero(assessed.unsure[i])]
    return row

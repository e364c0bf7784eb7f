"""Answers of a model to documents in batches, and decisions read back from JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textbayes.cli.terminal import warn
from textbayes.core.errors import InputError, MalformedFileError, TextBayesError
from textbayes.core.types import AnyArray, BoolArray, Document, FloatArray, IntArray
from textbayes.data.streams import read_lines
from textbayes.text.copies import n_known

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.categorizer.scorer import Scorer

    Model = Scorer | TextCategorizer
    from textbayes.categorizer import TextCategorizer

BATCH = 512
_MOST_CHARACTERS = 1 << 24  # a batch of long documents ends earlier: memory is bounded by this, not by their number


class Assessed(NamedTuple):
    """A batch and what the model thinks of it: one column per class, also for two classes.

    ``parts`` are the epistemic and the aleatoric uncertainty.
    """

    documents: list[Document]
    proba: FloatArray
    decisions: BoolArray
    unsure: BoolArray | None
    known_words: IntArray
    interval: tuple[FloatArray, FloatArray] | None = None
    parts: tuple[FloatArray, FloatArray] | None = None


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
    model: Model, documents: Iterable[Document], size: int = BATCH, level: float | None = None, parts: bool = False
) -> Iterator[Assessed]:
    """Probabilities and decisions, batch by batch; with ``level`` intervals, with ``parts`` those of uncertainty."""
    band = getattr(model.rule_, "unsure", None)  # a rule may leave a band of probabilities to people
    for batch in batches(documents, size):
        texts = [document.text for document in batch]
        found = model.assess(texts)
        proba, decisions, known = found.proba, found.decisions, found.known_words
        unsure = None if band is None else both_classes(band(proba), model, complement=False)
        interval = None if level is None else _interval(model, texts, level)
        both = (both_classes(proba, model), both_classes(decisions, model))
        yield Assessed(batch, *both, unsure, known, interval, _parts(model, texts) if parts else None)


def above(threshold: float, assessed: Assessed, model: Model) -> Assessed:
    """The same with labels above a probability only; of exclusive classes the most probable one or none."""
    proba = assessed.proba
    decisions = proba > threshold
    if model.label_space_.kind != "multilabel":
        decisions &= proba.argmax(axis=1)[:, None] == np.arange(proba.shape[1])
    return assessed._replace(decisions=decisions)


def least_certain_first(answers: Iterable[Assessed], model: Model, size: int = BATCH) -> Iterator[Assessed]:
    """All answers, ordered by how certain they are: exclusive classes by the margin between the two most probable.

    Where a text may have several labels, by the label whose probability is nearest to its threshold.
    """
    batches = list(answers)
    if not batches:
        return
    documents = [document for one in batches for document in one.documents]
    columns = [_stacked([one[k] for one in batches]) for k in range(1, len(Assessed._fields))]
    order = np.argsort(_margins(columns[0], model), kind="stable")
    for start in range(0, len(documents), size):
        rows = order[start : start + size]
        yield Assessed([documents[i] for i in rows], *(_rows(column, rows) for column in columns))


def _stacked(parts: list[Any]) -> Any:
    """A column of answers of all batches: an array, a pair of arrays, or None."""
    if parts[0] is None or not isinstance(parts[0], tuple):
        return None if parts[0] is None else np.concatenate(parts)
    return tuple(np.concatenate(ends) for ends in zip(*parts, strict=True))


def _rows(column: Any, rows: IntArray) -> Any:
    if column is None or not isinstance(column, tuple):
        return None if column is None else column[rows]
    return tuple(end[rows] for end in column)


def _margins(proba: FloatArray, model: Model) -> FloatArray:
    if model.label_space_.kind != "multilabel":
        ranked = np.sort(proba, axis=1)
        return np.asarray(ranked[:, -1] - ranked[:, -2])
    thresholds = [model.rule_.threshold_of(j) for j in range(proba.shape[1])]
    return np.asarray(np.abs(proba - [0.5 if one is None else one for one in thresholds]).min(axis=1))


def _interval(model: Model, texts: list[str], level: float) -> tuple[FloatArray, FloatArray]:
    low, high = model.predict_interval(texts, level)
    if model.label_space_.kind != "binary":
        return low, high
    return np.hstack([1.0 - high, low]), np.hstack([1.0 - low, high])  # what is at most p of one is 1 − p of the other


def _parts(model: Model, texts: list[str]) -> tuple[FloatArray, FloatArray]:
    found = model.predict_uncertainty(texts)
    epistemic, aleatoric = (both_classes(one, model, complement=False) for one in (found.epistemic, found.aleatoric))
    return epistemic, aleatoric


def both_classes(columns: AnyArray, model: Model, complement: bool = True) -> Any:
    """One column per class: of two classes the model keeps the second only, the first is its complement."""
    if model.label_space_.kind != "binary":
        return columns
    first = columns if not complement else ~columns if columns.dtype == np.bool_ else 1.0 - columns
    return np.hstack([first, columns])


def class_names(model: Model) -> list[str]:
    """The labels, in the order of the columns above."""
    return [str(name) for name in model.label_space_.classes]


def decisions_row(assessed: Assessed, i: int, names: list[str], top: int | None = None) -> dict[str, Any]:
    """The ``i``-th document of a batch as the object that ``classify`` writes and ``compare`` reads."""
    proba = assessed.proba[i]
    chosen = np.flatnonzero(assessed.decisions[i])
    shown = range(len(names)) if top is None else np.argsort(-proba, kind="stable")[:top]
    row: dict[str, Any] = {
        "id": assessed.documents[i].id,
        "labels": [names[j] for j in chosen],
        "probability": float(proba[chosen].min()) if len(chosen) else None,
        "known_words": int(assessed.known_words[i]),
        "probabilities": {names[j]: float(proba[j]) for j in shown},
    }
    if assessed.interval is not None:
        low, high = assessed.interval
        row["intervals"] = {names[j]: [float(low[i, j]), float(high[i, j])] for j in shown}
    if assessed.parts is not None:
        epistemic, aleatoric = assessed.parts
        row["uncertainty"] = {
            names[j]: {"epistemic": float(epistemic[i, j]), "aleatoric": float(aleatoric[i, j])} for j in shown
        }
    if assessed.unsure is not None:
        row["unsure"] = [names[j] for j in np.flatnonzero(assessed.unsure[i])]
    return row


class SeenTexts:
    """Counts texts that were in the training set; models of older files do not know theirs, and ``n`` stays None."""

    def __init__(self, model: TextCategorizer, name: str = "the model") -> None:
        self._fingerprints, self._name = model.fingerprints_, name
        self.n: int | None = None if self._fingerprints is None else 0

    def add(self, documents: list[Document]) -> None:
        """Count those of more texts."""
        if self._fingerprints is not None and self.n is not None:
            self.n += n_known((document.text for document in documents), self._fingerprints)

    def warn(self, n_docs: int) -> None:
        """Warn if any texts were in the training set."""
        if self.n:
            warn(
                f"{self.n:,} of {n_docs:,} texts were in the training set of {self._name}: its figures on them are too "
                "good; measure it on other texts, or see the cross-validated figures that train prints"
            )


Labels = tuple[str, ...]


def read_decisions(path: str) -> dict[str, Labels]:
    """The labels decided on for each document, by its id."""

    found: dict[str, Labels] = {}
    for number, line in read_lines(path):
        if line.isspace():
            continue
        identity, labels = _row(line, path, number)
        if identity in found:
            raise MalformedFileError(path, f"id {identity!r} was used before; make ids unique", number)
        found[identity] = labels
    return found


def aligned(found: dict[str, Labels], ids: list[str], path: str, truth: str) -> list[Labels]:
    """The decisions in the order of the documents of ``truth``; one that is missing is refused."""
    missing = [identity for identity in ids if identity not in found]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(
            f"{path} has no decision for {missing[0]!r}{more} of {truth}; make sure that ids are the same in both"
        )
    if len(found) > len(ids):
        warn(f"{path} has {len(found) - len(ids):,} decisions on documents that are not in {truth}; they are left out")
    return [found[identity] for identity in ids]


def _row(line: str, path: str, number: int) -> tuple[str, Labels]:
    wanted = 'write one object a line, such as {"id": "1", "labels": ["sport"]}'
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedFileError(path, f"neither a model nor decisions in JSON lines; {wanted}", number) from None
    if not isinstance(row, dict) or not {"id", "labels"} <= row.keys():
        raise MalformedFileError(path, f"'id' and 'labels' are needed; {wanted}", number)
    labels = [row["labels"]] if isinstance(row["labels"], str) else row["labels"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise MalformedFileError(path, f"'labels' must be a string or a list of strings; {wanted}", number)
    return _identity(row["id"], path, number), tuple(labels)


def _identity(value: Any, path: str, number: int) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise MalformedFileError(path, "'id' must be a string or a whole number", number)
    return str(value)

"""Scoring as plain JSON, which ``score.py`` beside this file reads with nothing but the standard library.

Whatever can be reckoned beforehand is: the scorer has one formula for all kinds of models, links and decisions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from textbayes._version import __version__
from textbayes.core.types import FloatArray
from textbayes.export.cuts import ANY_WORD, Cut, cuts_of, cuts_of_length
from textbayes.export.scoring import Block, DispersedBlock, Scoring

FORMAT = "textbayes scoring"
VERSION = 2

_LEAST_DELTA = 1e-100  # in place of 0, where the formula would divide by it: nothing of a score depends on so little
_POWER_AND_LOG = {"raw": (1, 0.0), "binary": (0, 0.0), "log": (0, 1.0), "log2": (0, 1.0 / math.log(2.0))}

Row = tuple[float, list[int], list[float]]  # share in the Euclidean length of a text, columns, weights


class _View(NamedTuple):
    """Cuts whose terms are counted together, what a count is worth, and what is added to scores."""

    name: str
    cuts: list[Cut]
    power_and_log: tuple[int, float]
    terms: Iterable[tuple[str, Row]]
    dispersed: Iterable[tuple[str, int, float, float, float]] = ()


def to_json(scoring: Scoring) -> Iterator[str]:
    """The lines of a JSON file, one for each term, so that no second copy of the model is made in memory.

    Parameters
    ----------
    scoring : Scoring
    """
    views = list(_views(scoring))
    told = {"format": FORMAT, "version": VERSION, "textbayes": __version__, "classes": scoring.space.class_names}
    told["functions"] = sorted({name for view in views for cut in view.cuts for name in cut.functions})
    told["intercept"] = _by_class(scoring, scoring.intercept).tolist()
    told |= _second_pass(scoring) | _probabilities(scoring) | _decisions(scoring)
    yield json.dumps(told)[:-1] + ', "views": ['
    for number, view in enumerate(views):
        power, log = view.power_and_log
        head = {"name": view.name, "cuts": [cut._asdict() for cut in view.cuts], "power": power, "log": log}
        yield (",\n" if number else "\n") + json.dumps(head)[:-1] + ', "terms": {'
        yield from _lines(f"{json.dumps(term)}: {json.dumps(row)}" for term, row in view.terms)
        yield '}, "dispersed": ['
        yield from _lines(json.dumps(row) for row in view.dispersed)
        yield "]}"
    yield "]}\n"


def _lines(entries: Iterable[str]) -> Iterator[str]:
    for place, entry in enumerate(entries):
        yield (",\n" if place else "\n") + entry


def _by_class(scoring: Scoring, rows: FloatArray) -> FloatArray:
    """Numbers of each column of scores as numbers of each class, which differ where there are two.

    In a softmax the first of two has the score 0; where each has a probability of its own, minus the second's score.
    """
    if scoring.space.kind != "binary":
        return rows
    return np.stack([np.zeros_like(rows[0]) if scoring.link == "logit" else -rows[0], rows[0]])


def _second_pass(scoring: Scoring) -> dict[str, Any]:
    """How the log-odds that a label does not apply in the first pass follow from scores; and each label's hint."""
    n_classes = len(scoring.space.class_names)
    if scoring.hints is None:
        return {"first_pass": [[0.0] * n_classes] * 2, "hint": [0.0] * n_classes}
    slope, offset, hint = scoring.hints
    return {"first_pass": [(offset / slope).tolist(), (-1.0 / slope).tolist()], "hint": hint.tolist()}


def _probabilities(scoring: Scoring) -> dict[str, Any]:
    binary, own = scoring.space.kind == "binary", scoring.normalise == "own"
    softmax = scoring.normalise == "softmax" or (binary and scoring.link == "logit")
    return {
        "link": "exp" if softmax else scoring.link,
        "sharpness": scoring.sharpness if own else 1.0,
        "exclusive": scoring.space.kind != "multilabel",
    }


def _decisions(scoring: Scoring) -> dict[str, Any]:
    n_classes, thresholds = len(scoring.space.class_names), scoring.thresholds
    if thresholds is None:  # the least probability is itself enough
        return {"thresholds": [math.nextafter(scoring.least, -1.0)] * n_classes, "most": 1}
    if scoring.space.kind == "binary":  # p₂ − (t − 1) is higher than p₁ + t where p₂ > t, and one of them is positive
        return {"thresholds": [-thresholds[0], thresholds[0] - 1.0], "most": 1}
    return {"thresholds": thresholds, "most": n_classes}


def _views(scoring: Scoring) -> Iterator[_View]:
    for block in scoring.blocks:
        yield _View(block.name, cuts_of(block.reading), _POWER_AND_LOG[block.tf], _weighted(scoring, block))
    if scoring.length is None:
        return
    of_length = cuts_of_length(scoring.length)
    for tf, added in (("raw", scoring.per_thousand / 1000.0), ("binary", scoring.with_words)):
        if added.any():
            terms = [(ANY_WORD, _row(0.0, _by_class(scoring, added)))]
            yield _View("length", of_length, _POWER_AND_LOG[tf], terms)
    for one in scoring.dispersed:
        cuts = cuts_of(one.reading) + of_length
        yield _View(one.name, cuts, _POWER_AND_LOG["raw"], _linear(scoring, one), _dispersed(scoring, one))


def _weighted(scoring: Scoring, block: Block) -> Iterator[tuple[str, Row]]:
    """The terms of a block that matter."""
    weights = _by_class(scoring, block.weights)
    for j in block.used:
        idf = float(block.idf[j])
        yield block.terms[j], _row(idf if block.cosine else 0.0, weights[:, j] * idf)


def _linear(scoring: Scoring, block: DispersedBlock) -> Iterator[tuple[str, Row]]:
    """What is linear in the counts of negative binomials, n ln μ of each class, and the term of all words."""
    weights = np.zeros((scoring.space.n_columns, len(block.terms)))
    for (column, factor), rates in zip(block.rows, block.rates, strict=True):
        weights[column] += factor * np.log(rates)
    weights = _by_class(scoring, weights)
    for j, term in enumerate(block.terms):
        yield term, _row(0.0, weights[:, j])
    yield ANY_WORD, (0.0, [], [])


def _dispersed(scoring: Scoring, block: DispersedBlock) -> Iterator[tuple[str, int, float, float, float]]:
    """Rows (term, column, factor, size μ/δ, δ for one word in place of a thousand)."""
    first = len(scoring.space.class_names) - scoring.space.n_columns
    deltas = np.maximum(block.deltas, _LEAST_DELTA)
    sizes = block.rates / deltas
    for j, term in enumerate(block.terms):
        for (column, factor), size, delta in zip(block.rows, sizes[:, j].tolist(), deltas[:, j].tolist(), strict=True):
            yield term, first + column, factor, size, delta / 1000.0


def _row(share: float, weights: FloatArray) -> Row:
    columns = np.flatnonzero(weights)
    return share, columns.tolist(), weights[columns].tolist()

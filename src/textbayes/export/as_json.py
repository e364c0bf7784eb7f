"""Scoring as plain JSON, which ``score.py`` beside this file reads with nothing but the standard library."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from textbayes._version import __version__
from textbayes.export.porter import porter_steps
from textbayes.export.scoring import Block, Reading, Scoring
from textbayes.text.patterns import ENTITY

FORMAT = "textbayes scoring"
VERSION = 1


def to_json(scoring: Scoring) -> Iterator[str]:
    """The lines of a JSON file, one for each term, so that no second copy of the model is made in memory.

    Parameters
    ----------
    scoring : Scoring
    """
    space = scoring.space
    hints = scoring.hints
    told: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "textbayes": __version__,
        "kind": space.kind,
        "classes": space.class_names,
        "intercept": scoring.intercept.tolist(),
        "per_thousand": scoring.per_thousand.tolist(),
        "with_words": scoring.with_words.tolist(),
        "length": None if scoring.length is None else _reading(scoring.length),
        "link": scoring.link,
        "normalise": scoring.normalise,
        "sharpness": scoring.sharpness,
        "hints": None if hints is None else [_hint(*row) for row in zip(*(one.tolist() for one in hints), strict=True)],
        "thresholds": scoring.thresholds,
        "least": scoring.least,
    }
    yield json.dumps(told)[:-1] + ', "blocks": ['
    for number, block in enumerate(scoring.blocks):
        head = {"name": block.name, "reading": _reading(block.reading), "tf": block.tf, "cosine": block.cosine}
        yield from _with_terms(number, head, _weights(block))
    yield '], "dispersed": ['
    for number, one in enumerate(scoring.dispersed):
        head = {"name": one.name, "reading": _reading(one.reading), "rows": one.rows}
        both = zip(one.rates.T.tolist(), one.deltas.T.tolist(), strict=True)
        yield from _with_terms(number, head, zip(one.terms, both, strict=True))
    yield "]}\n"


def _hint(slope: float, offset: float, hint: float) -> dict[str, float]:
    return {"slope": slope, "offset": offset, "hint": hint}


def _reading(reading: Reading) -> dict[str, Any]:
    told = asdict(reading)
    told["unescape"] = ENTITY.pattern if told.pop("tidy") else None
    # In text that is not put in lower case the stemmer's Y could not be told from the text's own.
    told["steps"] = porter_steps() if reading.stemmer == "porter" and reading.lowercase else None
    return told


def _weights(block: Block) -> Iterator[tuple[str, Any]]:
    """Each term with its idf, the columns where it has a weight, and these weights."""
    for j in block.used:
        columns = np.flatnonzero(block.weights[:, j])
        yield block.terms[j], [float(block.idf[j]), columns.tolist(), block.weights[columns, j].tolist()]


def _with_terms(number: int, head: dict[str, Any], terms: Iterable[tuple[str, Any]]) -> Iterator[str]:
    yield (",\n" if number else "\n") + json.dumps(head)[:-1] + ', "terms": {'
    for place, (term, value) in enumerate(terms):
        yield (",\n" if place else "\n") + json.dumps(term) + ": " + json.dumps(value)
    yield "}}"

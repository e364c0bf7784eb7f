"""Compute what a report says of a model and the texts it is tried on."""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy import sparse

from textbayes._version import __version__
from textbayes.categorizer import Assessment, TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import BoolArray
from textbayes.core.validation import check_same_length
from textbayes.evaluate import evaluate, reliability_curve
from textbayes.report.examples import Judged, confidence, make_examples
from textbayes.report.records import Bin, Confusion, Coverage, Interval, LabelWords, Mistake, ReportData, Word
from textbayes.report.surface import common_forms, shown
from textbayes.report.wording import settings_in_words

_MOST_WORD_LISTS = 12
_WORDS_PER_LABEL = 12
_WORD_LEVEL = 0.95
_MOST_CONFUSED = 20  # labels in a confusion matrix that still fits a page
_MOST_MISTAKES = 15
_TEXTS_FOR_FORMS = 20_000  # enough to know the commonest form of a stem
_COVERAGE_STEPS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_NORMAL_975 = 1.959963984540054


def collect_report(
    model: TextCategorizer,
    texts: Iterable[str],
    labels: Any,
    *,
    title: str = "Evaluation report",
    corpus: str = "",
    split: str = "",
    ids: Sequence[str] | None = None,
    settings: Iterable[tuple[str, str]] = (),
    notes: Iterable[str] = (),
    timings: Mapping[str, float] | None = None,
    assessment: Assessment | None = None,
) -> ReportData:
    """All that a report says of a fitted model tried on texts with known labels.

    Parameters
    ----------
    model : fitted TextCategorizer
    texts, labels : what it is tried on; labels as for ``fit``, among those the model knows
    title, corpus, split : sentences for the head of the report
    ids : names of the texts; numbers from 1 by default
    settings : further (name, value) pairs after those read off the model
    notes : what a careful reader should know
    timings : seconds by what took them
    assessment : what ``model.assess(texts)`` gave, if it is there already
    """
    texts = list(texts)
    if not texts:
        raise InputError("no texts were given; a report needs at least one with its labels")
    space = model.label_space_
    truth = _truth(labels, space)
    check_same_length(texts, "texts", truth, "labels")
    names = [str(i) for i in range(1, len(texts) + 1)] if ids is None else [str(name) for name in ids]
    check_same_length(texts, "texts", names, "ids")
    assessment = model.assess(texts) if assessment is None else assessment
    proba, decisions = assessment
    measures = evaluate(truth, proba, decisions, space.class_names, kind=space.kind)
    forms = common_forms(texts[:_TEXTS_FOR_FORMS], model.vectorizer_)
    right = (truth == decisions).all(axis=1)
    confusion, mistakes = _confusion(truth, decisions, space)
    return ReportData(
        title=title,
        corpus=corpus,
        split=split,
        settings=[*settings_in_words(model), *settings],
        notes=list(notes),
        measures=measures,
        right=wilson_interval(int(right.sum()), len(right)),
        thresholds=_thresholds(model),
        confusion=confusion,
        mistakes=mistakes,
        reliability=_reliability(truth, assessment),
        coverage=_coverage(confidence(assessment, space.kind), right) if space.kind != "multilabel" else [],
        words=_words(model, measures, forms),
        stemmed=bool(forms),
        examples=make_examples(model, Judged(names, texts, truth, assessment), forms),
        timings=list((timings or {}).items()),
        versions=_versions(),
        averaged=model.draws_ is not None and model.average,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def wilson_interval(n_right: int, n: int) -> Interval:
    """A share with the 95% score interval of Wilson (1927), which stays inside [0, 1] and is honest for small n.

    >>> interval = wilson_interval(9, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.596, 0.982)
    """
    share, z2 = n_right / n, _NORMAL_975**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _NORMAL_975 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # The share lies inside, also where rounding would leave it a hair outside.
    return Interval(share, min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)))


def _truth(labels: Any, space: LabelSpace) -> BoolArray:
    """The indicator in the model's columns, whether labels come as strings or as lists of them."""
    if sparse.issparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim == 2):
        return encode_labels(labels, space.classes.tolist())[0]
    rows = [tuple(label) if isinstance(label, (list, tuple, set, frozenset)) else (label,) for label in labels]
    if space.kind == "multilabel":
        return encode_labels(rows, space.classes.tolist())[0]
    for i, row in enumerate(rows):
        if len(row) != 1:
            raise InputError(f"text {i + 1} has {len(row)} labels; this model gives, and needs, exactly one per text")
    return encode_labels([row[0] for row in rows], space.classes.tolist())[0]


def _thresholds(model: TextCategorizer) -> dict[str, float]:
    thresholds = getattr(model.rule_, "thresholds_", None)
    if thresholds is None:
        return {}
    space = model.label_space_
    found = {name: float(value) for name, value in zip(space.column_names, thresholds, strict=True)}
    # Of two classes the first is given where the second is not.
    return {space.class_names[0]: 1.0 - found[space.class_names[1]], **found} if space.kind == "binary" else found


def _confusion(truth: BoolArray, decisions: BoolArray, space: LabelSpace) -> tuple[Confusion | None, list[Mistake]]:
    """The matrix, if it fits a page, and the most frequent mistakes."""
    if space.kind == "multilabel":
        return None, []
    names = [str(name) for name in space.classes]
    if space.kind == "binary":
        true, given = truth[:, 0].astype(np.int64), decisions[:, 0].astype(np.int64)
    else:
        true = truth.argmax(axis=1)
        given = np.where(decisions.sum(axis=1) == 1, decisions.argmax(axis=1), len(names))
    columns = [*names, "none or several"] if (given == len(names)).any() else names
    pairs, counts = np.unique(true * len(columns) + given, return_counts=True)
    found = [(*divmod(pair, len(columns)), n) for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True)]
    wrong = sorted((row for row in found if row[0] != row[1]), key=lambda row: -row[2])[:_MOST_MISTAKES]
    mistakes = [Mistake(names[row], columns[column], n) for row, column, n in wrong]
    if len(names) > _MOST_CONFUSED:
        return None, mistakes
    matrix = [[0] * len(columns) for _ in names]
    for row, column, n in found:
        matrix[row][column] = n
    return Confusion(names, columns, matrix), mistakes


def _reliability(truth: BoolArray, assessment: Assessment) -> list[Bin]:
    curve = reliability_curve(truth, assessment.proba)
    rows = zip(curve.mean_proba.tolist(), curve.share_positive.tolist(), curve.n.tolist(), strict=True)
    return [Bin(mean, wilson_interval(round(share * n), n), n) for mean, share, n in rows]


def _coverage(sure: Any, right: BoolArray) -> list[Coverage]:
    steps = []
    for at_least in _COVERAGE_STEPS:
        kept = sure >= at_least
        if kept.any():
            steps.append(Coverage(at_least, float(kept.mean()), float(right[kept].mean())))
    return steps


def _words(model: TextCategorizer, measures: dict[str, Any], forms: Mapping[str, str]) -> list[LabelWords]:
    """Word lists of the labels with most texts, in the order of the labels."""
    support = {label: row["support"] for label, row in measures["labels"].items()}
    most = sorted(support, key=lambda label: -support[label])[:_MOST_WORD_LISTS]
    return [LabelWords(label, _strongest(model, label, forms)) for label in support if label in most]


def _strongest(model: TextCategorizer, label: str, forms: Mapping[str, str]) -> list[Word]:
    if model.standard_errors_ is None:
        top = model.top_words(label, _WORDS_PER_LABEL)
        return [Word(word, shown(word, forms), weight) for word, weight in top]
    rows = []
    for one in model.word_intervals(label, _WORDS_PER_LABEL, level=_WORD_LEVEL):
        low, high = (None if math.isnan(end) else end for end in (one.low, one.high))
        rows.append(Word(one.word, shown(one.word, forms), one.weight, 0, low, high))
    return rows


def _versions() -> list[tuple[str, str]]:
    found = [("textbayes", __version__), ("Python", platform.python_version())]
    found += [(name, importlib.metadata.version(name)) for name in ("numpy", "scipy", "scikit-learn", "numba")]
    return [*found, ("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores")]

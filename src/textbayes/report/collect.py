"""Compute what a report says of a model and the texts it is tried on."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy import sparse

from textbayes._version import __version__
from textbayes.categorizer import Assessment, TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.machine import n_cores
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_same_length
from textbayes.evaluate import evaluate
from textbayes.report.figures import (
    class_thresholds,
    confusion_table,
    coverage,
    frequent_mistakes,
    label_rows,
    missed_and_given,
    precision_recall,
    reliability,
)
from textbayes.report.records import (
    Confusion,
    Coverage,
    Curve,
    Example,
    Interval,
    LabelRow,
    LabelWords,
    Mistake,
    ReliabilityBin,
    WrongText,
)
from textbayes.report.texts import AssessedTexts, confidence, make_examples, strongest_words, wrong_texts
from textbayes.report.wording import settings_in_words


@dataclass(frozen=True, repr=False)
class ReportData:
    """Data of a report on an evaluated model, made by ``collect_report``. In a notebook it shows itself.

    ``measures`` is what ``textbayes.evaluate.evaluate`` gives, with a row for either of two classes. ``right`` is the
    share of texts with all labels right. Where texts may have several labels ``confusion`` is None, and ``mistakes``
    are labels missed and those wrongly given to the same text. Lists that do not apply to the kind of labels are empty.
    """

    title: str
    corpus: str
    split: str
    facts: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    notes: list[str]
    measures: dict[str, Any]
    right: Interval
    labels: list[LabelRow]
    confusion: Confusion | None
    mistakes: list[Mistake]
    n_wrong: int
    wrong: list[WrongText]
    reliability: list[ReliabilityBin]
    coverage: list[Coverage]
    overall_curve: Curve | None
    curves: list[Curve]
    words: list[LabelWords]
    stemmed: bool
    examples: list[Example]
    timings: list[tuple[str, float]] = field(default_factory=list)
    versions: list[tuple[str, str]] = field(default_factory=list)
    created: str = ""
    averaged: bool = False  # probabilities are averages over draws of the posterior
    cross_validated: bool = False  # decisions are those of models that had not seen the text

    @property
    def kind(self) -> str:
        """ "binary", "multiclass" or "multilabel"."""
        return str(self.measures["kind"])

    @property
    def has_thresholds(self) -> bool:
        """Whether labels are given by a threshold of their own."""
        return any(row.threshold is not None for row in self.labels)

    def __repr__(self) -> str:
        n, share = self.measures["n_docs"], self.right.share
        return f"<report {self.title!r}: {n:,} texts, {100.0 * share:.1f}% with all labels correct>"

    def _repr_html_(self) -> str | None:
        """The whole page in a frame of its own, so that its style and the notebook's do not meet."""
        from textbayes.report.render import framed_report

        return framed_report(self)


_MOST_CURVES = 12  # of labels, those with most texts
_PER_TEXT = {"multilabel": "none, one or several per text"}


def collect_report(
    model: TextCategorizer,
    texts: Iterable[str],
    labels: Any,
    *,
    title: str = "Evaluation report",
    corpus: str = "",
    split: str = "",
    source: str = "",
    model_name: str = "",
    ids: Sequence[str] | None = None,
    settings: Iterable[tuple[str, str]] = (),
    notes: Iterable[str] = (),
    timings: Mapping[str, float] | None = None,
    assessment: Assessment | None = None,
    cross_validated: bool = False,
    mistakes: int = 50,
) -> ReportData:
    """Collect the data of a report on a fitted model tried on texts with known labels.

    Parameters
    ----------
    model : fitted TextCategorizer
    texts, labels : what it is tried on
        Labels as for ``fit``, among those the model knows, or an indicator matrix with a column for each class. A row
        without any is a text of a label that the model does not know: an error where it gives exactly one.
    title, corpus, split : sentences for the head of the report
    source, model_name : where texts and model come from, such as the names of their files
    ids : names of the texts; numbers from 1 by default
    settings : further (name, value) pairs after those read off the model
    notes : what a careful reader should know
    timings : seconds by what took them
    assessment : what ``model.assess(texts)`` gave, if it is there already
    cross_validated : judge the texts that the model was trained on by the cross-validation of ``fit``, in which each
        was decided by a model that had not seen it, those alone that were held out; of a model that was fitted just
        now, since files do not keep it
    mistakes : how many of the texts decided wrongly are listed
    """
    texts = list(texts)
    if not texts:
        raise InputError("no texts were given; a report needs at least one with its labels")
    space = model.label_space_
    truth = _truth(labels, space)
    check_same_length(texts, "texts", truth, "labels")
    names = [str(i) for i in range(1, len(texts) + 1)] if ids is None else [str(name) for name in ids]
    check_same_length(texts, "texts", names, "ids")
    if cross_validated:
        proba, decisions = _held_out(model, len(texts))
        rows = np.flatnonzero(~np.isnan(proba).any(axis=1))  # large trainings hold out some of their texts
        texts, names = [texts[i] for i in rows], [names[i] for i in rows]
        truth, proba, decisions = truth[rows], proba[rows], decisions[rows]
    else:
        found = model.assess(texts) if assessment is None else assessment
        check_same_length(texts, "texts", found.proba, "assessment")
        proba, decisions = found.proba, found.decisions
    judged = AssessedTexts(names, texts, truth, space.both_columns(proba), _both(decisions, space), space.kind)
    if cross_validated:  # which knows what counts together
        measures = model.held_out_
    else:
        measures = evaluate(truth, judged.proba, judged.decisions, space.class_names, kind=space.kind)
    curves = _curves(judged, space)
    support = {label: row["support"] for label, row in measures["labels"].items()}
    exclusive = space.kind != "multilabel"
    share = "accuracy" if exclusive else "subset_accuracy"
    right = judged.right()
    classes = list(support)
    confusion = confusion_table(truth, judged.decisions, classes) if exclusive else None
    created = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    # Of two classes one tells all: the other's probabilities are the same, seen from the other side.
    asked = slice(1, None) if space.kind == "binary" else slice(None)
    return ReportData(
        title=title,
        corpus=corpus,
        split=split,
        facts=_facts(len(texts), source, model_name, space, created),
        settings=[*settings_in_words(model), *settings],
        notes=list(notes),
        measures=measures,
        right=Interval(measures[share], *measures[f"{share}_interval"]),
        labels=label_rows(measures, curves, class_thresholds(model), cross_validated),
        confusion=confusion,
        mistakes=(
            missed_and_given(truth, judged.decisions, classes) if confusion is None else frequent_mistakes(confusion)
        ),
        n_wrong=int((~right).sum()),
        wrong=wrong_texts(model, judged, mistakes),
        reliability=reliability(truth[:, asked], judged.proba[:, asked]),
        coverage=coverage(confidence(judged), right) if exclusive else [],
        overall_curve=precision_recall(truth, judged.proba, judged.decisions) if len(classes) > 2 else None,
        curves=_leading_curves(curves, support),
        words=strongest_words(model, texts, support),
        stemmed=bool(model.surface_),
        examples=make_examples(model, judged),
        timings=list((timings or {}).items()),
        versions=_versions(),
        averaged=model.draws_ is not None and model.posterior_predictive,
        cross_validated=cross_validated,
        created=created,
    )


def _truth(labels: Any, space: LabelSpace) -> BoolArray:
    """The indicator with a column for each class, whether labels come as strings, as lists of them or as a matrix."""
    classes = space.classes.tolist()
    if sparse.issparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim == 2):
        matrix = labels.toarray() if sparse.issparse(labels) else labels
        if space.kind == "binary" and matrix.shape[1] == 1:
            matrix = np.hstack([1 - matrix.astype(int), matrix])
        return encode_labels(matrix, classes)[0]
    rows = [tuple(label) if isinstance(label, (list, tuple, set, frozenset)) else (label,) for label in labels]
    if space.kind != "multilabel":
        for i, row in enumerate(rows):
            if len(row) != 1:
                raise InputError(
                    f"text {i + 1} has {len(row)} labels; this model gives, and needs, exactly one per text"
                )
    return encode_labels(rows, classes)[0]


def _held_out(model: TextCategorizer, n_texts: int) -> tuple[FloatArray, BoolArray]:
    """Probabilities of the texts that a model was just trained on, NaN if not held out, and decisions on them."""
    proba: FloatArray | None = getattr(model, "held_out_proba_", None)
    if proba is None or len(proba) != n_texts:
        have = "no cross-validation" if proba is None else f"the cross-validation of {len(proba):,} texts"
        raise InputError(
            f"the model has {have}, and {n_texts:,} texts were given; pass a model that was fitted on these texts "
            "and not loaded from a file, or leave out cross_validated"
        )
    return proba, model.held_out_decisions_


def _both(decisions: BoolArray, space: LabelSpace) -> BoolArray:
    return np.hstack([~decisions, decisions]) if space.kind == "binary" else decisions


def _curves(judged: AssessedTexts, space: LabelSpace) -> list[Curve | None]:
    """Precision and recall of each class."""
    truth, proba, decisions = judged.truth, judged.proba, judged.decisions
    names = [str(name) for name in space.classes]
    return [precision_recall(truth[:, j], proba[:, j], decisions[:, j], name) for j, name in enumerate(names)]


def _leading_curves(curves: Sequence[Curve | None], support: Mapping[str, int]) -> list[Curve]:
    """Those of the labels with most texts, in the order of the labels."""
    leading = sorted(support, key=lambda label: -support[label])[:_MOST_CURVES]
    return [curve for curve in curves if curve is not None and curve.label in leading]


def _facts(n: int, source: str, model_name: str, space: LabelSpace, created: str) -> list[tuple[str, str]]:
    """Facts at the top: how many texts, of which file, tried on which model, when."""
    facts = [
        ("Texts", f"{n:,} in {source}" if source else f"{n:,}"),
        ("Labels", f"{len(space.classes):,}, {_PER_TEXT.get(space.kind, 'exactly one per text')}"),
        ("Model", model_name),
        ("Date", created),
    ]
    return [(name, value) for name, value in facts if value]


def _versions() -> list[tuple[str, str]]:
    found = [("textbayes", __version__), ("Python", platform.python_version())]
    found += [(name, importlib.metadata.version(name)) for name in ("numpy", "scipy", "scikit-learn", "numba")]
    return [*found, ("machine", f"{platform.system()} {platform.machine()}, {n_cores()} cores")]

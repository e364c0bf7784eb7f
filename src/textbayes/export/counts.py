"""Scores of count models: linear in the counts, or sums over negative binomials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.export.readings import ReadView, all_words
from textbayes.export.scoring import Block, DispersedBlock, Scoring, TermWeight
from textbayes.kinds.counts import FittedCounts
from textbayes.models.counts.classifier import BayesCountClassifier

_DISPERSED = ("negative_binomial", "dirichlet_negative_binomial")


def add_counts(scoring: Scoring, views: list[ReadView], fitted: FittedCounts, factor: float) -> None:
    """Add the scores of count models, times a factor.

    Parameters
    ----------
    scoring : Scoring
        It is added to.
    views : list of ReadView
        Of which there must be one.
    fitted : FittedCounts
    factor : float
    """
    [view] = views
    scoring.length = all_words(view.vectorizer)
    terms = view.vectorizer.get_feature_names_out().tolist()
    names = {_check(one, view) for one in fitted.classifiers}
    rows = []
    weights = np.zeros((scoring.space.n_columns, len(terms)))
    for column, one, c, sign in _classes(fitted):
        rows.append((column, factor * sign))
        scoring.intercept[column] += factor * sign * one.class_log_prior_[c]
        if not names <= set(_DISPERSED):
            own, per_thousand, with_words = _linear(one, c)
            weights[column] += factor * sign * own
            scoring.per_thousand[column] += factor * sign * per_thousand
            scoring.with_words[column] += factor * sign * with_words
    if names <= set(_DISPERSED):
        rates, deltas = (
            np.concatenate([getattr(one.estimate_, name) for one in fitted.classifiers]) for name in ("rates", "deltas")
        )
        scoring.dispersed.append(DispersedBlock(view.name, view.reading, terms, rates, deltas, rows))
        return
    tf: TermWeight = "binary" if "bernoulli" in names or view.vectorizer.binary else "raw"
    scoring.blocks.append(Block(view.name, view.reading, tf, False, terms, np.ones(len(terms)), weights))


def _classes(fitted: FittedCounts) -> Iterator[tuple[int, BayesCountClassifier, int, float]]:
    """Column, classifier, number of the class in it, and sign: of two classes the second less the first."""
    for number, one in enumerate(fitted.classifiers):
        for c in range(len(one.classes_)):
            yield (c, one, c, 1.0) if fitted.is_softmax else (number, one, c, 2.0 * c - 1.0)


def _linear(one: BayesCountClassifier, c: int) -> tuple[FloatArray, float, float]:
    """Weights of a class's words, what a thousand words add, and what having any does."""
    estimate: Any = one.estimate_
    if one.model_.name == "multinomial":
        return estimate.log_shares[c] * estimate.weights, 0.0, 0.0
    if one.model_.name == "complement":
        return estimate.weights[c], 0.0, 0.0
    if one.model_.name == "bernoulli":
        log_no = np.log1p(-estimate.values[c]) * estimate.weights
        return np.log(estimate.values[c]) * estimate.weights - log_no, 0.0, float(log_no.sum())
    return np.log(estimate.rates[c]), -float(estimate.rates[c].sum()), 0.0  # Poisson, with or without a hierarchy


def _check(one: BayesCountClassifier, view: ReadView) -> str:
    """The name of a count model that can be exported."""
    model: Any = one.model_
    name = str(model.name)
    if getattr(model, "sampling", None) is not None and model.sampling.integrate:
        raise NotSupportedError(
            "a count model whose probabilities are averages over draws (prediction='integrated') has no formula; train "
            "it with prediction='mode'"
        )
    if name == "bernoulli" and model.length_correction:
        raise NotSupportedError(
            "the bernoulli model with length_correction cannot be exported; train it without, or counts:model=poisson"
        )
    if name in _DISPERSED and view.vectorizer.binary:
        raise NotSupportedError(f"the {name} model needs counts, but words count once (binary); train it with counts")
    return name

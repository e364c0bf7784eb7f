"""The constants β of a hierarchy chosen by cross-validation: those of the lowest held-out log-loss."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse, special

from textbayes.core.cross_validation import Folds, over_folds
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.folds import label_seen
from textbayes.core.types import FloatArray, Matrix
from textbayes.models.counts.base import BaseCountModel

FIRST = (1.0, 3.0, 10.0, 30.0)
SECOND = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)  # times the thousands of words of a class


def choose_beta(
    model: Any,
    X: sparse.csr_matrix,
    Y: Matrix,
    omega: FloatArray,
    log_prior: FloatArray,
    cv: int = 5,
    random_state: int = 0,
    groups: Iterable[Hashable] | None = None,
) -> BaseCountModel[Any, Any]:
    """The model with the β₁, β₂ of the least held-out log-loss: first β₂ along its grid, then β₁, then β₂ again.

    β₃ to β₅ keep their values. Statistics of the folds are added up, not read again. Y (n_docs, C) is an
    indicator times the documents' weights, ``log_prior`` (C,) what is known of the classes beforehand.

    Parameters
    ----------
    model : a Dirichlet count model
    X : sparse matrix (n_docs, n_features)
    Y : matrix (n_docs, n_classes)
        An indicator of the classes times the documents' weights.
    omega : array (n_docs,)
        Lengths in thousands of words.
    log_prior : array (n_classes,)
    cv, random_state : int
        Folds and how they are drawn.
    groups : sequence of n_docs values, optional
        Documents of one group share a fold.
    """
    if not hasattr(model, "beta"):
        raise NotSupportedError(f"count model {model.name!r} has no constants β to choose; leave beta at its default")
    weights = sparse.csr_matrix(Y)
    codes, weight = np.asarray(weights.argmax(axis=1)).ravel(), np.asarray(weights.sum(axis=1)).ravel()
    used = weight > 0.0
    sizes = np.bincount(codes[used])
    smallest = int(sizes[sizes > 0].min())  # a class that a fold of an outer cross-validation lacks tells nothing
    if smallest < 2:
        raise InputError("a class has fewer than two documents, so that β cannot be cross-validated; use beta='auto'")
    indicator = codes[:, None] == np.arange(weights.shape[1])
    folds = Folds.stratified(indicator, min(cv, smallest), random_state, groups)
    tests = [folds.split(k)[1] for k in range(folds.n)]
    # Documents of classes that the other folds lack do not count: nothing has been learnt of them.
    weight = weight * label_seen(indicator, folds.number)[np.arange(len(codes)), codes]
    plain = replace(model, sampling=None)
    parts = [plain.statistics(X[test], weights[test], omega[test]) for test in tests]
    others = [reduce(plain.combine, parts[:k] + parts[k + 1 :]) for k in range(folds.n)]
    exposure = float(np.asarray(weights.T @ omega).mean())
    rest = () if isinstance(plain.beta, str) else tuple(plain.beta)[2:]

    def held_out_loss(pair: tuple[float, float], k: int) -> float:
        """Σ weight·(−ln p(class | document)) of one fold, learnt from all others."""
        trial, test = replace(plain, beta=(pair[0], pair[1] * exposure, *rest)), tests[k]
        scores = trial.class_scores(X[test], omega[test], trial.estimate(others[k])) + log_prior
        log_proba = special.log_softmax(scores, axis=1)
        return float(-(weight[test] * log_proba[np.arange(len(scores)), codes[test]]).sum())

    known: dict[tuple[float, float], float] = {}

    def best_of(pairs: list[tuple[float, float]]) -> tuple[float, float]:
        new = [pair for pair in pairs if pair not in known]
        for pair, _, loss in over_folds(held_out_loss, folds, new):
            known[pair] = known.get(pair, 0.0) + loss
        return min(pairs, key=known.__getitem__)

    best = (10.0, 1.0)
    for _ in range(2):
        best = best_of([(best[0], two) for two in SECOND])
        best = best_of([(one, best[1]) for one in FIRST])
    return replace(model, beta=(best[0], best[1] * exposure, *rest))

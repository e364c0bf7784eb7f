"""Linear models of documents with workers: only weights go out, only sums of gradients come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.core.errors import NotSupportedError
from textbayes.core.executor import Executor
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference import FitInfo, Posterior, Problem, samples
from textbayes.inference._label import LabelFit
from textbayes.kernels.sparse import times, transpose_times
from textbayes.links.base import BaseLink
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.scale.descent import Lbfgs, ProximalNewton, minimise
from textbayes.tune import BayesLinearClassifierCV

_TOL = 1e-7  # share of the objective that steps of single words may still gain at the end
_LEAST_ITERATIONS = 1_000
_NUMBERS = 2**26  # kept at a time of all labels of a block: half a gigabyte
_REACH = 8.0  # as in ``inference/_label.py``: a document far on the wrong side has at least this much curvature


class WorkerDocuments(NamedTuple):
    """Documents of one worker: X (n, p) in CSC, outcomes (n, k) of −1 and +1, and how much each counts or None."""

    X: Any
    y: FloatArray
    weight: FloatArray | None


def check_in_parts(estimator: BayesLinearClassifier) -> None:
    """Refuse a linear model that gradients of parts do not tell how to fit."""
    way = "or train it where all documents are in one place"
    if isinstance(estimator, BayesLinearClassifierCV):
        raise NotSupportedError(f"a search for scales or links needs all documents in one place; name them, {way}")
    if samples(estimator.inference):
        raise NotSupportedError(f"inference 'gibbs' needs all documents in each chain; use 'coordinate', {way}")
    for name in ("intervals", "word_scales", "shared_scale", "warm_start"):
        if getattr(estimator, name):
            raise NotSupportedError(f"{name} needs all documents in one place; leave it out, {way}")
    prior = make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign)
    if prior.signed or not (prior.exact_local and prior.log_concave) or not estimator._link().log_concave:
        raise NotSupportedError(
            f"prior {prior.name!r} with link {estimator._link().name!r} has no single optimum that gradients lead to, "
            f"or asks for signs; use 'laplace', 'gaussian' or 'elastic_net' with 'logit' or 'probit', {way}"
        )


def fit_in_parts(
    executor: Executor, parts: Sequence[Any], estimator: BayesLinearClassifier, space: LabelSpace, n_features: int,
    start: BayesLinearClassifier | None = None,
) -> BayesLinearClassifier:  # fmt: skip
    """A fitted copy of a linear classifier, one regression for each column; the optimum is that of all documents.

    Parameters
    ----------
    executor : Executor
    parts : sequence
        ``WorkerDocuments``, or what stands for them with the executor.
    estimator : BayesLinearClassifier
    space : LabelSpace
    n_features : int
    start : BayesLinearClassifier, optional
        Fitted to other documents: where to start.
    """
    check_in_parts(estimator)
    one: BayesLinearClassifier = clone(estimator)
    one._check_settings()
    prior, link = make_prior(one.prior, one.scale, one.mean, one.sign), one._link()
    n_labels = space.n_columns
    link.check_labels(n_labels)
    y = np.repeat([[1.0], [-1.0]], n_labels, axis=1)
    X = sparse.csc_matrix((2, n_features))
    problem = Problem(X, y, link, prior, one._intercept_prior(link, prior, n_labels))
    masses = executor.map_reduce(_masses, np.add, parts)
    size = max(1, _NUMBERS // (60 * (n_features + 1)))
    posterior = _empty(n_labels, n_features)
    for first in range(0, n_labels, size):
        _fit_block(executor, parts, problem, masses, range(first, min(first + size, n_labels)), one, start, posterior)
    one._keep(posterior, space)
    one.link_, one.held_scale_ = link, one._typical_scale()
    one.n_features_in_, one.approximation_, one.standard_errors_ = n_features, None, None
    one._warn_if_unfinished()
    return one


def _empty(n_labels: int, n_features: int) -> Posterior:
    info = FitInfo(np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels, np.int64), np.ones(n_labels, np.bool_))
    return Posterior(np.zeros((n_labels, n_features)), np.zeros(n_labels), None, info)


def _fit_block(
    executor: Executor, parts: Sequence[Any], problem: Problem, masses: FloatArray, block: range,
    estimator: BayesLinearClassifier, start: BayesLinearClassifier | None, out: Posterior,
) -> None:  # fmt: skip
    """Fit some of the labels; what is minimised is of the weights less their prior means."""
    n_features = problem.X.shape[1]
    shape = (len(block), n_features + 1)
    l1, l2, center, at = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    open_labels = []
    for k, label in enumerate(block):
        # Two documents that count as much as the positive and the negative ones: the intercept to start with, and the
        # answer where all documents are on one side.
        fit = LabelFit(problem._replace(sample_weight=masses[:, label]), None, label)
        fit.eta = np.full(2, fit.intercept)
        fit.start_intercept()
        fit.refresh()
        l1[k, :-1], l2[k, :-1], center[k, :-1] = fit.penalty.l1, fit.penalty.l2, fit.penalty.center
        l1[k, -1], l2[k, -1], center[k, -1] = max(fit.intercept_l1, 0.0), fit.intercept_l2, fit.intercept_mean
        at[k, -1] = fit.b
        out.mean[label], out.intercept[label] = fit.penalty.center, fit.intercept
        out.info.objective[label] = fit.objective()
        if not fit.one_sided:
            open_labels.append(k)
            if start is not None:
                at[k] = np.append(start.coef_[label], start.intercept_[label]) - center[k]
    if not open_labels:
        return
    free = problem.intercept_prior is not None
    labels, chosen = np.asarray(block), np.array(open_labels)

    def place(asked: IntArray, points: FloatArray) -> tuple[IntArray, FloatArray]:
        """Numbers of labels among all, and weights."""
        return labels[chosen[asked]], points + center[chosen[asked]]

    def evaluate(asked: IntArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = executor.map_reduce(_evaluated, np.add, parts, place(asked, points), problem.link)
        if not free:
            sums[:, -1] = 0.0
        return -sums[:, 0], -sums[:, 1:]

    def second(asked: IntArray, points: FloatArray, columns: list[IntArray]) -> list[FloatArray]:
        found = executor.map_reduce(_second, _sums, parts, place(asked, points), columns, problem.link)
        for matrix in found if not free else []:
            matrix[-1], matrix[:, -1], matrix[-1, -1] = 0.0, 0.0, 1.0
        return found

    everything = place(np.arange(len(chosen)), at[chosen])
    diagonal = executor.map_reduce(_curvatures, np.add, parts, everything, problem.link)
    effort = _TOL, max(estimator.max_iter, _LEAST_ITERATIONS)
    searches = [
        (ProximalNewton if l1[k].any() else Lbfgs)(at[k], l1[k], l2[k], diagonal[number], *effort)
        for number, k in enumerate(chosen)
    ]
    found = minimise(searches, evaluate, second)
    weights = found.point + center[chosen]
    for number, label in enumerate(labels[chosen]):
        out.mean[label], out.intercept[label] = weights[number, :-1], weights[number, -1]
        for part, value in zip(out.info, (found.objective, None, found.n_iter, found.converged), strict=True):
            if value is not None:
                part[label] = value[number]


# -- what workers do --------------------------------------------------------------------------------------------------
def _masses(documents: WorkerDocuments) -> FloatArray:
    """Total weight of the positive and of the negative documents of every label, (2, k)."""
    weight = np.ones(len(documents.y)) if documents.weight is None else documents.weight
    return np.stack([weight @ (documents.y > 0.0), weight @ (documents.y < 0.0)])


def _derivatives(documents: WorkerDocuments, at: tuple[IntArray, FloatArray], link: BaseLink) -> list[Any]:
    """Likelihood, scores and curvatures of the documents for each of some labels at weights (m, p + 1)."""
    X, (labels, weights) = documents.X, at
    eta = times(X.indptr, X.indices, X.data, np.ascontiguousarray(weights[:, :-1].T), X.shape[0]) + weights[:, -1]
    return [
        link.for_label(int(label)).likelihood(
            np.ascontiguousarray(eta[:, k]), np.ascontiguousarray(documents.y[:, label]), documents.weight
        )
        for k, label in enumerate(labels)
    ]


def _evaluated(documents: WorkerDocuments, at: tuple[IntArray, FloatArray], link: BaseLink) -> FloatArray:
    """Log-likelihood and gradient of each of some labels, (m, 1 + p + 1)."""
    X, found = documents.X, _derivatives(documents, at, link)
    scores = np.stack([one.score for one in found], axis=1)
    gradients = transpose_times(X.indptr, X.indices, X.data, scores).T
    return np.column_stack([[one.total for one in found], gradients, scores.sum(axis=0)])


def _curvatures(documents: WorkerDocuments, at: tuple[IntArray, FloatArray], link: BaseLink) -> FloatArray:
    """Second derivatives of −log-likelihood in every weight of each of some labels, (m, p + 1)."""
    X, found = documents.X, _derivatives(documents, at, link)
    omega = np.stack([one.hessian for one in found], axis=1)
    return np.column_stack([transpose_times(X.indptr, X.indices, X.data**2, omega).T, omega.sum(axis=0)])


def _second(
    documents: WorkerDocuments, at: tuple[IntArray, FloatArray], columns: list[IntArray], link: BaseLink
) -> list[FloatArray]:
    """Second derivatives of −log-likelihood in some weights of each of some labels, the intercept's the last."""
    X, matrices = documents.X, []
    for own, found in zip(columns, _derivatives(documents, at, link), strict=True):
        omega = np.maximum(found.hessian, np.abs(found.score) / _REACH)
        words = X[:, own[:-1]].tocsr()
        weighted = words.multiply(omega[:, None]).tocsr()
        of_intercept = np.asarray(weighted.sum(axis=0)).ravel()
        top = np.column_stack([(words.T @ weighted).toarray(), of_intercept])
        matrices.append(np.vstack([top, np.append(of_intercept, omega.sum())]))
    return matrices


def _sums(one: list[FloatArray], other: list[FloatArray]) -> list[FloatArray]:
    return [left + right for left, right in zip(one, other, strict=True)]

"""Choose the scale of a prior by the marginal likelihood of the documents, in Laplace's approximation at the mode."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize, sparse
from scipy.special import erfcx

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.inference import BaseInference, Posterior, Problem, make_inference
from textbayes.inference.laplace_approximation import laplace_approximation
from textbayes.priors.base import BasePrior
from textbayes.tune.path import Path, at_scale, check_factors, regularisation_path

_WIDEST = 10.0  # standard deviations of the prior
_TOL = 1e-5  # of the fits: an evidence needs the very mode


class EvidenceSearch(NamedTuple):
    """Log evidence (n_points, n_labels) along ``factors``, and the factor (n_labels,) of the highest.

    ``exact`` (n_points, n_labels) is False where the determinant of a label was itself approximated.
    """

    factors: FloatArray
    log_evidence: FloatArray
    exact: BoolArray
    factor: FloatArray
    path: Path


def log_evidence(problem: Problem, posterior: Posterior) -> tuple[FloatArray, BoolArray]:
    """Log-evidence log ∫ p(y | w, b) p(w) p(b) dw db of each label, and whether its determinant is exact.

    Over the active words A and the intercept, d numbers of precision H at the mode (MacKay 1992),

        log Z = log p(y | ŵ, b̂) + log p(ŵ_A) + log p(b̂) + ½ d log 2π − ½ log |H|.

    With a Gaussian prior all words are active and the error falls as 1/n_docs. A free intercept counts with density 1,
    so that only differences of log Z mean something then.

    A prior with a kink holds most words at their mean, where the posterior is not Gaussian. Each such word is
    integrated alone, the others fixed, with its kink exact and the likelihood expanded to second order around it,

        log ∫ exp(g u − ½ (h + l2) u² − l1 |u|) du + log p(mean),

    g and h being the slope and the curvature of the log-likelihood there; the integral is a sum of two scaled
    complementary error functions. Words are taken for independent in this, and the active ones for Gaussian however
    close to the kink they are, so that the criterion jumps a little where a word joins the active ones; it is a guide
    to the scale rather than an exact figure. Leaving the inactive words out altogether (Williams 1995) would count
    none of what their freedom costs or brings.

    Parameters
    ----------
    problem : Problem
    posterior : Posterior
        Its mode.

    References
    ----------
    MacKay (1992), The evidence framework applied to classification networks, Neural Computation 4, 720–736.
    Williams (1995), Bayesian regularization and pruning using a Laplace prior, Neural Computation 7, 117–143.
    Tierney & Kadane (1986), Accurate approximations for posterior moments and marginal densities, JASA 81, 82–86.
    """
    if problem.prior.pole or not problem.prior.proper:
        raise NotSupportedError(
            f"prior {problem.prior.name!r} is not a proper density with a finite peak, so that there is no evidence to "
            "compute; choose its scale by cross-validation"
        )
    approximation = laplace_approximation(problem, posterior)
    n_labels, n_features = posterior.mean.shape
    value, exact = np.empty(n_labels), approximation.exact
    for label in range(n_labels):
        prior, w, b = problem.prior.for_label(label, n_features), posterior.mean[label], posterior.intercept[label]
        y, columns = problem.y[:, label], approximation.forms[label].columns
        likelihood = problem.link.for_label(label).likelihood(np.asarray(problem.X @ w) + b, y, problem.sample_weight)
        active = np.zeros(n_features, dtype=np.bool_)
        active[columns] = True
        intercept = problem.intercept_prior_of(label)
        used = np.ones(n_features, dtype=np.bool_) if problem.words is None else problem.words[label]
        held = np.flatnonzero(used & ~active)
        size = len(columns) + (intercept is not None)
        log_det = approximation.log_det[label]
        if not problem.prior.smooth and exact[label]:
            log_det = _log_det(problem.X[:, columns], prior.take(columns), intercept, likelihood.hessian, w[columns], b)
        value[label] = (
            likelihood.total
            - prior.take(columns).neg_log(w[columns]).sum()
            - _of_intercept(intercept, b)
            + 0.5 * size * np.log(2.0 * np.pi)
            - 0.5 * log_det
            + _of_held(problem.X, prior.take(held), held, likelihood.score, likelihood.hessian)
        )
    return value, exact


def _log_det(
    words: Any, prior: BasePrior, intercept: BasePrior | None, hessian: FloatArray, w: FloatArray, b: float
) -> float:
    """log |H| of active words under a kink, which the standard errors' approximation raises to the prior's precision.

    No direction is taken to be wider than ten standard deviations of the prior, for words that share their documents.
    """
    H = (words.T @ sparse.diags(hessian) @ words).toarray()
    _, l1, l2 = prior.local(w)
    if intercept is not None:
        border = np.asarray(words.T @ hessian)[:, None]
        H = np.block([[H, border], [border.T, np.array([[hessian.sum()]])]])
        _, l1_b, l2_b = intercept.local(np.array([b]))
        l1, l2 = np.append(l1, l1_b), np.append(l2, l2_b)
    of_prior = np.sqrt(l2 + 0.5 * l1**2)
    unit = np.where(of_prior > 0.0, of_prior, np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny)))
    values = linalg.eigvalsh((H + np.diag(l2)) / unit / unit[:, None])
    return float(np.log(np.maximum(values, _WIDEST**-2)).sum() + 2.0 * np.log(unit).sum())


def _of_intercept(prior: BasePrior | None, b: float) -> float:
    return 0.0 if prior is None else float(prior.neg_log(np.array([b]))[0])


def _of_held(X: Any, prior: BasePrior, columns: Any, score: FloatArray, hessian: FloatArray) -> float:
    """Σ_j log of the integral over each word that a kink or a sign holds at its mean, one at a time."""
    if not len(columns):
        return 0.0
    words = X[:, columns]
    g, h = words.T @ score, words.multiply(words).T @ np.maximum(hessian, 0.0)
    mean = np.broadcast_to(prior.mean, columns.shape)
    center, l1, l2 = prior.local(np.array(mean))
    low, high = prior.bounds(columns.shape)
    bend = np.maximum(h + l2, 1e-12)
    root = np.sqrt(2.0 * bend)
    up = np.where(high > center, erfcx((l1 - g) / root), 0.0)
    down = np.where(low < center, erfcx((l1 + g) / root), 0.0)
    inside = np.sqrt(np.pi) / root * (up + down)
    return float(np.log(inside).sum() - prior.neg_log(center).sum())


def search_evidence(
    problem: Problem,
    factors: ArrayLike,
    inference: str | BaseInference = "coordinate",
    max_iter: int = 200,
    n_jobs: int = 1,
) -> EvidenceSearch:
    """Search the factor of highest evidence for each label, over a grid and between its points.

    Between the neighbours of the best point the maximum is found by Brent's method on the logarithm of the factor, to
    a hundredth of it; a best point at an end of the grid is taken as it is.

    Parameters
    ----------
    problem : Problem
    factors : array (n_points,) or (n_points, n_labels)
        Multiples of the prior's scale, rising.
    inference : str or BaseInference
    max_iter : int
    n_jobs : int
        Threads.
    """
    factors = check_factors(factors, problem.y.shape[1])
    path = regularisation_path(problem, factors, inference, _TOL, max_iter, n_jobs)
    rows = [log_evidence(at_scale(problem, row), path.posterior(point)) for point, row in enumerate(factors)]
    value, exact = (np.array(part) for part in zip(*rows, strict=True))
    best = value.argmax(axis=0)
    factor = factors[best, np.arange(factors.shape[1])]
    method = make_inference(inference, _TOL, max_iter, 1)
    for label in range(factors.shape[1]):
        if 0 < best[label] < len(factors) - 1:
            factor[label] = _refined(problem, label, factors[:, label], value[:, label], path, method)
    return EvidenceSearch(factors, value, exact, factor, path)


def _refined(
    problem: Problem, label: int, factors: FloatArray, value: FloatArray, path: Path, method: BaseInference
) -> float:
    point = int(value.argmax())
    alone = _one_label(problem, label)
    start = path.posterior(point)
    start = Posterior(start.mean[[label]], start.intercept[[label]], None, start.info)

    def lost(log_factor: float) -> float:
        there = at_scale(alone, np.exp([log_factor]))
        return -float(log_evidence(there, method.run(there, start))[0][0])

    ends = np.log(factors[[point - 1, point + 1]])
    found = optimize.minimize_scalar(lost, bounds=tuple(ends), method="bounded", options={"xatol": 0.01})
    return float(np.exp(found.x)) if found.fun < -value[point] else float(factors[point])


def _one_label(problem: Problem, label: int) -> Problem:
    return problem._replace(
        y=np.ascontiguousarray(problem.y[:, [label]]),
        link=problem.link.for_label(label),
        prior=problem.prior.for_label(label, problem.X.shape[1]),
        intercept_prior=problem.intercept_prior_of(label),
        words=None if problem.words is None else problem.words[[label]],
    )

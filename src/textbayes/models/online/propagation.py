"""Several passes that count every document once: expectation propagation with full covariance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.models.online.base import check_outcomes
from textbayes.models.online.full import FullPosterior
from textbayes.models.online.likelihood import OnlineLikelihood


class PropagationInfo(NamedTuple):
    """``sites`` (n_docs, 2): what each document contributed, as precision and shift of its linear predictor.

    ``change`` is the largest change of a mean, in standard deviations, and of a variance, relative, in the last pass.
    """

    sites: FloatArray
    n_passes: int
    change: float
    converged: bool


def propagate(
    posterior: FullPosterior,
    X: Any,
    y: Any,
    likelihood: OnlineLikelihood,
    tol: float = 1e-6,
    max_passes: int = 100,
    sites: FloatArray | None = None,
) -> tuple[FullPosterior, PropagationInfo]:
    """Learn a batch of documents until nothing changes, each as one factor of the posterior.

    The first pass is that of ``posterior.learn``. From the second on, a document's former contribution is taken out
    before it is learnt anew, so that the order of the documents ceases to matter. Means come out close to those of the
    exact posterior; variances too, unless few documents decide much (small noise), when they are somewhat low.

    Parameters
    ----------
    posterior : FullPosterior
        Before these documents; or after them, with the ``sites`` that were returned then, to go on.
    likelihood : OnlineLikelihood
        A probit, plain or flipped.

    References
    ----------
    Minka (2001), Expectation propagation for approximate Bayesian inference, UAI; Kuss & Rasmussen (2005), Assessing
    approximate inference for binary Gaussian process classification, JMLR 6.

    Examples
    --------
    >>> from textbayes.models.online import FullPosterior, PAPER_PROBIT
    >>> X, y = np.array([[1.0], [1.0], [1.0]]), [1, 1, -1]
    >>> posterior, info = propagate(FullPosterior.start([0], bias_variance=0.0), X, y, PAPER_PROBIT)
    >>> backwards, _ = propagate(FullPosterior.start([0], bias_variance=0.0), X[::-1], y[::-1], PAPER_PROBIT)
    >>> info.converged, bool(np.allclose(posterior.mean, backwards.mean, atol=1e-5))
    (True, True)
    """
    from textbayes.kernels.online.full import learn_full

    if not isinstance(posterior, FullPosterior):
        raise NotSupportedError(f"propagation needs a FullPosterior; {type(posterior).__name__} is given")
    if likelihood.closed_form is None:
        raise NotSupportedError(f"propagation needs a probit link, plain or flipped; {likelihood.link.spec!r} is not")
    state, rows = posterior.copy(), posterior._rows(X)
    outcomes = check_outcomes(y, rows.n_docs, 1)[:, 0]
    sites = np.zeros((rows.n_docs, 2)) if sites is None else sites.copy()
    if sites.shape != (rows.n_docs, 2):
        raise InputError(f"sites has shape {sites.shape}; pass one row of two per document: {(rows.n_docs, 2)}")
    log_z, change, number = np.empty(rows.n_docs), np.inf, 0
    while change > tol and number < max_passes:
        number += 1
        mean, var = state.mean.copy(), np.diag(state.cov).copy()
        learn_full(*rows, outcomes, state.mean, state.cov, *likelihood.closed_form, sites, log_z)
        scale = np.where(var > 0.0, var, 1.0)
        moved = np.abs(state.mean - mean) / np.sqrt(scale)
        change = float(max(moved.max(), (np.abs(np.diag(state.cov) - var) / scale).max()))
    return state, PropagationInfo(sites, number, change, change <= tol)

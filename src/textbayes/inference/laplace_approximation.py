"""A Gaussian around the mode: how sure a MAP fit is of its weights and of what it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference._label import LabelFit
from textbayes.inference.base import Posterior, Problem
from textbayes.kernels.linear.coordinate import gather_columns
from textbayes.kernels.linear.gram import gather_rows, weighted_gram
from textbayes.links.base import BaseLink
from textbayes.posterior.gaussian import (
    LARGEST,
    LEAST_PRECISION,
    DualForm,
    GaussianApproximation,
    PrimalForm,
    dual_form,
    primal_form,
)

_STEP = 1e-3  # of the predictor, for the slope of the curvature
_FREE = 1e-6  # a free weight's precision counts as at least this share of what it is with the other weights known


def laplace_approximation(
    problem: Problem,
    posterior: Posterior,
    memory: int = 2**28,
    curvature: FloatArray | None = None,
    shifts: bool = False,
) -> GaussianApproximation:
    """The Gaussian at the mode of each label, given the problem and the posterior that an inference found.

    Its precision is that of the model's last quadratic step, over the active words A and the intercept,

        X_A'ΩX_A + diag(l2),

    with Ω the link's curvature at the mode and l2 that of the prior's local penalty: 1/scale² for ``gaussian``, 0 for
    ``laplace`` away from its kink, E[1/τ | w] for a smooth scale mixture. Of a link that is not log-concave, whose
    curvature is negative for outliers, the mean over both outcomes is taken, Fisher's information. Active are the words
    that no kink holds at their mean, nor a sign at 0, and that the label may use; of a prior without a kink, all.

    Two words that share all their documents leave a direction without curvature under a prior with a kink, whose
    density bounds it all the same: l1·|w| is a Laplace density of variance 2/l1². So no direction is taken to be less
    certain than under independent words of precision l2 + ½ l1².

    Parameters
    ----------
    problem, posterior :
        As given to and returned by ``BaseInference.run``.
    memory : int
        Bytes for all labels together. A label's matrix has no more than √(memory/8/n_labels) rows, nor than 2,000.
        Labels with more active words are held by documents in place of words (Woodbury). Of more documents than that,
        the 512 that tell most are held, and the others summed up; ``exact`` says where.
    curvature : array (n_docs, n_labels), optional
        Ω itself, for a likelihood that is not that of the problem's link.
    shifts : bool
        Estimate mean − mode as well, for labels with fewer active words than documents: a likelihood that falls more
        slowly away from 0 than towards it has its mean beyond its mode. To first order it is −½ Σ X'(Ω′ ∘ diag XΣX'),
        Ω′ the slope of the curvature; no estimate is larger than the standard error.

    Notes
    -----
    The approximation is conditional on which words are active: it does not say how sure the model is that the weight of
    another word is zero. An active weight within about one standard error of the kink has a skewed posterior with a
    kink in it, which no Gaussian describes well. Where words are as many as documents, or more, a mode is not where the
    mass is, and the intervals are too short; with fewer words ``shifts`` repair most of it. A label whose documents are
    all on one side has the half documents added that its fit had.

    Adding l1/|w| to the diagonal, as Tibshirani (1996) does for the lasso, shrinks the errors of small weights towards
    0, where these weights are least certain of all.

    References
    ----------
    MacKay (1992), The evidence framework applied to classification networks, Neural Computation 4, 720–736.
    Tibshirani (1996), Regression shrinkage and selection via the lasso, JRSS B 58, 267–288.
    Zou & Li (2008), One-step sparse estimates in nonconcave penalized likelihood models, Annals of Statistics 36,
    1509–1533, on the local penalty. Tierney & Kadane (1986), Accurate approximations for posterior moments and marginal
    densities, JASA 81, 82–86, on means beside modes.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from textbayes.inference.newton import Newton
    >>> from textbayes.links import make_link
    >>> from textbayes.priors import make_prior
    >>> X = sparse.csc_matrix([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> problem = Problem(X, y, make_link("logit"), make_prior("gaussian", 2.0), make_prior("gaussian", 2.0))
    >>> approximation = laplace_approximation(problem, Newton(tol=1e-8).run(problem))
    >>> approximation.standard_errors()[0].round(2)  # down from the prior's 2
    array([[1.44, 1.43]])
    >>> np.sqrt(approximation.variance([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0]]))[:, 0].round(2)
    array([ 1.2 ,  1.5 , 14.01])
    """
    n_labels, n_features = problem.y.shape[1], problem.X.shape[1]
    if posterior.mean.shape != (n_labels, n_features):
        raise InputError(
            f"the posterior has weights of shape {posterior.mean.shape}, the problem {(n_labels, n_features)}; "
            "pass the problem that the posterior was found for"
        )
    if memory < 8:
        raise InputError(f"memory={memory} bytes is given; a label needs 8 at least")
    limit = min(LARGEST, max(1, int(np.sqrt(memory / 8 / n_labels))))
    forms = []
    for label in range(n_labels):
        omega = None if curvature is None else np.ascontiguousarray(curvature[:, label])
        form = _form(problem, posterior, label, limit, omega)
        if shifts and omega is None and isinstance(form, PrimalForm) and len(form.columns) < problem.X.shape[0]:
            form = form._replace(shift=_mean_shift(problem, posterior, label, form))
        forms.append(form)
    return GaussianApproximation(forms, n_features)


def _form(
    problem: Problem, posterior: Posterior, label: int, limit: int, omega: FloatArray | None
) -> PrimalForm | DualForm:
    fit = LabelFit(problem, posterior, label)
    w, b = posterior.mean[label], float(posterior.intercept[label])
    columns, l1, l2 = active_words(fit, w)
    corner = intercept_precision(problem, fit, b)
    if omega is None:
        omega = _curvature(fit.link, np.asarray(problem.X @ w) + b, fit.y, problem.sample_weight)
    ridge = bool(((l1 == 0.0) & (l2 > 0.0)).all())
    size = len(columns) + (corner is not None)
    if size <= limit and (size <= len(omega) or not ridge):
        return _primal(problem.X, columns, omega, l1, l2, corner, not ridge)
    # Woodbury's identity needs a diagonal: under a kink the precision that the primal form has at least is added.
    diagonal = np.maximum(l2 + 0.5 * l1**2, LEAST_PRECISION)
    of_prior = None if corner is None else corner[0] + 0.5 * corner[1] ** 2
    return dual_form(columns, problem.X[:, columns].tocsr(), omega, diagonal, of_prior, limit)


def _mean_shift(problem: Problem, posterior: Posterior, label: int, form: PrimalForm) -> FloatArray:
    """First-order estimate of mean − mode of the active words and the intercept of one label."""
    fit = LabelFit(problem, posterior, label)
    eta = np.asarray(problem.X @ posterior.mean[label]) + float(posterior.intercept[label])
    above, below = (_curvature(fit.link, eta + side * _STEP, fit.y, problem.sample_weight) for side in (1.0, -1.0))
    pull = -0.5 * (above - below) / (2.0 * _STEP) * form.variance(problem.X)
    towards = np.append(problem.X[:, form.columns].T @ pull, pull.sum())[: len(form.root)]
    shift = form.root @ (form.root.T @ towards)
    error = np.sqrt(np.einsum("ij,ij->i", form.root, form.root))
    return np.clip(shift, -error, error)


def active_words(fit: LabelFit, w: FloatArray) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Active words, which neither a kink nor a sign holds, with l1 and l2 of their local penalty."""
    center, l1, l2 = fit.prior.local(w)
    active = ((l1 == 0.0) | (w != center)) & (w - center > fit.low) & (w - center < fit.high)
    if fit.allowed is not None:
        active &= fit.allowed
    columns = np.flatnonzero(active)
    return columns, l1[columns], l2[columns]


def _curvature(link: BaseLink, eta: FloatArray, y: FloatArray, weight: FloatArray | None) -> FloatArray:
    """−∂² log p/∂eta² of weighted documents; its mean over y given eta, which is that of score², if it can be < 0."""
    if link.log_concave:
        return link.likelihood(eta, y, weight).hessian
    total = np.zeros_like(eta)
    for outcome in (np.ones_like(eta), -np.ones_like(eta)):
        total += np.exp(link.log_prob(eta, outcome)) * link.score(eta, outcome) ** 2
    return total if weight is None else weight * total


def intercept_precision(problem: Problem, fit: LabelFit, b: float) -> tuple[float, float] | None:
    """Prior precision (l2, l1) of the intercept, beside what the documents say; None where it is absent or held."""
    if fit.intercept_prior is None:
        return None
    center, l1, l2 = (float(part[0]) for part in fit.intercept_prior.local(np.array([b])))
    if l1 > 0.0 and b == center:
        return None
    if fit.one_sided:
        l2 += float(_curvature(fit.link, np.full(2, b), np.array([1.0, -1.0]), np.full(2, 0.5)).sum())
    return l2, l1


def _primal(
    X: Any,
    columns: AnyArray,
    omega: FloatArray,
    l1: FloatArray,
    l2: FloatArray,
    corner: tuple[float, float] | None,
    check: bool,
) -> PrimalForm:
    indptr, indices, data = gather_columns(X.indptr, X.indices, X.data, columns)
    row_ptr, row_columns, values = gather_rows(indptr, indices, data, X.shape[0])
    precision, _ = weighted_gram(row_ptr, row_columns, values, omega, omega, len(columns))
    if corner is None:
        precision = precision[:-1, :-1]
    else:
        l2, l1 = np.append(l2, corner[0]), np.append(l1, corner[1])
    precision[np.diag_indices_from(precision)] += l2
    return primal_form(columns, precision, least_precision(precision, l1, l2), check)


def least_precision(precision: FloatArray, l1: FloatArray, l2: FloatArray) -> FloatArray:
    """Lower bound on the precision of each weight: the prior's own, or of a free weight a share of its curvature."""
    of_prior = l2 + 0.5 * l1**2
    return np.where(of_prior > 0.0, of_prior, np.maximum(_FREE * np.diag(precision), LEAST_PRECISION))

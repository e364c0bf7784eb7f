"""Standard errors of a softmax's weights, from a Gaussian around the mode."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from textbayes.core.types import FloatArray
from textbayes.inference._label import LabelFit
from textbayes.inference.base import Posterior, Problem
from textbayes.inference.laplace_approximation import (
    active_words,
    intercept_precision,
    laplace_approximation,
    least_precision,
)
from textbayes.posterior.gaussian import LARGEST
from textbayes.posterior.gaussian_forms import primal_form

_HELD = 1e6  # times the largest precision: the sum of free intercepts is 0, not merely likely to be


def standard_errors(problem: Problem, posterior: Posterior) -> FloatArray:
    """Posterior standard deviations (n_classes, n_features); NaN for words that a kink or a sign holds.

    The precision over the active words of all classes and the intercepts has the blocks

        X_c' diag(ω p_c (1[c = k] − p_k)) X_k + 1[c = k] diag(l2_c),

    l2 being that of the prior's local penalty, see ``laplace_approximation``. With 2,000 active weights or fewer it is
    inverted as a whole. With more, the blocks of the classes are inverted one by one: then the errors are those given
    the other classes' weights, which are smaller, by a factor of √2 for two classes of which the documents say much.
    """
    proba = softmax(np.asarray(problem.X @ posterior.mean.T) + posterior.intercept, axis=1)
    fits = [LabelFit(problem, posterior, c) for c in range(len(posterior.mean))]
    active = [active_words(fit, w) for fit, w in zip(fits, posterior.mean, strict=True)]
    if sum(len(columns) + 1 for columns, _, _ in active) > LARGEST:
        weight = 1.0 if problem.sample_weight is None else problem.sample_weight[:, None]
        approximation = laplace_approximation(problem, posterior, curvature=weight * proba * (1.0 - proba))
        return approximation.standard_errors()[0]
    out = np.full(posterior.mean.shape, np.nan)
    variances, starts = _joint_variances(problem, posterior, proba, fits)
    for c, (columns, _, _) in enumerate(active):
        out[c, columns] = np.sqrt(variances[starts[c] : starts[c] + len(columns)])
    return out


def _joint_variances(
    problem: Problem, posterior: Posterior, proba: FloatArray, fits: list[LabelFit]
) -> tuple[FloatArray, list[int]]:
    """Diagonal of the inverse of the whole precision, and where each class's words begin; its intercept is last."""
    designs, l1s, l2s, free, starts = [], [], [], [], [0]
    for c, fit in enumerate(fits):
        columns, l1, l2 = active_words(fit, posterior.mean[c])
        design = problem.X[:, columns].toarray()
        corner = intercept_precision(problem, fit, float(posterior.intercept[c]))
        if corner is not None:
            design = np.hstack([design, np.ones((len(design), 1))])
            l2, l1 = np.append(l2, corner[0]), np.append(l1, corner[1])
            if corner == (0.0, 0.0):
                free.append(starts[-1] + len(columns))
        designs.append(design)
        l1s.append(l1)
        l2s.append(l2)
        starts.append(starts[-1] + len(l1))
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    precision = np.empty((starts[-1], starts[-1]))
    for c, left in enumerate(designs):
        for k, right in enumerate(designs):
            bent = weight * proba[:, c] * ((c == k) - proba[:, k])
            precision[starts[c] : starts[c + 1], starts[k] : starts[k + 1]] = (left * bent[:, None]).T @ right
    l1, l2 = np.concatenate(l1s), np.concatenate(l2s)
    precision[np.diag_indices_from(precision)] += l2
    if len(free) == len(fits):
        precision[np.ix_(free, free)] += _HELD * float(np.diag(precision).max())
    least = least_precision(precision, l1, l2)
    form = primal_form(np.arange(len(l1)), precision, least, check=bool((l2 == 0.0).any()))
    return np.einsum("ij,ij->i", form.root, form.root), starts

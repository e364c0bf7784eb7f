"""Standard errors of a softmax's weights, from a Gaussian around the mode."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference._label import LabelFit
from textbayes.inference.base import Posterior, Problem
from textbayes.inference.laplace_approximation import (
    active_words,
    intercept_precision,
    laplace_approximation,
    least_precision,
)
from textbayes.posterior.gaussian import LARGEST, primal_form

_HELD = 1e6  # times the largest precision: the sum of free intercepts is 0, not merely likely to be


def standard_errors(problem: Problem, posterior: Posterior) -> tuple[FloatArray, FloatArray]:
    """Posterior standard deviations of the weights (n_classes, n_features) and of the intercepts (n_classes,).

    NaN for words that a kink or a sign holds, 0 for intercepts that are held or not there. The precision over the
    active words of all classes and the intercepts has the blocks

        X_c' diag(ω p_c (1[c = k] − p_k)) X_k + 1[c = k] diag(l2_c),

    l2 being that of the prior's local penalty, see ``laplace_approximation``. With 2,000 active weights or fewer it is
    inverted as a whole. With more, the blocks of the classes are inverted one by one: then the errors are those given
    the other classes' weights, which are smaller, by a factor of √2 for two classes of which the documents say much.
    """
    proba = softmax(np.asarray(problem.X @ posterior.mean.T) + posterior.intercept, axis=1)
    blocks = [_block(problem, posterior, c) for c in range(len(posterior.mean))]
    if sum(len(block.l2) for block in blocks) <= LARGEST:
        return _joint_errors(problem, posterior, proba, blocks)
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight[:, None]
    return laplace_approximation(problem, posterior, curvature=weight * proba * (1.0 - proba)).standard_errors()


class _Block(NamedTuple):
    """The active words of a class and, as the last entry where it is not held, its intercept."""

    columns: AnyArray
    l1: FloatArray
    l2: FloatArray
    has_intercept: bool

    @property
    def is_free(self) -> bool:
        return self.has_intercept and self.l1[-1] == self.l2[-1] == 0.0


def _block(problem: Problem, posterior: Posterior, c: int) -> _Block:
    fit = LabelFit(problem, posterior, c)
    columns, l1, l2 = active_words(fit, posterior.mean[c])
    corner = intercept_precision(problem, fit, float(posterior.intercept[c]))
    if corner is not None:
        l2, l1 = np.append(l2, corner[0]), np.append(l1, corner[1])
    return _Block(columns, l1, l2, corner is not None)


def _joint_errors(
    problem: Problem, posterior: Posterior, proba: FloatArray, blocks: list[_Block]
) -> tuple[FloatArray, FloatArray]:
    ends = np.cumsum([0, *(len(block.l2) for block in blocks)])
    places = [slice(start, end) for start, end in pairwise(ends)]
    designs = [
        np.hstack([problem.X[:, b.columns].toarray(), np.ones((len(proba), int(b.has_intercept)))]) for b in blocks
    ]
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    precision = np.empty((ends[-1], ends[-1]))
    for c, left in enumerate(designs):
        for k, right in enumerate(designs):
            bent = weight * proba[:, c] * ((c == k) - proba[:, k])
            precision[places[c], places[k]] = (left * bent[:, None]).T @ right
    l1, l2 = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("l1", "l2"))
    precision[np.diag_indices_from(precision)] += l2
    least = least_precision(precision, l1, l2)
    if all(block.is_free for block in blocks):
        precision[np.ix_(ends[1:] - 1, ends[1:] - 1)] += _HELD * float(np.diag(precision).max())
    root = primal_form(np.arange(len(l1)), precision, least, check=bool((l2 == 0.0).any())).root
    errors = np.sqrt(np.einsum("ij,ij->i", root, root))
    words, intercepts = np.full(posterior.mean.shape, np.nan), np.zeros(len(blocks))
    for c, (place, block) in enumerate(zip(places, blocks, strict=True)):
        words[c, block.columns] = errors[place][: len(block.columns)]
        if block.has_intercept:
            intercepts[c] = errors[place][-1]
    return words, intercepts

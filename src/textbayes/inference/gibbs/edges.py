"""Edge cases of sampling: no posterior, or none with a mean; documents that count several times, or not at all."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference.base import Problem
from textbayes.links.base import BaseLink
from textbayes.posterior.draws import LabelDraws

_MOST_COUNTS = 1e6  # beyond it the Pólya–Gamma draws of the package lose their digits, and at 10⁹ they never return
_UNBOUNDED = 100.0  # largest global scale over the median: hundreds of draws of a half-Cauchy tail get there, no others


def constant_draws(
    link: BaseLink, y: FloatArray, counts: IntArray | None, elsewhere: FloatArray, chains: int
) -> LabelDraws:
    """Draws that are all alike, of a label that has no posterior; its words are at the means ``elsewhere``."""
    times = np.ones(len(y)) if counts is None else counts
    share = (times[y > 0.0].sum() + 0.5) / (times.sum() + 1.0)
    low, high = -1e4, 1e4
    for _ in range(100):  # where the link has this probability
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(link.probability(np.array([middle]))[0]) < share else (low, middle)
    shape = (chains, 1)
    nothing = np.zeros((*shape, 0), dtype=np.float32)
    return LabelDraws(np.zeros(0, np.int64), elsewhere, nothing, np.full(shape, low), np.ones(shape))


def warn_if_unbounded(scales: FloatArray, label: int) -> None:
    """Say so where documents do not bound the global scale from above: its tail then is the half-Cauchy's, 1/g."""
    largest, usual = float(scales.max()), float(np.median(scales))
    if largest > _UNBOUNDED * usual:
        warnings.warn(
            f"the sampled scale of label {label} is {usual:.2g} at its median and up to {largest:.2g}: it "
            "seems that words tell these documents apart without error, which leaves it no upper bound, and weights no "
            "mean; read medians and intervals, or fix the scale (sample_scale=False)",
            ConvergenceWarning,
            stacklevel=4,
        )


def one_sided(y: FloatArray) -> bool:
    """Whether all documents are on one side."""
    return bool((y > 0.0).all() or (y < 0.0).all())


def too_few(link: BaseLink, y: FloatArray) -> bool:
    """Whether outliers are forgiven so much that a free intercept has no posterior: its tail is b^(−α·documents)."""
    fewest = min(np.count_nonzero(y > 0.0), np.count_nonzero(y < 0.0))
    return bool(fewest * link.tail_index <= 1.0)


def check_replicates(problem: Problem, label_replicates: int) -> None:
    """Refuse what has no meaning for labels that are taken several times."""
    if not problem.link.counts_in_latent:
        raise NotSupportedError(
            f"label_replicates={label_replicates} with link {problem.link.name!r} is not supported: the log-odds of a "
            "label that is given several times are a multiple of those of one with the link 'logit' alone; use that, "
            "or label_replicates=1"
        )
    if np.any(problem.prior.mean) or (problem.intercept_prior is not None and np.any(problem.intercept_prior.mean)):
        raise NotSupportedError(
            f"label_replicates={label_replicates} with prior means other than 0 is not supported: what is known of "
            "labels is not known of each replicate; use a prior without means (no prior file), or label_replicates=1"
        )


def whole_counts(weight: FloatArray | None, label_replicates: int) -> IntArray | None:
    """Number of times each document counts, as its weight says; None where all count once."""
    heaviest = 1.0 if weight is None else float(weight.max(initial=1.0))
    if label_replicates > _MOST_COUNTS / heaviest:
        raise InputError(
            f"a document has the sample weight {heaviest:g}, for each of label_replicates={label_replicates}; the "
            f"sampler takes {_MOST_COUNTS:,.0f} in all at most, so make them fewer"
        )
    if weight is None or bool((weight == 1.0).all()):
        return None
    counts = np.rint(weight)
    if not np.array_equal(counts, weight):
        raise NotSupportedError(
            "inference 'gibbs' takes documents once, several times or not at all, and some sample weights are not "
            "whole numbers; round them, or use inference 'coordinate'"
        )
    return counts.astype(np.int64)

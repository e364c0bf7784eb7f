"""Measures of the tables: rates by resampling and domain, their errors, and the share that the sampler has in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.evaluate import calibration_error, contingency, log_loss, sensitivity, specificity
from textbayes.reproduce.gibbs.systems import SPBM, Outcome, Study
from textbayes.reproduce.intervals import standard_error

PARTS = ("training", "test")
Loss: TypeAlias = Callable[[Any, Any], Any]
LOSSES: dict[str, Loss] = {
    "log-loss": log_loss,
    "ECE": calibration_error,
    "ECE, equal mass": lambda Y, p: calibration_error(Y, p, binning="mass"),
}


def run_by_all(study: Study, methods: Collection[str]) -> Study:
    """Return the resamplings that all of some methods were run on."""
    return [row for row in study if all(set(methods) <= set(one.decided) for one in row)]


def true_rates(truth: BoolArray, decided: BoolArray) -> FloatArray:
    """Return sensitivity and specificity, the true rates of both classes.

    >>> true_rates(np.array([True, True, False, False, False]), np.array([True, False, False, False, True])).round(3)
    array([0.5  , 0.667])
    """
    table = contingency(truth[:, None], decided[:, None])
    return np.array([float(sensitivity(table)[0]), float(specificity(table)[0])])


def rates(study: Study, method: str, part: int) -> FloatArray:
    """Sensitivity and specificity of a method, (n_resamplings, n_domains, 2); ``part`` 0 is training, 1 is test."""
    return np.array([[true_rates(one.truth[part], one.decided[method][part]) for one in row] for row in study])


def losses(study: Study, method: str, loss: Loss) -> FloatArray:
    """A loss of the test probabilities in each resampling, the decisions of all domains pooled."""

    def pooled(row: Sequence[Outcome]) -> float:
        truth = np.concatenate([one.truth[1] for one in row])[:, None]
        return float(loss(truth, np.concatenate([one.probability[method] for one in row])[:, None]))

    return np.array([pooled(row) for row in study])


class MonteCarlo(NamedTuple):
    """Standard errors of mean test sensitivity and specificity over all domains and resamplings.

    ``sampler``: what the finite number of draws contributes; ``total``: what is seen over the resamplings, that
    included; each of sensitivity and specificity.
    """

    sampler: FloatArray
    total: FloatArray


def monte_carlo(study: Study) -> MonteCarlo:
    """The error of the sampler, from what its two chains say by themselves.

    With rates r₁ and r₂ by the means of either chain, the rate by the means of both has a Monte Carlo variance of about
    (r₁ − r₂)²/4 on average: the variance of a mean of two.
    """
    gaps = np.array(
        [[np.subtract(*(true_rates(one.truth[1], part) for part in one.by_chain)) for one in row] for row in study]
    )
    n_fits = gaps.shape[0] * gaps.shape[1]
    sampler = np.sqrt((gaps**2 / 4.0).mean(axis=(0, 1)) / n_fits)
    # Domains have divisions of their own, so errors of their means are independent: that is steadier with few
    # resamplings than the spread of the mean over domains.
    of_domain = standard_error(rates(study, SPBM, 1))
    return MonteCarlo(sampler, np.sqrt((of_domain**2).mean(axis=0) / gaps.shape[1]))

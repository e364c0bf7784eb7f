"""Where an online classifier starts: from a batch fit, and only where memory holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.online.bank import Bank
from textbayes.models.online.batch import diagonal_from_batch, full_from_batch, low_rank_from_batch
from textbayes.models.online.diagonal import DiagonalPosterior
from textbayes.models.online.likelihood import OnlineLikelihood, make_likelihood

_MOST_BYTES = 4 * 2**30  # of full covariances: what a present-day notebook has to spare


def check_memory(covariance: str, n_columns: int, n_features: int) -> None:
    """Refuse full covariances that are too large to keep."""
    size = 8 * n_columns * (1 + n_features) ** 2
    if covariance == "full" and size > _MOST_BYTES:
        raise NotSupportedError(
            f"full covariances of {n_columns} label(s) and {n_features} features need {size / 2**30:.0f} GiB; use "
            "covariance='low_rank' or 'diagonal', or select fewer features first"
        )


def fitted_start(start: Any, likelihood: OnlineLikelihood, n_features: int) -> BayesLinearClassifier | None:
    """The batch fit to go on from, found fit for it; None where there is none."""
    if start is None:
        return None
    batch = start.estimator if isinstance(start, FrozenEstimator) else start
    if not isinstance(batch, BayesLinearClassifier):
        raise InputError(f"start is a {type(batch).__name__}; pass a BayesLinearClassifier, fitted with intervals=True")
    if not hasattr(batch, "coef_"):
        raise NotFittedError(
            "start is not fitted; fit it first. clone and cross-validation unfit it: there pass FrozenEstimator(start)"
        )
    if batch.approximation_ is None:
        raise InputError("start was fitted without intervals: its variances are not known; fit it with intervals=True")
    if make_likelihood(batch.link).link != likelihood.link or likelihood.noise == 0.0:
        spec = make_likelihood(batch.link).link.spec
        raise InputError(
            f"start has link {spec!r} and this model {likelihood.link.spec!r} with noise {likelihood.noise:g}; "
            f"its weights mean the same only with link={spec!r}"
        )
    if batch.n_features_in_ != n_features:
        raise InputError(f"X has {n_features} features, but start was fitted with {batch.n_features_in_}")
    return batch


def continued(
    batch: BayesLinearClassifier, covariance: str, scale: FloatArray, noise: float, rank: int = 16
) -> DiagonalPosterior | Bank[Any]:
    """The batch posterior as an online one; features that the batch prior holds get ``scale``, uncorrelated."""
    approximation = batch.approximation_
    assert approximation is not None  # fitted_start has seen to it
    errors, intercept_errors = approximation.standard_errors()
    variances = np.where(np.isnan(errors), scale, errors) ** 2
    if covariance == "diagonal":
        return diagonal_from_batch(batch.coef_, batch.intercept_, variances, intercept_errors**2, noise)
    if covariance == "low_rank":
        return Bank(
            [
                low_rank_from_batch(coef, intercept, row, approximation.covariance(label), rank, noise)
                for label, (coef, intercept, row) in enumerate(
                    zip(batch.coef_, batch.intercept_, variances, strict=True)
                )
            ]
        )
    everything, posteriors = np.arange(scale.shape[1]), []
    for label, coef in enumerate(batch.coef_):
        words, known = approximation.covariance(label)
        at = np.concatenate([[0], 1 + words])
        cov = np.diag(np.concatenate([[0.0], variances[label]]))
        cov[np.ix_(at, at)] = known
        posteriors.append(full_from_batch(coef, batch.intercept_[label], cov, everything, noise))
    return Bank(posteriors)

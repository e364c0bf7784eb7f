"""Where an online classifier starts: from a fitted model, and only where memory holds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray, IntArray
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


class Start(NamedTuple):
    """A fitted model to go on from.

    Parameters
    ----------
    space : LabelSpace
        Its labels.
    n_features : int
    posterior : callable
        What it knows as an online posterior, given the covariance to keep, scales (n_columns, n_features) of weights
        of which it knows none, and the rank of a low-rank covariance.
    """

    space: LabelSpace
    n_features: int
    posterior: Callable[[str, FloatArray, int], DiagonalPosterior | Bank[Any]]


def fitted_start(start: Any, likelihood: OnlineLikelihood, n_features: int) -> Start | None:
    """The model to go on from, found fit for it; None where there is none.

    Parameters
    ----------
    start : BayesLinearClassifier, TextCategorizer, a FrozenEstimator of one of them, or None
        A categorizer is known by what it has: ``model_`` of kind "linear" or "online", and ``label_space_``.
    likelihood : OnlineLikelihood
        That of the model which goes on; weights mean the same under the same link alone.
    n_features : int
        Columns of the documents to be learnt.
    """
    if start is None:
        return None
    model = start.estimator if isinstance(start, FrozenEstimator) else start
    if isinstance(model, BayesLinearClassifier):
        found = _batch_start(model, likelihood)
    elif hasattr(model, "vectorizer") and hasattr(model, "weighting"):
        found = _categorizer_start(model, likelihood)
    else:
        raise InputError(
            f"start is a {type(model).__name__}; pass a BayesLinearClassifier or a TextCategorizer, fitted with "
            "intervals=True, or a TextCategorizer of an online model"
        )
    if found.n_features != n_features:
        raise InputError(f"X has {n_features} features, but start was fitted with {found.n_features}")
    return found


def _batch_start(batch: BayesLinearClassifier, likelihood: OnlineLikelihood) -> Start:
    _check_fitted(batch, "coef_")
    if batch.approximation_ is None:
        raise InputError("start was fitted without intervals: its variances are not known; fit it with intervals=True")
    _check_link(make_likelihood(batch.link), likelihood)
    return Start(
        batch.label_space_,
        batch.n_features_in_,
        lambda covariance, scale, rank: continued(batch, covariance, scale, likelihood.noise, rank),
    )


def _categorizer_start(model: Any, likelihood: OnlineLikelihood) -> Start:
    """From a ``TextCategorizer``: documents must be weighed as it weighs them (``model.features(texts).weights``)."""
    _check_fitted(model, "model_")
    ensemble, space = model.model_, model.label_space_
    fitted: Any = ensemble.single
    kind = "pool" if fitted is None else fitted.kind
    if kind == "online" and ensemble.calibration == 1.0:
        estimator = fitted.estimator
        _check_link(estimator.likelihood, likelihood, any_noise=True)

        def same(covariance: str, scale: FloatArray, rank: int) -> DiagonalPosterior | Bank[Any]:
            if covariance != estimator.covariance:
                raise InputError(
                    f"start keeps a {estimator.covariance} covariance and this model a {covariance} one; use "
                    f"covariance={estimator.covariance!r}"
                )
            known = estimator.posterior_
            return Bank([one.copy() for one in known]) if isinstance(known, Bank) else known.copy()

        return Start(space, estimator.n_features_in_, same)
    if kind != "linear":
        raise InputError(
            f"start is a TextCategorizer of kind {kind!r}, which has no Gaussian posterior of weights; pass one "
            "of kind 'online', or a linear one fitted with intervals=True"
        )
    if fitted.errors is None or fitted.intercept_errors is None:
        raise InputError("start was fitted without intervals: its variances are not known; fit it with intervals=True")
    _check_link(make_likelihood(fitted.link), likelihood)
    factor = ensemble.calibration
    errors, bias_errors = factor * fitted.errors, factor * fitted.intercept_errors

    def independent(covariance: str, scale: FloatArray, rank: int) -> DiagonalPosterior | Bank[Any]:
        variances = np.where(np.isnan(errors), scale, errors) ** 2
        none = np.zeros(0, dtype=np.int64)  # a model file keeps no covariances
        known = [(none, np.array([[error**2]])) for error in bias_errors]
        return _as_online(
            factor * fitted.coef, factor * fitted.intercept, variances, known, covariance, likelihood.noise, rank
        )

    return Start(space, fitted.coef.shape[-1], independent)


def _check_fitted(model: Any, attribute: str) -> None:
    if not hasattr(model, attribute):
        raise NotFittedError(
            "start is not fitted; fit it first. clone and cross-validation unfit it: there pass FrozenEstimator(start)"
        )


def _check_link(own: OnlineLikelihood, wanted: OnlineLikelihood, any_noise: bool = False) -> None:
    """Refuse a start whose weights would mean something else; of a linear one they are stretched by the noise."""
    same = own == wanted if any_noise else own.link == wanted.link and wanted.noise != 0.0
    if not same:
        needed = f"link={own.link.spec!r}" + (f" and noise={own.noise:g}" if any_noise else "")
        raise InputError(
            f"start has link {own.link.spec!r} and this model {wanted.link.spec!r} with noise {wanted.noise:g}; "
            f"its weights mean the same only with {needed}"
        )


def continued(
    batch: BayesLinearClassifier, covariance: str, scale: FloatArray, noise: float, rank: int = 16
) -> DiagonalPosterior | Bank[Any]:
    """The batch posterior as an online one; features that the batch prior holds get ``scale``, uncorrelated."""
    approximation = batch.approximation_
    assert approximation is not None  # fitted_start has seen to it
    errors, _ = approximation.standard_errors()
    variances = np.where(np.isnan(errors), scale, errors) ** 2
    known = [approximation.covariance(label) for label in range(len(batch.coef_))]
    return _as_online(batch.coef_, batch.intercept_, variances, known, covariance, noise, rank)


def _as_online(
    coef: FloatArray,
    intercept: FloatArray,
    variances: FloatArray,
    known: list[tuple[IntArray, FloatArray]],
    covariance: str,
    noise: float,
    rank: int,
) -> DiagonalPosterior | Bank[Any]:
    """Means and variances, and for each label the words whose covariance is known and it, the intercept first."""
    if covariance == "diagonal":
        bias = np.array([cov[0, 0] for _, cov in known])
        return diagonal_from_batch(coef, intercept, variances, bias, noise)
    rows = list(zip(coef, intercept, variances, known, strict=True))
    if covariance == "low_rank":
        return Bank([low_rank_from_batch(*row, rank, noise) for row in rows])
    everything, posteriors = np.arange(coef.shape[1]), []
    for weights, bias, own, (words, some) in rows:
        at = np.concatenate([[0], 1 + words])
        cov = np.diag(np.concatenate([[0.0], own]))
        cov[np.ix_(at, at)] = some
        posteriors.append(full_from_batch(weights, bias, cov, everything, noise))
    return Bank(posteriors)

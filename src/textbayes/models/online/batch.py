"""Between online and batch: a fitted model that goes on learning, an online one as the prior of a batch fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray, IntArray
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.online.base import Bank, check_words
from textbayes.models.online.diagonal import DiagonalPosterior
from textbayes.models.online.full import FullPosterior
from textbayes.models.online.likelihood import OnlineLikelihood, make_likelihood
from textbayes.models.online.low_rank import LowRankPosterior


def diagonal_from_batch(
    coef: Any, intercept: Any, coef_var: Any, intercept_var: Any, noise: float = 1.0, held_var: Any = 0.0
) -> DiagonalPosterior:
    """Go on learning from a batch fit, whatever its prior was: its means and variances, taken as Gaussian.

    Parameters
    ----------
    coef, coef_var : (n_labels, n_features)
        Means, or modes, and variances: of a Laplace or knowledge prior just as well. ``standard_errors()`` of a Laplace
        approximation, squared, are such variances.
    intercept, intercept_var : (n_labels,) or number
    noise : float
        That of the likelihood which goes on: x'w/noise is the batch fit's linear predictor.
    held_var : number or (n_labels, n_features)
        Variance where ``coef_var`` is 0, of words that the kink of a prior held at their mean: 2·scale² is that of the
        Laplace prior itself. With 0 these words stay where they are.
    """
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    rows = np.vstack([np.broadcast_to(intercept, len(coef)), coef.T]) * noise
    spread = np.broadcast_to(np.asarray(coef_var, dtype=np.float64), coef.shape)
    spread = np.where(spread == 0.0, held_var, spread)
    spread = np.vstack([np.broadcast_to(intercept_var, len(coef)), spread.T]) * noise**2
    _check_moments(rows, spread)
    return DiagonalPosterior(rows.copy(), spread.copy(), rows, spread)


def full_from_batch(coef: Any, intercept: float, cov: Any, words: Any, noise: float = 1.0) -> FullPosterior:
    """The same with correlations, for one label and its words.

    Parameters
    ----------
    coef : (n_words,), in the order of ``words``
    cov : (1 + n_words, 1 + n_words), the intercept first
    """
    mean = np.concatenate([[intercept], np.asarray(coef, dtype=np.float64)]) * noise
    words, cov = check_words(words), np.array(cov, dtype=np.float64) * noise**2
    if len(mean) != 1 + len(words) or cov.shape != (len(mean), len(mean)):
        raise InputError(
            f"{len(words)} words need as many weights and a covariance {(1 + len(words), 1 + len(words))} with the "
            f"intercept first; given are {len(mean) - 1} weights and a covariance {cov.shape}"
        )
    _check_moments(mean, np.diag(cov))
    if not np.allclose(cov, cov.T, rtol=1e-8, atol=0.0):
        raise InputError("the covariance is not symmetric; pass (C + C')/2 if it differs by rounding only")
    cov = np.tril(cov) + np.tril(cov, -1).T  # symmetric to the last bit, as the updates keep it
    return FullPosterior(words, mean.copy(), cov, mean, np.diag(cov).copy())


def low_rank_from_batch(
    coef: Any, intercept: float, variances: Any, known: tuple[IntArray, FloatArray], rank: int, noise: float = 1.0
) -> LowRankPosterior:
    """The same with the ``rank`` most telling directions of the precision; the others go into its diagonal.

    With the precision scaled to a unit diagonal, P = c I + Σ (λ − c) v v' where c is its least eigenvalue, the largest
    terms stay as they are and of the others the diagonal, so that the precision of each single weight given the
    others stays what it was.

    Parameters
    ----------
    coef, variances : (n_features,)
        ``variances`` are those of words that are not among the known ones, uncorrelated.
    known : positions of the words whose covariance is known, (n_known,), and it, (1 + n_known, 1 + n_known), the
        intercept first
    """
    coef, variances = np.asarray(coef, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    mean = np.concatenate([[intercept], coef]) * noise
    spread = np.concatenate([[1.0], variances]) * noise**2
    positions, cov = np.concatenate([[0], 1 + known[0]]), known[1] * noise**2
    spread[positions] = np.diag(cov)
    _check_moments(mean, spread)
    posterior = LowRankPosterior.start(range(len(coef)), rank, spread[1:], float(spread[0]), mean[1:])
    precision = linalg.inv(cov)
    unit = np.sqrt(np.diag(precision))
    values, vectors = linalg.eigh(precision / unit / unit[:, None])
    leading = vectors[:, -rank:] * np.sqrt(values[-rank:] - values[0])
    posterior.settled, posterior.prior_mean = mean.copy(), mean  # the intercept's too, which ``start`` puts at 0
    posterior.diagonal[positions] = (1.0 - np.square(leading).sum(axis=1)) * unit**2
    posterior.factor[positions, : leading.shape[1]] = leading * unit[:, None]
    return posterior.with_columns(leading.shape[1])


def _check_moments(mean: FloatArray, var: FloatArray) -> None:
    if not (np.isfinite(mean).all() and np.isfinite(var).all() and (var >= 0.0).all()):
        raise InputError(
            "means must be finite, and variances finite and not negative; some are not: "
            "give a free weight a large variance instead of an infinite one"
        )


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
        A categorizer is known by what it has: ``model_`` of type "linear" or "online", and ``label_space_``.
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
    kind = "ensemble" if fitted is None else fitted.model_type
    if kind == "online" and ensemble.calibration == 1.0:
        _check_link(fitted.likelihood, likelihood, any_noise=True)

        def same(covariance: str, scale: FloatArray, rank: int) -> DiagonalPosterior | Bank[Any]:
            if covariance != fitted.covariance:
                raise InputError(
                    f"start keeps a {fitted.covariance} covariance and this model a {covariance} one; use "
                    f"covariance={fitted.covariance!r}"
                )
            known = fitted.posterior_
            return Bank([one.copy() for one in known]) if isinstance(known, Bank) else known.copy()

        return Start(space, fitted.n_features_in_, same)
    if kind != "linear":
        raise InputError(
            f"start is a TextCategorizer of type {kind!r}, which has no Gaussian posterior of weights; pass one "
            "of type 'online', or a linear one fitted with intervals=True"
        )
    if fitted.standard_errors_ is None or fitted.intercept_errors_ is None:
        raise InputError("start was fitted without intervals: its variances are not known; fit it with intervals=True")
    _check_link(make_likelihood(fitted.link_), likelihood)
    factor = ensemble.calibration
    errors, bias_errors = factor * fitted.standard_errors_, factor * fitted.intercept_errors_

    def independent(covariance: str, scale: FloatArray, rank: int) -> DiagonalPosterior | Bank[Any]:
        variances = np.where(np.isnan(errors), scale, errors) ** 2
        none = np.zeros(0, dtype=np.int64)  # a model file keeps no covariances
        known = [(none, np.array([[error**2]])) for error in bias_errors]
        return _as_online(
            factor * fitted.coef_, factor * fitted.intercept_, variances, known, covariance, likelihood.noise, rank
        )

    return Start(space, fitted.coef_.shape[-1], independent)


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

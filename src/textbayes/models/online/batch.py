"""Between online and batch: a batch posterior that goes on learning, an online one as the prior of a batch fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.models.online.bank import Bank
from textbayes.models.online.diagonal import DiagonalPosterior
from textbayes.models.online.full import FullPosterior
from textbayes.models.online.low_rank import LowRankPosterior
from textbayes.models.online.words import check_words


class BatchPrior(NamedTuple):
    """Gaussian priors for ``BayesLinearClassifier(prior="gaussian", **prior.settings()).fit(…, words=prior.words)``.

    Arrays (n_labels, n_features), and (n_labels,) for the intercept.
    """

    mean: FloatArray
    scale: FloatArray
    words: BoolArray
    intercept_mean: FloatArray
    intercept_scale: FloatArray

    def settings(self) -> dict[str, FloatArray]:
        """The hyperparameters by the names that ``BayesLinearClassifier`` has for them."""
        return {name: value for name, value in self._asdict().items() if name != "words"}


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
    terms are kept as they are and of the others the diagonal, so that the precision of each single weight given the
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
    kept = vectors[:, -rank:] * np.sqrt(values[-rank:] - values[0])
    posterior.settled, posterior.prior_mean = mean.copy(), mean  # the intercept's too, which ``start`` puts at 0
    posterior.diagonal[positions] = (1.0 - np.square(kept).sum(axis=1)) * unit**2
    posterior.factor[positions, : kept.shape[1]] = kept * unit[:, None]
    return posterior.with_columns(kept.shape[1])


def as_prior(
    posterior: DiagonalPosterior | FullPosterior | LowRankPosterior | Bank[Any],
    n_features: int,
    noise: float = 1.0,
) -> BatchPrior:
    """What has been learnt online, as the independent Gaussian prior of a batch fit.

    Words that a label does not know, or that have variance 0, are left out of its fit by ``words``.
    """
    if isinstance(posterior, DiagonalPosterior):
        if posterior.n_weights != 1 + n_features:
            raise InputError(f"n_features={n_features} is given; the posterior knows {posterior.n_weights - 1} words")
        mean, var = posterior.mean.T, posterior.var.T
    else:
        singles = list(posterior) if isinstance(posterior, Bank) else [posterior]
        mean, var = np.zeros((2, len(singles), 1 + n_features))
        for label, one in enumerate(singles):
            if len(one.words) and one.words.max() >= n_features:
                raise InputError(f"n_features={n_features} is given; the posterior uses column {one.words.max()}")
            at = np.concatenate([[0], 1 + one.words])
            mean[label, at], var[label, at] = one.mean, np.diag(one.cov)
    known = var > 0.0
    scale = np.where(known, np.sqrt(np.where(known, var, 1.0)) / noise, 1.0)
    mean = mean / noise
    return BatchPrior(mean[:, 1:], scale[:, 1:], known[:, 1:], mean[:, 0], scale[:, 0])


def _check_moments(mean: FloatArray, var: FloatArray) -> None:
    if not (np.isfinite(mean).all() and np.isfinite(var).all() and (var >= 0.0).all()):
        raise InputError(
            "means must be finite, and variances finite and not negative; some are not: "
            "give a free weight a large variance instead of an infinite one"
        )

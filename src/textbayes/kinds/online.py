"""Online models: Gaussian posteriors of weights that learn document by document, one per label."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse, special

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Fitted, Kind, fresh, shared_parts
from textbayes.knowledge import MatchedPriors, table_prior
from textbayes.models.online.base import Bank
from textbayes.models.online.classifier import BayesOnlineClassifier
from textbayes.models.online.likelihood import OnlineLikelihood
from textbayes.models.online.low_rank import LowRankPosterior
from textbayes.models.online.process import BayesProcessClassifier
from textbayes.models.online.state import bank_from_state, bank_state
from textbayes.priors import make_prior


class FittedOnline(Fitted):
    """The posterior of an online classifier.

    Parameters
    ----------
    space : LabelSpace
    estimator : fitted BayesOnlineClassifier
        Its columns are those of the space, as an indicator matrix has them.
    """

    kind = "online"

    def __init__(self, space: LabelSpace, estimator: BayesOnlineClassifier) -> None:
        super().__init__(space)
        self.estimator = estimator

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        mean, var = self.estimator.linear_predictor(features.weights)
        return self._log_odds(mean, var if average else None)

    def _log_odds(self, mean: FloatArray, var: FloatArray | None = None) -> FloatArray:
        log_prob, log_other = self.estimator.likelihood.log_probabilities(mean, var)
        return log_prob - log_other

    def contributions(self, document: Features) -> Contributions:
        # A text without words: the plug-in value says nothing where the link is a hard threshold.
        base = self._log_odds(*self.estimator.linear_predictor(sparse.csr_matrix((1, document.n_features))))[0]
        return shared_parts(document.weights, self.estimator.coef_, base, self.scores(document)[0])

    def words(self) -> WordWeights:
        noise = self.estimator.likelihood.noise or 1.0
        variance = _variances(self.estimator)
        errors = None if variance is None else np.sqrt(variance[:, 1:]) / noise
        return WordWeights(self.estimator.coef_ / noise, errors, "posterior mean of the weight")

    def known_words(self) -> BoolArray:
        return np.asarray((self.estimator.coef_ != 0.0).any(axis=0))

    @property
    def has_posterior(self) -> bool:
        return True

    def probability_interval(self, features: Features, level: float) -> tuple[FloatArray, FloatArray]:
        if not 0.0 < level < 1.0:
            raise InputError(f"level={level!r} is given; an interval holds a share between 0 and 1, such as 0.9")
        mean, var = self.estimator.linear_predictor(features.weights)
        reach = special.ndtri(0.5 + 0.5 * level) * np.sqrt(var)
        ends = (self._log_odds(mean + side * reach) for side in (-1.0, 1.0))
        low, high = (np.asarray(special.expit(end)) for end in ends)
        return low, high

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after these documents, one after the other."""
        after = copy.copy(self.estimator)
        posterior = after.posterior_
        after.posterior_ = Bank([one.copy() for one in posterior]) if isinstance(posterior, Bank) else posterior.copy()
        after.partial_fit(features.weights, sparse.csr_matrix(indicator, dtype=np.int64), sample_weight=weight)
        return type(self)(self.space, after)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        estimator, likelihood = self.estimator, self.estimator.likelihood
        told, arrays = bank_state(estimator.posterior_)
        meta = {"link": likelihood.link.spec, "noise": likelihood.noise, "retention": float(estimator.retention)}
        meta |= {name: getattr(estimator, name) for name in self._kept}
        return meta | {"log_evidence": estimator.log_evidence_.tolist(), "posteriors": told}, arrays

    _kept: tuple[str, ...] = ("covariance",)


def _variances(estimator: BayesOnlineClassifier) -> FloatArray | None:
    """Variances of intercept and weights (n_columns, 1 + n_features), NaN for words that a label does not have.

    None of a process, which has no weights.
    """
    posterior = estimator.posterior_
    if not isinstance(posterior, Bank):
        return np.asarray(np.where(posterior.prior_var > 0.0, posterior.var, np.nan).T)
    if estimator.covariance not in ("full", "low_rank"):
        return None
    rows = np.full((len(posterior), 1 + estimator.n_features_in_), np.nan)
    for row, one in zip(rows, posterior, strict=True):
        own = np.diag(one.cov) if estimator.covariance == "full" else _low_rank_variances(one)
        row[0], row[1 + one.words] = own[0], own[1:]
    return rows


def _low_rank_variances(one: LowRankPosterior) -> FloatArray:
    """The diagonal of C = D⁻¹ − D⁻¹ F (I + F'D⁻¹F)⁻¹ F'D⁻¹."""
    factor = one.factor[:, : one.n_columns] / np.sqrt(one.diagonal)[:, None]
    inner = np.eye(one.n_columns) + factor.T @ factor
    try:
        root = linalg.cholesky(inner, lower=True)
    except linalg.LinAlgError as error:  # precisions so small that no sum of floats holds them
        raise ModelFileError("the model's precisions are not believable; was the file altered?") from error
    half = linalg.solve_triangular(root, factor.T, lower=True)
    return np.asarray((1.0 - (half**2).sum(axis=0)) / one.diagonal)


class OnlineKind(Kind):
    """p(y = 1 | x) = ψ(w·x + b) learnt document by document: diagonal, low-rank or full covariance, flip noise."""

    name = "online"

    @property
    def estimator_class(self) -> type:
        return BayesOnlineClassifier

    def owns(self, estimator: Any) -> bool:
        return isinstance(estimator, BayesOnlineClassifier) and not isinstance(estimator, BayesProcessClassifier)

    def fit(
        self, estimator: BayesOnlineClassifier, features: Features, indicator: BoolArray, space: LabelSpace,
        options: FitOptions,
    ) -> FittedOnline:  # fmt: skip
        one = copy.copy(estimator)
        rows = learning_order(estimator, features.n_docs)
        weight = None if options.weight is None else options.weight[rows]
        one.fit(features.weights[rows], sparse.csr_matrix(indicator[rows], dtype=np.int64), sample_weight=weight)
        return FittedOnline(space, one)

    def informed(
        self, estimator: BayesOnlineClassifier, matched: MatchedPriors, features: Features, weight: FloatArray
    ) -> BayesOnlineClassifier:
        default = make_prior("gaussian", estimator.scale, estimator.mean)
        prior = table_prior(matched, default, features.weights, weight, link=estimator.likelihood.link)
        noise = estimator.likelihood.noise or 1.0  # means of a table are of weights at noise 1
        mean = np.where(prior.mean == np.broadcast_to(default.mean, prior.mean.shape), prior.mean, noise * prior.mean)
        return fresh(estimator, scale=prior.scale, mean=mean)

    def check_restored(self, estimator: BayesOnlineClassifier, n_columns: int, n_features: int) -> None:
        estimator._checked_likelihood()

    def describe(self, estimator: BayesOnlineClassifier) -> str:
        return f"online, {estimator.covariance.replace('_', ' ')} covariance"

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedOnline:
        likelihood = saved_likelihood(meta, {"covariance", "retention", "log_evidence", "posteriors"})
        covariance = meta["covariance"]
        if covariance not in ("diagonal", "full", "low_rank"):
            raise ModelFileError("the model's covariance is not known; was the file altered?")
        posterior = bank_from_state(covariance, meta["posteriors"], arrays, space.n_columns, n_features)
        estimator = BayesOnlineClassifier(likelihood, covariance=covariance, retention=float(meta["retention"]))
        return FittedOnline(space, restored(estimator, posterior, meta["log_evidence"], space, n_features))


def learning_order(estimator: BayesOnlineClassifier, n_docs: int) -> AnyArray:
    """The order in which training texts are learnt: at random, for files are often sorted by label.

    Where earlier documents are forgotten their order means something, and is kept.
    """
    return np.arange(n_docs) if estimator.retention < 1.0 else np.random.default_rng(0).permutation(n_docs)


def saved_likelihood(meta: Mapping[str, Any], others: set[str]) -> OnlineLikelihood:
    """The likelihood that a file names beside other fields, which must all be there."""
    noise, link, retention = meta.get("noise"), meta.get("link"), meta.get("retention")
    plain = type(noise) is float and isinstance(link, str) and len(link) <= 200 and type(retention) is float
    if set(meta) != others | {"link", "noise"} or not plain or not 0.0 < float(retention or 0.0) <= 1.0:
        raise ModelFileError("the model's posterior is not described as it must be; was the file altered?")
    try:
        return OnlineLikelihood(link or "", float(noise or 0.0))
    except InputError as error:
        raise ModelFileError(f"the model's likelihood cannot be used ({error}); was the file altered?") from error


def restored(estimator: Any, posterior: Any, log_evidence: Any, space: LabelSpace, n_features: int) -> Any:
    """An estimator that has learnt what a file holds."""
    numbers = isinstance(log_evidence, list) and all(type(one) is float for one in log_evidence)
    if not numbers or len(log_evidence) != space.n_columns:
        raise ModelFileError("the model's log_evidence is not that of its labels; was the file altered?")
    columns = LabelSpace(np.arange(space.n_columns), "multilabel")
    estimator.label_space_, estimator.classes_ = columns, columns.classes
    estimator.posterior_, estimator.n_features_in_ = posterior, n_features
    estimator.log_evidence_ = np.array(log_evidence)
    return estimator


kinds.register("online")(OnlineKind())

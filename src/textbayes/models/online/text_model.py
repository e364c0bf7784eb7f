"""What online classifiers answer a categorizer with, and their form in a model file."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg, sparse, special

from textbayes.core.codec import Choice, Field, List, Number, read
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.state import from_state, part_of, to_state, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_level
from textbayes.knowledge.informative_prior import table_prior
from textbayes.knowledge.match import MatchedPriors
from textbayes.models.base import FitOptions, TextModel, shared_parts
from textbayes.models.online.base import Bank, LinearPredictor, OnlinePosterior
from textbayes.models.online.diagonal import DiagonalPosterior
from textbayes.models.online.full import FullPosterior
from textbayes.models.online.gp import GaussianProcess
from textbayes.models.online.likelihood import OnlineLikelihood
from textbayes.models.online.low_rank import LowRankPosterior
from textbayes.models.saved_weights import LinkField
from textbayes.posterior.intervals import Uncertainty, class_interval, gaussian_uncertainty
from textbayes.priors import make_prior

COVARIANCES = ("diagonal", "full", "low_rank")


class OnlineModel(TextModel):
    """Gaussian posteriors of weights that learn document by document, one per label."""

    model_type = "online"
    saved: ClassVar[dict[str, Field]] = {"covariance": Choice(*COVARIANCES)}  # parameters that a fitted model needs

    covariance: str
    forgetting_factor: float
    scale: Any
    mean: Any
    classes_: AnyArray
    n_features_in_: int
    log_evidence_: FloatArray
    posterior_: Any

    @property
    def likelihood(self) -> OnlineLikelihood:
        """p(y | x, w)."""
        raise NotImplementedError

    @property
    def coef_(self) -> FloatArray:
        """Weights of words, (n_columns, n_features)."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a matrix and labels."""
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more documents."""
        raise NotImplementedError

    def linear_predictor(self, X: Any) -> LinearPredictor:
        """Mean and variance of the predictors."""
        raise NotImplementedError

    def _checked_likelihood(self) -> OnlineLikelihood:
        raise NotImplementedError

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy; parameters as for ``TextModel``."""
        rows = self._learning_order(features.n_docs)
        weight = None if options is None or options.weight is None else options.weight[rows]
        one = self.unfitted()
        one.fit(features.weights[rows], sparse.csr_matrix(indicator[rows], dtype=np.int64), sample_weight=weight)
        return one.with_labels(space)

    def _learning_order(self, n_docs: int) -> IntArray:
        """The order in which training texts are learnt: at random, for files are often sorted by label.

        Where earlier documents are forgotten their order matters and stays.
        """
        return np.arange(n_docs) if self.forgetting_factor < 1.0 else np.random.default_rng(0).permutation(n_docs)

    def with_prior(self, matched: MatchedPriors, features: Features, weight: FloatArray) -> Self:
        """Copy, not fitted, with the prior that a table gives; parameters as for ``TextModel``."""
        default = make_prior("gaussian", self.scale, self.mean)
        prior = table_prior(matched, default, features.weights, weight, link=self.likelihood.link)
        noise = self.likelihood.noise or 1.0  # means of a table are of weights at noise 1
        mean = np.where(prior.mean == np.broadcast_to(default.mean, prior.mean.shape), prior.mean, noise * prior.mean)
        return self.unfitted(scale=prior.scale, mean=mean)

    def check_shapes(self, n_columns: int, n_features: int) -> None:
        """Refuse parameters that cannot be used."""
        self._checked_likelihood()

    def description(self) -> str:
        """What is remembered of the covariance."""
        return f"online, {self.covariance.replace('_', ' ')} covariance"

    @property
    def has_posterior(self) -> bool:
        """Always: what is learnt is a posterior."""
        return True

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Log-odds of every column, averaged over the posterior or at its mean."""
        mean, var = self.linear_predictor(features.weights)
        return self._log_odds(mean, var if posterior_predictive else None)

    def _log_odds(self, mean: FloatArray, var: FloatArray | None = None) -> FloatArray:
        log_prob, log_other = self.likelihood.log_probabilities(mean, var)
        return log_prob - log_other

    def contributions(self, document: Features) -> Contributions:
        """The parts that words have in the scores of one document."""
        # A text without words: the plug-in value says nothing where the link is a hard threshold.
        base = self._log_odds(*self.linear_predictor(sparse.csr_matrix((1, document.n_features))))[0]
        return shared_parts(document.weights, self.coef_, base, self.scores(document)[0])

    def word_weights(self) -> WordWeights:
        """Posterior means of the weights, and their errors where variances are known."""
        noise, variance = self.likelihood.noise or 1.0, self._variances()
        errors = None if variance is None else np.sqrt(variance[:, 1:]) / noise
        return WordWeights(self.coef_ / noise, errors, "posterior mean of the weight")

    def known_words(self) -> BoolArray:
        """Mask of the features that have a weight for some label, (n_features,)."""
        return np.asarray((self.coef_ != 0.0).any(axis=0))

    def probability_interval(
        self, features: Features, level: float, inverse_temperature: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each label's probability."""
        check_level(level)
        mean, var = self.linear_predictor(features.weights)
        if self.label_space_.kind == "multiclass":
            return class_interval(
                mean, var, lambda drawn: self.likelihood.log_probability(drawn, None), level, inverse_temperature
            )
        reach = special.ndtri(0.5 + 0.5 * level) * np.sqrt(var)
        ends = (self._log_odds(mean + side * reach) for side in (-1.0, 1.0))
        low, high = (np.asarray(special.expit(end)) for end in ends)
        return low, high

    def uncertainty(self, features: Features) -> Uncertainty:
        """The parts of the uncertainty of each label's own yes or no; noise of the likelihood is aleatoric."""
        mean, var = self.linear_predictor(features.weights)
        averaged = np.asarray(special.expit(self._log_odds(mean, var)))
        return gaussian_uncertainty(mean, var, lambda eta: special.expit(self._log_odds(eta)), averaged)

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after these documents, one after the other."""
        after, posterior = copy.copy(self), self.posterior_
        after.posterior_ = Bank([one.copy() for one in posterior]) if isinstance(posterior, Bank) else posterior.copy()
        # An indicator has columns of labels that may go together, whatever kind of labels they stand for.
        after.label_space_ = LabelSpace(np.arange(indicator.shape[1]), "multilabel")
        after.partial_fit(features.weights, sparse.csr_matrix(indicator, dtype=np.int64), sample_weight=weight)
        return after.with_labels(self.label_space_)

    def _variances(self) -> FloatArray | None:
        """Variances of intercept and weights (n_columns, 1 + n_features), NaN for words that a label does not have.

        None of a process, which has no weights.
        """
        posterior = self.posterior_
        if not isinstance(posterior, Bank):
            return np.asarray(np.where(posterior.prior_var > 0.0, posterior.var, np.nan).T)
        if self.covariance not in ("full", "low_rank"):
            return None
        rows = np.full((len(posterior), 1 + self.n_features_in_), np.nan)
        for row, one in zip(rows, posterior, strict=True):
            own = np.diag(one.cov) if self.covariance == "full" else _low_rank_variances(one)
            row[0], row[1 + one.words] = own[0], own[1:]
        return rows

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The posterior as a JSON-able description and arrays."""
        described, arrays = bank_state(self.posterior_)
        likelihood = self.likelihood
        meta = {
            "link": likelihood.link.spec,
            "noise": likelihood.noise,
            "forgetting_factor": float(self.forgetting_factor),
        }
        meta |= {name: getattr(self, name) for name in self.saved}
        return meta | {"log_evidence": self.log_evidence_.tolist(), "posteriors": described}, arrays

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> Self:
        """The model of a file; parameters as for ``TextModel``."""
        fields: dict[str, Field] = {
            "link": LinkField(),
            "noise": Number(),
            "forgetting_factor": Number(above=0.0, most=1.0),
            "log_evidence": List(Number(), space.n_columns, space.n_columns),
        }
        own = {name: value for name, value in meta.items() if name != "posteriors"}
        found = read(fields | cls.saved, own, {}, "the model's posterior")
        try:
            likelihood = OnlineLikelihood(found["link"], float(found["noise"]))
        except InputError as error:
            raise ModelFileError(f"the model's likelihood cannot be used ({error}); was the file altered?") from error
        parameters: dict[str, Any] = {"link": likelihood, "forgetting_factor": found["forgetting_factor"]}
        made = cls(**parameters, **{name: found[name] for name in cls.saved})
        posterior = made._restored_posterior(meta.get("posteriors"), arrays, space.n_columns, n_features)
        return made.with_posterior(posterior, found["log_evidence"], space, n_features)

    def _restored_posterior(self, described: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_words: int) -> Any:
        return bank_from_state(self.covariance, described, arrays, n_columns, n_words)

    def with_posterior(self, posterior: Any, log_evidence: Any, space: LabelSpace, n_features: int) -> Self:
        """The same, with what was learnt elsewhere of these labels.

        Parameters
        ----------
        posterior : DiagonalPosterior or Bank
        log_evidence : sequence of n_columns numbers
        space : LabelSpace
        n_features : int
        """
        self.posterior_, self.log_evidence_ = posterior, np.array(log_evidence, dtype=np.float64)
        self.n_features_in_ = n_features
        return self.with_labels(space)


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


CLASSES: dict[str, type[OnlinePosterior]] = {
    "diagonal": DiagonalPosterior,
    "full": FullPosterior,
    "low_rank": LowRankPosterior,
    "process": GaussianProcess,
}


def bank_state(posterior: DiagonalPosterior | Bank[Any]) -> tuple[list[dict[str, Any]], dict[str, AnyArray]]:
    """The posteriors of all labels: one that they share, or one each."""
    described: list[dict[str, Any]] = []
    arrays: dict[str, AnyArray] = {}
    for number, one in enumerate(posterior if isinstance(posterior, Bank) else [posterior]):
        meta, own = to_state(one)
        described.append(meta)
        arrays |= under(str(number), own)
    return described, arrays


def bank_from_state(
    covariance: str, described: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int, kernel: Any = None
) -> DiagonalPosterior | Bank[Any]:
    """The posteriors that :func:`bank_state` described, of so many labels and features."""
    n = 1 if covariance == "diagonal" else n_columns
    if not isinstance(described, list) or len(described) != n or not all(isinstance(one, dict) for one in described):
        raise ModelFileError("the model's posteriors are not those of its labels; was the file altered?")
    posteriors = [
        posterior_from_state(covariance, meta, part_of(arrays, str(number)), n_columns, n_features, kernel)
        for number, meta in enumerate(described)
    ]
    return posteriors[0] if covariance == "diagonal" else Bank(posteriors)


def posterior_from_state(
    covariance: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
    n_columns: int,
    n_features: int,
    kernel: Any = None,
) -> Any:
    """The posterior that ``to_state`` described; what does not belong together is refused."""
    given = {"kernel": kernel} if covariance == "process" else {}
    what = "the model's posterior"
    return from_state(CLASSES[covariance], meta, arrays, what, given=given, n_features=n_features, n_labels=n_columns)

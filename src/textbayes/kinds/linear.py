"""Linear models, a link × a prior × an inference, one regression per label; pools of them are one of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse, special

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import make_inference, samples
from textbayes.inference.base import label_replicates_of
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Kind, fresh, shared_parts
from textbayes.kinds.sampling import sampling_settings, watched
from textbayes.kinds.weights import FittedWeights, held_scale, restored_weights
from textbayes.knowledge import MatchedPriors, with_prior
from textbayes.links import BaseLink, make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.refit import top_words
from textbayes.posterior.intervals import PRACTICAL_SIZE
from textbayes.priors import make_prior
from textbayes.tune import BayesLinearClassifierCV


class FittedLinear(FittedWeights):
    """Weights and intercepts of every label, of one linear model or of several merged into one.

    Parameters
    ----------
    space, coef, intercept, errors, intercept_errors, draws, held_scale, shifts
        As for :class:`FittedWeights`.
    link : link
    """

    kind = "linear"

    def __init__(self, space: LabelSpace, link: BaseLink, **weights: Any) -> None:
        super().__init__(space, **weights)
        self.link = link
        self.estimator: BayesLinearClassifier | None = None

    def predictor(self, features: Features) -> FloatArray:
        """The linear predictors that probabilities are made of, (n_docs, n_columns)."""
        return np.asarray(np.asarray(features.weights @ self.coef.T) + self.intercept)

    def scaled(self, factor: float) -> Self:
        """The same with all weights and intercepts times a factor."""
        after = copy.copy(self)
        after.coef, after.intercept = factor * self.coef, factor * self.intercept
        return after

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        if self.draws is not None and average:
            return np.asarray(special.logit(self.draws.probability(features.weights, self.link)))
        return self.link.log_odds(self.predictor(features))

    def own_proba(self, features: Features, average: bool = True) -> FloatArray:
        """Probability of each label by itself, (n_docs, n_columns)."""
        if self.draws is not None and average:
            return self.draws.probability(features.weights, self.link)
        return self.link.probability(self.predictor(features))

    def log_proba(self, features: Features, average: bool = True) -> FloatArray:
        """Logarithm of the probability of each label by itself, (n_docs, n_columns)."""
        if self.draws is not None and average:
            return np.log(np.maximum(self.draws.probability(features.weights, self.link), 1e-300))
        eta = self.predictor(features)
        return self.link.log_prob(eta, np.ones_like(eta))

    def contributions(self, document: Features) -> Contributions:
        base = self.link.log_odds(self.intercept)
        return shared_parts(document.weights, self.coef, base, self.scores(document)[0])

    def words(self) -> WordWeights:
        return WordWeights(self.coef, self.errors, "weight" if self.draws is None else "posterior mean", self.shifts)

    def word_totals(self, features: Features) -> FloatArray:
        X = features.weights
        read = np.asarray(X @ self.coef.T)
        rise = self.link.log_odds(self.intercept + read) - self.link.log_odds(self.intercept)
        # Log-odds per unit of eta in each text: 1 for the logit, the mean slope from the base to eta for other links.
        slopes = np.divide(rise, read, out=np.ones_like(read), where=read != 0.0)
        return np.asarray(self.coef * np.asarray(X.T @ slopes).T)

    def probability_interval(self, features: Features, level: float) -> tuple[FloatArray, FloatArray]:
        if self.draws is None:
            return super().probability_interval(features, level)
        return self.draws.probability_interval(features.weights, self.link, level)

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after more documents, with the present one as the prior: N(weight, error²), word by word."""
        estimator = BayesLinearClassifier(self.link, **self.as_prior())
        estimator.fit(features.weights, sparse.csr_matrix(indicator), sample_weight=weight)
        found = fitted_linear(estimator, self.space)
        after = copy.copy(self)
        after.coef, after.intercept, after.draws, after.estimator = found.coef, found.intercept, None, None
        after.errors, after.intercept_errors, after.shifts = found.errors, found.intercept_errors, found.shifts
        return after

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        draws, arrays = self.weights_state()
        return {"link": self.link.spec, "held_scale": self.held_scale, "draws": draws}, arrays


def fitted_linear(estimator: BayesLinearClassifier, space: LabelSpace) -> FittedLinear:
    """Make the fitted model of a categorizer from a fitted classifier."""
    intercept_errors = shifts = None
    if estimator.draws_ is not None:
        intercept_errors = np.array([one.intercept.std() for one in estimator.draws_.labels])
    elif estimator.approximation_ is not None:
        intercept_errors = estimator.approximation_.standard_errors()[1]
        shifts = estimator.approximation_.mean_shifts()[0]
    fitted = FittedLinear(
        space, make_link(estimator.link), coef=estimator.coef_, intercept=estimator.intercept_,
        errors=estimator.standard_errors_, intercept_errors=intercept_errors, draws=estimator.draws_,
        held_scale=held_scale(estimator), shifts=shifts,
    )  # fmt: skip
    fitted.estimator = estimator
    return fitted


class LinearKind(Kind):
    """Link × prior × inference: p(y = 1 | x) = ψ(w·x + b), one regression per label."""

    name = "linear"
    chooses_words = refits = weighs_prior_by_label = True

    @property
    def estimator_class(self) -> type:
        return BayesLinearClassifier

    def make(self, **parameters: Any) -> BayesLinearClassifier:
        """An estimator, with a scale for texts of length one unless another is given; ``link="auto"`` finds both."""
        if parameters.get("link") == "auto":
            fixed = {"scales": [parameters.pop("scale")]} if "scale" in parameters else {}
            found: BayesLinearClassifier = self._made(BayesLinearClassifierCV, {"tol": 1e-3} | fixed | parameters)
            return found
        prior = parameters.get("prior", "laplace")
        suited = {"scale": 5.5 if prior == "gaussian" else 10.0, "tol": 1e-3}
        return super().make(**(suited | parameters))

    @property
    def saved_classes(self) -> tuple[type, ...]:
        return BayesLinearClassifier, BayesLinearClassifierCV

    def checked_parameters(self, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        from textbayes.core.saved import read_saved  # loads pydantic
        from textbayes.kinds._schema import SavedClassifier, SavedSearch

        schema = SavedSearch if name == BayesLinearClassifierCV.__name__ else SavedClassifier
        return read_saved(schema, dict(parameters), "the model's classifier").model_dump(exclude_unset=True)

    def samples(self, estimator: BayesLinearClassifier) -> bool:
        return samples(estimator.inference)

    def sampling_settings(self, estimator: BayesLinearClassifier) -> Any:
        return sampling_settings(estimator)

    def fit(
        self, estimator: BayesLinearClassifier, features: Features, indicator: BoolArray, space: LabelSpace,
        options: FitOptions,
    ) -> FittedLinear:  # fmt: skip
        """One binary regression per column, whatever the kind of labels."""
        X, labels, weight = features.weights, sparse.csr_matrix(indicator), options.weight
        one = fresh(estimator, intervals=options.intervals or estimator.intervals)
        with watched(one, options):
            one.fit(X, labels, sample_weight=weight, words=options.words)
        if options.refit_k is not None:
            chosen = top_words(one, options.refit_k, options.refit_by, PRACTICAL_SIZE)
            with watched(one, options, "refit"):
                one.fit(X, labels, sample_weight=weight, words=chosen)
        return fitted_linear(one, space)

    def informed(
        self, estimator: BayesLinearClassifier, matched: MatchedPriors, features: Features, weight: FloatArray
    ) -> BayesLinearClassifier:
        if label_replicates_of(estimator.inference) > 1:
            raise NotSupportedError(
                f"a prior file with label_replicates={label_replicates_of(estimator.inference)} is not supported: what "
                "is known of labels is not known of each replicate; leave out the file, or use label_replicates=1"
            )
        return with_prior(estimator, matched, features.weights, weight)

    def check(self, estimator: BayesLinearClassifier, select: str | None, refit_k: int | None, refit_by: str) -> None:
        if _finds_link(estimator) and samples(estimator.inference):
            raise NotSupportedError(
                f"inference {estimator.inference!r} has one link for all labels, and link 'auto' finds one for each; "
                "name a link, or use inference 'coordinate'"
            )
        if refit_by != "mean" and not samples(estimator.inference):
            raise InputError(
                f"refit_by={refit_by!r} ranks words by their draws; use classifiers with inference='gibbs'"
            )

    def describe(self, estimator: BayesLinearClassifier) -> str:
        return estimator.prior if isinstance(estimator.prior, str) else str(estimator.prior.name)

    def describe_settings(self, estimator: BayesLinearClassifier) -> str:
        """Link, prior and scale of one classifier.

        >>> LinearKind().describe_settings(BayesLinearClassifier(prior="laplace", scale=10.0))
        'logit link, laplace prior of scale 10'
        """
        link = "link found for each label" if _finds_link(estimator) else f"{make_link(estimator.link).name} link"
        name = self.describe(estimator)
        if not isinstance(estimator.prior, str):
            return f"{link}, {name} prior"
        if isinstance(estimator, BayesLinearClassifierCV):
            return f"{link}, {name} prior, its scale found by {estimator.method}"
        scale = np.asarray(estimator.scale, dtype=np.float64)
        size = f"scale {float(scale):g}" if scale.ndim == 0 else "scales of its own for each word or label"
        return f"{link}, {name} prior of {size}"

    def check_restored(self, estimator: BayesLinearClassifier, n_columns: int, n_features: int) -> None:
        estimator._check_settings()
        if isinstance(estimator, BayesLinearClassifierCV) and isinstance(estimator.cv, np.ndarray):
            estimator.set_params(cv=estimator.cv.astype(np.int64))  # the fold of every document
        prior = make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign)
        for name, value in vars(prior).items():
            if value.shape not in ((), (n_features,), (n_columns, n_features), (n_columns, 1)):
                raise InputError(f"prior {name} has shape {value.shape} for {n_columns} labels and {n_features} words")
        link = make_link("logit" if _finds_link(estimator) else estimator.link)
        link.check_labels(n_columns)
        estimator._intercept_prior(link, prior, n_columns)
        make_inference(estimator.inference, estimator.tol, estimator.max_iter, 1).check(link, prior)

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedLinear:
        from textbayes.core.saved import read_saved  # loads pydantic
        from textbayes.kinds._schema import SavedLinear

        told = read_saved(SavedLinear, meta, "the model's weights")
        link = make_link(told.link)
        link.check_labels(space.n_columns)
        weights = restored_weights(told.draws, arrays, (space.n_columns, n_features))
        return FittedLinear(space, link, held_scale=told.held_scale, **weights)


def _finds_link(estimator: BayesLinearClassifier) -> bool:
    """Whether an estimator looks for the link of every label."""
    return isinstance(estimator.link, str) and estimator.link == "auto"


kinds.register("linear")(LinearKind())

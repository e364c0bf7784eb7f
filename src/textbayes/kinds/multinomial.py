"""Softmax regression: one distribution over classes that exclude each other."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import samples
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Kind, fresh
from textbayes.kinds.sampling import sampling_settings, watched
from textbayes.kinds.weights import FittedWeights, held_scale, restored_weights
from textbayes.knowledge import MatchedPriors, table_prior
from textbayes.links import make_link
from textbayes.models.multinomial import BayesMultinomialClassifier
from textbayes.models.multinomial.classifier import LINKS
from textbayes.priors import make_prior


class FittedMultinomial(FittedWeights):
    """Weights and intercepts of every class, for two classes too; parameters as for :class:`FittedWeights`."""

    kind = "multinomial"

    def __init__(self, space: LabelSpace, link: str = "logit", **weights: Any) -> None:
        super().__init__(space, **weights)
        self.link = make_link(link)
        self.is_softmax = space.kind == "multiclass"

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        if self.draws is not None and average:
            proba = self.draws.class_probability(features.weights, self.link)
            return self._columns(np.log(np.maximum(proba, 1e-300)))
        eta = np.asarray(features.weights @ self.coef.T) + self.intercept
        if self.link.name != "logit":  # of which predictors are logarithms of probabilities already
            eta = np.log(np.maximum(self.link.class_probability(eta), 1e-300))
        return self._columns(eta)

    def _columns(self, by_class: FloatArray) -> FloatArray:
        """Of two classes how much the second has more than the first."""
        return by_class if self.is_softmax else by_class[..., 1:] - by_class[..., :1]

    def contributions(self, document: Features) -> Contributions:
        columns = document.weights.indices.astype(np.int64)
        parts = document.weights.data * self._columns(self.coef[:, columns].T).T
        total = self.scores(document)[0]
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def words(self) -> WordWeights:
        description = "weight" if self.draws is None else "posterior mean of the weight"
        if self.is_softmax:
            return WordWeights(self.coef, self.errors, description)
        errors = None if self.errors is None else np.sqrt((self.errors**2).sum(axis=0))[None]
        return WordWeights(self.coef[1:] - self.coef[:1], errors, description)

    def probability_interval(self, features: Features, level: float) -> tuple[FloatArray, FloatArray]:
        if self.draws is None:
            return super().probability_interval(features, level)
        low, high = self.draws.class_probability_interval(features.weights, self.link, level)
        columns = slice(None) if self.is_softmax else slice(1, None)
        return low[:, columns], high[:, columns]

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after more documents, with the present one as the prior: N(weight, error²), word by word."""
        sampled: dict[str, Any] = {} if self.link.name == "logit" else {"link": self.link.name, "inference": "gibbs"}
        estimator = BayesMultinomialClassifier(**(self.as_prior() | sampled))
        estimator.fit_classes(features.weights, _codes(indicator, self.space), self.space, sample_weight=weight)
        after = copy.copy(self)
        after.coef, after.intercept, after.draws = estimator.coef_, estimator.intercept_, estimator.draws_
        after.errors, after.intercept_errors = estimator.standard_errors_, estimator.intercept_errors_
        return after

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        draws, arrays = self.weights_state()
        link = {} if self.link.name == "logit" else {"link": self.link.name}  # files of a softmax never had one
        return {"held_scale": self.held_scale, "draws": draws, **link}, arrays


def _codes(indicator: BoolArray, space: LabelSpace) -> AnyArray:
    return indicator[:, 0].astype(np.int64) if space.kind == "binary" else indicator.argmax(axis=1)


class MultinomialKind(Kind):
    """p(c | x) = exp(w_c·x + b_c)/Σ_k exp(w_k·x + b_k): all classes that exclude each other in one model."""

    name = "multinomial"

    @property
    def estimator_class(self) -> type:
        return BayesMultinomialClassifier

    def make(self, **parameters: Any) -> BayesMultinomialClassifier:
        """An estimator, with a scale for texts of length one unless another is given."""
        prior = parameters.get("prior", "gaussian")
        # The best of the grid of bench_multinomial_quality.py --choose for 20 Newsgroups; corpora with hardly a text in
        # doubt would have 64, its end.
        suited = {"prior": prior, "tol": 1e-3, "scale": 32.0}
        suited["inference"] = "newton" if prior == "gaussian" else "coordinate"
        if parameters.get("link", "logit") != "logit":
            suited |= {
                "inference": "gibbs",
                "scale": 20.0,
            }  # noise of a class: normal 1, Gumbel 1.28; and it is sampled
        return super().make(**(suited | parameters))

    def is_softmax(self, estimator: Any, space: LabelSpace) -> bool:
        return space.kind == "multiclass"

    def samples(self, estimator: BayesMultinomialClassifier) -> bool:
        return samples(estimator.inference)

    def sampling_settings(self, estimator: BayesMultinomialClassifier) -> Any:
        return sampling_settings(estimator)

    def fit(
        self, estimator: BayesMultinomialClassifier, features: Features, indicator: BoolArray, space: LabelSpace,
        options: FitOptions,
    ) -> FittedMultinomial:  # fmt: skip
        if space.kind == "multilabel":
            raise NotSupportedError(
                "a multinomial model is of classes that exclude each other, and these texts may have several labels; "
                "use --model linear"
            )
        one = fresh(estimator, intervals=options.intervals or estimator.intervals)
        with watched(one, options):
            one.fit_classes(features.weights, _codes(indicator, space), space, sample_weight=options.weight)
        return FittedMultinomial(
            space, coef=one.coef_, intercept=one.intercept_, errors=one.standard_errors_,
            intercept_errors=one.intercept_errors_, draws=one.draws_, held_scale=held_scale(one), link=one.link,
        )  # fmt: skip

    def informed(
        self, estimator: BayesMultinomialClassifier, matched: MatchedPriors, features: Features, weight: FloatArray
    ) -> BayesMultinomialClassifier:
        default = make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign)
        prior = table_prior(matched, default, features.weights, weight)
        if prior is default:
            return fresh(estimator)
        if matched.n_labels == 1:  # of two classes the second is told of, and the first stays as it is
            fields = {name: np.vstack([np.broadcast_to(getattr(default, name, value[:1]), value.shape), value])
                      for name, value in vars(prior).items()}  # fmt: skip
            prior = type(prior)(**fields)
        inference = estimator.inference if isinstance(prior, type(default)) else "coordinate"
        return fresh(estimator, prior=prior, scale=1.0, mean=0.0, sign=0, inference=inference)

    def describe(self, estimator: BayesMultinomialClassifier) -> str:
        link = "" if estimator.link == "logit" else f"{estimator.link}, "
        return f"multinomial, {link}{estimator.prior if isinstance(estimator.prior, str) else estimator.prior.name}"

    def check_restored(self, estimator: BayesMultinomialClassifier, n_columns: int, n_features: int) -> None:
        n_classes = max(n_columns, 2)
        prior = make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign)
        for name, value in vars(prior).items():
            if value.shape not in ((), (n_features,), (n_classes, n_features), (n_classes, 1)):
                raise InputError(f"prior {name} has shape {value.shape} for {n_classes} classes and {n_features} words")
        estimator.check_settings()

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedMultinomial:
        scale = meta.get("held_scale")
        link, known = meta.get("link", "logit"), {"held_scale", "draws"}
        described = known <= set(meta) <= known | {"link"} and isinstance(meta["draws"], dict | None) and link in LINKS
        if not described or type(scale) is not float or not 0.0 < scale < 1e100:
            raise ModelFileError("the model's weights are not described as they must be; was the file altered?")
        if space.kind == "multilabel":
            raise ModelFileError("the model is of exclusive classes, but its labels are not; was the file altered?")
        weights = restored_weights(meta["draws"], arrays, (len(space.classes), n_features))
        return FittedMultinomial(space, link=link, held_scale=scale, **weights)


kinds.register("multinomial")(MultinomialKind())

"""Softmax regression: one distribution over classes that exclude each other."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.memory import check_fits_memory
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.saved_arrays import saved_array, saved_csr
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import samples
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Fitted, Kind, fresh
from textbayes.kinds.linear import dense_weights, held_scale, restored_draws
from textbayes.knowledge import MatchedPriors, informed_prior
from textbayes.models.multinomial import BayesMultinomialClassifier
from textbayes.priors import make_prior
from textbayes.priors.by_word import ByWord

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws


class FittedMultinomial(Fitted):
    """Weights and intercepts of every class, for two classes too.

    Parameters
    ----------
    space : LabelSpace
    coef, intercept : arrays (n_classes, n_features), (n_classes,)
    errors, intercept_errors : arrays like them, or None
    draws : Draws or None
    held_scale : float
        Scale of the prior of words without an error, for learning on.
    """

    kind = "multinomial"

    def __init__(
        self,
        space: LabelSpace,
        coef: FloatArray,
        intercept: FloatArray,
        errors: FloatArray | None = None,
        intercept_errors: FloatArray | None = None,
        draws: Draws | None = None,
        held_scale: float = 1.0,
    ) -> None:
        super().__init__(space)
        self.joint = space.kind == "multiclass"
        self.coef, self.intercept, self.draws = coef, intercept, draws
        self.errors, self.intercept_errors, self.held_scale = errors, intercept_errors, held_scale

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        if self.draws is not None and average:
            proba = self.draws.softmax_probability(features.weights)
            return self._columns(np.log(np.maximum(proba, 1e-300)))
        return self._columns(np.asarray(features.weights @ self.coef.T) + self.intercept)

    def _columns(self, by_class: FloatArray) -> FloatArray:
        """Of two classes how much the second has more than the first."""
        return by_class if self.joint else by_class[..., 1:] - by_class[..., :1]

    def contributions(self, document: Features) -> Contributions:
        columns = document.weights.indices.astype(np.int64)
        parts = document.weights.data * self._columns(self.coef[:, columns].T).T
        total = self.scores(document)[0]
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def words(self) -> WordWeights:
        said = "weight" if self.draws is None else "posterior mean of the weight"
        if self.joint:
            return WordWeights(self.coef, self.errors, said)
        errors = None if self.errors is None else np.sqrt((self.errors**2).sum(axis=0))[None]
        return WordWeights(self.coef[1:] - self.coef[:1], errors, said)

    def known_words(self) -> BoolArray:
        return np.asarray((self.coef != 0.0).any(axis=0))

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after more documents, with the present one as the prior: N(weight, error²), word by word."""
        if self.errors is None or self.intercept_errors is None:
            raise NotSupportedError(
                "this model does not know how sure it is of its weights, so it cannot learn on; train it with "
                "--intervals (intervals=True)"
            )
        held = np.isnan(self.errors)
        prior = ByWord(
            scale=np.where(held, self.held_scale, self.errors),
            mean=self.coef,
            family=np.where(held, "laplace", "gaussian"),
        )
        estimator = BayesMultinomialClassifier(
            prior, intervals=True, intercept_mean=self.intercept,
            intercept_scale=np.maximum(self.intercept_errors, 1e-6),
        )  # fmt: skip
        estimator.fit_classes(features.weights, _codes(indicator, self.space), self.space, sample_weight=weight)
        after = copy.copy(self)
        after.coef, after.intercept, after.draws = estimator.coef_, estimator.intercept_, None
        after.errors, after.intercept_errors = estimator.standard_errors_, estimator.intercept_errors_
        return after

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        arrays: dict[str, AnyArray] = {"intercept": self.intercept}
        matrices = {"coef": self.coef} | ({} if self.errors is None else {"errors": np.nan_to_num(self.errors)})
        for name, matrix in matrices.items():
            rows = sparse.csr_matrix(matrix)
            arrays |= {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
        if self.intercept_errors is not None:
            arrays["intercept_errors"] = self.intercept_errors
        draws = None
        if self.draws is not None:
            draws, drawn = self.draws.to_state()
            arrays |= {f"draws.{name}": array for name, array in drawn.items()}
        return {"held_scale": self.held_scale, "draws": draws}, arrays


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
        suited = {"prior": prior, "tol": 1e-3, "scale": 32.0}  # see benchmarks/bench_multinomial_quality.py --choose
        suited["inference"] = "newton" if prior == "gaussian" else "coordinate"
        return super().make(**(suited | parameters))

    def joint(self, estimator: Any, space: LabelSpace) -> bool:
        return space.kind == "multiclass"

    def samples(self, estimator: BayesMultinomialClassifier) -> bool:
        return samples(estimator.inference)

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
        one.fit_classes(features.weights, _codes(indicator, space), space, sample_weight=options.weight)
        return FittedMultinomial(
            space, one.coef_, one.intercept_, one.standard_errors_, one.intercept_errors_, one.draws_, held_scale(one)
        )

    def informed(
        self, estimator: BayesMultinomialClassifier, matched: MatchedPriors, features: Features, weight: FloatArray
    ) -> BayesMultinomialClassifier:
        default = make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign)
        prior = informed_prior(matched, default, features.weights, weight)
        if prior is default:
            return fresh(estimator)
        if matched.n_labels == 1:  # of two classes the second is told of, and the first stays as it is
            fields = {name: np.vstack([np.broadcast_to(getattr(default, name, value[:1]), value.shape), value])
                      for name, value in vars(prior).items()}  # fmt: skip
            prior = type(prior)(**fields)
        inference = estimator.inference if isinstance(prior, type(default)) else "coordinate"
        return fresh(estimator, prior=prior, scale=1.0, mean=0.0, sign=0, inference=inference)

    def describe(self, estimator: BayesMultinomialClassifier) -> str:
        return f"multinomial, {estimator.prior if isinstance(estimator.prior, str) else estimator.prior.name}"

    def check_restored(self, estimator: BayesMultinomialClassifier, n_columns: int, n_features: int) -> None:
        if not isinstance(estimator.prior, str):
            raise InputError("its prior is not a name")
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
        if set(meta) != {"held_scale", "draws"} or type(scale) is not float or not 0.0 < scale < 1e100:
            raise ModelFileError("the model's weights are not described as they must be; was the file altered?")
        if space.kind == "multilabel":
            raise ModelFileError("the model is of exclusive classes, but its labels are not; was the file altered?")
        shape = len(space.classes), n_features
        with_errors = any(name.startswith("errors.") for name in arrays)
        check_fits_memory(8 * shape[0] * shape[1] * (1 + with_errors), "the weights of the model")
        coef = dense_weights(saved_csr(arrays, "coef", shape))
        intercept = saved_array(arrays, "intercept", np.float64, shape[:1])
        errors, intercept_errors = None, None
        if with_errors:
            found = dense_weights(saved_csr(arrays, "errors", shape, least=0.0))
            errors = np.where(found > 0.0, found, np.nan)
        if "intercept_errors" in arrays:
            intercept_errors = saved_array(arrays, "intercept_errors", np.float64, shape[:1], least=0.0)
        draws = None if meta["draws"] is None else restored_draws(meta["draws"], arrays, shape)
        return FittedMultinomial(space, coef, intercept, errors, intercept_errors, draws, scale)


kinds.register("multinomial")(MultinomialKind())

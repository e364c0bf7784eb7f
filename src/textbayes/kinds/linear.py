"""Linear models, a link × a prior × an inference, one regression per label; pools of them are one of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse, special

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.memory import check_fits_memory
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.saved_arrays import saved_array, saved_csr
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import make_inference
from textbayes.inference.base import label_replicates_of
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Fitted, Kind, fresh, shared_parts
from textbayes.kinds.sampling import fit_member, samples
from textbayes.knowledge import MatchedPriors, informed
from textbayes.links import BaseLink, make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.refit import top_words
from textbayes.posterior.intervals import PRACTICAL_SIZE
from textbayes.posterior.predictive import probability_interval
from textbayes.priors import make_prior
from textbayes.priors.by_word import ByWord
from textbayes.tune import BayesLinearClassifierCV

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws


class FittedLinear(Fitted):
    """Weights and intercepts of every label, of one linear model or of a pool of them.

    Parameters
    ----------
    space : LabelSpace
    link : link
    coef, intercept : arrays (n_columns, n_features), (n_columns,)
        Modes, or means of the posterior where it was sampled.
    errors, intercept_errors : arrays like them, or None
        Standard errors, NaN for words that have none.
    draws : Draws or None
    sharpness : float
        The power that probabilities of exclusive classes are normalised by.
    calibration : float
        The factor of predictors when probabilities are made of them.
    held_scale : float
        Scale of the prior of words without an error, for learning on.
    """

    kind = "linear"

    def __init__(
        self,
        space: LabelSpace,
        link: BaseLink,
        coef: FloatArray,
        intercept: FloatArray,
        errors: FloatArray | None = None,
        intercept_errors: FloatArray | None = None,
        draws: Draws | None = None,
        sharpness: float = 1.0,
        calibration: float = 1.0,
        held_scale: float = 1.0,
    ) -> None:
        super().__init__(space)
        self.link, self.coef, self.intercept = link, coef, intercept
        self.errors, self.intercept_errors, self.draws = errors, intercept_errors, draws
        self.sharpness, self.calibration, self.held_scale = sharpness, calibration, held_scale
        self.estimator: BayesLinearClassifier | None = None

    def predictor(self, features: Features) -> FloatArray:
        """The linear predictors that probabilities are made of, (n_docs, n_columns)."""
        return np.asarray(self.calibration * (np.asarray(features.weights @ self.coef.T) + self.intercept))

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        if self.draws is not None and average:
            return np.asarray(special.logit(self.draws.probability(features.weights, self.link)))
        return self.link.log_odds(self.predictor(features))

    def proba(self, features: Features, average: bool = True) -> FloatArray:
        if self.draws is not None and average:
            own = self.draws.probability(features.weights, self.link)
            if self.space.kind != "multiclass":
                return own
            return normalise_classes(np.log(np.maximum(own, 1e-300)), self.sharpness)
        eta = self.predictor(features)
        if self.space.kind != "multiclass":
            return self.link.probability(eta)
        return normalise_classes(self.link.log_prob(eta, np.ones_like(eta)), self.sharpness)

    def contributions(self, document: Features) -> Contributions:
        base = self.link.log_odds(self.calibration * self.intercept)
        weights = self.calibration * self.coef
        return shared_parts(document.weights, weights, base, self.scores(document)[0])

    def words(self) -> WordWeights:
        said = "weight" if self.draws is None else "posterior mean"
        return WordWeights(self.coef, self.errors, said)

    def known_words(self) -> BoolArray:
        return np.asarray((self.coef != 0.0).any(axis=0))

    def word_totals(self, features: Features) -> FloatArray:
        X = features.weights
        base = self.calibration * self.intercept
        read = self.calibration * np.asarray(X @ self.coef.T)
        rise = self.link.log_odds(base + read) - self.link.log_odds(base)
        # Log-odds per unit of eta in each text: 1 for the logit, the mean slope from the base to eta for other links.
        slopes = self.calibration * np.divide(rise, read, out=np.ones_like(read), where=read != 0.0)
        return np.asarray(self.coef * np.asarray(X.T @ slopes).T)

    def probability_interval(self, features: Features, level: float) -> tuple[FloatArray, FloatArray]:
        if self.draws is not None:
            return self.draws.probability_interval(features.weights, self.link, level)
        if self.errors is None or self.intercept_errors is None:
            raise InputError("this model was trained without intervals; train it with intervals=True")
        # Words are taken to err independently of each other: their covariances are not kept.
        squares = features.weights.multiply(features.weights)
        var = np.asarray(squares @ (np.nan_to_num(self.errors) ** 2).T) + self.intercept_errors**2
        return probability_interval(self.predictor(features), self.calibration**2 * var, self.link, level)

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after more documents, with the present one as the prior: N(weight, error²), word by word."""
        if self.errors is None or self.intercept_errors is None:
            raise NotSupportedError(
                "this linear model does not know how sure it is of its weights, so it cannot learn on; train it with "
                "--intervals (intervals=True)"
            )
        held = np.isnan(self.errors)
        prior = ByWord(
            scale=np.where(held, self.held_scale, self.errors),
            mean=self.coef,
            family=np.where(held, "laplace", "gaussian"),
        )
        estimator = BayesLinearClassifier(
            self.link, prior, intervals=True, intercept_mean=self.intercept, intercept_scale=self.intercept_errors
        )
        labels = sparse.csr_matrix(indicator)
        found = fitted_linear(estimator.fit(features.weights, labels, sample_weight=weight), self.space)
        assert found.errors is not None
        after = copy.copy(self)
        after.coef, after.intercept, after.draws, after.estimator = found.coef, found.intercept, None, None
        after.errors, after.intercept_errors = found.errors, found.intercept_errors
        return after

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        coef = sparse.csr_matrix(self.coef)
        arrays = {"coef.data": coef.data, "coef.indices": coef.indices, "coef.indptr": coef.indptr}
        arrays["intercept"] = self.intercept
        if self.errors is not None:
            errors = sparse.csr_matrix(np.nan_to_num(self.errors))  # 0 stands for a word without one
            arrays |= {"errors.data": errors.data, "errors.indices": errors.indices, "errors.indptr": errors.indptr}
        if self.intercept_errors is not None:
            arrays["intercept_errors"] = self.intercept_errors
        draws = None
        if self.draws is not None:
            draws, drawn = self.draws.to_state()
            arrays |= {f"draws.{name}": array for name, array in drawn.items()}
        meta = {"link": self.link.spec, "sharpness": self.sharpness, "calibration": self.calibration}
        return meta | {"held_scale": self.held_scale, "draws": draws}, arrays


def fitted_linear(estimator: BayesLinearClassifier, space: LabelSpace) -> FittedLinear:
    """Make the fitted model of a categorizer from a fitted classifier."""
    link = make_link(estimator.link)
    intercept_errors = None
    if estimator.draws_ is not None:
        intercept_errors = np.array([one.intercept.std() for one in estimator.draws_.labels])
    elif estimator.approximation_ is not None:
        intercept_errors = estimator.approximation_.standard_errors()[1]
    fitted = FittedLinear(
        space, link, estimator.coef_, estimator.intercept_, estimator.standard_errors_, intercept_errors,
        estimator.draws_, held_scale=held_scale(estimator),
    )  # fmt: skip
    fitted.estimator = estimator
    return fitted


def held_scale(estimator: Any) -> float:
    """A typical scale of the prior."""
    scale = np.asarray(make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign).scale)
    finite = scale[np.isfinite(scale)]
    return float(np.median(finite)) if finite.size else 1.0


class LinearKind(Kind):
    """Link × prior × inference: p(y = 1 | x) = ψ(w·x + b), one regression per label."""

    name = "linear"
    chooses_words = refits = True

    @property
    def estimator_class(self) -> type:
        return BayesLinearClassifier

    def make(self, **parameters: Any) -> BayesLinearClassifier:
        """An estimator, with a scale for texts of length one unless another is given."""
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
        return samples(estimator)

    def sampling_settings(self, estimator: BayesLinearClassifier) -> Any:
        sampler: Any = make_inference(estimator.inference, estimator.tol, estimator.max_iter, 1)
        if not sampler.samples:
            return sampler.name
        plan = sampler.plan
        return [plan.chains, plan.warmup, plan.thin, sampler.plain_settings]

    def fit(
        self, estimator: BayesLinearClassifier, features: Features, indicator: BoolArray, space: LabelSpace,
        options: FitOptions,
    ) -> FittedLinear:  # fmt: skip
        """One binary regression per column, whatever the kind of labels."""
        labels = sparse.csr_matrix(indicator)
        one = fresh(estimator, intervals=options.intervals or estimator.intervals)
        one = fit_member(one, features.weights, labels, options.words, options)
        if options.refit_k is not None:
            chosen = top_words(one, options.refit_k, options.refit_by, PRACTICAL_SIZE)
            one = fit_member(copy.copy(one), features.weights, labels, chosen, options, "refit")
        return fitted_linear(one, space)

    def informed(
        self, estimator: BayesLinearClassifier, matched: MatchedPriors, features: Features, weight: FloatArray
    ) -> BayesLinearClassifier:
        if label_replicates_of(estimator.inference) > 1:
            raise NotSupportedError(
                f"a prior file with label_replicates={label_replicates_of(estimator.inference)} is not supported: what "
                "is known of labels is not known of each replicate; leave out the file, or use label_replicates=1"
            )
        return informed(estimator, matched, features.weights, weight)

    def check(self, estimator: BayesLinearClassifier, options: FitOptions) -> None:
        if options.refit_by != "mean" and not samples(estimator):
            raise InputError(
                f"refit_by={options.refit_by!r} ranks words by their draws; use classifiers with inference='gibbs'"
            )

    def describe(self, estimator: BayesLinearClassifier) -> str:
        return estimator.prior if isinstance(estimator.prior, str) else str(estimator.prior.name)

    def describe_settings(self, estimator: BayesLinearClassifier) -> str:
        """Link, prior and scale of one classifier.

        >>> LinearKind().describe_settings(BayesLinearClassifier(prior="laplace", scale=10.0))
        'logit link, laplace prior of scale 10'
        """
        link, name = make_link(estimator.link).name, self.describe(estimator)
        if not isinstance(estimator.prior, str):
            return f"{link} link, {name} prior"
        if isinstance(estimator, BayesLinearClassifierCV):
            return f"{link} link, {name} prior, its scale found by {estimator.method}"
        scale = np.asarray(estimator.scale, dtype=np.float64)
        size = f"scale {float(scale):g}" if scale.ndim == 0 else "scales of its own for each word or label"
        return f"{link} link, {name} prior of {size}"

    def check_restored(self, estimator: BayesLinearClassifier, n_columns: int, n_features: int) -> None:
        estimator._check_settings()
        if isinstance(estimator, BayesLinearClassifierCV) and isinstance(estimator.cv, np.ndarray):
            estimator.set_params(cv=estimator.cv.astype(np.int64))  # the fold of every document
        prior = make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign)
        for name, value in vars(prior).items():
            if value.shape not in ((), (n_features,), (n_columns, n_features), (n_columns, 1)):
                raise InputError(f"prior {name} has shape {value.shape} for {n_columns} labels and {n_features} words")
        link = make_link(estimator.link)
        estimator._intercept_prior(link, prior, n_columns)
        make_inference(estimator.inference, estimator.tol, estimator.max_iter, 1).check(link, prior)

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedLinear:
        from textbayes.core.saved import read_saved  # loads pydantic
        from textbayes.kinds._schema import SavedLinear

        told = read_saved(SavedLinear, meta, "the model's weights")
        shape = (space.n_columns, n_features)
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
        draws = None
        if told.draws is not None:
            draws = restored_draws(told.draws, arrays, shape)
        return FittedLinear(
            space, make_link(told.link), coef, intercept, errors, intercept_errors, draws, told.sharpness,
            told.calibration, told.held_scale,
        )  # fmt: skip


def restored_draws(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> Draws:
    from textbayes.posterior.draws import Draws  # loads numba, which is slow

    drawn = {name.removeprefix("draws."): array for name, array in arrays.items() if name.startswith("draws.")}
    draws = Draws.from_state(meta, drawn)
    if (len(draws.labels), draws.n_features) != shape:
        raise ModelFileError("the model's draws are of other labels or words than its weights; was the file altered?")
    return draws


def dense_weights(matrix: sparse.csr_matrix) -> FloatArray:
    """Weights laid out word by word."""
    dense = np.zeros(matrix.shape[::-1]).T
    dense[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices] = matrix.data
    return dense


kinds.register("linear")(LinearKind())

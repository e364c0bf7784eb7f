"""Linear models: a link × a prior × an inference, one regression per label."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from textbayes.core.codec import Choice, Fields, Null, Number
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace, encode_labels, normalise_classes
from textbayes.core.machine import n_threads
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.inference import BaseInference, Posterior, Problem, make_inference
from textbayes.inference.base import label_replicates_of
from textbayes.knowledge.informative_prior import DEFAULT_STRENGTH, Strength, table_prior
from textbayes.knowledge.match import MatchedPriors
from textbayes.links import BaseLink, is_searched, make_link
from textbayes.models import model_types
from textbayes.models.base import FitOptions, watched
from textbayes.models.linear.model import LinearModel
from textbayes.models.linear.words import keep_words, ratio_scales, top_words
from textbayes.models.weights import WeightsClassifier, as_labels, check_effort, per_label
from textbayes.posterior.intervals import (
    PRACTICAL_SIZE,
    Uncertainty,
    class_interval,
    gaussian_uncertainty,
    predictive_probabilities,
    probability_interval,
)
from textbayes.priors import BasePrior, make_prior

if TYPE_CHECKING:
    pass


@model_types.register("linear")
class BayesLinearClassifier(LinearModel, WeightsClassifier):
    """Linear classifier p(y = 1 | x) = ψ(w·x + b) with a prior on every weight, one regression per label.

    Maximises Σ_i log p(y_i | w·x_i + b) + Σ_j log p(w_j). With ``prior="laplace"`` many weights are exactly at the
    prior mean (zero), which keeps the model small and explainable.

    Parameters
    ----------
    link : str or link
        ``"logit"``, ``"probit"`` or any other of ``textbayes.links``; with semicolons, one for each label.
    prior : str or prior
        ``"laplace"``: penalty \\|w\\|/scale; ``"gaussian"``: variance scale².
    scale, mean : float or array
        Hyperparameters of the prior: a number, one value per feature (n_features,), or one row per label (n_labels,
        n_features) or (n_labels, 1). ``scale=inf`` leaves a feature unpenalised.
    word_scales : None or "ratio"
        "ratio" multiplies ``scale``, word by word and label by label, by a number that grows with how unevenly the word
        is spread over the label's documents and the others (``ratio_scales``): naive Bayes as a prior.
    shared_scale : float or None
        Of a Gaussian prior: each word has a mean weight, N(``mean``, shared_scale²), common to all labels and found
        with the weights: small labels lean on large ones (``models.linear.shared_mean``).
    sign : int or array
        1 keeps a weight at zero or above, −1 at zero or below, 0 leaves it free; shapes as for ``scale``.
    inference : str or inference
        How the posterior is found, see ``textbayes.inference``. An object such as ``Em(plain=True)`` is used with its
        own settings, in place of ``tol``, ``max_iter`` and ``n_jobs``.
    fit_intercept : bool
    intercept_scale : "auto", float or array (n_labels,)
        Scale of the intercept's own prior, of the same family; inf leaves it free. "auto" leaves it free unless an
        inference that samples needs a prior: under tails as heavy as the horseshoe's, or label noise, it then is 10.
    intercept_mean : float or array (n_labels,)
        Mean of that prior.
    tol : float
        Largest optimality violation left at the end, relative to the start's.
    max_iter : int
    n_jobs : int or None
        Threads over labels; None is 1, −1 all cores. The result does not depend on it.
    warm_start : bool
        Start from the previous fit's weights where the shapes agree.
    intervals : bool
        Keep a Gaussian approximation of the posterior around its mode: standard errors, intervals of probabilities,
        and ``predictive_proba``, which averages over what is not known of the weights. ``inference="gibbs"`` has all of
        these without being asked, from its draws.
    class_weight : None, "balanced" or dict
        How much documents count by their class, where each has one; "balanced" gives all classes the same weight in
        sum, N/(number of classes · N_c). It multiplies ``sample_weight``.

    Attributes
    ----------
    classes_ : array of the labels; ``label_space_`` says whether one or many of them apply to a document
    coef_ : array (n_columns, n_features); one row for two classes, else one per label
    intercept_ : array (n_columns,)
    approximation_ : GaussianApproximation of the active words, with ``intervals``; else None
    draws_ : Draws of the posterior, with ``inference="gibbs"``; else None
    standard_errors_ : array like ``coef_``, NaN for words held at their prior mean, with ``intervals``; else None
    fit_info_ : objective, optimality violation, iterations and convergence per label
    n_iter_ : iterations, mostly Newton steps, of the label that took most

    Notes
    -----
    A round costs one reading of the matrix for 8 labels together plus, per label, sweeps over its working set.

    References
    ----------
    Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization, Technometrics.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 1.0], [1.0, 0.0], [1.0, 0.3]])
    >>> model = BayesLinearClassifier(prior="gaussian", scale=3.0).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[0.9, 0.1]]).tolist()
    ['yes']

    In a scikit-learn pipeline, with the words as columns of data frames:

    >>> from sklearn.pipeline import make_pipeline
    >>> from textbayes.text import TextVectorizer
    >>> texts = ["a warm film", "dull and slow", "warm and funny", "a slow film"] * 5
    >>> pipeline = make_pipeline(TextVectorizer(), BayesLinearClassifier()).set_output(transform="pandas")
    >>> pipeline.fit(texts, ["pos", "neg", "pos", "neg"] * 5).predict(["warm and funny", "slow"]).tolist()
    ['pos', 'neg']
    >>> pipeline[0].transform(["a warm film"]).columns.tolist()
    ['and', 'dull', 'film', 'funny', 'slow', 'warm']
    >>> pipeline[-1].feature_names_in_.tolist() == pipeline[0].get_feature_names_out().tolist()
    True
    """

    fields: ClassVar[Fields] = {"word_scales": Choice("ratio") | Null(), "shared_scale": Number(above=0.0) | Null()}
    chooses_words = refits = weighs_prior_by_label = True

    def __init__(
        self,
        link: str | BaseLink = "logit",
        prior: str | BasePrior = "laplace",
        scale: float | AnyArray = 1.0,
        mean: float | AnyArray = 0.0,
        sign: int | AnyArray = 0,
        inference: Any = "coordinate",
        fit_intercept: bool = True,
        intercept_scale: float | str | AnyArray = "auto",
        intercept_mean: float | AnyArray = 0.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        n_jobs: int | None = None,
        warm_start: bool = False,
        intervals: bool = False,
        class_weight: str | dict[Any, float] | None = None,
        word_scales: str | None = None,
        shared_scale: float | None = None,
    ) -> None:
        self.link = link
        self.prior = prior
        self.scale = scale
        self.mean = mean
        self.sign = sign
        self.inference = inference
        self.fit_intercept = fit_intercept
        self.intercept_scale = intercept_scale
        self.intercept_mean = intercept_mean
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.intervals = intervals
        self.class_weight = class_weight
        self.word_scales, self.shared_scale = word_scales, shared_scale

    @all_or_nothing
    def fit(
        self, X: Matrix | ArrayLike, y: Any, sample_weight: ArrayLike | None = None, words: ArrayLike | None = None
    ) -> Self:
        """Fit on X (n_docs, n_features), sparse or dense, and labels as a vector, lists or an indicator matrix.

        ``words`` (n_columns, n_features), boolean, restricts each label to its own words (per-category selection).

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        y : sequence of labels, of lists of labels, or array (n_docs, n_labels)
        sample_weight : array (n_docs,), optional
            How much each document counts.
        words : boolean array (n_columns, n_features), optional
            The words that each label may use.
        """
        self._check_settings()
        indicator, space = encode_labels(as_labels(y))
        X, weight = self._documents(X, indicator, space, sample_weight)
        if weight is not None and space.kind == "binary" and not 0.0 < weight @ indicator[:, 0] < weight.sum():
            raise InputError("only one class has documents of positive weight; a classifier needs at least two")
        problem = self._problem(X, indicator, weight, words)
        method = self._method()
        method.check(problem.link, problem.prior)
        problem, start = self._begin(problem)
        posterior = method.run(problem, start)
        self._keep(posterior, space)
        self.link_, self.held_scale_ = problem.link, self._typical_scale()
        self.approximation_ = self.standard_errors_ = self.intercept_errors_ = self.mean_shifts_ = None
        if self.intervals and self.draws_ is None:
            from textbayes.inference.laplace_approximation import laplace_approximation  # loads numba, which is slow

            self.approximation_ = laplace_approximation(problem, posterior, shifts=True)
            self.standard_errors_, self.intercept_errors_ = self.approximation_.standard_errors()
            self.mean_shifts_ = self.approximation_.mean_shifts()[0]
        if posterior.var is not None:
            self.standard_errors_ = np.sqrt(posterior.var)
        if self.draws_ is not None:
            self.intercept_errors_ = np.array([one.intercept.std() for one in self.draws_.labels])
        self._warn_if_unfinished()
        return self

    @classmethod
    def from_name(cls, **parameters: Any) -> Self:
        """A classifier with a scale for texts of length one unless another is given."""
        suited = {"scale": 5.5 if parameters.get("prior") == "gaussian" else 10.0, "tol": 1e-3}
        return super().from_name(**(suited | parameters))

    @classmethod
    def of_weights(
        cls, space: LabelSpace, link: str | BaseLink, coef: FloatArray, intercept: FloatArray, **fitted: Any
    ) -> Self:
        """Classifier that has these weights, as if it had been fitted.

        Parameters
        ----------
        space : LabelSpace
        link : str or link
        coef, intercept : arrays (n_columns, n_features), (n_columns,)
        **fitted
            Further attributes of a fit, such as ``standard_errors_``.
        """
        made = cls(link=link)
        made.link_, made.label_space_, made.classes_ = make_link(link), space, space.classes
        made.coef_, made.intercept_, made.n_features_in_ = coef, intercept, coef.shape[1]
        made.draws_ = None
        for name, value in fitted.items():
            setattr(made, name, value)
        return made

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy with one binary regression per column, whatever the kind of labels; see ``TextModel``."""
        options = options or FitOptions()
        X, labels, weight = features.weights, sparse.csr_matrix(indicator), options.weight
        one = self.unfitted(intervals=options.intervals or self.intervals)
        with watched(one, options):
            one.fit(X, labels, sample_weight=weight, words=options.words)
        if options.refit_k is not None:
            chosen = top_words(one, options.refit_k, options.refit_by, PRACTICAL_SIZE)
            if not options.refit:
                return keep_words(one, chosen).with_labels(space)
            with watched(one, options, "refit"):
                one.fit(X, labels, sample_weight=weight, words=chosen)
        return one.with_labels(space)

    def with_prior(
        self,
        matched: MatchedPriors,
        features: Features | Matrix,
        weight: ArrayLike = 1.0,
        strength: Strength = DEFAULT_STRENGTH,
    ) -> Self:
        """Copy, not fitted, with the prior that a table gives; at weight 0 a plain copy.

        Where its inference cannot work with the prior that results (a sign, or another family among the words), the
        copy has ``coordinate``, which can.

        Parameters
        ----------
        matched : MatchedPriors
        features : Features, or array or sparse matrix (n_docs, n_features)
            The training documents.
        weight : float or array (n_columns,)
            How far to follow the table, from 0 to 1.
        strength : Strength
            The size of "for" and "against".
        """
        n_replicates = label_replicates_of(self.inference)
        if n_replicates > 1:
            raise NotSupportedError(
                f"a prior file with label_replicates={n_replicates} is not supported: what is known of labels is not "
                "known of each replicate; leave out the file, or use label_replicates=1"
            )
        X = features.weights if isinstance(features, Features) else features
        default, link = make_prior(self.prior, self.scale, self.mean, self.sign), make_link(self.link)
        prior = table_prior(matched, default, X, weight, link=link, strength=strength)
        if prior is default:
            return self.unfitted()
        after = self.unfitted(prior=prior, scale=1.0, mean=0.0, sign=0)
        if self.word_scales is not None:
            after.prior_knowledge = np.zeros((matched.n_labels, matched.n_features), dtype=np.bool_)
            after.prior_knowledge[matched.label, matched.column] = True
        try:
            make_inference(after.inference, after.tol, after.max_iter, 1).check(link, prior)
        except NotSupportedError:
            after.set_params(inference="coordinate")
        return after

    def at_mode(self) -> Self:
        """Copy, not fitted, that does not sample: for searches of many fits."""
        return self.unfitted(inference="coordinate") if self.samples else self.unfitted()

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after more documents, with the present one as the prior: N(weight, error²), word by word."""
        found = BayesLinearClassifier(self.link_, **self._posterior_as_prior())
        found.fit(features.weights, sparse.csr_matrix(indicator), sample_weight=weight)
        after = copy.copy(self)
        for name in ("coef_", "intercept_", "standard_errors_", "intercept_errors_", "mean_shifts_"):
            setattr(after, name, getattr(found, name))
        after.draws_ = after.approximation_ = None
        return after

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> Self:
        """The classifier of a file; parameters as for ``TextModel``."""
        made = cls()
        made._restore(meta, arrays, space, space.n_columns, n_features)
        return made.set_params(link=made.link_)

    def check_options(self, select: str | None, refit_k: int | None, refit_by: str) -> None:
        """Refuse options that this classifier cannot follow."""
        if self._searches_link() and self.samples:
            raise NotSupportedError(
                f"inference {self.inference!r} has one link for all labels, and link 'auto' finds one for each; name a "
                "link, or use inference 'coordinate'"
            )
        if refit_by != "mean" and not self.samples:
            raise InputError(
                f"refit_by={refit_by!r} ranks words by their draws; use classifiers with inference='gibbs'"
            )

    def check_shapes(self, n_columns: int, n_features: int) -> None:
        """Refuse parameters that cannot be fitted to so many columns and features."""
        self._check_settings()
        prior = self._check_prior_shape(n_columns, n_features)
        link = make_link("logit" if self._searches_link() else self.link)
        link.check_labels(n_columns)
        self._intercept_prior(link, prior, n_columns)
        self._method().check(link, prior)

    def description(self) -> str:
        """The name of the prior."""
        return self.prior if isinstance(self.prior, str) else str(self.prior.name)

    def settings_description(self) -> str:
        """Link, prior and scale, and plain EM, which ends before the mode.

        >>> BayesLinearClassifier(prior="laplace", scale=10.0).settings_description()
        'logit link, laplace prior of scale 10'
        """
        link = "link found for each label" if self._searches_link() else f"{make_link(self.link).name} link"
        end = ", plain EM" if getattr(self._method(), "plain", False) else ""
        if not isinstance(self.prior, str):
            return f"{link}, {self.description()} prior{end}"
        return f"{link}, {self.prior} prior{self._scale_description()}{end}"

    def _scale_description(self) -> str:
        scale = np.asarray(self.scale, dtype=np.float64)
        told = f" of scale {float(scale):g}" if scale.ndim == 0 else " of scales of its own for each word or label"
        return told if self.shared_scale is None else f"{told} around means of scale {self.shared_scale:g}"

    def _searches_link(self) -> bool:
        """Whether the link of every label is looked for."""
        return is_searched(self.link)

    def decision_function(self, X: Matrix | ArrayLike) -> FloatArray:
        """Log-odds of every label; for two classes a vector of the second's."""
        eta = self.linear_predictor(X)
        log_odds = self._link().log_odds(eta)
        return log_odds[:, 0] if self.label_space_.kind == "binary" else log_odds

    def predict_proba(self, X: Matrix | ArrayLike, posterior_predictive: bool = True) -> FloatArray:
        """Probabilities, one column per class; rows add up to one unless the labels are multi-label.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        posterior_predictive : bool
            Over the draws, where there are any; False gives those of the posterior mean. Of a mode, which has no draws,
            both are the same, and ``predictive_proba`` averages over its Gaussian approximation.
        """
        check_is_fitted(self)
        if posterior_predictive and self.draws_ is not None:
            return self.predictive_proba(X)
        eta, link = self.linear_predictor(X), self._link()
        if self.label_space_.kind == "multiclass":
            return normalise_classes(link.log_prob(eta, np.ones_like(eta)))
        return self.label_space_.both_columns(link.probability(eta))

    def predictive_proba(self, X: Matrix | ArrayLike) -> FloatArray:
        """Probabilities averaged over the posterior, like ``predict_proba`` otherwise; needs ``intervals``.

        They are nearer to ½ for documents of which little is known.
        """
        link = self._link()
        if self.draws_ is None:
            eta, var = self._spread(X)
            return self.label_space_.both_columns(predictive_probabilities(eta, var, link, self.label_space_))
        proba = self.draws_.probability(self._checked(X), link)
        if self.label_space_.kind == "multiclass":
            proba = normalise_classes(np.log(np.maximum(proba, 1e-300)))
        return self.label_space_.both_columns(proba)

    def predict_interval(self, X: Matrix | ArrayLike, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each label's probability; needs ``intervals``.

        Where classes exclude each other, it is that of their normalised probabilities.

        It takes the prior at its word: where a document has many words that hardly occurred, it is as wide as the prior
        makes it. One column per label, for two classes that of the second.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        level : float
            The probability that the interval holds.

        Returns
        -------
        tuple of arrays (n_docs, n_columns)
            The lower and the upper ends.
        """
        link, exclusive = self._link(), self.label_space_.kind == "multiclass"
        if self.draws_ is not None:
            if exclusive:
                return self.draws_.class_probability_interval(self._checked(X), link, level, drawn_apart=True)
            return self.draws_.probability_interval(self._checked(X), link, level)
        eta, var = self._spread(X)
        assert self.approximation_ is not None
        words, intercepts = self.approximation_.mean_shifts()
        eta = eta + self._checked(X) @ words.T + intercepts
        if exclusive:
            return class_interval(eta, var, lambda drawn: link.log_prob(drawn, np.ones_like(drawn)), level)
        return probability_interval(eta, var, link, level)

    def predict_uncertainty(self, X: Matrix | ArrayLike) -> Uncertainty:
        """Epistemic and aleatoric parts of the uncertainty of each label's yes or no; needs ``intervals``, or draws."""
        if self.draws_ is not None:
            return self.draws_.uncertainty(self._checked(X), self._link())
        (eta, var), link = self._spread(X), self._link()
        return gaussian_uncertainty(eta, var, link.probability, link.predictive(eta, var))

    def _spread(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the linear predictors."""
        eta = self.linear_predictor(X)
        if self.approximation_ is None:
            raise InputError("this model was fitted without intervals; fit it with intervals=True")
        return eta, self.approximation_.variance(X)

    def predict(self, X: Matrix | ArrayLike) -> AnyArray:
        """The likelier class; for multi-label an indicator of the labels likelier than not."""
        log_odds = self.decision_function(X)
        return self.label_space_.likeliest(log_odds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _problem(self, X: Any, indicator: AnyArray, weight: FloatArray | None, words: Any) -> Problem:
        prior, link = make_prior(self.prior, self.scale, self.mean, self.sign), self._link()
        link.check_labels(indicator.shape[1])
        y = np.where(indicator, 1.0, -1.0)
        if self.word_scales is not None:
            prior = copy.copy(prior)  # it may be the user's
            scales = ratio_scales(X, indicator, weight)
            if self.prior_knowledge is not None:
                scales[self.prior_knowledge] = 1.0  # a table gives their scales
            scales *= prior.scale
            vars(prior)["scale"] = scales
        if words is not None:
            words = np.asarray(words, dtype=np.bool_)
            if words.shape != (y.shape[1], X.shape[1]):
                raise InputError(f"words has shape {words.shape}; pass one row per label: {(y.shape[1], X.shape[1])}")
        return Problem(X, y, link, prior, self._intercept_prior(link, prior, y.shape[1]), weight, words)

    def _link(self) -> BaseLink:
        """The link of the labels."""
        return make_link(self.link)

    def _method(self) -> BaseInference:
        return make_inference(self.inference, self.tol, self.max_iter, n_threads(self.n_jobs))

    def _intercept_prior(self, link: BaseLink, prior: BasePrior, n_labels: int) -> BasePrior | None:
        """The prior of the intercepts, where there are any; that of the words is ``prior``."""
        if not self.fit_intercept:
            return None
        scale = self.intercept_scale
        if isinstance(scale, str) and scale == "auto":
            scale = self._method().intercept_scale(link, prior)
        mean = per_label(self.intercept_mean, "intercept_mean", n_labels)
        return prior.rescaled(per_label(scale, "intercept_scale", n_labels), mean)

    def _begin(self, problem: Problem) -> tuple[Problem, Posterior | None]:
        """The problem to solve, and where to start."""
        if self.shared_scale is not None:
            from textbayes.models.linear.shared_mean import with_shared_mean

            return with_shared_mean(problem, self.shared_scale, self.tol, self.max_iter)
        return problem, self._previous(problem.y.shape[1], problem.X.shape[1]) if self.warm_start else None

    def _check_settings(self) -> None:
        check_effort(self.tol, self.max_iter)
        check_choice("word_scales", self.word_scales, (None, "ratio"))
        if self.shared_scale is not None and self.samples:
            raise NotSupportedError("shared_scale finds a mode, and this inference samples; leave out one of them")

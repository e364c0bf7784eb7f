"""The softmax estimator: classes that exclude each other, with a prior on every weight."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from textbayes.core.codec import Choice, Fields
from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.machine import n_threads
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.inference.base import BaseInference, Problem
from textbayes.knowledge.informative_prior import table_prior
from textbayes.knowledge.match import MatchedPriors
from textbayes.links import make_link
from textbayes.models import model_types
from textbayes.models.base import FitOptions, class_codes, watched
from textbayes.models.weights import WeightsClassifier, as_labels, check_effort, per_label
from textbayes.posterior.intervals import Uncertainty
from textbayes.priors import BasePrior, make_prior

_UNSEEN = 10.0  # logarithm of how much rarer than the rarest a class is taken to be that no document has
INFERENCES = ("coordinate", "newton", "gibbs")
LINKS = ("logit", "probit")


@model_types.register("multinomial")
class BayesMultinomialClassifier(WeightsClassifier):
    """Softmax regression p(c | x) = exp(w_c·x + b_c)/Σ_k exp(w_k·x + b_k), or a multinomial probit, with priors.

    Maximises Σ_i log p(y_i | x_i) + Σ_cj log p(w_cj) over one weight vector per class, all classes together: for
    classes that exclude each other. Where several labels may apply to a document use ``BayesLinearClassifier``.

    Parameters
    ----------
    prior : str or prior
        ``"laplace"``: penalty \\|w\\|/scale; ``"gaussian"``: variance scale²; or any other of ``textbayes.priors``.
    scale, mean : float or array
        Hyperparameters of the prior: a number, one value per feature (n_features,), or one row per class (n_classes,
        n_features) or (n_classes, 1). ``scale=inf`` leaves a feature unpenalised.
    sign : int or array
        1 keeps a weight at zero or above, −1 at zero or below, 0 leaves it free; shapes as for ``scale``.
    inference : {"coordinate", "newton", "gibbs"} or Gibbs
        How the posterior is found: its mode by coordinate descent (any prior) or by Newton's method (priors without a
        kink, such as ``"gaussian"``, for which it is faster), or draws of it (see ``textbayes.inference.gibbs.Gibbs``
        for an object with settings of its own).
    fit_intercept : bool
    intercept_scale, intercept_mean : float or array (n_classes,)
        Hyperparameters of the intercepts' own prior, of the same family; the default scale leaves them free.
    tol : float
        Largest optimality violation left at the end, relative to the start's.
    max_iter : int
        Rounds: readings of the whole matrix for a gradient.
    n_jobs : int or None
        Threads over the chains of ``"gibbs"``; None is 1, −1 all cores.
    warm_start : bool
        Start from the previous fit's weights where the shapes agree.
    intervals : bool
        Keep standard errors of the weights, from a Gaussian approximation around the mode.
    link : {"logit", "probit"}
        ``"logit"`` is the softmax. ``"probit"`` is the multinomial probit: a document is of the class whose w_c·x + b_c
        plus standard normal noise is highest; it is sampled (``inference="gibbs"``).
    class_weight : None, "balanced" or dict
        How much documents count by their class; "balanced" gives all classes the same weight in sum, N/(number of
        classes · N_c). It multiplies ``sample_weight``.

    Attributes
    ----------
    classes_ : array of the classes, of which ``label_space_`` says the kind
    coef_ : array (n_classes, n_features), for two classes too
    intercept_ : array (n_classes,), with sum 0 where free
    standard_errors_ : array like ``coef_``, NaN for words held at their prior mean, with ``intervals`` or draws; else
        None
    intercept_errors_ : array (n_classes,) of the intercepts' errors, 0 where they are held; likewise, else None
    draws_ : Draws of the posterior, with ``inference="gibbs"``; else None
    fit_info_ : objective, optimality violation, iterations and convergence: one value each, for all classes together
    n_iter_ : Newton steps, of ``"coordinate"`` passes over the classes

    Notes
    -----
    Adding the same number to a word's weights in all classes changes no probability, so it is the prior that makes the
    weights what they are: under a Gaussian prior of one scale they add up to 0 over the classes, under a Laplace prior
    their median is 0 (the middle of the interval of medians, if it is one).

    For two classes the log-odds have the weights w₁ − w₀, and the model is a logistic regression of these: under a
    Gaussian prior that of ``BayesLinearClassifier(prior="gaussian", scale=sqrt(2)*scale)``, the difference of two
    independent weights having twice the variance; under a Laplace prior its mode is that of
    ``BayesLinearClassifier(prior="laplace", scale=scale)``, since |w₁| + |w₀| is least, |w₁ − w₀|, for any two of
    opposite signs. Either way each class has half of the log-odds' weights, w₁ = −w₀.

    References
    ----------
    Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization, Technometrics, and
    their program BMR; Friedman, Hastie & Tibshirani (2010), Regularization paths for generalized linear models via
    coordinate descent, Journal of Statistical Software 33.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [0.2, 1.0], [0.1, 0.1], [0.0, 0.2]])
    >>> model = BayesMultinomialClassifier(prior="gaussian", scale=3.0).fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> model.predict([[0.9, 0.1]]).tolist()
    ['a']
    """

    model_type = "multinomial"
    softmax = True
    fields: ClassVar[Fields] = {"link": Choice(*LINKS)}

    def __init__(
        self,
        prior: str | BasePrior = "laplace",
        scale: float | AnyArray = 1.0,
        mean: float | AnyArray = 0.0,
        sign: int | AnyArray = 0,
        inference: str | BaseInference = "coordinate",
        fit_intercept: bool = True,
        intercept_scale: float | AnyArray = np.inf,
        intercept_mean: float | AnyArray = 0.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        n_jobs: int | None = None,
        warm_start: bool = False,
        intervals: bool = False,
        class_weight: str | dict[Any, float] | None = None,
        link: str = "logit",
    ) -> None:
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
        self.link = link

    @all_or_nothing
    def fit(self, X: Matrix | ArrayLike, y: Any, sample_weight: FloatArray | None = None) -> BayesMultinomialClassifier:
        """Fit on X (n_docs, n_features), sparse or dense, and one class per document.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        y : array (n_docs,)
        sample_weight : array (n_docs,), optional
            How much each document counts.
        """
        return self._fit(X, *_encode(y), sample_weight)

    @all_or_nothing
    def fit_classes(
        self, X: Any, codes: IntArray, space: LabelSpace, sample_weight: FloatArray | None = None
    ) -> BayesMultinomialClassifier:
        """As :meth:`fit`, with classes that there may be no document of.

        Where intercepts have a prior, that says how rare such a class is; else it is rarer than any other, by e⁻¹⁰.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        codes : array (n_docs,)
            The number of each document's class.
        space : LabelSpace
        sample_weight : array (n_docs,), optional
        """
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight)
        n_classes, present = len(space.classes), np.unique(codes[weight > 0.0])
        one_hot = codes[:, None] == np.arange(n_classes)
        if len(present) == n_classes or self._intercepts_have_priors():
            return self._fit(X, one_hot, space, sample_weight, all_present=False)
        if len(present) < 2:
            raise InputError("only one class has documents of positive weight; a classifier needs at least two")
        rows = np.isin(codes, present)
        few = clone(self).set_params(**_of_classes(self.get_params(deep=False), present, n_classes))
        left = LabelSpace(space.classes[present], "binary" if len(present) == 2 else "multiclass")
        few._fit(X[rows], one_hot[rows][:, present], left, weight[rows])
        self.label_space_, self.classes_, self.n_features_in_ = space, space.classes, few.n_features_in_
        self.coef_ = np.zeros((few.n_features_in_, n_classes)).T
        self.coef_[present] = few.coef_
        self.intercept_ = np.full(n_classes, few.intercept_.min() - _UNSEEN)
        self.intercept_[present] = few.intercept_
        self.fit_info_, self.n_iter_, self.draws_ = few.fit_info_, few.n_iter_, None
        self.link_, self.held_scale_ = few.link_, self._typical_scale()
        self.standard_errors_ = self.intercept_errors_ = None
        return self

    def _intercepts_have_priors(self) -> bool:
        """Whether a class without documents is as rare as its prior says, and not infinitely so."""
        return not self.fit_intercept or bool(np.isfinite(np.asarray(self.intercept_scale, dtype=np.float64)).all())

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, before any document is read."""
        check_effort(self.tol, self.max_iter)
        self._make_inference(1)

    def _make_inference(self, n_jobs: int) -> BaseInference:
        check_choice("link", self.link, LINKS)
        method = make_softmax_inference(self.inference, self.tol, self.max_iter, n_jobs)
        if self.link != "logit" and not method.samples:
            raise NotSupportedError(
                f"link {self.link!r} of a multinomial model is sampled, and inference={self.inference!r} is given; use "
                "inference='gibbs', or the link 'logit'"
            )
        return method

    def _fit(
        self, X: Matrix | ArrayLike, one_hot: BoolArray, space: LabelSpace, sample_weight: FloatArray | None,
        all_present: bool = True,
    ) -> BayesMultinomialClassifier:  # fmt: skip
        check_effort(self.tol, self.max_iter)
        method = self._make_inference(n_threads(self.n_jobs))
        indicator = one_hot[:, 1:] if space.kind == "binary" else one_hot
        X, weight = self._documents(X, indicator, space, sample_weight)
        problem = self._problem(X, one_hot, weight)
        if weight is not None and all_present:
            self._check_weights(problem, space)
        method.check(problem.link, problem.prior)
        posterior = method.run(problem, self._previous(one_hot.shape[1], X.shape[1]) if self.warm_start else None)
        self._keep(posterior, space)
        self.link_, self.held_scale_ = problem.link, self._typical_scale()
        self.standard_errors_ = self.intercept_errors_ = None
        if self.draws_ is not None:
            self.standard_errors_ = np.sqrt(self.draws_.variance())
            self.intercept_errors_ = np.array([one.intercept.std() for one in self.draws_.labels])
        elif self.intervals:
            from textbayes.models.multinomial.mode import standard_errors  # loads numba, which is slow

            self.standard_errors_, self.intercept_errors_ = standard_errors(problem, posterior)
        self._warn_if_unfinished()
        return self

    @classmethod
    def from_name(cls, **parameters: Any) -> Self:
        """A classifier with a scale for texts of length one unless another is given."""
        prior = parameters.get("prior", "gaussian")
        # The best of the grid of bench_multinomial_quality.py --choose for 20 Newsgroups; corpora with hardly a text in
        # doubt would have 64, its end.
        suited = {"prior": prior, "tol": 1e-3, "scale": 32.0}
        suited["inference"] = "newton" if prior == "gaussian" else "coordinate"
        if parameters.get("link", "logit") != "logit":  # it is sampled; noise of a class: normal 1, Gumbel 1.28
            suited |= {"inference": "gibbs", "scale": 20.0}
        return super().from_name(**(suited | parameters))

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy of a model of exclusive classes; parameters as for ``TextModel``."""
        if space.kind == "multilabel":
            raise NotSupportedError(
                "a multinomial model is of classes that exclude each other, and these texts may have several labels; "
                "use --model linear"
            )
        options = options or FitOptions()
        one = self.unfitted(intervals=options.intervals or self.intervals)
        with watched(one, options):
            one.fit_classes(features.weights, class_codes(indicator, space), space, sample_weight=options.weight)
        return one

    def with_prior(self, matched: MatchedPriors, features: Features, weight: FloatArray) -> Self:
        """Copy, not fitted, with the prior that a table gives; parameters as for ``TextModel``."""
        default = make_prior(self.prior, self.scale, self.mean, self.sign)
        prior = table_prior(matched, default, features.weights, weight)
        if prior is default:
            return self.unfitted()
        if matched.n_labels == 1:  # of two classes the table is about the second, and the first stays as it is
            fields = {name: np.vstack([np.broadcast_to(getattr(default, name, value[:1]), value.shape), value])
                      for name, value in vars(prior).items()}  # fmt: skip
            prior = type(prior)(**fields)
        inference = self.inference if isinstance(prior, type(default)) else "coordinate"
        return self.unfitted(prior=prior, scale=1.0, mean=0.0, sign=0, inference=inference)

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Logarithms of the classes' probabilities up to a constant; of two classes log-odds of the second."""
        if self.draws_ is not None and posterior_predictive:
            proba = self.draws_.class_probability(features.weights, self.link_)
            return self._columns(np.log(np.maximum(proba, 1e-300)))
        eta = np.asarray(features.weights @ self.coef_.T) + self.intercept_
        if self.link_.name != "logit":  # of which predictors are logarithms of probabilities already
            eta = np.log(np.maximum(self.link_.class_probability(eta), 1e-300))
        return self._columns(eta)

    def _columns(self, by_class: FloatArray) -> FloatArray:
        """Of two classes how much the second has more than the first."""
        return by_class if self.is_softmax else by_class[..., 1:] - by_class[..., :1]

    def contributions(self, document: Features) -> Contributions:
        """The parts that words have in the scores of one document."""
        columns = document.weights.indices.astype(np.int64)
        parts = document.weights.data * self._columns(self.coef_[:, columns].T).T
        total = self.scores(document)[0]
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def word_weights(self) -> WordWeights:
        """Weights of single words."""
        description = "weight" if self.draws_ is None else "posterior mean of the weight"
        if self.is_softmax:
            return WordWeights(self.coef_, self.standard_errors_, description)
        errors = None if self.standard_errors_ is None else np.sqrt((self.standard_errors_**2).sum(axis=0))[None]
        return WordWeights(self.coef_[1:] - self.coef_[:1], errors, description)

    def known_words(self) -> BoolArray:
        """Mask of the features that have a weight in some class, (n_features,)."""
        return np.asarray((self.coef_ != 0.0).any(axis=0))

    def probability_interval(
        self, features: Features, level: float, inverse_temperature: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each class's probability, of a model that was sampled."""
        if self.draws_ is None:
            return super().probability_interval(features, level, inverse_temperature)
        low, high = self.draws_.class_probability_interval(features.weights, self.link_, level, inverse_temperature)
        columns = slice(None) if self.is_softmax else slice(1, None)
        return low[:, columns], high[:, columns]

    def uncertainty(self, features: Features) -> Uncertainty:
        """The parts of the uncertainty of each class's yes or no, of a model that was sampled."""
        if self.draws_ is None:
            return super().uncertainty(features)
        found = self.draws_.class_uncertainty(features.weights, self.link_)
        columns = slice(None) if self.is_softmax else slice(1, None)
        return Uncertainty(found.total[:, columns], found.aleatoric[:, columns])

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The posterior after more documents, with the present one as the prior: N(weight, error²), word by word."""
        sampled: dict[str, Any] = {} if self.link_.name == "logit" else {"link": self.link_.name, "inference": "gibbs"}
        found, space = BayesMultinomialClassifier(**(self._posterior_as_prior() | sampled)), self.label_space_
        found.fit_classes(features.weights, class_codes(indicator, space), space, sample_weight=weight)
        after = copy.copy(self)
        for name in ("coef_", "intercept_", "draws_", "standard_errors_", "intercept_errors_"):
            setattr(after, name, getattr(found, name))
        return after

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> Self:
        """The classifier of a file; parameters as for ``TextModel``."""
        if space.kind == "multilabel":
            raise ModelFileError("the model is of exclusive classes, but its labels are not; was the file altered?")
        made = cls()
        made._restore(meta, arrays, space, len(space.classes), n_features)
        if made.link_.name not in LINKS:
            raise ModelFileError("the model's link is not one of a softmax; was the file altered?")
        return made.set_params(link=made.link_.name)

    def description(self) -> str:
        """The name of the prior, and of the link unless it is the logit."""
        link = "" if self.link == "logit" else f"{self.link}, "
        return f"multinomial, {link}{self.prior if isinstance(self.prior, str) else self.prior.name}"

    def check_shapes(self, n_columns: int, n_features: int) -> None:
        """Refuse parameters that cannot be fitted to so many columns and features."""
        self._check_prior_shape(max(n_columns, 2), n_features)
        self.check_settings()

    def decision_function(self, X: Matrix | ArrayLike) -> FloatArray:
        """The linear predictors (n_docs, n_classes); for two classes a vector, of the second less that of the first."""
        eta = self.linear_predictor(X)
        return eta[:, 1] - eta[:, 0] if self.label_space_.kind == "binary" else eta

    def predict_proba(self, X: Matrix | ArrayLike, posterior_predictive: bool = True) -> FloatArray:
        """Probabilities, one column per class; rows add up to one.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        posterior_predictive : bool
            Over the draws, where there are any; False gives those of the posterior mean. Of a mode, which has no draws,
            both are the same.
        """
        eta = self.linear_predictor(X)
        if posterior_predictive and self.draws_ is not None:
            return self.draws_.class_probability(self._checked(X), make_link(self.link))
        return make_link(self.link).class_probability(eta)

    def predict(self, X: Matrix | ArrayLike) -> AnyArray:
        """The class of the largest probability, averaged where there are draws."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]

    def _problem(self, X: Matrix | ArrayLike, one_hot: BoolArray, weight: FloatArray | None) -> Problem:
        n_classes, prior = one_hot.shape[1], make_prior(self.prior, self.scale, self.mean, self.sign)
        for name, value in vars(prior).items():
            if np.ndim(value) == 2 and len(value) != n_classes:
                raise InputError(
                    f"prior {name} has {len(value)} rows, but there are {n_classes} classes; pass one row per class"
                )
        intercept_prior = None
        if self.fit_intercept:
            intercept_prior = prior.rescaled(
                per_label(self.intercept_scale, "intercept_scale", n_classes),
                per_label(self.intercept_mean, "intercept_mean", n_classes),
            )
        return Problem(X, np.where(one_hot, 1.0, -1.0), make_link(self.link), prior, intercept_prior, weight)

    def _check_weights(self, problem: Problem, space: LabelSpace) -> None:
        """Refuse weights that leave a class without documents, whose free intercept would have to be −∞."""
        assert problem.sample_weight is not None
        sums = problem.sample_weight @ (problem.y > 0.0)
        if np.count_nonzero(sums) < 2:
            raise InputError("only one class has documents of positive weight; a classifier needs at least two")
        free = problem.intercept_prior is not None and bool(np.isinf(problem.intercept_prior.scale).any())
        if free and not sums.all():
            name = space.class_names[int(sums.argmin())]
            raise InputError(
                f"class {name!r} has no document of positive weight, and nothing else says how rare it is; leave it "
                "out, or give the intercepts a prior, such as intercept_scale=10"
            )


def _of_classes(parameters: dict[str, Any], present: IntArray, n_classes: int) -> dict[str, Any]:
    """Hyperparameters of some of the classes, where each has its own."""
    names = ("scale", "mean", "sign", "intercept_scale", "intercept_mean")
    changed: dict[str, Any] = {}
    for name in names:
        value = np.asarray(parameters[name])
        if value.ndim == (1 if name.startswith("intercept") else 2) and len(value) == n_classes:
            changed[name] = value[present]
    prior = parameters["prior"]
    if not isinstance(prior, str):
        fields = vars(prior).items()
        own = {name: value[present] if value.ndim == 2 and len(value) == n_classes else value for name, value in fields}
        changed["prior"] = type(prior)(**own)
    return changed


def make_softmax_inference(inference: str | BaseInference, tol: float, max_iter: int, n_jobs: int) -> BaseInference:
    """The softmax form of the inference of that name, or of a ``Gibbs`` object with its settings.

    Parameters
    ----------
    inference : str or BaseInference
    tol : float
        Relative violation of the optimality conditions to stop at.
    max_iter : int
    n_jobs : int
        Threads.
    """
    # Imported where used: they load numba, which is slow.
    if inference == "coordinate":
        from textbayes.models.multinomial.mode import SoftmaxCoordinate

        return SoftmaxCoordinate(tol, max_iter, n_jobs)
    if inference == "newton":
        from textbayes.models.multinomial.mode import SoftmaxNewton

        return SoftmaxNewton(tol, max_iter, n_jobs)
    if inference == "gibbs" or getattr(inference, "samples", False):
        from textbayes.inference.gibbs import Gibbs
        from textbayes.models.multinomial.gibbs import SoftmaxGibbs

        return SoftmaxGibbs(inference if isinstance(inference, Gibbs) else Gibbs(n_jobs=n_jobs))
    raise InputError(
        f"inference={inference!r} is not usable; pass one of {', '.join(INFERENCES)}, or an object such as "
        "Gibbs(chains=2)"
    )


def _encode(y: Any) -> tuple[BoolArray, LabelSpace]:
    """One column for every class, of two classes too; multi-label input is refused."""
    indicator, space = encode_labels(as_labels(y))
    if space.kind == "multilabel":
        raise NotSupportedError(
            "labels that may apply together are given, but a softmax is of classes that exclude each other; pass one "
            "class per document, or use BayesLinearClassifier, which takes many labels"
        )
    return (np.hstack([~indicator, indicator]) if space.kind == "binary" else indicator), space

"""The online posteriors as a scikit-learn estimator: labels of all kinds, ``partial_fit``, and what to ask next."""

from __future__ import annotations

import numbers
from functools import lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from textbayes.core.array_fields import Hyper
from textbayes.core.codec import Fields, Null
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace, encode_labels, normalise_classes
from textbayes.core.machine import n_threads
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import as_numbers, check_choice, check_same_length, check_whole, refuse_texts, writable
from textbayes.models import model_types
from textbayes.models.online.base import Bank, LinearPredictor, check_forgetting_factor
from textbayes.models.online.batch import Start, check_memory, fitted_start
from textbayes.models.online.diagonal import DiagonalPosterior
from textbayes.models.online.full import FullPosterior
from textbayes.models.online.information import Method, expected_information_gain, region_information_gain
from textbayes.models.online.likelihood import OnlineLikelihood
from textbayes.models.online.low_rank import LowRankPosterior
from textbayes.models.online.text_model import COVARIANCES, OnlineModel
from textbayes.models.saved_weights import LinkField
from textbayes.models.weights import as_labels


def is_checked(estimator: Any, X: Any) -> bool:
    """Whether X needs no conversion: a CSR matrix of floats with the columns that a fitted estimator knows.

    The posteriors see to the order of its columns and to infinities. Where columns have names, scikit-learn compares
    them.
    """
    return (
        isinstance(X, (sparse.csr_matrix, sparse.csr_array))
        and X.dtype == np.float64
        and X.shape[1:] == (estimator.n_features_in_,)
        and X.shape[0] > 0
        and not hasattr(estimator, "feature_names_in_")
    )


def single_outcomes(y: Any, space: LabelSpace) -> FloatArray | None:
    """Outcomes −1 and +1 of one label of exclusive classes, (1, n_columns); None where it takes a longer look."""
    if space.kind == "multilabel" or not isinstance(y, (list, np.ndarray)) or len(y) != 1:
        return None
    label = y[0].item() if isinstance(y[0], np.generic) else y[0]
    names = space.classes.tolist()
    if not isinstance(label, (str, int)) or label not in names:
        return None
    position = names.index(label)
    if space.kind == "binary":
        return np.array([[1.0 if position else -1.0]])
    outcomes = np.full((1, len(names)), -1.0)
    outcomes[0, position] = 1.0
    return outcomes


def encode_first(labels: Any, classes: Any) -> tuple[BoolArray, LabelSpace]:
    """Labels of the first call of ``partial_fit``; a matrix tells its classes by its columns."""
    if classes is None:
        if sparse.issparse(labels) or np.ndim(labels) == 2:
            return encode_labels(labels)
        raise InputError("classes must be passed on the first call to partial_fit: all labels that there will be")
    names = list(dict.fromkeys(np.asarray(classes).tolist()))
    indicator, space = encode_labels(labels, names)
    return (indicator, space) if space.kind == "multilabel" else encode_labels(labels, sorted(names))


def encode_known(labels: Any, known: LabelSpace) -> tuple[BoolArray, LabelSpace]:
    """Labels of a model whose classes are settled; others are refused, and so is another kind of labels."""
    indicator, space = encode_labels(labels, known.classes.tolist())
    if space.kind != known.kind:
        given = "lists or a matrix of labels" if space.kind == "multilabel" else "one label per document"
        raise InputError(f"y holds {given}, but the model learns {known.kind} labels; pass labels as at first")
    return indicator, known


@lru_cache(maxsize=16)
def named_likelihood(link: str, noise: float) -> OnlineLikelihood:
    """The likelihood of a link given by name; the same object each time, since it never changes."""
    return OnlineLikelihood(link, noise)


@model_types.register("online")
class BayesOnlineClassifier(OnlineModel, ClassifierMixin, BaseEstimator):
    """Linear classifier p(y = 1 | x) = ψ(w·x + b) that learns document by document, one Gaussian posterior per label.

    Each document moves the posterior N(m, C) to the mean and covariance of p(y | x, w) N(w; m, C) (assumed-density
    filtering): with s = C x and Z = ∫ p(y | u) N(u; x'm, x's) du,

        m ← m + s ∂ ln Z,   C ← C + s s' ∂² ln Z,   derivatives in x'm.

    Probabilities are averaged over the posterior, so they are near ½ for documents of which little is known.

    Parameters
    ----------
    link : str, link or OnlineLikelihood
        ``"probit"`` and ``"flip:rate=0.1,base=probit"`` run compiled; any other of ``textbayes.links`` by quadrature.
    noise : float
        The scale on which the link sees x'w (the paper's σ0); 0, with a probit, is a hard threshold.
    mean : float or array
        Prior mean of the weights, in the shapes of ``scale``.
    scale : float or array
        Prior standard deviation of the weights: a number, one per feature, or a row per label (n_columns, n_features)
        or (n_columns, 1). 0 keeps a weight at 0. The default is the paper's variance 1 at noise ½.
    intercept_scale : float
        That of the intercept; 0 leaves it out.
    covariance : {"diagonal", "full", "low_rank"}
        What is remembered of the weights' covariance: variances, at the cost of a document's non-zeros; all of it, for
        hundreds of features; or a diagonal and ``rank`` directions.
    rank : int
        Directions of ``"low_rank"``.
    passes : int
        How often ``fit`` learns the documents. A later pass learns them as if they were new, as in the paper.
    forgetting_factor : float in (0, 1]
        Factor by which weights shrink towards the prior before each document, for labels that drift; 1 forgets nothing.
    n_jobs : int or None
        Threads over labels; None is 1, −1 all cores. The result does not depend on it.
    start : BayesLinearClassifier or TextCategorizer, fitted, or None
        A model to go on from: its labels, and its posterior in place of the prior. ``link`` must be its link. A linear
        one must have been fitted with ``intervals=True``; features that its prior holds, of which it knows no variance,
        get ``scale`` around their weight. Of a categorizer weights are taken to err independently, and documents must
        be weighed as it does (``features(texts).weights``); one of an online model goes on where it was, with the same
        ``noise`` and ``covariance``. scikit-learn's ``clone`` unfits what it finds here; a
        ``sklearn.frozen.FrozenEstimator`` around it stays fitted.

    Attributes
    ----------
    classes_ : array of the labels; ``label_space_`` says whether one or many of them apply to a document
    posterior_ : DiagonalPosterior of all columns, or Bank of a FullPosterior or LowRankPosterior each
    coef_, intercept_ : posterior means, (n_columns, n_features) and (n_columns,)
    log_evidence_ : array (n_columns,)
        Σ ln p(y | x, documents before it) over all that was learnt; of ``fit`` its first pass.
    pass_log_evidence_ : array (n_passes, n_columns)
        The same of each pass of the last call, in which later ones judge documents that they know; not in files.

    Notes
    -----
    The result depends on the order of the documents; ``fit`` takes them as they come.

    References
    ----------
    Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR; Opper (1998),
    A Bayesian approach to on-line learning.

    Examples
    --------
    >>> model = BayesOnlineClassifier().partial_fit([[1.0, 0.0]], ["yes"], classes=["no", "yes"])
    >>> model = model.partial_fit([[0.0, 1.0]], ["no"])
    >>> model.predict([[0.9, 0.1], [0.2, 0.9]]).tolist()
    ['yes', 'no']
    """

    fields: ClassVar[Fields] = {"link": LinkField(), "scale": Hyper(), "mean": Hyper(), "start": Null()}

    def __init__(
        self,
        link: Any = "probit",
        scale: Any = 2.0,
        intercept_scale: float = 2.0,
        covariance: str = "diagonal",
        rank: int = 16,
        passes: int = 1,
        forgetting_factor: float = 1.0,
        n_jobs: int | None = None,
        start: Any = None,
        noise: float = 1.0,
        mean: Any = 0.0,
    ) -> None:
        self.link = link
        self.scale = scale
        self.intercept_scale = intercept_scale
        self.covariance = covariance
        self.rank = rank
        self.passes = passes
        self.forgetting_factor = forgetting_factor
        self.n_jobs = n_jobs
        self.start = start
        self.noise = noise
        self.mean = mean

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn X (n_docs, n_features), sparse or dense, from the prior on, ``passes`` times over.

        ``y`` is a vector, lists or an indicator matrix. ``sample_weight`` holds whole numbers: how often each document
        is learnt in its place, 0 for not at all.
        """
        refuse_texts(X)
        X = writable(validate_data(self, X, accept_sparse="csr", dtype=np.float64))
        likelihood = self._checked_likelihood()
        start = fitted_start(self.start, likelihood, X.shape[1])
        labels = as_labels(y)
        indicator, space = encode_labels(labels) if start is None else encode_known(labels, start.space)
        check_same_length(X, "X", indicator, "y")
        rows = _repeated_rows(sample_weight, X)
        if rows is not None and start is None and space.kind == "binary" and len(np.unique(indicator[rows])) < 2:
            raise InputError("only one class has documents of positive weight; a classifier needs at least two")
        self._begin(space, likelihood, start)
        return self._learn(X, indicator, rows, likelihood, self.passes, fresh=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more documents, once each; one is enough.

        The first call names all ``classes`` that there will be, unless ``fit``, ``start`` or an indicator matrix has
        named them. They name the columns of an indicator matrix in their order.
        """
        if classes is None and sample_weight is None and self._learn_single(X, y):
            return self
        return self._learn_more(X, y, classes, sample_weight)

    @all_or_nothing
    def _learn_more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        first = not hasattr(self, "posterior_")
        refuse_texts(X)
        X = writable(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=first))
        likelihood = self._checked_likelihood()
        start = fitted_start(self.start, likelihood, X.shape[1]) if first else None
        known = (None if start is None else start.space) if first else self.label_space_
        labels = as_labels(y)
        if known is None:
            indicator, space = encode_first(labels, classes)
        else:
            if classes is not None and sorted(classes) != sorted(known.classes):
                raise InputError(
                    f"classes={list(classes)!r} are given, but {known.classes.tolist()} were given in the first call"
                )
            indicator, space = encode_known(labels, known)
        check_same_length(X, "X", indicator, "y")
        rows = _repeated_rows(sample_weight, X)
        if first:
            self._begin(space, likelihood, start)
        return self._learn(X, indicator, rows, likelihood, 1, fresh=first)

    def _learn_single(self, X: Any, y: Any) -> bool:
        """Learn one document in place, at the cost of its words; False, with nothing done, where more must be seen to.

        Calls for single documents would otherwise spend nine parts of ten on checks.
        """
        posterior = getattr(self, "posterior_", None)
        if not (isinstance(posterior, DiagonalPosterior) and is_checked(self, X) and X.shape[0] == 1):
            return False
        outcomes, closed = single_outcomes(y, self.label_space_), self._checked_likelihood().closed_form
        if outcomes is None or closed is None:
            return False
        log_prob = np.zeros(outcomes.shape)
        posterior._learn_compiled(posterior._rows(X), outcomes, closed, self.forgetting_factor, log_prob, n_jobs=1)
        self.log_evidence_ = self.log_evidence_ + log_prob[0]
        return True

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of every label, averaged over the posterior; for two classes a vector of the second's."""
        log_prob, log_other = self.likelihood.log_probabilities(*self.linear_predictor(X))
        log_odds = log_prob - log_other
        return log_odds[:, 0] if self.label_space_.kind == "binary" else log_odds

    def predict_proba(self, X: Matrix | ArrayLike, posterior_predictive: bool = True) -> FloatArray:
        """Probabilities, one column per class; rows add up to one unless the labels are multi-label.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        posterior_predictive : bool
            Over the posterior, ∫ p(y | x, w) N(w) dw; False gives those of the posterior mean.
        """
        mean, var = self.linear_predictor(X)
        log_prob = self.likelihood.log_probability(mean, var if posterior_predictive else None)
        if self.label_space_.kind == "multiclass":  # as BayesLinearClassifier: each class's own, divided by their sum
            return normalise_classes(log_prob)
        return self.label_space_.both_columns(np.exp(log_prob))

    def predict(self, X: Any) -> AnyArray:
        """The likelier class; for multi-label an indicator of the labels likelier than not."""
        log_odds = self.decision_function(X)
        return self.label_space_.likeliest(log_odds)

    def information_gain(self, X: Any, method: Method = "gaussian", region: Any = None) -> FloatArray:
        """Bits that judging each document is expected to teach of each label's weights, (n_docs, n_columns).

        The documents to ask for are those that teach most; see ``expected_information_gain`` for ``method``. With a
        ``region``, documents that matter, what is taught of their predictors (``region_information_gain``).
        """
        if region is not None:
            check_is_fitted(self, "posterior_")
            check = partial(validate_data, self, accept_sparse="csr", dtype=np.float64, reset=False)
            return region_information_gain(self.posterior_, check(X), check(region), self._checked_likelihood())
        return expected_information_gain(*self.linear_predictor(X), self._checked_likelihood(), method)

    def linear_predictor(self, X: Any) -> LinearPredictor:
        """Mean and variance of x'w + b, arrays (n_docs, n_columns)."""
        if not (hasattr(self, "posterior_") and is_checked(self, X)):
            check_is_fitted(self, "posterior_")
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.posterior_.predict(writable(X))

    @property
    def coef_(self) -> FloatArray:
        return self._means()[:, 1:]

    @property
    def intercept_(self) -> FloatArray:
        return self._means()[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def _begin(self, space: LabelSpace, likelihood: OnlineLikelihood, start: Start | None) -> None:
        shape = space.n_columns, self.n_features_in_
        check_memory(self.covariance, *shape)
        scale = _checked_scale(self.scale, shape)
        posterior = self._prior(scale) if start is None else start.posterior(self.covariance, scale, self._rank())
        self.label_space_, self.classes_, self.posterior_ = space, space.classes, posterior
        self.log_evidence_ = np.zeros(space.n_columns)

    def _prior(self, scale: FloatArray) -> DiagonalPosterior | Bank[Any]:
        n_columns, n_features = scale.shape
        mean = _checked_mean(self.mean, scale.shape)
        bias = float(_checked_scale(self.intercept_scale, (), "intercept_scale")) ** 2
        if self.covariance == "diagonal":
            return DiagonalPosterior.start(n_features, n_columns, scale.T**2, bias, mean.T)
        if self.covariance == "full":
            pairs = zip(scale, mean, strict=True)
            return Bank([FullPosterior.start(range(n_features), row**2, bias, at) for row, at in pairs])
        return Bank(
            [
                LowRankPosterior.start(range(n_features), self._rank(), row**2, bias, at)
                for row, at in zip(scale, mean, strict=True)
            ]
        )

    def _rank(self) -> int:
        check_whole("rank", self.rank)
        return int(self.rank)

    def _learn(
        self,
        X: Any,
        indicator: BoolArray,
        rows: IntArray | None,
        likelihood: OnlineLikelihood,
        passes: int,
        fresh: bool,
    ) -> Self:
        """Learn few documents in place, which costs their own words and no copy of the vocabulary; many on a copy.

        A copy is taken over when all is learnt, so that an interrupted call has taught nothing. ``fresh`` is a
        posterior that nobody has seen yet.
        """
        if rows is not None:
            X, indicator = X[rows], indicator[rows]
        outcomes = np.where(indicator, 1.0, -1.0)
        few = X.size <= self.n_features_in_
        in_place = fresh or few
        if isinstance(self.posterior_, Bank):
            bank = Bank(self.posterior_.posteriors, n_threads(self.n_jobs))
            self.posterior_, info = bank.learn(X, outcomes, likelihood, passes, self.forgetting_factor, in_place)
        else:
            # Threads copy the vocabulary to share it out, which a few documents do not repay.
            jobs = 1 if few else n_threads(self.n_jobs)
            learn = self.posterior_.learn
            self.posterior_, info = learn(X, outcomes, likelihood, passes, self.forgetting_factor, in_place, jobs)
        self.log_evidence_, self.pass_log_evidence_ = self.log_evidence_ + info.log_evidence[0], info.log_evidence
        return self

    def _means(self) -> FloatArray:
        posterior = self.posterior_
        if not isinstance(posterior, Bank):
            return posterior.mean.T
        means = np.zeros((len(posterior), 1 + self.n_features_in_))
        for row, one in zip(means, posterior, strict=True):  # a label may have words of its own
            row[0], row[1 + one.words] = one.mean[0], one.mean[1:]
        return means

    def _checked_likelihood(self) -> OnlineLikelihood:
        check_choice("covariance", self.covariance, COVARIANCES)
        self._check_learning()
        return self.likelihood

    def _check_learning(self) -> None:
        check_whole("passes", self.passes)
        check_forgetting_factor(self.forgetting_factor)
        n_threads(self.n_jobs)

    @property
    def likelihood(self) -> OnlineLikelihood:
        """p(y | x, w), from ``link`` and ``noise``."""
        if isinstance(self.link, OnlineLikelihood):
            return self.link
        noise = as_noise(self.noise)
        return named_likelihood(self.link, noise) if isinstance(self.link, str) else OnlineLikelihood(self.link, noise)


def _repeated_rows(sample_weight: Any, X: Any) -> IntArray | None:
    """Each document as often as its weight says, in its place; None where all weights are 1.

    A weight of ½ would be the likelihood p(y | x)^½, of which the links know no integral.
    """
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if not weight.any():
        raise InputError("sample_weight is 0 for every document, which leaves nothing to learn; give some a weight")
    if (weight != np.round(weight)).any():
        raise NotSupportedError(
            "sample_weight holds fractions; online a weight is how often a document is learnt: pass whole numbers, or "
            "use BayesLinearClassifier, which takes any weights"
        )
    return None if (weight == 1.0).all() else np.repeat(np.arange(len(weight)), weight.astype(np.int64))


def as_noise(noise: Any) -> float:
    """The noise of a likelihood; what is no number is refused."""
    if not isinstance(noise, numbers.Real):
        raise InputError(f"noise={noise!r} is not usable; pass a finite number that is not negative")
    return float(noise)


def _checked_mean(mean: Any, shape: tuple[int, ...]) -> FloatArray:
    values = as_numbers(mean, "mean")
    if not np.isfinite(values).all() or values.shape not in ((), shape[1:], shape, (shape[0], 1)):
        raise InputError(f"mean has shape {values.shape}; pass a finite number, one per feature or one row per label")
    return np.broadcast_to(values, shape)


def _checked_scale(scale: Any, shape: tuple[int, ...], name: str = "scale") -> FloatArray:
    values = as_numbers(scale, name)
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise InputError(f"{name}={scale!r} is not usable; a standard deviation is finite and not negative")
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        wanted = f"a number, one per feature or one row per label, {shape}" if shape else "a number"
        raise InputError(f"{name} has shape {values.shape}; pass {wanted}") from None

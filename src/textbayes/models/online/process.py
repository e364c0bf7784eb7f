"""The sparse online Gaussian process as a scikit-learn estimator."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from textbayes.core.codec import Choice, Field, Fields
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.knowledge.informative_prior import table_prior
from textbayes.knowledge.match import MatchedPriors
from textbayes.models import model_types
from textbayes.models.base import FitOptions
from textbayes.models.online.base import Bank
from textbayes.models.online.batch import Start
from textbayes.models.online.classifier import BayesOnlineClassifier
from textbayes.models.online.gp import KERNELS, GaussianProcess, KernelFunction, dot_products
from textbayes.models.online.likelihood import OnlineLikelihood
from textbayes.models.online.text_model import bank_from_state
from textbayes.priors import make_prior

"""Of every label: columns of words, and means and standard deviations of f at a document of each word alone."""

_LINEAR_SCALE = 1.0  # prior standard deviation of a weight, that of the linear kernel


@model_types.register("gp")
class SparseGPClassifier(BayesOnlineClassifier):
    """Classifier p(y = 1 | x) = ψ(f(x)/noise), f a Gaussian process that learns online and keeps few documents.

    One process per label. Probabilities are averaged over the posterior of f.

    Parameters
    ----------
    link : str, link or OnlineLikelihood
        As for ``BayesOnlineClassifier``.
    kernel : {"linear", "quadratic", "rbf"} or function
        The covariance of f at two documents, see ``textbayes.models.online.gp``; the paper's GP-1, GP-2, GP-R1.
    budget : int
        Documents that a process keeps at most; learning one costs its square.
    tolerance, jitter : float
        As for ``GaussianProcess``.
    passes, forgetting_factor, n_jobs, noise
        As for ``BayesOnlineClassifier``.

    Attributes
    ----------
    classes_, label_space_, log_evidence_ : as for ``BayesOnlineClassifier``
    posterior_ : Bank of a GaussianProcess each

    References
    ----------
    Csató & Opper (2001), Sparse representation for Gaussian process models; Chai, Ng & Chieu (2002), SIGIR.

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["same", "same", "other", "other"]
    >>> SparseGPClassifier(kernel="rbf", passes=3).fit(X, y).predict([[1.0, 0.1]]).tolist()
    ['other']
    """

    model_type = "gp"
    fields: ClassVar[Fields] = {"kernel": Choice(*KERNELS), "scale": None, "mean": None, "start": None}
    saved: ClassVar[dict[str, Field]] = {"kernel": Choice(*KERNELS)}

    posterior_: Bank[GaussianProcess]
    covariance = "process"
    start = None
    mean = 0.0

    def __init__(
        self,
        link: Any = "probit",
        kernel: str | KernelFunction = "linear",
        budget: int = 300,
        tolerance: float = 1e-4,
        jitter: float = 1e-4,
        passes: int = 1,
        forgetting_factor: float = 1.0,
        n_jobs: int | None = None,
        noise: float = 0.5,
    ) -> None:
        self.link = link
        self.kernel = kernel
        self.budget = budget
        self.tolerance = tolerance
        self.jitter = jitter
        self.passes = passes
        self.forgetting_factor = forgetting_factor
        self.n_jobs = n_jobs
        self.noise = noise

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy; parameters as for ``TextModel``."""
        if self.prior_knowledge is None:
            return super().fit_features(features, indicator, space, options)
        one, rows = self.unfitted(), self._learning_order(features.n_docs)
        X, labels = features.weights[rows], sparse.csr_matrix(indicator[rows], dtype=np.int64)
        weight = None if options is None or options.weight is None else options.weight[rows]
        one.start_labels(LabelSpace(np.arange(space.n_columns), "multilabel"), features.n_features)
        for label, (words, means, sds) in enumerate(self.prior_knowledge):
            if len(words):
                one.observe(label, words, means, sds)
        for _ in range(int(one.passes)):
            one.partial_fit(X, labels, sample_weight=weight)
        return one.with_labels(space)

    def with_prior(self, matched: MatchedPriors, features: Features, weight: FloatArray) -> Self:
        """Copy, not fitted: what is known of words becomes what f is at documents of one word each."""
        likelihood = self._checked_likelihood()
        default = make_prior("gaussian", _LINEAR_SCALE)
        prior = table_prior(matched, default, features.weights, weight, link=likelihood.link)
        shape, noise = (matched.n_labels, matched.n_features), likelihood.noise or 1.0
        found = []
        for label in range(matched.n_labels):
            columns = np.unique(matched.column[(matched.label == label) & (weight[label] > 0.0)])
            at = np.broadcast_to(prior.mean, shape)[label, columns]
            wide = np.broadcast_to(prior.scale, shape)[label, columns]
            found.append((columns, noise * at, noise * wide))
        after = self.unfitted()
        after.prior_knowledge = found
        return after

    def description(self) -> str:
        """The kernel."""
        kernel = self.kernel if isinstance(self.kernel, str) else type(self.kernel).__name__
        return f"Gaussian process, {kernel} kernel"

    def contributions(self, document: Features) -> Contributions:
        """Each basis document's part of f is shared out among the words that it has in common with the document.

        f(x) = Σ_i α_i k(x⊥, x_i) + Σ_i α_i (k(x, x_i) − k(x⊥, x_i)), x⊥ a document as long as x with no word in common
        with any; a word's share of a term of the second sum is its share of x·x_i, exact for the linear kernel.
        """
        row = document.weights
        columns = row.indices.astype(np.int64)
        weights = np.zeros((self.label_space_.n_columns, len(columns)))
        for label, process in enumerate(self.posterior_):
            if not process.n_basis:
                continue
            basis, own = process.basis, sparse.csr_matrix(row[:, process.words])
            products = dot_products(own, basis)[0]
            elsewhere = sparse.hstack([sparse.csr_matrix(own.shape), own], format="csr")
            wider = sparse.csr_matrix(
                (basis.data, basis.indices, basis.indptr), shape=(basis.shape[0], 2 * own.shape[1])
            )
            change = (process.kernel(own, basis) - process.kernel(elsewhere, wider))[0]
            pull = np.divide(process.mean * change, products, out=np.zeros_like(products), where=products != 0.0)
            own_weights = np.zeros(row.shape[1])
            own_weights[process.words] = basis.T @ pull
            weights[label] = own_weights[columns]
        parts = weights * row.data
        mean, var = self.linear_predictor(row)
        total, inner = self._log_odds(mean, var)[0], parts.sum(axis=1)
        # From f to log-odds by the slope between what the words are without and with.
        base = self._log_odds(mean - inner, var)[0]
        stretch = np.divide(total - base, inner, out=np.ones_like(inner), where=np.abs(inner) > 1e-12)
        parts = parts * np.clip(stretch, 0.0, 100.0)[:, None]
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def word_weights(self) -> WordWeights:
        """Weights of words in the documents of the basis."""
        noise = self.likelihood.noise or 1.0
        description = "weight of the word in the basis documents" if self.kernel != "linear" else "weight"
        return WordWeights(self.coef_ / noise, None, description)

    def _restored_posterior(self, described: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_words: int) -> Any:
        return bank_from_state("process", described, arrays, n_columns, n_words, self._kernel())

    @property
    def coef_(self) -> FloatArray:
        """Words' weights Σ α_i x_i over the basis; with the linear kernel they are the means of the weights."""
        check_is_fitted(self, "posterior_")
        out = np.zeros((len(self.posterior_), self.n_features_in_))
        for row, process in zip(out, self.posterior_, strict=True):
            row[process.words] = process.word_weights[1:]
        return out

    @property
    def intercept_(self) -> FloatArray:
        """f of a document without words."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.predict(np.zeros((1, self.n_features_in_))).mean[0]

    def observe(self, label: int, words: IntArray, means: FloatArray, sds: FloatArray) -> None:
        """Learn of single words what f is at a document of each alone; see ``GaussianProcess.observe``."""
        check_is_fitted(self, "posterior_")
        posteriors = list(self.posterior_)
        posteriors[label] = posteriors[label].observe(words, means, sds)
        self.posterior_ = Bank(posteriors, self.posterior_.n_jobs)

    def start_labels(self, space: LabelSpace, n_features: int) -> None:
        """The state before any document, of these labels and so many features."""
        self.n_features_in_ = n_features
        self._begin(space, self._checked_likelihood(), None)

    def _begin(self, space: LabelSpace, likelihood: OnlineLikelihood, start: Start | None) -> None:
        if not isinstance(self.budget, numbers.Integral) or self.budget < 1:
            raise InputError(f"budget={self.budget!r} is not usable; pass how many documents to keep, from 1 on")
        kernel = self._kernel()
        words = np.arange(self.n_features_in_)
        processes = [
            GaussianProcess.start(words, kernel, int(self.budget), self.tolerance, self.jitter)
            for _ in range(space.n_columns)
        ]
        self.label_space_, self.classes_, self.posterior_ = space, space.classes, Bank(processes)
        self.log_evidence_ = np.zeros(space.n_columns)

    def _kernel(self) -> KernelFunction:
        if not isinstance(self.kernel, str):
            return self.kernel
        if self.kernel not in KERNELS:
            raise InputError(f"kernel={self.kernel!r} is not known; choose one of {', '.join(KERNELS)}, or a function")
        return KERNELS[self.kernel]

    def _checked_likelihood(self) -> OnlineLikelihood:
        self._check_learning()
        self._kernel()
        return self.likelihood

"""The sparse online Gaussian process as a scikit-learn estimator."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray, IntArray
from textbayes.models.online.base import Bank
from textbayes.models.online.batch import Start
from textbayes.models.online.classifier import BayesOnlineClassifier
from textbayes.models.online.gp import KERNELS, GaussianProcess, KernelFunction
from textbayes.models.online.likelihood import OnlineLikelihood


class BayesProcessClassifier(BayesOnlineClassifier):
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
    passes, retention, n_jobs, noise
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
    >>> BayesProcessClassifier(kernel="rbf", passes=3).fit(X, y).predict([[1.0, 0.1]]).tolist()
    ['other']
    """

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
        retention: float = 1.0,
        n_jobs: int | None = None,
        noise: float = 0.5,
    ) -> None:
        self.link = link
        self.kernel = kernel
        self.budget = budget
        self.tolerance = tolerance
        self.jitter = jitter
        self.passes = passes
        self.retention = retention
        self.n_jobs = n_jobs
        self.noise = noise

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

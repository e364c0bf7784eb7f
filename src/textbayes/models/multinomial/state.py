"""The running state of a softmax fit, shared by the solvers that find its mode."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.inference._label import LabelFit
from textbayes.inference.base import FitInfo, Posterior, Problem
from textbayes.kernels.multinomial.softmax import softmax_likelihood
from textbayes.kernels.sparse import times, transpose_times
from textbayes.models.multinomial.gauge import centred


class SoftmaxFit:
    """Weights, predictors and derivatives of all classes together.

    The problem is that of one regression per class, y +1 for the documents of that class; every document has one. The
    fits of the classes hold the weights and see the prior; of the likelihood they see what is told them.
    """

    def __init__(self, problem: Problem, start: Posterior | None) -> None:
        self.problem = problem
        self.codes = np.ascontiguousarray(problem.y.argmax(axis=1))
        self.classes = [LabelFit(problem, start, c) for c in range(problem.y.shape[1])]
        self.n_iter, self.reference, self.stuck = 0, 0.0, False
        if start is None:
            self._start_intercepts()
        X, weights = problem.X, self.weights
        self.eta: FloatArray = np.tile(self.intercepts, (X.shape[0], 1))
        if weights.any():  # not at a usual cold start
            self.eta += times(X.indptr, X.indices, X.data, weights, X.shape[0])
        self.proba: FloatArray = np.empty_like(self.eta)
        self.refresh()

    @property
    def weights(self) -> FloatArray:
        """(n_features, n_classes), as kernels read them."""
        return np.stack([fit.w for fit in self.classes], axis=1)

    @property
    def intercepts(self) -> FloatArray:
        return np.array([fit.intercept for fit in self.classes])

    @property
    def document_weight(self) -> FloatArray:
        """One weight per document, or none where all are 1: what kernels take."""
        weight = self.problem.sample_weight
        return np.empty(0) if weight is None else weight

    def _start_intercepts(self) -> None:
        """A cold start knows how many documents each class has, so that the first gradient is informative."""
        if self.problem.intercept_prior is None:
            return
        sums = np.bincount(self.codes, self.problem.sample_weight, minlength=len(self.classes))
        log_sums = np.log(np.maximum(sums, 0.5))
        for fit, value in zip(self.classes, log_sums - log_sums.mean(), strict=True):
            fit.b = float(value)

    def likelihood_at(self, eta: FloatArray, proba: FloatArray) -> float:
        """The log-likelihood at these predictors; fills ``proba``."""
        return float(softmax_likelihood(eta, self.codes, self.document_weight, proba))

    def refresh(self) -> None:
        """Likelihood and probabilities at the present predictors."""
        self.likelihood = self.likelihood_at(self.eta, self.proba)

    def scores(self) -> FloatArray:
        """∂ log-likelihood/∂eta of every document, (n_docs, n_classes)."""
        scores = -self.proba
        scores[np.arange(len(self.codes)), self.codes] += 1.0
        weight = self.problem.sample_weight
        return scores if weight is None else scores * weight[:, None]

    def gradients(self) -> FloatArray:
        """∂ log-likelihood/∂w, (n_classes, n_features), in one reading of the matrix; classes get their scores."""
        X, scores = self.problem.X, self.scores()
        for fit, score in zip(self.classes, np.ascontiguousarray(scores.T), strict=True):
            fit.score = score
        return np.ascontiguousarray(transpose_times(X.indptr, X.indices, X.data, scores).T)

    def largest_slope(self) -> float:
        """The largest partial derivative of the likelihood: what violations are measured against, at the start."""
        pairs = zip(self.classes, self.gradients(), strict=True)
        return max(fit.largest_slope(gradient) for fit, gradient in pairs)

    def violations(self) -> tuple[FloatArray, list[FloatArray], float]:
        """Gradients, every class's violations, and the largest of them relative to the largest slope at the start."""
        gradients = self.gradients()
        if self.reference == 0.0:
            self.reference = max(map(LabelFit.largest_slope, self.classes, gradients))
        for fit in self.classes:
            fit.reference = self.reference
        violations = list(map(LabelFit.violation, self.classes, gradients))
        return gradients, violations, max(map(LabelFit.worst, self.classes, violations)) / self.reference

    def objective(self) -> float:
        """−log likelihood − log prior up to the prior's constant."""
        return sum(fit.prior_penalty() for fit in self.classes) - self.likelihood

    def posterior(self, violation: float, tol: float) -> Posterior:
        """The result, given the relative violation that is left."""
        info = FitInfo(
            np.array([self.objective()]), np.array([violation]), np.array([self.n_iter]), np.array([violation <= tol])
        )
        return centred(self.problem, Posterior(np.ascontiguousarray(self.weights.T), self.intercepts, None, info))

"""Gaussian processes over documents that learn online and keep few of them, one per label."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Kind
from textbayes.kinds.online import FittedOnline, learning_order, restored, saved_likelihood
from textbayes.knowledge import MatchedPriors, table_prior
from textbayes.models.online.gp import KERNELS, dot_products
from textbayes.models.online.process import BayesProcessClassifier
from textbayes.models.online.state import bank_from_state
from textbayes.priors import make_prior

_DEFAULT_SCALE = 1.0  # prior standard deviation of a weight, that of the linear kernel


class FittedProcess(FittedOnline):
    """The processes of all labels, explained by words and by documents of their basis."""

    kind = "gp"
    estimator: BayesProcessClassifier
    _kept = ("kernel",)

    def contributions(self, document: Features) -> Contributions:
        """Each basis document's part of f is shared out among the words that it has in common with the document.

        f(x) = Σ_i α_i k(x⊥, x_i) + Σ_i α_i (k(x, x_i) − k(x⊥, x_i)), x⊥ a document as long as x with no word in common
        with any; a word's share of a term of the second sum is its share of x·x_i, exact for the linear kernel.
        """
        row = document.weights
        columns = row.indices.astype(np.int64)
        weights = np.zeros((self.space.n_columns, len(columns)))
        for label, process in enumerate(self.estimator.posterior_):
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
        mean, var = self.estimator.linear_predictor(row)
        total, inner = self._log_odds(mean, var)[0], parts.sum(axis=1)
        # From f to log-odds by the slope between what the words are without and with.
        base = self._log_odds(mean - inner, var)[0]
        stretch = np.divide(total - base, inner, out=np.ones_like(inner), where=np.abs(inner) > 1e-12)
        parts = parts * np.clip(stretch, 0.0, 100.0)[:, None]
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def words(self) -> WordWeights:
        noise = self.estimator.likelihood.noise or 1.0
        description = "weight of the word in the documents kept" if self.estimator.kernel != "linear" else "weight"
        return WordWeights(self.estimator.coef_ / noise, None, description)

    def nearest_documents(self, document: Features, label: int, k: int = 3) -> list[tuple[FloatArray, float]]:
        """The documents kept that say most of one: their words' weights (n_features,) and their part of f."""
        process = self.estimator.posterior_[label]
        own = sparse.csr_matrix(document.weights[:, process.words])
        parts = process.mean * process.kernel(own, process.basis)[0]
        order = np.argsort(-np.abs(parts), kind="stable")[:k]
        found = []
        for i in order:
            weights = np.zeros(document.n_features)
            weights[process.words] = process.basis[[i]].toarray().ravel()
            found.append((weights, float(parts[i])))
        return found


@dataclass(frozen=True)
class InformedProcess:
    """An estimator, and observations of words for every label: columns, means and standard deviations."""

    estimator: BayesProcessClassifier
    told: list[tuple[AnyArray, FloatArray, FloatArray]]


class ProcessKind(Kind):
    """p(y = 1 | x) = ψ(f(x)) with a sparse online Gaussian process f: linear, quadratic or RBF kernel."""

    name = "gp"

    @property
    def estimator_class(self) -> type:
        return BayesProcessClassifier

    def fit(
        self, estimator: Any, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions
    ) -> FittedProcess:
        informed = isinstance(estimator, InformedProcess)
        one: BayesProcessClassifier = copy.copy(estimator.estimator if informed else estimator)
        rows = learning_order(one, features.n_docs)
        X, labels = features.weights[rows], sparse.csr_matrix(indicator[rows], dtype=np.int64)
        weight = None if options.weight is None else options.weight[rows]
        if not informed:
            return FittedProcess(space, one.fit(X, labels, sample_weight=weight))
        one.start_labels(LabelSpace(np.arange(space.n_columns), "multilabel"), features.n_features)
        for label, (words, means, sds) in enumerate(estimator.told):
            if len(words):
                one.observe(label, words, means, sds)
        for _ in range(int(one.passes)):
            one.partial_fit(X, labels, sample_weight=weight)
        return FittedProcess(space, one)

    def informed(
        self, estimator: BayesProcessClassifier, matched: MatchedPriors, features: Features, weight: FloatArray
    ) -> InformedProcess:
        """What is known of words becomes what f is at documents of one word each."""
        default = make_prior("gaussian", _DEFAULT_SCALE)
        likelihood = estimator._checked_likelihood()
        prior = table_prior(matched, default, features.weights, weight, link=likelihood.link)
        told = []
        for label in range(matched.n_labels):
            columns = np.unique(matched.column[(matched.label == label) & (weight[label] > 0.0)])
            at = np.broadcast_to(prior.mean, (matched.n_labels, matched.n_features))[label, columns]
            wide = np.broadcast_to(prior.scale, (matched.n_labels, matched.n_features))[label, columns]
            noise = likelihood.noise or 1.0
            told.append((columns, noise * at, noise * wide))
        return InformedProcess(estimator, told)

    def describe(self, estimator: BayesProcessClassifier) -> str:
        kernel = estimator.kernel if isinstance(estimator.kernel, str) else type(estimator.kernel).__name__
        return f"Gaussian process, {kernel} kernel"

    def check_restored(self, estimator: BayesProcessClassifier, n_columns: int, n_features: int) -> None:
        estimator._checked_likelihood()

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedProcess:
        likelihood = saved_likelihood(meta, {"kernel", "retention", "log_evidence", "posteriors"})
        kernel = meta["kernel"]
        if not isinstance(kernel, str) or kernel not in KERNELS:
            raise ModelFileError("the model's kernel is not known; was the file altered?")
        posterior = bank_from_state("process", meta["posteriors"], arrays, space.n_columns, n_features, KERNELS[kernel])
        estimator = BayesProcessClassifier(likelihood, kernel, retention=float(meta["retention"]))
        return FittedProcess(space, restored(estimator, posterior, meta["log_evidence"], space, n_features))


kinds.register("gp")(ProcessKind())

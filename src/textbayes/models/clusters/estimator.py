"""Soft clustering as a scikit-learn estimator, and its state in a model file."""

from __future__ import annotations

import copy
import numbers
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from textbayes.core.array_fields import Array, Hyper
from textbayes.core.codec import Choice, Field, Flag, List, Null, Number, Text, Whole, read, written
from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace
from textbayes.core.machine import n_threads
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.state import Part
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_choice, check_whole
from textbayes.lexical.exposures import check_lengths
from textbayes.models import model_types
from textbayes.models.base import FitOptions, TextModel
from textbayes.models.clusters.measures import completion_perplexity, npmi_coherence
from textbayes.models.clusters.model import ClusterWords, arrange, fit_memberships
from textbayes.models.clusters.search import (
    Rules,
    check_labels,
    constants,
    first_memberships,
    known_documents,
    search,
    search_bursts,
)
from textbayes.models.counts.inputs import checked_counts

_MODELS = ("poisson", _BURSTS := "negative_binomial")
_LEAST_SHARE = 1e-12
_RELEVANCE = 0.6  # Sievert & Shirley's weight of the rate against the lift
_CONSTANTS = Choice("auto") | Hyper(above=0.0) | List(Number(above=0.0))
# The random state is not saved, as nothing is drawn any more.
_PARAMETERS: dict[str, Field] = {
    "n_clusters": Whole(1),
    "alpha": _CONSTANTS,
    "beta": _CONSTANTS,
    "n_init": Whole(1),
    "max_iter": Whole(1),
    "tol": Number(0.0),
    "n_jobs": Whole(-1024, 1024) | Null(),
    "model": Choice(*_MODELS),
}
_FITTED: dict[str, Field] = {
    "words": Part(ClusterWords),
    "sizes": Array(np.float64, ("k",)),
    "classes": List(Text() | Flag() | Number()),
    "bound": Number(),
    "n_iter": Whole(0),
}


@model_types.register("clusters")
class SoftClusters(TextModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Documents as mixtures of clusters, clusters as rates of words: variational EM of the Dirichlet–Poisson hierarchy.

    Word w occurs σ_w τ_wk times per thousand words of cluster k, document d of ω_d thousand words belongs to cluster k
    by θ_dk; θ_d and τ_w lie on simplices:

        θ_d ~ Dirichlet(α),   τ_w | σ_w ~ Dirichlet(β₁ + β₂σ_w),   x_dw ~ Poisson(ω_d σ_w Σ_k θ_dk τ_wk).

    The posterior is approximated by Dirichlets; σ, and α and β unless given, maximise the bound of the evidence, which
    no sweep lowers (``clusters_model`` has the derivation). With labels of some documents the first clusters are their
    classes: those documents belong to them, and all others are drawn to them by the words they share.

    Parameters
    ----------
    n_clusters : int
        K; where there are more classes than this, their number. Clusters beyond the classes are free.
    alpha : "auto", float or array (n_clusters,)
        Small values make documents of few clusters. ``"auto"`` learns one value for each cluster, with labels from 0.05
        on, as labelled documents belong to one cluster each.
    beta : "auto" or pair of floats
        (β₁, β₂): small values make words of few clusters, β₂ > 0 keeps frequent words from telling clusters apart. For
        few classes and much text the paper has (2, 1).
    n_init : int
        Searches from different starts; the highest bound wins. Every other search learns α more freely
        (``clusters_search``), so two are the least to compare; where all clusters have labels one is all there is.
    max_iter : int
        Sweeps at most.
    tol : float
        A search ends when a sweep raises the bound by less than this per occurrence of a word.
    random_state : int, RandomState or None
        Of the starts. The result does not depend on the order of the documents, nor on ``n_jobs``.
    n_jobs : int or None
        Threads; None is 1, −1 all cores.
    model : {"poisson", "negative_binomial"}
        ``"negative_binomial"`` lets each word come in bursts, with a dispersion δ_w of its own: of several occurrences
        in a document the later ones count less, and one burst does not make a cluster. It goes on from the clusters of
        the Poisson and takes about as long again; labels need the Poisson.

    Attributes
    ----------
    rates_ : array (n_clusters, n_features), occurrences per thousand words
    sums_, shares_ : σ (n_features,) and E τ (n_clusters, n_features), whose product are the rates
    alpha_, beta_ : the constants used or learnt
    deltas_ : array (n_features,), dispersions of the words; 0 of the Poisson
    sizes_ : array (n_clusters,), share of the text that belongs to each cluster
    bounds_ : list of the bound after each sweep of the best search; ``bound_`` is the last
    n_iter_ : number of its sweeps
    classes_ : array of the classes that the first clusters stand for; empty without labels

    References
    ----------
    Airoldi, Cohen & Fienberg (2005), Bayesian methods for frequent terms in text, § 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[9, 7, 0, 1], [8, 9, 1, 0], [0, 1, 8, 9], [1, 0, 9, 8]])
    >>> clusters = SoftClusters(2, random_state=0).fit(X)
    >>> len(set(clusters.predict(X)[:2])), len(set(clusters.predict(X)[1:3]))
    (1, 2)
    >>> SoftClusters(2, random_state=0).fit(X, ["sea", None, "land", None]).predict(X).tolist()
    ['sea', 'sea', 'land', 'land']
    """

    model_type = "clusters"
    reads = "counts"
    softmax = True
    trains = False

    order_: IntArray

    def __init__(
        self,
        n_clusters: int = 10,
        alpha: Any = "auto",
        beta: Any = "auto",
        n_init: int = 2,
        max_iter: int = 100,
        tol: float = 5e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        model: str = "poisson",
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.model = model

    @all_or_nothing
    def fit(self, X: Matrix | ArrayLike, y: Any = None, lengths: ArrayLike | None = None) -> Self:
        """Learn from counts X (n_docs, n_features), sparse or dense.

        ``y`` names the class of some documents; None or −1 leaves it open. ``lengths`` are thousands of words, those
        outside of the vocabulary too; the sums of the rows where they are not given.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        y : sequence of n_docs labels, optional
        lengths : array (n_docs,), optional
            Thousands of words of each document.
        """
        X = checked_counts(self, X, reset=True)
        self._check_settings()
        omega = check_lengths(lengths, X)
        if not X.nnz:
            raise InputError("no document has a word of the vocabulary; soft clustering needs counts above zero")
        labelled, bursts = check_labels(y, X.shape[0]), self.model == _BURSTS
        if labelled is not None and bursts:
            raise NotSupportedError("labels were given with model='negative_binomial'; with labels use model='poisson'")
        classes = np.zeros(0) if labelled is None else labelled.classes
        n_clusters = max(self.n_clusters, len(classes))
        codes = np.full(X.shape[0], -1) if labelled is None else labelled.codes
        known = known_documents(X, omega, codes, n_clusters)
        documents = arrange(X[codes < 0], omega[codes < 0], bursts)
        totals = np.asarray(X.sum(axis=0)).ravel()
        given = constants(self.alpha, self.beta, n_clusters)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_init)
        rules = Rules(self.max_iter, self.tol * float(totals.sum()))
        with self._threads() as pool:
            best = search(documents, known, totals, given, seeds, rules, pool)
            if bursts:
                best = search_bursts(documents, known, best, (given[0] is None, given[1] is None), rules, pool)
        if not best.converged:
            warnings.warn(
                f"the bound still grew after max_iter={self.max_iter} sweeps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.words_, self.classes_, self.bounds_ = best.words, classes, best.bounds
        self.bound_, self.n_iter_ = best.bounds[-1], len(best.bounds)
        means = best.memberships / best.memberships.sum(axis=1, keepdims=True)
        sizes = known.exposure + (documents.omega[:, None] * means).sum(axis=0)
        self.sizes_ = sizes / sizes.sum()
        return self

    def transform(self, X: Matrix | ArrayLike, lengths: ArrayLike | None = None) -> FloatArray:
        """Memberships E θ of documents, new ones too, (n_docs, n_clusters); rows add up to one.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        lengths : array (n_docs,), optional
            Thousands of words of each document; the sums of the rows unless given.
        """
        check_is_fitted(self, "words_")
        X = checked_counts(self, X, reset=False)
        omega = check_lengths(lengths, X)
        return self._memberships(X, omega)

    def predict(self, X: Matrix | ArrayLike, lengths: ArrayLike | None = None) -> AnyArray:
        """The class of the largest membership; the number of the cluster if no document was labelled.

        Clusters beyond the classes have no name: a document that belongs to them only is given the class it belongs to
        most among those that have.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        lengths : array (n_docs,), optional
            Thousands of words of each document; the sums of the rows unless given.
        """
        memberships = self.transform(X, lengths)
        if not len(self.classes_):
            return np.asarray(memberships.argmax(axis=1))
        return np.asarray(self.classes_[memberships[:, : len(self.classes_)].argmax(axis=1)])

    def top_words(
        self, n: int = 10, names: Sequence[str] | AnyArray | None = None, by: str = "relevance"
    ) -> list[list[tuple[Any, float]]]:
        """First ``n`` words of each cluster, with their rates per thousand words; columns if no ``names`` are given.

        By ``"relevance"``, 0.6 ln rate + 0.4 ln lift, where the lift is the rate over that in all text (Sievert &
        Shirley 2014); or by ``"rate"``, which puts words that are frequent everywhere first.

        Parameters
        ----------
        n : int
            Words of each cluster.
        names : sequence of n_features str, optional
            The words of the columns.
        by : {"relevance", "rate"}
            The ranking.
        """
        check_is_fitted(self, "words_")
        if names is not None and len(names) != self.n_features_in_:
            raise InputError(f"{len(names)} names were given for {self.n_features_in_} words; pass one for each column")
        rates = self.rates_
        return [
            [(int(j) if names is None else str(names[j]), float(rates[k, j])) for j in row]
            for k, row in enumerate(self.top_columns(n, by))
        ]

    def top_columns(self, n: int = 10, by: str = "relevance") -> IntArray:
        """The columns of the ``n`` first words of each cluster, (n_clusters, n).

        Parameters
        ----------
        n : int
            Words of each cluster.
        by : {"relevance", "rate"}
            The ranking, as in :meth:`top_words`.
        """
        check_is_fitted(self, "words_")
        check_choice("by", by, ("relevance", "rate"))
        scores = np.log(np.maximum(self.rates_, 1e-300))
        if by == "relevance":
            scores -= (1.0 - _RELEVANCE) * np.log(np.maximum(self.sizes_ @ self.rates_, 1e-300))
        return np.argsort(-scores, axis=1, kind="stable")[:, :n]

    def perplexity(self, X: Matrix | ArrayLike, random_state: int = 0) -> float:
        """Perplexity of the unseen half of documents given the other half; see ``completion_perplexity``.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        random_state : int
            Seed of the halves.
        """
        X = checked_counts(self, X, reset=False)
        return completion_perplexity(X, self.transform, self.rates_, random_state)

    def coherence(self, X: Matrix | ArrayLike, n: int = 10, by: str = "relevance") -> FloatArray:
        """NPMI of each cluster's top ``n`` words in documents X, (n_clusters,).

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words of the documents to judge by.
        n : int
            Words of each cluster.
        by : {"relevance", "rate"}
            The ranking, as in :meth:`top_words`.
        """
        return npmi_coherence(self.top_columns(n, by), checked_counts(self, X, reset=False))

    @property
    def rates_(self) -> FloatArray:
        return np.ascontiguousarray(self.words_.rates.T)

    @property
    def shares_(self) -> FloatArray:
        return np.ascontiguousarray(self.words_.shares.T)

    @property
    def sums_(self) -> FloatArray:
        return self.words_.sums

    @property
    def alpha_(self) -> FloatArray:
        return self.words_.alpha

    @property
    def beta_(self) -> FloatArray:
        return self.words_.beta

    @property
    def deltas_(self) -> FloatArray:
        deltas = self.words_.deltas
        return np.zeros(len(self.words_.sums)) if deltas is None else deltas

    def for_labels(self, space: LabelSpace, order: IntArray) -> Self:
        """The same as a model of labels that its clusters stand for.

        Parameters
        ----------
        space : LabelSpace
            Of classes that exclude each other.
        order : array (n_clusters,)
            The cluster that each class stands for.
        """
        after = copy.copy(self)
        after.label_space_, after.order_ = space, order
        return after

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> NoReturn:
        """Clusters are not trained with labels of all texts: this is refused."""
        raise NotSupportedError(
            "clusters are found without labels; use `textbayes clusters texts.jsonl -o clusters.tb`, or SoftClusters"
        )

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Logarithms of the shares of each text; of two clusters log-odds of the second."""
        shares = np.log(np.maximum(self.transform(features.counts)[:, self.order_], _LEAST_SHARE))
        return shares if self.is_softmax else shares[:, 1:] - shares[:, :1]

    def contributions(self, document: Features) -> Contributions:
        """Contribution of each word: its count times the log of its rate in a cluster over its rate in all text.

        Shares are not sums over words: a word counts by the others around it too.
        """
        columns = document.counts.indices.astype(np.int64)
        parts = document.counts.data * self.word_weights().weights[:, columns]
        total = self.scores(document)[0]
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def word_weights(self) -> WordWeights:
        """Log-ratios of the rate of each word in a cluster and in all text."""
        rates = np.log(np.maximum(self.rates_[self.order_], 1e-300))
        general = self.sizes_[self.order_] @ np.exp(rates)
        ratios = rates - np.log(np.maximum(general, 1e-300))
        weights = ratios if self.is_softmax else ratios[1:] - ratios[:1]
        return WordWeights(weights, None, "log-ratio of the rate in the cluster and in all text")

    def known_words(self) -> BoolArray:
        """All words."""
        return np.ones(self.n_features_in_, dtype=np.bool_)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The fitted clusters as a JSON-able dictionary and arrays, for :meth:`from_state`."""
        check_is_fitted(self, "words_")
        fitted = {name: getattr(self, f"{name}_") for name in _FITTED} | {"classes": self.classes_.tolist()}
        meta, arrays = written(self.get_params(deep=False) | fitted, _PARAMETERS | _FITTED)
        return meta | ({"order": self.order_.tolist()} if hasattr(self, "order_") else {}), arrays

    @classmethod
    def from_state(
        cls,
        meta: Mapping[str, Any],
        arrays: Mapping[str, AnyArray],
        space: LabelSpace | None = None,
        n_features: int | None = None,
    ) -> Self:
        """The clusters that :meth:`to_state` described; they transform identically.

        Parameters
        ----------
        meta, arrays : mappings
        space : LabelSpace, optional
            The labels that clusters stand for.
        n_features : int, optional
            The number of words they must be for.
        """
        described = {name: value for name, value in meta.items() if name != "order"}
        found = read(_PARAMETERS | _FITTED, described, arrays, "the soft clusters")
        clusters = cls(**{name: found[name] for name in _PARAMETERS})
        for name in _FITTED:
            setattr(clusters, f"{name}_", found[name])
        clusters.classes_ = np.array(found["classes"])
        words: ClusterWords = found["words"]
        shapes = words.alpha.shape == clusters.sizes_.shape and len(found["classes"]) <= len(words.alpha)
        if not shapes or (clusters.model == _BURSTS) != (words.deltas is not None):
            raise ModelFileError("the numbers of the soft clusters do not belong together; was the file altered?")
        clusters.n_features_in_ = len(words.sums)
        if space is None:
            return clusters
        order, n_classes = meta.get("order"), len(space.classes)
        if not isinstance(order, list) or sorted(map(str, order)) != sorted(map(str, range(n_classes))):
            raise ModelFileError("the model's clusters are not those of its labels; was the file altered?")
        if clusters.n_features_in_ != n_features or len(clusters.sizes_) != n_classes or space.kind == "multilabel":
            raise ModelFileError("the model's clusters are of other words or labels; was the file altered?")
        return clusters.for_labels(space, np.array(order, dtype=np.int64))

    @property
    def _n_features_out(self) -> int:
        return len(self.words_.alpha)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _check_settings(self) -> None:
        for name in ("n_clusters", "n_init", "max_iter"):
            check_whole(name, getattr(self, name))
        check_choice("model", self.model, _MODELS)
        if not isinstance(self.tol, numbers.Real) or not self.tol >= 0.0:
            raise InputError(f"tol={self.tol!r} is not usable; pass a number from 0 on")

    def _memberships(self, X: sparse.csr_matrix, omega: FloatArray) -> FloatArray:
        with self._threads() as pool:
            start = first_memberships(X, self.words_.alpha)
            points = fit_memberships(
                arrange(X, omega, self.words_.deltas is not None), self.words_, start, 200, 1e-5, pool
            )[0]
        return np.asarray(points / points.sum(axis=1, keepdims=True))

    def _threads(self) -> Any:
        jobs = n_threads(self.n_jobs)
        return nullcontext() if jobs == 1 else ThreadPoolExecutor(jobs)

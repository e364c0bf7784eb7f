"""Draws of the posterior of all labels, and what is read off them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.array_fields import Array
from textbayes.core.codec import Fields, List, Whole
from textbayes.core.errors import InputError
from textbayes.core.labels import normalise_classes
from textbayes.core.state import Part, with_fields
from textbayes.core.tables import make_frame
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_choice, check_level
from textbayes.links.base import BaseLink
from textbayes.posterior.intervals import Uncertainty, entropy_bits

_AT_ONCE = 2**23  # predictors that are held together, 64 MiB
DIAGNOSED = 20  # weights of each label
RANKINGS = ("mean", "sign", "inclusion")


@with_fields(
    {
        "columns": Array(np.int64, ("size",), least=0, most=lambda sizes: sizes["n_features"] - 1),
        "elsewhere": Array(np.float64, ("n_features",)),
        "intercept": Array(np.float64, ("n_chains", "n_draws")),
        "weights": Array(np.float32, ("n_chains", "n_draws", "size"), least=-1e30, most=1e30, copy=False),
        "global_scale": Array(np.float64, ("n_chains", "n_draws"), least=0.0),
    }
)
class LabelDraws(NamedTuple):
    """Draws of one label: weights (n_chains, n_draws, n_columns) in single precision, of its words alone.

    ``columns`` are the words that the label may use; the others have the weight ``elsewhere`` (n_features,) of their
    prior mean. ``global_scale`` (n_chains, n_draws) is 1 throughout unless it was sampled.
    """

    columns: IntArray
    elsewhere: FloatArray
    weights: AnyArray
    intercept: FloatArray
    global_scale: FloatArray

    def check_state(self) -> None:
        """Refuse a state whose parts do not belong together."""
        if not self.intercept.size or (np.diff(self.columns) <= 0).any():
            raise ValueError("draws are none, or have a word twice or out of order")

    @property
    def flat(self) -> AnyArray:
        """Weights with all chains in one, (n_chains·n_draws, n_columns)."""
        return self.weights.reshape(self.intercept.size, self.weights.shape[2])

    def take(self, columns: IntArray) -> LabelDraws:
        """The draws of some words only, in that order."""
        own = np.isin(columns, self.columns)
        place = np.searchsorted(self.columns, columns[own])
        return self._replace(
            columns=np.flatnonzero(own), elsewhere=self.elsewhere[columns], weights=self.weights[:, :, place]
        )

    def predictors(self, X: Any) -> FloatArray:
        """eta of the documents by every draw, (n_docs, n_chains·n_draws)."""
        fixed = self.elsewhere.copy()
        fixed[self.columns] = 0.0
        base = np.asarray(X @ fixed) if fixed.any() else np.zeros(X.shape[0])
        eta = np.asarray(X[:, self.columns] @ self.flat.T, dtype=np.float64)
        return eta + self.intercept.reshape(-1) + base[:, None]


class WeightSummary(NamedTuple):
    """One weight, or the intercept, as its draws have it, with the diagnostics of its chains.

    ``low`` and ``high`` are the ends of the central credible interval. ``ess_bulk`` and ``ess_tail`` are effective
    sample sizes of the centre and of the 5% and 95% quantiles, ``r_hat`` is the rank-normalised split R-hat.
    """

    label: str
    word: str
    mean: float
    sd: float
    low: float
    high: float
    ess_bulk: float
    ess_tail: float
    r_hat: float


class Draws:
    """The posterior as draws, label by label; averages, intervals and ranks are over the draws of all chains.

    Attributes
    ----------
    labels : list of LabelDraws
    n_features : int
    """

    fields: ClassVar[Fields] = {"n_features": Whole(1), "labels": List(Part(LabelDraws), 1)}

    def __init__(self, labels: list[LabelDraws], n_features: int) -> None:
        self.labels, self.n_features = labels, n_features

    def __repr__(self) -> str:
        chains, draws = self.labels[0].intercept.shape
        return f"Draws({len(self.labels)} labels, {chains} chains of {draws} draws, {self.n_features} words)"

    def cut_to(self, words: BoolArray) -> Draws:
        """The draws with the weights of all but some words of each label set to 0; ``words`` (n_labels, n_features)."""
        cut = []
        for row, one in zip(words, self.labels, strict=True):
            kept = row[one.columns]
            elsewhere = np.where(row, one.elsewhere, 0.0)
            cut.append(one._replace(columns=one.columns[kept], elsewhere=elsewhere, weights=one.weights[:, :, kept]))
        return Draws(cut, self.n_features)

    # -- weights --------------------------------------------------------------------------------------------------
    def mean(self) -> FloatArray:
        """Posterior means of the weights (n_labels, n_features)."""
        return self._by_word(lambda w: w.mean(axis=0, dtype=np.float64), lambda one: one.elsewhere)

    def variance(self) -> FloatArray:
        """Posterior variances; 0 for a word that a label may not use."""
        return self._by_word(lambda w: w.var(axis=0, dtype=np.float64), lambda one: np.zeros(self.n_features))

    def intercept(self) -> FloatArray:
        """Posterior means of the intercepts (n_labels,)."""
        return np.array([one.intercept.mean() for one in self.labels])

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the central credible intervals of the weights, each (n_labels, n_features)."""
        low, high = _tails(level)
        ends = [self._by_word(lambda w, q=q: np.quantile(w, q, axis=0), lambda one: one.elsewhere) for q in (low, high)]
        return ends[0], ends[1]

    def sign_probability(self) -> FloatArray:
        """P(weight > 0) of every word (n_labels, n_features); that of a weight that is known is 0, ½ or 1."""
        return self._by_word(lambda w: (w > 0.0).mean(axis=0), lambda one: np.heaviside(one.elsewhere, 0.5))

    def inclusion_probability(self, size: float = 0.1) -> FloatArray:
        """P(\\|weight\\| > size): how surely a word matters, where a smaller weight is as good as none.

        No continuous prior gives a weight of exactly 0 any probability, so how small is small must be said.
        """
        if not (np.isfinite(size) and size >= 0.0):
            raise InputError(f"size={size!r} is given; pass the size below which a weight is negligible, such as 0.1")
        return self._by_word(
            lambda w: (np.abs(w) > size).mean(axis=0), lambda one: (np.abs(one.elsewhere) > size).astype(np.float64)
        )

    def ranking(self, label: int, by: str = "mean", size: float = 0.1) -> IntArray:
        """Columns of the words of a label, the most telling first.

        Words that are equal in the ranking are in the order of the size of their means.

        Parameters
        ----------
        label : int
        by : {"mean", "sign", "inclusion"}
            The size of the posterior mean, as in the paper; how sure the sign of the weight is; how sure it is that the
            weight exceeds ``size``.
        size : float
        """
        check_choice("by", by, RANKINGS)
        strength = np.abs(self.mean()[label])
        first = strength
        if by == "sign":
            first = np.abs(self.sign_probability()[label] - 0.5)
        elif by == "inclusion":
            first = self.inclusion_probability(size)[label]
        return np.lexsort((-strength, -first)).astype(np.int64)

    def summary(
        self,
        names: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        level: float = 0.95,
        as_frame: bool = False,
    ) -> Any:
        """Mean, standard deviation, credible interval, effective sample sizes and R-hat of all that was drawn.

        The intercept of a label comes first, then the words that the label may use. The diagnostics are those of
        Vehtari et al. (2021), as ``arviz.summary`` has them.

        Parameters
        ----------
        names, labels : names of all words and of all labels; numbers by default
        level : float
            The probability that an interval holds.
        as_frame : bool
            Give a pandas ``DataFrame``.

        Returns
        -------
        list of WeightSummary
        """
        names = [str(j) for j in range(self.n_features)] if names is None else names
        labels = [str(k) for k in range(len(self.labels))] if labels is None else labels
        for given, n, what in ((names, self.n_features, "words"), (labels, len(self.labels), "labels")):
            if len(given) != n:
                raise InputError(f"{len(given)} names are given for {n} {what}; pass one for each")
        rows = [
            row for label, one in zip(labels, self.labels, strict=True) for row in _summary(label, one, names, level)
        ]
        return make_frame(rows, WeightSummary._fields) if as_frame else rows

    def worst_diagnostics(self, top: int = DIAGNOSED) -> tuple[float, float]:
        """The largest R-hat and the smallest bulk ESS of the intercepts and of the largest weights of each label.

        NaN where no label has enough draws.

        Parameters
        ----------
        top : int
            Weights of each label.
        """
        rows: list[WeightSummary] = []
        for one, means in zip(self.labels, np.abs(self.mean()), strict=True):
            largest = np.argsort(-means, kind="stable")[:top]
            rows += _summary("", one.take(largest[np.isin(largest, one.columns)]), range(self.n_features), 0.95)
        told = [(row.r_hat, row.ess_bulk) for row in rows if np.isfinite(row.r_hat)]
        return (max(r for r, _ in told), min(ess for _, ess in told)) if told else (np.nan, np.nan)

    # -- documents ------------------------------------------------------------------------------------------------
    def probability(self, X: Any, link: BaseLink) -> FloatArray:
        """Probability p(y = 1) of every label, averaged over the draws, (n_docs, n_labels).

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        link : BaseLink
        """
        return self._by_document(X, lambda eta: link.probability(eta).mean(axis=1))

    def class_probability(self, X: Any, link: BaseLink) -> FloatArray:
        """p of each of the labels as classes that exclude each other and were drawn together, averaged over the draws.

        Every draw is a model of its own, a softmax with the logit link; the k-th draws of all labels belong together.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        link : BaseLink
            One with ``class_probability``: logit or probit.
        """
        out = np.empty((X.shape[0], len(self.labels)))
        for rows, proba in self._classes(X, link):
            out[rows] = proba.mean(axis=1)
        return out

    def class_probability_interval(
        self, X: Any, link: BaseLink, level: float = 0.95, inverse_temperature: float = 1.0, drawn_apart: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of the central credible intervals of p of each class, as in :meth:`class_probability`.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        link : BaseLink
        level : float
            The probability that an interval holds.
        inverse_temperature : float
            The power of each class's probability before they are normalised.
        drawn_apart : bool
            Whether each class was drawn against the others: then its probability is its share, p_k^c / Σ_j p_j^c.
        """
        tails, ends = _tails(level), np.empty((2, X.shape[0], len(self.labels)))
        own = (lambda eta: normalise_classes(link.log_prob(eta, np.ones_like(eta)))) if drawn_apart else None
        for rows, proba in self._classes(X, link, own):
            if inverse_temperature != 1.0:
                proba = normalise_classes(np.log(np.maximum(proba, 1e-300)), inverse_temperature)
            ends[:, rows] = np.quantile(proba, tails, axis=1)
        return ends[0], ends[1]

    def _classes(
        self, X: Any, link: BaseLink, probability: Callable[[FloatArray], FloatArray] | None = None
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Rows of X and the probabilities of their classes by every draw, (n_rows, n_draws, n_labels)."""
        X = self._checked(X)
        for rows in _chunks(X.shape[0], max(1, _AT_ONCE // (len(self.labels) * self.labels[0].intercept.size))):
            eta = np.stack(np.broadcast_arrays(*(one.predictors(X[rows]) for one in self.labels)), axis=-1)
            yield rows, (probability or link.class_probability)(eta)

    def probability_interval(self, X: Any, link: BaseLink, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the central credible intervals of p(y = 1), each (n_docs, n_labels).

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        link : BaseLink
        level : float
            The probability that an interval holds.
        """
        low, high = _tails(level)
        # A link is monotone: quantiles of predictors are quantiles of probabilities.
        ends = [
            self._by_document(X, lambda eta, q=q: link.probability(np.quantile(eta, q, axis=1))) for q in (low, high)
        ]
        return ends[0], ends[1]

    def uncertainty(self, X: Any, link: BaseLink) -> Uncertainty:
        """The parts of the uncertainty of every label's yes or no, see ``posterior.intervals``.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        link : BaseLink
        """
        within = self._by_document(X, lambda eta: entropy_bits(link.probability(eta)).mean(axis=1))
        return Uncertainty(entropy_bits(self.probability(X, link)), within)

    def class_uncertainty(self, X: Any, link: BaseLink) -> Uncertainty:
        """The same of classes that exclude each other and were drawn together, each class yes or no.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        link : BaseLink
        """
        mean, within = np.empty((2, X.shape[0], len(self.labels)))
        for rows, proba in self._classes(X, link):
            mean[rows], within[rows] = proba.mean(axis=1), entropy_bits(proba).mean(axis=1)
        return Uncertainty(entropy_bits(mean), within)

    def _by_word(self, of_draws: Any, elsewhere: Any) -> FloatArray:
        out = np.empty((len(self.labels), self.n_features))
        for row, one in zip(out, self.labels, strict=True):
            row[:] = elsewhere(one)
            row[one.columns] = of_draws(one.flat)
        return out

    def _checked(self, X: Any) -> Any:
        X = sparse.csr_matrix(X) if not sparse.issparse(X) else X.tocsr()
        if X.shape[1] != self.n_features:
            raise InputError(
                f"X has {X.shape[1]} words, the draws {self.n_features}; pass the words they were drawn for"
            )
        return X

    def _by_document(self, X: Any, of_predictors: Any) -> FloatArray:
        X = self._checked(X)
        out = np.empty((X.shape[0], len(self.labels)))
        for k, one in enumerate(self.labels):
            for rows in _chunks(X.shape[0], max(1, _AT_ONCE // one.intercept.size)):
                out[rows, k] = of_predictors(one.predictors(X[rows]))
        return out


def _summary(label: str, one: LabelDraws, names: Sequence[Any], level: float) -> Iterator[WeightSummary]:
    from textbayes.posterior import diagnostics  # loads scipy.stats, which is slow

    drawn = np.concatenate([one.intercept[:, :, None], one.weights], axis=2)
    figures = [drawn.mean(axis=(0, 1)), drawn.std(axis=(0, 1)), *np.quantile(drawn, _tails(level), axis=(0, 1))]
    measures = (
        diagnostics.bulk_effective_sample_size,
        diagnostics.tail_effective_sample_size,
        diagnostics.split_r_hat,
    )
    # A label whose documents are all on one side is not sampled: its single draw has no diagnostics.
    few = drawn.shape[1] < diagnostics.LEAST_DRAWS
    figures += [np.full(drawn.shape[2], np.nan) if few else measure(drawn) for measure in measures]
    words = ["intercept", *(str(names[j]) for j in one.columns)]
    for word, *numbers in zip(words, *(figure.tolist() for figure in figures), strict=True):
        yield WeightSummary(str(label), word, *numbers)


def _tails(level: float) -> tuple[float, float]:
    check_level(level)
    return 0.5 - 0.5 * level, 0.5 + 0.5 * level


def _chunks(n: int, size: int) -> Iterator[slice]:
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))

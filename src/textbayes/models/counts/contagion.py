"""Negative binomials with lengths: the kernels' view of documents, estimates of (μ, δ), and scores of documents.

Two functions make the cost that of the words that occur. In learning, what the documents without a word say is
μ A(δ) with A the same for all words of a class (a table, see ``kernels.counts.contagion``). In scoring, what the words
that a document lacks say depends on its length alone, E(ω) = Σ_w μ_w ln(1 + ωδ_w)/δ_w, which is interpolated: E(ω)/ω
has its nearest singularities at ln ω = −ln δ_w ± iπ, so that Chebyshev polynomials in ln ω converge at a known rate,
and the number of nodes is chosen for 14 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray
from textbayes.models.counts.base import Dispersed
from textbayes.models.counts.statistics import CountSums, DocumentStore, sums_of

_FIRST, _LAST, _NODES = math.log(1e-6), math.log(1.1e4), 384  # of ln δ, where A is tabulated
_DIGITS = 1e-14
_MOST_OCCURRENCES = 1e6  # the kernels' time and memory grow with the largest count


class KernelDocuments(NamedTuple):
    """Documents by word: CSC ``indptr``, and count, weight, length and class of each that has the word."""

    indptr: IntArray
    values: FloatArray
    weights: FloatArray
    omega: FloatArray
    class_of: IntArray
    tables: FloatArray
    sums: FloatArray
    first: float
    width: float


def kernel_documents(store: DocumentStore) -> KernelDocuments:
    """Arrays of the documents for the kernels, in the order of their classes."""
    from textbayes.kernels.counts.contagion import exposure_table

    most = store.X.data.max() if store.X.nnz else 0.0
    if most > _MOST_OCCURRENCES:
        raise InputError(
            f"a word occurs {most:g} times in one document; this model learns from counts up to {_MOST_OCCURRENCES:g}, "
            "of words and not of weights: scale them down, or use 'dirichlet_poisson' or 'poisson'"
        )
    order = np.argsort(store.code, kind="stable")
    columns = store.X[order].tocsc()
    code, weight, omega = store.code[order], store.weight[order], store.omega[order]
    width = (_LAST - _FIRST) / (_NODES - 1)
    tables, sums = np.empty((store.n_classes, _NODES, 3)), np.empty((store.n_classes, 3))
    for c in range(store.n_classes):
        lengths, where = np.unique(omega[code == c], return_inverse=True)
        mass = np.bincount(where.ravel(), weight[code == c], minlength=len(lengths)).astype(np.float64)
        tables[c], sums[c] = exposure_table(lengths, mass, _FIRST, width, _NODES)
    rows = columns.indices
    return KernelDocuments(
        columns.indptr.astype(np.int64),
        columns.data.astype(np.float64),
        weight[rows],
        omega[rows],
        code[rows],
        tables,
        sums,
        _FIRST,
        width,
    )


def store_sums(store: DocumentStore) -> CountSums:
    """The sums of the documents of a store."""
    n_docs = len(store.code)
    indicator = sparse.csr_matrix((store.weight, (np.arange(n_docs), store.code)), shape=(n_docs, store.n_classes))
    return sums_of(store.X, indicator, store.omega, second=True)


def moment_deltas(stats: CountSums, shared: bool) -> FloatArray:
    """Mosteller & Wallace's estimates d = max(0, (v − m)/(m r)) per class and word, (C, V), or pooled over classes.

    With N documents of total length Ω in a class, m = Σx/Ω, v = Σω(x/ω − m)²/(N − 1), r = (Ω − Σω²/Ω)/(N − 1). Pooled,
    the numerators and denominators of the classes are added up, so that a difference of rates is no dispersion. A word
    that a class never had has d = 0.
    """
    exposure = stats.exposure[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = stats.counts / exposure
        spread = stats.squares - mean * stats.counts  # (N − 1) v
        excess = spread - mean * np.maximum(stats.documents[:, None] - 1.0, 0.0)
        scale = mean * (exposure - stats.words_squared[:, None] / exposure)  # (N − 1) m r
        if shared:
            excess, scale = np.nansum(excess, axis=0, keepdims=True), np.nansum(scale, axis=0, keepdims=True)
        deltas = np.where(scale > 0.0, excess / scale, 0.0)
    return np.broadcast_to(np.clip(deltas, 0.0, 1e4), stats.counts.shape)


class Fit(NamedTuple):
    """Rates and dispersions (C, V), what Newton's method had left to gain per word, and Laplace's log-evidence."""

    rates: FloatArray
    deltas: FloatArray
    left: FloatArray
    evidence: FloatArray


def fit_contagion(
    documents: KernelDocuments,
    start: Dispersed,
    pseudo: FloatArray,
    shares: FloatArray,
    betas: FloatArray,
    log_basis: bool,
    tol: float = 1e-8,
    max_iter: int = 200,
) -> Fit:
    """Modes of all words; see ``kernels.counts.contagion_modes`` for the arguments."""
    from textbayes.kernels.counts.contagion_modes import contagion_modes

    n_classes = len(documents.tables)
    zeta = np.log1p(np.clip(start.deltas, 1e-3, 1e3))
    points = np.ascontiguousarray(np.log(np.vstack([start.rates, zeta])).T)
    prior = (pseudo, shares, betas, float(log_basis))
    modes, left, evidence = contagion_modes(*documents, *prior, points, tol, max_iter)
    rates, deltas = np.exp(modes[:, :n_classes].T), np.expm1(np.exp(modes[:, n_classes:].T))
    return Fit(rates, deltas, left, evidence)


def dispersed_scores(X: sparse.csr_matrix, omega: FloatArray, estimate: Dispersed) -> FloatArray:
    """ln p(document | class) up to a constant of the document, (n_docs, C)."""
    from textbayes.kernels.counts.scores import absent_terms, present_terms

    rates, deltas = np.ascontiguousarray(estimate.rates.T), np.ascontiguousarray(estimate.deltas.T)

    def absent(lengths: FloatArray) -> FloatArray:
        return np.asarray(absent_terms(lengths, rates, deltas))

    present = present_terms(X.indptr, X.indices, X.data, omega, rates, deltas)
    return np.asarray(present) - of_lengths(absent, omega)


def of_lengths(function: Callable[[FloatArray], FloatArray], omega: FloatArray) -> FloatArray:
    """A function of the length, (n,) → (n, C), at all lengths: exactly where they are few, else by interpolation.

    f(ω)/ω must be analytic in \\|Im ln ω\\| < π. Costs the function at the nodes, about 40, whatever the documents.
    """
    distinct, where = np.unique(omega, return_inverse=True)
    n_nodes, middle, half = length_nodes(distinct)
    if len(distinct) <= n_nodes:
        return np.asarray(function(distinct))[where.ravel()]
    nodes = chebyshev.chebpts1(n_nodes)
    at = np.exp(middle + half * nodes)
    values = np.asarray(function(at)) / at[:, None]
    coefficients = 2.0 / n_nodes * (chebyshev.chebvander(nodes, n_nodes - 1).T @ values)
    coefficients[0] *= 0.5
    places = np.clip((np.log(distinct) - middle) / half, -1.0, 1.0)
    found = chebyshev.chebval(places, coefficients).T * distinct[:, None]
    return np.asarray(found)[where.ravel()]


def length_nodes(distinct: FloatArray) -> tuple[int, float, float]:
    """How many nodes interpolate functions of these lengths, in order, to 14 digits; middle and half width of ln ω."""
    if len(distinct) < 2:
        return 8, 0.0, 0.0
    half = 0.5 * math.log(distinct[-1] / distinct[0])
    rate = math.pi / half + math.hypot(1.0, math.pi / half)
    return 8 + math.ceil(-math.log(_DIGITS) / math.log(rate)), 0.5 * math.log(distinct[-1] * distinct[0]), half

"""Searches for the highest bound: what they are given, where they start, how freely they learn α, and when they end.

The bound has many maxima, a poor one among them: all clusters alike, with a large α. A search that learns α freely from
its first sweep raises it while clusters are vague, which smooths the way in large collections, and ends in the poor one
in small ones. A search that holds α below a limit until it has settled does not, but finds a little less where texts
abound. So searches take turns, and the highest bound decides. Where documents are labelled, each belongs to one class:
the search starts there, and holds α low.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.core.validation import as_numbers, check_same_length
from textbayes.models.clusters.model import (
    FIRST_DELTA,
    LARGEST,
    SMALLEST,
    ClusterWords,
    CountedDocuments,
    Known,
    data_constant,
    dirichlet_strengths,
    sweep,
)

UNLABELLED = -1
_SHAPE = 1.0  # of the gamma noise on the words' first rates: larger, and the symmetry breaks slowly
_PRIOR_WORDS = 1.0  # thousands of words of the whole collection that each labelled class starts with


class KnownClasses(NamedTuple):
    """Classes in sorted order, and each document's, −1 where it is not known."""

    classes: AnyArray
    codes: IntArray


def check_labels(y: Any, n_docs: int) -> KnownClasses | None:
    """Classes of some documents; None or −1 (also NaN) is a document whose class is not known. None if no one's is."""
    if y is None:
        return None
    labels = (
        np.empty(0) if sparse.issparse(y) else np.asarray(y if isinstance(y, list | tuple) else np.asarray(y), object)
    )
    if sparse.issparse(y) or labels.ndim != 1 or any(isinstance(label, list | tuple | set) for label in labels):
        raise InputError("y holds several labels per document; pass one label each, None or -1 where it is not known")
    check_same_length(range(n_docs), "X", labels, "y")
    known = np.array([not _is_unknown(label) for label in labels], dtype=bool)
    if not known.any():
        return None
    if len({isinstance(label, str) for label in labels[known]}) > 1:
        raise InputError("y mixes names and numbers; pass labels of one kind")
    classes, codes = np.unique(np.array(labels[known].tolist()), return_inverse=True)
    everyone = np.full(n_docs, UNLABELLED, dtype=np.int64)
    everyone[known] = codes.ravel()
    return KnownClasses(classes, everyone)


def known_documents(X: sparse.csr_matrix, omega: FloatArray, codes: IntArray, n_clusters: int) -> Known:
    """The documents of known class (``codes`` ≥ 0), summed up by cluster."""
    rows = np.flatnonzero(codes >= 0)
    shape = (len(rows), n_clusters)
    indicator = sparse.csr_matrix((np.ones(len(rows)), codes[rows], np.arange(len(rows) + 1)), shape=shape)
    counts = np.asarray((X[rows].T @ indicator).todense())
    exposure = np.bincount(codes[rows], omega[rows], minlength=n_clusters).astype(np.float64)
    return Known(counts, exposure, data_constant(X[rows], omega[rows]))


def first_words(
    totals: FloatArray, exposure: float, known: Known, alpha: FloatArray, beta: FloatArray, rng: np.random.Generator
) -> ClusterWords:
    """Start of a search: noise around equal shares; classes with known documents start at those documents' rates.

    The noise is on words, not on documents, so that the order of the documents does not matter. ``totals`` N_w (V,) of
    ``exposure`` thousand words give the first sums, σ_w = K N_w/exposure: exact if all clusters are equally large.
    """
    n_words, n_clusters = known.counts.shape
    mean = np.maximum(totals, 0.5) / exposure
    rates = mean[:, None] * rng.gamma(_SHAPE, 1.0 / _SHAPE, size=(n_words, n_clusters))
    labelled = known.exposure > 0.0
    smoothed = (known.counts + _PRIOR_WORDS * mean[:, None]) / (known.exposure + _PRIOR_WORDS)
    rates[:, labelled] = smoothed[:, labelled]
    rates = np.maximum(rates, 1e-6 * mean[:, None])
    sums = n_clusters * mean
    shares = rates / rates.sum(axis=1, keepdims=True)
    points = dirichlet_strengths(beta, sums)[:, None] + totals[:, None] * shares
    return ClusterWords(alpha, beta, sums, points)


def constants(alpha: Any, beta: Any, n_clusters: int) -> tuple[FloatArray | None, FloatArray | None]:
    """α (K,) and β (2,) as given; None for those that are to be learnt."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if isinstance(value, str) and value != "auto":
            raise InputError(f"{name}={value!r} is not known; pass 'auto' or numbers")
    first = None if isinstance(alpha, str) else as_numbers(alpha, "alpha").reshape(-1)
    pair = None if isinstance(beta, str) else as_numbers(beta, "beta")
    if first is not None:
        if first.size not in (1, n_clusters) or not (np.isfinite(first).all() and (first >= SMALLEST).all()):
            raise InputError(
                f"alpha={alpha!r} is not usable; pass a number from {SMALLEST} on, or {n_clusters} of them"
            )
        first = np.full(n_clusters, first) if first.size == 1 else first
    if pair is not None and (pair.shape != (2,) or not np.isfinite(pair).all() or pair[0] < SMALLEST or pair[1] < 0.0):
        raise InputError(f"beta={beta!r} is not usable; pass (β₁, β₂), β₁ from {SMALLEST} on and β₂ from 0 on")
    return first, pair


def _is_unknown(label: Any) -> bool:
    """None, −1 and NaN stand for a class that is not known."""
    if label is None:
        return True
    return isinstance(label, int | float | np.number) and bool(label == UNLABELLED or label != label)


_LEAST_SWEEPS = 10  # before the symmetry is broken, gains may be small for a while
_FIRST_ALPHA, _FIRST_BETA = 0.5, (0.5, 0.02)
_LABELLED_ALPHA = 0.05


class ClusterSearch(NamedTuple):
    """Result of a search: the words, the memberships, the bound after each sweep, and whether it settled."""

    words: ClusterWords
    memberships: FloatArray
    bounds: list[float]
    converged: bool


class Rules(NamedTuple):
    """Stopping rule of a search: sweeps at most, and the least gain of a sweep."""

    max_iter: int
    least_gain: float


def search(
    documents: CountedDocuments,
    known: Known,
    totals: FloatArray,
    given: tuple[FloatArray | None, FloatArray | None],
    seeds: IntArray,
    rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> ClusterSearch:
    """Run one search for each seed and keep the best.

    Parameters
    ----------
    documents : CountedDocuments
        Those of unknown class.
    known : Known
        Those of known class, summed up by cluster.
    totals : array (V,)
        N_w of all documents.
    given : pair of arrays
        α and β, None to learn.
    seeds : array of int
    rules : Rules
    pool : ThreadPoolExecutor or None
    """
    n_clusters, labelled = len(known.exposure), bool(known.exposure.any())
    beta = np.array(_FIRST_BETA) if given[1] is None else given[1]
    exposure = float(documents.omega.sum() + known.exposure.sum())
    if labelled and (known.exposure > 0.0).all():
        seeds = seeds[:1]  # nothing is drawn, so all searches would be the same
    best: ClusterSearch | None = None
    for turn, seed in enumerate(seeds):
        first = _LABELLED_ALPHA if labelled else _FIRST_ALPHA
        limit = LARGEST if turn % 2 == 1 and not labelled else first
        alpha = np.full(n_clusters, first) if given[0] is None else given[0]
        start = first_words(totals, exposure, known, alpha, beta, np.random.default_rng(seed))
        found = _one_search(documents, known, start, (given[0] is None, given[1] is None), limit, rules, pool)
        if best is None or found.bounds[-1] > best.bounds[-1]:
            best = found
    assert best is not None
    return best


def search_bursts(
    documents: CountedDocuments, known: Known, found: ClusterSearch, learn: tuple[bool, bool], rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> ClusterSearch:  # fmt: skip
    """Go on from the Poisson's clusters with words that come in bursts, each with a δ of its own."""
    words = found.words._replace(deltas=np.full(len(found.words.sums), FIRST_DELTA))
    return _climb(documents, known, words, found.memberships, learn, LARGEST, rules, pool)


def first_memberships(X: sparse.csr_matrix, alpha: FloatArray) -> FloatArray:
    """γ of documents of which no word was looked at: their occurrences go to all clusters alike."""
    return np.asarray(alpha + np.asarray(X.sum(axis=1)).reshape(-1, 1) / len(alpha))


def _one_search(
    documents: CountedDocuments,
    known: Known,
    words: ClusterWords,
    learn: tuple[bool, bool],
    limit: float,
    rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> ClusterSearch:
    memberships = first_memberships(documents.X, words.alpha)
    return _climb(documents, known, words, memberships, learn, limit, rules, pool)


def _climb(
    documents: CountedDocuments,
    known: Known,
    words: ClusterWords,
    memberships: FloatArray,
    learn: tuple[bool, bool],
    limit: float,
    rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> ClusterSearch:
    bounds: list[float] = []
    for _ in range(rules.max_iter):
        at_limit = learn[0] and limit < LARGEST and bool((words.alpha >= limit).any())
        words, memberships, bound = sweep(documents, known, words, memberships, learn, pool, alpha_limit=limit)
        bounds.append(bound)
        if len(bounds) >= _LEAST_SWEEPS and bounds[-1] - bounds[-2] <= rules.least_gain:
            if not at_limit:
                return ClusterSearch(words, memberships, bounds, True)
            limit = LARGEST
    return ClusterSearch(words, memberships, bounds, False)

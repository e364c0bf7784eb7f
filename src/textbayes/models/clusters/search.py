"""Searches for the highest bound: where they start, how freely they learn α, and when they end.

The bound has many maxima, a poor one among them: all clusters alike, with a large α. A search that learns α freely from
its first sweep raises it while clusters are vague, which smooths the way in large collections, and ends in the poor one
in small ones. A search that holds α below a limit until it has settled does not, but finds a little less where texts
abound. So searches take turns, and the highest bound decides. Where documents are labelled, each belongs to one class:
the search starts there, and holds α low.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import FloatArray, IntArray
from textbayes.models.clusters.contagion import FIRST_DELTA
from textbayes.models.clusters.inputs import first_words
from textbayes.models.clusters.model import ClusterWords, Documents, Known, sweep
from textbayes.models.clusters.priors import LARGEST

_LEAST_SWEEPS = 10  # before the symmetry is broken, gains may be small for a while
_FIRST_ALPHA, _FIRST_BETA = 0.5, (0.5, 0.02)
_LABELLED_ALPHA = 0.05


class Search(NamedTuple):
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
    documents: Documents,
    known: Known,
    totals: FloatArray,
    given: tuple[FloatArray | None, FloatArray | None],
    seeds: IntArray,
    rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> Search:
    """Run one search for each seed and keep the best.

    Parameters
    ----------
    documents : Documents
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
    best: Search | None = None
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
    documents: Documents, known: Known, found: Search, learn: tuple[bool, bool], rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> Search:  # fmt: skip
    """Go on from the Poisson's clusters with words that come in bursts, each with a δ of its own."""
    words = found.words._replace(deltas=np.full(len(found.words.sums), FIRST_DELTA))
    return _climb(documents, known, words, found.memberships, learn, LARGEST, rules, pool)


def first_memberships(X: sparse.csr_matrix, alpha: FloatArray) -> FloatArray:
    """γ of documents of which no word was looked at: their occurrences go to all clusters alike."""
    return np.asarray(alpha + np.asarray(X.sum(axis=1)).reshape(-1, 1) / len(alpha))


def _one_search(
    documents: Documents,
    known: Known,
    words: ClusterWords,
    learn: tuple[bool, bool],
    limit: float,
    rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> Search:
    memberships = first_memberships(documents.X, words.alpha)
    return _climb(documents, known, words, memberships, learn, limit, rules, pool)


def _climb(
    documents: Documents,
    known: Known,
    words: ClusterWords,
    memberships: FloatArray,
    learn: tuple[bool, bool],
    limit: float,
    rules: Rules,
    pool: ThreadPoolExecutor | None,
) -> Search:
    bounds: list[float] = []
    for _ in range(rules.max_iter):
        at_limit = learn[0] and limit < LARGEST and bool((words.alpha >= limit).any())
        words, memberships, bound = sweep(documents, known, words, memberships, learn, pool, alpha_limit=limit)
        bounds.append(bound)
        if len(bounds) >= _LEAST_SWEEPS and bounds[-1] - bounds[-2] <= rules.least_gain:
            if not at_limit:
                return Search(words, memberships, bounds, True)
            limit = LARGEST
    return Search(words, memberships, bounds, False)

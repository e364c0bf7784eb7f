"""Measures of a soft clustering: held-out perplexity by document completion, and coherence of its top words.

Both take plain arrays, so that other topic models can be measured beside ours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, Matrix


def split_tokens(
    X: Matrix | ArrayLike, random_state: int | np.random.Generator = 0
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Split each document's occurrences into two halves at random: one to learn the memberships from, one to predict.

    Of a document of n occurrences ⌈n/2⌉ are seen. What a value has beyond a whole number is seen as well.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Counts of words.
    random_state : int or Generator
    """
    X = sparse.csr_matrix(X, dtype=np.float64)
    if X.nnz and X.data.min() < 0.0:
        raise InputError(f"X has values below zero, the least is {X.data.min():g}; pass counts of words")
    rng = np.random.default_rng(random_state)
    counts = X.data.astype(np.int64)
    rows = np.repeat(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), counts)
    places = np.repeat(np.arange(X.nnz), counts)
    order = np.lexsort((rng.random(len(rows)), rows))
    begins = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])[:-1]
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - begins[rows[order]]
    sizes = np.bincount(rows, minlength=X.shape[0])
    unseen = np.bincount(places[rank >= (sizes[rows] + 1) // 2], minlength=X.nnz).astype(np.float64)
    parts = (X.data - unseen, unseen)
    halves = [sparse.csr_matrix((part, X.indices, X.indptr), shape=X.shape, copy=True) for part in parts]
    for half in halves:
        half.eliminate_zeros()
    return halves[0], halves[1]


def completion_perplexity(
    X: Matrix | ArrayLike,
    memberships: Callable[[sparse.csr_matrix], FloatArray],
    rates: ArrayLike,
    random_state: int | np.random.Generator = 0,
) -> float:
    """Perplexity exp(−mean ln p(w | d)) over the unseen half of every document's occurrences; lower is better.

    ``memberships`` gives those of documents (n_docs, K) from their seen half; ``rates`` (K, V) are words' rates or
    probabilities by cluster. p(w | d) = Σ_k θ_dk μ_kw/Σ_kw θ_dk μ_kw adds up to one over the vocabulary.
    Reference: Wallach, Murray, Salakhutdinov & Mimno (2009), Evaluation methods for topic models, ICML.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, V)
        Counts of words.
    memberships : function of counts that gives (n_docs, K)
        The fitted clusters' memberships of documents.
    rates : array (K, V)
        Rates of words per thousand of each cluster.
    random_state : int or Generator
        Seed of the halves.
    """
    seen, unseen = split_tokens(X, random_state)
    if not unseen.nnz:
        raise InputError("no document has two occurrences of known words; perplexity needs documents to split in two")
    theta, rates = np.asarray(memberships(seen)), np.asarray(rates, dtype=np.float64)
    totals = theta @ rates.sum(axis=1)
    rows = np.repeat(np.arange(unseen.shape[0]), np.diff(unseen.indptr))
    by_word = np.ascontiguousarray(rates.T)
    proba = np.concatenate(
        [
            np.einsum("nk,nk->n", theta[rows[part]], by_word[unseen.indices[part]])
            for part in np.array_split(np.arange(unseen.nnz), 1 + unseen.nnz // 100_000)
        ]
    )
    return float(np.exp(-(unseen.data * np.log(proba / totals[rows])).sum() / unseen.data.sum()))


def npmi_coherence(top_words: ArrayLike, X: Matrix | ArrayLike) -> FloatArray:
    """Coherence of clusters: mean NPMI of all pairs of top words, from the documents X that have them, (K,).

    NPMI(v, w) = ln[p(v, w)/(p(v) p(w))]/−ln p(v, w), with shares p of documents; −1 for words that never meet.
    Higher is better. References: Bouma (2009), Normalized (pointwise) mutual information in collocation extraction;
    Röder, Both & Hinneburg (2015), Exploring the space of topic coherence measures, WSDM.

    Parameters
    ----------
    top_words : array (K, n)
        Columns of X.
    X : array or sparse matrix (n_docs, V)
        Counts of words of the documents to judge by.
    """
    columns: AnyArray = np.asarray(top_words)
    if columns.ndim != 2 or columns.shape[1] < 2 or columns.dtype.kind not in "iu":
        raise InputError("top_words must hold columns of X, a row of at least two for each cluster")
    used, where = np.unique(columns, return_inverse=True)
    where = where.reshape(columns.shape)
    present = sparse.csc_matrix(X)[:, used].astype(bool).astype(np.float64)
    together = np.asarray((present.T @ present).todense()) / present.shape[0]
    single = np.diag(together)
    first, second = np.triu_indices(columns.shape[1], 1)
    coherence = np.empty(len(columns))
    for k, row in enumerate(where):
        v, w = row[first], row[second]
        joint, product = together[v, w], single[v] * single[w]
        values = np.full(len(v), -1.0)
        met = (joint > 0.0) & (joint < 1.0)
        values[met] = np.log(joint[met] / product[met]) / -np.log(joint[met])
        values[joint == 1.0] = 1.0
        coherence[k] = values.mean()
    return coherence

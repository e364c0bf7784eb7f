"""Soft clusters of words that come in bursts: the negative binomial in place of the Poisson.

With one δ_w for all clusters a negative binomial of a sum of rates is a sum of negative binomials, as with Poissons.
With μ = σ_w Σ_k θ_dk τ_wk and A(ω, δ) = ln(1 + ωδ)/δ

    ln p(x_dw) = Σ_{i<x} ln(μ + iδ_w) − x ln(1 + ω_d δ_w) − μ A(ω_d, δ_w) + x ln ω_d − ln x!,

in which the i-th later occurrence is a new one, at rate μ, or a copy of one of the i before it, at rate iδ. Given that,
the bound of ``model`` holds with one more place for a word to come from: φ_i0 ∝ iδ beside φ_ik ∝ exp(E ln σθτ). So the
sweeps are those of the Poisson with Σ_{i<x} μ/(μ + iδ) new occurrences for x, and A(ω_d, δ_w) thousand words for ω_d.

A depends on document and word, but smoothly on ln ω (see ``models.counts.contagion``): sums over documents or words are
taken at some 40 lengths and interpolated. Given the rest δ_w maximises

    c_w ln δ − Σ_d x_dw ln(1 + ω_d δ) − Σ_d E μ_dw A(ω_d, δ),   c_w = Σ_d Σ_i φ_i0 copies.

References: Airoldi, Cohen & Fienberg (2005), § 2.2 and 3.3; Antoniak (1974), for the number of new occurrences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy import sparse

from textbayes.core.types import FloatArray
from textbayes.models.counts.contagion import length_nodes

FIRST_DELTA = 0.1
_LEAST, _MOST = np.log(1e-6), np.log(1e4)  # of ln δ
_HALVINGS = 12


class Lengths(NamedTuple):
    """Lengths ω_n (N,), and what each of them counts for each document (n_docs, N): f(ω_d) = Σ_n weights_dn f(ω_n)."""

    nodes: FloatArray
    weights: FloatArray


def length_basis(omega: FloatArray) -> Lengths:
    """Interpolate functions of the length, 0 at 0 and smooth in ln ω: exactly where there are few lengths."""
    positive = omega > 0.0
    if not positive.any():
        return Lengths(np.ones(1), np.zeros((len(omega), 1)))
    distinct, where = np.unique(omega[positive], return_inverse=True)
    n_nodes, middle, half = length_nodes(distinct)
    weights = np.zeros((len(omega), min(n_nodes, len(distinct))))
    if len(distinct) <= n_nodes:
        weights[np.flatnonzero(positive), where.ravel()] = 1.0
        return Lengths(distinct, weights)
    nodes = chebyshev.chebpts1(n_nodes)
    at = np.exp(middle + half * nodes)
    transform = 2.0 / n_nodes * chebyshev.chebvander(nodes, n_nodes - 1).T
    transform[0] *= 0.5
    places = np.clip((np.log(distinct) - middle) / half, -1.0, 1.0)
    of_distinct = distinct[:, None] * (chebyshev.chebvander(places, n_nodes - 1) @ transform) / at
    weights[positive] = of_distinct[where.ravel()]
    return Lengths(at, weights)


def effective_lengths(nodes: FloatArray, deltas: FloatArray) -> FloatArray:
    """A(ω, δ) = ln(1 + ωδ)/δ, (N, V); ω where δ is 0."""
    z = nodes[:, None] * deltas
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(z < 1e-8, nodes[:, None] * (1.0 - 0.5 * z), np.log1p(z) / deltas)


def burst_constant(X: sparse.csr_matrix, omega: FloatArray, deltas: FloatArray) -> float:
    """Σ x ln(1 + ωδ) over the words that documents have."""
    lengths = np.repeat(omega, np.diff(X.indptr))
    return float((X.data * np.log1p(lengths * deltas[X.indices])).sum())


def best_deltas(
    deltas: FloatArray, copies: FloatArray, X: sparse.csr_matrix, omega: FloatArray, nodes: FloatArray, mass: FloatArray
) -> FloatArray:
    """The δ of a Newton step in ln δ that never lowers the bound, word by word.

    Parameters
    ----------
    deltas, copies : arrays (V,)
        Where to start, and c_w.
    X, omega : counts (n_docs, V) and lengths of the documents
    nodes : array (N,)
    mass : array (N, V)
        E μ of all documents at each of these lengths.
    """
    lengths = np.repeat(omega, np.diff(X.indptr))

    def by_word(values: FloatArray) -> FloatArray:
        return np.bincount(X.indices, X.data * values, minlength=len(deltas)).astype(np.float64, copy=False)

    def value(log_delta: FloatArray) -> FloatArray:
        delta = np.exp(log_delta)
        spent = (mass * effective_lengths(nodes, delta)).sum(axis=0)
        return np.asarray(copies * log_delta - by_word(np.log1p(lengths * delta[X.indices])) - spent)

    here = np.log(deltas)
    z, at = lengths * deltas[X.indices], nodes[:, None] / (1.0 + nodes[:, None] * deltas)
    effective = effective_lengths(nodes, deltas)
    slope = copies - by_word(z / (1.0 + z)) - (mass * (at - effective)).sum(axis=0)
    bend = -by_word(z / (1.0 + z) ** 2) + (mass * (at * at * deltas + at - effective)).sum(axis=0)
    step = np.clip(np.where(bend < 0.0, slope / np.maximum(-bend, 1e-12), np.sign(slope)), -1.0, 1.0)
    before, seen = value(here), by_word(np.ones(len(lengths))) > 0.0
    best = here.copy()
    waiting = seen.copy()
    for _ in range(_HALVINGS):
        tried = np.clip(here + step, _LEAST, _MOST)
        gained = waiting & (value(tried) > before)
        best[gained] = tried[gained]
        waiting &= ~gained
        if not waiting.any():
            break
        step = 0.5 * step
    return np.exp(best)

"""Draws from the posteriors of the hierarchies, their diagnostics, and documents scored with parameters integrated out.

Words are independent of each other a posteriori, so that the likelihood of a document integrated over the posterior is
a product over its words of integrals, each a mean over the draws of that word.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.lazy import LazyModule
from textbayes.core.threads import n_threads
from textbayes.core.types import AnyArray, FloatArray
from textbayes.core.validation import check_whole
from textbayes.models.counts.base import CountSums
from textbayes.models.counts.hierarchy import Fit, HierarchyConstants, KernelDocuments, of_lengths

contagion_draws_kernels = LazyModule("textbayes.kernels.counts.contagion_draws")
rates_kernels = LazyModule("textbayes.kernels.counts.rates")

_WORDS_AT_ONCE = 512


@dataclass(frozen=True)
class Sampling:
    """Settings of the sampler: ``chains`` of ``n_draws`` each, every ``thin``-th sweep stored after ``warmup`` sweeps.

    ``integrate`` scores documents by the mean of the likelihood over the draws, not by the likelihood at the means. The
    draws depend on ``random_state`` alone, not on ``n_jobs``.
    """

    n_draws: int = 200
    thin: int = 5
    warmup: int = 500
    chains: int = 2
    random_state: int = 0
    integrate: bool = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("n_draws", 4), ("thin", 1), ("warmup", 0), ("chains", 1), ("random_state", 0)):
            check_whole(name, getattr(self, name), least)


class Drawn(NamedTuple):
    """Draws (S, C, V) of rates and dispersions, chain after chain; R-hat and effective sample sizes (… C, V)."""

    rates: FloatArray
    deltas: FloatArray | None
    r_hat: FloatArray
    effective: FloatArray


def sample_rate_posterior(
    stats: CountSums, shares: FloatArray, hyperparameters: HierarchyConstants, modes: FloatArray, sampling: Sampling
) -> Drawn:
    """Draws of the Dirichlet–Poisson posterior; ``modes`` (V, C) are the log-rates to start around.

    Parameters
    ----------
    stats : CountSums
    shares : array (V, C) or (1, C)
        The Dirichlet's shares.
    hyperparameters : HierarchyConstants
        β.
    modes : array (V, C)
        Log-rates to start around.
    sampling : Sampling
    """
    counts = np.ascontiguousarray(stats.counts.T)
    strength = counts + shares * (
        hyperparameters.beta_1 + hyperparameters.beta_2 * np.exp(modes).sum(axis=1, keepdims=True)
    )
    scales = 2.4 / np.sqrt(np.column_stack([strength, counts.sum(axis=1) + 1.0]))

    def part(chain: int, lo: int, hi: int) -> FloatArray:
        own = shares[lo:hi] if len(shares) > 1 else shares
        numbers = (lo, sampling.random_state, chain, sampling.warmup, sampling.n_draws, sampling.thin)
        found = rates_kernels.sample_rates(
            counts[lo:hi],
            stats.exposure,
            own,
            hyperparameters.beta_1,
            hyperparameters.beta_2,
            modes[lo:hi],
            scales[lo:hi],
            *numbers,
        )
        return np.asarray(found[0])

    draws = _chains(part, len(counts), sampling)
    r_hat, effective = _diagnosed(draws)
    return Drawn(np.exp(_stacked(draws)), None, r_hat.T, effective.T)


def sample_dispersed_posterior(
    documents: KernelDocuments, shares: FloatArray, hyperparameters: HierarchyConstants, fit: Fit, sampling: Sampling
) -> Drawn:
    """Draws of the Dirichlet–negative-binomial posterior around the modes ``fit``.

    Parameters
    ----------
    documents : KernelDocuments
    shares : array (V, C) or (1, C)
        The Dirichlet's shares.
    hyperparameters : HierarchyConstants
        β.
    fit : Fit
        The modes to start around.
    sampling : Sampling
    """
    n_classes, n_words = fit.rates.shape
    start = np.log(np.vstack([fit.rates, np.log1p(fit.deltas)])).T
    start = np.ascontiguousarray(start)
    occurrences = np.zeros((n_words, n_classes))
    word = np.repeat(np.arange(n_words), np.diff(documents.indptr))
    np.add.at(occurrences, (word, documents.class_of), documents.values * documents.weights)
    strength = occurrences + shares * (hyperparameters.beta_1 + hyperparameters.beta_2 * fit.rates.sum(axis=0)[:, None])
    total = occurrences.sum(axis=1, keepdims=True) + 1.0
    spread = np.broadcast_to(hyperparameters.beta_3 + 1.0, (n_words, n_classes))
    scales = 2.4 / np.sqrt(np.column_stack([strength, total, spread, 1.0 + 0.1 * total]))
    pseudo = np.zeros((1, 2, n_classes))

    def part(chain: int, lo: int, hi: int) -> FloatArray:
        found = contagion_draws_kernels.sample_contagion(
            *documents, pseudo, shares, np.array(hyperparameters), start, scales,
            lo, hi, sampling.random_state, chain, sampling.warmup, sampling.n_draws, sampling.thin,
        )  # fmt: skip
        return np.asarray(found[0])

    draws = _chains(part, n_words, sampling)
    r_hat, effective = _diagnosed(draws)
    both = _stacked(draws)
    shape = (2, n_classes, n_words)
    rates, deltas = np.exp(both[:, :n_classes]), np.expm1(np.exp(both[:, n_classes:]))
    return Drawn(rates, deltas, r_hat.T.reshape(shape), effective.T.reshape(shape))


def integrated_rate_scores(X: sparse.csr_matrix, omega: FloatArray, draws: FloatArray) -> FloatArray:
    """Scores with the rates integrated out, (n_docs, C)."""
    return integrated_dispersed_scores(X, omega, draws, np.zeros_like(draws))


def integrated_dispersed_scores(
    X: sparse.csr_matrix, omega: FloatArray, rates: FloatArray, deltas: FloatArray | None
) -> FloatArray:
    """Scores with rates and dispersions integrated out; O(non-zeros × classes × draws)."""
    assert deltas is not None  # drawn together with the rates
    by_word = [np.ascontiguousarray(draws.transpose(2, 1, 0)) for draws in (rates, deltas)]
    present = contagion_draws_kernels.integrated_present(X.indptr, X.indices, X.data, omega, *by_word)
    return np.asarray(present) - of_lengths(
        lambda lengths: np.asarray(contagion_draws_kernels.integrated_absent(lengths, *by_word)), omega
    )


def _chains(part: Callable[[int, int, int], FloatArray], n_words: int, sampling: Sampling) -> FloatArray:
    """Draws (chains, n_draws, V, …): parts of the words in threads, each with streams of its own."""
    jobs = [
        (chain, lo, min(lo + _WORDS_AT_ONCE, n_words))
        for chain in range(sampling.chains)
        for lo in range(0, n_words, _WORDS_AT_ONCE)
    ]
    with ThreadPoolExecutor(n_threads(sampling.n_jobs)) as pool:
        found = list(pool.map(lambda job: part(*job), jobs))
    per_chain = len(jobs) // sampling.chains
    return np.stack([np.concatenate(found[k : k + per_chain], axis=1) for k in range(0, len(jobs), per_chain)])


def _diagnosed(draws: AnyArray) -> tuple[Any, Any]:
    """R-hat and effective sample size of every quantity (V, …); those of the log-parameters."""
    from textbayes.posterior.diagnostics import bulk_effective_sample_size, split_r_hat

    return split_r_hat(draws), bulk_effective_sample_size(draws)


def _stacked(draws: FloatArray) -> FloatArray:
    """(chains, n_draws, V, k) as (chains·n_draws, k, V)."""
    return draws.reshape(-1, *draws.shape[2:]).transpose(0, 2, 1)

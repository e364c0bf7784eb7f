"""Dirichlet hierarchies and negative binomials with lengths: their settings, estimates and scores of documents.

Two functions make the cost that of the words that occur. In learning, what the documents without a word say is
μ A(δ) with A the same for all words of a class (a table, see ``kernels.counts.contagion``). In scoring, what the words
that a document lacks say depends on its length alone, E(ω) = Σ_w μ_w ln(1 + ωδ_w)/δ_w, which is interpolated: E(ω)/ω
has its nearest singularities at ln ω = −ln δ_w ± iπ, so that Chebyshev polynomials in ln ω converge at a known rate,
and the number of nodes is chosen for 14 digits.

Draws from the posteriors, by Metropolis within Gibbs, integrate the parameters out: words are independent of each other
a posteriori, so that the likelihood of a document over the posterior is a product over its words of integrals, each a
mean over the draws of that word.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy import sparse, special

from textbayes.core.errors import InputError
from textbayes.core.lazy import LazyModule
from textbayes.core.machine import n_threads
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.core.validation import as_numbers, check_choice, check_whole
from textbayes.models.counts.base import CountSums, Dispersed, DocumentStore, per_class_and_word, sums_of

contagion_kernels = LazyModule("textbayes.kernels.counts.contagion")
posterior_kernels = LazyModule("textbayes.kernels.counts.contagion_posterior")
rates_kernels = LazyModule("textbayes.kernels.counts.rates")

BASES = ("log", "ratio")
SPREAD_DEFAULTS = (500.0, 1.0, 1.0)  # β₃: dispersions of a word nearly equal in all classes; β₄, β₅: ξ exponential


class HierarchyConstants(NamedTuple):
    """Hyperparameters β₁ … β₅; a model of rates alone uses the first two."""

    beta_1: float
    beta_2: float
    beta_3: float = SPREAD_DEFAULTS[0]
    beta_4: float = SPREAD_DEFAULTS[1]
    beta_5: float = SPREAD_DEFAULTS[2]


def check_beta(beta: Any, most: int, basis: str) -> HierarchyConstants | None:
    """β as given, from two numbers on; None for ``"auto"`` and ``"evidence"``, which are found from the documents."""
    check_choice("basis", basis, BASES)
    if isinstance(beta, str):
        check_choice("beta", beta, ("auto", "evidence"))
        return None
    values = as_numbers(beta, "beta").ravel()
    if not 2 <= len(values) <= most:
        wanted = "(β₁, β₂)" if most == 2 else "(β₁, β₂) or (β₁, β₂, β₃, β₄, β₅)"
        raise InputError(f"beta={beta!r} has {len(values)} value(s); pass {wanted}")
    if not np.isfinite(values).all() or values[0] <= 0.0 or values[1] < 0.0 or (values[2:] <= 0.0).any():
        raise InputError(f"beta={beta!r} is not usable; all are positive and finite, β₂ may be 0")
    if basis == "ratio" and (values[0] <= 1.0 or (len(values) > 2 and values[2] <= 1.0)):
        raise InputError(
            f"beta={beta!r} has its mode at the edge, where rates are zero; with basis='ratio' pass β₁ and β₃ above 1, "
            "or use basis='log'"
        )
    return HierarchyConstants(*(float(value) for value in values))


def shares_of(rate_means: Any, n_classes: int, n_features: int) -> FloatArray:
    """The Dirichlet's shares w (V, C), adding up to C, from prior rates (C, V); (1, C) of ones where none are given."""
    if rate_means is None:
        return np.ones((1, n_classes))
    means = per_class_and_word(rate_means, "rate_means", n_classes, n_features).T
    return np.ascontiguousarray(n_classes * means / means.sum(axis=1, keepdims=True))


def start_log_rates(
    counts: FloatArray, exposure: FloatArray, shares: FloatArray, hyperparameters: HierarchyConstants
) -> FloatArray:
    """Log-rates (V, C) to start Newton's method from: the mode if all classes had the same exposure."""
    counts = counts.T
    mean = max(float(exposure.mean()), 1e-9)
    known = exposure > 1e-6 * mean
    plain = np.where(known, counts / np.where(known, exposure, 1.0), counts.sum(axis=1, keepdims=True) / exposure.sum())
    sigma = plain.sum(axis=1, keepdims=True) + 1.0 / mean
    weight = plain * mean + shares * (hyperparameters.beta_1 + hyperparameters.beta_2 * sigma)
    return np.log(sigma) + np.log(weight) - np.log(weight.sum(axis=1, keepdims=True))


def level_unseen(values: FloatArray, counts: FloatArray, shares: FloatArray) -> FloatArray:
    """Values (…, C, V), changed in place, of which words with no occurrence in ``counts`` (C, V) split as ``shares``.

    The mode of a word that no class had would differ by how much text each class has, and by that alone. It is next to
    nothing for one word; but a vocabulary may have ten thousands of them, which then outvote the words that were seen.
    """
    unseen = counts.sum(axis=0) == 0.0
    if unseen.any():
        split = shares if len(shares) == 1 else shares[unseen]
        values[..., unseen] = values[..., unseen].mean(axis=-2, keepdims=True) * split.T
    return values


def spread_constant(hyperparameters: HierarchyConstants, n_classes: int) -> float:
    """The constant of the dispersions' prior, which the kernels leave out and a comparison of β needs."""
    dirichlet = special.gammaln(n_classes * hyperparameters.beta_3) - n_classes * special.gammaln(
        hyperparameters.beta_3
    )
    gamma = hyperparameters.beta_5 * np.log(hyperparameters.beta_5 / hyperparameters.beta_4) - special.gammaln(
        hyperparameters.beta_5
    )
    return float(dirichlet + gamma)


def chosen_beta(
    beta: Any, basis: str, exposure: FloatArray, dispersed: bool, log_evidence: Callable[[HierarchyConstants], float]
) -> HierarchyConstants:
    """β as a model is to use it: as given, by the amount of text (``"auto"``), or of the highest ``log_evidence``."""
    hyperparameters = check_beta(beta, 5 if dispersed else 2, basis)
    if hyperparameters is not None:
        return hyperparameters
    if beta == "auto":
        return automatic_beta(exposure, dispersed)
    return max(evidence_grid(exposure, dispersed), key=log_evidence)


def automatic_beta(exposure: FloatArray, dispersed: bool) -> HierarchyConstants:
    """β₁ = 10 occurrences; β₂ a share of the T thousand words that a class has on average: 0.3, or T/(T + 3).

    Words of a class are not independent of each other, so that their evidence adds up to too much; made-up text with
    equal rates makes frequent words say less. With ``dispersed`` rates the model weighs bursts of words by itself and
    needs 0.3 of the text; Poisson rates need as much as there is, but less where a class has next to no text, since β₂
    also draws rare words to larger sums. They are compromises, compared with 0.03 to 3 of the text on held-out texts of
    newsgroups (5 to 200 texts a class), movie reviews (10 to 900) and the Federalist papers: few frequent words need
    less, whole vocabularies more. ``beta="cv"`` finds what is best.
    """
    words = float(exposure.mean())
    return HierarchyConstants(10.0, (0.3 if dispersed else words / (words + 3.0)) * words)


def evidence_grid(exposure: FloatArray, spread: bool) -> list[HierarchyConstants]:
    """β among which the evidence chooses: β₁ and β₂ on their scales, β₂ relative to the words of a class."""
    mean = float(exposure.mean())
    pairs = [(one, two * mean) for one in (0.3, 1.0, 3.0, 10.0) for two in (0.0, 0.03, 0.3, 3.0)]
    if not spread:
        return [HierarchyConstants(*pair) for pair in pairs]
    return [HierarchyConstants(one, two, three) for one, two in pairs for three in (20.0, 500.0)]


_FIRST, _LAST, _NODES = math.log(1e-6), math.log(1.1e4), 384  # of ln δ, where A is tabulated
_DIGITS = 1e-14
_TOL, _MAX_ITER = 1e-8, 200  # of the modes of the words
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
        tables[c], sums[c] = contagion_kernels.exposure_table(lengths, mass, _FIRST, width, _NODES)
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
) -> Fit:
    """Modes of all words; see ``kernels.counts.contagion_posterior`` for the arguments."""
    n_classes = len(documents.tables)
    zeta = np.log1p(np.clip(start.deltas, 1e-3, 1e3))
    points = np.ascontiguousarray(np.log(np.vstack([start.rates, zeta])).T)
    prior = (pseudo, shares, betas, float(log_basis))
    modes, left, evidence = posterior_kernels.contagion_modes(*documents, *prior, points, _TOL, _MAX_ITER)
    rates, deltas = np.exp(modes[:, :n_classes].T), np.expm1(np.exp(modes[:, n_classes:].T))
    return Fit(rates, deltas, left, evidence)


def dispersed_scores(X: sparse.csr_matrix, omega: FloatArray, estimate: Dispersed) -> FloatArray:
    """ln p(document | class) up to a constant of the document, (n_docs, C)."""
    rates, deltas = np.ascontiguousarray(estimate.rates.T), np.ascontiguousarray(estimate.deltas.T)

    def absent(lengths: FloatArray) -> FloatArray:
        return np.asarray(contagion_kernels.absent_terms(lengths, rates, deltas))

    present = contagion_kernels.present_terms(X.indptr, X.indices, X.data, omega, rates, deltas)
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
        found = posterior_kernels.sample_contagion(
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
    present = posterior_kernels.integrated_present(X.indptr, X.indices, X.data, omega, *by_word)
    return np.asarray(present) - of_lengths(
        lambda lengths: np.asarray(posterior_kernels.integrated_absent(lengths, *by_word)), omega
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

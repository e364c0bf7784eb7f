"""P-values of Δ² by sampling: the paper's first way, and the yardstick of the others."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.lexical.delta2_null import Tail
from textbayes.lexical.exposures import Exposures


def sample_tail(exposures: Exposures, dispersion: FloatArray, n_draws: int, seed: int) -> Tail:
    """The share of ``n_draws`` samples with a larger and with the same Δ², (n_labels, n_features).

    Samples come from the model fitted under the null: every document d has counts of mean ω_d μ̂, μ̂ = n/Ω, Poisson or
    negative binomial with the word's δ. As a gamma mixture, x_d ~ Poisson(ω_d g_d) with g_d ~ Gamma(μ̂/δ, δ), so a sum
    over documents is one Poisson draw given Σ ω_d g_d. The observed sample counts as one more, so that
    p = (1 + #{≥}) / (1 + ``n_draws``) is never 0. Each word has a stream of its own.

    Complexity: n_draws · n_docs gamma draws per word with δ > 0, n_draws · n_labels Poisson draws per word.

    References: the contagion paper, §4 (i–iii); Davison & Hinkley (1997), *Bootstrap Methods*, §4.2.

    Parameters
    ----------
    exposures : Exposures
    dispersion : array (n_features,)
    n_draws, seed : int
    """
    share, both = exposures.share, exposures.text_of_both
    sums = exposures.sums.toarray()
    shape = sums.shape
    greater, equal = np.ones(shape), np.zeros(shape)
    member = exposures.inputs.Yt[both]
    weighted = member.multiply(exposures.lengths).tocsr()
    total_length = exposures.powers[0]
    scale = share[both] * (1.0 - share[both])
    for word in np.flatnonzero(exposures.totals > 0.0):
        rng = np.random.default_rng([seed, int(word)])
        n = exposures.totals[word]
        observed = np.square(sums[both, word] - n * share[both]) / (n * scale)
        rate, delta = n / total_length, dispersion[word]
        if delta > 0.0:
            rates = rng.gamma(rate / delta, delta, (n_draws, len(exposures.lengths)))
            mean_in = (weighted @ rates.T).T
            mean_out = np.maximum((rates @ exposures.lengths)[:, None] - mean_in, 0.0)
        else:
            mean_in = np.broadcast_to(n * share[both], (n_draws, both.sum()))
            mean_out = n - mean_in
        inside = rng.poisson(mean_in)
        drawn = inside + rng.poisson(mean_out)
        sampled = np.square(inside - drawn * share[both]) / (np.maximum(drawn, 1) * scale)
        tie = np.isclose(sampled, observed, rtol=1e-9, atol=1e-12)
        greater[both, word] = ((sampled > observed) & ~tie).sum(axis=0) / (n_draws + 1.0)
        equal[both, word] = (tie.sum(axis=0) + 1.0) / (n_draws + 1.0)
    return Tail(greater, equal)

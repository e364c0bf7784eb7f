"""P-values of every Δ² variant under the null: uniform by a Kolmogorov–Smirnov test where the variant claims to hold.

Words of one rate in all documents, in 300 documents whose lengths vary 10×, in classes of equal size and of 1:5, at
0.05 to 20 occurrences per thousand words, Poisson and negative binomial (δ = 0.5); 2,000 words a cell (500 for sampled
p-values). Counts are discrete, so p-values of discrete tests are randomised, P(Δ² > observed) + U·P(Δ² = observed);
for the continuous approximations the count is spread over its unit cell, S + U − ½: what is tested is the
approximation, not the lattice. A cell that is uneven at the 1 % level is drawn again for the same documents, four times
as large, and fails if it is uneven again. A variant claims to hold always, nowhere, or from so many occurrences
expected in the smaller class on, counted in independent ones: n·min(π, 1−π)/(1 + δω̃).

The table shows the KS distance, "!" where it is significant at 1 %, and the share of p-values at most 5 %, in %;
a cell in brackets is one for which nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse, special, stats

from _common import close
from textbayes.lexical.delta2 import (
    METHODS,
    NullTail,
    WordCategoryPairs,
    delta2,
    printed_third_order,
    sample_tail,
    word_dispersion,
    word_pairs,
)
from textbayes.lexical.exposures import Exposures, word_exposures

N_DOCS, N_WORDS, N_SAMPLED, N_DRAWS = 300, 2000, 500, 199
RATES = (0.05, 0.2, 1.0, 5.0, 20.0)
DELTA = 0.5
SIZES = {"1:1": 0.5, "1:5": 1.0 / 6.0}
LEVEL = 0.01
NEVER = np.inf


class Variant(NamedTuple):
    """Counts' model, what is assumed of δ, method, and from how many expected occurrences on it claims to hold."""

    counts: str
    assumed: str
    method: str
    claims_from: float


VARIANTS = [
    Variant("Poisson", "Poisson", "exact", 0.0),
    Variant("Poisson", "Poisson", "monte_carlo", 0.0),
    Variant("Poisson", "Poisson", "chi2", 10.0),
    Variant("Poisson", "Poisson", "second_order", NEVER),
    Variant("Poisson", "Poisson", "third_order", NEVER),
    Variant("Poisson", "Poisson", "printed third_order", NEVER),
    Variant("Poisson", "NB, δ estimated", "exact", 10.0),
    Variant("Poisson", "NB, δ estimated", "chi2", 10.0),
    *(
        Variant("NB", assumed, method, claims_from)
        for assumed, least in (("NB, δ known", 0.0), ("NB, δ estimated", 10.0))
        for method, claims_from in (
            ("exact", least), ("monte_carlo", least), ("chi2", 10.0), ("second_order", NEVER), ("third_order", NEVER),
        )
    ),
    Variant("NB", "Poisson", "exact", NEVER),
]  # fmt: skip


def simulate(seed: list[int], counts: str, share: float, rate: float, n_words: int) -> Exposures:
    """Words of one rate in documents of 0.3 to 3 thousand words, of which a ``share`` is in class 1.

    The first four numbers of the seed are those of the documents, all of them those of the words.
    """
    lengths = np.exp(np.random.default_rng(seed[:4]).uniform(np.log(0.3), np.log(3.0), N_DOCS))
    rng = np.random.default_rng([*seed, 7])
    y = np.arange(N_DOCS) < round(share * N_DOCS)
    rates = rate if counts == "Poisson" else rng.gamma(rate / DELTA, DELTA, (n_words, N_DOCS))
    X = rng.poisson(np.broadcast_to(rates * lengths, (n_words, N_DOCS))).T
    return word_exposures(sparse.csr_matrix(X), y, lengths)


def printed(pairs: WordCategoryPairs) -> NullTail:
    """The paper's formula; it knows equal exposures only, so it is given half of the occurrences."""
    mean, variance = printed_third_order(pairs.total / 2.0)
    return NullTail(special.ndtr((mean - delta2(pairs)) / np.sqrt(variance)), np.zeros(()))


def null_p_values(
    seed: list[int], variant: Variant, share: float, rate: float, n_words: int
) -> tuple[np.ndarray, float]:
    """Randomised p-values, and the mean number of independent occurrences expected in the smaller class."""
    exposures = simulate(seed, variant.counts, share, rate, n_words)
    rng = np.random.default_rng([*seed, 8])
    model = "poisson" if variant.assumed == "Poisson" else "negative_binomial"
    known = DELTA if variant.assumed == "NB, δ known" else None
    delta = word_dispersion(exposures, model, known)
    occur = exposures.totals > 0
    observed = exposures.sums.toarray()[0, occur]
    labels = np.zeros(occur.sum(), dtype=np.int64)
    jitter = rng.random(occur.sum())
    if variant.method == "monte_carlo":
        tail = sample_tail(exposures, delta, N_DRAWS, int(rng.integers(1 << 30)))
        tail = NullTail(tail.greater[0, occur], tail.equal[0, occur])
    else:
        if variant.method != "exact":
            observed = observed + rng.random(len(observed)) - 0.5
        pairs = word_pairs(exposures, labels, observed, exposures.totals[occur], delta[occur])
        tail = printed(pairs) if variant.method.startswith("printed") else METHODS[variant.method](pairs)
    pi, true_delta = exposures.share[0], 0.0 if variant.counts == "Poisson" else DELTA
    independent = rate * exposures.powers[0] * min(pi, 1 - pi) / (1 + true_delta * exposures.tilt[0])
    return tail.greater + jitter * tail.equal, float(independent)


class Cell(NamedTuple):
    distance: float
    uneven: bool
    drawn_again: bool
    size: float
    claimed: bool


def look(variant: Variant, share: float, rate: float, seed: list[int]) -> Cell:
    n_words = N_SAMPLED if variant.method == "monte_carlo" else N_WORDS
    p, independent = null_p_values(seed, variant, share, rate, n_words)
    test = stats.kstest(p, "uniform")
    uneven = test.pvalue < LEVEL
    claimed = independent >= variant.claims_from
    drawn_again = bool(uneven and claimed)
    if drawn_again:
        again, _ = null_p_values([*seed, 1], variant, share, rate, 4 * n_words)
        uneven = stats.kstest(again, "uniform").pvalue < LEVEL
    return Cell(test.statistic, uneven, drawn_again, float(np.mean(p <= 0.05)), claimed)


def rows() -> Iterator[tuple[Variant, str, list[Cell]]]:
    for i, variant in enumerate(VARIANTS):
        for j, (name, share) in enumerate(SIZES.items()):
            if variant.method.startswith("printed") and name != "1:1":
                continue
            yield variant, name, [look(variant, share, rate, [2026, i, j, k]) for k, rate in enumerate(RATES)]


def shown(cell: Cell) -> str:
    text = f"{cell.distance:.3f}{'!' if cell.uneven else ''} {100 * cell.size:.1f}"
    return text if cell.claimed else f"({text})"


def main(out: Callable[[str], None] = print) -> None:
    out(f"{'counts':8} {'assumed':16} {'p-value by':20} {'sizes':5} " + "".join(f"{r:>14g}" for r in RATES))
    n_claimed = n_failed = n_again = n_normal_even = 0
    for variant, name, cells in rows():
        out(
            f"{variant.counts:8} {variant.assumed:16} {variant.method:20} {name:5} "
            + "".join(f"{shown(cell):>14}" for cell in cells)
        )
        n_claimed += sum(cell.claimed for cell in cells)
        n_failed += sum(cell.claimed and cell.uneven for cell in cells)
        n_again += sum(cell.drawn_again for cell in cells)
        n_normal_even += sum("order" in variant.method and not cell.uneven for cell in cells)
    out(f"cells of the normal approximations that are uniform: {n_normal_even}")
    figures = (
        f"uniform in {n_claimed - n_failed} of {n_claimed} cells where a variant claims to hold, {n_again} drawn again"
    )
    close("delta2_null", n_failed == 0, figures)


if __name__ == "__main__":
    main()

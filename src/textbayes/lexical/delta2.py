"""Δ²: does a word occur at one rate inside and outside a category, given how counts of words vary?

Its null distribution has five ways to p-values, one of them by simulation.
For one word and one category, S₁ counts the word inside and n everywhere; π is the category's share of all text. If the
rate of the word is the same inside and outside, S₁ has mean nπ given n, and

    Δ² = (S₁ − nπ)² / (nπ(1−π)),

which is the paper's (S₁ − S₂)²/(S₁ + S₂) where both sides have equally much text. ``docs/guide/keyness.md`` has the
derivations.

Mean and variance of Δ² follow from expansions. With D = (1−π)S₁ − πS₂, whose mean is 0 under the null, and T = S₁ + S₂
with mean M, Δ² = D² / (π(1−π) T). Expanding 1/T about M,

    2nd order   Δ² ≈ D² / (π(1−π)M)
    3rd order   Δ² ≈ D² (1 − (T−M)/M) / (π(1−π)M).

The moments of these polynomials follow from the joint cumulants c_ab of (D, T), which add up over the two independent
sums: c_ab = (1−π)^a k_{a+b}(S₁) + (−π)^a k_{a+b}(S₂). For Poisson counts and π = ½ the 2nd order gives the paper's
N(1, 2 + 1/(2m)), m = M/2, and the 3rd order its mean 1 − 1/(2m), but the variance 2 − 3/m + 5/(2m²) + 1/(8m³) where the
paper prints 2 + 11/(4m) + 25/(8m²) + 1/(8m³): a misprint or slip, see :func:`printed_third_order`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from textbayes.core.errors import InputError
from textbayes.core.protocols import ScoreFunction, ScoreResult
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import as_numbers, check_choice, check_finite
from textbayes.lexical.exposures import Exposures, mosteller_wallace, word_exposures
from textbayes.lexical.p_values import chi2_p_value

Model = Literal["poisson", "negative_binomial"]
MethodName = Literal["chi2", "exact", "second_order", "third_order", "monte_carlo"]
Ties = Literal["mid", "full"]
MONTE_CARLO = "monte_carlo"


def delta2_test(
    X: Matrix,
    Y: AnyArray,
    *,
    lengths: ArrayLike | None = None,
    model: Model = "poisson",
    method: MethodName = "chi2",
    ties: Ties = "mid",
    dispersion: ArrayLike | None = None,
    n_draws: int = 999,
    random_state: int = 0,
) -> ScoreResult:
    """Δ²/(1 + δω̃) of every word for every label, and P(Δ² ≥ observed) if the word's rate does not depend on the label.

    Parameters
    ----------
    X
        Counts of words (n_docs, n_features): whole numbers, no weights.
    Y
        Indicator (n_docs, n_labels); each label is tested against all documents without it.
    lengths
        Of the documents, in thousands of words; the row sums of X unless given. Under the null the category has its
        share of the text, π = Ω_in/Ω, also of the word: so unequal classes and lengths are accounted for.
    model
        ``"poisson"`` (δ = 0), or ``"negative_binomial"``, for words that come in bursts.
    method
        ``"exact"``: the distribution given the word's total, binomial or beta-binomial, right at any frequency;
        ``"chi2"``: its limit, for words with some ten occurrences expected on either side; ``"monte_carlo"``: samples
        of the fitted model; ``"second_order"``, ``"third_order"``: the paper's normal approximations, whose p-values
        hold nowhere (``docs/guide/keyness.md``) and which are here to be compared.
    ties
        What P(Δ² = observed) counts, where the method knows it: half (``"mid"``, close to uniform under the null), or
        in full (``"full"``, never too small a p-value).
    dispersion
        δ of each word (or of all) if known; moment estimates over all documents unless given.
    n_draws, random_state
        Samples per word for ``"monte_carlo"``, and their seed.

    Words that do not occur and labels with all or none of the text score 0 with p-value 1.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §4 (the contagion paper).

    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> result = delta2_test(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1], method="exact")
    >>> result.scores.round(3), result.p_values.round(4).tolist()
    (array([[10.889,  0.   ]]), [[0.0007, 0.8125]])
    """
    check_choice("model", model, ("poisson", "negative_binomial"))
    check_choice("method", method, (*METHODS, MONTE_CARLO))
    check_choice("ties", ties, ("mid", "full"))
    exposures = word_exposures(X, Y, lengths)
    delta = word_dispersion(exposures, model, dispersion)
    if method != MONTE_CARLO:
        return _spread(exposures, delta, METHODS[method], ties)
    if n_draws < 1:
        raise InputError(f"n_draws={n_draws!r} must be at least 1; 999 is the usual choice")
    tail = sample_tail(exposures, delta, n_draws, random_state)
    scores = _spread(exposures, delta, METHODS["chi2"], ties).scores
    return ScoreResult(scores, p_values(tail, ties))


def delta2_score(**settings: Any) -> ScoreFunction:
    """A score function (X, Y) for ``SelectWords`` and the rules: :func:`delta2_test` with settings, picklable.

    >>> score = delta2_score(model="negative_binomial", method="exact", ties="full")
    >>> score(np.array([[3, 0], [0, 1]]), np.array([1, 0])).scores.shape
    (1, 2)
    """
    return functools.partial(delta2_test, **settings)


def word_dispersion(exposures: Exposures, model: str, dispersion: Any) -> FloatArray:
    """Dispersion δ of each word, (n_features,): 0 for the Poisson model, as given, or estimated.

    Parameters
    ----------
    exposures : Exposures
    model : {"poisson", "negative_binomial"}
    dispersion : float, array (n_features,) or None
        None estimates it by moments.
    """
    n_features = exposures.inputs.n_features
    if dispersion is not None:
        if model == "poisson":
            raise InputError("dispersion was given, but the Poisson model has none; use model='negative_binomial'")
        given = as_numbers(dispersion, "dispersion")
        if given.shape not in ((), (n_features,)):
            raise InputError(f"dispersion has shape {given.shape}; pass a number or one for each of {n_features} words")
        check_finite(given, "dispersion")
        if (given < 0.0).any():
            raise InputError(f"dispersion goes down to {given.min():.3g}; δ is 0 for Poisson counts and positive else")
        return np.broadcast_to(given, (n_features,))
    if model == "poisson":
        return np.zeros(n_features)
    return mosteller_wallace(exposures.inputs.X, exposures.lengths).dispersion


def word_pairs(
    exposures: Exposures, labels: IntArray, observed: FloatArray, totals: FloatArray, delta: FloatArray
) -> WordCategoryPairs:
    """Pairs of a label and a word, with the moments that their null distribution needs."""
    share, tilt = exposures.share[labels], exposures.tilt[labels]
    return WordCategoryPairs(observed, totals, share, delta, tilt, labels, exposures.powers_in, exposures.powers)


def p_values(tail: NullTail, ties: Ties) -> FloatArray:
    """P-values of Δ²: P(Δ² > observed) and half or all of P(Δ² = observed).

    Parameters
    ----------
    tail : NullTail
    ties : {"mid", "full"}
        Whether half or all of the equal values count.
    """
    result: FloatArray = np.minimum(tail.greater + {"mid": 0.5, "full": 1.0}[ties] * tail.equal, 1.0)
    return result


def _spread(exposures: Exposures, delta: FloatArray, method: Method, ties: Ties) -> ScoreResult:
    """Scores and p-values of all labels and words.

    Most words never meet most categories. Their S₁ is 0 and all else depends on the category, the word's total and
    its δ, and many words share those: such pairs are evaluated once per category and distinct (n, δ).
    """
    labels = np.flatnonzero(exposures.text_of_both)
    n_labels, n_features = exposures.sums.shape
    if not labels.size or not n_features:
        return ScoreResult(np.zeros((n_labels, n_features)), np.ones((n_labels, n_features)))

    def evaluate(pairs: WordCategoryPairs) -> tuple[FloatArray, FloatArray]:
        return delta2(pairs) / pairs.inflation, p_values(method(pairs), ties)

    kinds, place = np.unique(exposures.totals + 1j * delta, return_inverse=True)  # pairs (n, δ) in one number
    with np.errstate(divide="ignore", invalid="ignore"):  # words that do not occur, overwritten below
        apart = evaluate(word_pairs(exposures, labels[:, None], np.zeros(()), kinds.real, kinds.imag))
    meets = exposures.sums if len(labels) == n_labels else exposures.sums[labels]
    row = np.repeat(np.arange(len(labels)), np.diff(meets.indptr))
    word = meets.indices
    met = evaluate(word_pairs(exposures, labels[row], meets.data, exposures.totals[word], delta[word]))
    absent = exposures.totals == 0.0

    def whole(at_kind: FloatArray, at_pair: FloatArray, nothing: float) -> FloatArray:
        tested: FloatArray = np.take(at_kind, place.ravel(), axis=1)
        tested[row, word] = at_pair
        tested[:, absent] = nothing
        if len(labels) == n_labels:
            return tested
        full = np.full((n_labels, n_features), nothing)
        full[labels] = tested
        return full

    return ScoreResult(whole(apart[0], met[0], 0.0), whole(apart[1], met[1], 1.0))


def sample_tail(exposures: Exposures, dispersion: FloatArray, n_draws: int, seed: int) -> NullTail:
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
    return NullTail(greater, equal)


# κ_r(x) = μδ⁻¹ Σ_j a_rj (ωδ)^j of one negative-binomial count; κ_{r+1} = P(1+P) dκ_r/dP with P = ωδ.
_NEGATIVE_BINOMIAL = (
    (1.0,),
    (1.0, 1.0),
    (1.0, 3.0, 2.0),
    (1.0, 7.0, 12.0, 6.0),
    (1.0, 15.0, 50.0, 60.0, 24.0),
    (1.0, 31.0, 180.0, 390.0, 360.0, 120.0),
)


class NullMoments(NamedTuple):
    """Moments of Δ² under the null, elementwise."""

    mean: FloatArray
    variance: FloatArray


def cumulants(rate: FloatArray, dispersion: FloatArray, powers: FloatArray) -> list[FloatArray]:
    """Cumulants k_1, …, k_6 of a sum of counts, given Σ_d ω_d^r as the columns of ``powers``.

    k_r = μ Σ_j a_rj δ^{j−1} Σ_d ω_d^j, with a_rj the coefficients of the negative binomial's cumulants in P = ωδ;
    δ = 0 leaves k_r = μ Σω, the Poisson's.
    """
    return [
        rate * sum(a * dispersion**j * powers[..., j] for j, a in enumerate(coefficients))
        for coefficients in _NEGATIVE_BINOMIAL
    ]


def second_order(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> NullMoments:
    """Mean c20/s and variance (c40 + 2c20²)/s² of D²/s, s = π(1−π)M."""
    c = _joint(share, inside, outside)
    scale = share * (1.0 - share) * (inside[0] + outside[0])
    return NullMoments(c(2, 0) / scale, (c(4, 0) + 2.0 * c(2, 0) ** 2) / scale**2)


def third_order(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> NullMoments:
    """Moments of D²(1 − (T−M)/M)/s: joint moments up to order 6 by partitions into blocks of two and more."""
    c = _joint(share, inside, outside)
    total = inside[0] + outside[0]
    scale = share * (1.0 - share) * total
    d4 = c(4, 0) + 3.0 * c(2, 0) ** 2
    d4t = c(4, 1) + 6.0 * c(2, 0) * c(2, 1) + 4.0 * c(1, 1) * c(3, 0)
    d4tt = (
        c(4, 2)
        + 6.0 * c(2, 0) * c(2, 2)
        + 8.0 * c(1, 1) * c(3, 1)
        + c(0, 2) * c(4, 0)
        + 4.0 * c(3, 0) * c(1, 2)
        + 6.0 * c(2, 1) ** 2
        + 3.0 * c(2, 0) ** 2 * c(0, 2)
        + 12.0 * c(1, 1) ** 2 * c(2, 0)
    )
    mean = c(2, 0) - c(2, 1) / total
    variance = d4 - 2.0 * d4t / total + d4tt / total**2 - mean**2
    return NullMoments(mean / scale, variance / scale**2)


def printed_third_order(m: FloatArray) -> NullMoments:
    """The paper's N(1 − 1/(2m), (1 + m(25 + 2m(11 + 8m)))/(8m³)), Poisson counts of mean m = ωμ in both classes.

    Its variance is not that of the 3rd-order polynomial (see the top of this file) nor closer to that of Δ², which is
    2 − 1/m + O(1/m²); kept to be compared.

    Reference: the contagion paper, §4.
    """
    m = np.asarray(m, dtype=np.float64)
    return NullMoments(1.0 - 1.0 / (2.0 * m), (1.0 + m * (25.0 + 2.0 * m * (11.0 + 8.0 * m))) / (8.0 * m**3))


def _joint(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> Callable[[int, int], FloatArray]:
    def c(a: int, b: int) -> FloatArray:
        r = a + b - 1
        result: FloatArray = (1.0 - share) ** a * inside[r] + (-share) ** a * outside[r]
        return result

    return c


MOST_EXACT = 1e9
"""Above so many occurrences of a word its exact tails are those of χ²₁ and their logarithms lose digits."""

MOST_TABLED = 1e6
"""Logarithms of factorials are looked up as far as this."""


class WordCategoryPairs(NamedTuple):
    """Words and categories, as arrays that broadcast.

    ``observed`` S₁, ``total`` n ≥ 1, ``share`` 0 < π < 1, ``dispersion`` δ ≥ 0 (0: Poisson), ``tilt`` ω̃ of the
    category, and ``label``, its row in ``powers_in`` (n_labels, 6), the Σω^r inside; ``powers`` (6,) is of all text.
    """

    observed: FloatArray
    total: FloatArray
    share: FloatArray
    dispersion: FloatArray
    tilt: FloatArray
    label: IntArray
    powers_in: FloatArray
    powers: FloatArray

    @property
    def inflation(self) -> FloatArray:
        """1 + δω̃: the variance of S₁ − πn over that of Poisson counts."""
        return 1.0 + self.dispersion * self.tilt


class NullTail(NamedTuple):
    """P(Δ² > observed) and P(Δ² = observed) under the null; ``equal`` is 0 for continuous approximations."""

    greater: FloatArray
    equal: FloatArray


Method = Callable[[WordCategoryPairs], NullTail]


def delta2(pairs: WordCategoryPairs) -> FloatArray:
    """Δ² = (S₁ − nπ)² / (nπ(1−π))."""
    scale = pairs.total * (pairs.share * (1.0 - pairs.share))
    result: FloatArray = np.square(pairs.observed - pairs.total * pairs.share) / scale
    return result


def chi2(pairs: WordCategoryPairs) -> NullTail:
    """Δ²/(1 + δω̃) as χ²₁: the limit for many occurrences, since S₁ − πn is then normal."""
    p = chi2_p_value(delta2(pairs) / pairs.inflation)
    return NullTail(p, np.zeros(()))


def exact(pairs: WordCategoryPairs) -> NullTail:
    """The conditional distribution given n: binomial(n, π); with δ > 0 beta-binomial(n; πA, (1−π)A), A = n/(δω̃).

    The binomial is exact for Poisson counts of any lengths. The beta-binomial is exact for negative-binomial counts in
    documents of one length, with A = κN their total shape; here κ = μ/δ with μ = n/Ω, and unequal lengths enter by
    ω̃, which keeps the variance right. More than 1e9 occurrences are left to :func:`chi2`.
    """
    from textbayes.kernels.counts.delta2_tails import tails

    shape = np.broadcast_shapes(*(np.shape(part) for part in pairs[:5]))
    k, n, share, dispersion, tilt = (np.broadcast_to(part, shape).ravel() for part in pairs[:5])
    size = np.full(k.shape, np.inf)
    np.divide(n, dispersion * tilt, out=size, where=dispersion * tilt > 0.0)
    few = n <= MOST_EXACT
    greater, equal = np.zeros(k.shape), np.zeros(k.shape)
    table = special.gammaln(np.arange(1.0, min(n.max(initial=0.0), MOST_TABLED) + 2.0))
    greater[few], equal[few] = tails(k[few], n[few], share[few], size[few], table)
    if not few.all():
        greater[~few] = np.broadcast_to(chi2(pairs).greater, shape).ravel()[~few]
    return NullTail(greater.reshape(shape), equal.reshape(shape))


def normal_second_order(pairs: WordCategoryPairs) -> NullTail:
    """Δ² as normal with the moments of its 2nd-order expansion (the paper's, for any shares and for δ > 0)."""
    return _normal(pairs, second_order)


def normal_third_order(pairs: WordCategoryPairs) -> NullTail:
    """Δ² as normal with the moments of its 3rd-order expansion."""
    return _normal(pairs, third_order)


METHODS: dict[str, Method] = {
    "chi2": chi2,
    "exact": exact,
    "second_order": normal_second_order,
    "third_order": normal_third_order,
}


def _normal(pairs: WordCategoryPairs, expansion: Callable[..., NullMoments]) -> NullTail:
    rate, powers_in = pairs.total / pairs.powers[0], pairs.powers_in[pairs.label]
    inside = cumulants(rate, pairs.dispersion, powers_in)
    outside = cumulants(rate, pairs.dispersion, np.maximum(pairs.powers - powers_in, 0.0))
    mean, variance = expansion(pairs.share, inside, outside)
    p: FloatArray = special.ndtr((mean - delta2(pairs)) / np.sqrt(variance))
    return NullTail(p, np.zeros(()))

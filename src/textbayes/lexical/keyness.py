"""Keyness: how much more often a word is used in a category than elsewhere, how sure that is, and by which test."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.lexical.delta2 import MethodName, Model, Ties, delta2_test
from textbayes.lexical.exposures import WORDS_PER_UNIT, Exposures, within_categories, word_exposures
from textbayes.lexical.p_values import benjamini_hochberg, storey


class EffectInterval(NamedTuple):
    """An effect size with the ends of its interval, each (n_labels, n_features)."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


class Keyness(NamedTuple):
    """Everything (n_labels, n_features), but ``lengths`` (n_labels, 2): thousands of words inside and outside.

    ``occurrences``, ``other_occurrences``: inside the category and in all other documents; ``rate``, ``other_rate``:
    per thousand words; ``log_ratio``: log₂ of the ratio of the rates; ``percent_difference``: %DIFF,
    100 (rate − other)/other; ``odds_ratio`` of word tokens; ``delta2``; ``log_likelihood``: G²; ``dispersion``: δ̂
    within the sides; ``p_values`` of Δ², ``q_values`` by words of a label.
    """

    occurrences: FloatArray
    other_occurrences: FloatArray
    rate: FloatArray
    other_rate: FloatArray
    log_ratio: EffectInterval
    percent_difference: EffectInterval
    odds_ratio: EffectInterval
    delta2: FloatArray
    log_likelihood: FloatArray
    dispersion: FloatArray
    p_values: FloatArray
    q_values: FloatArray
    lengths: FloatArray


def keyness(
    X: Matrix,
    Y: AnyArray,
    *,
    lengths: ArrayLike | None = None,
    model: Model = "negative_binomial",
    method: MethodName = "exact",
    ties: Ties = "mid",
    level: float = 0.95,
    fdr_method: Literal["bh", "storey"] = "bh",
) -> Keyness:
    """Effect sizes with intervals, and Δ² tests, of every word for every label against all other documents.

    Parameters
    ----------
    X, Y, lengths
        Counts, indicator and document lengths in thousands of words, as in :func:`~textbayes.lexical.delta2_test`.
    model
        ``"negative_binomial"`` widens intervals and p-values by how unevenly a word is spread over documents;
        ``"poisson"`` takes every occurrence for independent, as keyness by χ² or G² does.
    method, ties
        Of the p-value, as in :func:`~textbayes.lexical.delta2_test`.
    level
        Of the intervals.
    fdr_method
        ``"bh"`` (Benjamini & Hochberg) or ``"storey"``.

    Notes
    -----
    Given the total n, all effect sizes are increasing functions of the share τ of a word's occurrences that a category
    has: ratio = τ/(1−τ) · Ω_out/Ω_in. Its interval is that of τ under Jeffreys's prior, Beta(S₁/φ + ½, S₂/φ + ½), with
    φ = 1 + δ̂((1−τ)ω̄_in + τω̄_out) occurrences counting as one independent one; an end is 0 or infinite where S₁ or
    S₂ is 0. Where one of them is 0 the log ratio itself takes ½ for it, as in CQPweb.

    References: Hardie (2014), "Log Ratio: an informal introduction"; Gabrielatos (2018), "Keyness analysis" (%DIFF);
    Rayson & Garside (2000), "Comparing corpora using frequency profiling" (G²); Brown, Cai & DasGupta (2001),
    "Interval estimation for a binomial proportion", Statistical Science 16 (Jeffreys's interval).

    >>> table = keyness(np.array([[8, 2], [6, 4], [1, 9], [1, 9]]), np.array([1, 1, 0, 0]), model="poisson")
    >>> table.log_ratio.value.round(2), table.p_values.round(3)
    (array([[ 2.81, -1.58]]), array([[0.002, 0.015]]))
    """
    check_choice("fdr_method", fdr_method, ("bh", "storey"))
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} must lie between 0 and 1; 0.95 is the usual choice")
    tested = delta2_test(X, Y, lengths=lengths, model=model, method=method, ties=ties)
    assert tested.p_values is not None
    exposures = word_exposures(X, Y, lengths)
    inside = exposures.sums.toarray()
    outside = exposures.totals - inside
    sizes = np.column_stack((exposures.powers_in[:, 0], exposures.powers[0] - exposures.powers_in[:, 0]))
    one_side = exposures.share[~exposures.text_of_both, None]  # 0 or 1: all text is outside, or inside
    sizes[~exposures.text_of_both] *= np.hstack((one_side, 1.0 - one_side))
    within = within_categories(exposures) if model == "negative_binomial" else np.zeros_like(inside)
    low, high = _share_interval(exposures, inside, outside, within, level)
    log_ratio, percent_difference, odds_ratio = (
        _effect(function, inside, outside, low, high, sizes) for function in _EFFECTS
    )
    q_values = {"bh": benjamini_hochberg, "storey": storey}[fdr_method](tested.p_values)
    poisson = tested.scores if model == "poisson" else delta2_test(X, Y, lengths=lengths).scores
    with np.errstate(divide="ignore", invalid="ignore"):  # no text on a side
        rate, other_rate = inside / sizes[:, :1], outside / sizes[:, 1:]
    return Keyness(
        inside,
        outside,
        rate,
        other_rate,
        log_ratio,
        percent_difference,
        odds_ratio,
        poisson,
        _log_likelihood(inside, outside, exposures.share[:, None]),
        within,
        tested.p_values,
        q_values,
        sizes,
    )


def _share_interval(
    exposures: Exposures, inside: FloatArray, outside: FloatArray, dispersion: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval of τ, the share of a word's occurrences that are the category's."""
    total = np.maximum(exposures.totals, 1.0)
    length_in, length_out = (length[:, None] for length in exposures.mean_lengths)
    spread = 1.0 + dispersion * (outside / total * length_in + inside / total * length_out)
    a, b = inside / spread + 0.5, outside / spread + 0.5
    low = np.where(inside > 0.0, special.betaincinv(a, b, 0.5 * (1.0 - level)), 0.0)
    high = np.where(outside > 0.0, special.betaincinv(a, b, 0.5 * (1.0 + level)), 1.0)
    return low, high


def _log_ratio(inside: FloatArray, outside: FloatArray, sizes: FloatArray) -> FloatArray:
    result: FloatArray = np.log2(inside) - np.log2(outside) + np.log2(sizes[:, 1:]) - np.log2(sizes[:, :1])
    return result


def _percent_difference(inside: FloatArray, outside: FloatArray, sizes: FloatArray) -> FloatArray:
    return 100.0 * ((inside * sizes[:, 1:]) / (outside * sizes[:, :1]) - 1.0)


def _odds_ratio(inside: FloatArray, outside: FloatArray, sizes: FloatArray) -> FloatArray:
    words_in, words_out = WORDS_PER_UNIT * sizes[:, :1], WORDS_PER_UNIT * sizes[:, 1:]
    return inside * np.maximum(words_out - outside, 0.0) / (outside * np.maximum(words_in - inside, 0.0))


_EFFECTS = (_log_ratio, _percent_difference, _odds_ratio)


def _effect(
    function: Any, inside: FloatArray, outside: FloatArray, low: FloatArray, high: FloatArray, sizes: FloatArray
) -> EffectInterval:
    """An effect size and its values at the ends of τ with the same total; NaN where there is nothing to compare."""
    total = inside + outside
    half = 0.5 if function is _log_ratio else 0.0
    seen = (np.where(inside == 0.0, half, inside), np.where(outside == 0.0, half, outside))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [
            function(*seen, sizes),
            *(function(share * total, (1.0 - share) * total, sizes) for share in (low, high)),
        ]
    nothing = (total == 0.0) | (sizes == 0.0).any(axis=1)[:, None]
    return EffectInterval(*(np.where(nothing, np.nan, end) for end in ends))


def _log_likelihood(inside: FloatArray, outside: FloatArray, share: FloatArray) -> FloatArray:
    """G² = 2 [S₁ ln(S₁/nπ) + S₂ ln(S₂/n(1−π))], 0 where there is nothing to compare."""
    total = inside + outside
    ratio_in, ratio_out = np.ones_like(inside), np.ones_like(outside)
    np.divide(inside, total * share, out=ratio_in, where=total * share > 0.0)
    np.divide(outside, total * (1.0 - share), out=ratio_out, where=total * (1.0 - share) > 0.0)
    result: FloatArray = np.maximum(2.0 * (special.xlogy(inside, ratio_in) + special.xlogy(outside, ratio_out)), 0.0)
    return result

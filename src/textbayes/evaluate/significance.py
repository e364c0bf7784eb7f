"""Is one system better than another, or was it luck? Sign tests and McNemar's test on paired decisions.

Every test returns a ``TestResult`` whose ``symbol`` reads from the first system: ≫ and > better, ≪ and < worse, at
P ≤ 0.01 and P ≤ 0.05, ~ neither.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc, chdtrc, ndtr

from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.evaluate.contingency import check_pair, contingency
from textbayes.evaluate.measures import ZeroDivision, f_measure

Alternative = Literal["observed", "two-sided"]


class TestResult(NamedTuple):
    """``statistic`` and ``effect`` are positive when the first system is better; ``n`` is what the test rests on."""

    statistic: float
    p_value: float
    effect: float
    n: int
    symbol: str


TestResult.__test__ = False  # type: ignore[attr-defined]  # not a test class, whatever pytest thinks of the name


def significance_symbol(p_value: float, effect: float) -> str:
    """≫ > ~ < ≪ for P ≤ 0.01, P ≤ 0.05 or neither, by the sign of the effect (Yang & Liu 1999).

    >>> significance_symbol(0.003, 0.1), significance_symbol(0.03, -0.1), significance_symbol(0.3, 0.1)
    ('≫', '<', '~')
    """
    if p_value > 0.05 or effect == 0:
        return "~"
    strong = p_value <= 0.01
    return ("≫" if strong else ">") if effect > 0 else ("≪" if strong else "<")


def sign_test(wins: int, losses: int, alternative: Alternative = "observed", exact_up_to: int = 12) -> TestResult:
    """Are wins and losses equally likely? Exact binomial for n = wins + losses ≤ ``exact_up_to``, else normal.

    As in Yang & Liu (1999), with k wins among n pairs that differ: P(K ≥ k) when k ≥ n/2, P(K ≤ k) otherwise, for
    K ~ Binomial(n, ½); beyond n = 12 Z = (k − n/2) / (√n / 2). This P is one-sided in the direction observed, so two
    equally good systems are told apart at P ≤ 0.05 in up to one comparison of ten; ``alternative="two-sided"`` doubles
    it (at most 1). Effect: (wins − losses) / n.

    >>> result = sign_test(10, 2)
    >>> round(result.p_value, 4), result.symbol
    (0.0193, '>')
    """
    check_choice("alternative", alternative, ("observed", "two-sided"))
    if wins < 0 or losses < 0:
        raise InputError(f"wins={wins} and losses={losses} must be counts, 0 or more")
    n = wins + losses
    if n == 0:
        return TestResult(0.0, 1.0, 0.0, 0, "~")
    effect = (wins - losses) / n
    z = (wins - losses) / n**0.5
    if n <= exact_up_to:
        p = float(bdtrc(wins - 1, n, 0.5) if wins > 0 else 1.0) if wins >= losses else float(bdtr(wins, n, 0.5))
    else:
        p = float(ndtr(-abs(z)))
    if alternative == "two-sided":
        p = min(1.0, 2 * p)
    return TestResult(z, p, effect, n, significance_symbol(p, effect))


def micro_sign_test(
    Y_true: Any, A: Any, B: Any, alternative: Alternative = "observed", exact_up_to: int = 12
) -> TestResult:
    """The s-test of Yang & Liu (1999): the sign test over all binary decisions of which one system alone is right.

    It takes decisions for independent. Where labels hang together (in multi-class problems one error makes two wrong
    decisions) it finds differences too easily; ``paired_bootstrap`` resamples whole documents instead.
    """
    right_a, right_b = _right(Y_true, A, B)
    return sign_test(int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum()), alternative, exact_up_to)


def macro_sign_test(
    Y_true: Any,
    A: Any,
    B: Any,
    alternative: Alternative = "observed",
    exact_up_to: int = 12,
    zero_division: ZeroDivision = 0,
) -> TestResult:
    """The S-test of Yang & Liu (1999): the sign test over labels, a win being the higher F1; equal F1 is left out."""
    a, b = (f_measure(contingency(Y_true, system), zero_division=zero_division) for system in (A, B))
    return sign_test(int((a > b).sum()), int((a < b).sum()), alternative, exact_up_to)


def mcnemar_test(
    Y_true: Any,
    A: Any,
    B: Any,
    unit: Literal["document", "decision"] = "document",
    method: Literal["exact", "mid-p", "chi2"] = "mid-p",
) -> TestResult:
    """McNemar's (1947) test: do the systems get equally many documents (or decisions) right? Two-sided.

    A document is right when all its labels are. With b and c the numbers that only A or only B gets right: ``"exact"``
    is the binomial test 2 P(K ≤ min(b, c)); ``"mid-p"`` subtracts P(K = min(b, c)), less conservative yet rarely above
    its level (Fagerland, Lydersen & Laake 2013); ``"chi2"`` compares (b − c)²/(b + c) with χ²₁. Effect: difference of
    the shares right, (b − c) / N.
    """
    check_choice("unit", unit, ("document", "decision"))
    check_choice("method", method, ("exact", "mid-p", "chi2"))
    right_a, right_b = _right(Y_true, A, B)
    if unit == "document":
        right_a, right_b = right_a.all(axis=1), right_b.all(axis=1)
    b, c = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    n = b + c
    if n == 0:
        return TestResult(0.0, 1.0, 0.0, 0, "~")
    statistic = (b - c) / n**0.5
    fewer = min(b, c)
    tail = float(bdtr(fewer, n, 0.5))
    if method == "chi2":
        p = float(chdtrc(1, statistic**2))
    elif method == "exact":
        p = min(1.0, 2 * tail)
    else:
        below = float(bdtr(fewer - 1, n, 0.5)) if fewer > 0 else 0.0
        p = min(1.0, tail + below)
    effect = (b - c) / right_a.size
    return TestResult(statistic, p, effect, n, significance_symbol(p, effect))


def _right(Y_true: Any, A: Any, B: Any) -> tuple[Any, Any]:
    Y, first = check_pair(Y_true, A, ("Y_true", "A"))
    _, second = check_pair(Y_true, B, ("Y_true", "B"))
    return np.equal(Y, first), np.equal(Y, second)

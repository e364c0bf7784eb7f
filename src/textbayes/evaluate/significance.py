"""Is one system better than another, or was it luck? Sign tests and McNemar's test on paired decisions.

Every test returns a ``TestResult`` whose ``symbol`` reads from the first system: ≫ and > better, ≪ and < worse, at
P ≤ 0.01 and P ≤ 0.05, ~ neither. A decision is counted once: where classes exclude each other a document is one
decision, however many columns it has.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, chdtrc, ndtr

from textbayes.core.errors import InputError
from textbayes.core.labels import Kind
from textbayes.core.types import BoolArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.evaluate.contingency import check_pair, contingency
from textbayes.evaluate.measures import ZeroDivision, f_measure
from textbayes.evaluate.paired import Difference, exact_interval, paired_difference

Alternative = Literal["observed", "two-sided"]
KINDS: tuple[Kind, ...] = ("binary", "multiclass", "multilabel")


class TestResult(NamedTuple):
    """A test of one system against another; ``statistic`` and ``difference`` are positive when the first is better.

    ``low`` and ``high`` are the ends of the 95% interval of the difference; ``n`` is how many cases differ between the
    systems, all that the test rests on.
    """

    statistic: float
    p_value: float
    difference: float
    low: float
    high: float
    n: int
    symbol: str


TestResult.__test__ = False  # type: ignore[attr-defined]  # not a test class, whatever pytest thinks of the name


def significance_symbol(p_value: float, difference: float) -> str:
    """Symbol ≫ > ~ < ≪ for P ≤ 0.01, P ≤ 0.05 or neither, by the sign of the difference (Yang & Liu 1999).

    >>> significance_symbol(0.003, 0.1), significance_symbol(0.03, -0.1), significance_symbol(0.3, 0.1)
    ('≫', '<', '~')
    """
    if p_value > 0.05 or difference == 0:
        return "~"
    strong = p_value <= 0.01
    return ("≫" if strong else ">") if difference > 0 else ("≪" if strong else "<")


def sign_test(
    wins: int, losses: int, alternative: Alternative = "observed", exact_up_to: int | None = None, ties: int = 0
) -> TestResult:
    """Sign test of equally likely wins and losses: the exact binomial test, as ``scipy.stats.binomtest``.

    With k wins among n = wins + losses cases that differ: P(K ≥ k) when k ≥ n/2, P(K ≤ k) otherwise, for
    K ~ Binomial(n, ½). This P is one-sided in the direction observed, as in Yang & Liu (1999), so two equally good
    systems are told apart at P ≤ 0.05 in up to one comparison of ten; ``alternative="two-sided"`` doubles it (at most
    1). Difference: (wins − losses) over all cases, ``ties`` included. Its interval is that of Clopper & Pearson (1934)
    for the share of wins among the cases that differ: it excludes 0 where the two-sided P is below 0.05.

    ``exact_up_to=12`` is the paper's own test, normal with Z = (k − n/2) / (√n / 2) beyond n = 12: it needs no table
    of the binomial, but without a correction for continuity it finds differences a little too easily.

    Parameters
    ----------
    wins, losses : int
        Cases that the first and the second system win.
    alternative : {"observed", "two-sided"}
    exact_up_to : int or None
        Cases up to which the test is exact; None for any number.
    ties : int
        Cases that neither wins.

    Examples
    --------
    >>> result = sign_test(10, 2)
    >>> round(result.p_value, 4), result.symbol
    (0.0193, '>')
    """
    check_choice("alternative", alternative, ("observed", "two-sided"))
    if wins < 0 or losses < 0 or ties < 0:
        raise InputError(f"wins={wins}, losses={losses} and ties={ties} must be counts, 0 or more")
    n = wins + losses
    if n == 0:
        return TestResult(0.0, 1.0, 0.0, -1.0, 1.0, 0, "~")
    gap = _exact_difference(wins, losses, ties)
    z = (wins - losses) / n**0.5
    # By symmetry P(K ≥ k) = P(K ≤ n − k).
    p = float(bdtr(min(wins, losses), n, 0.5) if exact_up_to is None or n <= exact_up_to else ndtr(-abs(z)))
    if alternative == "two-sided":
        p = min(1.0, 2 * p)
    return TestResult(z, p, *gap, n, significance_symbol(p, gap.value))


def micro_sign_test(
    Y_true: Matrix | ArrayLike,
    A: Matrix | ArrayLike,
    B: Matrix | ArrayLike,
    alternative: Alternative = "observed",
    exact_up_to: int | None = None,
    kind: Kind = "multilabel",
) -> TestResult:
    """Micro sign test, the s-test of Yang & Liu (1999): over the decisions of which one system alone is right.

    ``kind="multilabel"``: every label of every document is a decision, as in the paper. Where classes exclude each
    other ("binary", "multiclass") a document is one decision, right or wrong: its columns hang together, and two of
    them would count one error twice. Difference: in the share of right decisions.

    Decisions are taken for independent. Labels of one document often hang together in multi-label problems as well;
    ``paired_bootstrap`` resamples whole documents instead.

    Parameters
    ----------
    Y_true, A, B : boolean arrays (n_docs, n_labels)
        The truth, and the decisions of both systems.
    alternative, exact_up_to
        As for :func:`sign_test`.
    kind : {"binary", "multiclass", "multilabel"}
    """
    right_a, right_b = _right(Y_true, A, B, whole_documents=_exclusive(kind))
    both, first, second, neither = _crossed(right_a, right_b)
    result = sign_test(first, second, alternative, exact_up_to)
    gap = paired_difference(both, first, second, neither)
    return result._replace(difference=gap.value, low=gap.low, high=gap.high)


def macro_sign_test(
    Y_true: Matrix | ArrayLike,
    A: Matrix | ArrayLike,
    B: Matrix | ArrayLike,
    alternative: Alternative = "observed",
    exact_up_to: int | None = None,
    zero_division: ZeroDivision = 0,
    kind: Kind = "multilabel",
) -> TestResult:
    """Macro sign test, the S-test of Yang & Liu (1999): over labels, a win being the higher F1; equal F1 is a tie.

    Two classes that exclude each other are one decision seen from two sides, hence one case, won by the higher mean F1
    of both: ``kind="binary"`` has n ≤ 1 and can find no difference. Difference: labels won less labels lost, as a share
    of all labels.

    Parameters
    ----------
    Y_true, A, B : boolean arrays (n_docs, n_labels)
        The truth, and the decisions of both systems.
    alternative, exact_up_to
        As for :func:`sign_test`.
    zero_division : {0, 1, "skip"}
        The F1 of a label that neither has documents nor was given.
    kind : {"binary", "multiclass", "multilabel"}
    """
    exclusive = _exclusive(kind)
    a, b = (f_measure(contingency(Y_true, system), zero_division=zero_division) for system in (A, B))
    if exclusive and len(a) == 2:
        a, b = a.mean(keepdims=True), b.mean(keepdims=True)
    wins, losses = int((a > b).sum()), int((a < b).sum())
    return sign_test(wins, losses, alternative, exact_up_to, len(a) - wins - losses)


def mcnemar_test(
    Y_true: Matrix | ArrayLike,
    A: Matrix | ArrayLike,
    B: Matrix | ArrayLike,
    unit: Literal["document", "decision"] = "document",
    method: Literal["exact", "mid-p", "chi2"] = "mid-p",
) -> TestResult:
    """McNemar's (1947) test that the systems get equally many documents (or decisions) right, two-sided.

    A document is right when all its labels are. With b and c the numbers that only A or only B gets right: ``"exact"``
    is the binomial test 2 P(K ≤ min(b, c)); ``"mid-p"`` subtracts P(K = min(b, c)), less conservative yet rarely above
    its level (Fagerland, Lydersen & Laake 2013); ``"chi2"`` compares (b − c)²/(b + c) with χ²₁. Difference: of the
    shares right, (b − c) / N.

    Parameters
    ----------
    Y_true, A, B : boolean arrays (n_docs, n_labels)
        The truth, and the decisions of both systems.
    unit : {"document", "decision"}
    method : {"exact", "mid-p", "chi2"}
    """
    check_choice("unit", unit, ("document", "decision"))
    check_choice("method", method, ("exact", "mid-p", "chi2"))
    both, b, c, neither = _crossed(*_right(Y_true, A, B, whole_documents=unit == "document"))
    gap = paired_difference(both, b, c, neither)
    n = b + c
    if n == 0:
        return TestResult(0.0, 1.0, *gap, 0, "~")
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
    return TestResult(statistic, p, *gap, n, significance_symbol(p, gap.value))


def _exact_difference(wins: int, losses: int, ties: int) -> Difference:
    """Wins less losses as a share of all cases, given which of them differ."""
    n = wins + losses
    low, high = ((2.0 * end - 1.0) * n / (n + ties) for end in exact_interval(wins, n))
    return Difference((wins - losses) / (n + ties), low, high)


def _exclusive(kind: Kind) -> bool:
    check_choice("kind", kind, KINDS)
    return kind != "multilabel"


def _right(
    Y_true: Matrix | ArrayLike, A: Matrix | ArrayLike, B: Matrix | ArrayLike, whole_documents: bool
) -> tuple[BoolArray, BoolArray]:
    """Masks of the decisions, or documents with all of theirs, that each system has right."""
    Y, first = check_pair(Y_true, A, ("Y_true", "A"))
    _, second = check_pair(Y_true, B, ("Y_true", "B"))
    right_a, right_b = np.equal(Y, first), np.equal(Y, second)
    if whole_documents:
        return np.all(right_a, axis=1), np.all(right_b, axis=1)
    return right_a, right_b


def _crossed(a: BoolArray, b: BoolArray) -> tuple[int, int, int, int]:
    """Numbers that both, only the first, only the second and neither have right."""
    both, first, second = int((a & b).sum()), int((a & ~b).sum()), int((b & ~a).sum())
    return both, first, second, int(a.size) - both - first - second

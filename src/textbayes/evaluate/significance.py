"""Is one system better than another, or was it luck? Sign tests, McNemar's test and bootstrap of paired decisions.

Every test returns a ``TestResult`` whose ``symbol`` reads from the first system: ≫ and > better, ≪ and < worse, at
P ≤ 0.01 and P ≤ 0.05, ~ neither. A decision is counted once: where classes exclude each other a document is one
decision, however many columns it has.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import bdtr, betainc, betaincinv, chdtrc, ndtr, roots_legendre

from textbayes.core.errors import InputError
from textbayes.core.labels import Kind
from textbayes.core.statistics import wilson_interval
from textbayes.core.types import BoolArray, FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.evaluate.measures import ContingencyTable, ZeroDivision, check_pair, contingency, error_rate, f_measure


class Difference(NamedTuple):
    """A difference of two shares, first − second, with the ends of its interval."""

    value: float
    low: float
    high: float


def paired_difference(both: int, first: int, second: int, neither: int, level: float = 0.95) -> Difference:
    """Share of cases that the first gets right less that of the second, with Newcombe's (1998) interval.

    Of all cases ``both`` are got right by both, ``first`` and ``second`` by one alone, ``neither`` by neither. The
    interval squares and adds the Wilson intervals of the two shares, less what their correlation explains (method 10
    there): it stays inside [−1, 1] and holds its level where few cases differ, which the exact interval given the
    number of differing cases does not.

    Reference: Newcombe (1998), Statistics in Medicine 17, 2635–2650.

    Parameters
    ----------
    both, first, second, neither : int
        Cases, by who gets them right.
    level : float
        The probability that the interval holds.

    Examples
    --------
    >>> [round(value, 4) for value in paired_difference(36, 12, 2, 0)]  # the paper's example
    [0.2, 0.0569, 0.3404]
    """
    if min(both, first, second, neither) < 0 or not 0 < level < 1:
        raise InputError(
            f"cases {both}, {first}, {second}, {neither} at level {level}: counts from 0 on and a level in (0, 1) are "
            "needed"
        )
    n = both + first + second + neither
    if n == 0:
        return Difference(0.0, -1.0, 1.0)
    right = both + first, both + second
    share_1, share_2 = (count / n for count in right)
    (low_1, high_1), (low_2, high_2) = (wilson_interval(count, n, level) for count in right)
    product = float(right[0]) * (n - right[0]) * right[1] * (n - right[1])
    together = float(both) * neither - float(first) * second
    if together > 0.0:
        together = max(together - n / 2, 0.0)
    phi = together / sqrt(product) if product > 0.0 else 0.0
    value = share_1 - share_2
    low = value - _added(share_1 - low_1, high_2 - share_2, phi)
    high = value + _added(share_2 - low_2, high_1 - share_1, phi)
    return Difference(value, float(low), float(high))


def exact_interval(count: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of Clopper & Pearson (1934) for a share of n ≥ 1 cases, as ``binomtest`` has it.

    Parameters
    ----------
    count, n : int
        The cases that count, of so many.
    level : float
        The probability that the interval holds.

    Examples
    --------
    >>> [round(end, 4) for end in exact_interval(9, 10)]
    [0.555, 0.9975]
    """
    tail = (1.0 - level) / 2.0
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    return low, float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0


def _added(one: float, other: float, phi: float) -> float:
    return sqrt(max(one * one - 2.0 * phi * one * other + other * other, 0.0))


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


Measure = Callable[[ContingencyTable], FloatArray]

MEASURES: dict[str, Measure] = {
    "micro_f1": lambda table: f_measure(table, "micro"),
    "macro_f1": lambda table: f_measure(table, "macro"),
    "error_rate": lambda table: -error_rate(table, "micro"),
}
"""Measures by name; higher is better, so the error rate counts negatively."""

_CHUNK = 500  # resamples held at once: 500 × 10,000 documents are 40 MB


class PosteriorDifference(NamedTuple):
    """Posterior of a difference of two shares: its mean and 95% interval, and how probable it is on either side.

    ``better`` and ``worse`` are the probabilities that it is above and below what counts as practically equal.
    """

    better: float
    equal: float
    worse: float
    mean: float
    low: float
    high: float


def posterior_difference(wins: int, losses: int, ties: int, rope: float = 0.01) -> PosteriorDifference:
    """Posterior of the share of cases that the first alone gets right less that of the second alone.

    The cases are a sample of three kinds, won, lost and tied, whose shares have a uniform Dirichlet(1, 1, 1) prior; a
    difference of at most ``rope`` is practically none (the Bayesian sign test). The cases that differ are a Beta
    share s of all, of which the first wins a Beta share independent of s, so that all is an integral over s alone.

    Reference: Benavoli, Corani, Demšar & Zaffalon (2017), JMLR 18 (77), 1–36, section 4.

    Parameters
    ----------
    wins, losses, ties : int
        Cases that the first alone gets right, the second alone, and both or neither.
    rope : float
        The half-width of the region of practical equivalence.

    Examples
    --------
    >>> [round(value, 3) for value in posterior_difference(12, 2, 36)]
    [0.995, 0.003, 0.002, 0.189, 0.053, 0.329]
    """
    if min(wins, losses, ties) < 0 or not 0 <= rope < 1:
        raise InputError(
            f"cases {wins}, {losses}, {ties} and rope {rope}: counts from 0 on and a rope in [0, 1) are needed"
        )
    nodes, masses = roots_legendre(400)
    differing = betaincinv(wins + losses + 2, ties + 1, (nodes + 1.0) / 2.0)

    def below(x: float) -> float:
        share = np.clip((1.0 + x / differing) / 2.0, 0.0, 1.0)
        return float(masses @ betainc(wins + 1, losses + 1, share)) / 2.0

    def quantile(p: float) -> float:
        return float(brentq(lambda x: below(x) - p, -1.0, 1.0, xtol=1e-9))

    worse, not_better = below(-rope), below(rope)
    mean = (wins - losses) / (wins + losses + ties + 3)
    return PosteriorDifference(1.0 - not_better, not_better - worse, worse, mean, quantile(0.025), quantile(0.975))


class BootstrapResult(NamedTuple):
    """The test, with the interval of the difference, and the measure of both systems that it came from."""

    test: TestResult
    first: float
    second: float

    @property
    def low(self) -> float:
        """Lower end of the interval of the difference."""
        return self.test.low

    @property
    def high(self) -> float:
        """Upper end of the interval of the difference."""
        return self.test.high


def paired_bootstrap(
    Y_true: Matrix | ArrayLike,
    A: Matrix | ArrayLike,
    B: Matrix | ArrayLike,
    measure: Literal["micro_f1", "macro_f1", "error_rate"] | Measure = "micro_f1",
    *,
    n_resamples: int = 10_000,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> BootstrapResult:
    """Paired bootstrap: resample documents and recompute the difference of a measure between systems A and B.

    Documents are drawn with replacement, the same for both systems, so labels of one document stay together. With the
    observed difference d and the resampled d*, two-sided P = (1 + #{|d* − d| ≥ |d|}) / (1 + n_resamples): how often a
    difference that is 0 would be as large by chance. The interval is the percentile one; statistic: d over the
    standard deviation of d*; n: documents on which A and B differ.

    ``measure`` is a name or any function of a ``ContingencyTable`` (labels on its last axis, resamples before it). A
    resample costs one product of its document weights with the sparse per-document counts.

    Reference: Efron & Tibshirani (1993), An Introduction to the Bootstrap, § 16.4.

    Parameters
    ----------
    Y_true, A, B : boolean arrays (n_docs, n_labels)
        The truth, and the decisions of both systems.
    measure : {"micro_f1", "macro_f1", "error_rate"} or function
    n_resamples : int
    level : float
        The probability that the interval holds.
    random_state : int, Generator or None

    Examples
    --------
    >>> Y = np.arange(200)[:, None] % 2 == 0
    >>> worse = Y ^ (np.arange(200)[:, None] % 10 == 3)
    >>> paired_bootstrap(Y, Y, worse, n_resamples=500).test.symbol
    '≫'
    """
    function = _measure(measure)
    Y, first = check_pair(Y_true, A, ("Y_true", "A"))
    _, second = check_pair(Y_true, B, ("Y_true", "B"))
    n_docs, n_labels = Y.shape
    if not n_docs or n_resamples < 1 or not 0 < level < 1:
        raise InputError(
            f"{n_docs} documents, n_resamples={n_resamples}, level={level}: needs at least 1, 1, and a level in (0, 1)"
        )
    counts = sparse.hstack([_counts(Y, first), _counts(Y, second)], format="csr")
    generator = np.random.default_rng(random_state)
    observed = function(_tables(counts.sum(axis=0)[None, :], n_docs, n_labels))
    values = np.empty((n_resamples, 2))
    for begin in range(0, n_resamples, _CHUNK):
        size = min(_CHUNK, n_resamples - begin)
        values[begin : begin + size] = function(_tables(_weights(generator, size, n_docs) @ counts, n_docs, n_labels))
    return _result(np.asarray(observed)[0], values, level, int((first != second).any(axis=1).sum()))


def _measure(measure: str | Measure) -> Measure:
    if isinstance(measure, str):
        if measure not in MEASURES:
            raise InputError(
                f"measure={measure!r} is not known; choose one of {', '.join(MEASURES)} or pass a function"
            )
        return MEASURES[measure]
    return measure


def _weights(generator: np.random.Generator, size: int, n_docs: int) -> FloatArray:
    """Number of times each document is drawn, (size, n_docs): multinomial, by counting drawn indices."""
    drawn = generator.integers(n_docs, size=(size, n_docs), dtype=np.int64)
    drawn += np.arange(size, dtype=np.int64)[:, None] * n_docs
    return np.bincount(drawn.reshape(-1), minlength=size * n_docs).reshape(size, n_docs).astype(np.float64)


def _counts(Y: BoolArray, decided: BoolArray) -> sparse.csr_array:
    """Per document (row) whether each label is a true positive, false positive, false negative."""
    parts = [sparse.csr_array(part, dtype=np.float64) for part in (Y & decided, ~Y & decided, Y & ~decided)]
    return sparse.hstack(parts, format="csr")


def _tables(summed: FloatArray, n_docs: int, n_labels: int) -> ContingencyTable:
    """Tables (n_resamples, 2 systems, n_labels) from summed counts; what is not counted is a true negative."""
    tp, fp, fn = np.moveaxis(np.asarray(summed).reshape(len(summed), 2, 3, n_labels), 2, 0)
    return ContingencyTable(tp, fp, fn, n_docs - tp - fp - fn)


def _result(observed: FloatArray, values: FloatArray, level: float, n: int) -> BootstrapResult:
    difference = float(observed[0] - observed[1])
    resampled = values[:, 0] - values[:, 1]
    spread = float(resampled.std())
    as_large = np.abs(resampled - difference) >= abs(difference) - 1e-12
    p = float((1 + as_large.sum()) / (1 + len(resampled)))
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    statistic = difference / spread if spread > 0 else 0.0
    test = TestResult(statistic, p, difference, float(low), float(high), n, significance_symbol(p, difference))
    return BootstrapResult(test, float(observed[0]), float(observed[1]))

"""Paired bootstrap: the uncertainty of a difference between two systems in any measure of their decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, Matrix
from textbayes.evaluate.contingency import ContingencyTable, check_pair
from textbayes.evaluate.measures import error_rate, f_measure
from textbayes.evaluate.significance import TestResult, significance_symbol

Measure = Callable[[ContingencyTable], FloatArray]

MEASURES: dict[str, Measure] = {
    "micro_f1": lambda table: f_measure(table, "micro"),
    "macro_f1": lambda table: f_measure(table, "macro"),
    "error_rate": lambda table: -error_rate(table, "micro"),
}
"""Measures by name; higher is better, so the error rate counts negatively."""

_CHUNK = 500  # resamples held at once: 500 × 10,000 documents are 40 MB


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

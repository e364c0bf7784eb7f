"""Any number of systems against each other: every pair and test, the scores behind them, and who wins each label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, bdtrik

from textbayes.core.errors import InputError
from textbayes.core.labels import Kind
from textbayes.core.types import AnyArray, BoolArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.evaluate.bootstrap import paired_bootstrap
from textbayes.evaluate.comparison import TESTS, Comparison, unit_of
from textbayes.evaluate.contingency import contingency
from textbayes.evaluate.measures import f_measure
from textbayes.evaluate.significance import (
    Alternative,
    TestResult,
    macro_sign_test,
    mcnemar_test,
    micro_sign_test,
)
from textbayes.evaluate.systems import AnyKind, as_indicators

_ONE_SIDED = (
    "P of the sign tests is one-sided in the direction observed, as in Yang & Liu (1999): "
    "equal systems get < or > in up to one comparison of ten"
)
_ONE_CASE = "two classes are one decision, so the S-test has one case and finds no difference; see the others"
_MIRROR = {"≫": "≪", ">": "<", "~": "~", "<": ">", "≪": "≫"}


def compare(
    systems: Mapping[str, Any],
    Y_true: Matrix | ArrayLike,
    tests: Iterable[str] = ("s", "S"),
    *,
    label_names: Sequence[Any] | None = None,
    kind: AnyKind = "auto",
    alternative: Alternative = "observed",
    exact_up_to: int | None = None,
    n_resamples: int = 10_000,
    random_state: int | None = 0,
) -> Comparison:
    """Compare the decisions of two or more systems on the same documents.

    Parameters
    ----------
    systems : name → decisions
        A vector of labels, a list of labels per document, or an indicator matrix (n_docs, n_labels).
    Y_true : the true labels, in any of these forms
    tests : any of "s", "S" (Yang & Liu 1999), "mcnemar", "bootstrap_micro", "bootstrap_macro"
    label_names : of the columns of indicator matrices; by default "0", "1", …
    kind : "auto", "binary", "multiclass" or "multilabel"
        What the s-test counts: documents where classes exclude each other, else every label of every document. "auto"
        takes classes to exclude each other if all labels were given as vectors, or if every document has exactly one
        and no system gives one more than one; the result says which.
    alternative : of the sign tests: "observed" as in the paper, or "two-sided"
    exact_up_to : None for exact sign tests; 12 for the paper's, normal beyond 12 cases
    n_resamples, random_state : of the bootstrap

    Returns
    -------
    Comparison, with a note for each pair that differs too seldom for a test to find a difference.

    Examples
    --------
    >>> truth = ["spam", "ham", "ham", "spam", "ham", "ham"] * 10
    >>> systems = {"good": truth, "poor": ["ham"] * 60}
    >>> print(compare(systems, truth, tests=["s"], alternative="two-sided").to_text())
    60 documents, 2 labels, one each (binary): a document is one decision
    <BLANKLINE>
    system  accuracy  macro F1  labels won
    good      1.0000    1.0000           2
    poor      0.6667    0.4000           0
    <BLANKLINE>
         difference        95% interval     differ on      P
    good against poor
      s     +0.3333  +0.2114 to +0.4594  20 documents  2e-06  ≫
    <BLANKLINE>
    Positive differences favour the first. ≫ ≪ P ≤ 0.01, > < P ≤ 0.05, ~ neither; the tests:
      s  sign test over documents (s-test), two-sided; difference: share of documents right
    """
    if not isinstance(systems, Mapping):
        raise InputError(f"systems is a {type(systems).__name__}; pass a dict from a system's name to its decisions")
    systems = {str(name): decisions for name, decisions in systems.items()}
    names, tests = tuple(systems), (tests,) if isinstance(tests, str) else tuple(tests)
    if len(names) < 2:
        raise InputError(f"{len(names)} system was given; pass two or more to compare")
    for test in tests:
        check_choice("tests", test, TESTS)
    Y, decided, labels, found = as_indicators(systems, Y_true, label_names, kind)
    tables = {name: contingency(Y, decided[name]) for name in names}
    run = _runners(Y, found, alternative, exact_up_to, n_resamples, random_state)
    results: dict[str, dict[tuple[str, str], TestResult]] = {test: {} for test in tests}
    notes = []
    if alternative == "observed" and {"s", "S"} & set(tests):
        notes.append(_ONE_SIDED)
    if found == "binary" and "S" in tests:
        notes.append(_ONE_CASE)
    for first, second in combinations(names, 2):
        for test in tests:
            result = run[test](decided[first], decided[second])
            results[test][first, second] = result
            results[test][second, first] = _mirrored(result)
            notes += _power_note(test, found, first, second, result)
    return Comparison(
        names,
        tests,
        found,
        alternative,
        len(Y),
        {name: float((decided[name] == Y).all(axis=1).mean()) for name in names},
        {name: float(f_measure(table, "micro")) for name, table in tables.items()},
        {name: float(f_measure(table, "macro")) for name, table in tables.items()},
        results,
        _winners(np.array([f_measure(table) for table in tables.values()]), names, labels),
        tuple(notes),
    )


def _runners(
    Y: BoolArray, kind: Kind, alternative: Alternative, exact_up_to: int | None, n: int, random_state: int | None
) -> dict[str, Callable[[Any, Any], TestResult]]:
    resampled = partial(paired_bootstrap, n_resamples=n, random_state=random_state)
    return {
        "s": lambda a, b: micro_sign_test(Y, a, b, alternative, exact_up_to, kind),
        "S": lambda a, b: macro_sign_test(Y, a, b, alternative, exact_up_to, kind=kind),
        "mcnemar": lambda a, b: mcnemar_test(Y, a, b),
        "bootstrap_micro": lambda a, b: resampled(Y, a, b, "micro_f1").test,
        "bootstrap_macro": lambda a, b: resampled(Y, a, b, "macro_f1").test,
    }


def _mirrored(result: TestResult) -> TestResult:
    return TestResult(
        -result.statistic,
        result.p_value,
        -result.difference,
        -result.high,
        -result.low,
        result.n,
        _MIRROR[result.symbol],
    )


def _power_note(test: str, kind: Kind, first: str, second: str, result: TestResult) -> list[str]:
    """A note when ~ rests on so few differing cases that a true 3-to-1 advantage is missed more often than 1 in 5."""
    if result.symbol != "~" or test not in ("s", "S", "mcnemar") or (test == "S" and kind == "binary"):
        return []
    if result.n == 0 or sign_test_power(result.n) >= 0.8:
        return []
    unit = unit_of(test, kind)
    return [f"{first} and {second} differ on {result.n} {unit} only: ~ of {test} does not mean they are equally good"]


def sign_test_power(n: int, share: float = 0.75, level: float = 0.05) -> float:
    """Power of a two-sided sign test over n differing pairs of which one system wins ``share``.

    Parameters
    ----------
    n : int
        Pairs that differ.
    share : float
        The share of them that the better system wins.
    level : float
        The P at which a difference counts as found.

    Examples
    --------
    >>> round(sign_test_power(10), 3), round(sign_test_power(40), 3)
    (0.244, 0.897)
    """
    if n == 0:
        return 0.0
    # The largest k with P(K ≤ k) ≤ level/2; bdtrik gives the k, not rounded, where the probability is met.
    critical = int(np.floor(bdtrik(level / 2, n, 0.5)))
    while critical >= 0 and bdtr(critical, n, 0.5) > level / 2:
        critical -= 1
    return float(bdtr(critical, n, 1 - share)) if critical >= 0 else 0.0


def _winners(f1: AnyArray, names: Sequence[str], labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    best = f1 == f1.max(axis=0)
    return {
        label: tuple(name for name, wins in zip(names, best[:, j], strict=True) if wins)
        for j, label in enumerate(labels)
    }

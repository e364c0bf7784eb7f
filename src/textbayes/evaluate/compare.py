"""Any number of systems against each other: a matrix of symbols, the scores behind it, and who wins each label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrik

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray
from textbayes.core.validation import check_choice, check_indicator
from textbayes.evaluate.bootstrap import paired_bootstrap
from textbayes.evaluate.contingency import contingency
from textbayes.evaluate.measures import f_measure
from textbayes.evaluate.significance import (
    Alternative,
    TestResult,
    macro_sign_test,
    mcnemar_test,
    micro_sign_test,
)

_TITLES = {
    "s": "micro sign test (s-test), all decisions",
    "S": "macro sign test (S-test), F1 per label",
    "mcnemar": "McNemar (mid-p), documents with all labels right",
    "bootstrap_micro": "paired bootstrap of micro F1",
    "bootstrap_macro": "paired bootstrap of macro F1",
}
_ONE_SIDED = (
    "P of the sign tests is one-sided in the direction observed, as in Yang & Liu (1999): "
    "equal systems get < or > in up to one comparison of ten"
)
_MIRROR = {"≫": "≪", ">": "<", "~": "~", "<": ">", "≪": "≫"}


class Comparison(NamedTuple):
    """``results[test][first, second]`` for each pair in both orders; ``winners[label]`` the systems of highest F1."""

    systems: tuple[str, ...]
    tests: tuple[str, ...]
    micro_f1: dict[str, float]
    macro_f1: dict[str, float]
    results: dict[str, dict[tuple[str, str], TestResult]]
    winners: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]

    def to_rows(self) -> list[dict[str, Any]]:
        """One row per ordered pair and test, plain values: for JSON or CSV."""
        return [
            {"test": test, "first": first, "second": second, **result._asdict()}
            for test in self.tests
            for (first, second), result in self.results[test].items()
        ]

    def to_text(self) -> str:
        """Scores and one matrix whose cells hold the symbols of all tests, as in table 3 of Chai et al. (2002)."""
        width = max(len(name) for name in ("system", *self.systems))
        cell = max(*map(len, self.systems), 3 * len(self.tests) - 2)
        lines = ["system".ljust(width) + "  micro F1  macro F1  labels won"]
        for name in self.systems:
            won = sum(winners == (name,) for winners in self.winners.values())
            lines.append(f"{name.ljust(width)}  {self.micro_f1[name]:8.4f}  {self.macro_f1[name]:8.4f}  {won:10d}")
        lines += ["", " " * width + "  " + "  ".join(name.rjust(cell) for name in self.systems)]
        for first in self.systems:
            cells = ["" if first == second else self._symbols(first, second) for second in self.systems]
            lines.append(first.ljust(width) + "  " + "  ".join(text.rjust(cell) for text in cells))
        lines += ["", "Read from the row: ≫ ≪ P ≤ 0.01, > < P ≤ 0.05, ~ neither; in order:"]
        lines += [f"  {_TITLES[test]}" for test in self.tests]
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(line.rstrip() for line in lines)

    def _symbols(self, first: str, second: str) -> str:
        return "/".join(self.results[test][first, second].symbol for test in self.tests)


def compare(
    systems: Mapping[str, Any],
    Y_true: Any,
    tests: Iterable[str] = ("s", "S"),
    *,
    label_names: Sequence[str] | None = None,
    alternative: Alternative = "observed",
    n_resamples: int = 10_000,
    rng: int | None = 0,
) -> Comparison:
    """Compare the decisions of two or more systems on the same documents.

    Parameters
    ----------
    systems : name → decisions (n_docs, n_labels)
    Y_true : the true labels
    tests : any of "s", "S" (Yang & Liu 1999), "mcnemar", "bootstrap_micro", "bootstrap_macro"
    label_names : for ``winners``; by default "0", "1", …
    alternative : of the sign tests: "observed" as in the paper, or "two-sided"
    n_resamples, rng : of the bootstrap

    Returns
    -------
    Comparison, with a note for each pair that differs too seldom for a test to find a difference.

    Examples
    --------
    >>> Y = np.eye(3, dtype=bool)[np.arange(60) % 3]
    >>> systems = {"good": Y, "poor": np.roll(Y, 1, axis=0)}
    >>> print(compare(systems, Y, tests=["s"], alternative="two-sided").to_text())
    system  micro F1  macro F1  labels won
    good      1.0000    1.0000           3
    poor      0.0000    0.0000           0
    <BLANKLINE>
            good  poor
    good             ≫
    poor       ≪
    <BLANKLINE>
    Read from the row: ≫ ≪ P ≤ 0.01, > < P ≤ 0.05, ~ neither; in order:
      micro sign test (s-test), all decisions
    """
    if not isinstance(systems, Mapping):
        raise InputError(f"systems is a {type(systems).__name__}; pass a dict from a system's name to its decisions")
    systems = {str(name): decisions for name, decisions in systems.items()}
    names, tests = tuple(systems), (tests,) if isinstance(tests, str) else tuple(tests)
    if len(names) < 2:
        raise InputError(f"{len(names)} system was given; pass two or more to compare")
    for test in tests:
        check_choice("tests", test, tuple(_TITLES))
    Y = check_indicator(Y_true, "Y_true")
    labels = [str(j) for j in range(Y.shape[1])] if label_names is None else [str(name) for name in label_names]
    if len(labels) != Y.shape[1] or len(set(labels)) != len(labels):
        raise InputError(f"{Y.shape[1]} labels need as many different names; {len(labels)} were given")
    tables = {name: contingency(Y, systems[name]) for name in names}
    run = _runners(Y, alternative, n_resamples, rng)
    results: dict[str, dict[tuple[str, str], TestResult]] = {test: {} for test in tests}
    notes = []
    if alternative == "observed" and {"s", "S"} & set(tests):
        notes.append(_ONE_SIDED)
    for first, second in combinations(names, 2):
        for test in tests:
            result = run[test](systems[first], systems[second])
            results[test][first, second] = result
            results[test][second, first] = _mirrored(result)
            notes += _power_note(test, first, second, result)
    return Comparison(
        names,
        tests,
        {name: float(f_measure(table, "micro")) for name, table in tables.items()},
        {name: float(f_measure(table, "macro")) for name, table in tables.items()},
        results,
        _winners(np.array([f_measure(table) for table in tables.values()]), names, labels),
        tuple(notes),
    )


def _runners(
    Y: AnyArray, alternative: Alternative, n_resamples: int, rng: int | None
) -> dict[str, Callable[[Any, Any], TestResult]]:
    return {
        "s": lambda a, b: micro_sign_test(Y, a, b, alternative),
        "S": lambda a, b: macro_sign_test(Y, a, b, alternative),
        "mcnemar": lambda a, b: mcnemar_test(Y, a, b),
        "bootstrap_micro": lambda a, b: paired_bootstrap(Y, a, b, "micro_f1", n_resamples=n_resamples, rng=rng).test,
        "bootstrap_macro": lambda a, b: paired_bootstrap(Y, a, b, "macro_f1", n_resamples=n_resamples, rng=rng).test,
    }


def _mirrored(result: TestResult) -> TestResult:
    return TestResult(-result.statistic, result.p_value, -result.effect, result.n, _MIRROR[result.symbol])


def _power_note(test: str, first: str, second: str, result: TestResult) -> list[str]:
    """A note when a test that rests on n differing pairs would miss a true 3-to-1 advantage more often than 1 in 5."""
    if test not in ("s", "S", "mcnemar") or sign_test_power(result.n) >= 0.8:
        return []
    unit = {"s": "decisions", "S": "labels", "mcnemar": "documents"}[test]
    return [f"{first} and {second} differ on {result.n} {unit} only: ~ of {test} does not mean they are equally good"]


def sign_test_power(n: int, share: float = 0.75, level: float = 0.05) -> float:
    """Chance that a two-sided sign test over n differing pairs finds that one system wins ``share`` of them.

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

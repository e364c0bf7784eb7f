"""Results of a comparison of systems, as rows for programs and as a text for people."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any, NamedTuple

from textbayes.core.labels import Kind
from textbayes.core.wording import plural
from textbayes.evaluate.significance import Alternative, TestResult

TESTS = ("s", "S", "mcnemar", "bootstrap_micro", "bootstrap_macro")


def unit_of(test: str, kind: Kind) -> str:
    """Unit that a test counts: ``n`` is how many of these differ."""
    if test == "s":
        return "decisions" if kind == "multilabel" else "documents"
    return "labels" if test == "S" else "documents"


def title_of(test: str, kind: Kind, alternative: Alternative) -> str:
    """Title of a test: its name, its side, and the quantity its difference is of."""
    side = "two-sided" if alternative == "two-sided" else "one-sided"
    right = "all labels right" if kind == "multilabel" else "the right label"
    mean = "the labels" if kind == "multilabel" else "the classes"
    return {
        "s": f"sign test over {unit_of('s', kind)} (s-test), {side}; difference: share of {unit_of('s', kind)} right",
        "S": f"sign test over the F1 of {mean} (S-test), {side}; difference: share of labels won less lost",
        "mcnemar": f"McNemar (mid-p), two-sided; difference: share of documents with {right}",
        "bootstrap_micro": "paired bootstrap over documents, two-sided; difference: micro F1",
        "bootstrap_macro": f"paired bootstrap over documents, two-sided; difference: macro F1, mean over {mean}",
    }[test]


class Comparison(NamedTuple):
    """Results of comparing systems: ``results[test][first, second]`` for each pair in both orders, and the winners.

    ``winners[label]`` are the systems of highest F1. ``accuracy`` is the share of documents with all labels right,
    whatever the ``kind``.
    """

    systems: tuple[str, ...]
    tests: tuple[str, ...]
    kind: Kind
    alternative: Alternative
    n_docs: int
    accuracy: dict[str, float]
    micro_f1: dict[str, float]
    macro_f1: dict[str, float]
    results: dict[str, dict[tuple[str, str], TestResult]]
    winners: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]

    def to_rows(self) -> list[dict[str, Any]]:
        """One row per ordered pair and test, plain values: for JSON or CSV."""
        return [
            {"test": test, "first": first, "second": second, "unit": unit_of(test, self.kind), **result._asdict()}
            for test in self.tests
            for (first, second), result in self.results[test].items()
        ]

    def labels_won(self, system: str) -> int:
        """Labels of which this system alone has the highest F1."""
        return sum(winners == (system,) for winners in self.winners.values())

    def to_text(self) -> str:
        """Scores, every pair and test with difference, interval, n and P, and a matrix of symbols for three or more."""
        lines = [self._heading(), "", *self._scores(), "", *self._pairs()]
        if len(self.systems) > 2:
            lines += ["", *self._matrix()]
        lines += ["", "Positive differences favour the first. ≫ ≪ P ≤ 0.01, > < P ≤ 0.05, ~ neither; the tests:"]
        width = max(map(len, self.tests), default=0)
        lines += [f"  {test.ljust(width)}  {title_of(test, self.kind, self.alternative)}" for test in self.tests]
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(line.rstrip() for line in lines)

    def _heading(self) -> str:
        labels = f"{plural(self.n_docs, 'document')}, {plural(len(self.winners), 'label')}"
        if self.kind == "multilabel":
            return f"{labels}, any number each (multilabel): every label of a document is a decision"
        return f"{labels}, one each ({self.kind}): a document is one decision"

    def _scores(self) -> list[str]:
        exclusive = self.kind != "multilabel"
        name, values = ("accuracy", self.accuracy) if exclusive else ("micro F1", self.micro_f1)
        rows = [["system", name, "macro F1", "labels won"]]
        rows += [
            [system, f"{values[system]:.4f}", f"{self.macro_f1[system]:.4f}", str(self.labels_won(system))]
            for system in self.systems
        ]
        return _aligned(rows, left=(0,))

    def _pairs(self) -> list[str]:
        """Under each pair a row for each test; names of systems, which may be long, do not widen the table."""
        rows = [["", "difference", "95% interval", "differ on", "P", ""]]
        pairs = list(combinations(self.systems, 2))
        for pair in pairs:
            for test in self.tests:
                one = self.results[test][pair]
                interval, n = f"{one.low:+.4f} to {one.high:+.4f}", f"{one.n:,} {unit_of(test, self.kind)}"
                rows.append([f"  {test}", f"{one.difference:+.4f}", interval, n, _p(one.p_value), one.symbol])
        head, *lines = _aligned(rows, left=(0, 5))
        blocks = [lines[i * len(self.tests) : (i + 1) * len(self.tests)] for i in range(len(pairs))]
        titled = [[f"{first} against {second}", *block] for (first, second), block in zip(pairs, blocks, strict=True)]
        return [head, *chain.from_iterable(titled)]

    def _matrix(self) -> list[str]:
        """Symbols of all tests, the row against the column, as in table 3 of Chai et al. (2002)."""
        rows = [["", *self.systems]]
        for first in self.systems:
            cells = ["" if first == second else self._symbols(first, second) for second in self.systems]
            rows.append([first, *cells])
        return [f"The row against the column, by {', '.join(self.tests)}:", *_aligned(rows, left=(0,))]

    def _symbols(self, first: str, second: str) -> str:
        return "/".join(self.results[test][first, second].symbol for test in self.tests)


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.0e}"


def _aligned(rows: list[list[str]], left: tuple[int, ...]) -> list[str]:
    """Cells in columns of one width each, those in ``left`` to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if j in left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]

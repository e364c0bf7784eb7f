"""Any number of systems against each other: every pair and test, the scores behind them, and who wins each label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, combinations, permutations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, bdtrik

from textbayes.core.errors import InputError, plural
from textbayes.core.labels import Kind, encode_labels, label_layout
from textbayes.core.types import AnyArray, BoolArray, Matrix
from textbayes.core.validation import check_choice, check_indicator, check_same_length
from textbayes.evaluate.measures import check_pair, contingency, f_measure
from textbayes.evaluate.significance import (
    Alternative,
    PosteriorDifference,
    TestResult,
    macro_sign_test,
    mcnemar_test,
    micro_sign_test,
    paired_bootstrap,
    posterior_difference,
)

AnyKind = Literal["auto", "binary", "multiclass", "multilabel"]


class Decided(NamedTuple):
    """Indicators (n_docs, n_labels) of the truth and of each system, the names of the labels, and their kind."""

    truth: BoolArray
    systems: dict[str, BoolArray]
    names: list[str]
    kind: Kind


def as_indicators(
    systems: Mapping[str, Any],
    Y_true: Matrix | ArrayLike,
    label_names: Sequence[Any] | None = None,
    kind: AnyKind = "auto",
) -> Decided:
    """Bring labels and decisions of several systems into indicator matrices of the same columns.

    With ``kind="auto"`` classes exclude each other if all were given as vectors, or if there are two labels or more,
    every document has exactly one of them, and no system gives one more than one.

    Parameters
    ----------
    systems : name → decisions
        Indicator matrices, label vectors or lists of labels.
    Y_true : labels in any of these forms
    label_names : sequence, optional
        The columns of indicator matrices.
    kind : {"auto", "binary", "multiclass", "multilabel"}

    Examples
    --------
    >>> as_indicators({"ours": ["b", "a"]}, ["a", "a"]).kind
    'binary'
    """
    check_choice("kind", kind, ("auto", "binary", "multiclass", "multilabel"))
    given = {"Y_true": Y_true} | {f"system {name!r}": decisions for name, decisions in systems.items()}
    laid_out = {what: label_layout(labels) for what, labels in given.items()}
    layouts = {layout for layout, _ in laid_out.values()}
    if layouts == {"matrix"}:
        truth = check_indicator(Y_true, "Y_true")
        indicators = [check_pair(truth, decisions, ("Y_true", what))[1] for what, decisions in _after_first(given)]
        names = [str(j) for j in range(truth.shape[1])] if label_names is None else [str(name) for name in label_names]
    else:
        if "matrix" in layouts and label_names is None:
            mixed = ", ".join(what for what, (layout, _) in laid_out.items() if layout == "matrix")
            raise InputError(
                f"{mixed} holds an indicator matrix and the rest hold labels; pass label_names, in the order of its "
                "columns, or labels everywhere"
            )
        truth, *indicators = _encoded(laid_out, label_names)
        names = [str(name) for name in (_union(laid_out) if label_names is None else label_names)]
    if len(names) != truth.shape[1] or len(set(names)) != len(names):
        raise InputError(f"{truth.shape[1]} labels need as many different names; {len(names)} were given")
    decided = dict(zip(systems, indicators, strict=True))
    if kind == "binary" and len(names) == 1:
        both = [np.hstack([~columns, columns]) for columns in (truth, *indicators)]
        truth, decided, names = both[0], dict(zip(systems, both[1:], strict=True)), [f"not {names[0]}", *names]
    found = _kind(truth, list(decided.values()), layouts == {"vector"}) if kind == "auto" else kind
    _check_kind(truth, found)
    return Decided(truth, decided, names, found)


def _after_first(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(given.items())[1:]


def _encoded(laid_out: Mapping[str, tuple[str, Any]], label_names: Sequence[Any] | None) -> list[BoolArray]:
    classes = _union(laid_out) if label_names is None else list(label_names)
    indicators: list[BoolArray] = []
    for what, (layout, labels) in laid_out.items():
        rows = labels if layout != "vector" else [(label,) for label in _plain(labels)]
        indicators.append(encode_labels(rows, classes)[0])
        check_same_length(indicators[0], "Y_true", indicators[-1], what)
    return indicators


def _union(laid_out: Mapping[str, tuple[str, Any]]) -> list[Any]:
    """All labels that occur, sorted."""
    found: dict[Any, None] = {}
    for layout, labels in laid_out.values():
        rows = ((label,) for label in _plain(labels)) if layout == "vector" else labels
        for row in rows:
            found.update(
                dict.fromkeys(_plain(row) if isinstance(row, list | tuple | set | frozenset | np.ndarray) else (row,))
            )
    try:
        return sorted(found)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in found}))
        raise InputError(f"labels mix types ({kinds}); make them all strings or all numbers") from None


def _plain(labels: Any) -> list[Any]:
    values: list[Any] = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    return values


def _kind(truth: BoolArray, systems: list[BoolArray], vectors: bool) -> Kind:
    one_each = bool((truth.sum(axis=1) == 1).all()) and all((rows.sum(axis=1) <= 1).all() for rows in systems)
    if truth.shape[1] < 2 or not (vectors or one_each):
        return "multilabel"
    return "binary" if truth.shape[1] == 2 else "multiclass"


def _check_kind(truth: BoolArray, kind: Kind) -> None:
    if kind == "multilabel":
        return
    if kind == "binary" and truth.shape[1] != 2:
        raise InputError(f"kind='binary' has two classes but {truth.shape[1]} labels were given; use 'multiclass'")
    sizes = truth.sum(axis=1)
    if (sizes != 1).any():
        first = int((sizes != 1).argmax())
        raise InputError(
            f"document {first + 1} of Y_true has {int(sizes[first])} labels where kind={kind!r} has exactly one; "
            "correct it, or compare with kind='multilabel'"
        )


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
    whatever the ``kind``; ``posteriors[first, second]`` is that of the difference in it, where at most ``rope`` counts
    as none.
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
    rope: float
    posteriors: dict[tuple[str, str], PosteriorDifference]
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
        width = max(map(len, (*self.tests, "posterior")))
        lines += [f"  {test.ljust(width)}  {title_of(test, self.kind, self.alternative)}" for test in self.tests]
        right = "all labels right" if self.kind == "multilabel" else "the right label"
        lines.append(f"  posterior  of the share of documents with {right}; equal: at most {self.rope:g} apart")
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
                interval, n = f"{one.low:+.4f} to {one.high:+.4f}", plural(one.n, unit_of(test, self.kind)[:-1])
                rows.append([f"  {test}", f"{one.difference:+.4f}", interval, n, _p(one.p_value), one.symbol])
        head, *lines = _aligned(rows, left=(0, 5))
        blocks = [lines[i * len(self.tests) : (i + 1) * len(self.tests)] for i in range(len(pairs))]
        titled = [
            [" against ".join(pair), *block, self._posterior(pair)] for pair, block in zip(pairs, blocks, strict=True)
        ]
        return [head, *chain.from_iterable(titled)]

    def _posterior(self, pair: tuple[str, str]) -> str:
        better, equal, worse = self.posteriors[pair][:3]
        return f"  posterior: better {better:.3f}, equal {equal:.3f}, worse {worse:.3f}"

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
    rope: float = 0.01,
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
    rope : difference in accuracy that counts as practically none, in the posterior of it (``posterior_difference``)

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
      posterior: better 1.000, equal 0.000, worse 0.000
    <BLANKLINE>
    Positive differences favour the first. ≫ ≪ P ≤ 0.01, > < P ≤ 0.05, ~ neither; the tests:
      s          sign test over documents (s-test), two-sided; difference: share of documents right
      posterior  of the share of documents with the right label; equal: at most 0.01 apart
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
    right = {name: (decided[name] == Y).all(axis=1) for name in names}
    posteriors = {
        (a, b): posterior_difference(
            int((right[a] & ~right[b]).sum()),
            int((right[b] & ~right[a]).sum()),
            int((right[a] == right[b]).sum()),
            rope,
        )
        for a, b in permutations(names, 2)
    }
    return Comparison(
        names,
        tests,
        found,
        alternative,
        len(Y),
        {name: float(mask.mean()) for name, mask in right.items()},
        {name: float(f_measure(table, "micro")) for name, table in tables.items()},
        {name: float(f_measure(table, "macro")) for name, table in tables.items()},
        results,
        rope,
        posteriors,
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
    cases = plural(result.n, unit_of(test, kind)[:-1])
    return [f"{first} and {second} differ on {cases} only: ~ of {test} does not mean they are equally good"]


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

"""Tables 2, 3, 6 and 7: the systems compared on Reuters-21578, and the perceptron's likelihoods and passes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar

import numpy as np

from textbayes.evaluate import compare
from textbayes.reproduce.online import published
from textbayes.reproduce.online.choices import open_choices
from textbayes.reproduce.online.published import BAYESIAN, RULES, SYSTEMS
from textbayes.reproduce.online.runner import Runner
from textbayes.reproduce.online.systems import PASSES, TOLERANCE, Experiment, Outcome
from textbayes.reproduce.results import Cell, Cells, Table

_AVERAGES = ("micro", "macro")
_TESTS = {"s": "s-test", "S": "S-test"}
# The paper says that its evidence is that of the training documents; its figures are those of the test documents.
_EVIDENCE_COLUMNS = ("micro F1", "macro F1", "log-evidence, test", "log-evidence, training")


class Sign(float):
    """The outcome of a sign test as a number from −2 to 2, printed as the paper does: ≪ < ~ > ≫.

    >>> f"{Sign.of('≫'):.0f}", Sign.of("<") + 0.0
    ('≫', -1.0)
    """

    SYMBOLS: ClassVar[str] = "≪<~>≫"

    @classmethod
    def of(cls, symbol: str) -> Sign:
        return cls(cls.SYMBOLS.index(symbol) - 2)

    def __format__(self, spec: str) -> str:
        return self.SYMBOLS[int(self) + 2]


def reuters_tables(experiment: Experiment, wanted: Collection[str], quick: bool, runner: Runner) -> Iterator[Table]:
    """The wanted ones of Tables 2, 2a, 3, 6 and 7; ``quick`` leaves the SVMs and most choices out."""
    systems = BAYESIAN if quick else SYSTEMS
    if "table 2" in wanted:
        yield table_2(experiment, systems, runner)
    if "table 2a" in wanted:
        yield open_choices(quick, runner)
    if "table 3" in wanted:
        yield from table_3(experiment, systems, runner)
    if "table 6" in wanted:
        yield table_6(experiment, runner)
    if "table 7" in wanted:
        yield table_7(experiment, runner)


def table_2(experiment: Experiment, systems: Sequence[str], runner: Runner) -> Table:
    found = runner.outcomes("table 2", experiment, systems)
    nothing: tuple[Cell, ...] = (None,) * len(_AVERAGES)

    def ours(system: str) -> tuple[Cell, ...]:
        if system not in found:
            return nothing * len(RULES)
        rules = RULES if system in BAYESIAN else RULES[:-1]
        cells = [cell for rule in rules for cell in found[system].f1(rule)]
        return (*cells, *nothing * (len(RULES) - len(rules)))

    collection = experiment.collection
    sizes = np.array([len(words) for words in collection.words])
    evidence = ", ".join(f"{name} {found[name].test_evidence:.2f}" for name in BAYESIAN)
    ends = {name: outcome.f1_at_ends() for name, outcome in found.items()}
    notes = [
        f"{collection.train.shape[0]:,} training and {collection.test.shape[0]:,} test stories, {len(sizes)} topics; "
        f"{int((sizes == sizes.max()).sum())} topics have {sizes.max()} words, the median {np.median(sizes):.0f}, the "
        f"least {sizes.min()}.",
        f"Gaussian processes: at most as many basis vectors as words, ε = {TOLERANCE:g}. Average log-evidence of "
        f"the test stories: {evidence}.",
        "MaxF1, micro / macro, with thresholds at the next training story below and above instead of half-way: "
        + "; ".join(f"{name} {_shown(below)} and {_shown(above)}" for name, (below, above) in ends.items())
        + ".",
    ]
    if len(found) > len(BAYESIAN):
        notes.append(
            f"SVMa sees the {len(collection.common):,} words that are in three training stories or more, 8,362 in the "
            "paper. The SVMs are scikit-learn's (libsvm) with the cost that SVMlight takes by itself."
        )
    return Table(
        number="2",
        caption="Micro- and macro-average F1 by threshold.",
        rows=SYSTEMS,
        columns=tuple(f"{rule} {average}" for rule in RULES for average in _AVERAGES),
        published=tuple(
            tuple(cell for pair in published.F1[system] for cell in (pair or nothing)) for system in SYSTEMS
        ),
        ours=tuple(ours(system) for system in SYSTEMS),
        digits=2,
        notes=tuple(notes),
    )


def _shown(averages: tuple[float, float]) -> str:
    return "{:.2f} / {:.2f}".format(*averages)


def table_3(experiment: Experiment, systems: Sequence[str], runner: Runner) -> Iterator[Table]:
    """One table for each of the two sign tests."""
    found = runner.outcomes("table 3", experiment, systems)
    decisions = {name: outcome.decide("MaxF1") for name, outcome in found.items()}
    results = compare(
        decisions,
        experiment.collection.Y_test,
        tuple(_TESTS),
        kind="multilabel",
        exact_up_to=12,  # as the paper does
    ).results
    printed = published.sign_test_symbols()
    for place, (test, name) in enumerate(_TESTS.items()):
        ours = {pair: Sign.of(result.symbol) for pair, result in results[test].items()}
        theirs = {pair: Sign.of(symbols[place]) for pair, symbols in printed.items()}
        pairs = [(first, second) for first, second in ours if systems.index(first) < systems.index(second)]
        same = sum(ours[pair] == theirs[pair] for pair in pairs)
        against = [
            f"{first} and {second}" for first, second in pairs if ours[first, second] * theirs[first, second] < 0
        ]
        yield Table(
            number=f"3, {name}",
            caption=f"{name} with MaxF1 thresholds, the row against the column: ≫ ≪ P ≤ 0.01, > < P ≤ 0.05, ~ neither.",
            rows=SYSTEMS,
            columns=SYSTEMS,
            published=_matrix(theirs),
            ours=_matrix(ours),
            digits=0,
            notes=(
                f"The same symbol for {same} of {len(pairs)} pairs; the opposite one for "
                f"{len(against)}{': ' * bool(against)}{', '.join(against)}.",
                "The difference counts steps from ≪ to ≫; one above 1 is marked. P is one-sided in the direction "
                "observed (Yang & Liu 1999).",
            ),
        )


def _matrix(signs: dict[tuple[str, str], Sign]) -> Cells:
    return tuple(tuple(signs.get((first, second)) for second in SYSTEMS) for first in SYSTEMS)


def table_6(experiment: Experiment, runner: Runner) -> Table:
    advance = runner.steps("table 6", experiment, len(published.LIKELIHOODS) - experiment.knows("Perceptron"))
    found = [experiment.perceptron(name, [PASSES], advance)[0] for name in published.LIKELIHOODS]
    collection = experiment.collection
    bounds = [f"{X.shape[0] * np.log(0.9):.1f} on {X.shape[0]:,}" for X in (collection.train, collection.test)]
    return Table(
        number="6",
        caption=f"Likelihood models of the perceptron, {PASSES} passes, MaxF1 thresholds.",
        rows=tuple(published.LIKELIHOODS),
        columns=_EVIDENCE_COLUMNS,
        published=tuple((*row, None) for row in published.LIKELIHOODS.values()),
        ours=tuple(_evidence_row(outcome) for outcome in found),
        digits=2,
        notes=(
            "With κ = 0.1 a story gives at most ln 0.9, so the flip model reaches no more than "
            f"{bounds[0]} training and {bounds[1]} test stories.",
        ),
    )


def table_7(experiment: Experiment, runner: Runner) -> Table:
    numbers = tuple(published.PASSES)
    found = experiment.perceptron("Probit", numbers, runner.steps("table 7", experiment, 1))
    half = [_shown(outcome.f1("0.5")) for outcome in found]
    return Table(
        number="7",
        caption="Passes over the training stories, perceptron, MaxF1 thresholds.",
        rows=tuple(f"{number} pass{'es' * (number > 1)}" for number in numbers),
        columns=_EVIDENCE_COLUMNS,
        published=tuple((*row, None) for row in published.PASSES.values()),
        ours=tuple(_evidence_row(outcome) for outcome in found),
        digits=2,
        notes=(f"Micro- / macro-average F1 at threshold 0.5, in this order: {', '.join(half)}.",),
    )


def _evidence_row(outcome: Outcome) -> tuple[float, ...]:
    return (*outcome.f1("MaxF1"), outcome.test_evidence, outcome.train_evidence)

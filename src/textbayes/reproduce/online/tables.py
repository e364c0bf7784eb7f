"""Tables 2, 3, 6 and 7: the systems compared on Reuters-21578, and the perceptron's likelihoods and passes.

``quick`` leaves out the SVMs, most choices of Table 2a, all but eight topics of a filtering stream, and Table 4b.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

import numpy as np

from textbayes.evaluate import compare
from textbayes.reproduce.experiment import Exhibit, PaperRun, TextRules
from textbayes.reproduce.online import systems
from textbayes.reproduce.online.beyond import table_2b, table_4d, table_7a, table_7b
from textbayes.reproduce.online.filtering_tables import FILTERING
from textbayes.reproduce.online.systems import (
    BAYESIAN,
    PASSES,
    RULES,
    SYSTEMS,
    TOLERANCE,
    OnlineReading,
    OnlineSystem,
    TopicProbabilities,
    TopicSystems,
    system_named,
)
from textbayes.reproduce.render import SERIES, sketch
from textbayes.reproduce.results import Cell, Figure, Table, published_figures
from textbayes.stream import paper_threshold

PUBLISHED = published_figures("online")
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


def _topics(run: PaperRun) -> TopicSystems:
    return run.load("Reuters-21578", lambda: TopicSystems(systems.r90()))


def _outcomes(run: PaperRun) -> dict[str, TopicProbabilities]:
    """Outcomes of the systems of Table 2 by their names."""
    names = BAYESIAN if run.quick else SYSTEMS
    found = run.outcomes(_topics(run), map(system_named, names))
    return {name: found[system_named(name)][-1] for name in names}


def table_2(run: PaperRun) -> Table:
    """Table 2: all systems by three rules of decision, of which one needs probabilities, which an SVM has not."""
    found = _outcomes(run)
    collection = _topics(run).collection
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
    return Table.by_row(
        "2",
        "Micro- and macro-average F1 by threshold.",
        [f"{rule} {average}" for rule in RULES for average in _AVERAGES],
        {
            name: _flat(outcome.f1(rule) for rule in (RULES if name in BAYESIAN else RULES[:-1]))
            for name, outcome in found.items()
        },
        {name: _flat(pairs) for name, pairs in PUBLISHED["table 2"].items()},
        digits=2,
        notes=tuple(notes),
    )


def _flat(pairs: Iterable[tuple[float, float]]) -> list[float]:
    return [value for pair in pairs for value in pair]


def _shown(averages: tuple[float, float]) -> str:
    return "{:.2f} / {:.2f}".format(*averages)


CHOICES = {
    "as in the other tables": OnlineReading(),
    "stories with a topic only": OnlineReading(labelled_only=True),
    "scikit-learn's stop list": OnlineReading(TextRules(stemmer="porter", stop_words="english")),
    "no stop list": OnlineReading(TextRules(stemmer="porter", stop_words=None)),
    "letters only": OnlineReading(TextRules(stemmer="porter", pattern="[a-zA-Z]+")),
    "without headlines": OnlineReading(TextRules(stemmer="porter", headline=False)),
}


def table_2a(run: PaperRun) -> Table:
    """Table 2a: Table 2's row of the perceptron and its evidence under every choice; flip noise in the last columns."""
    ours: dict[str, list[float]] = {}
    sizes = []
    for name, reading in list(CHOICES.items())[: 2 if run.quick else None]:
        topics = TopicSystems(systems.r90(reading))
        both = run.outcomes(topics, [OnlineSystem("Probit"), OnlineSystem("Flip")], f": {name}")
        probit, flip = (outcomes[-1] for outcomes in both.values())
        averages = _flat(map(probit.f1, RULES))
        ours[name] = [*averages, probit.test_evidence, *flip.f1("MaxF1"), flip.test_evidence]
        sizes.append(f"{name} {len(topics.collection.common):,}")
    likelihoods = PUBLISHED["table 6"]
    printed = (*_flat(PUBLISHED["table 2"]["Perceptron"]), likelihoods["Probit"][-1], *likelihoods["Flip"])
    return Table.by_row(
        "2a",
        "Not in the paper: the perceptron, probit and flip noise, under choices that the paper leaves open.",
        (
            *(f"{rule} {average}" for rule in RULES for average in _AVERAGES),
            "log-evidence, test",
            *("flip MaxF1 micro", "flip MaxF1 macro", "flip log-evidence, test"),
        ),
        ours,
        dict.fromkeys(ours, printed),
        digits=2,
        notes=(f"Words in three training stories or more, 8,362 in the paper: {', '.join(sizes)}.",),
    )


def table_3(run: PaperRun) -> Iterator[Table]:
    """Table 3: one table for each of the two sign tests."""
    decisions = {name: outcome.decide("MaxF1") for name, outcome in _outcomes(run).items()}
    truth = _topics(run).collection.Y_test
    results = compare(decisions, truth, tuple(_TESTS), kind="multilabel", exact_up_to=12).results  # 12 as in the paper
    printed = sign_test_symbols()
    for place, (test, name) in enumerate(_TESTS.items()):
        ours = {pair: Sign.of(result.symbol) for pair, result in results[test].items()}
        theirs = {pair: Sign.of(symbols[place]) for pair, symbols in printed.items()}
        pairs = [(first, second) for first, second in ours if SYSTEMS.index(first) < SYSTEMS.index(second)]
        same = sum(ours[pair] == theirs[pair] for pair in pairs)
        against = [
            f"{first} and {second}" for first, second in pairs if ours[first, second] * theirs[first, second] < 0
        ]
        yield Table.by_row(
            f"3, {name}",
            f"{name} with MaxF1 thresholds, the row against the column: ≫ ≪ P ≤ 0.01, > < P ≤ 0.05, ~ neither.",
            SYSTEMS,
            _matrix(ours),
            _matrix(theirs),
            digits=0,
            notes=(
                f"The same symbol for {same} of {len(pairs)} pairs; the opposite one for "
                f"{len(against)}{': ' * bool(against)}{', '.join(against)}.",
                "The difference counts steps from ≪ to ≫; one above 1 is marked. P is one-sided in the direction "
                "observed (Yang & Liu 1999).",
            ),
        )


def _matrix(signs: dict[tuple[str, str], Sign]) -> dict[str, list[Cell]]:
    return {first: [signs.get((first, second)) for second in SYSTEMS] for first in SYSTEMS}


def sign_test_symbols() -> dict[tuple[str, str], tuple[str, str]]:
    """Table 3 as printed, by pair of systems: the symbols of the s-test and of the S-test, read from the first."""
    found = {}
    for line in PUBLISHED["sign_tests"].splitlines():
        first, *cells = line.split()
        others = [name for name in SYSTEMS if name != first]
        for second, cell in zip(others, cells, strict=True):
            s, S = cell.replace(">>", "≫").replace("<<", "≪").split("/")
            found[first, second] = s, S
    return found


def table_6(run: PaperRun) -> Table:
    """Table 6: the likelihoods of the perceptron."""
    systems = {name: OnlineSystem(name) for name in PUBLISHED["table 6"]}
    found = run.outcomes(_topics(run), systems.values())
    collection = _topics(run).collection
    bounds = [f"{X.shape[0] * np.log(0.9):.1f} on {X.shape[0]:,}" for X in (collection.train, collection.test)]
    return Table.by_row(
        "6",
        f"Likelihood models of the perceptron, {PASSES} passes, MaxF1 thresholds.",
        _EVIDENCE_COLUMNS,
        {name: _evidence_row(found[system][-1]) for name, system in systems.items()},
        PUBLISHED["table 6"],
        digits=2,
        notes=(
            "With κ = 0.1 a story gives at most ln 0.9, so the flip model reaches no more than "
            f"{bounds[0]} training and {bounds[1]} test stories.",
        ),
    )


def table_7(run: PaperRun) -> Table:
    """Table 7: passes of the perceptron over the training documents."""
    printed = PUBLISHED["table 7"]
    after_each = run.outcome(_topics(run), OnlineSystem("Probit", len(printed)))
    found = dict(zip(printed, after_each, strict=True))
    half = [_shown(outcome.f1("0.5")) for outcome in found.values()]
    return Table.by_row(
        "7",
        "Passes over the training stories, perceptron, MaxF1 thresholds.",
        _EVIDENCE_COLUMNS,
        {name: _evidence_row(outcome) for name, outcome in found.items()},
        printed,
        digits=2,
        notes=(f"Micro- / macro-average F1 at threshold 0.5, in this order: {', '.join(half)}.",),
    )


def _evidence_row(outcome: TopicProbabilities) -> tuple[float, ...]:
    return (*outcome.f1("MaxF1"), outcome.test_evidence, outcome.train_evidence)


def figure_1(run: PaperRun) -> Figure:
    """Figure 1: the information gain θ that a document must promise, by the number of documents retrieved."""
    retrieved = range(101)
    theta = [paper_threshold(n) for n in retrieved]
    with sketch(5.0, 3.2) as drawn:
        drawn.axes.plot(retrieved, theta, color=SERIES[0])
        drawn.axes.set(xlabel="documents retrieved, N_ret", ylabel="θ, bits")
    caption = "θ = 0.999/(1 + exp(−(N_ret − 50)/10)) + 0.001, tuned for T9P."
    ends = f"{theta[0]:.3f} at 0 over {theta[50]:.2f} at 50 to {theta[100]:.2f} at 100"
    return Figure("1", caption, drawn.svg, description=f"A curve rising from {ends}")


EXHIBITS: dict[str, Exhibit] = {
    "table 2": table_2,
    "table 2a": table_2a,
    "table 2b": lambda run: () if run.quick else table_2b(run, _topics(run)),
    "table 3": table_3,
    "table 6": table_6,
    "table 7": table_7,
    "table 7a": lambda run: table_7a(run, _topics(run).collection),
    "table 7b": lambda run: table_7b(run, _topics(run).collection),
    "figure 1": figure_1,
    **FILTERING,
    "table 4d": table_4d,
}

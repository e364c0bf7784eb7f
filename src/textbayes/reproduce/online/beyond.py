"""What the paper speaks of and does not print: members by topic (2b), a region (4d), passes and jitter (7a, 7b).

Table 2b is maximum margin for rare and Bayesian for common topics (§ 5), the member of each chosen in training. The
paper suggests it and leaves open how to part the topics. Two ways are tried: at a number of training stories, the same
for all topics, and topic by topic. Both choose by F1 on the later third of the training stories, with members that
learnt the earlier two thirds; what they choose then learns all training stories. Tables 7a and 7b are what the appendix
says of the Gaussian process: passes by kernel (A.2), and no jitter (A.3).

Table 4d is what the paper leaves to further research (§ 4.2.4): asking about a region of interest, measured on Reuters.
A document may teach much about weights that no relevant document ever needs. With a region of interest, here the
topic's latest 50 relevant stories, what counts is what its judgement would teach of these. The same perceptron filters
the stories of Reuters-21578 in order of time with either gain. What is taught of a region is at most what is taught of
all weights, so with the paper's θ it asks less; θ is therefore lowered by several factors, and gains are compared where
they ask about as often.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.data import Corpus, load_corpus
from textbayes.evaluate import compare, contingency, f_measure, filtering_summary
from textbayes.models.online import PAPER_PROBIT, GaussianProcess
from textbayes.reproduce.experiment import PaperRun, Systems, best_setting
from textbayes.reproduce.online import systems
from textbayes.reproduce.online.filtering_systems import (
    Deliveries,
    FilteringCollection,
    FilteringOutcome,
    FilteringSimulation,
    FilteringTask,
    table_of,
)
from textbayes.reproduce.online.filtering_tables import t9p_ratio
from textbayes.reproduce.online.systems import (
    KERNELS,
    TOLERANCE,
    OnlineSystem,
    TopicCollection,
    TopicSystems,
    averages,
    system_named,
)
from textbayes.reproduce.results import Cell, Table, mean_interval
from textbayes.stream.settings import paper_threshold

BAYESIAN: Final = ("Perceptron", "GP-R1")
MARGIN: Final = "SVMa-1"
_RULE: Final = "MaxF1"


def line_of_rarity(sizes: IntArray, truth: BoolArray, bayesian: BoolArray, margin: BoolArray) -> int:
    """Number of training stories below which a topic is rare: the one with which members decide best together.

    Best is the highest mean of the micro- and the macro-average F1, of which the one speaks for common and the other
    for rare topics; of equally good numbers the lowest.

    Parameters
    ----------
    sizes : array of int, shape (n_topics,)
    truth, bayesian, margin : array of bool, shape (n_docs, n_topics)
        Topics of held-out stories, and the decisions of both members on them.
    """
    lines = [0, *(np.unique(sizes) + 1).tolist()]
    return best_setting(lines, [sum(averages(truth, np.where(sizes < n, margin, bayesian))) for n in lines])


def margin_is_better(truth: BoolArray, bayesian: BoolArray, margin: BoolArray) -> BoolArray:
    """Whether the maximum-margin member has the higher F1, topic by topic, or the same.

    Ties go to it since the topics in which nothing tells members apart are rare ones.
    """
    by_member = [f_measure(contingency(truth, decisions)) for decisions in (bayesian, margin)]
    return np.asarray(by_member[1] >= by_member[0], dtype=np.bool_)


def seen_on_both_sides(collection: TopicCollection) -> IntArray:
    """Topics that have a story among the training and one among the other documents: there members can be compared."""
    return np.flatnonzero(collection.Y_train.any(axis=0) & collection.Y_test.any(axis=0))


def _decisions(run: PaperRun, topics: TopicSystems, detail: str) -> dict[str, BoolArray]:
    systems = {name: system_named(name) for name in (MARGIN, *BAYESIAN)}
    found = run.outcomes(topics, systems.values(), detail)
    return {name: found[system][-1].decide(_RULE) for name, system in systems.items()}


def table_2b(run: PaperRun, topics: TopicSystems) -> Table:
    """Table 2b: members alone, the two ways to choose between them, and how much there is to gain."""
    full = topics.collection
    alone = _decisions(run, topics, "")
    earlier = run.load("the training stories", systems.held_out)
    compared = seen_on_both_sides(earlier)
    part = TopicSystems(earlier.of_topics(compared))
    tried = _decisions(run, part, ", held-out stories")
    uses_margin = {MARGIN: np.ones(len(full.words), dtype=np.bool_)}
    decisions, signs = {MARGIN: alone[MARGIN]}, []
    for name in BAYESIAN:
        held_out = part.collection.Y_test, tried[name], tried[MARGIN]
        line = line_of_rarity(part.collection.Y_train.sum(axis=0), *held_out)
        own = np.ones(len(full.words), dtype=np.bool_)  # a topic that shows nothing is rare
        own[compared] = margin_is_better(*held_out)
        ways = {
            name: np.zeros_like(own),
            f"{name}, {MARGIN} below {line} training stories": full.Y_train.sum(axis=0) < line,
            f"{name} or {MARGIN}, the better on held-out stories": own,
            f"{name} or {MARGIN}, the better on the test stories": margin_is_better(
                full.Y_test, alone[name], alone[MARGIN]
            ),
        }
        uses_margin |= ways
        decisions |= {way: np.where(of_topic, alone[MARGIN], alone[name]) for way, of_topic in ways.items()}
        tests = compare(decisions, full.Y_test, ("s", "S"), kind="multilabel", exact_up_to=12).results
        signs += [
            f"{way} against {other} " + " ".join(tests[test][way, other].symbol for test in ("s", "S"))
            for way in list(ways)[1:3]
            for other in (name, MARGIN)
        ]
    return Table.by_row(
        "2b",
        "Not in the paper (§ 5): a maximum-margin classifier for rare topics and a Bayesian one for common ones, "
        f"{_RULE} thresholds.",
        (f"{_RULE} micro", f"{_RULE} macro", f"topics of {MARGIN}"),
        {way: (*averages(full.Y_test, decisions[way]), float(of_topic.sum())) for way, of_topic in uses_margin.items()},
        digits=2,
        notes=(
            f"Held out are the later {earlier.Y_test.shape[0]:,} of the training stories; {len(compared)} topics have "
            f"stories before and after. Where topics choose for themselves, the other {len(own) - len(compared)} are "
            f"left to {MARGIN}.",
            f"s-test and S-test, as in Table 3: {'; '.join(signs)}.",
            "Who knows the test stories has the highest macro-average that a choice between two members can have.",
        ),
    )


LARGEST: Final = 5  # topics with most training stories
_PASSES: Final = (1, 2, 3, 4, 5)
_JITTERS: Final = (1e-4, 0.0)


def largest_topics(collection: TopicCollection, n: int = LARGEST) -> TopicCollection:
    """The same stories with the topics that most training stories have."""
    return collection.of_topics(np.sort(np.argsort(-collection.Y_train.sum(axis=0), kind="stable")[:n]))


def table_7a(run: PaperRun, collection: TopicCollection) -> Table:
    """Table 7a: passes of the Gaussian process over the training stories, for its three kernels."""
    found = run.load("the largest topics", lambda: TopicSystems(largest_topics(collection)))
    ours = {}
    for name in KERNELS:
        passes = _PASSES[:2] if run.quick else _PASSES
        for number, outcomes in zip(
            passes,
            run.outcomes(found, [OnlineSystem(name, number) for number in passes], f", {name}").values(),
            strict=True,
        ):
            outcome = outcomes[-1]
            label = f"{name}, {number} pass{'es' * (number > 1)}"
            ours[label] = (*outcome.f1("MaxF1"), outcome.test_evidence, outcome.train_evidence)
    caption = (
        f"Not printed in the paper (A.2): passes of the Gaussian process, the {len(found.units)} topics with most "
        "stories, MaxF1 thresholds."
    )
    columns = ("micro F1", "macro F1", "log-evidence, test", "log-evidence, training")
    return Table.by_row("7a", caption, columns, ours, digits=2)


class Setup(NamedTuple):
    """A kernel, the jitter on its diagonal, and the ε up to which documents are projected on the basis."""

    kernel: str
    jitter: float
    tolerance: float


class Condition(NamedTuple):
    """A process after a pass: its basis, how far K is from singular, the error of the inverse kept, and errors made."""

    n_basis: int
    condition: float
    error: float
    least_variance: float
    wrong: float


class Conditioning(Systems[Setup, int, Condition, list[Condition]]):
    """Learn topics with and without jitter, and look at the matrices that the process keeps."""

    def __init__(self, collection: TopicCollection) -> None:
        super().__init__(range(len(collection.words)))
        self.collection = collection

    def fit(self, system: Setup, unit: int) -> Condition:
        """One pass over the training stories."""
        words = self.collection.words[unit]
        process = GaussianProcess.start(
            words, KERNELS[system.kernel], max(len(words), 1), system.tolerance, jitter=system.jitter
        )
        y = np.where(self.collection.Y_train[:, unit], 1.0, -1.0)
        with np.errstate(all="ignore"):  # what goes wrong is what is looked for
            process.learn(self.collection.train, y, PAPER_PROBIT, in_place=True)
            mean, var = process.predict(self.collection.test)
        wrong = ~np.isfinite(mean[:, 0]) | ((mean[:, 0] > 0.0) != self.collection.Y_test[:, unit])
        finite = var[np.isfinite(var)]
        least = float(finite.min()) if finite.size == var.size else float("nan")
        return Condition(process.n_basis, *inverse_error(process), least, 100.0 * float(wrong.mean()))


def inverse_error(process: GaussianProcess) -> tuple[float, float]:
    """The condition number of the basis's kernel matrix K, and the largest entry of Q K − 1, Q the inverse kept."""
    n = process.n_basis
    lower = np.tril(process.inverse[:n, :n])
    inverse = lower + np.tril(lower, -1).T
    K: FloatArray = np.asarray(process.kernel(process.basis, process.basis)) + process.jitter * np.eye(n)
    if not np.isfinite(inverse).all():
        return float(np.linalg.cond(K)), float("inf")
    return float(np.linalg.cond(K)), float(np.abs(inverse @ K - np.eye(n)).max())


def table_7b(run: PaperRun, collection: TopicCollection) -> Table:
    """Table 7b: the matrices of the Gaussian process with and without jitter."""
    found = run.load(
        "the largest topics, jitter", lambda: Conditioning(largest_topics(collection, 2 if run.quick else LARGEST))
    )
    ours: dict[str, list[Cell]] = {}
    for name in KERNELS:
        for tolerance in (TOLERANCE, 0.0):
            setups = [Setup(name, jitter, tolerance) for jitter in _JITTERS]
            for setup, parts in run.outcomes(found, setups, f", {name}").items():
                worst = [
                    float(np.log10(max(max(part.condition for part in parts), 1.0))),
                    float(np.log10(max(max(part.error for part in parts), 1e-17))),
                    float(np.min([part.least_variance for part in parts])),
                    float(np.mean([part.n_basis for part in parts])),
                    float(np.mean([part.wrong for part in parts])),
                ]
                label = f"{name}, ε = {tolerance:g}, {'jitter 10⁻⁴' if setup.jitter else 'no jitter'}"
                ours[label] = [value if np.isfinite(value) else None for value in worst]
    caption = (
        f"Not printed in the paper (A.3): one pass of the Gaussian process with and without jitter, the "
        f"{len(found.units)} topics with most stories. A dash is a value that is not a finite number."
    )
    columns = ("log₁₀ condition of K, worst", "log₁₀ error of K⁻¹, worst", "least variance", "basis, mean", "errors, %")
    return Table.by_row("7b", caption, columns, ours, digits=3)


LABELLED: Final = 1_000  # stories of the batch phase
LEAST_LABELLED, LEAST_STREAM, MOST_STREAM = 3, 10, 200  # relevant stories of a topic in the batch phase and the stream
NEVER: Final = "never asks"


class Asking(NamedTuple):
    """Which information counts, and the factor of the paper's θ; without one the filter never asks."""

    gain: str
    factor: float | None = None

    def __str__(self) -> str:
        of = {"paper": "weights", "region": "region of interest"}[self.gain]
        return NEVER if self.factor is None else f"{of}, θ × {self.factor:g}"


PLAIN: Final = Asking("paper")
USUAL: Final = Asking("paper", 1.0)
WAYS: Final = (
    PLAIN,
    *(Asking("paper", factor) for factor in (4.0, 2.0, 1.0, 0.5)),
    *(Asking("region", factor) for factor in (1.0, 0.5, 0.25, 0.125)),
)


def reuters(corpus: Corpus | None = None, labelled: int = LABELLED) -> FilteringCollection:
    """Reuters-21578 in order of time: the first stories are the batch phase, all others the stream of every topic.

    Topics are those with so many relevant stories in both parts that there is something to learn and to find, and so
    few that it pays to ask.
    """
    stories = corpus or load_corpus("reuters21578", topics="r90", unlabelled="keep")
    assert stories.dates is not None
    order = np.argsort(np.array(stories.dates), kind="stable").tolist()  # of one day in the order of their numbers
    parts = np.arange(labelled), np.arange(labelled, len(order))
    tasks = []
    for topic in stories.label_names:
        relevant = np.array([topic in stories.labels[i] for i in order])
        train, test = (relevant[part] for part in parts)
        if train.sum() >= LEAST_LABELLED and LEAST_STREAM <= test.sum() <= MOST_STREAM:
            tasks.append(FilteringTask(topic, topic, parts[0], train, parts[1], test))
    texts, ids = ([of[i] for i in order] for of in (stories.texts, stories.ids))
    return FilteringCollection("Reuters", texts, ids, tuple(tasks))


class RegionSimulation(Systems[Asking, FilteringTask, Deliveries, list[Deliveries]]):
    """Filter the stories for each topic with one way of asking."""

    threads = False

    def __init__(self, collection: FilteringCollection) -> None:
        super().__init__(collection.tasks)
        self._simulation = FilteringSimulation(collection)

    def fit(self, system: Asking, unit: FilteringTask) -> Deliveries:
        """One topic: Pptron of Table 4 without rehearsal, which asks about what it learns from."""
        learner = self._simulation.start(unit, replace(self._simulation.settings, gain=system.gain))
        factor = system.factor
        ask = "never" if factor is None else lambda n: factor * paper_threshold(n)
        return self._simulation.filter(learner.copy(ask=ask, explore="never", rehearse=False), unit)

    def outcome_of(self, found: dict[Asking, list[Deliveries]]) -> FilteringOutcome:
        """The same by name."""
        return FilteringOutcome(self._simulation.collection, {str(way): parts for way, parts in found.items()})


def _asked(deliveries: list[Deliveries]) -> tuple[float, float]:
    """Documents asked about, and how many of them were relevant."""
    queried: FloatArray = np.concatenate([topic.queried for topic in deliveries])
    relevant = np.concatenate([topic.relevant for topic in deliveries])
    return float(queried.sum()), float((queried & relevant).sum())


def _utility(deliveries: list[Deliveries]) -> FloatArray:
    """Utility of each topic: two for a relevant document, one less for another."""
    return np.array([3.0 * topic.relevant.sum() - len(topic.relevant) for topic in deliveries])


def table_4d(run: PaperRun) -> Table:
    """Table 4d: asking by what is taught of all weights, and of the region of interest."""
    simulation = run.load("Reuters in order of time", lambda: RegionSimulation(reuters()))
    ways = (PLAIN, USUAL, Asking("region", 0.5)) if run.quick else WAYS
    found = run.outcomes(simulation, ways, ", filtering Reuters")
    outcome = simulation.outcome_of(found)
    ours = {}
    for way, deliveries in found.items():
        told = filtering_summary(table_of(deliveries))
        percent = [100.0 * float(told[name] or 0.0) for name in ("macro_recall", "mean_t9p")]
        ours[str(way)] = [
            *_asked(deliveries), told["total_retrieved"], told["relevant_retrieved"], *percent, told["mean_utility"],
        ]  # fmt: skip
    notes = []
    asked = {way: _asked(deliveries)[0] for way, deliveries in found.items()}
    for way in (way for way in found if way.gain == "paper" and way.factor is not None):
        alike = min((one for one in found if one.gain == "region"), key=lambda one: abs(asked[one] - asked[way]))
        ratio = t9p_ratio(outcome, str(alike), str(way))
        gained = mean_interval(_utility(found[alike]) - _utility(found[way]))
        notes.append(
            f"{alike}, {asked[alike]:,.0f} questions, against {way}, {asked[way]:,.0f}: mean T9P {ratio.ratio:.2f} "
            f"times as high (95 % interval over topics {ratio.low:.2f} to {ratio.high:.2f}), mean utility {gained} "
            "higher."
        )
    first = simulation.units[0]
    caption = (
        f"Not in the paper (§ 4.2.4): asking by the information about all weights and about a region of interest. "
        f"Reuters in order of time, {len(first.train):,} labelled stories and a stream of {len(first.test):,}, "
        f"{len(simulation.units)} topics with {LEAST_STREAM} to {MOST_STREAM} relevant stories in it."
    )
    columns = (
        "asked", "relevant of these", "retrieved", "relevant retrieved", "macro recall", "mean T9P", "mean utility",
    )  # fmt: skip
    return Table.by_row("4d", caption, columns, ours, digits=1, notes=tuple(notes), mark=float("inf"))

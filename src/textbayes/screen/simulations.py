"""Many simulated screenings side by side: their measures, stops and calibration, and plots of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.core.executor import in_parallel
from textbayes.core.machine import n_threads
from textbayes.core.progress import Progress, silent
from textbayes.core.types import BoolArray, Document, FloatArray
from textbayes.evaluate.retrieval import average_time, extra_relevant, ranking_loss, recall_at, work_saved
from textbayes.knowledge import WordPriors
from textbayes.screen.collection import Collection, sentence_vectorizer
from textbayes.screen.remaining import DEFAULT_WEIGHTS, RemainingWeights, may_be_left
from textbayes.screen.settings import TOPIC, ScreenSettings
from textbayes.screen.simulate import (
    Check,
    ElasU4,
    Simulation,
    Stop,
    TopicReader,
    draw_start,
    simulate,
)
from textbayes.screen.stopping import make_rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_LOSS = 1e-9  # it can be 0, which has no ratio
_SIGNS = "os^Dv<>P"  # of rules in plots
_EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)
LATE = 0.9  # p-value of the ranked test below which the estimate is looked at: before it, next to nothing is known


class CalibrationBin(NamedTuple):
    """Places in readings at which the estimate gave the target about the same probability.

    Parameters
    ----------
    said : float
        The mean of these probabilities.
    reached : float
        Share of the places at which the target was reached.
    n : int
    """

    said: float
    reached: float
    n: int


class RuleSummary(NamedTuple):
    """The stops of one rule.

    Parameters
    ----------
    rule : str
    stops : int
    right : float
        Share of them at which the target was reached.
    worst_recall : float
    excess : float
        Records read in all beyond those with which the target was reached, as a share of all records.
    """

    rule: str
    stops: int
    right: float
    worst_recall: float
    excess: float


def is_late(check: Check) -> bool:
    """Whether a check counts for the calibration: some was found, and the reading says a little of what is left."""
    return check.p_value < LATE and check.n_found >= 2


def estimate_checks(
    simulation: Simulation, target: float, weights: RemainingWeights = DEFAULT_WEIGHTS
) -> tuple[FloatArray, BoolArray]:
    """The probability that the estimate gave the target at every late check, and whether the target was reached.

    Parameters
    ----------
    simulation : Simulation
        With its checks, for this target.
    target : float
    weights : RemainingWeights
    """
    late, n = [check for check in simulation.checks if is_late(check)], len(simulation.rows)
    said = [estimated_probability(check, n, target, weights) for check in late]
    reached = [check.n_left <= may_be_left(check.n_found, target) for check in late]
    return np.array(said, dtype=np.float64), np.array(reached, dtype=np.bool_)


def estimated_probability(
    check: Check, n_records: int, target: float, weights: RemainingWeights = DEFAULT_WEIGHTS
) -> float:
    """The probability that the estimate gave the target at a check.

    Parameters
    ----------
    check : Check
    n_records : int
    target : float
    weights : RemainingWeights
    """
    return weights.left(check.signs, n_records - check.n_read).at_most(may_be_left(check.n_found, target))


def calibration(said: FloatArray, reached: BoolArray) -> list[CalibrationBin]:
    """What happened, by what the estimate had said.

    Parameters
    ----------
    said, reached : arrays (n_checks,)
        Of :func:`estimate_checks`, of as many simulations as there are.

    Examples
    --------
    >>> calibration(np.array([0.97, 0.99, 0.3]), np.array([True, True, False]))
    [CalibrationBin(said=0.3, reached=0.0, n=1), CalibrationBin(said=0.98, reached=1.0, n=2)]
    """
    place = np.searchsorted(_EDGES, said, side="right")
    place[said >= 1.0] = len(_EDGES) - 1
    groups = [place == k for k in range(1, len(_EDGES))]
    return [
        CalibrationBin(float(said[at].mean()), float(reached[at].mean()), int(at.sum())) for at in groups if at.any()
    ]


def summarise_stops(runs: Iterable[tuple[Sequence[Stop], int]], target: float) -> list[RuleSummary]:
    """How often each rule was right, and what it cost.

    Parameters
    ----------
    runs : iterable of (stops, n_records)
        Each with the same rules.
    target : float
    """
    by_rule: dict[int, list[tuple[Stop, int]]] = {}
    for stops, n in runs:
        for k, stop in enumerate(stops):
            by_rule.setdefault(k, []).append((stop, n))
    found = []
    for stops_of_rule in by_rule.values():
        recalls = np.array([stop.recall for stop, _ in stops_of_rule])
        excess = sum(stop.excess for stop, _ in stops_of_rule) / sum(n for _, n in stops_of_rule)
        right = float((recalls >= target - 1e-9).mean())
        found.append(RuleSummary(stops_of_rule[0][0].rule, len(stops_of_rule), right, float(recalls.min()), excess))
    return found


class SimulationTask(NamedTuple):
    """One simulation: which review is read by which model, from which start.

    Parameters
    ----------
    review, model : str
        ``model`` is textbayes or elas_u4.
    seed : int
    known_start : bool
        Whether a relevant and an irrelevant record are known, which elas_u4 needs; else nothing is judged.
    strategy : str
    rules : tuple of str
        Stopping rules; our model only.
    target, confidence : float
        What the rules are to reach, and how sure they are to be of it.
    """

    review: str
    model: str
    seed: int
    known_start: bool = True
    strategy: str = "likely"
    rules: tuple[str, ...] = ()
    target: float = 0.95
    confidence: float = 0.9


class Result(NamedTuple):
    """A task that was done.

    Parameters
    ----------
    task : SimulationTask
    simulation : Simulation
    """

    task: SimulationTask
    simulation: Simulation

    @property
    def row(self) -> dict[str, Any]:
        """The measures, where rules would have stopped, and what came of what the estimate said, if it was asked."""
        found, order = self.simulation.found, self.simulation.order
        return {
            "review": self.task.review,
            "model": self.task.model,
            "seed": self.task.seed,
            "records": len(found),
            "relevant": int(found.sum()),
            "loss": ranking_loss(order),
            **{f"recall_{share}": recall_at(order, share / 100.0) for share in (10, 20, 50)},
            "wss_95": work_saved(order),
            "erf_10": extra_relevant(order, 0.1),
            "atd": average_time(order),
            "stops": [stop._asdict() for stop in self.simulation.stops],
            "estimate": [found._asdict() for found in calibration(*estimate_checks(self.simulation, self.task.target))],
        }


def run_tasks(
    tasks: Sequence[SimulationTask],
    reviews: Mapping[str, Sequence[Document]],
    relevant: str,
    questions: Mapping[str, str] = MappingProxyType({}),
    prior: WordPriors | None = None,
    n_jobs: int | None = None,
    progress: Progress = silent,
    embeddings: str | Path | None = None,
) -> list[Result]:
    """Do all tasks, several at a time; results come in the order of the tasks.

    Parameters
    ----------
    tasks : sequence of SimulationTask
    reviews : mapping of str to documents
        With their labels.
    relevant : str
        The label of what was included.
    questions : mapping of str to str
        Review → its question, where it has one.
    prior : WordPriors, optional
    n_jobs : int, optional
    progress : function
    embeddings : "auto", "off" or None, name or folder
        The sentence model whose vectors stand beside the words, for elas_u4 too.
    """
    vectorizer = sentence_vectorizer(embeddings)
    collections: dict[str, tuple[Collection, BoolArray]] = {}
    for name, documents in reviews.items():
        included = np.array([relevant in document.labels for document in documents], dtype=np.bool_)
        if included.all() or not included.any():
            labels = sorted({label for document in documents for label in document.labels})[:10]
            known = f"the labels are {', '.join(labels)}" if labels else "no record has a label"
            raise InputError(
                f"{name}: {int(included.sum())} of {len(documents)} records have the label {relevant!r}; {known}: name "
                "the field with the decisions (--label-field) and its value for included records (--relevant)"
            )
        ids = [str(i) for i in range(len(documents))]
        texts = [document.text for document in documents]
        asked = {TOPIC: questions.get(name, "")}
        made = Collection.read(ids, texts, [TOPIC], asked, prior, vectorizer=vectorizer, report=progress)
        collections[name] = made, included
    results: list[Result] = []
    n_jobs = n_threads(-1 if n_jobs is None else n_jobs)  # kernels let go of the interpreter
    for result in in_parallel(lambda task: _run(task, *collections[task.review]), tasks, n_jobs):
        results.append(result)
        progress("simulating", len(results), len(tasks))
    return results


def _run(task: SimulationTask, collection: Collection, relevant: BoolArray) -> Result:
    start = draw_start(relevant, task.seed)[: None if task.known_start else 0]
    if task.model == "elas_u4":
        return Result(task, simulate(ElasU4(collection), relevant, start))
    reader = TopicReader(collection, ScreenSettings(strategy=task.strategy, random_state=task.seed))
    rules = [make_rule(rule, task.target, task.confidence) for rule in task.rules]
    return Result(
        task, simulate(reader, relevant, start, rules, task.target, any("estimate" in name for name in task.rules))
    )


def summarise_losses(results: Sequence[Result]) -> list[tuple[str, float, float | None, float | None]]:
    """Of each model its mean loss over reviews, that relative to elas_u4's, and the geometric mean of the ratios.

    Parameters
    ----------
    results : sequence of Result
        Ratios are None where elas_u4 did not read.
    """
    reviews = list(dict.fromkeys(result.task.review for result in results))
    losses: dict[str, dict[str, list[float]]] = {}
    for result in results:
        own = losses.setdefault(result.task.model, {name: [] for name in reviews})
        own[result.task.review].append(ranking_loss(result.simulation.order))
    means = {model: np.array([np.mean(own[name]) for name in reviews]) for model, own in losses.items()}
    if "elas_u4" not in means:
        return [(model, float(own.mean()), None, None) for model, own in means.items()]
    peer = np.maximum(means["elas_u4"], _LEAST_LOSS)
    ratios = {model: np.maximum(own, _LEAST_LOSS) / peer for model, own in means.items()}
    return [
        (model, float(own.mean()), float(own.mean() / peer.mean()), float(np.exp(np.log(ratios[model]).mean())))
        for model, own in means.items()
    ]


def check_plot_ending(path: str | Path) -> str:
    """The format of a drawing by the ending of its file; others than PNG, SVG and PDF are refused."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in ("png", "svg", "pdf"):
        raise InputError(f"{path} does not say what to draw; end it in .png, .svg or .pdf")
    return ending


def draw_recall(
    results: Sequence[Result], path: str | Path, bins: Sequence[CalibrationBin] = (), target: float = 0.95
) -> None:
    """Draw how recall grows with reading: a panel for each review, a thin line for each seed, a colour for each model.

    Where rules stopped is marked by a sign for each rule, and their target by a dashed line.

    Parameters
    ----------
    results : sequence of Result
    path : str or Path
    bins : sequence of CalibrationBin
        The estimate's calibration, in a panel of its own.
    target : float
        Of the rules.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "demo", "drawing recall curves") from None
    ending = check_plot_ending(path)
    reviews = list(dict.fromkeys(result.task.review for result in results))
    models = list(dict.fromkeys(result.task.model for result in results))
    rules = list(dict.fromkeys(stop.rule for result in results for stop in result.simulation.stops))
    n_panels = len(reviews) + bool(bins)
    columns = min(4, n_panels)
    rows = -(-n_panels // columns)
    figure = Figure(figsize=(3.2 * columns, 2.8 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[n_panels:]:
        panel.set_axis_off()
    for result in results:
        order = result.simulation.order
        panel = panels[reviews.index(result.task.review)]
        colour = f"C{models.index(result.task.model)}"
        panel.plot(np.arange(1, len(order) + 1) / len(order), np.cumsum(order) / order.sum(), color=colour, lw=0.8)
        panel.set_title(Path(result.task.review).stem, fontsize=9)
        for stop in result.simulation.stops:
            sign = _SIGNS[rules.index(stop.rule) % len(_SIGNS)]
            panel.plot(stop.n_read / len(result.simulation.rows), stop.recall, sign, color="black", ms=5, mfc="none")
    for k, model in enumerate(models):
        panels[0].plot([], [], color=f"C{k}", label=model)
    for k, rule in enumerate(rules):
        panels[0].plot([], [], _SIGNS[k % len(_SIGNS)], color="black", ms=5, mfc="none", label=rule)
    if rules:
        for panel in panels[: len(reviews)]:
            panel.axhline(target, color="0.5", lw=0.8, ls="--")
        panels[0].plot([], [], color="0.5", lw=0.8, ls="--", label=f"target {target:.0%}")
    panels[0].legend(fontsize=8, loc="lower right")
    if bins:
        draw_calibration(panels[n_panels - 1], bins)
    figure.supxlabel("share of the records read", fontsize=9)
    figure.supylabel("recall", fontsize=9)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=ending, dpi=120)


def draw_calibration(panel: Axes, bins: Sequence[CalibrationBin]) -> None:
    """Draw how often the target was reached by what the estimate had said; points on the line are right.

    Parameters
    ----------
    panel : matplotlib Axes
    bins : sequence of CalibrationBin
    """
    panel.plot([0, 1], [0, 1], color="0.7", lw=0.8)
    panel.scatter([one.said for one in bins], [one.reached for one in bins], s=[8 + 3 * one.n**0.5 for one in bins])
    panel.set_title("calibration: predicted (x), observed (y)", fontsize=9)

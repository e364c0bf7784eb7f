"""Search for the reading of γ, the start and the stopping rule of EM that come closest to the paper's Table 4.

Table 4 counts the parameters "with non-zero posterior modes". Plain EM never sets a weight to zero: near zero a step
multiplies it by |gradient|/rate, so how many have fallen below some small number depends on when EM stops. Every rule
is a line here: a reading of γ (rate γ as in the printed E-step, or √γ as the model's integral gives), a start, and
an end (a relative change of β, or a number of steps); every column a size below which a parameter counts as zero. The
criterion is the mean absolute difference from the Laplace cells, 59 without a misprint; the rank correlation is given
beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.inference import Posterior, Problem
from textbayes.inference.base import Step
from textbayes.inference.em import Em
from textbayes.inference.starts import least_squares_start, ridge_start
from textbayes.reproduce.experiment import PaperRun, Systems
from textbayes.reproduce.results import Table
from textbayes.reproduce.sparse.systems import GAMMAS, JEFFREYS, PUBLISHED, RegressionModel, Regressions

ZEROS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12)
READINGS = {"γ": 1.0, "√γ": 0.5}  # the power of γ that is the rate
STARTS = ("least squares", "ridge", "ones")
_DEAD = 1e-16  # dropped: it only shrinks, and no column counts it
_TOLS, _QUICK_TOLS = (1e-1, 1e-2, 1e-3), (1e-1, 1e-2)
_STEPS = (10, 20, 30)
_CHUNK = max(_STEPS)  # steps between two looks for the dead
_MOST_STEPS = 1500


class EmEnding(NamedTuple):
    """Stopping rule of EM: the first relative change of at most ``tol``, or after ``steps`` if that is given."""

    tol: float = 0.0
    steps: int = 0

    def __str__(self) -> str:
        return f"{self.steps} steps" if self.steps else f"change ≤ {self.tol:g}"

    def place(self, change: FloatArray) -> int:
        """The step at which the rule ends, the last one if it never does."""
        if self.steps:
            return min(self.steps, len(change)) - 1
        reached = np.flatnonzero(change <= self.tol)
        return int(reached[0]) if len(reached) else len(change) - 1


class EmCourse(NamedTuple):
    """Plain EM step by step: ‖β′ − β‖/‖β‖, and how many parameters are above each of ``ZEROS``."""

    change: FloatArray
    counts: IntArray


class RuleCounts(NamedTuple):
    """One stopping rule: parameters left per topic, γ and zero."""

    reading: str
    start: str
    end: str
    counts: AnyArray  # (n_topics, n_gammas, n_zeros)

    @property
    def name(self) -> str:
        return f"rate {self.reading}, " + (f"start {self.start}, {self.end}" if self.start else self.end)


class StoppingPlan(NamedTuple):
    """A reading of γ and a start, followed down to the smallest of the tolerances."""

    reading: str
    start: str
    tols: tuple[float, ...]


def follow_em(problem: Problem, start: Posterior, tol: float, max_steps: int) -> EmCourse:
    """Follow plain EM for 30 steps, and on until the relative change is at most ``tol``, or ``max_steps``."""
    changes: list[float] = []
    counts: list[IntArray] = []
    zeros = np.array(ZEROS)
    while len(changes) < max_steps and min(changes, default=np.inf) > tol:
        # The steps before the first look are all taken, for the rules that count steps.
        method = Em(tol if changes else 0.0, min(_CHUNK, max_steps - len(changes)), plain=True)
        trace: list[Step] = []
        method.trace = trace
        start = method.run(problem, start)
        betas = np.array([np.append(step.w, step.b) for step in trace])
        length = np.maximum(np.linalg.norm(betas[:-1], axis=1), np.finfo(float).tiny)  # 0 where every weight has gone
        changes += list(np.linalg.norm(np.diff(betas, axis=0), axis=1) / length)
        counts += list((np.abs(betas[1:, :, None]) > zeros).sum(axis=1))
        alive = np.abs(start.mean[0]) > _DEAD
        X = problem.X[:, np.flatnonzero(alive)]
        X.indptr = X.indptr.astype(np.int64)  # as the kernels know it
        problem, start = problem._replace(X=X), start._replace(mean=start.mean[:, alive])
    return EmCourse(np.array(changes), np.array(counts))


def make_start(problem: Problem, start: str) -> Posterior:
    """Make a start by name: least squares, the mode under the Gaussian prior of the same scale, or β = 1."""
    if start == "ridge":
        return ridge_start(problem)
    least_squares = least_squares_start(problem)
    if start == "least squares":
        return least_squares
    return least_squares._replace(mean=np.ones_like(least_squares.mean), intercept=np.ones(1))


class StoppingRules(Systems[StoppingPlan, int, list[EmCourse], list[RuleCounts]]):
    """Follow EM for every topic and γ, and count the parameters left where each rule ends it."""

    def __init__(self, fits: Regressions) -> None:
        super().__init__(fits.units)
        self.fits = fits

    def fit(self, system: StoppingPlan, unit: int) -> list[EmCourse]:
        """The course of EM for each γ."""
        courses = []
        for gamma in GAMMAS:
            problem, _ = self.fits.problem(
                RegressionModel("probit", "laplace", gamma ** -READINGS[system.reading]), unit
            )
            courses.append(follow_em(problem, make_start(problem, system.start), min(system.tols), _MOST_STEPS))
        return courses

    def collect(self, system: StoppingPlan, parts: list[list[EmCourse]]) -> list[RuleCounts]:
        """One line for each rule."""
        found = []
        for rule in (*(EmEnding(tol) for tol in system.tols), *(EmEnding(steps=steps) for steps in _STEPS)):
            counts = [[course.counts[rule.place(course.change)] for course in topic] for topic in parts]
            found.append(RuleCounts(system.reading, system.start, str(rule), np.array(counts)))
        return found


def rule_counts(fits: Regressions, run: PaperRun) -> list[RuleCounts]:
    """Every rule for every reading and start, and the optimum itself for each reading."""
    plans = [StoppingPlan(reading, STARTS[0], _QUICK_TOLS if run.quick else _TOLS) for reading in READINGS]
    plans += [] if run.quick else [StoppingPlan("γ", start, _QUICK_TOLS) for start in STARTS[1:]]
    fits.prepare(JEFFREYS)  # the words of all models here
    found = [line for of_plan in run.outcomes(StoppingRules(fits), plans).values() for line in of_plan]
    for reading, power in READINGS.items():
        models = [RegressionModel("probit", "laplace", gamma**-power, exact=True) for gamma in GAMMAS]
        sizes = np.array([outcome.sizes for outcome in run.outcomes(fits, models, ", the optimum").values()]).T
        found.append(RuleCounts(reading, "", "the optimum", np.repeat(sizes[:, :, None], len(ZEROS), axis=2)))
    return found


def stopping_tables(fits: Regressions, run: PaperRun) -> tuple[Table, Table]:
    """Tables 4a and 4b: mean absolute difference and rank correlation of every rule."""
    published = np.array([PUBLISHED["sizes"][f"Laplace γ = {gamma:g}"] for gamma in GAMMAS]).T[:, :, None]
    found = rule_counts(fits, run)
    errors = [np.nanmean(np.abs(line.counts - published), axis=(0, 1)) for line in found]
    ranks = [[rank_correlation(line.counts[:, :, j], published[:, :, 0]) for j in range(len(ZEROS))] for line in found]
    by_change = [i for i, line in enumerate(found) if line.end.startswith("change")]
    notes = (
        f"Closest of all: {_closest(found, errors, range(len(found)))}",
        f"Closest of the rules by change, the form that the paper states: {_closest(found, errors, by_change)}",
    )
    names, columns = [line.name for line in found], [f"zero ≤ {zero:g}" for zero in ZEROS]
    caption = "Stopping rules against Table 4: {} over its 59 Laplace cells that are no misprint."
    differences, correlations = (dict(zip(names, rows, strict=True)) for rows in ([e.tolist() for e in errors], ranks))
    return (
        Table.by_row("4a", caption.format("mean absolute difference"), columns, differences, digits=1, notes=notes),
        Table.by_row("4b", caption.format("rank correlation (Spearman)"), columns, correlations, digits=3),
    )


def _closest(found: Sequence[RuleCounts], errors: Sequence[FloatArray], among: Sequence[int]) -> str:
    best = min(among, key=lambda i: float(errors[i].min()))
    zero = ZEROS[int(errors[best].argmin())]
    return f"{found[best].name}, zero ≤ {zero:g}: {errors[best].min():.1f} parameters on average."


def rank_correlation(ours: AnyArray, published: AnyArray) -> float | None:
    """Compute Spearman's rank correlation; None where all counts are the same and have no ranks.

    Published cells that are NaN, misprints, are left out.
    """
    known = ~np.isnan(published)
    return None if np.ptp(ours[known]) == 0 else float(spearmanr(ours[known], published[known])[0])

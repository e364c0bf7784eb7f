"""Section 4: the designs of Examples 1 and 2, the best misclassification rate of each method, and Tables 1 to 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import lars_path

from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import Problem
from textbayes.inference.newton import Newton
from textbayes.links import make_link
from textbayes.priors.gaussian import Gaussian
from textbayes.reproduce.experiment import PaperRun, Systems
from textbayes.reproduce.flexlink.systems import LOGIT_DF, PROBIT_DF, Rate, as_columns, derived_rate, walk
from textbayes.reproduce.results import Cell, Table, mean_interval, published_figures

PUBLISHED = published_figures("flexlink")
N_OBSERVATIONS, N_PREDICTORS = 100, 10
# The paper's grids of the simulated examples.
DFS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 15.0, 30.0, 50.0, 100.0)
GAMMAS = (0.01, 0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 20.0, 50.0, 100.0)
SKEWS = (0.01, 0.1, 0.5, 0.7, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0)
LAMBDAS = (0.01, 0.1, 1.0, 10.0, 100.0)
N_FRESH = 2000  # observations of the same design that no method has seen
_FREE = 100.0  # a prior so wide that it only holds weights that would be infinite: see ``glm``


class Misclassification(NamedTuple):
    """Misclassification on the data a model was fitted to, and on fresh data."""

    seen: float
    fresh: float


class DataSet(NamedTuple):
    """Binary predictors and response, and fresh observations of the same design."""

    X: FloatArray
    y: BoolArray
    X_fresh: FloatArray
    y_fresh: BoolArray

    @property
    def both(self) -> tuple[FloatArray, FloatArray]:
        """The predictors of the data and of the fresh data."""
        return self.X, self.X_fresh

    def rates(self, seen: BoolArray, fresh: BoolArray) -> Misclassification:
        """Misclassification of decisions on both."""
        return Misclassification(float(np.mean(seen != self.y)), float(np.mean(fresh != self.y_fresh)))


class Best(NamedTuple):
    """The smallest misclassification over a grid and where it is reached.

    A parameter is None where several of its values reach it, the paper's *. ``zeros``: weights that are zero in the
    sparsest of the best models. The rate on fresh data is the mean over the best models.
    """

    rates: Misclassification
    df: float | None
    skew: float | None
    gamma: float | None
    zeros: int


class DataSetOutcome(NamedTuple):
    """Results of all methods on one data set: unpenalised GLMs, FST, its two named links, elastic net."""

    probit: Misclassification
    logit: Misclassification
    fst: Best
    best_probit: Best
    best_logit: Best
    enet: Best


def example_1(rng: np.random.Generator, n: int) -> tuple[FloatArray, BoolArray]:
    """A response of probability 0.6 and ten predictors of 0.3 (three), 0.5 (five), 0.8 (two), all independent."""
    probability = np.repeat([0.3, 0.5, 0.8], [3, 5, 2])
    X = rng.random((n, N_PREDICTORS)) < probability
    return X.astype(np.float64), rng.random(n) < 0.6


def example_2(rng: np.random.Generator, n: int) -> tuple[FloatArray, BoolArray]:
    """Signs of a multivariate normal: response and first four predictors correlated."""
    # By Cholesky: eigenvalues of this covariance are equal, and their vectors (the default) another on every machine.
    normal = rng.multivariate_normal(np.zeros(N_PREDICTORS + 1), covariance(), size=n, method="cholesky")
    return (normal[:, 1:] > 0.0).astype(np.float64), normal[:, 0] > 0.0


def covariance() -> FloatArray:
    """Response and first 4 predictors 0.8 with each other, the next 3 0.3, the last 3 0.4, all others 0.01."""
    matrix = np.full((N_PREDICTORS + 1, N_PREDICTORS + 1), 0.01)
    for block, correlation in ((slice(0, 5), 0.8), (slice(5, 8), 0.3), (slice(8, 11), 0.4)):
        matrix[block, block] = correlation
    np.fill_diagonal(matrix, 1.0)
    return matrix


EXAMPLES: dict[int, Callable[[np.random.Generator, int], tuple[FloatArray, BoolArray]]] = {1: example_1, 2: example_2}


def data_set(example: int, number: int) -> DataSet:
    """Data set ``number`` of an example, the same on every call."""
    rng = np.random.default_rng([example, number])
    return DataSet(*EXAMPLES[example](rng, N_OBSERVATIONS), *EXAMPLES[example](rng, N_FRESH))


class Tried(NamedTuple):
    """Every model tried, in arrays (ν, δ, γ): misclassification on the data and on fresh data, weights at zero."""

    seen: FloatArray
    fresh: FloatArray
    zeros: FloatArray

    def take(self, rows: AnyArray) -> Tried:
        """Those of some degrees of freedom."""
        return Tried(*(values[rows] for values in self))


def outcome(
    data: DataSet,
    dfs: Sequence[float] = DFS,
    gammas: Sequence[float] = GAMMAS,
    skews: Sequence[float] = SKEWS,
    rate: Rate = derived_rate,
) -> DataSetOutcome:
    """All methods on one data set, each at the grid point that fits the data best, as the paper reports them."""
    tried, df = grid(data, dfs, gammas, skews, rate), np.asarray(dfs)

    def best(rows: BoolArray) -> Best:
        return _best(tried.take(rows), df[rows].tolist(), skews, gammas)

    return DataSetOutcome(
        glm(data, "probit"),
        glm(data, "logit"),
        best(df > 0.0),
        best(df == PROBIT_DF),
        best(df == LOGIT_DF),
        elastic_net(data),
    )


def grid(
    data: DataSet, dfs: Sequence[float], gammas: Sequence[float], skews: Sequence[float], rate: Rate = derived_rate
) -> Tried:
    """FST at every point of the grid; ``rate`` gives the Laplace rate of a γ."""
    shape = len(dfs), len(skews), len(gammas)
    tried = Tried(np.empty(shape), np.empty(shape), np.empty(shape))
    for d, skew in enumerate(skews):
        for fit in walk(data.X, data.y[:, None], skew, dfs, gammas, rate=rate):
            at = list(dfs).index(fit.df), d, list(gammas).index(fit.gamma)
            tried.seen[at], tried.fresh[at] = data.rates(*(fit.decide(X)[:, 0] for X in data.both))
            tried.zeros[at] = int((fit.posterior.mean[0] == 0.0).sum())
    return tried


def glm(data: DataSet, link: str) -> Misclassification:
    """The unpenalised regression with an intercept, as R's ``glm`` fits it.

    Where a plane separates the classes the maximum likelihood is at infinity and R stops on the way; a Gaussian prior
    of standard deviation 100 stops ours. Elsewhere it moves no decision.
    """
    wide, y = Gaussian(_FREE), np.where(data.y, 1.0, -1.0)[:, None]
    problem = Problem(as_columns(data.X), y, make_link(link), wide, wide.rescaled(np.inf))
    posterior = Newton(1e-8, 200).run(problem)
    return data.rates(*(X @ posterior.mean[0] + posterior.intercept[0] > 0.0 for X in data.both))


def elastic_net(data: DataSet, lambdas: Sequence[float] = LAMBDAS) -> Best:
    """Least squares of y ∈ {0, 1} with the penalty λ₂‖β‖² + λ₁‖β‖₁, decided at ½: R's ``elasticnet``.

    That package (Zou & Hastie 2005) was the elastic net of its time, and knew no logit. For each λ₂ it gives the whole
    path of solutions in λ₁ (LARS on augmented data, their Lemma 1), so every knot of the path is tried; predictors are
    centred and scaled to length 1, and the naive solution is multiplied by 1 + λ₂.
    """
    centre, level = data.X.mean(axis=0), float(data.y.mean())
    length = np.maximum(np.sqrt(((data.X - centre) ** 2).sum(axis=0)), 1e-12)
    X, unseen = ((Z - centre) / length for Z in data.both)
    models = []
    for ridge in lambdas:
        for weights in elastic_net_path(X, data.y.astype(np.float64) - level, ridge)[1]:
            rates = data.rates(level + X @ weights > 0.5, level + unseen @ weights > 0.5)
            models.append((*rates, int((weights == 0.0).sum())))
    tried = Tried(*(np.array(values, dtype=np.float64)[None, None, :] for values in zip(*models, strict=True)))
    return _best(tried, [None], [None], [None] * len(models))


def elastic_net_path(X: FloatArray, y: FloatArray, ridge: float) -> tuple[FloatArray, FloatArray]:
    """λ₁ and weights at the knots of the path for λ₂ = ``ridge``, from no predictor to all: Zou & Hastie's Lemma 1."""
    n_predictors = X.shape[1]
    augmented = np.vstack([X, np.sqrt(ridge) * np.eye(n_predictors)]) / np.sqrt(1.0 + ridge)
    alphas, _, path = lars_path(augmented, np.append(y, np.zeros(n_predictors)), method="lasso")
    return 2.0 * len(augmented) * np.sqrt(1.0 + ridge) * alphas, np.sqrt(1.0 + ridge) * path.T


def _best(
    tried: Tried, dfs: Sequence[float | None], skews: Sequence[float | None], gammas: Sequence[float | None]
) -> Best:
    if not tried.seen.size:
        return Best(Misclassification(float("nan"), float("nan")), None, None, None, 0)
    least = float(tried.seen.min())
    at = tried.seen <= least + 1e-12  # rates are multiples of 1/100

    def only(values: Sequence[float | None], axis: int) -> float | None:
        used = np.unique(np.nonzero(at)[axis])
        return values[used[0]] if len(used) == 1 else None

    rates = Misclassification(least, float(tried.fresh[at].mean()))
    return Best(rates, only(dfs, 0), only(skews, 1), only(gammas, 2), int(tried.zeros[at].max()))


N_DATA_SETS, N_QUICK = 10, 3
_SETS = tuple(str(number) for number in range(1, N_DATA_SETS + 1))
_PARAMETERS = "νδγ"  # columns whose names end so are not rates
_STAR = "– is the paper's *: several values of the parameter reach the smallest rate."
_SEEN = (
    "Misclassification is counted on the 100 observations that a model was fitted to, and FST, its links and enet are "
    "shown at the grid point where it is smallest: the reading that gives the printed level."
)
_RANDOM = "The data are random: compare means, not rows."

METHODS: Mapping[str, Callable[[DataSetOutcome], Misclassification]] = {
    "probit": lambda result: result.probit,
    "logit": lambda result: result.logit,
    "FST": lambda result: result.fst.rates,
    "enet": lambda result: result.enet.rates,
}
"""The methods of Tables 1 and 3 and their rates."""


class Simulations(Systems[int, int, DataSetOutcome, list[DataSetOutcome]]):
    """Run all methods on the data sets of an example, from the first on."""

    threads = False

    def __init__(self, n_sets: int = N_DATA_SETS) -> None:
        super().__init__(range(1, n_sets + 1))

    def fit(self, system: int, unit: int) -> DataSetOutcome:
        """All methods on data set ``unit`` of example ``system``."""
        return outcome(data_set(system, unit))


def example_outcomes(example: int, run: PaperRun) -> list[DataSetOutcome]:
    """The data sets of an example, in quick mode the first few."""
    found = run.load("simulations", lambda: Simulations(N_QUICK if run.quick else N_DATA_SETS))
    return run.outcome(found, example, f", Example {example}")


def rates_table(number: str, outcomes: Sequence[DataSetOutcome]) -> Table:
    """Table 1 or 3: misclassification of all methods and the parameters of the best FST."""
    ours = [
        (r.probit.seen, r.logit.seen, r.fst.rates.seen, r.fst.df, r.fst.skew, r.fst.gamma, r.enet.rates.seen)
        for r in outcomes
    ]
    columns = ("probit", "logit", "FST", "ν", "δ", "γ", "enet")
    means, fresh = [], []
    for name, of in METHODS.items():
        of_paper = mean_interval([row[columns.index(name)] or 0.0 for row in PUBLISHED[f"table {number}"]])
        means.append(f"{name} {mean_interval([of(r).seen for r in outcomes])}, published {of_paper}")
        fresh.append(f"{name} {mean_interval([of(r).fresh for r in outcomes])}")
    notes = (
        _SEEN,
        f"{_RANDOM} Means (95% intervals): {'; '.join(means)}.",
        f"On fresh observations, that no method has seen: {', '.join(fresh)}.",
        _STAR,
    )
    return _table(number, f"Example {1 if number == '1' else 2}: misclassification rates.", columns, ours, notes)


def links_table(outcomes: Sequence[DataSetOutcome]) -> Table:
    """Table 2: the best probit (t30) and logit (t8) with their own skewness and γ."""
    ours = [
        (*(values for best in (r.best_probit, r.best_logit) for values in (best.rates.seen, best.skew, best.gamma)),)
        for r in outcomes
    ]
    columns = ("probit", "probit δ", "probit γ", "logit", "logit δ", "logit γ")
    caption = "Example 1: best probit and logit, approximated by t30 and t8."
    return _table("2", caption, columns, ours, (_RANDOM, _STAR))


def zeros_table(outcomes: Sequence[DataSetOutcome]) -> Table:
    """Table 4: how many weights are zero."""
    ours = {
        "enet": [float(result.enet.zeros) for result in outcomes],
        "FST": [float(result.fst.zeros) for result in outcomes],
    }
    printed = {name: [float(value or 0) for value in row] for name, row in zip(ours, PUBLISHED["table 4"], strict=True)}
    means = ", ".join(
        f"{name} {sum(row) / len(row):.1f} (published {sum(printed[name]) / N_DATA_SETS:.1f})"
        for name, row in ours.items()
    )
    notes = (f"Means: {means}.", "Where several models are best, the sparsest of them is counted.", _RANDOM)
    caption = "Example 2: weights equal to zero."
    return Table.by_row("4", caption, _SETS, ours, printed, digits=0, notes=notes, mark=float("inf"))


def _table(
    number: str, caption: str, columns: tuple[str, ...], ours: Sequence[tuple[Cell, ...]], notes: tuple[str, ...]
) -> Table:
    """One row per data set, and the mean of each column of rates; parameters have none."""

    def named(rows: Sequence[tuple[Cell, ...]]) -> dict[str, tuple[Cell, ...]]:
        means = (
            None if name[-1] in _PARAMETERS else sum(value or 0.0 for value in column) / len(column)
            for name, column in zip(columns, zip(*rows, strict=True), strict=True)
        )
        return {**dict(zip(_SETS, rows, strict=False)), "mean": tuple(means)}

    rows, printed, mark = (*_SETS, "mean"), named(PUBLISHED[f"table {number}"]), float("inf")
    return Table.by_row(number, caption, columns, named(ours), printed, rows, digits=2, notes=notes, mark=mark)

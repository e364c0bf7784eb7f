"""Section 5: Reuters-21578, ten categories, five random splits, (ν, γ, δ) of each category chosen by validation F1.

A fit walks a grid of degrees of freedom and γ for one skewness: posterior modes, and the paper's EM as printed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.data import load_corpus
from textbayes.evaluate import contingency, f_measure
from textbayes.inference import Posterior, Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.em import Em
from textbayes.inference.starts import best_of_starts, least_squares_start
from textbayes.links import make_link
from textbayes.links.base import BaseLink
from textbayes.priors.laplace import Laplace
from textbayes.reproduce.experiment import Systems, best_setting, indicator, run_units
from textbayes.reproduce.results import published_figures
from textbayes.select import scores
from textbayes.select.selectors import select_per_label
from textbayes.text import TextVectorizer

Rate = Callable[[float], float]

PROBIT_DF, LOGIT_DF = 30.0, 8.0  # degrees of freedom that stand for the probit and for the logit link

_COLD = 1e-4  # tolerance of a cold start, as a share of the largest gradient there
_WARM = 1e-2  # tolerance of a warm start, as a share of the penalty that the gradients must not exceed
_MAX_ITER = 300
PRINTED_STOP = 0.005  # Δ, the relative change ‖β′ − β‖/‖β‖ at which the paper ends EM
_MAX_STEPS = 5000  # a bound that no fit comes near
_HALF = 0.5 + 1e-12  # a document that no weight moves has p = ½ up to rounding, and p must be above ½
_FEW_DF = 2.0  # up to here a second start found modes of a higher posterior often enough to be worth its time


class GridFit(NamedTuple):
    """The weights of all labels at one point of the grid."""

    df: float
    gamma: float
    link: BaseLink
    posterior: Posterior

    def probability(self, X: Any) -> FloatArray:
        """p(y = 1) of every document and label."""
        return self.link.probability(np.asarray(X @ self.posterior.mean.T) + self.posterior.intercept)

    def decide(self, X: Any) -> BoolArray:
        """Whether p(y = 1) > ½, the rule of eq. 2."""
        return above_half(self.probability(X))


def above_half(probability: FloatArray) -> BoolArray:
    """Whether probabilities are above ½ by more than rounding."""
    return probability > _HALF


def printed_rate(gamma: float) -> float:
    """The Laplace rate of γ in the E-step as printed, E[1/τ] = γ/|β| (eq. 9): γ itself."""
    return gamma


def derived_rate(gamma: float) -> float:
    """The Laplace rate of γ in the model as stated: √γ, which is what τ ~ (γ/2) exp(−γτ/2) integrates to."""
    return float(np.sqrt(gamma))


def walk(
    X: Any,
    y: BoolArray,
    skew: float,
    dfs: Sequence[float],
    gammas: Sequence[float],
    words: BoolArray | None = None,
    rate: Rate = derived_rate,
    intercept: bool = True,
) -> Iterator[GridFit]:
    """Fits from the largest degrees of freedom to the smallest, and for each from the largest γ to the smallest.

    With ν → ∞ the log-likelihood is concave, with few degrees of freedom it is not: the mode found depends on the
    start. A fit starts at the mode of the next larger γ; with 2 degrees of freedom or fewer it is run from the mode of
    the next larger ν as well, and the mode of higher posterior is kept, label by label.

    Parameters
    ----------
    X : matrix (n_docs, n_words)
    y : bool array (n_docs, n_labels)
    skew, dfs, gammas
        δ and the grids of ν and γ.
    words : bool array (n_labels, n_words), optional
        The words each label may use.
    rate
        The Laplace rate of a γ.
    intercept
        Whether there is one; it is free.
    """
    above: dict[float, Posterior] = {}
    columns = as_columns(X)
    for df in sorted(dfs, reverse=True):
        link = make_link(f"skew_t:df={df},skew={skew}")
        last: Posterior | None = None
        before = 0.0  # the penalty at the last mode, and so the largest gradient there, which tolerances are shares of
        here: dict[float, Posterior] = {}
        for gamma in sorted(gammas, reverse=True):
            level = rate(gamma)
            problem = _problem(columns, y, link, level, words, intercept)
            starts = [last] if last is not None else [above.get(gamma)]
            if df <= _FEW_DF and gamma in above:
                starts = [last, above[gamma]]
            warm = _WARM * (level / before if last is not None else 1.0)
            tolerance = _COLD if any(start is None for start in starts) else warm
            here[gamma] = last = best_of_starts(Coordinate(tolerance, _MAX_ITER), problem, starts)
            before = level
            yield GridFit(df, gamma, link, last)
        above = here


def printed_em(
    X: Any,
    y: BoolArray,
    skew: float,
    dfs: Sequence[float],
    gammas: Sequence[float],
    words: BoolArray | None = None,
    rate: Rate = derived_rate,
    intercept: bool = True,
    stop: float = PRINTED_STOP,
) -> Iterator[GridFit]:
    """Fits by the paper's EM (eq. 5 to 15), from (εI + H'H)⁻¹H'y to a relative change of ``stop``.

    At the printed 0.005 they end well before the mode: most weights that the mode has at zero, and many others, are
    still on their way. Parameters as for :func:`walk`.
    """
    columns, start = as_columns(X), None
    for df in dfs:
        link = make_link(f"skew_t:df={df},skew={skew}")
        for gamma in gammas:
            problem = _problem(columns, y, link, rate(gamma), words, intercept)
            if start is None:  # the same for every point of the grid
                start = least_squares_start(problem, negative=0.0)
            yield GridFit(df, gamma, link, Em(stop, _MAX_STEPS, plain=True).run(problem, start))


def _problem(
    columns: Any, y: BoolArray, link: BaseLink, level: float, words: BoolArray | None, intercept: bool
) -> Problem:
    """The regressions of all labels with a Laplace prior of rate ``level``; an intercept is free."""
    prior = Laplace(scale=1.0 / level)
    free = prior.rescaled(np.inf) if intercept else None
    return Problem(columns, np.where(y, 1.0, -1.0), link, prior, free, None, words)


def as_columns(X: Any) -> sparse.csc_matrix:
    """X as the inferences take it: columns of floats with int32 row numbers."""
    columns = sparse.csc_matrix(X)
    arrays = columns.data.astype(np.float64), columns.indices.astype(np.int32), columns.indptr.astype(np.int32)
    return sparse.csc_matrix(arrays, shape=columns.shape)


N_WORDS, N_SPLITS = 100, 5
PUBLISHED = published_figures("flexlink")
TOPICS: tuple[str, ...] = PUBLISHED["topics"]


class FlexlinkReading(NamedTuple):
    """Reading of the paper's sentences where they leave a choice; the defaults come closest to its figures.

    ``text``: the ``body`` of a story without its title, or the whole ``story``. ``weights``: word ``counts``,
    ``presence`` (0 or 1), or 1 + ln of the count (``log``). ``choice``: one set of 100 words for all categories, by the
    ``sum`` or the ``max`` of their information gains, or each category's ``own`` 100. ``rate``: the Laplace rate of γ:
    √γ, ``derived`` from the model, or γ, as eq. 9 is ``printed``. ``invert``: δ stands for 1/δ, as the latent variable
    of eq. 3 would have it. ``intercept``: whether the regressions have one. ``rule``: a category is given where its
    probability is above ½, or only to the document for which it is the ``highest`` of the ten. ``fits``: where the
    paper's EM stops (``printed_em``) at a relative change of ``stop``, or the posterior ``modes``.
    """

    text: Literal["body", "story"] = "body"
    weights: Literal["counts", "presence", "log"] = "counts"
    choice: Literal["sum", "max", "own"] = "sum"
    rate: Literal["derived", "printed"] = "derived"
    invert: bool = False
    intercept: bool = True
    rule: Literal["half", "highest"] = "half"
    fits: Literal["printed_em", "modes"] = "modes"
    stop: float = PRINTED_STOP

    def walk(
        self, X: Any, y: BoolArray, skew: float, dfs: Sequence[float], gammas: Sequence[float], words: BoolArray
    ) -> Iterator[GridFit]:
        """Fits over the grid, as read."""
        asked = 1.0 / skew if self.invert else skew
        rate = printed_rate if self.rate == "printed" else derived_rate
        if self.fits == "printed_em":
            return printed_em(X, y, asked, dfs, gammas, words, rate, self.intercept, self.stop)
        return walk(X, y, asked, dfs, gammas, words, rate, self.intercept)

    def decide(self, probability: FloatArray) -> BoolArray:
        """Decisions of all ten categories, as read."""
        if self.rule == "half":
            return above_half(probability)
        return probability == probability.max(axis=1, keepdims=True)


class Point(NamedTuple):
    """A point of the grid."""

    df: float
    gamma: float
    skew: float


class Grid(NamedTuple):
    """Grid of settings, of which every combination is tried; the paper's for Reuters-21578 (section 5)."""

    dfs: tuple[float, ...] = (1.0, 2.0, 5.0, 8.0, 30.0)
    gammas: tuple[float, ...] = (0.01, 0.05, 0.1, 1.0, 2.0)
    skews: tuple[float, ...] = (0.1, 0.5, 1.0, 1.5, 2.0)

    @property
    def points(self) -> list[Point]:
        """All points, ν first, as the paper names them."""
        return [Point(*point) for point in itertools.product(self.dfs, self.gammas, self.skews)]


class ThreeWaySplit(NamedTuple):
    """Documents, by number, for training, validation and testing."""

    train: IntArray
    validation: IntArray
    test: IntArray


class SplitOutcome(NamedTuple):
    """Of each method the points chosen per category and the decisions on the test documents; and the truth there."""

    test: IntArray
    truth: BoolArray
    chosen: dict[str, list[Point]]
    decided: dict[str, BoolArray]


class TopicDocuments(NamedTuple):
    """Word weights (n_docs, n_words) and categories (n_docs, 10)."""

    X: Any
    Y: BoolArray


METHODS: dict[str, Callable[[Point], bool]] = {
    "FST": lambda point: True,
    "Probit": lambda point: point.df == PROBIT_DF and point.skew == 1.0,
    "Logistic": lambda point: point.df == LOGIT_DF and point.skew == 1.0,
}
"""The methods by name, as the points of the grid they may choose from."""


@lru_cache(maxsize=1)
def stories() -> tuple[tuple[str, ...], BoolArray]:
    """Texts and categories of the 9,035 ModApte stories, training and test together, in one of the ten categories."""
    corpus = load_corpus("reuters21578", topics="top10", unlabelled="drop")
    return tuple(corpus.texts), indicator(corpus.labels, TOPICS)


def body(story: str) -> str:
    """A story without its title, which is the first line.

    Many stories consist of nothing but a title, which is then sometimes of two lines, in capitals like every title.
    """
    rest = story.partition("\n")[2]
    return rest if any(map(str.islower, rest)) else ""


@lru_cache(maxsize=2)
def documents(text: str = "body", weights: str = "counts") -> TopicDocuments:
    """Words of two letters or more, in lower case and not stemmed, without those of the SMART list of 571."""
    texts, Y = stories()
    if text == "body":
        texts = tuple(map(body, texts))
    vectorizer = TextVectorizer(stop_words="smart", token_pattern=r"\b[a-z]{2,}\b", binary=weights == "presence")
    X = vectorizer.fit_transform(texts).tocsr().astype(np.float64)
    if weights == "log":
        X.data = 1.0 + np.log(X.data)
    return TopicDocuments(X, Y)


def random_split(number: int, n_docs: int) -> ThreeWaySplit:
    """Half of the documents for training, a quarter each for validation and testing: split ``number`` of the run."""
    order = np.random.default_rng(number).permutation(n_docs)
    return ThreeWaySplit(*np.split(order, [n_docs // 2, n_docs - n_docs // 4]))


def choose_words(X: Any, Y: BoolArray, choice: str, k: int = N_WORDS) -> BoolArray:
    """The words of each category by information gain, (n_categories, n_words)."""
    gain = scores.get("information_gain")(X, Y)
    if choice == "own":
        return select_per_label(gain, k=k)
    total = gain.scores.sum(axis=0) if choice == "sum" else gain.scores.max(axis=0)
    common = select_per_label(gain._replace(scores=total[None, :], p_values=None), k=k)
    return np.repeat(common, Y.shape[1], axis=0)


class Splits(Systems[FlexlinkReading, tuple[int, float], Mapping[Point, FloatArray], list[SplitOutcome]]):
    """Tune on training and validation documents, fit anew on both, decide the test documents at p > ½.

    Words are chosen on the documents a model is fitted to. The units are splits by number, from 1, and δ.
    """

    def __init__(self, documents: TopicDocuments, n_splits: int = N_SPLITS, grid: Grid | None = None) -> None:
        self.documents, self.grid = documents, grid or Grid()
        self.splits = {number: random_split(number, len(documents.Y)) for number in range(1, n_splits + 1)}
        super().__init__(itertools.product(self.splits, self.grid.skews))

    def fit(self, system: FlexlinkReading, unit: tuple[int, float]) -> Mapping[Point, FloatArray]:
        """F1 of every category on the validation documents, for every point of the grid that has this δ."""
        number, skew = unit
        split = self.splits[number]
        X, unseen, words = self._words(split.train, split.validation, system)
        return {
            Point(fit.df, fit.gamma, skew): f_measure(
                contingency(self.documents.Y[split.validation], fit.decide(unseen))
            )
            for fit in system.walk(X, self.documents.Y[split.train], skew, self.grid.dfs, self.grid.gammas, words)
        }

    def collect(self, system: FlexlinkReading, parts: list[Mapping[Point, FloatArray]]) -> list[SplitOutcome]:
        """Of each method and category the point of highest F1, of equals the first in the paper's order (ν, γ, δ)."""
        found = []
        for number, split in self.splits.items():
            quality = {
                point: f1
                for (of, _), part in zip(self.units, parts, strict=True)
                if of == number
                for point, f1 in part.items()
            }
            chosen = {}
            for method, allowed in METHODS.items():
                points = [point for point in self.grid.points if allowed(point)]
                by_category = zip(*(quality[point] for point in points), strict=True)
                chosen[method] = [best_setting(points, values) for values in by_category]
            decided = self.decide(split, chosen, system)
            found.append(SplitOutcome(split.test, self.documents.Y[split.test], chosen, decided))
        return found

    def _words(self, fitted: IntArray, unseen: IntArray, reading: FlexlinkReading) -> tuple[Any, Any, BoolArray]:
        """Documents to fit and others in the columns of the words chosen, and which of these each category has."""
        X, Y = self.documents
        words = choose_words(X[fitted], Y[fitted], reading.choice)
        used = np.flatnonzero(words.any(axis=0))
        return X[fitted][:, used], X[unseen][:, used], words[:, used]

    def decide(
        self, split: ThreeWaySplit, chosen: Mapping[str, Sequence[Point]], reading: FlexlinkReading
    ) -> dict[str, BoolArray]:
        """Decisions on the test documents, each category fitted at its chosen point by the same walk as in tuning.

        Parameters
        ----------
        split : ThreeWaySplit
        chosen : mapping of str to sequence of Point
            Of each method the points of the categories.
        reading : FlexlinkReading
        """
        fitted, grid = np.concatenate([split.train, split.validation]), self.grid
        Y = self.documents.Y[fitted]
        X, unseen, words = self._words(fitted, split.test, reading)
        probability = {method: np.zeros((len(split.test), Y.shape[1])) for method in chosen}

        def one(skew: float) -> None:
            wanted = {
                (method, label): point
                for method, points in chosen.items()
                for label, point in enumerate(points)
                if point.skew == skew
            }
            for dfs, gammas, labels in _paths(wanted, grid, reading.fits):
                for fit in reading.walk(X, Y[:, labels], skew, dfs, gammas, words[labels]):
                    here = [key for key, point in wanted.items() if (point.df, point.gamma) == (fit.df, fit.gamma)]
                    reached = fit.probability(unseen) if here else np.zeros(0)
                    for method, label in here:
                        probability[method][:, label] = reached[:, labels.index(label)]

        list(run_units(one, sorted({point.skew for points in chosen.values() for point in points})))
        return {method: reading.decide(values) for method, values in probability.items()}


def _paths(
    wanted: Mapping[tuple[str, int], Point], grid: Grid, fits: str
) -> Iterator[tuple[list[float], list[float], list[int]]]:
    """Parts of the grid to go through, as ν, γ and the labels: of EM each point by itself, for it starts anew there.

    Modes need the part that the walk to a chosen point leads through.
    """
    if fits == "printed_em":
        for df, gamma in sorted({(point.df, point.gamma) for point in wanted.values()}):
            at = {label for (_, label), point in wanted.items() if (point.df, point.gamma) == (df, gamma)}
            yield [df], [gamma], sorted(at)
    else:
        dfs = [df for df in grid.dfs if df >= min(point.df for point in wanted.values())]
        gammas = [gamma for gamma in grid.gammas if gamma >= min(point.gamma for point in wanted.values())]
        yield dfs, gammas, sorted({label for _, label in wanted})

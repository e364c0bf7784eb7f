"""Choose links on held-out documents: the best for each label, and whether heavy tails or asymmetry pay here."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from textbayes.core.cross_validation import Folds
from textbayes.core.errors import InputError, plural
from textbayes.core.labels import Kind, encode_labels
from textbayes.core.machine import n_threads
from textbayes.core.parameters import name_and_parameters
from textbayes.core.types import BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_finite, check_same_length
from textbayes.evaluate import TestResult, contingency, f_measure, macro_sign_test, micro_sign_test
from textbayes.inference import Problem
from textbayes.links import BaseLink, make_link
from textbayes.models.weights import as_columns
from textbayes.priors import make_prior
from textbayes.tune.path import regularisation_path
from textbayes.tune.search import Rule, Scoring, choose, factor_grid, held_out_predictors, search_scale

DF_GRID = (2.0, 8.0, np.inf)
SKEW_GRID = (0.5, 1.0, 2.0)
AUTO_LINKS = (
    "logit", "probit", "student_t:df=2", "student_t:df=8", *(
        f"skew_t:df={df},skew={skew}" for df in (2, 8, "inf") for skew in (0.5, 2)
    ),
)  # fmt: skip
_GRIDS = {"df": DF_GRID, "skew": SKEW_GRID}
_LEVEL = 0.05
_QUESTIONS = (
    ("Heavy tails", "student_t", "probit"),
    ("Asymmetry", "skew_t", "student_t"),
    ("The flexible link", "skew_t", "logit"),
)


class LinkSearch(NamedTuple):
    """Held-out loss of each link, and the best link for every label.

    Attributes
    ----------
    links : tuple of str
        What was tried, as ``make_link`` reads it.
    loss, standard_error : arrays (n_links, n_labels)
        Held-out loss of each link at its own chosen scale.
    log_loss : array (n_links, n_labels)
        Held-out log-loss there, which settles ties where the choice is by F1.
    factor : array (n_links, n_labels)
        That scale, in multiples of the prior's own.
    best : array (n_labels,)
        The place of the best link in ``links``.
    """

    links: tuple[str, ...]
    loss: FloatArray
    standard_error: FloatArray
    log_loss: FloatArray
    factor: FloatArray
    best: IntArray

    def chosen(self) -> list[tuple[str, float]]:
        """Per label the best link and its factor; labels of one link can be fitted together."""
        return [(self.links[link], float(self.factor[link, label])) for label, link in enumerate(self.best)]


def skew_t_links(dfs: Sequence[float] = DF_GRID, skews: Sequence[float] = SKEW_GRID) -> list[str]:
    """Skewed Student-t links of every pair of ν and δ.

    Parameters
    ----------
    dfs, skews : sequences of float
        Values of ν and δ.

    Examples
    --------
    >>> skew_t_links([8], [0.5, 1])
    ['skew_t:df=8.0,skew=0.5', 'skew_t:df=8.0,skew=1.0']
    """
    return [make_link(f"skew_t:df={df},skew={skew}").spec for df, skew in product(dfs, skews)]


def candidate_links(link: str) -> Sequence[str]:
    """The links that ``link="auto"`` or ``"auto:df=[…],skew=[…]"`` chooses among.

    Parameters
    ----------
    link : str
        ``auto`` stands for ten links; with degrees of freedom or skews, or both, for skewed Student-t links of every
        pair, by default those of ``skew_t_links``.

    Examples
    --------
    >>> candidate_links("auto:df=[8],skew=[1,2]")
    ['skew_t:df=8.0,skew=1.0', 'skew_t:df=8.0,skew=2.0']
    """
    _, given = name_and_parameters(link)
    unknown = sorted(given.keys() - {"df", "skew"})
    if unknown:
        raise InputError(f"link 'auto' has no parameter {unknown[0]!r}; it has: df, skew")
    if not given:
        return AUTO_LINKS
    return skew_t_links(*(_values(name, given.get(name, usual)) for name, usual in _GRIDS.items()))


def _values(name: str, given: Any) -> list[float]:
    """Values of a parameter to try, given as one or as several."""
    values = given if isinstance(given, list | tuple) else [given]
    try:
        return [float(value) for value in values]  # "inf" is a number too
    except (TypeError, ValueError):
        raise InputError(f"link 'auto' has {name}={given!r}; give numbers in brackets, such as {name}=[1,8]") from None


def search_link(
    problem: Problem,
    links: Sequence[str | BaseLink] | None = None,
    scales: Any = 10,
    cv: Any = 5,
    scoring: Scoring = "log_loss",
    rule: Rule = "best",
    random_state: int | None = 0,
    groups: Iterable[Hashable] | None = None,
    **settings: Any,
) -> LinkSearch:
    """Cross-validate, or validate, every link at every scale and choose both for each label.

    The problem's own link plays no part. Each link has its own grid of scales, for the same weights mean different
    probabilities under different links; folds are common to all.

    Parameters
    ----------
    problem : Problem
    links : sequence of str or link
        By default the skewed Student-t links with ν in (2, 8, ∞) and δ in (½, 1, 2).
    scales : int or array
        How many, as in ``factor_grid``, or the factors themselves.
    cv, scoring, rule, random_state, groups :
        As in ``search_scale``; ``cv=0.33`` and ``scoring="f1"`` choose by F1 on a validation set, as Eyheramendy &
        Madigan (2007) do.
    **settings :
        Further arguments of ``search_scale``.
    """
    made = [make_link(link) for link in (skew_t_links() if links is None else links)]
    if not made:
        raise InputError("no links were given; pass at least one, such as 'skew_t:df=8,skew=2'")
    counted = None if problem.sample_weight is None else problem.sample_weight > 0.0
    folds = Folds.of(cv, problem.y > 0.0, random_state, groups, counted)
    rows = []
    labels = np.arange(problem.y.shape[1])
    for link in made:
        own = problem._replace(link=link)
        factors = factor_grid(own, int(scales)) if np.ndim(scales) == 0 else scales
        found = search_scale(own, factors, folds, scoring, rule, **settings)
        at_choice = found.point, labels
        rows.append((found.loss[at_choice], found.standard_error[at_choice], found.log_loss[at_choice], found.factor))
    loss, error, ties, factor = (np.array(part) for part in zip(*rows, strict=True))
    best = choose(loss, error, "best", ties)
    return LinkSearch(tuple(link.spec for link in made), loss, error, ties, factor, best)


class _FamilyChoice:
    """The link and scale that a family takes for each fold and label: those that are best on the other folds.

    With a single fold there is no other, and the choice is made on it.

    Parameters
    ----------
    fold : array (n_docs,)
        The fold that tests each document.
    n_labels : int

    Attributes
    ----------
    loss, yes : arrays (n_docs, n_labels)
        −log p(y) of the held-out documents at the choice, and whether yes is likelier than no.
    place, factor : arrays (n_labels,)
        The place in the family of the link that all folds together choose, and its scale.
    """

    def __init__(self, fold: IntArray, n_labels: int) -> None:
        self._fold, n_folds = fold, int(fold.max()) + 1
        self._best_on_others, self._best = np.full((n_folds, n_labels), np.inf), np.full(n_labels, np.inf)
        self.loss, self.yes = np.empty((len(fold), n_labels)), np.empty((len(fold), n_labels), dtype=np.bool_)
        self.place, self.factor = np.empty(n_labels, dtype=np.int64), np.empty(n_labels)

    def consider(self, place: int, factor: FloatArray, loss: FloatArray, yes: BoolArray) -> None:
        """Take a link at a scale where it has a lower loss than those before it.

        Parameters
        ----------
        place : int
        factor : array (n_labels,)
        loss, yes : arrays (n_docs, n_labels)
        """
        n_folds = len(self._best_on_others)
        size = np.bincount(self._fold)[:, None]
        of_fold = np.array([loss[self._fold == k].sum(axis=0) for k in range(n_folds)])
        on_others = (of_fold.sum(axis=0) - of_fold) / (len(loss) - size) if n_folds > 1 else of_fold / size
        better = on_others < self._best_on_others
        self._best_on_others[better] = on_others[better]
        taken = better[self._fold]
        self.loss[taken], self.yes[taken] = loss[taken], yes[taken]
        total = of_fold.sum(axis=0)
        better = total < self._best
        self._best[better], self.place[better], self.factor[better] = total[better], place, factor[better]


class LinkComparison(NamedTuple):
    """One family of links against another on the same held-out documents; positive differences favour the first.

    ``gain`` (n_labels,) is the log-loss per yes-or-no decision that the first saves, ``p_value`` that of a paired
    t-test on the documents, adjusted for the number of labels (Holm 1979). ``total_gain`` and ``total_p_value`` are of
    the sum over labels, per document. ``micro`` and ``macro`` are the sign tests of Yang & Liu (1999) on decisions at
    probability ½, whole documents where classes exclude each other.
    """

    question: str
    first: str
    second: str
    gain: FloatArray
    p_value: FloatArray
    total_gain: float
    total_p_value: float
    micro: TestResult
    macro: TestResult

    @property
    def n_better(self) -> int:
        """Labels for which the first is better beyond chance."""
        return int(((self.p_value <= _LEVEL) & (self.gain > 0.0)).sum())

    @property
    def n_worse(self) -> int:
        """Labels for which it is worse beyond chance."""
        return int(((self.p_value <= _LEVEL) & (self.gain < 0.0)).sum())

    def verdict(self) -> str:
        """The answer in a sentence."""
        n_labels = len(self.gain)
        if self.total_p_value <= _LEVEL:
            answer = "significantly better" if self.total_gain > 0.0 else "significantly worse"
        else:
            answer = "no significant difference"
        return (
            f"{self.question}: {answer}. {self.first} against {self.second} changes the held-out log-loss by "
            f"{-self.total_gain:+.3g} per document (paired t-test, p = {self.total_p_value:.2g}). Of "
            f"{plural(n_labels, 'label')}, {self.n_better} significantly better and {self.n_worse} worse."
        )


class LinkReport(NamedTuple):
    """Held-out log-loss and F1 (n_families, n_labels), the link and scale each family took, and the comparisons.

    Every label is a yes-or-no question of its own, and the log-loss is that of its decisions; of two classes that
    exclude each other the second is the label.
    """

    families: tuple[str, ...]
    labels: tuple[str, ...]
    log_loss: FloatArray
    f1: FloatArray
    links: tuple[tuple[str, ...], ...]
    scale: FloatArray
    comparisons: tuple[LinkComparison, ...]

    def verdicts(self) -> list[str]:
        """One sentence for each question."""
        return [comparison.verdict() for comparison in self.comparisons]

    def to_text(self) -> str:
        """Tables of log-loss, F1 and the links chosen, and the verdicts."""
        overall = "macro F1" if len(self.labels) > 1 else "F1"
        width = max(len(name) for name in (overall, "all, per text", *self.labels))
        cell = max(9, *(len(name) for name in self.families))
        lines = [" " * width + "".join(f"  {name:>{cell}}" for name in self.families)]
        lines.append("log-loss per yes-or-no decision")
        for j, label in enumerate(self.labels):
            lines.append(label.ljust(width) + "".join(f"  {value:>{cell}.5f}" for value in self.log_loss[:, j]))
        if len(self.labels) > 1:
            totals = self.log_loss.sum(axis=1)
            lines.append("all, per text".ljust(width) + "".join(f"  {value:>{cell}.5f}" for value in totals))
        lines.append(overall.ljust(width) + "".join(f"  {value:>{cell}.4f}" for value in self.f1.mean(axis=1)))
        lines.append("")
        for j, label in enumerate(self.labels):
            lines.append(label.ljust(width) + "  " + "; ".join(links[j] for links in self.links))
        return "\n".join(line.rstrip() for line in [*lines, "", *self.verdicts()])


def default_families(dfs: Sequence[float] = DF_GRID, skews: Sequence[float] = SKEW_GRID) -> dict[str, list[str]]:
    """Families of links to compare: ``logit``, ``probit``, symmetric Student-t links, and these with the skewed ones.

    Parameters
    ----------
    dfs, skews : sequences of float
        Values of ν and δ to try.
    """
    symmetric = [make_link(f"student_t:df={df}").spec for df in dfs]
    return {"logit": ["logit"], "probit": ["probit"], "student_t": symmetric, "skew_t": skew_t_links(dfs, skews)}


def link_report(
    X: Any,
    Y: Matrix | ArrayLike,
    families: Mapping[str, Sequence[str]] | None = None,
    prior: str = "laplace",
    scales: int = 8,
    cv: Any = 5,
    label_names: Sequence[str] | None = None,
    tol: float = 1e-2,
    max_iter: int = 100,
    n_jobs: int | None = None,
    random_state: int | None = 0,
    groups: Iterable[Hashable] | None = None,
) -> LinkReport:
    """Compare families of links on the documents X (n_docs, n_features) with labels Y, as ``BayesLinearClassifier``'s.

    Every link of every family is cross-validated at every scale. For each fold and label a family then takes the link
    and scale that are best on the *other* folds, and is judged on this one: a family with more links to choose from
    gains nothing from the choice alone.

    Parameters
    ----------
    families : name → links, or None
        By default ``default_families()``. The questions asked are whether ``student_t`` beats ``probit`` (heavy tails),
        ``skew_t`` beats ``student_t`` (asymmetry) and ``skew_t`` beats ``logit``, as far as the families are there;
        further families are tabled.
    prior : str
        Family of the prior; its scale is chosen.
    scales : int
        How many, from where the prior holds every weight (see ``factor_grid``).
    cv, tol, max_iter, n_jobs, random_state, groups :
        As in ``search_scale``.

    References
    ----------
    Eyheramendy & Madigan (2007), A flexible Bayesian generalized linear model for dichotomous response data with an
    application to text categorization, IMS Lecture Notes 54, who report gains of the skewed link.
    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 65–70.
    """
    families = default_families() if families is None else {name: list(links) for name, links in families.items()}
    if not families or not all(families.values()):
        raise InputError("families must name one link or more each, such as {'logit': ['logit']}")
    positive, space = encode_labels(Y)
    check_finite(X, "X")
    check_same_length(X, "X", positive, "Y")
    names = tuple(space.column_names if label_names is None else map(str, label_names))
    if len(names) != positive.shape[1]:
        raise InputError(f"{len(names)} label names were given for {positive.shape[1]} labels")
    base = make_prior(prior, 1.0)
    y = np.where(positive, 1.0, -1.0)
    problem = Problem(as_columns(X), y, make_link("logit"), base, base.rescaled(np.inf))
    settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "n_jobs": n_threads(n_jobs)}
    folds = Folds.of(cv, positive, random_state, groups)
    tested = folds.held_out
    choices = {name: _FamilyChoice(folds.number[tested], y.shape[1]) for name in families}
    fitted: dict[BaseLink, list[tuple[_FamilyChoice, int]]] = {}
    for name, links in families.items():
        for place, spec in enumerate(links):
            fitted.setdefault(_same(spec), []).append((choices[name], place))
    for link, wanted in fitted.items():
        own = problem._replace(link=link)
        factors = factor_grid(own, scales)
        guide = regularisation_path(own, factors, **settings)
        for eta, factor in zip(held_out_predictors(own, folds, factors, guide, settings), factors, strict=True):
            loss, yes = -link.log_prob(eta, y[tested]), link.log_odds(eta) > 0.0
            for choice, place in wanted:
                choice.consider(place, factor, loss, yes)
    truth = positive[tested]
    comparisons = tuple(
        _compared(question, choices, first, second, truth, space.kind)
        for question, first, second in _QUESTIONS
        if first in choices and second in choices
    )
    return LinkReport(
        tuple(families),
        names,
        np.array([choice.loss.mean(axis=0) for choice in choices.values()]),
        np.array([f_measure(contingency(truth, choice.yes)) for choice in choices.values()]),
        tuple(tuple(families[name][k] for k in choices[name].place) for name in families),
        np.array([choice.factor for choice in choices.values()]),
        comparisons,
    )


def _same(spec: str) -> BaseLink:
    """The link of a spec; a skewed link of skew 1 is the symmetric one, and that with ν = ∞ the probit, fitted once."""
    link = make_link(spec)
    params = link.params()
    if params.get("skew") == 1.0:
        link = make_link(f"student_t:df={params['df']}")
    return make_link("probit") if link.name == "student_t" and np.isinf(params["df"]) else link


def _compared(
    question: str, choices: Mapping[str, _FamilyChoice], first: str, second: str, truth: BoolArray, kind: Kind
) -> LinkComparison:
    saved = choices[second].loss - choices[first].loss
    decisions = choices[first].yes, choices[second].yes
    return LinkComparison(
        question,
        first,
        second,
        saved.mean(axis=0),
        _holm(np.array([_paired_t(column) for column in saved.T])),
        float(saved.sum(axis=1).mean()),
        _paired_t(saved.sum(axis=1)),
        micro_sign_test(truth, *decisions, alternative="two-sided", kind=kind),
        macro_sign_test(truth, *decisions, alternative="two-sided", kind=kind),
    )


def _paired_t(differences: FloatArray) -> float:
    """Two-sided P that the mean difference is 0; 1 where nothing differs."""
    return float(stats.ttest_1samp(differences, 0.0).pvalue) if np.ptp(differences) > 0.0 else 1.0


def _holm(p_values: FloatArray) -> FloatArray:
    """P values adjusted so that the chance of any false one is held, whatever their dependence."""
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted

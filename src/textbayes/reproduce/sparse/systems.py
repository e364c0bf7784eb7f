"""One column of the paper's tables: weigh, choose words per topic, fit, tune the threshold, measure on the test set.

The fits of a topic are the paper's: EM from a least-squares start that stops early, or the optimum itself.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.decide import make_rule
from textbayes.evaluate import ContingencyTable, contingency, f_measure
from textbayes.evaluate.measures import Average
from textbayes.inference import BaseInference, Posterior, Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.em import Em
from textbayes.inference.newton import Newton
from textbayes.inference.starts import least_squares_start
from textbayes.links import make_link
from textbayes.priors import make_prior
from textbayes.reproduce.experiment import Systems
from textbayes.reproduce.sparse.corpora import Collection
from textbayes.select import scores
from textbayes.select.rules import select_per_label
from textbayes.text import TermWeighting

Cut = Literal["strictest", "loosest", "half"]
_EXACT = 1e-5
_ROUNDS = 1000


class Model(NamedTuple):
    """A regression of every topic; ``scale`` is 1/rate for Laplace, the standard deviation for Gaussian priors."""

    link: str
    prior: str
    scale: float = 1.0
    n_words: int = 300
    scheme: str = "log"
    exact: bool = False  # the optimum itself instead of where the paper's EM stops
    cut: Cut = "strictest"  # of the thresholds with equally few training errors, or 0.5
    score: str = "pearson"  # words are chosen by


JEFFREYS = Model("probit", "jeffreys")


def laplace(gamma: float) -> Model:
    """The probit model with a Laplace prior of rate γ, the reading that Table 4 asks for."""
    return Model("probit", "laplace", 1.0 / gamma)


class Stop(NamedTuple):
    """Stopping rule of EM: a relative change ‖β′ − β‖ ≤ tol ‖β‖; parameters of at most ``zero`` then count as zero.

    The paper says "until successive values of β differ by less than a specified tolerance" and does not name it. The
    defaults are those that come closest to its Table 4, see :mod:`textbayes.reproduce.sparse.stopping`.
    """

    tol: float = 1e-2
    zero: float = 1e-10
    max_steps: int = 2000


def fit(problem: Problem, stop: Stop, exact: bool = False) -> Posterior:
    """The weights of a topic as the paper found them, or the posterior mode itself with ``exact``.

    For the logistic link both are the same: column relaxation converges, and every inference of the toolkit finds the
    mode that ``clg`` finds.
    """
    if not exact and problem.link.name != "logit":
        return Em(stop.tol, stop.max_steps, plain=True).run(problem, least_squares_start(problem))
    method: type[BaseInference] = Newton if problem.prior.smooth else Coordinate
    return method(_EXACT, _ROUNDS).run(problem)


def parameters(posterior: Posterior) -> FloatArray:
    """Weights and intercept of the first label as one vector: the paper's β."""
    return np.append(posterior.mean[0], posterior.intercept[0])


def size(posterior: Posterior, zero: float) -> int:
    """Number of parameters further from zero than ``zero``, the intercept's included (301 = 300 + 1)."""
    return int(np.count_nonzero(np.abs(parameters(posterior)) > zero))


class Outcome(NamedTuple):
    """Decisions of a model on the test set, and how many of its parameters are not zero, the intercept's included."""

    decisions: ContingencyTable
    sizes: AnyArray

    @property
    def column(self) -> tuple[float, ...]:
        """Topics, then macro- and micro-average, as the paper's tables have them."""
        return (*self.f1(None).tolist(), float(self.f1("macro")), float(self.f1("micro")))

    def f1(self, average: Average, but: int | None = None) -> FloatArray:
        """F1 × 100, of all topics or all ``but`` one."""
        table = self.decisions if but is None else ContingencyTable(*(np.delete(part, but) for part in self.decisions))
        return 100.0 * f_measure(table, average)


class Regressions(Systems[Model, int, tuple[FloatArray, FloatArray, int], Outcome]):
    """Fit models to every topic of a collection."""

    def __init__(self, collection: Collection, stop: Stop | None = None) -> None:
        super().__init__(range(len(collection.topics)))
        self.collection, self.stop = collection, stop or Stop()
        self._matrices: dict[str, tuple[Any, Any]] = {}
        self._words: dict[tuple[str, int, str], BoolArray] = {}

    def matrices(self, scheme: str) -> tuple[Any, Any]:
        """Training and test documents with these weights, as columns; documents are not normalised."""
        if scheme not in self._matrices:
            weighting = TermWeighting(scheme, norm=None).fit(self.collection.train)
            self._matrices[scheme] = tuple(
                sparse.csc_matrix(weighting.transform(X)) for X in (self.collection.train, self.collection.test)
            )
        return self._matrices[scheme]

    def words(self, scheme: str, n_words: int, score: str = "pearson") -> BoolArray:
        """The words of each topic, (n_topics, n_words): those of highest absolute Pearson correlation (eq. 15)."""
        key = scheme, n_words, score
        if key not in self._words:
            found = scores.get(score)(self.matrices(scheme)[0], self.collection.Y_train)
            self._words[key] = select_per_label(found, k=n_words)
        return self._words[key]

    def problem(self, model: Model, topic: int) -> tuple[Problem, Any]:
        """The regression of a topic on its own words, and the test documents in the same columns."""
        train, test = self.matrices(model.scheme)
        chosen = np.flatnonzero(self.words(model.scheme, model.n_words, model.score)[topic])
        prior = make_prior(model.prior, model.scale)
        y = np.where(self.collection.Y_train[:, [topic]], 1.0, -1.0)
        X = train[:, chosen]
        X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)
        # The intercept is one of the parameters: it has the prior that all have.
        return Problem(X, y, make_link(model.link), prior, prior.rescaled(model.scale)), test[:, chosen]

    def prepare(self, system: Model) -> None:
        """Choose the words."""
        self.words(system.scheme, system.n_words, system.score)

    def fit(self, system: Model, unit: int) -> tuple[FloatArray, FloatArray, int]:
        """Probabilities of the training and the test documents of a topic, and how many parameters are left."""
        problem, test = self.problem(system, unit)
        posterior = fit(problem, self.stop, system.exact)
        weights, intercept = posterior.mean[0], float(posterior.intercept[0])
        proba = [problem.link.probability(X @ weights + intercept) for X in (problem.X, test)]
        return proba[0], proba[1], size(posterior, 0.0 if system.exact else self.stop.zero)

    def collect(self, system: Model, parts: list[tuple[FloatArray, FloatArray, int]]) -> Outcome:
        """Decisions by the thresholds of the training documents."""
        train, test, sizes = (np.stack(part, axis=-1) for part in zip(*parts, strict=True))
        decided = decide(train, self.collection.Y_train, test, system.cut)
        return Outcome(contingency(self.collection.Y_test, decided), sizes)


def decide(train: FloatArray, Y: BoolArray, test: FloatArray, cut: Cut) -> BoolArray:
    """Decisions on the test probabilities by the threshold with the fewest errors, FP + FN, on the training set.

    The paper does not say which of several such thresholds it took; nor is 0.5 its choice.
    """
    if cut == "half":
        return test > 0.5
    if cut == "loosest":  # the strictest for saying no
        return ~make_rule("fewest_errors").fit(1.0 - train, ~Y).decide(1.0 - test)
    return make_rule("fewest_errors").fit(train, Y).decide(test)

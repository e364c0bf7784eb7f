"""The experiment: one domain in one division by all methods, and all of them over all divisions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import binarize
from threadpoolctl import threadpool_limits

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.reproduce.gibbs.domains import Documents, choose_words, random_split
from textbayes.reproduce.gibbs.presence_model import THRESHOLD, own_fit
from textbayes.reproduce.gibbs.published import DOMAINS
from textbayes.reproduce.gibbs.sampling import PROBIT, Fit, kept_top, sample, top_words
from textbayes.reproduce.gibbs.svm import Kernel, Machine, machine
from textbayes.reproduce.results import Progress

SPBM, SVM, OURS = "SPBM", "SVM", "ours"
N_BESIDE = 10  # resamplings that are run by all readings, models and machines


class Outcome(NamedTuple):
    """What all methods did with one division of one domain.

    ``decided``: of each method the decisions on training and on test documents. ``probability``: on test documents.
    ``by_chain``: test decisions of SPBM by the means of each chain alone.
    """

    domain: int
    truth: tuple[BoolArray, BoolArray]
    decided: dict[str, tuple[BoolArray, BoolArray]]
    probability: dict[str, FloatArray]
    by_chain: list[BoolArray]
    ess: float
    r_hat: float
    n_draws: int


class Division(NamedTuple):
    """The documents of one domain in one division, with its 800 words: training part, test part, and y of both."""

    train: Any
    test: Any
    truth: tuple[BoolArray, BoolArray]
    every_word: Any
    seed: int

    @classmethod
    def of(cls, documents: Documents, positive: int, resampling: int) -> Division:
        """Divide, and choose the words on the training part."""
        split = random_split(documents.domain, positive, resampling)
        truth = documents.domain[split.train] == positive, documents.domain[split.test] == positive
        words = choose_words(documents.X[split.train], truth[0])
        train, test = (documents.X[part][:, words] for part in split)
        seed = len(DOMAINS) * resampling + positive
        return cls(train, test, truth, documents.X[np.concatenate(split)], seed)

    @property
    def parts(self) -> tuple[Any, Any]:
        return self.train, self.test

    def take(self, words: IntArray) -> Division:
        """With some of the words only."""
        return self._replace(train=self.train[:, words], test=self.test[:, words])

    def presence(self) -> Division:
        """With 1 for a word that a document has, whatever its weight."""
        return self._replace(train=binarize(self.train), test=binarize(self.test))


class Methods:
    """Decisions and probabilities of one method after the other, decided at ½ unless said otherwise."""

    def __init__(self, division: Division) -> None:
        self.division = division
        self.decided: dict[str, tuple[BoolArray, BoolArray]] = {}
        self.probability: dict[str, FloatArray] = {}

    def add_weights(self, name: str, weights: FloatArray) -> None:
        """P(y = 1) = Φ(x'w)."""
        self.add_probabilities(name, [PROBIT.probability(part @ weights) for part in self.division.parts])

    def add_probabilities(self, name: str, parts: Iterable[FloatArray], threshold: float = 0.5) -> None:
        train, test = parts
        self.decided[name], self.probability[name] = (train > threshold, test > threshold), test

    def add_refit(self, name: str, fit: Fit, division: Division, threshold: float = 0.5) -> None:
        """A model of the top words alone, at its posterior means and averaged."""
        self.add_probabilities(name, map(fit.plug_in, division.parts), threshold)
        self.add_probabilities(f"{name}, averaged", map(fit.averaged, division.parts), threshold)

    def add_machine(self, name: str, found: Machine) -> None:
        self.decided[name], self.probability[name] = (found.train > 0.0, found.test > 0.0), found.probability


def one_domain(
    documents: Documents,
    positive: int,
    resampling: int,
    draws: int | None = None,
    beside: bool = True,
    own: bool = True,
) -> Outcome:
    """One domain in one division. For Tables 2a, 2b: other readings and machines (``beside``), a model of ``own``."""
    division = Division.of(documents, positive, resampling)
    methods, y = Methods(division), division.truth[0]
    fit = sample(division.train, y, division.seed, draws)
    methods.add_weights(SPBM, kept_top(fit.mean))
    methods.add_weights("all words", fit.mean)
    methods.add_probabilities("all words, averaged", map(fit.averaged, division.parts))
    _add_machine(methods, SVM, "rbf", chosen=True)
    if beside:
        top = top_words(fit.mean)
        drawn = fit.draws.labels[0].flat[:, top].astype(np.float64)
        few = division.take(top)
        averaged = [PROBIT.probability(part @ drawn.T).mean(axis=1) for part in few.parts]
        methods.add_probabilities("averaged", averaged)
        methods.add_refit("refit", sample(few.train, y, division.seed, draws), few)
        _add_machine(methods, "SVM, linear", "linear", chosen=True)
        _add_machine(methods, "SVM, every word", "rbf", chosen=False)
        _add_machine(methods, "SVM, every word, linear", "linear", chosen=False)
    if own:
        present = division.presence()
        words, refit = own_fit(present.train, y, division.seed, draws)
        methods.add_refit(OURS, refit, present.take(words), THRESHOLD)
    chains = fit.draws.labels[0].weights.mean(axis=1, dtype=np.float64)
    by_chain = [division.test @ kept_top(mean) > 0.0 for mean in chains]
    return Outcome(
        positive, division.truth, methods.decided, methods.probability, by_chain, fit.ess, fit.r_hat, fit.n_draws
    )  # fmt: skip


def _add_machine(methods: Methods, name: str, kernel: Kernel, chosen: bool) -> None:
    """kernlab's machine of the words ``chosen`` for the domain, or of every word."""
    division = methods.division
    X = sparse.vstack(division.parts).tocsr() if chosen else division.every_word
    methods.add_machine(name, machine(X, division.truth[0], kernel, np.random.default_rng([division.seed, 1])))


def run_study(
    documents: Documents,
    resamplings: Sequence[int],
    draws: int | None,
    report: Progress,
    n_beside: int = N_BESIDE,
    n_own: int = N_BESIDE,
) -> list[list[Outcome]]:
    """Outcomes by resampling and domain.

    The first ``n_beside`` resamplings are run by all readings and machines, the first ``n_own`` by our own model.
    """
    n_domains = int(documents.domain.max()) + 1
    tasks = [(resampling, positive) for resampling in resamplings for positive in range(n_domains)]
    beside, own = (set(list(resamplings)[:n]) for n in (n_beside, n_own))
    report("resamplings × domains", 0, len(tasks))

    def one(task: tuple[int, int]) -> Outcome:
        return one_domain(documents, task[1], task[0], draws, task[0] in beside, task[0] in own)

    found = []
    # One BLAS thread each: the threads are over the tasks.
    with threadpool_limits(1), ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for done, outcome in enumerate(pool.map(one, tasks), start=1):
            found.append(outcome)
            report("resamplings × domains", done, len(tasks))
    return [found[k : k + n_domains] for k in range(0, len(found), n_domains)]

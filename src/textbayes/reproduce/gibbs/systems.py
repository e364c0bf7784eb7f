"""The experiment: one domain in one division by all methods, and all of them over all divisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.preprocessing import binarize

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.reproduce.experiment import Systems
from textbayes.reproduce.gibbs.corpora import Documents, choose_words, random_split
from textbayes.reproduce.gibbs.presence_model import THRESHOLD, fit_presence_model
from textbayes.reproduce.gibbs.published import BURN_IN, DOMAINS, ITERATIONS
from textbayes.reproduce.gibbs.sampling import PROBIT, Fit, keep_top_words, sample, top_words
from textbayes.reproduce.gibbs.svm import Kernel, machine

SPBM, SVM, OURS, LONG = "SPBM", "SVM", "ours", "one long chain"
N_BESIDE = 10  # resamplings that are run by all readings, models and machines


class Outcome(NamedTuple):
    """Decisions and probabilities of all methods in one division of one domain.

    ``decided``: of each method the decisions on training and on test documents. ``probability``: on test documents.
    ``by_chain``: test decisions of SPBM by the means of each chain alone.
    """

    truth: tuple[BoolArray, BoolArray]
    decided: dict[str, tuple[BoolArray, BoolArray]]
    probability: dict[str, FloatArray]
    by_chain: list[BoolArray]
    ess: float
    r_hat: float
    n_draws: int


Study: TypeAlias = Sequence[Sequence[Outcome]]


class Division(NamedTuple):
    """The documents of one domain in one division, with its 800 words: training part, test part, and y of both."""

    train: Any
    test: Any
    truth: tuple[BoolArray, BoolArray]
    words: IntArray
    every_word: Any
    random_state: int

    @classmethod
    def of(cls, documents: Documents, positive: int, resampling: int) -> Division:
        """Divide, and choose the words on the training part."""
        split = random_split(documents.domain, positive, resampling)
        truth = documents.domain[split.train] == positive, documents.domain[split.test] == positive
        words = choose_words(documents.X[split.train], truth[0])
        train, test = (documents.X[part][:, words] for part in split)
        random_state = len(DOMAINS) * resampling + positive
        return cls(train, test, truth, words, documents.X[np.concatenate(split)], random_state)

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

    def add_machine(self, name: str, kernel: Kernel, chosen: bool) -> None:
        """kernlab's machine of the words ``chosen`` for the domain, or of every word."""
        division = self.division
        X = sparse.vstack(division.parts).tocsr() if chosen else division.every_word
        found = machine(X, division.truth[0], kernel, np.random.default_rng([division.random_state, 1]))
        self.decided[name], self.probability[name] = (found.train > 0.0, found.test > 0.0), found.probability


class Extent(NamedTuple):
    """Number of resamplings, from the first on, that are run by all readings and machines, and by our own model."""

    n_beside: int = N_BESIDE
    n_own: int = N_BESIDE


class Resamplings(Systems[Extent, tuple[int, int], Outcome, Study]):
    """Run all methods on every domain in every division."""

    def __init__(
        self, documents: Documents, n_resamplings: int, draws: int | None = None, iterations: int | None = None
    ) -> None:
        self.n_domains = int(documents.domain.max()) + 1
        super().__init__(product(range(n_resamplings), range(self.n_domains)))
        self.documents, self.draws, self.iterations = documents, draws, iterations

    def fit(self, system: Extent, unit: tuple[int, int]) -> Outcome:
        """One domain in one division by all methods that are wanted of this resampling."""
        (resampling, positive), draws = unit, self.draws
        division = Division.of(self.documents, positive, resampling)
        methods, y = Methods(division), division.truth[0]
        fit = sample(division.train, y, division.random_state, draws)
        methods.add_weights(SPBM, keep_top_words(fit.mean))
        methods.add_weights("all words", fit.mean)
        methods.add_probabilities("all words, averaged", map(fit.averaged, division.parts))
        methods.add_machine(SVM, "rbf", chosen=True)
        if resampling < system.n_beside:
            top = top_words(fit.mean)
            drawn = fit.draws.labels[0].flat[:, top].astype(np.float64)
            few = division.take(top)
            averaged = [PROBIT.probability(part @ drawn.T).mean(axis=1) for part in few.parts]
            methods.add_probabilities("averaged", averaged)
            methods.add_refit("refit", sample(few.train, y, division.random_state, draws), few)
            if self.iterations is not None:
                kept = self.iterations * (ITERATIONS - BURN_IN) // ITERATIONS
                long = sample(division.train, y, division.random_state, kept, chains=1)
                methods.add_weights(LONG, keep_top_words(long.mean))
            methods.add_machine("SVM, linear", "linear", chosen=True)
            methods.add_machine("SVM, every word", "rbf", chosen=False)
            methods.add_machine("SVM, every word, linear", "linear", chosen=False)
        if resampling < system.n_own:
            present = division.presence()
            words, refit = fit_presence_model(present.train, y, division.random_state, draws)
            methods.add_refit(OURS, refit, present.take(words), THRESHOLD)
        chains = fit.draws.labels[0].weights.mean(axis=1, dtype=np.float64)
        by_chain = [division.test @ keep_top_words(mean) > 0.0 for mean in chains]
        found = methods.decided, methods.probability, by_chain
        return Outcome(division.truth, *found, fit.ess, fit.r_hat, fit.n_draws)

    def collect(self, system: Extent, parts: list[Outcome]) -> Study:
        """Outcomes by resampling and domain."""
        return [parts[k : k + self.n_domains] for k in range(0, len(parts), self.n_domains)]

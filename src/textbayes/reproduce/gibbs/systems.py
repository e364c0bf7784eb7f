"""The documents and how they are divided, all methods on every domain in every division, and what is measured.

Beside its model the paper runs a support vector machine: ``ksvm`` of R's kernlab with its defaults. From kernlab's
source (version 0.9-33, ``R/ksvm.R`` and ``R/sigest.R``): C-svc with C = 1 for a factor; kernel exp(−σ‖x − x'‖²), σ the
mean of 1/q₉₀ and 1/q₁₀, quantiles of ‖x − x'‖² between ⌊n/2⌋ random pairs of training documents (``sigest``); columns
scaled to mean 0 and standard deviation 1 (denominator n − 1). Where any column is constant in the training part, none
is scaled ("Cannot scale data"), which is the case for the matrix of all words. Probabilities, where asked for, are
Platt's on decision values of 3-fold cross-validation. The problem solved is that of scikit-learn's ``SVC`` (both are
LIBSVM's), given the kernel matrix.

References: Karatzoglou, Smola, Hornik & Zeileis (2004), kernlab: an S4 package for kernel methods in R, Journal of
Statistical Software 11; Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin & Weng (2007), A note
on Platt's probabilistic outputs, Machine Learning 68.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import optimize, sparse, special
from sklearn.preprocessing import binarize
from sklearn.svm import SVC

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.data import load_corpus
from textbayes.evaluate import calibration_error, contingency, log_loss, sensitivity, specificity
from textbayes.reproduce.experiment import Systems
from textbayes.reproduce.gibbs.sampling import (
    BURN_IN,
    ITERATIONS,
    PROBIT,
    THRESHOLD,
    SampledFit,
    fit_presence_model,
    keep_top_words,
    sample,
    top_words,
)
from textbayes.reproduce.results import standard_error
from textbayes.select import scores
from textbayes.select.selectors import select_per_label
from textbayes.text import TermWeighting, TextVectorizer

# The textbook domains that stand for the paper's, in its order; there is none of art.
DOMAINS = (
    *("mathematics", "chemistry", "computer_science", "psychology", "neuroscience"),
    *("economics", "physics", "electronics", "biology", "geology"),
)
# Ten domains of which no document is among those above, for what must be chosen without looking at them: the name, and
# how many of its longest documents are left out.
OTHER_DOCUMENTS = (
    *(("physics", 60), ("biology", 60), ("economics", 60), ("electronics", 60), ("geology", 60)),
    *(("anatomy", 0), ("astronomy", 0), ("statistics", 0), ("us_history", 0), ("sociology", 0)),
)
N_OF_DOMAIN, N_WORDS, N_RESAMPLINGS = 60, 800, 50
_PAPER_DOCUMENTS = tuple((name, 0) for name in DOMAINS)


class DomainDocuments(NamedTuple):
    """TF-IDF weights (n_docs, n_words) in CSR, the domain of each document by number, and the words."""

    X: Any
    domain: IntArray
    words: AnyArray


class HalfSplit(NamedTuple):
    """Documents by number, positives first in both parts."""

    train: IntArray
    test: IntArray


def longest(lengths: IntArray, k: int = N_OF_DOMAIN, left_out: int = 0) -> IntArray:
    """The k longest documents of a domain, in the order of the corpus; of equally long ones the first.

    ``left_out`` that are longer still are passed over.

    >>> longest(np.array([5, 9, 7, 9, 1]), 2)
    array([1, 3])
    """
    if len(lengths) < left_out + k:
        raise InputError(
            f"a domain has {len(lengths)} documents, the protocol needs {left_out + k}; is the corpus complete?"
        )
    return np.sort(np.argsort(-lengths, kind="stable")[left_out : left_out + k])


def documents(of: Sequence[tuple[str, int]] = _PAPER_DOCUMENTS) -> DomainDocuments:
    """The 60 longest modules of each domain, after those left out.

    Words are those of two modules or more, weighed (1 + ln tf)·ln((N + 1)/(n_i + 1)).
    The paper's documents have more than 3,000 words each; the longest modules come closest. As there, the matrix is
    made of all documents before they are divided: the idf sees the words of test documents, never their domains.
    """
    corpus = load_corpus("openstax", extra=True)
    domain = np.array([labels[0] for labels in corpus.labels])
    rows = []
    for name, left_out in of:
        of_domain = np.flatnonzero(domain == name)
        lengths = np.array([len(corpus.texts[row].split()) for row in of_domain])
        rows.append(of_domain[longest(lengths, left_out=left_out)])
    vectorizer = TextVectorizer(min_df=2)
    counts = vectorizer.fit_transform([corpus.texts[row] for row in np.concatenate(rows)])
    X = TermWeighting("tfidf").fit_transform(counts)
    return DomainDocuments(
        X, np.repeat(np.arange(len(of)), N_OF_DOMAIN), np.asarray(vectorizer.get_feature_names_out())
    )


def random_split(domain: IntArray, positive: int, resampling: int) -> HalfSplit:
    """Half of a domain's documents and half of the others for training, the rest for testing.

    Each domain has divisions of its own, as in the paper; the same resampling is the same division on every call.
    """
    rng = np.random.default_rng([resampling, positive])
    inside = rng.permutation(np.flatnonzero(domain == positive))
    outside = rng.permutation(np.flatnonzero(domain != positive))
    if not len(inside) or len(inside) % 2 or not len(outside) or len(outside) % 2:
        raise InputError(
            f"{len(inside)} documents of the domain and {len(outside)} others are given; even numbers are needed to "
            "divide both in two"
        )
    n_in, n_out = len(inside) // 2, len(outside) // 2
    return HalfSplit(np.concatenate([inside[:n_in], outside[:n_out]]), np.concatenate([inside[n_in:], outside[n_out:]]))


def choose_words(X: Any, y: BoolArray, k: int = N_WORDS) -> IntArray:
    """The k words of largest Welch's \\|t\\| among training documents, in the order of the columns."""
    return np.flatnonzero(select_per_label(scores.get("t_test")(X, y), k=k)[0])


SPBM, SVM, OURS, LONG = "SPBM", "SVM", "ours", "one long chain"
N_BESIDE = 10  # resamplings that are run by all readings, models and machines


class DivisionOutcome(NamedTuple):
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


Study: TypeAlias = Sequence[Sequence[DivisionOutcome]]


class Division(NamedTuple):
    """The documents of one domain in one division, with its 800 words: training part, test part, and y of both."""

    train: Any
    test: Any
    truth: tuple[BoolArray, BoolArray]
    words: IntArray
    every_word: Any
    random_state: int

    @classmethod
    def of(cls, documents: DomainDocuments, positive: int, resampling: int) -> Division:
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

    def add_refit(self, name: str, fit: SampledFit, division: Division, threshold: float = 0.5) -> None:
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


class Resamplings(Systems[Extent, tuple[int, int], DivisionOutcome, Study]):
    """Run all methods on every domain in every division."""

    def __init__(
        self, documents: DomainDocuments, n_resamplings: int, draws: int | None = None, iterations: int | None = None
    ) -> None:
        self.n_domains = int(documents.domain.max()) + 1
        super().__init__(product(range(n_resamplings), range(self.n_domains)))
        self.documents, self.draws, self.iterations = documents, draws, iterations

    def fit(self, system: Extent, unit: tuple[int, int]) -> DivisionOutcome:
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
                n_kept = self.iterations * (ITERATIONS - BURN_IN) // ITERATIONS
                long = sample(division.train, y, division.random_state, n_kept, chains=1)
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
        return DivisionOutcome(division.truth, *found, fit.ess, fit.r_hat, fit.n_draws)

    def collect(self, system: Extent, parts: list[DivisionOutcome]) -> Study:
        """Outcomes by resampling and domain."""
        return [parts[k : k + self.n_domains] for k in range(0, len(parts), self.n_domains)]


PARTS = ("training", "test")
Loss: TypeAlias = Callable[[Any, Any], Any]
LOSSES: dict[str, Loss] = {
    "log-loss": log_loss,
    "ECE": calibration_error,
    "ECE, equal mass": lambda Y, p: calibration_error(Y, p, binning="mass"),
}


def run_by_all(study: Study, methods: Collection[str]) -> Study:
    """Return the resamplings that all of some methods were run on."""
    return [row for row in study if all(set(methods) <= set(one.decided) for one in row)]


def true_rates(truth: BoolArray, decided: BoolArray) -> FloatArray:
    """Return sensitivity and specificity, the true rates of both classes.

    >>> true_rates(np.array([True, True, False, False, False]), np.array([True, False, False, False, True])).round(3)
    array([0.5  , 0.667])
    """
    table = contingency(truth[:, None], decided[:, None])
    return np.array([float(sensitivity(table)[0]), float(specificity(table)[0])])


def rates(study: Study, method: str, part: int) -> FloatArray:
    """Sensitivity and specificity of a method, (n_resamplings, n_domains, 2); ``part`` 0 is training, 1 is test."""
    return np.array([[true_rates(one.truth[part], one.decided[method][part]) for one in row] for row in study])


def losses(study: Study, method: str, loss: Loss) -> FloatArray:
    """A loss of the test probabilities in each resampling, the decisions of all domains pooled."""

    def pooled(row: Sequence[DivisionOutcome]) -> float:
        truth = np.concatenate([one.truth[1] for one in row])[:, None]
        return float(loss(truth, np.concatenate([one.probability[method] for one in row])[:, None]))

    return np.array([pooled(row) for row in study])


class MonteCarlo(NamedTuple):
    """Standard errors of mean test sensitivity and specificity over all domains and resamplings.

    ``sampler``: what the finite number of draws contributes; ``total``: what is seen over the resamplings, that
    included; each of sensitivity and specificity.
    """

    sampler: FloatArray
    total: FloatArray


def monte_carlo(study: Study) -> MonteCarlo:
    """The error of the sampler, from what its two chains say by themselves.

    With rates r₁ and r₂ by the means of either chain, the rate by the means of both has a Monte Carlo variance of about
    (r₁ − r₂)²/4 on average: the variance of a mean of two.
    """
    gaps = np.array(
        [[np.subtract(*(true_rates(one.truth[1], part) for part in one.by_chain)) for one in row] for row in study]
    )
    n_fits = gaps.shape[0] * gaps.shape[1]
    sampler = np.sqrt((gaps**2 / 4.0).mean(axis=(0, 1)) / n_fits)
    # Domains have divisions of their own, so errors of their means are independent: that is steadier with few
    # resamplings than the spread of the mean over domains.
    of_domain = standard_error(rates(study, SPBM, 1))
    return MonteCarlo(sampler, np.sqrt((of_domain**2).mean(axis=0) / gaps.shape[1]))


Kernel = Literal["rbf", "linear"]
_N_FOLDS = 3


class KernlabMachine(NamedTuple):
    """Decision values, positive where the category is given, and Platt's probabilities of the test documents."""

    train: FloatArray
    test: FloatArray
    probability: FloatArray


def machine(X: Any, y: BoolArray, kernel: Kernel, rng: np.random.Generator) -> KernlabMachine:
    """kernlab's machine of the first ``len(y)`` documents of X, which are those for training."""
    n = len(y)
    K = kernel_matrix(X, n, kernel, rng)
    decision = decisions(K, y)
    held_out, order = np.empty(n), rng.permutation(n)
    for fold in np.array_split(order, _N_FOLDS):
        rest = np.setdiff1d(order, fold)
        at = np.concatenate([rest, fold])
        held_out[fold] = decisions(K[np.ix_(at, at)], y[rest])[len(rest) :]
    return KernlabMachine(decision[:n], decision[n:], platt_scaling(held_out, y)(decision[n:]))


def kernel_matrix(X: Any, n_train: int, kernel: Kernel, rng: np.random.Generator) -> FloatArray:
    """Kernel of all documents, columns scaled by the first ``n_train`` of them unless one is constant there."""
    train = X[:n_train]
    total, squares = (np.asarray(part.sum(axis=0)).ravel() for part in (train, train.multiply(train)))
    variance = np.maximum(squares - total**2 / n_train, 0.0) / (n_train - 1)
    # Rounding leaves a trace of variance in a column whose entries are all alike.
    if (variance > 1e-12 * squares / n_train).all():
        scaled = (X.toarray() - total / n_train) / np.sqrt(variance)
        inner = scaled @ scaled.T
    else:
        inner = (X @ X.T).toarray()
    if kernel == "linear":
        return inner
    length = np.diag(inner)
    distance = np.maximum(length[:, None] + length - 2.0 * inner, 0.0)
    np.fill_diagonal(distance, 0.0)
    return np.exp(-automatic_sigma(distance[:n_train, :n_train], rng) * distance)


def automatic_sigma(squared_distance: FloatArray, rng: np.random.Generator) -> float:
    """``sigest``'s σ: the mean of 1/q₉₀ and 1/q₁₀ of the squared distances of ⌊n/2⌋ random pairs, zeros left out."""
    n = len(squared_distance)
    first, second = rng.integers(n, size=(2, n // 2))
    drawn = squared_distance[first, second]
    return float(np.mean(1.0 / np.quantile(drawn[drawn != 0.0], [0.9, 0.1])))


def decisions(K: FloatArray, y: BoolArray) -> FloatArray:
    """Decision values of all documents of a kernel matrix by the machine of its first ``len(y)``."""
    n = len(y)
    fitted = SVC(C=1.0, kernel="precomputed").fit(K[:n, :n], y)
    return np.asarray(fitted.decision_function(K[:, :n]), dtype=np.float64)


def platt_scaling(decision: FloatArray, y: BoolArray) -> Callable[[FloatArray], FloatArray]:
    """Platt's sigmoid 1/(1 + exp(a·f + b)) by maximum likelihood of his smoothed targets, as a function of f."""
    n_in, n_out = np.count_nonzero(y), np.count_nonzero(~y)
    target = np.where(y, (n_in + 1.0) / (n_in + 2.0), 1.0 / (n_out + 2.0))

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        linear = at[0] * decision + at[1]
        residual = target - special.expit(-linear)
        value = -(target * special.log_expit(-linear) + (1.0 - target) * special.log_expit(linear)).sum()
        return float(value), np.array([residual @ decision, residual.sum()])

    def curvature(at: FloatArray) -> FloatArray:
        linear = at[0] * decision + at[1]
        weight = special.expit(linear) * special.expit(-linear)
        mixed = weight @ decision
        return np.array([[weight @ decision**2, mixed], [mixed, weight.sum()]])

    start = np.array([0.0, np.log((n_out + 1.0) / (n_in + 1.0))])
    # By Newton's steps: BFGS silences warnings of its line search, which is not safe where machines run in threads.
    found = optimize.minimize(loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-8})
    a, b = found.x
    return lambda f: np.asarray(special.expit(-(a * f + b)))

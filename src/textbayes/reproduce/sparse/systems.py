"""The two collections as counts, and one column of the paper's tables: weigh, choose words, fit, tune, measure.

Reuters-21578 is ModApte's, RCV1-v2 is taken as far as it is public. The fits of a topic are the paper's: EM from a
least-squares start that stops early, or the optimum itself.

The methods of others in Tables 1 and 7, whose figures the paper cites, are run by scikit-learn. Reuters-21578, for
Zhang & Oles (2001): the presence of the 10,000 words that tell most of the ten topics (information gain); multinomial
naive Bayes, logistic regression and a linear SVM, each with its own decision, C by five folds. RCV1-v2, for Lewis et
al. (2004): log TF × IDF of unit length; a linear SVM, the 100 nearest neighbours and Rocchio's prototypes, thresholds
by SCutFBR.1 on five folds of the training documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.data import Corpus, load_corpus
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
from textbayes.reproduce.experiment import Systems, TextRules, indicator
from textbayes.reproduce.results import published_figures
from textbayes.select import scores
from textbayes.select.selectors import select_per_label
from textbayes.text import TermWeighting

MARKETS, _PARTS_OF_IT = "MCAT", {"M11", "M12", "M13", "M14"}
PUBLISHED = published_figures("sparse")
TOPICS: tuple[str, ...] = PUBLISHED["topics"]
AVERAGES: tuple[str, ...] = PUBLISHED["averages"]
GAMMAS: tuple[float, ...] = PUBLISHED["gammas"]
_COMMON = 5  # documents a word must be in for its own weights to tell its idf
# Quantiles that are the weight of one occurrence. A quarter of any document's words occur once in it; of a very common
# word fewer are single ones, but its weights are many and exact.
_OF_DOCUMENT, _OF_WORD = 0.25, 0.05


class CountCollection(NamedTuple):
    """Word counts (n_docs, n_words) and topics (n_docs, n_topics) of training and test documents."""

    train: Any
    test: Any
    Y_train: BoolArray
    Y_test: BoolArray
    topics: tuple[str, ...]


def reuters(rules: TextRules | None = None) -> CountCollection:
    """Reuters-21578 ModApte, the stories that carry one of the 90 topics: 7,770 and 3,019, the ten largest topics.

    The paper counts 7,769 training stories, one less; stories that carry none of the 90 topics (5 in training) are in
    neither count. It says that stop words and punctuation marks were removed, and no more.
    """
    train, test = _stories()
    counts = (rules or TextRules()).counts(train, test)
    return CountCollection(*counts, indicator(train.labels, TOPICS), indicator(test.labels, TOPICS), TOPICS)


@lru_cache(maxsize=1)
def _stories() -> tuple[Corpus, Corpus]:
    corpus = load_corpus("reuters21578", topics="r90", unlabelled="drop")
    return corpus.train, corpus.test


def rcv1(subset: int | None = None) -> CountCollection:
    """The five public samples of RCV1-v2 pooled (or one of them), their counts recovered from the term weights.

    The samples lack MCAT, put back here as what it is by definition: the union of M11 to M14. Topics without a training
    document are left out, as in the paper.
    """
    corpus = load_corpus("rcv1", version="subsets", subset=subset)
    counts = counts_of_weights(corpus.X)
    names = (*corpus.label_names, MARKETS)
    labels = indicator([(*row, MARKETS) if _PARTS_OF_IT.intersection(row) else row for row in corpus.labels], names)
    train = np.array([part == "train" for part in corpus.split or ()])
    used = labels[train].any(axis=0)
    topics = tuple(name for name, keep in zip(names, used, strict=True) if keep)
    labels = labels[:, used]
    return CountCollection(counts[train], counts[~train], labels[train], labels[~train], topics)


def counts_of_weights(X: Any) -> Any:
    """Word counts from cosine-normalised weights x_ij = (1 + ln tf_ij) idf_j / c_i, as RCV1-v2 is distributed.

    Many words of a document occur in it once, and many occurrences of a word are single ones. In log x_ij = log(1 + ln
    tf_ij) + log idf_j − log c_i a low quantile over a document (less log idf) is therefore −log c_i, and one over a
    word (less −log c) is log idf_j. A few rounds of both, from idf_j = ln(N/n_j), find them; rare words keep the idf of
    their document frequency. What is left is 1 + ln tf, rounded to the nearest count.
    """
    X = sparse.csr_matrix(X)
    n_docs, n_words = X.shape
    docs = np.repeat(np.arange(n_docs), np.diff(X.indptr))
    n_with_word = np.bincount(X.indices, minlength=n_words)
    log_x = np.log(X.data)
    log_idf = np.log(np.log((n_docs + 1.0) / np.maximum(n_with_word, 1)))
    common = n_with_word >= _COMMON
    for _ in range(4):
        level = _quantile(_OF_DOCUMENT, log_x - log_idf[X.indices], docs, n_docs)
        log_idf = np.where(common, _quantile(_OF_WORD, log_x - level[docs], X.indices, n_words), log_idf)
    weight = np.exp(log_x - level[docs] - log_idf[X.indices])
    counts = np.maximum(1.0, np.rint(np.exp(weight - 1.0)))
    return sparse.csr_matrix((counts, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def _quantile(share: float, values: FloatArray, groups: AnyArray, n_groups: int) -> FloatArray:
    """The value of each group that this share of them lies below, 0 for a group without any."""
    ranked = values[np.lexsort((values, groups))]
    sizes = np.bincount(groups, minlength=n_groups)
    place = np.cumsum(sizes) - sizes + np.floor(share * sizes).astype(np.int64)
    return np.where(sizes > 0, ranked[np.minimum(place, len(ranked) - 1)], 0.0)


Cut = Literal["strictest", "loosest", "half"]
_EXACT = 1e-5
_ROUNDS = 1000


class RegressionModel(NamedTuple):
    """A regression of every topic; ``scale`` is 1/rate for Laplace, the standard deviation for Gaussian priors."""

    link: str
    prior: str
    scale: float = 1.0
    n_words: int = 300
    scheme: str = "log"
    exact: bool = False  # the optimum itself instead of where the paper's EM stops
    cut: Cut = "strictest"  # of the thresholds with equally few training errors, or 0.5
    score: str = "pearson"  # words are chosen by


JEFFREYS = RegressionModel("probit", "jeffreys")


def laplace(gamma: float) -> RegressionModel:
    """The probit model with a Laplace prior of rate γ, the reading that Table 4 asks for."""
    return RegressionModel("probit", "laplace", 1.0 / gamma)


class EmStop(NamedTuple):
    """Stopping rule of EM: a relative change ‖β′ − β‖ ≤ tol ‖β‖; parameters of at most ``zero`` then count as zero.

    The paper says "until successive values of β differ by less than a specified tolerance" and does not name it. The
    defaults are those that come closest to its Table 4, see :mod:`textbayes.reproduce.sparse.stopping`.
    """

    tol: float = 1e-2
    zero: float = 1e-10
    max_steps: int = 2000


def fit(problem: Problem, stop: EmStop, exact: bool = False) -> Posterior:
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


class RegressionOutcome(NamedTuple):
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


class Regressions(Systems[RegressionModel, int, tuple[FloatArray, FloatArray, int], RegressionOutcome]):
    """Fit models to every topic of a collection."""

    def __init__(self, collection: CountCollection, stop: EmStop | None = None) -> None:
        super().__init__(range(len(collection.topics)))
        self.collection, self.stop = collection, stop or EmStop()
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

    def problem(self, model: RegressionModel, topic: int) -> tuple[Problem, Any]:
        """The regression of a topic on its own words, and the test documents in the same columns."""
        train, test = self.matrices(model.scheme)
        chosen = np.flatnonzero(self.words(model.scheme, model.n_words, model.score)[topic])
        prior = make_prior(model.prior, model.scale)
        y = np.where(self.collection.Y_train[:, [topic]], 1.0, -1.0)
        X = train[:, chosen]
        X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)
        # The intercept is one of the parameters: it has the prior that all have.
        return Problem(X, y, make_link(model.link), prior, prior.rescaled(model.scale)), test[:, chosen]

    def prepare(self, system: RegressionModel) -> None:
        """Choose the words."""
        self.words(system.scheme, system.n_words, system.score)

    def fit(self, system: RegressionModel, unit: int) -> tuple[FloatArray, FloatArray, int]:
        """Probabilities of the training and the test documents of a topic, and how many parameters are left."""
        problem, test = self.problem(system, unit)
        posterior = fit(problem, self.stop, system.exact)
        weights, intercept = posterior.mean[0], float(posterior.intercept[0])
        proba = [problem.link.probability(X @ weights + intercept) for X in (problem.X, test)]
        return proba[0], proba[1], size(posterior, 0.0 if system.exact else self.stop.zero)

    def collect(self, system: RegressionModel, parts: list[tuple[FloatArray, FloatArray, int]]) -> RegressionOutcome:
        """Decisions by the thresholds of the training documents."""
        train, test, sizes = (np.stack(part, axis=-1) for part in zip(*parts, strict=True))
        decided = decide(train, self.collection.Y_train, test, system.cut)
        return RegressionOutcome(contingency(self.collection.Y_test, decided), sizes)


def decide(train: FloatArray, Y: BoolArray, test: FloatArray, cut: Cut) -> BoolArray:
    """Decisions on the test probabilities by the threshold with the fewest errors, FP + FN, on the training set.

    The paper does not say which of several such thresholds it took; nor is 0.5 its choice.
    """
    if cut == "half":
        return test > 0.5
    if cut == "loosest":  # the strictest for saying no
        return ~make_rule("fewest_errors").fit(1.0 - train, ~Y).decide(1.0 - test)
    return make_rule("fewest_errors").fit(train, Y).decide(test)


Method = Literal["naive Bayes", "logistic regression", "SVM"]
Ranking = Literal["SVM", "kNN", "Rocchio"]
_COSTS = (0.01, 0.03, 0.1, 0.3, 1.0)
_FOLDS = 5
_BLOCK = 1000  # documents whose similarities to all others are held at once


class Decisions(Systems[Method, int, BoolArray, RegressionOutcome]):
    """Yes or no of naive Bayes, logistic regression and SVM for every topic, from the presence of words.

    Parameters
    ----------
    collection : CountCollection
    n_words : int
        Words with the highest information gain for any topic.
    """

    def __init__(self, collection: CountCollection, n_words: int = 10_000) -> None:
        super().__init__(range(len(collection.topics)))
        self.collection = collection
        gain = scores.get("information_gain")(collection.train, collection.Y_train).scores
        words = np.sort(np.argsort(-gain.max(axis=0), kind="stable")[:n_words])
        self._train, self._test = (sparse.csr_matrix(X[:, words] > 0, dtype=np.float64) for X in collection[:2])

    def fit(self, system: Method, unit: int) -> BoolArray:
        """Decisions on the test documents."""
        return self._search(system).fit(self._train, self.collection.Y_train[:, unit]).predict(self._test)

    def decision_values(self, system: Method, unit: int) -> tuple[FloatArray, FloatArray]:
        """Log-odds or distances of the training documents, each by a fit that did not see it, and of the test ones."""
        y = self.collection.Y_train[:, unit]
        found = self._search(system).fit(self._train, y)
        found = getattr(found, "best_estimator_", found)
        how = "decision_function" if hasattr(found, "decision_function") else "predict_log_proba"
        values = cross_val_predict(found, self._train, y, cv=_folds(), method=how), getattr(found, how)(self._test)
        held_out, new = (one if one.ndim == 1 else one[:, 1] - one[:, 0] for one in values)
        return held_out, new

    def _search(self, system: Method) -> Any:
        """A classifier; C of the regression and of the SVM is chosen by cross-validation."""
        costs = {"C": _COSTS}
        made: dict[Method, Any] = {
            "naive Bayes": MultinomialNB(),
            "logistic regression": GridSearchCV(
                LogisticRegression(solver="liblinear"), costs, cv=_folds(), scoring="neg_log_loss"
            ),
            "SVM": GridSearchCV(_svm(), costs, cv=_folds()),
        }
        return made[system]

    def collect(self, system: Method, parts: list[BoolArray]) -> RegressionOutcome:
        """The decisions of all topics."""
        return RegressionOutcome(contingency(self.collection.Y_test, np.stack(parts, axis=-1)), np.zeros(len(parts)))


def _folds() -> StratifiedKFold:
    return StratifiedKFold(_FOLDS, shuffle=True, random_state=0)


class Rankings(Systems[Ranking, int, FloatArray, RegressionOutcome]):
    """Scores of SVM, nearest neighbours and Rocchio for all topics, cut where folds of the training documents say.

    Parameters
    ----------
    collection : CountCollection
    """

    threads = False

    def __init__(self, collection: CountCollection) -> None:
        super().__init__(range(_FOLDS + 1))  # the last are the test documents
        self.collection = collection
        weighting = TermWeighting("tfidf").fit(collection.train)
        self._train, self._test = (sparse.csr_matrix(weighting.transform(X)) for X in collection[:2])
        self._folds = list(KFold(_FOLDS, shuffle=True, random_state=0).split(self._train))

    def fit(self, system: Ranking, unit: int) -> FloatArray:
        """Scores between 0 and 1 of the documents of a fold, or of the test documents, by all others."""
        Y = self.collection.Y_train
        if unit == _FOLDS:
            return _RANKINGS[system](self._train, Y, self._test)
        others, fold = self._folds[unit]
        return _RANKINGS[system](self._train[others], Y[others], self._train[fold])

    def collect(self, system: Ranking, parts: list[FloatArray]) -> RegressionOutcome:
        """Decisions by the thresholds of the folds."""
        *held_out, test = parts
        Y = self.collection.Y_train[np.concatenate([fold for _, fold in self._folds])]
        # A document like all its neighbours, or like a prototype, may be a rounding error above 1.
        held, new = (np.clip(part, 0.0, 1.0) for part in (np.concatenate(held_out), test))
        decided = scut_fbr(held, Y, new)
        return RegressionOutcome(contingency(self.collection.Y_test, decided), np.zeros(Y.shape[1]))


def scut_fbr(held_out: FloatArray, Y: BoolArray, new: FloatArray, fbr: float = 0.1) -> BoolArray:
    """Decisions by the threshold of highest held-out F1; where that is below ``fbr``, by the highest held-out score.

    References
    ----------
    Yang (2001), A study of thresholding strategies for text categorization, SIGIR: SCutFBR.1.
    """
    rule = make_rule("max_f1").fit(held_out, Y)
    poor = f_measure(contingency(Y, rule.decide(held_out)), None) < fbr
    return np.where(poor, new > held_out.max(axis=0), rule.decide(new))


def svm(X: Any, Y: BoolArray, new: Any) -> FloatArray:
    """Decision values of a linear SVM (C = 1) for each topic; a topic without both answers has none."""
    found = np.zeros((new.shape[0], Y.shape[1]))
    for topic, y in enumerate(Y.T):
        if y.any() and not y.all():
            found[:, topic] = expit(_svm().fit(X, y).decision_function(new))
    return found


def _svm() -> Any:
    return LinearSVC(random_state=0, max_iter=100_000)


def nearest_neighbours(X: Any, Y: BoolArray, new: Any, k: int = 100) -> FloatArray:
    """Share of each topic among the k most similar documents, weighed by similarity."""
    return np.concatenate([_shares(block @ X.T, Y, k) for block in _blocks(new)])


def _shares(similarity: Any, Y: BoolArray, k: int) -> FloatArray:
    dense = similarity.toarray()
    k = min(k, dense.shape[1])
    nearest = np.argpartition(-dense, k - 1, axis=1)[:, :k]
    weights = np.take_along_axis(dense, nearest, axis=1)
    total = np.maximum(weights.sum(axis=1), np.finfo(np.float64).tiny)
    return np.einsum("nk,nkt->nt", weights, Y[nearest]) / total[:, None]


def _blocks(X: Any) -> Iterator[Any]:
    return (X[start : start + _BLOCK] for start in range(0, X.shape[0], _BLOCK))


def rocchio(X: Any, Y: BoolArray, new: Any) -> FloatArray:
    """Similarity to the prototype of each topic: 16 parts of the mean document with it less 4 of the mean without it.

    Negative weights of a prototype are zero, and its length is one.
    """
    having = Y.astype(np.float64)
    with_it, without = ((flag / np.maximum(flag.sum(axis=0), 1.0)).T @ X for flag in (having, 1.0 - having))
    prototypes = np.maximum(16.0 * with_it - 4.0 * without, 0.0)
    lengths = np.linalg.norm(prototypes, axis=1, keepdims=True)
    return new @ (prototypes / np.where(lengths > 0.0, lengths, 1.0)).T


_RANKINGS: dict[str, Callable[[Any, BoolArray, Any], FloatArray]] = {
    "SVM": svm,
    "kNN": nearest_neighbours,
    "Rocchio": rocchio,
}

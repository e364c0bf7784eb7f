"""The methods of others in Tables 1 and 7, run by scikit-learn: the paper cites their figures.

Reuters-21578, for Zhang & Oles (2001): the presence of the 10,000 words that tell most of the ten topics (information
gain); multinomial naive Bayes, logistic regression and a linear SVM, each with its own decision, C by five folds.
RCV1-v2, for Lewis et al. (2004): log TF × IDF of unit length; a linear SVM, the 100 nearest neighbours and Rocchio's
prototypes, thresholds by SCutFBR.1 on five folds of the training documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide import make_rule
from textbayes.evaluate import contingency, f_measure
from textbayes.reproduce.experiment import Systems
from textbayes.reproduce.sparse.systems import CountCollection, RegressionOutcome
from textbayes.select import scores
from textbayes.text import TermWeighting

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
        costs, folds = {"C": _COSTS}, StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
        made: Any = {
            "naive Bayes": MultinomialNB(),
            "logistic regression": GridSearchCV(
                LogisticRegression(solver="liblinear"), costs, cv=folds, scoring="neg_log_loss"
            ),
            "SVM": GridSearchCV(_svm(), costs, cv=folds),
        }[system]
        return made.fit(self._train, self.collection.Y_train[:, unit]).predict(self._test)

    def collect(self, system: Method, parts: list[BoolArray]) -> RegressionOutcome:
        """The decisions of all topics."""
        return RegressionOutcome(contingency(self.collection.Y_test, np.stack(parts, axis=-1)), np.zeros(len(parts)))


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

"""Peers as plain scikit-learn: linear machines, logistic regressions, naive Bayes and NB-SVM, chosen by 3-fold CV.

Each family chooses among views of the words and settings by cross-validation on the training rows: for its decisions by
accuracy (of labels that go together, by micro- plus macro-F1), for its probabilities by log-loss. Of such labels each
family also answers with LibMultiLabel's thresholds.

References
----------
Wang & Manning (2012), Baselines and bigrams: simple, good sentiment and topic classification, ACL (NB-SVM).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from _thresholds import micromacro_thresholds
from _views import Views
from textbayes.evaluate import class_log_losses, contingency, f_measure, log_loss

N_FOLDS = 3
NOT_SEEN = -35.0  # score of an exclusive class that the rows lack, about ln 1e-15
MOST_WEIGHTS = 3_000_000  # of a softmax: beyond, L-BFGS takes minutes a fit, and pairs are left to the other peers
INTERPOLATION = 0.25  # β of NB-SVM

Fitted = Callable[[Any], np.ndarray]


class Answer(NamedTuple):
    """A peer's decisions, (n_docs, n_classes), and its probabilities, where it has them."""

    decisions: np.ndarray
    proba: np.ndarray | None


class Candidate(NamedTuple):
    """One setting of a family: words, their weights, and how to fit them."""

    view: str
    weights: str
    estimator: Any


def families() -> dict[str, list[Candidate]]:
    """The peers and what each chooses from."""
    svm = [LinearSVC(C=C, dual=True, tol=1e-3, random_state=0) for C in (0.1, 0.3, 1.0, 3.0)]
    ridge = [LogisticRegression(C=C, max_iter=300) for C in (3.0, 30.0, 300.0)]
    lasso = [LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear") for C in (1.0, 3.0, 10.0, 30.0)]
    counted = [(view, weights) for view in ("words", "pairs", "stems") for weights in ("counts", "tfidf")]
    alphas = (0.01, 0.1, 0.3, 1.0)
    return {
        "LinearSVC": [Candidate(view, "tfidf", one) for view in ("words", "pairs", "stems") for one in svm],
        "logistic L2": [Candidate(view, "tfidf", one) for view in ("words", "pairs") for one in ridge],
        "logistic L1": [Candidate("words", "tfidf", one) for one in lasso],
        "MultinomialNB": [Candidate(*how, MultinomialNB(alpha=alpha)) for how in counted for alpha in alphas],
        "ComplementNB": [Candidate(*how, ComplementNB(alpha=alpha)) for how in counted for alpha in alphas],
        "NB-SVM": [Candidate("pairs", "binary", NBSVM(C)) for C in (0.03, 0.1, 0.3, 1.0)],
    }


class NBSVM:
    """Linear machine of one label on words scaled by their log-count ratio, its weights drawn to their mean.

    Parameters
    ----------
    C : float
    """

    def __init__(self, C: float) -> None:
        self.C = C

    def fit(self, X: Any, y: np.ndarray) -> NBSVM:
        """Learn from rows of 0 and 1 and whether the label applies to each."""
        positive, negative = (1.0 + np.asarray(X[rows].sum(axis=0)).ravel() for rows in (y, ~y))
        ratio = np.log(positive / positive.sum()) - np.log(negative / negative.sum())
        machine = LinearSVC(C=self.C, dual=True, tol=1e-3, random_state=0).fit(X @ sparse.diags(ratio), y)
        own = machine.coef_[0]
        self.coef_ = ratio * (INTERPOLATION * own + (1.0 - INTERPOLATION) * np.abs(own).mean())
        self.intercept_ = machine.intercept_[0]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, above 0 where the label is likelier than not."""
        return X @ self.coef_ + self.intercept_


def peer_answers(
    views: Views, Y: np.ndarray, train: np.ndarray, test: np.ndarray, exclusive: bool
) -> dict[str, Answer]:
    """What each peer says of the test rows, having learnt from the training rows.

    Parameters
    ----------
    views : Views
        Of all texts.
    Y : boolean array (n_texts, n_classes)
        Read at the training rows only.
    train, test : arrays of row numbers
    exclusive : bool
        Whether each text has exactly one class.
    """
    with warnings.catch_warnings(), threadpool_limits(1):  # vectors are short: threads cost more than they save
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class")
        answers: dict[str, Answer] = {}
        for name, candidates in families().items():
            answers |= _family(name, candidates, views, Y[train], train, test, exclusive)
        return answers


def _family(
    name: str,
    candidates: list[Candidate],
    views: Views,
    Y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    exclusive: bool,
) -> dict[str, Answer]:
    fold = _folds(Y, exclusive)
    held_out: list[np.ndarray] = []
    matrices: dict[tuple[str, str], tuple[Any, Any]] = {}
    tried = []
    for one in candidates:
        key = (one.view, one.weights)
        if key not in matrices:
            matrices = {key: views.matrices(*key, train, test)}  # one pair at a time: they are large
        X = matrices[key][0]
        softmax = exclusive and isinstance(one.estimator, LogisticRegression) and _knows_classes(one.estimator)
        if softmax and held_out and X.shape[1] * Y.shape[1] > MOST_WEIGHTS:
            continue
        scores = np.empty(Y.shape)
        for k in range(N_FOLDS):
            scores[fold == k] = fit(one.estimator, X[fold != k], Y[fold != k], exclusive)(X[fold == k])
        held_out.append(scores)
        tried.append(one)
    best = int(np.argmax([_quality(Y, decide(scores, exclusive), exclusive) for scores in held_out]))
    probabilistic = hasattr(tried[best].estimator, "predict_proba")
    likeliest = best
    if probabilistic:
        likeliest = int(np.argmin([_loss(Y, probabilities(scores, exclusive), exclusive) for scores in held_out]))
    said = {}
    for number in {best, likeliest}:
        X, T = views.matrices(tried[number].view, tried[number].weights, train, test)
        said[number] = fit(tried[number].estimator, X, Y, exclusive)(T)
    proba = probabilities(said[likeliest], exclusive) if probabilistic else None
    answers = {name: Answer(decide(said[best], exclusive), proba)}
    if not exclusive:
        cuts = micromacro_thresholds(held_out[best], Y, fold)
        answers[f"{name}, thresholds"] = Answer(said[best] > cuts, None)
    return answers


def fit(estimator: Any, X: Any, Y: np.ndarray, exclusive: bool) -> Fitted:
    """Scores of new rows, (n_rows, n_classes): margins, log-odds, or logarithms of probabilities up to a constant."""
    if exclusive and _knows_classes(estimator):
        one = clone(estimator).fit(X, Y.argmax(axis=1))
        return lambda T: _spread(_class_scores(one, T), one.classes_, Y.shape[1])
    columns = [1] if exclusive and Y.shape[1] == 2 else range(Y.shape[1])
    fitted = [_fit_label(estimator, X, Y[:, k]) for k in columns]

    def scores(T: Any) -> np.ndarray:
        found = np.column_stack([one(T) for one in fitted])
        if found.shape[1] < Y.shape[1]:
            found = np.hstack([-found, found])
        # One against the rest: as scikit-learn does it, each label's own probabilities are made to add up to one.
        return special.log_expit(found) if exclusive and hasattr(estimator, "predict_proba") else found

    return scores


def _knows_classes(estimator: Any) -> bool:
    """Whether it takes several classes as they are; liblinear's logistic regression and NB-SVM take two."""
    return not isinstance(estimator, NBSVM) and getattr(estimator, "solver", "") != "liblinear"


def _fit_label(estimator: Any, X: Any, y: np.ndarray) -> Fitted:
    if y.all() or not y.any():
        # A machine puts rows of one side at its margin; of log-odds, half a row more of the other side is assumed.
        size = np.log(2 * len(y) + 1) if hasattr(estimator, "predict_proba") else 1.0
        return lambda T: np.full(T.shape[0], size if y.all() else -size)
    if isinstance(estimator, LogisticRegression) and estimator.solver == "lbfgs":  # the dual is faster for wide rows
        estimator = LogisticRegression(C=estimator.C, solver="liblinear", dual=True, random_state=0)
    one = (NBSVM(estimator.C) if isinstance(estimator, NBSVM) else clone(estimator)).fit(X, y)
    if hasattr(one, "predict_joint_log_proba"):
        return lambda T: np.diff(one.predict_joint_log_proba(T), axis=1)[:, 0]
    return one.decision_function


def _class_scores(fitted: Any, T: Any) -> np.ndarray:
    if hasattr(fitted, "predict_log_proba"):
        return fitted.predict_log_proba(T)
    scores = fitted.decision_function(T)
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def _spread(scores: np.ndarray, present: np.ndarray, n_classes: int) -> np.ndarray:
    found = np.full((len(scores), n_classes), NOT_SEEN)
    found[:, present] = np.maximum(scores, NOT_SEEN)
    return found


def decide(scores: np.ndarray, exclusive: bool) -> np.ndarray:
    """The class of highest score, or all labels of scores above 0, as an indicator."""
    return scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1]) if exclusive else scores > 0.0


def probabilities(scores: np.ndarray, exclusive: bool) -> np.ndarray:
    """Probabilities from log-odds, or from logarithms up to a constant of the row."""
    return special.softmax(scores, axis=1) if exclusive else special.expit(scores)


def _folds(Y: np.ndarray, exclusive: bool) -> np.ndarray:
    splitter = (StratifiedKFold if exclusive else KFold)(N_FOLDS, shuffle=True, random_state=0)
    fold = np.empty(len(Y), dtype=int)
    for k, (_, rows) in enumerate(splitter.split(Y, Y.argmax(axis=1) if exclusive else None)):
        fold[rows] = k
    return fold


def _quality(Y: np.ndarray, decisions: np.ndarray, exclusive: bool) -> float:
    if exclusive:
        return float((decisions == Y).all(axis=1).mean())
    table = contingency(Y, decisions)
    return float(f_measure(table, "micro") + f_measure(table, "macro"))


def _loss(Y: np.ndarray, proba: np.ndarray, exclusive: bool) -> float:
    return class_log_losses(Y, proba)[0] if exclusive else float(log_loss(Y, proba))

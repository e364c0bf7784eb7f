"""What the benchmarks of count models share: words and β chosen by inner cross-validation, and paired figures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from textbayes.evaluate import calibration_error, log_loss, paired_bootstrap
from textbayes.models.counts import BayesCountClassifier
from textbayes.models.counts.choose import FIRST, SECOND
from textbayes.select import scores, select_global


class Data(NamedTuple):
    """Counts, lengths in thousands of words, and labels as positions."""

    X: Any
    lengths: np.ndarray
    y: np.ndarray

    def take(self, rows: np.ndarray) -> Data:
        return Data(self.X[rows], self.lengths[rows], self.y[rows])


def ranked_words(data: Data, n_words: tuple[int, ...]) -> list[np.ndarray]:
    """The words of highest information gain, as in the paper, for each number of words."""
    classes = np.unique(data.y)
    indicator = data.y[:, None] == (classes[1:] if len(classes) == 2 else classes)
    result = scores.get("information_gain")(data.X, indicator)
    return [np.flatnonzero(select_global(result, k=k)) for k in n_words]


def nested(
    model: str,
    data: Data,
    rows: np.ndarray,
    held_out: np.ndarray,
    n_words: tuple[int, ...],
    by: str = "log-loss",
    n_inner: int = 5,
    rounds: int = 1,
) -> tuple[np.ndarray, tuple[float, ...]]:
    """Log-probabilities of the held-out documents, with words and β chosen inside the training rows.

    The least log-loss, or the fewest errors (``by="errors"``, among equals the least log-loss), of inner
    cross-validation decides. Words are ranked anew in each inner part. β₂ is searched along its grid at β₁ = 10,
    then β₁, ``rounds`` times.
    """
    train = data.take(rows)
    inner = list(StratifiedKFold(n_inner, shuffle=True, random_state=0).split(train.y, train.y))
    words = [ranked_words(train.take(part), n_words) for part, _ in inner]
    has_beta = model.startswith("dirichlet")
    losses: dict[tuple[float, ...], float] = {}

    def loss(k: int, one: float, two: float) -> float:
        key = (k, one, two)
        if key not in losses:
            losses[key] = 0.0
            for (part, rest), chosen in zip(inner, words, strict=True):
                found = log_proba(
                    model, train.take(part), train.take(rest), chosen[k], (one, two) if has_beta else None
                )
                own = float(-np.maximum(found[np.arange(len(rest)), train.y[rest]], np.log(1e-15)).sum())
                wrong = int((found.argmax(axis=1) != train.y[rest]).sum())
                losses[key] += own if by == "log-loss" else wrong + 1e-6 * own
        return losses[key]

    for k in range(len(n_words)):
        if not has_beta:
            loss(k, 0.0, 0.0)
            continue
        one = 10.0
        for _ in range(rounds):
            two = min(SECOND, key=lambda two, k=k, one=one: loss(k, one, two))
            one = min(FIRST, key=lambda one, k=k, two=two: loss(k, one, two))
    k, one, two = min(losses, key=losses.__getitem__)
    chosen = ranked_words(train, n_words)[int(k)]
    found = log_proba(model, train, data.take(held_out), chosen, (one, two) if has_beta else None)
    return found, (n_words[int(k)], one, two)


def log_proba(
    model: str, train: Data, test: Data, words: np.ndarray | None, relative: tuple[float, float] | None
) -> np.ndarray:
    """ln p(class) of the test documents; β₂ is given in units of the text of a class."""
    X, new = (train.X, test.X) if words is None else (train.X[:, words], test.X[:, words])
    beta = None
    if relative is not None:
        beta = (relative[0], relative[1] * train.lengths.sum() / len(np.unique(train.y)))
    fitted = BayesCountClassifier(model, beta=beta).fit(X, train.y, lengths=train.lengths)
    return fitted.predict_log_proba(new, test.lengths)


class Figures(NamedTuple):
    """Error, log-loss per document and calibration error, of one system."""

    error: float
    log_loss: float
    calibration_error: float

    def __str__(self) -> str:
        return f"error {100 * self.error:5.2f} %  log-loss {self.log_loss:5.3f}  ECE {self.calibration_error:5.3f}"


def figures(y: np.ndarray, log_prob: np.ndarray) -> Figures:
    """Figures of log-probabilities (n_docs, n_classes); probabilities are clipped at 1e-15 as in ``log_loss``."""
    proba, truth = np.exp(log_prob), y[:, None] == np.arange(log_prob.shape[1])
    # Of two classes the second stands for both; of more, the probability of the class decided for is judged.
    if log_prob.shape[1] == 2:
        loss, error = log_loss(truth[:, 1:], proba[:, 1:]), calibration_error(truth[:, 1:], proba[:, 1:])
    else:
        decided = proba.argmax(axis=1)
        own = np.clip(proba[np.arange(len(y)), y], 1e-15, 1.0)
        loss, error = -np.log(own).mean(), calibration_error((decided == y)[:, None], proba.max(axis=1)[:, None])
    return Figures(float((proba.argmax(axis=1) != y).mean()), float(loss), float(error))


def paired_interval(y: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """95 % interval of the difference of errors, ours − theirs, by the paired bootstrap over documents."""
    right = np.ones((len(y), 1), dtype=bool)
    decided = [(log_prob.argmax(axis=1) == y)[:, None] for log_prob in (ours, theirs)]
    result = paired_bootstrap(right, *decided, "error_rate")  # of minus the error: higher is better
    return -result.high, -result.low

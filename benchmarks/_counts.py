"""What the benchmarks of count models share: words and constants chosen by inner cross-validation, paired figures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from textbayes.evaluate import calibration_error, log_loss, paired_bootstrap
from textbayes.models.counts import BayesCountClassifier, make_count_model
from textbayes.models.counts.inputs import FIRST, SECOND
from textbayes.select import scores, select_global

SMOOTHING = (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0)


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


class Chosen(NamedTuple):
    """Log-probabilities of held-out documents, and the number of words and the constants they were found with."""

    log_proba: np.ndarray
    n_words: int
    constants: tuple[float, ...]

    def __str__(self) -> str:
        names = ("α",) if len(self.constants) == 1 else ("β₁", "β₂ of the text")
        told = ", ".join(f"{name} {value:g}" for name, value in zip(names, self.constants, strict=False))
        return f"{self.n_words:,} words, {told}"


def nested(
    model: str,
    data: Data,
    rows: np.ndarray,
    held_out: np.ndarray,
    n_words: tuple[int, ...],
    by: tuple[str, ...] = ("log-loss",),
    n_inner: int = 5,
    rounds: int = 1,
) -> dict[str, list[Chosen]]:
    """Held-out documents with words and constants chosen inside the training rows, the same way for every model.

    For each of ``by`` first the best of all numbers of words, then the best with each of them, so that models can be
    compared on the same words. The least log-loss, or the fewest errors (among equals the least log-loss), of inner
    cross-validation decides. Words are ranked anew in each inner part. The constants are β₁ and β₂ of a hierarchy,
    β₂ searched along its grid at β₁ = 10, then β₁, ``rounds`` times; pseudo-counts α of the others, along theirs.
    """
    train = data.take(rows)
    inner = list(StratifiedKFold(n_inner, shuffle=True, random_state=0).split(train.y, train.y))
    words = [ranked_words(train.take(part), n_words) for part, _ in inner]
    losses: list[dict[tuple[float, ...], tuple[float, int]]] = [{} for _ in n_words]

    def loss(criterion: str, k: int, *constants: float) -> float:
        if constants not in losses[k]:
            own, wrong = 0.0, 0
            for (part, rest), chosen in zip(inner, words, strict=True):
                found = log_proba(model, train.take(part), train.take(rest), chosen[k], constants)
                own -= float(np.maximum(found[np.arange(len(rest)), train.y[rest]], np.log(1e-15)).sum())
                wrong += int((found.argmax(axis=1) != train.y[rest]).sum())
            losses[k][constants] = own, wrong
        own, wrong = losses[k][constants]
        return own if criterion == "log-loss" else wrong + 1e-6 * own

    def search(criterion: str, k: int) -> tuple[float, ...]:
        """The best constants with the k-th number of words."""
        if not model.startswith("dirichlet"):
            return min(((alpha,) for alpha in SMOOTHING), key=lambda constants: loss(criterion, k, *constants))
        one, tried = 10.0, []
        for _ in range(rounds):
            two = min(SECOND, key=lambda two: loss(criterion, k, one, two))
            one = min(FIRST, key=lambda one: loss(criterion, k, one, two))
            tried.append((one, two))
        return min(tried, key=lambda constants: loss(criterion, k, *constants))

    ranked, results = ranked_words(train, n_words), {}
    for criterion in by:
        best = [search(criterion, k) for k in range(len(n_words))]
        each = [
            Chosen(log_proba(model, train, data.take(held_out), chosen, constants), n, constants)
            for chosen, n, constants in zip(ranked, n_words, best, strict=True)
        ]
        first = min(range(len(n_words)), key=lambda k: loss(criterion, k, *best[k]))
        results[criterion] = [each[first], *each]
    return results


def log_proba(
    model: str, train: Data, test: Data, words: np.ndarray | None, constants: tuple[float, ...]
) -> np.ndarray:
    """ln p(class) of the test documents; β₂ is given in units of the text of a class, no constants are the defaults."""
    X, new = (train.X, test.X) if words is None else (train.X[:, words], test.X[:, words])
    if len(constants) == 2:
        beta = constants[0], constants[1] * train.lengths.sum() / len(np.unique(train.y))
        made = BayesCountClassifier(model, beta=beta)
    else:
        settings = dict(zip(("pseudo_counts",), constants, strict=False))
        made = BayesCountClassifier(make_count_model(model, **settings))
    return made.fit(X, train.y, lengths=train.lengths).predict_log_proba(new, test.lengths)


class Fair(NamedTuple):
    """Held-out log-probabilities of a model: with the words it chose, and with those that naive Bayes chose."""

    own: np.ndarray
    same_words: np.ndarray


def compared(
    models: tuple[str, ...],
    data: Data,
    folds: list[tuple[np.ndarray, np.ndarray]],
    n_words: tuple[int, ...],
    by: tuple[str, ...],
    **settings: Any,
) -> dict[str, dict[str, Fair]]:
    """All models with words and constants chosen the same way; ``models[0]`` is the one that others are held against.

    Each chooses its number of words and its constants; and once more its constants alone, with the words that
    ``models[0]`` chose. For each of ``by``, what is to be least in the inner cross-validation.
    """
    shape = len(data.y), len(np.unique(data.y))
    found = {one: {name: Fair(np.empty(shape), np.empty(shape)) for name in models} for one in by}
    for number, (train, test) in enumerate(folds):
        told, wanted = [], dict.fromkeys(by, 0)
        for name in models:
            for one, (best, *each) in nested(name, data, train, test, n_words, by, **settings).items():
                wanted[one] = best.n_words if name == models[0] else wanted[one]
                found[one][name].own[test] = best.log_proba
                same = next(chosen.log_proba for chosen in each if chosen.n_words == wanted[one])
                found[one][name].same_words[test] = same
                told.append(f"{name} {best} by {one}")
        print(f"fold {number}: {'; '.join(told)}", flush=True)
    return found


def report(y: np.ndarray, found: dict[str, Fair], must: tuple[str, ...]) -> tuple[bool, str]:
    """Print the figures of all models beside the first; whether those that ``must`` have no more errors and less loss.

    In words too: figures of the first and of those, each with words of its own and with the first one's.
    """
    passed, told, first = True, [], next(iter(found))
    for way, words in (("own", "own words"), ("same_words", "the same words")):
        base = getattr(found[first], way)
        for name, fair in found.items():
            log_prob = getattr(fair, way)
            result, (low, high) = figures(y, log_prob), paired_interval(y, log_prob, base)
            shown = "" if name == first else f"  errors less {first}'s {100 * low:+.2f} to {100 * high:+.2f} points"
            print(f"{f'{name}, {words}':46} {result}{shown}")
            if name == first or name in must:
                gap = "" if name == first else f" ({100 * low:+.2f} to {100 * high:+.2f})"
                told.append(f"{name} {100 * result.error:.2f} %{gap} at log-loss {result.log_loss:.3f}")
            if name in must:
                passed &= low <= 0.0 and result.log_loss < figures(y, base).log_loss
        told[-1] += f" ({words})"
    return passed, ", ".join(told)


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

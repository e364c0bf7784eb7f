"""One softmax of exclusive classes beside the default pool of one-against-the-rest fits, whose classes share out.

Held-out log-loss per text and calibration error of the likeliest class, on BBC, 20 Newsgroups and OpenStax, by
cross-validation within the training part and on the test part (OpenStax has none: every other half of its texts, drawn
at random by class, is). Systems see the same texts, with the words and weights that ``TextCategorizer`` uses:

    one-vs-rest pool    ``TextCategorizer()``: Laplace and Gaussian logistic regressions, pooled on held-out texts
    softmax, Gaussian   ``BayesMultinomialClassifier``, one fit
    softmax, Laplace    the same with the sparse prior
    softmax pool        both of them, Σ_m weight_m eta_m with weights of least log-loss on 3 held-out folds

    python benchmarks/bench_multinomial_quality.py            the comparison; exit 1 where the default is not the best
    python benchmarks/bench_multinomial_quality.py --choose   held-out log-loss by scale, on training parts alone

Scales are those of least log-loss in ``--choose``, relative to the best of each corpus and summed: 64 for both
priors, the end of the grid, since BBC and OpenStax hardly have a text in doubt (20 Newsgroups by itself would have 32
and 16 to 32). The verdict is by the log-loss of the cross-validation, summed over the corpora; the test parts are
printed beside it and decide nothing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from _common import close
from textbayes import BayesMultinomialClassifier, TextCategorizer, load_corpus
from textbayes.categorizer.presets import default_vectorizer, default_weighting
from textbayes.core.folds import stratified_folds
from textbayes.evaluate import calibration_error

CORPORA = {"bbc": 4, "openstax": 4, "20newsgroups": 2}  # folds of the training part
SCALES = {"gaussian": 64.0, "laplace": 64.0}
GRID = (4.0, 8.0, 16.0, 32.0, 64.0)
INFERENCES = {"gaussian": "newton", "laplace": "coordinate"}
POOL = "one-vs-rest pool"

Texts = Sequence[str]
System = Callable[[Texts, np.ndarray, Texts], np.ndarray]  # training texts, their classes, new texts → probabilities


def parts(name: str) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    """Training texts and classes, test texts and classes."""
    corpus = load_corpus(name)
    codes = np.unique(np.array(corpus.targets), return_inverse=True)[1]
    if corpus.parts:
        rows = np.array([one == "train" for one in corpus.split])
    else:
        rows = stratified_folds(np.eye(codes.max() + 1, dtype=bool)[codes], 2) == 0
    texts = np.array(corpus.texts, dtype=object)
    return texts[rows].tolist(), codes[rows], texts[~rows].tolist(), codes[~rows]


def matrices(train: Texts, new: Texts) -> tuple[Any, Any]:
    """Weights of the words of training texts, and of new ones by the same rule."""
    vectorizer, weighting = default_vectorizer(), default_weighting()
    X = weighting.fit_transform(vectorizer.fit_transform(train))
    return X, weighting.transform(vectorizer.transform(new))


def fitted(prior: str, scale: float, X: Any, y: np.ndarray) -> BayesMultinomialClassifier:
    return BayesMultinomialClassifier(prior, scale, inference=INFERENCES[prior], tol=1e-3).fit(X, y)


def one_vs_rest(train: Texts, y: np.ndarray, new: Texts) -> np.ndarray:
    return TextCategorizer().fit(train, y).predict_proba(new)


def single(prior: str) -> System:
    def predict(train: Texts, y: np.ndarray, new: Texts) -> np.ndarray:
        X, X_new = matrices(train, new)
        return fitted(prior, SCALES[prior], X, y).predict_proba(X_new)

    return predict


def pooled(train: Texts, y: np.ndarray, new: Texts) -> np.ndarray:
    """Members' predictors of held-out texts decide how much each of them counts."""
    held_out = np.empty((len(SCALES), len(y), y.max() + 1))
    folds = stratified_folds(np.eye(y.max() + 1, dtype=bool)[y], 3)
    for fold in range(3):
        here = folds == fold
        X, X_held = matrices([train[i] for i in np.flatnonzero(~here)], [train[i] for i in np.flatnonzero(here)])
        for m, (prior, scale) in enumerate(SCALES.items()):
            held_out[m, here] = fitted(prior, scale, X, y[~here]).linear_predictor(X_held)
    found = minimize(
        lambda weights: -log_softmax(np.tensordot(weights, held_out, 1), axis=1)[np.arange(len(y)), y].mean(),
        np.full(len(SCALES), 0.5),
        bounds=[(0.0, None)] * len(SCALES),
    )
    X, X_new = matrices(train, new)
    eta = [fitted(prior, scale, X, y).linear_predictor(X_new) for prior, scale in SCALES.items()]
    return softmax(np.tensordot(found.x, np.array(eta), 1), axis=1)


SYSTEMS: dict[str, System] = {
    POOL: one_vs_rest,
    "softmax, Gaussian": single("gaussian"),
    "softmax, Laplace": single("laplace"),
    "softmax pool": pooled,
}


def measures(proba: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Log-loss per text, calibration error of the likeliest class, and its accuracy."""
    right, top = proba.argmax(axis=1) == y, proba.max(axis=1)
    log_loss = -np.log(np.maximum(proba[np.arange(len(y)), y], 1e-15)).mean()
    return float(log_loss), float(calibration_error(right, top)), float(right.mean())


def cross_validated(system: System, texts: Texts, y: np.ndarray, n_folds: int) -> np.ndarray:
    """Probabilities of texts by fits that have not seen them."""
    folds, proba = (
        stratified_folds(np.eye(y.max() + 1, dtype=bool)[y], n_folds, random_state=1),
        np.empty((len(y), y.max() + 1)),
    )
    for fold in range(n_folds):
        seen, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        proba[held] = system([texts[i] for i in seen], y[seen], [texts[i] for i in held])
    return proba


def choose(names: Sequence[str]) -> None:
    """Held-out log-loss of every scale of the grid, a quarter of the training part being held out."""
    excess = {prior: np.zeros(len(GRID)) for prior in SCALES}
    for name in names:
        texts, y, _, _ = parts(name)
        folds = stratified_folds(np.eye(y.max() + 1, dtype=bool)[y], 4, random_state=2)
        seen, held = np.flatnonzero(folds != 0), np.flatnonzero(folds == 0)
        X, X_held = matrices([texts[i] for i in seen], [texts[i] for i in held])
        for prior in SCALES:
            model = BayesMultinomialClassifier(prior, inference=INFERENCES[prior], tol=1e-3, warm_start=True)
            fits = (model.set_params(scale=scale).fit(X, y[seen]) for scale in GRID)
            losses = np.array([measures(fit.predict_proba(X_held), y[held])[0] for fit in fits])
            told = ", ".join(f"{scale:g}: {loss:.4f}" for scale, loss in zip(GRID, losses, strict=True))
            print(f"{name}, {prior}: {told}", flush=True)
            excess[prior] += losses / losses.min() - 1.0
    for prior, values in excess.items():
        told = ", ".join(f"{scale:g}: {100.0 * value:.1f} %" for scale, value in zip(GRID, values, strict=True))
        print(f"above the best, summed over corpora, {prior}: {told}; least at {GRID[int(values.argmin())]:g}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--choose", action="store_true", help="log-loss by scale, on training parts alone")
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=list(CORPORA))
    asked = parser.parse_args()
    if asked.choose:
        choose(asked.corpora)
        return
    sums = dict.fromkeys(SYSTEMS, 0.0)
    lines = []
    for name in asked.corpora:
        texts, y, new, y_new = parts(name)
        print(f"{name}: {len(y):,} training and {len(y_new):,} test texts, {y.max() + 1} classes")
        print(f"{'':20}{'cross-validation':>32}{'test part':>32}{'seconds':>10}")
        for system, predict in SYSTEMS.items():
            start = time.perf_counter()
            held = measures(cross_validated(predict, texts, y, CORPORA[name]), y)
            test = measures(predict(texts, y, new), y_new)
            sums[system] += held[0]
            cells = "".join(f"{loss:12.4f}{error:10.4f}{right:10.4f}" for loss, error, right in (held, test))
            print(f"{system:20}{cells}{time.perf_counter() - start:10.0f}", flush=True)
            if system in (POOL, "softmax pool"):
                lines.append(f"{name} {system} {held[0]:.4f} (test {test[0]:.4f})")
    best = min(sums, key=lambda system: sums[system])
    figures = f"held-out log-loss: {', '.join(lines)}; least in sum: {best}"
    close("multinomial quality", best == POOL, figures)  # what TextCategorizer() does must be what predicts best


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    main()

"""Online learning: documents a second beside river, a NumPy transcription of the paper, and a plain compiled loop.

1. Independent weights, 80 words a document, beside river's AdPredictor. Both get the same documents of ones, for which
   the two models are the same; their predictions are compared. In a block: one call predicts and learns all documents,
   which river cannot. One document a call: ``partial_fit`` beside ``learn_one``, and each after a prediction. Rows and
   dictionaries are made beforehand. Without river this part is left out.
2. Full covariance, the Reuters categories that have 300 words: beside § 3.1.1 of the paper written in NumPy.
3. Three passes for all 90 Reuters categories, each with its words (−2 ln λ > 12.13, at most 300, ltc weights): beside a
   compiled loop over the same updates, on the same restricted rows, whose preparation is not counted for the loop.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numba import njit
from scipy import sparse

from _common import close, fastest, reuters
from textbayes.models.online import (
    PAPER_PROBIT,
    Bank,
    BayesOnlineClassifier,
    DiagonalPosterior,
    FullPosterior,
    OnlineLikelihood,
)
from textbayes.select.score_functions import scores
from textbayes.select.selectors import select_per_label
from textbayes.text import TermWeighting, TextVectorizer

RIVER_BAR, SINGLE_BAR, NUMPY_BAR, LOOP_BAR = 5.0, 2.0, 20.0, 3.0
N_DOCS, N_WORDS, NON_ZEROS, REPEATS = 5_000, 20_000, 80, 3
NOISE = PAPER_PROBIT.noise


def reuters_problem() -> tuple[sparse.csr_matrix, np.ndarray, list[np.ndarray]]:
    """ltc weights of the training documents, outcomes −1 and +1, and the words of each category."""
    train = reuters().train
    counts = TextVectorizer(stemmer="porter", min_df=1).fit_transform(train.texts)
    Y = np.asarray(train.encode()[0])
    chosen = select_per_label(scores.get("likelihood_ratio")(counts, Y), threshold=12.13, k=300)
    X = sparse.csr_matrix(TermWeighting("ltc").fit_transform(counts))
    return X, np.where(Y, 1.0, -1.0), [np.flatnonzero(row) for row in chosen]


def beside_river() -> tuple[float, float, float] | None:
    """Documents a second, ours over theirs: in a block, learning one a call, and predicting and learning one a call."""
    try:
        from river.linear_model import AdPredictor
    except ImportError:
        print("river is not installed, so AdPredictor is left out: pip install 'river>=0.22'")
        return None
    rng = np.random.default_rng(0)
    words = np.stack([np.sort(rng.choice(N_WORDS, NON_ZEROS, replace=False)) for _ in range(N_DOCS)])
    ones, starts = np.ones(words.size), np.arange(N_DOCS + 1) * NON_ZEROS
    X = sparse.csr_matrix((ones, words.ravel(), starts), shape=(N_DOCS, N_WORDS))
    y = np.where(rng.random(N_DOCS) < 0.3, 1.0, -1.0)
    documents = [dict.fromkeys(row.tolist(), 1) for row in words]
    rows, labels = [X[i] for i in range(N_DOCS)], [[int(outcome)] for outcome in y]
    likelihood, prior = OnlineLikelihood("probit"), DiagonalPosterior.start(N_WORDS)

    def theirs(predict: bool) -> np.ndarray:
        model = AdPredictor(beta=1.0, epsilon=0.0)
        proba = np.empty(N_DOCS)
        for i, document in enumerate(documents):
            if predict:
                proba[i] = model.predict_proba_one(document)[True]
            model.learn_one(document, labels[i][0] > 0)
        return proba

    def ours(predict: bool) -> np.ndarray:
        model = BayesOnlineClassifier(scale=1.0, intercept_scale=1.0)
        proba = np.full(N_DOCS, 0.5)
        model.partial_fit(rows[0], labels[0], classes=[-1, 1])
        for i in range(1, N_DOCS):
            if predict:
                proba[i] = model.predict_proba(rows[i])[0, 1]
            model.partial_fit(rows[i], labels[i])
        return proba

    def block() -> np.ndarray:
        """The predictions before each document was learnt are part of what ``learn`` returns."""
        prob = np.exp(prior.learn(X, y, likelihood)[1].log_prob[:, 0])
        return np.where(y > 0.0, prob, 1.0 - prob)

    block(), ours(True)
    times, proba = {}, {}
    for _ in range(REPEATS):  # in turn, so that a busy minute strikes both
        for name, run in (("theirs", theirs), ("ours", ours)):
            for predict in (False, True):
                seconds, proba[name] = fastest(lambda run=run, predict=predict: run(predict), 1)
                times[name, predict] = min(seconds, times.get((name, predict), math.inf))
    block_time, block_proba = fastest(block, 5)
    gap = max(np.abs(one - proba["theirs"]).max() for one in (block_proba, proba["ours"]))
    print(f"predictions of all three differ by {gap:.0e}; documents a second:")
    for name, label in (("theirs", "river AdPredictor, one a call"), ("ours", "textbayes, one a call")):
        alone, both = (N_DOCS / times[name, predict] for predict in (False, True))
        print(f"{label:32} learn {alone:10,.0f}   predict and learn {both:10,.0f}")
    print(f"{'textbayes, a block':32}       {'':10}   predict and learn {N_DOCS / block_time:10,.0f}")
    if gap >= 1e-9:
        return 0.0, 0.0, 0.0
    alone, both = (times["theirs", predict] / times["ours", predict] for predict in (False, True))
    return times["theirs", True] / block_time, alone, both


def transcription(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """§ 3.1.1, steps 1–8, in NumPy; the bias is the first column of X."""
    a, C = np.zeros(X.shape[1]), np.eye(X.shape[1])
    for x, outcome in zip(X, y, strict=True):
        s = C @ x
        sigma = math.sqrt(NOISE**2 + x @ s)
        u = outcome * (a @ x) / sigma
        p = 0.5 * math.erfc(-u / math.sqrt(2.0))
        phi = math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
        a = a + s * (outcome / sigma * phi / p)
        C = C - np.outer(s, s) * ((u * phi / p + (phi / p) ** 2) / sigma**2)
    return a


def beside_numpy(X: sparse.csr_matrix, Y: np.ndarray, words: list[np.ndarray], n_docs: int = 400) -> float:
    """The categories that have 300 words, on both cores; NumPy on the first documents of each."""
    full = [label for label, own in enumerate(words) if len(own) == 300]
    outcomes = np.ascontiguousarray(Y[:, full])
    priors = [FullPosterior.start(words[label]) for label in full]
    dense = [np.hstack([np.ones((n_docs, 1)), X[:n_docs, words[label]].toarray()]) for label in full]

    def theirs() -> list[np.ndarray]:
        return [transcription(rows, outcomes[:n_docs, k]) for k, rows in enumerate(dense)]

    one_core, _ = fastest(lambda: Bank(priors).learn(X, outcomes, PAPER_PROBIT), 3)
    their_time, means = fastest(theirs, 3)
    both_cores, _ = fastest(lambda: Bank(priors, n_jobs=2).learn(X, outcomes, PAPER_PROBIT), 3)
    start = Bank(priors).learn(X[:n_docs], outcomes[:n_docs], PAPER_PROBIT)[0]
    gap = max(np.abs(one.mean - mean).max() for one, mean in zip(start, means, strict=True))
    per_document = their_time / n_docs, one_core / X.shape[0], both_cores / X.shape[0]
    numpy_time, one, both = (1e6 * seconds / len(full) for seconds in per_document)
    print(
        f"full covariance, {len(full)} categories with 300 words, µs a document: NumPy {numpy_time:.0f}, "
        f"ours {one:.1f} on one core, {both:.1f} on two; means differ by {gap:.0e}"
    )
    return numpy_time / min(one, both) if gap < 1e-8 else 0.0  # a busy machine may have one core to give


@njit(cache=False)
def plain_loop(indptr, indices, data, y, mean, cov, noise_variance):  # type: ignore[no-untyped-def]
    """One document after the other: s = C x over its words, then mean and covariance."""
    d = len(mean)
    s = np.empty(d)
    for i in range(len(y)):
        s[:] = cov[0]
        center = mean[0]
        for t in range(indptr[i], indptr[i + 1]):
            center += data[t] * mean[indices[t]]
            for j in range(d):
                s[j] += data[t] * cov[indices[t], j]
        spread = s[0]
        for t in range(indptr[i], indptr[i + 1]):
            spread += data[t] * s[indices[t]]
        sigma = math.sqrt(noise_variance + spread)
        u = y[i] * center / sigma
        ratio = math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi) / (0.5 * math.erfc(-u / math.sqrt(2.0)))
        first, second = y[i] * ratio / sigma, -ratio * (ratio + u) / sigma**2
        for a in range(d):
            mean[a] += first * s[a]
            for j in range(d):
                cov[a, j] += second * s[a] * s[j]


def beside_loop(X: sparse.csr_matrix, Y: np.ndarray, words: list[np.ndarray]) -> float:
    bank = Bank([FullPosterior.start(own) for own in words], n_jobs=2)
    bank.learn(X[:50], Y[:50], PAPER_PROBIT)
    our_time, learnt = fastest(lambda: bank.learn(X, Y, PAPER_PROBIT, passes=3)[0], 2)
    rows = [one._rows(X) for one in bank]
    plain_loop(*rows[0], np.zeros(0), np.zeros(3), np.eye(3), NOISE**2)
    means = []
    start = time.perf_counter()
    for label, own in enumerate(words):
        mean, cov, y = np.zeros(len(own) + 1), np.eye(len(own) + 1), np.ascontiguousarray(Y[:, label])
        for _ in range(3):
            plain_loop(*rows[label], y, mean, cov, NOISE**2)
        means.append(mean)
    their_time = time.perf_counter() - start
    gap = max(np.abs(one.mean - mean).max() for one, mean in zip(learnt, means, strict=True))
    print(f"90 perceptrons, three passes: loop {their_time:.1f} s, ours {our_time:.1f} s; means differ by {gap:.0e}")
    return their_time / our_time if gap < 1e-8 else 0.0


def main() -> None:
    river = beside_river()
    X, Y, words = reuters_problem()
    numpy_ratio = beside_numpy(X, Y, words)
    loop = beside_loop(X, Y, words)
    passed = numpy_ratio >= NUMPY_BAR and loop >= LOOP_BAR
    first = "AdPredictor not installed"
    if river is not None:
        block, alone, both = river
        passed &= block >= RIVER_BAR and alone >= SINGLE_BAR
        first = (
            f"AdPredictor: {alone:.1f}x one document a call (bar {SINGLE_BAR:g}x), {both:.1f}x with a prediction each, "
            f"{block:.0f}x in a block (bar {RIVER_BAR:g}x)"
        )
    rest = f"{numpy_ratio:.0f}x NumPy (bar {NUMPY_BAR:g}x), {loop:.1f}x a compiled loop (bar {LOOP_BAR:g}x)"
    close("online speed", passed, f"{first}; {rest}")


if __name__ == "__main__":
    main()

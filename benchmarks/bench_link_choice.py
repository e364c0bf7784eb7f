"""Link and scale chosen by validation F1, as Eyheramendy & Madigan do, and by log-loss: test F1 and log-loss, Reuters.

The documents, splits and grid (ν, γ, δ) of their experiment: five random splits, 125 points for each of ten categories.
100 words by information gain on the training part. Each category is fitted at its choice to training and validation
documents, and decides the test documents at probability ½. The choice by log-loss must have the lower log-loss on each
split, and a macro-F1 within half a point of the choice by F1 in the mean.

    python benchmarks/bench_link_choice.py
"""

from __future__ import annotations

import time

import numpy as np

from _common import close
from textbayes.evaluate import contingency, f_measure
from textbayes.reproduce.flexlink.systems import N_SPLITS, Grid, choose_words, derived_rate, documents, random_split
from textbayes.tune import BayesLinearClassifierCV

HALF_A_POINT = 0.005
GRID = Grid()
LINKS = f"auto:df={list(GRID.dfs)},skew={list(GRID.skews)}"
SCALES = sorted(1.0 / derived_rate(gamma) for gamma in GRID.gammas)


def outcomes(scoring: str, number: int) -> tuple[float, float, float]:
    """Micro-F1, macro-F1 and log-loss per decision on the test documents of a split."""
    X, Y = documents()
    split = random_split(number, len(Y))
    words = np.flatnonzero(choose_words(X[split.train], Y[split.train], "sum").any(axis=0))
    fitted = np.concatenate([split.train, split.validation])
    place = np.arange(len(fitted))
    validation = [(place[: len(split.train)], place[len(split.train) :])]
    model = BayesLinearClassifierCV(LINKS, scales=SCALES, cv=validation, scoring=scoring, tol=1e-3, n_jobs=-1)
    p = model.fit(X[fitted][:, words], Y[fitted].astype(int)).predict_proba(X[split.test][:, words])
    truth = Y[split.test]
    counts = contingency(truth, p > 0.5)
    right, wrong = (truth & (p > 0.5)).sum(), (truth != (p > 0.5)).sum()
    loss = -np.log(np.clip(np.where(truth, p, 1.0 - p), 1e-12, 1.0)).mean()
    return 2.0 * right / (2.0 * right + wrong), float(f_measure(counts).mean()), float(loss)


def main() -> None:
    found = {}
    for scoring in ("f1", "log_loss"):
        start = time.perf_counter()
        found[scoring] = np.array([outcomes(scoring, number) for number in range(1, N_SPLITS + 1)])
        for number, row in enumerate(found[scoring], start=1):
            print(f"{scoring:8} split {number}: micro-F1 {row[0]:.3f}, macro-F1 {row[1]:.3f}, log-loss {row[2]:.4f}")
        print(f"{scoring:8} {time.perf_counter() - start:.0f} s", flush=True)
    by_f1, by_loss = found["f1"], found["log_loss"]
    better = bool((by_loss[:, 2] < by_f1[:, 2]).all())
    gap = float(by_loss[:, 1].mean() - by_f1[:, 1].mean())
    close(
        "link_choice",
        better and gap > -HALF_A_POINT,
        "; ".join(
            f"by {name} micro-F1 {micro:.3f}, macro-F1 {macro:.3f}, log-loss {loss:.4f}"
            for name, (micro, macro, loss) in (("F1", by_f1.mean(axis=0)), ("log-loss", by_loss.mean(axis=0)))
        ),
    )


if __name__ == "__main__":
    main()

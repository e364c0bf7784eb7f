"""Copies of texts do not leak into held-out figures.

``python benchmarks/bench_duplicates.py [--draws 10] [--budget quick]``

Noise: 100 texts of random words, each five times, with one of two labels by lot that its copies share; and the same
with one word of 60 changed in each copy. There is nothing to learn but the texts by heart, so that held-out accuracy
must be that of chance: the mean of the draws has to lie within its 95 % interval, that of as many different texts. Real
texts: copies of a fifth of BBC and of the movie reviews are added, and the held-out accuracy may move by .005 in the
mean of the draws. All texts of both corpora are used, with the budget "quick", which has three folds and fewer members:
some minutes on two cores; ``--budget normal`` takes about five times as long.
"""

from __future__ import annotations

import argparse
from math import sqrt

import numpy as np

from _common import close
from textbayes import TextCategorizer
from textbayes.data import load_corpus

N_TEXTS, N_TIMES, N_WORDS = 100, 5, 60
VOCABULARY = np.array([f"word{number}" for number in range(2_000)])
SHARE = 0.2  # of the texts, copied
MOST_MOVED = 0.005  # of held-out accuracy
INTERVAL = 1.96  # standard errors


def held_out_accuracy(texts: list[str], labels: list[str], budget: str) -> float:
    """Accuracy of the cross-validation of an automatic training."""
    return float(TextCategorizer(budget=budget).fit(texts, labels).held_out_["accuracy"])


def noise(seed: int, changed: bool) -> tuple[list[str], list[str]]:
    """Texts of random words, each several times, and labels by lot, as many of either."""
    rng = np.random.default_rng(seed)
    originals = rng.choice(VOCABULARY, (N_TEXTS, N_WORDS))
    labels = rng.permutation(N_TEXTS) % 2
    texts = []
    for number in range(N_TIMES):
        for words in originals:
            copy = words.copy()
            if changed and number:
                copy[rng.integers(N_WORDS)] = rng.choice(VOCABULARY)
            texts.append(" ".join(copy))
    return texts, [f"label{label}" for label in np.tile(labels, N_TIMES)]


def with_copies(texts: list[str], labels: list[str], seed: int) -> tuple[list[str], list[str]]:
    """The texts and copies of some of them."""
    copied = np.random.default_rng(seed).choice(len(texts), int(SHARE * len(texts)), replace=False)
    return texts + [texts[i] for i in copied], labels + [labels[i] for i in copied]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--budget", choices=("quick", "normal", "thorough"), default="quick")
    given = parser.parse_args()
    told, passed = [], True
    half = INTERVAL * sqrt(0.25 / (N_TEXTS * given.draws))
    for changed in (False, True):
        found = [held_out_accuracy(*noise(seed, changed), given.budget) for seed in range(given.draws)]
        name = "near copies of noise" if changed else "copies of noise"
        print(f"{name}: held-out accuracy {', '.join(f'{one:.3f}' for one in found)}", flush=True)
        told.append(f"{name} {np.mean(found):.3f} (chance 0.5 ± {half:.3f})")
        passed &= abs(float(np.mean(found)) - 0.5) <= half
    for corpus in ("bbc", "movie_reviews"):
        whole = load_corpus(corpus)
        texts, labels = list(whole.texts), [label for (label,) in whole.labels]
        base = held_out_accuracy(texts, labels, given.budget)
        found = [held_out_accuracy(*with_copies(texts, labels, seed), given.budget) for seed in range(given.draws)]
        moved = float(np.mean(found)) - base
        print(f"{corpus}: {base:.4f} without copies; {', '.join(f'{one:.4f}' for one in found)}", flush=True)
        told.append(f"{corpus} moved by {moved:+.4f} (bar {MOST_MOVED:g})")
        passed &= abs(moved) <= MOST_MOVED
    close("duplicates", passed, ", ".join(told))


if __name__ == "__main__":
    main()

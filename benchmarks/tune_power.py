"""What is left to gain by raising probabilities of classes to a power: of texts held out of training parts alone.

``python benchmarks/tune_power.py [corpus …] [--texts N]``

Of the training texts of each corpus with several classes a quarter is held out: once at random, and once the last of
each class in the order of the corpus, which in most is that of time. The categorizer learns from the others, or from
some of them (``--texts``). The power g is the one that makes p^g, normalised, fit the held-out texts best: below one
where the model was too sure. Log-losses are as the model has them and with that power. Test parts are not read.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import optimize, special

from _tasks import TASKS
from textbayes import TextCategorizer

CORPORA = ("20newsgroups", "arxiv_titles", "subjects", "reuters_single", "bbc", "openstax")
SHARE = 0.25


def at_random(classes: np.ndarray) -> np.ndarray:
    """A quarter of the texts."""
    return np.random.default_rng(0).random(len(classes)) < SHARE


def the_last(classes: np.ndarray) -> np.ndarray:
    """The last quarter of the texts of each class."""
    held = np.zeros(len(classes), dtype=bool)
    for one in np.unique(classes):
        rows = np.flatnonzero(classes == one)
        held[rows[int(np.ceil((1.0 - SHARE) * len(rows))) :]] = True
    return held


def best_power(proba: np.ndarray, own: np.ndarray) -> tuple[float, float, float]:
    """The power, and log-losses without it and with it."""
    log_p = np.log(np.clip(proba, 1e-15, 1.0))

    def loss(g: float) -> float:
        return float((special.logsumexp(g * log_p, axis=1) - g * log_p[np.arange(len(own)), own]).mean())

    found = optimize.minimize_scalar(loss, bounds=(0.5, 1.5), method="bounded")
    return float(found.x), loss(1.0), float(found.fun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpora", nargs="*", default=CORPORA, metavar="corpus")
    parser.add_argument("--texts", type=int, help="to learn from; all that are not held out if not given")
    options = parser.parse_args()
    powers = []
    for name in options.corpora:
        task = TASKS[name]()
        train = task.parts[0][0]
        texts, classes = [task.texts[i] for i in train], np.array([task.labels[i] for i in train])
        for how, hold in (("random", at_random), ("later", the_last)):
            held = hold(classes)
            learnt = np.random.default_rng(1).permutation(np.flatnonzero(~held))[: options.texts]
            learnt.sort()
            model = TextCategorizer(n_jobs=-1).fit([texts[i] for i in learnt], classes[learnt])
            judged = np.flatnonzero(held & np.isin(classes, model.classes_))
            proba = model.predict_proba([texts[i] for i in judged])
            g, before, after = best_power(proba, np.searchsorted(model.classes_, classes[judged]))
            powers.append(g)
            print(
                f"{name:16} {how:7} {len(learnt):>7,} learnt, {len(judged):>6,} held out: power {g:.3f}, log-loss "
                f"{before:.4f}, with it {after:.4f}",
                flush=True,
            )
    print(f"power: {np.exp(np.mean(np.log(powers))):.3f} on the average; 1 is nothing left to gain")


if __name__ == "__main__":
    main()

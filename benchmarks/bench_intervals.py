"""Do intervals of probabilities hold what they promise? ``python benchmarks/bench_intervals.py [--quick]``

The 95 % interval that ``classify --intervals`` prints is of the share of texts with a label among those that are given
the same probability. Of a model that was trained with ``--intervals`` it also holds the probability that a model of as
many other texts would give. Measured are automatic training and the preset ``linear``:

- simulated data: texts of random words, labels drawn with known probabilities from weights that are drawn anew for each
  of 2,000 labels (1,000 for each preset). The share among texts of one score is the mean of the known probabilities
  of new texts around it. Bar: the intervals hold it for 93 to 97 % of texts.
- BBC news and movie reviews, resampled: fits to training texts drawn at random; the other texts are put into groups of
  a hundred by their probability. The number of texts with the label must lie within the 95 % interval that the
  interval of the share and chance among a hundred texts give together. Bar: for 93 % of groups or more.
- the same with ``--intervals``: two fits to different texts, each trained on its own. Bar: the intervals of one hold
  the probabilities of the other for 93 % of texts or more. Beside it the same without ``--intervals``, which does not
  promise it.
- simulated documents, ``BayesLinearClassifier``: weights are drawn from the prior, 2,000 labels. Bar: the credible
  interval holds the known probability of 93 to 97 % of new documents.
- simulated weights: the 95 % intervals of words of a Laplace prior whose weights are drawn from it. Bar: 93 to 97 %.

Mean widths are printed with each. Two cores take about twenty minutes.
"""

from __future__ import annotations

import argparse
import string
import sys
from typing import NamedTuple

import numpy as np
from scipy import ndimage, sparse, special

from _common import close
from textbayes import BayesLinearClassifier, TextCategorizer
from textbayes.data import load_corpus
from textbayes.posterior.intervals import centred_interval

LEVEL = 0.95
LABELS = 50  # of one simulated training
DESIGNS = [  # texts, words of the language, words of a text, share of words with a weight, size of weights
    (150, 300, 30, 0.2, 1.0),
    (400, 1500, 40, 0.1, 1.5),
    (400, 150, 12, 0.3, 0.7),
    (800, 300, 30, 0.2, 1.0),
]
NEW = 8_000
AROUND = 201  # new texts whose known probabilities are averaged
GROUP = 100


def simulated_texts(rng: np.random.Generator, n: int, n_words: int, length: int) -> np.ndarray:
    """Which words each text has: the frequency of words falls with their rank, as in languages."""
    frequency = 1.0 / np.arange(3, n_words + 3)
    return rng.multinomial(length, frequency / frequency.sum(), size=n) > 0


def as_texts(has: np.ndarray) -> list[str]:
    """Texts of made-up words."""
    letters = string.ascii_lowercase
    names = np.array(["q" + letters[j // 676] + letters[j // 26 % 26] + letters[j % 26] for j in range(has.shape[1])])
    return [" ".join(names[row]) for row in has]


def simulated_coverage(preset: str, seed: int) -> tuple[float, float]:
    """Share of new texts whose interval holds the true share of its label, and the mean width of intervals."""
    n, n_words, length, density, size = DESIGNS[seed % len(DESIGNS)]
    rng = np.random.default_rng([2026, seed])
    has, new = (simulated_texts(rng, m, n_words, length) for m in (n, NEW))
    weights = rng.normal(0.0, size, (n_words, LABELS)) * (rng.random((n_words, LABELS)) < density)
    eta = has @ weights
    bias = -np.array([np.quantile(eta[:, k], rng.uniform(0.4, 0.9)) for k in range(LABELS)])
    labels = rng.random(eta.shape) < special.expit(eta + bias)
    truth = special.expit(new @ weights + bias)
    model = TextCategorizer(preset=preset).fit(as_texts(has), labels.astype(int))
    texts = as_texts(new)
    proba, (low, high) = model.predict_proba(texts), model.predict_interval(texts, LEVEL)
    held, width = np.empty(LABELS), np.empty(LABELS)
    for k in range(LABELS):
        order = np.argsort(proba[:, k], kind="stable")
        share = ndimage.uniform_filter1d(truth[order, k], AROUND, mode="nearest")
        ends = low[order, k], high[order, k]
        held[k], width[k] = np.mean((ends[0] <= share) & (share <= ends[1])), np.mean(ends[1] - ends[0])
    return float(held.mean()), float(width.mean())


class Resampled(NamedTuple):
    """Coverage and mean widths over resampled trainings: of the share, and with ``intervals`` of other fits."""

    groups: float
    width: float
    other_fits: float
    wider: float
    unasked: float


def corpus_coverage(name: str, preset: str, n_train: int, n_draws: int) -> Resampled:
    """Of resampled trainings: groups of other texts within bounds, and probabilities of other fits.

    Each draw cuts the texts in two, trains twice in one half, on different texts, and judges the other half.
    """
    documents = list(load_corpus(name).documents())
    texts, labels = [one.text for one in documents], np.array([one.labels[0] for one in documents])
    within, found = [], []
    for draw in range(n_draws):
        rng = np.random.default_rng([7, draw])
        order = rng.permutation(len(texts))
        judged, others = order[: len(texts) // 2], order[len(texts) // 2 :]
        asked, answers = [texts[i] for i in judged], []
        for rows in (others[:n_train], others[-n_train:]):
            model = TextCategorizer(preset=preset, intervals=True).fit([texts[i] for i in rows], labels[rows])
            proba, wide = model.predict_proba(asked), model.predict_interval(asked, LEVEL)
            band = model.calibration_band_  # as without ``intervals``, which changes nothing else
            model.calibration_band_ = band._replace(refit_sd=np.zeros_like(band.refit_sd))
            low, high = model.predict_interval(asked, LEVEL)
            columns = slice(-low.shape[1], None)
            answers.append((proba[:, columns], (low, high), wide))
            has = labels[judged][:, None] == model.classes_[columns]
            within += groups_within(proba[:, columns], low, high, has, rng)
        for (_, share, wide), (proba, _, _) in (answers, answers[::-1]):
            held = [np.mean((low <= proba) & (proba <= high)) for low, high in (wide, share)]
            found.append([held[0], held[1], np.mean(wide[1] - wide[0]), np.mean(share[1] - share[0])])
    other_fits, unasked, wider, width = (float(one) for one in np.mean(found, axis=0))
    return Resampled(float(np.mean(within)), width, other_fits, wider, unasked)


def groups_within(
    proba: np.ndarray, low: np.ndarray, high: np.ndarray, has: np.ndarray, rng: np.random.Generator
) -> list[bool]:
    """Whether the number of texts with the label is within bounds, for groups of texts of like probability."""
    found = []
    for k in range(proba.shape[1]):
        order = np.argsort(proba[:, k], kind="stable")
        for group in np.array_split(order, max(len(order) // GROUP, 1)):
            ends = special.logit(np.clip([low[group, k], high[group, k]], 1e-9, 1 - 1e-9))
            middle, sd = ends.mean(axis=0), (ends[1] - ends[0]) / (2.0 * special.ndtri(0.5 + LEVEL / 2))
            # Texts of a group share the error of the curve; each has its own chance.
            share = special.expit(middle + sd * rng.normal(size=(2000, 1)))
            counts = (rng.random((2000, len(group))) < share).sum(axis=1)
            bounds = np.quantile(counts, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], method="inverted_cdf")
            found.append(bool(bounds[0] <= has[group, k].sum() <= bounds[1]))
    return found


def posterior_coverage(n_labels: int) -> tuple[float, float]:
    """Share of new documents whose credible interval holds the known probability, and the mean width of intervals."""
    rng = np.random.default_rng(5)
    n, n_new, n_words, scale = 600, 20, 40, 0.7
    X = (rng.random((n + n_new, n_words)) < 0.2).astype(float)
    eta = X @ rng.normal(0.0, scale, (n_words, n_labels)) + rng.normal(size=n_labels)
    labels = special.expit(eta[:n]) > rng.random((n, n_labels))
    usual = np.abs(labels.mean(axis=0) - 0.5) < 0.49  # the others have next to no documents on one side
    model = BayesLinearClassifier(prior="gaussian", scale=scale, intercept_scale=1.0, intervals=True, tol=1e-4)
    model.fit(sparse.csr_matrix(X[:n]), labels[:, usual].astype(int))
    low, high = model.predict_interval(sparse.csr_matrix(X[n:]), LEVEL)
    truth = special.expit(eta[n:][:, usual])
    return float(np.mean((low <= truth) & (truth <= high))), float((high - low).mean())


def weight_coverage(n_trials: int) -> tuple[float, float]:
    """Share of words kept by a Laplace prior whose interval holds the weight that was drawn, and its mean width."""
    held, width = [], []
    for n, n_words, scale in ((300, 40, 0.5), (600, 100, 0.5), (1000, 100, 0.5)):
        rng = np.random.default_rng([11, n, n_words])
        X = (rng.random((n, n_words)) < 0.3).astype(float)
        weights = rng.laplace(0.0, scale, (n_trials, n_words))
        labels = special.expit(X @ weights.T + rng.normal(size=n_trials)) > rng.random((n, n_trials))
        usual = np.abs(labels.mean(axis=0) - 0.5) < 0.45
        model = BayesLinearClassifier(prior="laplace", scale=scale, intervals=True, tol=1e-5)
        model.fit(sparse.csr_matrix(X), labels[:, usual].astype(int))
        low, high = centred_interval(model.coef_, model.standard_errors_, model.approximation_.mean_shifts()[0], LEVEL)
        known = np.isfinite(low)
        held.append(np.mean(((low <= weights[usual]) & (weights[usual] <= high))[known]))
        width.append(np.mean((high - low)[known]))
    return float(np.mean(held)), float(np.mean(width))


def main() -> None:
    """Print what intervals hold, and close with the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the draws")
    quick = parser.parse_args().quick
    passed, told, others = True, [], []
    for preset in ("linear", "auto"):
        simulated = [simulated_coverage(preset, seed) for seed in range(4 if quick else 1_000 // LABELS)]
        held, width = np.mean(simulated, axis=0)
        passed &= 0.93 <= held <= 0.97
        told.append(f"{preset} {held:.3f}")
        print(f"simulated, {preset}: {held:.3f} of intervals hold (bar .93 to .97), mean width {width:.3f}")
        sys.stdout.flush()
    for name, n_train in (("bbc", 300), ("movie_reviews", 500)):
        for preset in ("linear", "auto"):
            found = corpus_coverage(name, preset, n_train, 2 if quick else 10)
            passed &= found.groups >= 0.93 and found.other_fits >= 0.93
            told.append(f"{name} {preset} {found.groups:.3f}")
            others.append(f"{name} {preset} {found.other_fits:.3f}")
            print(
                f"{name}, {preset}, {n_train} texts: {found.groups:.3f} of groups of {GROUP} within bounds (bar .93), "
                f"mean width {found.width:.3f}; with --intervals probabilities of fits to other texts "
                f"{found.other_fits:.3f} (bar .93), mean width {found.wider:.3f}; without {found.unasked:.3f}"
            )
            sys.stdout.flush()
    held, width = posterior_coverage(400 if quick else 2_000)
    passed &= 0.93 <= held <= 0.97
    told.append(f"posterior {held:.3f}")
    print(f"known probabilities, BayesLinearClassifier: {held:.3f} hold (bar .93 to .97), mean width {width:.3f}")
    held, width = weight_coverage(60 if quick else 200)
    passed &= 0.93 <= held <= 0.97
    told.append(f"weights {held:.3f}")
    print(f"weights of a Laplace prior: {held:.3f} of intervals hold (bar .93 to .97), mean width {width:.3f}")
    shares = "95 % intervals of the share of texts with a label among those of one probability hold: " + ", ".join(told)
    refits = "; with --intervals the probabilities of fits to other texts: " + ", ".join(others)
    close("intervals", bool(passed), shares + refits)


if __name__ == "__main__":
    main()

"""Ten documents and a description: what priors from the Reuters descriptions are worth, and what wrong ones cost.

For each of the 10 largest Reuters categories a logistic regression learns from 10 documents of the category and 100
others, drawn at random from the ModApte training set, and is judged by F1 at probability 0.5 on the whole test set. The
same model then learns with priors from the category's line in ``cat-descriptions_120396.txt`` (of the distribution) and
its name, and once more with the line and name of another category, drawn so that none has its own. How far to follow
either is chosen by cross-validation on those 110 documents, in the same way for both. Corn, grain and wheat have no
description there, so that their names are all that is known of them.

The model is the dense member of the default pool. Its words are those in two of the 110 documents or more and those of
the table; both sides have the same. Nothing was chosen on the test set: the strength of "for" and the caution of the
choice come from splits of training documents (``textbayes.knowledge.informative_prior``). For information, the default
classifier and the sparse member of the pool are run on a quarter of the seeds: what a description adds depends on how
much a model finds by itself.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import stats

from _common import close
from textbayes.categorizer.presets import default_models, default_vectorizer, default_weighting
from textbayes.data import corpus_path, load_corpus
from textbayes.data.archives import iter_members
from textbayes.evaluate import contingency, f_measure
from textbayes.knowledge import (
    WordPriors,
    from_descriptions,
    from_names,
    match_priors,
    words_of,
)
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.tune import choose_weight

N_SEEDS, N_SEEDS_OTHERS = 20, 5
N_POSITIVE, N_NEGATIVE = 10, 100
GAIN_BAR, COST_BAR = 0.10, 0.01
WITHOUT, RIGHT, WRONG, RIGHT_IN_FULL, WRONG_IN_FULL = range(5)


def descriptions() -> dict[str, str]:
    """Category → description, of the subject codes; "" where the file gives the code alone."""
    place = corpus_path("reuters21578")
    assert place is not None, "the corpus is there, or loading it would have failed"
    archive = next((file for file in sorted(place.glob("*")) if file.suffix in (".xz", ".gz", ".tgz", ".zip")), place)
    name = "cat-descriptions_120396.txt"
    text = next(stream.read().decode("latin-1") for path, stream in iter_members(archive) if path.endswith(name))
    lines = text[text.index("****Subject Codes") : text.index("@heading")].splitlines()
    found = {}
    for line in map(str.strip, lines):
        if described := re.fullmatch(r"(.+?)\s*\(([A-Z-]+)\)", line):
            found[described[2].lower()] = described[1]
        elif re.fullmatch(r"[A-Z-]+", line):
            found[line.lower()] = ""
    return found


class Trial:
    """The corpus as counts, and what one sample of it gives."""

    def __init__(self) -> None:
        corpus = load_corpus("reuters21578", topics="top10")
        vectorizer = default_vectorizer().set_params(min_df=1)
        self.labels = list(corpus.label_names)
        self.train, self.test = vectorizer.fit_transform(corpus.train.texts), vectorizer.transform(corpus.test.texts)
        self.Y_train, self.Y_test = corpus.train.encode()[0], corpus.test.encode()[0]
        self.terms = vectorizer.get_feature_names_out()
        analyze, described = words_of(vectorizer), descriptions()
        self.tables = {}
        for label in self.labels:
            sources = from_names([label], analyze), from_descriptions({label: described[label]}, analyze)
            self.tables[label] = list(WordPriors.merge(sources))

    def f1(
        self, classifier: BayesLinearClassifier, seed: int, label: int, wrong: int
    ) -> tuple[list[float], list[float]]:
        """F1 on the test set without knowledge, with the right and the wrong one, and either in full; the weights."""
        rng = np.random.default_rng([seed, label])
        y = self.Y_train[:, label]
        positive = rng.choice(np.flatnonzero(y), N_POSITIVE, replace=False)
        negative = rng.choice(np.flatnonzero(~y), N_NEGATIVE, replace=False)
        sample = np.concatenate([positive, negative])
        name = self.labels[label]
        right, other = self.tables[name], [row._replace(label=name) for row in self.tables[self.labels[wrong]]]
        frequency = np.bincount(self.train[sample].indices, minlength=len(self.terms))
        known = np.isin(self.terms, [row.word for row in right + other])
        columns = np.flatnonzero((frequency >= 2) | known)
        weighting = default_weighting()
        X, T = weighting.fit_transform(self.train[sample][:, columns]), weighting.transform(self.test[:, columns])

        def score(model: BayesLinearClassifier) -> float:
            decisions = model.fit(X, y[sample]).decision_function(T) > 0.0
            return float(f_measure(contingency(self.Y_test[:, label], decisions))[0])

        figures, weights, in_full = [score(classifier)], [], []
        for table in (right, other):
            matched = match_priors(table, self.terms[columns], [name])
            chosen = choose_weight(classifier, X, y[sample], matched).weight
            weights.append(float(chosen[0]))
            figures.append(score(classifier.with_prior(matched, X, chosen)))
            in_full.append(score(classifier.with_prior(matched, X, 1.0)))
        return figures + in_full, weights


def others(n_labels: int, seed: int) -> Any:
    """Another label for each label, each once."""
    rng = np.random.default_rng([seed, n_labels])
    while (order := rng.permutation(n_labels))[order == np.arange(n_labels)].size:
        pass
    return order


def interval(differences: Any) -> tuple[float, float, float]:
    """Mean of the differences over the seeds, and its 95% interval by Student's t."""
    mean, error = differences.mean(), stats.sem(differences)
    half = stats.t.ppf(0.975, len(differences) - 1) * error
    return float(mean), float(mean - half), float(mean + half)


def run(trial: Trial, classifier: BayesLinearClassifier, n_seeds: int, title: str) -> tuple[Any, Any]:
    """Macro-F1 (n_seeds, 5), printed with the weights chosen; the gain and the cost with their intervals."""
    figures, weights = [], []
    for seed in range(n_seeds):
        wrong = others(len(trial.labels), seed)
        parts = [trial.f1(classifier, seed, label, int(wrong[label])) for label in range(len(trial.labels))]
        figures.append([part[0] for part in parts])
        weights.append([part[1] for part in parts])
    by_label = np.array(figures)
    macro, share = by_label.mean(axis=1), np.array(weights).mean(axis=(0, 1))
    mean = macro.mean(axis=0)
    print(f"{title}, {n_seeds} seeds: macro-F1 without knowledge {mean[WITHOUT]:.3f}")
    for what, chosen, full, weight in (
        ("right", RIGHT, RIGHT_IN_FULL, share[0]),
        ("wrong", WRONG, WRONG_IN_FULL, share[1]),
    ):
        difference, low, high = interval(macro[:, chosen] - macro[:, WITHOUT])
        print(
            f"  {what} description: {mean[chosen]:.3f}, {difference:+.3f} [{low:+.3f}, {high:+.3f}], mean weight "
            f"{weight:.2f}; followed in full {mean[full]:.3f}"
        )
    if title.startswith("dense"):
        print("  category    without   right   wrong")
        for label, name in enumerate(trial.labels):
            print(
                f"  {name:10}" + "".join(f"{by_label[:, label, what].mean():8.3f}" for what in (WITHOUT, RIGHT, WRONG))
            )
    return interval(macro[:, RIGHT] - macro[:, WITHOUT]), interval(macro[:, WRONG] - macro[:, WITHOUT])


def main() -> None:
    trial = Trial()
    for label, rows in trial.tables.items():
        print(f"{label:9}", *(row.word for row in rows))
    sparse, dense = default_models()
    run(trial, BayesLinearClassifier(), N_SEEDS_OTHERS, "library default (Laplace, scale 1)")
    run(trial, sparse, N_SEEDS_OTHERS, "sparse member of the default pool (Laplace, scale 10)")
    gain, cost = run(trial, dense, N_SEEDS, "dense member of the default pool (Gaussian, scale 5.5)")
    passed = gain[0] >= GAIN_BAR and gain[1] > 0.0 and -cost[0] < COST_BAR
    close(
        "knowledge",
        passed,
        f"descriptions add {100 * gain[0]:.1f} points of macro-F1 [{100 * gain[1]:.1f}, {100 * gain[2]:.1f}] (bar "
        f"{100 * GAIN_BAR:.0f}), wrong ones {100 * cost[0]:+.1f} [{100 * cost[1]:+.1f}, {100 * cost[2]:+.1f}] (bar "
        f"−{100 * COST_BAR:.0f})",
    )


if __name__ == "__main__":
    main()

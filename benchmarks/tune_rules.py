"""Decision rules for labels that go together, compared on training texts alone.

``python benchmarks/tune_rules.py [reuters] [ohsumed] [--budget normal]``

The categorizer is trained on the training part of each corpus, which leaves a probability of every label for every text
by models that had not seen it. Each rule learns its thresholds from four fifths of these and decides on the fifth; the
decisions of all fifths together are judged by micro- and macro-F1. The test part is not read.
"""

from __future__ import annotations

import argparse

import numpy as np

from _tasks import TASKS
from textbayes import TextCategorizer
from textbayes.core.folds import stratified_folds
from textbayes.decide import make_rule
from textbayes.evaluate import contingency, f_measure

RULES = ("shrunk_f1", "pcut", "pcut:strength=0", "pcut:strength=5", "pcut:strength=20", "pcut:strength=35",
         "pcut:strength=100", "fixed:threshold=0.5")  # fmt: skip
N_FOLDS = 5


def cross_fitted(rule: str, proba: np.ndarray, Y: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Decisions on each fold by thresholds that the others gave."""
    decisions = np.zeros(Y.shape, dtype=bool)
    for k in range(N_FOLDS):
        held = fold == k
        decisions[held] = make_rule(rule).fit(proba[~held], Y[~held]).decide(proba[held])
    return decisions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpora", nargs="*", default=["reuters", "ohsumed"], metavar="corpus")
    parser.add_argument("--budget", choices=("quick", "normal", "thorough"), default="normal")
    options = parser.parse_args()
    for name in options.corpora:
        task = TASKS[name]()
        (train, _), *_ = task.parts
        labels = [task.labels[i] for i in train]
        model = TextCategorizer(budget=options.budget, n_jobs=-1).fit([task.texts[i] for i in train], labels)
        held = model.label_space_.class_names
        Y = np.array([[label in row for label in held] for row in labels])
        fold = stratified_folds(Y, N_FOLDS, 1)
        print(f"== {name}: {len(train):,} training texts, {len(held)} labels")
        for rule in RULES:
            table = contingency(Y, cross_fitted(rule, model.held_out_proba_, Y, fold))
            micro, macro = f_measure(table, "micro"), f_measure(table, "macro")
            print(f"{rule:24} micro-F1 {micro:.4f}  macro-F1 {macro:.4f}", flush=True)


if __name__ == "__main__":
    main()

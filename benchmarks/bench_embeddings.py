"""Sentence vectors beside words: what they gain with few training texts, what they cost, and whether auto knows it.

``python benchmarks/bench_embeddings.py [--tasks bbc subjects] [--sizes 50 200] [--seeds 3] [--judged 300]``

Needs ``pip install 'textbayes[embeddings]'``. Of the training rows of each task some are drawn to learn from and others
to be judged by; no test row is read. For each task and size, over all seeds: accuracy and log-loss per text without
sentence vectors and with them, how often the pool kept them, and seconds of training. The bar: with them the log-loss
is nowhere worse by more than a fiftieth.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import _tasks
from _common import close
from textbayes import TextCategorizer
from textbayes.text.sentences import PACKAGED

CHOICES = ("off", PACKAGED)
ALLOWED = 0.02  # of the log-loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=["bbc", "subjects", "sentences", "arxiv_titles"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 200])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--judged", type=int, default=300)
    options = parser.parse_args()
    worst = -np.inf
    print(f"{'task':<14}{'texts':>6}{'':>4}{'accuracy':>16}{'log-loss':>18}{'kept':>8}{'seconds':>16}")
    for name in options.tasks:
        task = getattr(_tasks, name)()
        for size in options.sizes:
            found = np.array([compare(task, size, options.judged, seed) for seed in range(options.seeds)])
            right, loss, (_, kept), seconds = found.mean(axis=0).T
            worst = max(worst, loss[1] / loss[0] - 1.0)
            told = f"{right[0]:>8.3f}{right[1]:>8.3f}{loss[0]:>10.4f}{loss[1]:>8.4f}{kept:>8.0%}"
            told += f"{seconds[0]:>8.1f}{seconds[1]:>8.1f}"
            print(f"{name:<14}{size:>6}{'':>4}{told}", flush=True)
    close("embeddings", worst <= ALLOWED, f"log-loss with sentence vectors at most {worst:+.1%} of that without")


def compare(task: _tasks.Task, size: int, judged: int, seed: int) -> list[tuple[float, float, float, float]]:
    """Accuracy, log-loss, whether sentence vectors are read, and seconds of training: without them, and with them."""
    rows = np.random.default_rng(seed).permutation(task.parts[0][0])
    learnt, asked = rows[:size], rows[size : size + judged]
    labels = np.array(task.labels, dtype=object)
    known = np.isin(labels[asked], labels[learnt])  # of a class that was never seen nothing can be learnt
    asked = asked[known]
    found = []
    for embeddings in CHOICES:
        start = time.perf_counter()
        model = TextCategorizer(embeddings=embeddings, n_jobs=-1)
        model.fit([task.texts[i] for i in learnt], labels[learnt].tolist())
        seconds = time.perf_counter() - start
        proba = model.predict_proba([task.texts[i] for i in asked])
        right = np.searchsorted(model.classes_.astype(str), labels[asked].astype(str))
        own = np.maximum(proba[np.arange(len(asked)), right], 1e-15)
        kept = any(view["name"] == "embedding" for view in model.choice_["views"])
        found.append((float((proba.argmax(axis=1) == right).mean()), float(-np.log(own).mean()), float(kept), seconds))
    return found


if __name__ == "__main__":
    main()

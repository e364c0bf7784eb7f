"""From text to probabilities: TextCategorizer beside TfidfVectorizer + logistic regression, in one run.

    python benchmarks/bench_scoring.py [--default]

Without an option both have 90 labels and single words: they are trained on the Reuters training documents and score the
3,299 test documents. scikit-learn's side is its ordinary pipeline: TfidfVectorizer(sublinear_tf) and
OneVsRestClassifier(LogisticRegression(liblinear)).

With ``--default`` ours is the model that ``textbayes train`` makes without any setting, for BBC and Reuters, and
scikit-learn's pipeline reads what most of its members read: single words and word pairs of at least two documents.

Figures are of CPU time, that of all threads together: ours uses all cores, scikit-learn's one.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NoReturn

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import _tasks
from _common import close, reuters
from textbayes import BayesLinearClassifier, TextCategorizer

BAR, BAR_DEFAULT = 4.0, 1.5
REPEATS = 5


def cpu_seconds(models: dict[str, Any], texts: list[str]) -> dict[str, float]:
    """CPU time of the probabilities of all texts, the least of several runs in turn."""
    seconds: dict[str, list[float]] = {who: [] for who in models}
    for _ in range(REPEATS):
        for who, model in models.items():
            start = time.process_time()
            model.predict_proba(texts)
            seconds[who].append(time.process_time() - start)
    return {who: min(times) for who, times in seconds.items()}


def default_model() -> NoReturn:
    ratios = {}
    for name in ("bbc", "reuters"):
        task = getattr(_tasks, name)()
        train, test = task.parts[0]
        texts, labels = [task.texts[i] for i in train], [task.labels[i] for i in train]
        read = [task.texts[i] for i in test]
        ours = TextCategorizer().fit(texts, labels)
        several = LogisticRegression(solver="liblinear")
        theirs = make_pipeline(
            TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2),
            LogisticRegression() if task.exclusive else OneVsRestClassifier(several),
        )
        theirs.fit(texts, labels if task.exclusive else task.encode()[0][train])
        best = cpu_seconds({"textbayes": ours, "scikit-learn": theirs}, read)
        for who, took in best.items():
            print(f"{name:8} {who:14} {len(read) / took:10,.0f} documents a second of CPU")
        ratios[name] = best["scikit-learn"] / best["textbayes"]
    shown = ", ".join(f"{name} {ratio:.2f}x" for name, ratio in ratios.items())
    close(
        "scoring by the default model", min(ratios.values()) >= BAR_DEFAULT,
        f"{shown} TfidfVectorizer of words and pairs + logistic regression, by CPU time (bar {BAR_DEFAULT:g}x)",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--default", action="store_true", help="the model that train makes without any setting")
    if parser.parse_args().default:
        default_model()
    corpus = reuters()
    train, test = corpus.train, corpus.test
    # Scoring time does not depend on how the weights came about, so one member without tuned thresholds will do.
    ours = TextCategorizer(model=BayesLinearClassifier(scale=10.0), rule="fixed", cv=2, n_jobs=-1)
    ours.fit(train.texts, train.encode()[0])
    theirs = make_pipeline(
        TfidfVectorizer(sublinear_tf=True), OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    )
    theirs.fit(train.texts, train.encode()[0])
    best = cpu_seconds({"textbayes": ours, "scikit-learn": theirs}, test.texts)
    for who, took in best.items():
        print(f"{who:14} {len(test.texts) / took:10,.0f} documents a second of CPU, 90 probabilities each")
    ratio = best["scikit-learn"] / best["textbayes"]
    close(
        "scoring", ratio >= BAR, f"{ratio:.1f}x TfidfVectorizer + 90 logistic regressions, by CPU time (bar {BAR:g}x)"
    )


if __name__ == "__main__":
    main()

"""A grid search over the default model with one process and with two: two must not be slower.

    python benchmarks/bench_grid_search.py

Each search runs in a process of its own, as a user's script would, so that starting the workers is counted.
scikit-learn with TF-IDF and logistic regression is searched in the same way, to show what starting workers costs there.
"""

from __future__ import annotations

import subprocess
import sys

from _common import close

_SEARCH = """
import sys, time
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from textbayes import TextCategorizer, load_corpus

which, n_jobs = sys.argv[1], int(sys.argv[2])
news = load_corpus("bbc").train
texts, labels = news.texts[::2], news.targets[::2]
if which == "textbayes":
    model, grid = TextCategorizer(cv=3), {"class_weight": [None, "balanced"]}
else:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1.0, 10.0, 100.0]}
start = time.perf_counter()
GridSearchCV(model, grid, cv=3, n_jobs=n_jobs).fit(texts, labels)
print(time.perf_counter() - start)
"""


def seconds(which: str, n_jobs: int) -> float:
    """Wall time of one search in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, which, str(n_jobs)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    found = {}
    for which in ("scikit-learn", "textbayes"):
        one, two = (min(seconds(which, n_jobs) for _ in range(2)) for n_jobs in (1, 2))
        found[which] = two / one
        print(f"{which}: one process {one:.1f} s, two {two:.1f} s")
    figures = f"two processes take {found['textbayes']:.2f} × the time of one (bar 1.00)"
    peer = f"scikit-learn's own pipeline {found['scikit-learn']:.2f} ×"
    close("grid search", found["textbayes"] <= 1.0, f"{figures}, {peer}")


if __name__ == "__main__":
    main()

"""Vectorizing 20 Newsgroups: TextVectorizer beside scikit-learn's CountVectorizer, in one run.

Compared are ``fit_transform`` of the same 18,846 posts (headers and all, read as Latin-1), default settings, plain and
with Porter stems. CountVectorizer stems the ordinary way: its analyzer is its own tokenizer followed by PyStemmer's
``stemWords`` for each document (with PyStemmer's default cache). Both give the same matrix and vocabulary, which is
checked. Compared is CPU time, that of all threads together: CountVectorizer has one, TextVectorizer one for each core.
Each figure is the best of several runs, taken in turn.

Usage: python benchmarks/bench_vectorize.py [--runs 3]. Exits 1 when below 3× plain or 5× stemmed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import Stemmer
from sklearn.feature_extraction.text import CountVectorizer

from _common import close
from textbayes.data import load_corpus
from textbayes.text import TextVectorizer

BARS = {"plain": 3.0, "stemmed": 5.0}
COLD_START = """
import time
begin = time.perf_counter()
from textbayes.text import TextVectorizer
imported = time.perf_counter()
TextVectorizer().fit_transform(["a first text", "and another"])
first = time.perf_counter()
TextVectorizer().fit_transform(["a first text", "and another"])
print(imported - begin, first - imported, time.perf_counter() - first)
"""


def stemming_count_vectorizer() -> CountVectorizer:
    words, stemmer = CountVectorizer().build_analyzer(), Stemmer.Stemmer("porter")
    return CountVectorizer(analyzer=lambda text: stemmer.stemWords(words(text)))


def seconds(make: Callable[[], Any], posts: list[str]) -> tuple[float, Any, Any]:
    vectorizer = make()
    begin = time.process_time()
    matrix = vectorizer.fit_transform(posts)
    return time.process_time() - begin, matrix, vectorizer


def assert_same(ours: Any, theirs: Any) -> None:
    (_, X, ours_fitted), (_, Y, theirs_fitted) = ours, theirs
    assert ours_fitted.vocabulary_ == theirs_fitted.vocabulary_, "the vocabularies differ"
    assert X.shape == Y.shape, "the shapes differ"
    assert (Y != X).nnz == 0, "the counts differ"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of which the best counts (default 3)")
    n_runs = parser.parse_args().runs

    posts = load_corpus("20newsgroups").texts
    megabytes = sum(len(post.encode()) for post in posts) / 1e6
    TextVectorizer(min_df=2).fit(posts[:10])  # compile, or load what was compiled: measured apart below
    print(f"{len(posts):,} posts, {megabytes:.1f} MB, CPU time, best of {n_runs} runs")
    print(f"{'':10}{'CountVectorizer':>18}{'TextVectorizer':>18}{'ratio':>9}{'MB/s':>8}   matrix")
    ratios = {}
    for name, theirs, ours in (
        ("plain", CountVectorizer, TextVectorizer),
        ("stemmed", stemming_count_vectorizer, lambda: TextVectorizer(stemmer="porter")),
    ):
        runs = [(seconds(theirs, posts), seconds(ours, posts)) for _ in range(n_runs)]
        assert_same(runs[0][1], runs[0][0])
        slow, fast = (min(run[i][0] for run in runs) for i in (0, 1))
        ratios[name] = slow / fast
        X = runs[0][1][1]
        shape = f"{X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} non-zeros"
        print(f"{name:10}{slow:16.3f} s{fast:16.3f} s{slow / fast:8.1f}x{megabytes / fast:8.0f}   {shape}")

    command = [sys.executable, "-c", COLD_START]
    imported, first, second = map(float, subprocess.run(command, check=True, capture_output=True).stdout.split())
    print(
        f"another process: import {imported:.2f} s, first call {first:.2f} s (loads numba and the cached kernels), "
        f"second call {1000 * second:.1f} ms"
    )
    passed = all(ratios[name] >= bar for name, bar in BARS.items())
    figures = ", ".join(f"{ratios[name]:.1f}x CountVectorizer {name} (bar {bar:g}x)" for name, bar in BARS.items())
    close("vectorize", passed, f"{figures}, by CPU time")


if __name__ == "__main__":
    main()

"""What the benchmarks share: the Reuters matrix, timing, and the closing line with its exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from textbayes.data import Corpus, load_corpus
from textbayes.text import TermWeighting, TextVectorizer

os.environ.setdefault("TEXTBAYES_ENCODER", "off")
os.environ.setdefault("TEXTBAYES_EMBEDDINGS", "off")  # figures are the same whatever is installed
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # for ``references``


def reuters() -> Corpus:
    """Reuters-21578 ModApte, 90 categories."""
    return load_corpus("reuters21578")


def reuters_matrix() -> tuple[Any, Any]:
    """Stemmed training documents (9,603) with ltc weights, and the indicator of the 90 categories."""
    train = reuters().train
    counts = TextVectorizer(stemmer="porter", min_df=3).fit_transform(train.texts)
    return TermWeighting("ltc").fit_transform(counts), train.encode()[0]


def rcv1_matrix() -> tuple[Any, Any]:
    """23,149 documents of the public RCV1-v2 samples with their 47,236 columns, and the indicator of every tenth topic.

    As many documents as the training part of the full collection, which may not be passed on.
    """
    corpus = load_corpus("rcv1", version="subsets")
    Y, _ = corpus.encode()
    return corpus.X[:23_149].tocsr(), Y[:23_149, ::10]


def fastest(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The shortest of several wall times, and the last result: noise only ever adds time."""
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def close(name: str, passed: bool, figures: str) -> NoReturn:
    """The last line a benchmark prints, and its exit code: 1 when a bar is missed."""
    print(f"{name}: {figures}: {'pass' if passed else 'FAIL'}")
    sys.exit(0 if passed else 1)

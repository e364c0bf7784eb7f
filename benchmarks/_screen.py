"""What the benchmarks of screening share: the reviews, tables learnt from the other reviews, and intervals."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.data import corpus_path, load_corpus
from textbayes.knowledge import WordPriors
from textbayes.screen import Collection
from textbayes.screen.settings import TOPIC
from textbayes.screen.transfer import FinishedReview, mean_weights, review_weights


class Review(NamedTuple):
    """A review with its question, and the prior table of all the others."""

    name: str
    texts: list[str]
    relevant: BoolArray
    question: str
    others: WordPriors

    def collection(self, question: str | None = None, prior: bool = True) -> Collection:
        """Its records, with a question if one is given."""
        ids = [str(i) for i in range(len(self.texts))]
        asked = {TOPIC: question} if question else {}
        return Collection.read(ids, self.texts, [TOPIC], asked, self.others if prior else None)


def finished_reviews() -> dict[str, FinishedReview]:
    """All reviews of the corpus, with what was included in the end."""
    corpus = load_corpus("systematic_reviews")
    split = np.array(corpus.split)
    finished = {}
    for name in corpus.parts:
        at = np.flatnonzero(split == name)
        relevant = np.array([corpus.labels[i] == ("included",) for i in at])
        finished[name] = FinishedReview([corpus.texts[i] for i in at], relevant)
    return finished


def reviews() -> list[Review]:
    """The same with questions and tables; no table has seen the review that it is for."""
    finished = finished_reviews()
    questions = json.loads((corpus_path("systematic_reviews") / "questions.json").read_text())
    weights = {name: review_weights(review) for name, review in finished.items()}
    found = []
    for name, review in finished.items():
        asked = questions[name]
        others = mean_weights([told for other, told in weights.items() if other != name])
        found.append(
            Review(name, list(review.texts), review.relevant, f"{asked['title']}. {asked['question']}", others)
        )
    return found


def closest_reviews(all_reviews: list[Review]) -> list[int]:
    """For each review the other one whose included records are most alike."""
    texts = [" ".join(np.array(review.texts, dtype=object)[review.relevant]) for review in all_reviews]
    X = Collection.read([review.name for review in all_reviews], texts, [TOPIC]).X
    alike = (X @ X.T).toarray()
    np.fill_diagonal(alike, -1.0)
    return alike.argmax(axis=1).tolist()


def in_parallel(function, items, jobs):
    """The results of a function for each item, in order; kernels let go of the interpreter."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(function, items))


def ratio_interval(ours: FloatArray, theirs: FloatArray) -> tuple[float, float, float]:
    """Geometric mean over reviews of the ratio of mean losses, with its 95 % interval (Student's t)."""
    from scipy import stats

    logs = np.log(ours / theirs)
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    return tuple(np.exp([logs.mean(), logs.mean() - half, logs.mean() + half]).tolist())

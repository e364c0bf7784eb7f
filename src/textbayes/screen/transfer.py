"""What words of finished reviews say of the next one: a prior table of mean weights, learnt from other reviews."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.knowledge.rows import ALL_LABELS
from textbayes.screen.collection import Collection
from textbayes.screen.settings import TOPIC, ScreenSettings
from textbayes.screen.solver import make_solver
from textbayes.screen.topic import balanced_weights

LEAST_REVIEWS = 3  # that a word must occur in: what fewer say is about their subjects
_SMALLEST = 0.02  # mean weight that is kept: smaller ones change nothing, 0.05 costs 1 %


class FinishedReview(NamedTuple):
    """A review that was read to its end.

    Parameters
    ----------
    texts : sequence of str
    relevant : array of bool (n_records,)
    """

    texts: Sequence[str]
    relevant: BoolArray


def shipped_prior() -> WordPriors:
    """The table that comes along: mean weights of words over 14 reviews of drugs.

    ``benchmarks/make_screen_prior.py`` makes it from the public reviews of asreview/systematic-review-datasets (MIT).
    """
    text = files("textbayes.screen").joinpath("reviews.csv").read_text(encoding="utf-8")
    return WordPriors.read(io.StringIO(text), "csv")


def learn_prior(
    reviews: Iterable[FinishedReview], least_reviews: int = LEAST_REVIEWS, smallest: float = _SMALLEST
) -> WordPriors:
    """Fit each review by itself, and take the mean of a word's weights over the reviews that have it; no pairs.

    The table speaks of every topic. ``screen`` follows it by a share that fades as relevant records are found.

    Parameters
    ----------
    reviews : iterable of FinishedReview
    least_reviews : int
        Reviews that a word must occur in.
    smallest : float
        Mean weights below this size are left out.
    """
    return mean_weights([review_weights(review) for review in reviews], least_reviews, smallest)


def mean_weights(
    reviews: Sequence[Mapping[str, float]], least_reviews: int = LEAST_REVIEWS, smallest: float = _SMALLEST
) -> WordPriors:
    """The table of reviews whose words have been weighed; see :func:`learn_prior`.

    Parameters
    ----------
    reviews : sequence of mappings of word to weight
        Of :func:`review_weights`.
    least_reviews, smallest
        As for :func:`learn_prior`.
    """
    n_reviews = len(reviews)
    sums: dict[str, list[float]] = {}
    for weights in reviews:
        for word, weight in weights.items():
            sums.setdefault(word, []).append(weight)
    if n_reviews < least_reviews:
        raise InputError(
            f"{n_reviews} finished review(s) were given; {least_reviews} are needed: with fewer, words "
            "of general use cannot be separated from those of a review's own subject"
        )
    rows = []
    for word, found in sorted(sums.items()):
        mean = round(sum(found) / len(found), 2)
        if len(found) >= least_reviews and abs(mean) >= smallest:
            rows.append(WordPrior(word, ALL_LABELS, mean))
    return WordPriors(rows)


def review_weights(review: FinishedReview) -> dict[str, float]:
    """Weight of every word of one review, all of it judged.

    Parameters
    ----------
    review : FinishedReview
    """
    relevant = np.asarray(review.relevant, dtype=np.bool_)
    if relevant.all() or not relevant.any():
        raise InputError("a finished review has relevant records and others; give one that has both")
    records = Collection.read([str(i) for i in range(len(relevant))], review.texts, [TOPIC])
    solver, y = make_solver(records.X), np.where(relevant, 1.0, -1.0)
    solver.fit(np.arange(len(y)), y, balanced_weights(y, ScreenSettings.balance), np.zeros(len(y)))
    weights = solver.weights()[:-1]
    names = records.vectorizer.get_feature_names_out().tolist()
    return {name: weight for name, weight in zip(names, weights.tolist(), strict=True) if " " not in name}

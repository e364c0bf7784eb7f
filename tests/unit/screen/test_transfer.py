"""Prior tables of finished reviews: what several have in common, and nothing of their own subjects."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.screen.transfer import FinishedReview, learn_prior

SUBJECTS = ("tea", "coffee", "cocoa")


def finished(subject, seed):
    """A review whose relevant records are trials of its subject."""
    random = np.random.default_rng(seed)
    relevant = random.random(60) < 0.3
    words = [["randomized" if told else "letter", subject if told else "other"] for told in relevant]
    noise = ["study", "group", "year", "result", "effect", "time"]
    return FinishedReview([" ".join([*own, *random.choice(noise, 5)]) for own in words], relevant)


def test_common_words_are_learnt_and_subjects_are_not():
    table = learn_prior([finished(subject, seed) for seed, subject in enumerate(SUBJECTS)])
    means = {row.word: row.mean for row in table}
    assert means["randomized"] > 0.5 > -0.5 > means["letter"]
    assert not set(SUBJECTS) & set(means)
    assert {row.label for row in table} == {"*"}
    alone = learn_prior([finished("tea", 0)] * 3)
    assert {row.word for row in alone} >= {"tea"}


def test_too_few_or_one_sided_reviews_are_refused():
    with pytest.raises(InputError, match="2 finished review"):
        learn_prior([finished("tea", 0), finished("cocoa", 1)])
    with pytest.raises(InputError, match="relevant records and others"):
        learn_prior([FinishedReview(["a b", "c d"], np.array([True, True]))] * 3)

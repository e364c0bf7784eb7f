"""Advice that looks good label by label but harms the pool is turned down as a whole."""

from __future__ import annotations

import numpy as np
import pytest
import textbayes.categorizer.training

from textbayes import TextCategorizer
from textbayes.categorizer.knowledge import Knowledge
from textbayes.knowledge import from_words

GRAINS = ["wheat", "corn", "barley", "oats", "rye", "millet", "rice", "maize"]
MONEY = ["bank", "rates", "loans", "credit", "bonds", "dollar", "yen", "deposit"]
# Every text has a word of its own: nothing but advice can tell a held-out one.
TEXTS = [f"{word} report {filler}" for word in GRAINS + MONEY for filler in ("today", "again")]
LABELS = ["grain"] * 16 + ["money"] * 16
RIGHT = from_words("money", MONEY, GRAINS)
WRONG = from_words("money", GRAINS, MONEY)


@pytest.fixture
def follow_blindly(monkeypatch):
    """Weights as if every label had approved of the advice."""
    monkeypatch.setattr(
        textbayes.categorizer.training,
        "choose_prior_weight",
        lambda matched, *_: Knowledge(matched, np.ones(matched.n_labels)),
    )


def fit(table, **settings):
    return TextCategorizer(prior=table, cv=4, preset="linear", **settings).fit(TEXTS, LABELS)


def test_wrong_advice_leaves_the_model_as_it_was(follow_blindly):
    advised, plain = fit(WRONG), TextCategorizer(cv=4, preset="linear").fit(TEXTS, LABELS)
    np.testing.assert_array_equal(advised.prior_weight_, 0.0)
    np.testing.assert_allclose(advised.coef_, plain.coef_, atol=1e-12)
    np.testing.assert_allclose(advised.pool_, plain.pool_, atol=1e-12)


def test_right_advice_is_kept(follow_blindly):
    np.testing.assert_array_equal(fit(RIGHT).prior_weight_, 1.0)


def test_a_weight_that_was_given_is_followed_whatever_it_does():
    np.testing.assert_array_equal(fit(WRONG, prior_weight=1.0).prior_weight_, 1.0)

"""A prior file is followed as far as held-out texts support it: wrong advice is turned down as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer
from textbayes.knowledge import from_words

GRAINS = ["wheat", "corn", "barley", "oats", "rye", "millet", "rice", "maize"]
MONEY = ["bank", "rates", "loans", "credit", "bonds", "dollar", "yen", "deposit"]
# Every text has a word of its own: nothing but advice can tell a held-out one.
TEXTS = [f"{word} report {filler}" for word in GRAINS + MONEY for filler in ("today", "again")]
LABELS = ["grain"] * 16 + ["money"] * 16
RIGHT = from_words("money", MONEY, GRAINS)
WRONG = from_words("money", GRAINS, MONEY)

# A regression weighs advice label by label, a count model for all labels at once.
every_model = pytest.mark.parametrize("settings", [{"preset": "linear"}, {"model": "counts"}], ids=str)


def fit(prior, settings, **more):
    return TextCategorizer(prior=prior, cv=4, **settings, **more).fit(TEXTS, LABELS)


@every_model
def test_wrong_advice_leaves_the_model_as_it_was(settings):
    advised, plain = fit(WRONG, settings), fit(None, settings)
    np.testing.assert_array_equal(advised.prior_weight_, 0.0)
    np.testing.assert_array_equal(advised.predict_proba(TEXTS), plain.predict_proba(TEXTS))


@every_model
def test_right_advice_is_followed(settings):
    assert fit(RIGHT, settings).prior_weight_.min() >= 0.5


@every_model
def test_a_weight_that_was_given_is_followed_whatever_it_does(settings):
    np.testing.assert_array_equal(fit(WRONG, settings, prior_weight=1.0).prior_weight_, 1.0)

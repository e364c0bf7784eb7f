"""Automatic models of exclusive classes: probabilities to a power, made to add up to one, wherever a user looks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from textbayes import TextCategorizer, load_corpus, load_model, save_model
from textbayes.report.wording import settings_in_words

STORIES = load_corpus("bbc").train
TOPICS = sorted(set(STORIES.targets))
SHORT = [" ".join(text.split()[:40]) for text in STORIES.texts]


@pytest.fixture(scope="module")
def odd():
    """Beginnings of stories of which one in eight has a topic drawn at random, and the automatic model of them."""
    rng = np.random.default_rng(2)
    labels = [str(rng.choice(TOPICS)) if rng.random() < 0.12 else str(one) for one in STORIES.targets]
    return TextCategorizer(budget="quick").fit(SHORT, labels)


def test_probabilities_are_own_ones_to_a_power(odd):
    own = odd.decision_function(SHORT[:20])
    expected = special.expit(own) ** odd.inverse_temperature_
    proba = odd.predict_proba(SHORT[:20])
    np.testing.assert_allclose(proba, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(proba.argmax(axis=1), own.argmax(axis=1))
    assert abs(np.log(odd.inverse_temperature_)) > 0.05
    assert (
        f"to the power {odd.inverse_temperature_:.2f} are made to add up to one"
        in dict(settings_in_words(odd))["Model"]
    )


def test_explanations_add_up(odd):
    proba = odd.predict_proba(SHORT[3:4])[0]
    for told in odd.explain(SHORT[3], TOPICS, top=None):
        assert told.probability == pytest.approx(proba[TOPICS.index(told.label)])
        assert special.expit(told.log_odds) == pytest.approx(told.probability)
        total = told.base + sum(part.log_odds for part in told.contributions)
        assert total == pytest.approx(told.log_odds, abs=1e-9)


def test_a_saved_model_is_the_model(odd, tmp_path):
    save_model(odd, tmp_path / "odd.tb")
    again = load_model(tmp_path / "odd.tb")
    assert again.inverse_temperature_ == odd.inverse_temperature_
    np.testing.assert_array_equal(again.predict_proba(SHORT[:20]), odd.predict_proba(SHORT[:20]))


def test_classes_that_words_hardly_tell_take_the_narrowest_prior():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(len(SHORT)) < 0.5, rng.choice(TOPICS, len(SHORT)), STORIES.targets)
    members = TextCategorizer(cv=3).fit(SHORT[::3], labels[::3]).choice_["members"]
    assert {one["scale"] for one in members if one["name"].startswith("ratio")} == {1.0}

"""A fitted categorizer asks its fitted model, not its parameters; pools add up what their members say of words."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer

TEXTS = ["wheat corn prices", "corn harvest falls far", "bank raises rates", "bank cuts its rates again"] * 5
LABELS = ["grain", "grain", "money", "money"] * 5
NEW = ["corn prices", "many other words that nobody ever saw and the bank", "wheat"]


def test_parameters_set_after_the_fit_do_not_change_what_a_model_of_counts_reads():
    """A Poisson's probabilities follow the lengths of texts, words outside of the vocabulary included."""
    model = TextCategorizer(model="counts:model=poisson", cv=2).fit(TEXTS, LABELS)
    before, lengths = model.predict_proba(NEW), model.features(NEW).lengths
    np.testing.assert_allclose(lengths, [0.002, 0.010, 0.001])
    model.set_params(model="linear")
    np.testing.assert_array_equal(model.features(NEW).lengths, lengths)
    np.testing.assert_array_equal(model.predict_proba(NEW), before)
    linear = TextCategorizer(model="linear", cv=2).fit(TEXTS, LABELS).set_params(model="counts:depth=3")
    assert linear.predict_proba(NEW).shape == (3, 2)  # what cannot be made is refused by the next fit


def test_a_pool_reads_lengths_if_a_member_does():
    pool = TextCategorizer(model=["linear", "counts:model=poisson"], cv=2).fit(TEXTS, LABELS)
    assert pool.model_.uses_lengths
    assert not TextCategorizer(model=["linear", "online"], cv=2).fit(TEXTS, LABELS).model_.uses_lengths


@pytest.mark.parametrize(
    ("spec", "calibrate"),
    [
        ("counts:model=multinomial", False),
        ("counts:model=multinomial", True),
        (["linear", "counts:model=multinomial"], False),
    ],
    ids=str,
)
def test_totals_of_words_are_sums_of_contributions(spec, calibrate):
    """Both members are linear in what they read: weights and counts."""
    model = TextCategorizer(model=spec, cv=2, calibrate=calibrate).fit(TEXTS, LABELS)
    expected = np.zeros((1, len(model.vectorizer_.vocabulary_)))
    for text in NEW:
        told = model.model_.contributions(model.features([text]))
        expected[:, told.columns] += told.parts
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(model.model_.word_totals(model.features(NEW)), expected, rtol=1e-9, atol=1e-12)

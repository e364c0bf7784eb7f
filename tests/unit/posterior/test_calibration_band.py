"""Intervals of probabilities from held-out texts: the posterior of the calibration curve, its level, and its form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from textbayes import TextCategorizer
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.state import from_state, to_state
from textbayes.posterior import calibration_band
from textbayes.posterior.calibration_band import CalibrationBand


def held_out(rng, n, n_labels, curve):
    """Probabilities given, and labels whose shares are a curve of their log-odds."""
    log_odds = rng.normal(0.0, 2.0, (n, n_labels))
    return special.expit(log_odds), rng.random((n, n_labels)) < special.expit(curve(log_odds))


@pytest.mark.parametrize("n", [0, 40, 400, 4000])
def test_curves_drawn_from_the_prior_lie_in_the_band_as_often_as_it_says(n, monkeypatch):
    monkeypatch.setattr(calibration_band, "_OTHER_MODEL", 1.0)  # labels are of the very model that is asked
    rng, knots, n_labels = np.random.default_rng(0), calibration_band._KNOTS, 150
    curves = knots + (calibration_band._prior_root() @ rng.normal(size=(len(knots), n_labels))).T
    log_odds = rng.normal(0.0, 2.0, (n, n_labels))
    share = np.column_stack([np.interp(log_odds[:, k], knots, curves[k]) for k in range(n_labels)])
    band = CalibrationBand.fit(special.expit(log_odds), rng.random((n, n_labels)) < special.expit(share))
    within = np.abs(knots) < 5.0
    held = (np.abs(curves - band.mean) <= special.ndtri(0.95) * band.sd)[:, within].mean(axis=1)
    assert abs(held.mean() - 0.9) <= 3.0 * held.std() / np.sqrt(n_labels)
    # What is asked for is that interval, widened to hold the probability.
    asked = np.tile(special.expit(knots[within])[:, None], (1, n_labels))
    low, high = band.interval(asked, 0.9)
    ends = [(band.mean + side * special.ndtri(0.95) * band.sd)[:, within].T for side in (-1.0, 1.0)]
    np.testing.assert_allclose(low, np.minimum(special.expit(ends[0]), asked))
    np.testing.assert_allclose(high, np.maximum(special.expit(ends[1]), asked))


def test_the_mode_and_its_spread_are_those_of_a_general_optimiser():
    rng = np.random.default_rng(1)
    proba, labels = held_out(rng, 150, 1, lambda x: 0.5 * x + 1.0)
    band = CalibrationBand.fit(proba, labels)
    knots, root = calibration_band._KNOTS, calibration_band._prior_root()
    step = (knots[-1] - knots[0]) / (calibration_band._BINS - 1)
    places = knots[0] + step * np.rint((special.logit(proba[:, 0]) - knots[0]) / step)
    design = calibration_band._interpolation(places) @ root

    def loss(z):
        eta = places + design @ z
        return 0.5 * z @ z - np.where(labels[:, 0], special.log_expit(eta), special.log_expit(-eta)).sum()

    found = optimize.minimize(loss, np.zeros(len(knots)), tol=1e-12)
    np.testing.assert_allclose(band.mean[0], knots + root @ found.x, atol=1e-3)
    share = special.expit(places + design @ found.x)
    cov = root @ np.linalg.inv(np.eye(len(knots)) + (design.T * (share * (1.0 - share))) @ design) @ root.T
    np.testing.assert_allclose(band.sd[0], calibration_band._OTHER_MODEL * np.sqrt(np.diag(cov)), rtol=1e-3)


def test_weights_are_repetitions_and_what_is_not_usable_is_left_out():
    rng = np.random.default_rng(2)
    proba, labels = held_out(rng, 60, 2, lambda x: x)
    usable = np.ones((60, 2), dtype=bool)
    usable[40:, 1] = False
    band = CalibrationBand.fit(proba, labels, usable)
    np.testing.assert_allclose(band.mean[1], CalibrationBand.fit(proba[:40, 1:], labels[:40, 1:]).mean[0])
    weight = np.where(np.arange(60) < 30, 1.5, 0.5)  # of mean one
    rows = np.repeat(np.arange(60), np.where(np.arange(60) < 30, 3, 1))
    twice = CalibrationBand.fit(proba, labels, weight=weight)
    repeated = CalibrationBand.fit(proba[rows], labels[rows], weight=np.full(len(rows), 1.0))
    # Three and one are twice one and a half and a half: the same curve, twice as sure.
    assert np.abs(twice.mean - repeated.mean).max() < np.abs(band.mean - repeated.mean).max()
    assert (repeated.sd <= twice.sd + 1e-12).all()


def test_without_texts_the_band_is_the_prior_and_more_texts_narrow_it():
    nothing = CalibrationBand.fit(np.zeros((0, 1)), np.zeros((0, 1), dtype=bool))
    np.testing.assert_allclose(nothing.mean[0], calibration_band._KNOTS)
    rng = np.random.default_rng(3)
    widths = []
    for n in (0, 30, 300, 3000):
        band = CalibrationBand.fit(*held_out(rng, n, 1, lambda x: x))
        low, high = band.interval(np.array([[0.5], [0.9]]), 0.95)
        assert ((low <= [[0.5], [0.9]]) & (high >= [[0.5], [0.9]])).all()
        widths.append((high - low).mean())
    assert sorted(widths, reverse=True) == widths


def test_extreme_probabilities_and_wrong_levels():
    band = CalibrationBand.fit(np.array([[0.0], [1.0], [1.0]]), np.array([[False], [True], [True]]))
    low, high = band.interval(np.array([[0.0], [1.0]]), 0.95)
    assert low[0, 0] == 0.0
    assert high[1, 0] == 1.0
    assert np.isfinite(np.concatenate([low, high])).all()
    for level in (0.0, 1.0, 95):
        with pytest.raises(InputError, match="between 0 and 1"):
            band.interval(np.array([[0.5]]), level)


def test_the_form_of_a_file_is_checked():
    band = CalibrationBand.fit(*held_out(np.random.default_rng(4), 50, 2, lambda x: x))
    again = from_state(CalibrationBand, *to_state(band), what="the band", n_columns=2)
    np.testing.assert_array_equal(again.mean, band.mean)
    with pytest.raises(ModelFileError, match="shape"):
        from_state(CalibrationBand, *to_state(band), what="the band", n_columns=3)
    with pytest.raises(ModelFileError, match="values from"):
        from_state(CalibrationBand, *to_state(band._replace(sd=-band.sd)), what="the band", n_columns=2)


WORDS = ["grain corn harvest", "bank rate loan", "match goal team"]
TEXTS = [f"{WORDS[i % 3]} {'abcdefghij'[i % 10]}{'klmnopq'[i % 7]} of the day" for i in range(120)]
LABELS = [("grain", "money", "sport")[i % 3] for i in range(120)]


@pytest.mark.parametrize("settings", [{}, {"preset": "linear"}, {"model": "counts"}, {"model": ["counts", "linear"]}])
def test_every_training_has_intervals_that_hold_the_probability_and_are_not_everything(settings):
    model = TextCategorizer(cv=3, **settings).fit(TEXTS, LABELS)
    proba, (low, high) = model.predict_proba(TEXTS[:10]), model.predict_interval(TEXTS[:10], 0.95)
    assert ((low <= proba) & (proba <= high)).all()
    assert (high - low).mean() < 0.2
    again = TextCategorizer.from_state(*model.to_state())
    np.testing.assert_array_equal(again.predict_interval(TEXTS[:10], 0.95), (low, high))


def test_labels_by_lot_have_intervals_around_their_share():
    rng = np.random.default_rng(5)
    model = TextCategorizer(cv=3).fit(TEXTS, rng.permutation(LABELS))
    low, high = model.predict_interval(["no word of these"], 0.95)
    assert (low < 1 / 3).all()
    assert (high > 1 / 3).all()


def test_a_model_that_learnt_on_says_that_it_must_be_trained_anew():
    model = TextCategorizer(model="counts", cv=3).fit(TEXTS, LABELS)
    model.update(TEXTS[:9], LABELS[:9])
    for one in (model, TextCategorizer.from_state(*model.to_state())):
        with pytest.raises(InputError, match="train it anew"):
            one.predict_interval(TEXTS[:1])

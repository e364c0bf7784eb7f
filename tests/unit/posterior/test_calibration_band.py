"""Intervals of probabilities from held-out texts: the posterior of the calibration curve, its level, and its form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from textbayes import TextCategorizer
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.state import from_state, to_state
from textbayes.posterior import calibration_band
from textbayes.posterior.calibration_band import CalibrationBand, Refits


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


def test_the_jackknife_of_means_is_twice_their_variance():
    # Log-odds that are the mean of 60 numbers: two such means differ by 2·σ²/60. Each fit lacks one part of six.
    rng, found = np.random.default_rng(6), []
    numbers = rng.normal(0.3, 1.5, (4000, 6, 10))
    proba = [special.expit(np.delete(numbers, part, axis=1).mean(axis=(1, 2)))[:, None] for part in range(6)]
    found = Refits.of_parts(proba)
    np.testing.assert_allclose(found.log_odds[:, 0], numbers.mean(axis=(1, 2)), atol=1e-9)
    expected, error = 2.0 * 1.5**2 / 60.0, found.variance.std() / np.sqrt(len(numbers))
    assert abs(found.variance.mean() - expected) <= 4.0 * error


def test_variances_are_averaged_around_log_odds_and_drawn_to_those_of_all_labels():
    rng = np.random.default_rng(7)
    log_odds = rng.uniform(-6.0, 6.0, (30_000, 3))
    variance = np.where(log_odds < 0.0, 0.5, 2.0)
    variance[:, 2] = np.nan  # a label that the fits did not know
    found = Refits(log_odds, variance).smoothed(np.array([-4.0, 4.0]))
    np.testing.assert_allclose(found[:2], [[0.5, 2.0]] * 2, rtol=0.02)
    np.testing.assert_allclose(found[2], found[:2].mean(axis=0), rtol=0.02)
    np.testing.assert_array_equal(Refits(log_odds[:0], variance[:0]).smoothed(np.array([0.0])), 0.0)


def test_refits_widen_the_interval_and_nothing_else():
    rng = np.random.default_rng(8)
    proba, labels = held_out(rng, 400, 1, lambda x: x)
    refits = Refits(special.logit(proba), np.full(proba.shape, 4.0))
    share, both = CalibrationBand.fit(proba, labels), CalibrationBand.fit(proba, labels, refits=refits)
    (low, high), (lower, higher) = share.interval(proba, 0.9), both.interval(proba, 0.9)
    reach = special.ndtri(0.95) * calibration_band._OTHER_CHOICES * 2.0
    np.testing.assert_allclose(lower, np.minimum(low, special.expit(special.logit(proba) - reach)))
    np.testing.assert_allclose(higher, np.maximum(high, special.expit(special.logit(proba) + reach)))


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


def drawn(rng, n):
    """Texts of ten words of 60, and a label that half of these words speak for or against."""
    has = rng.random((n, 60)) < 0.17
    labels = rng.random(n) < special.expit((has[:, :30] @ np.linspace(-1.5, 1.5, 30)) * 1.2)
    names = np.array([f"w{a}{b}" for a in "bcdfgh" for b in "klmnpqrstv"])
    return [" ".join(names[row]) for row in has], labels.astype(int)


@pytest.mark.parametrize("settings", [{}, {"preset": "linear"}, {"model": ["counts", "linear"], "calibrate": "beta"}])
def test_intervals_of_a_training_that_was_asked_hold_what_other_trainings_give(settings):
    rng = np.random.default_rng(9)
    new, _ = drawn(rng, 400)
    models = [TextCategorizer(cv=3, intervals=True, **settings).fit(*drawn(rng, 330)) for _ in range(4)]
    plain = TextCategorizer(cv=3, **settings).fit(*drawn(rng, 330))
    proba = [model.predict_proba(new)[:, -1:] for model in models]
    held = [
        np.mean((low <= other) & (other <= high))
        for i, (low, high) in enumerate(model.predict_interval(new) for model in models)
        for j, other in enumerate(proba)
        if i != j
    ]
    assert np.mean(held) >= 0.93
    low, high = plain.predict_interval(new)
    assert np.mean([np.mean((low <= other) & (other <= high)) for other in proba]) < np.mean(held)
    again = TextCategorizer.from_state(*models[0].to_state())
    np.testing.assert_array_equal(again.predict_interval(new), models[0].predict_interval(new))


def test_too_few_texts_for_refits_have_the_interval_of_the_share():
    model = TextCategorizer(preset="linear", cv=2, intervals=True).fit(["corn", "bank"] * 2, ["a", "b"] * 2)
    assert (model.calibration_band_.refit_sd == 0.0).all()


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

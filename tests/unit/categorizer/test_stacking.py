"""Weights of the automatic pool, against direct minimisation of the stated posterior and simulation from the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.categorizer.stacking import fit_stacking, lasting_power
from textbayes.core.labels import LabelSpace


def space(n: int, kind: str) -> LabelSpace:
    return LabelSpace(np.array([f"c{k}" for k in range(n)], dtype=object), kind)


def exclusive(seed: int, n_docs: int = 300, n_classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_docs)
    Y = truth[:, None] == np.arange(n_classes)
    good, bad = (rng.normal(size=Y.shape) + strength * Y for strength in (3.0, 0.5))
    return np.stack([good, bad, rng.normal(size=Y.shape)]), Y


def test_weights_of_exclusive_classes_are_the_mode_of_their_posterior():
    S, Y = exclusive(0)

    def negative_log_posterior(theta):
        weights, bias, c = theta[:3], theta[3:7], np.exp(theta[7])
        log_own = c * special.log_expit((np.tensordot(weights, S, axes=1) + bias) / c)
        off = np.concatenate([(weights - 1 / 3) / 0.5, bias / 0.7, [theta[7]]])
        return (special.logsumexp(log_own, axis=1) - log_own[Y]).sum() + 0.5 * (off**2).sum()

    free = optimize.minimize(
        negative_log_posterior, np.full(8, 0.3), bounds=[(0, None)] * 3 + [(None, None)] * 5, method="L-BFGS-B",
        options={"ftol": 1e-13, "maxiter": 2000},
    )  # fmt: skip
    found, power = fit_stacking(S, Y, space(4, "multiclass")), lasting_power(300)
    np.testing.assert_allclose(found.weights[:, 0] / power, free.x[:3], atol=2e-3)
    np.testing.assert_allclose(found.bias / power, free.x[3:7], atol=2e-3)
    assert found.inverse_temperature / power == pytest.approx(np.exp(free.x[7]), rel=2e-3)
    assert (found.weights == found.weights[:, :1]).all()
    assert found.weights[0, 0] > 5.0 * found.weights[2, 0]


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 4.0])
def test_the_inverse_temperature_that_classes_were_drawn_with_is_found(sharpness):
    rng = np.random.default_rng(7)
    scores = rng.normal(-1.0, 2.0, size=(1, 40_000, 6))
    bias = np.array([0.6, 0.3, 0.0, 0.0, -0.3, -0.6]) / sharpness
    proba = special.softmax(sharpness * special.log_expit(scores[0] + bias), axis=1)
    Y = np.eye(6, dtype=bool)[(proba.cumsum(axis=1) > rng.random((len(proba), 1))).argmax(axis=1)]
    found = fit_stacking(scores, Y, space(6, "multiclass"), expected=np.array([sharpness]))
    power = lasting_power(len(Y))
    assert found.inverse_temperature / power == pytest.approx(sharpness, rel=0.1)
    np.testing.assert_allclose(found.weights / power, sharpness, rtol=0.1)
    # Probabilities are those that the classes were drawn with, to that power.
    assert np.abs(special.softmax(found.scores(scores) / power, axis=1) - proba).mean() < 0.003
    log_odds = found.weights[0] * scores[0] + found.bias
    np.testing.assert_array_equal(found.scores(scores).argsort(axis=1), log_odds.argsort(axis=1))


def test_probabilities_of_classes_are_raised_to_a_power_below_one_that_rises_with_the_texts():
    powers = [lasting_power(n) for n in (10, ENOUGH_TEXTS - 1, ENOUGH_TEXTS, 1_000, 3_000, 10**6)]
    assert powers[:2] == [1.0, 1.0]  # too few for naive Bayes, whose pool is the one that says too much
    assert np.all(np.diff(powers[2:]) > 0.0)
    assert 0.85 < powers[2] < powers[-1] < 0.95


def two_classes(seed: int, slopes: tuple[float, ...], n_docs: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(len(slopes), n_docs, 1))
    return S, rng.random((n_docs, 1)) < special.expit(np.tensordot(slopes, S, axes=1) - 1.0)


@pytest.mark.parametrize("kind", ["binary", "multilabel"])  # two classes, and one label alone
@pytest.mark.parametrize("expected", [None, (0.5, 0.5, 0.0)])
def test_weights_of_two_classes_are_the_mode_of_their_posterior(kind, expected):
    S, Y = two_classes(1, (2.0, 0.5, 0.5), 200)
    mean = np.full(3, 1 / 3) if expected is None else np.array(expected)

    def negative_log_posterior(theta):  # the factor that weights share is a variable of its own here
        bias, factor, own = theta[0], theta[1], theta[2:]
        eta = bias + (factor * mean + own) @ S[:, :, 0]
        prior = bias**2 + ((factor - 0.8) / 0.3) ** 2 + ((own / 0.25) ** 2).sum()
        return np.logaddexp(0.0, np.where(Y[:, 0], -eta, eta)).sum() + 0.5 * prior

    mode = optimize.minimize(negative_log_posterior, np.zeros(5), options={"gtol": 1e-7}).x
    found = fit_stacking(S, Y, space(2 if kind == "binary" else 1, kind), expected=None if expected is None else mean)
    np.testing.assert_allclose(found.bias[0], mode[0], atol=4e-4)
    np.testing.assert_allclose(found.weights[:, 0], mode[1] * mean + mode[2:], atol=4e-4)


def test_weights_of_many_classes_may_be_fitted_to_a_sample():
    S, Y = exclusive(6, 3_000)
    whole, sample = (fit_stacking(S, Y, space(4, "multiclass"), most=most) for most in (12_000, 4_000))
    assert 0.0 < np.abs(whole.weights - sample.weights).max() < 0.3


def test_no_weight_of_two_classes_is_negative():
    S, Y = two_classes(3, (1.0, -1.0), 2_000)
    found = fit_stacking(S, Y, space(2, "binary")).weights[:, 0]
    assert found[1] == 0.0
    assert found[0] > 0.5


def test_members_of_two_classes_that_tell_nothing_are_followed_the_less_the_more_texts_show_it():
    total = []
    for n_docs in (20, 200, 2_000):
        draws = [two_classes(seed, (0.0, 0.0, 0.0), n_docs) for seed in range(20)]
        total.append(np.mean([fit_stacking(S, Y, space(2, "binary")).weights.sum() for S, Y in draws]))
    assert 0.8 > total[0] > total[1] > total[2]
    assert total[2] < 0.15


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_a_weight_of_two_counts_a_document_twice(kind):
    S, Y = exclusive(2, 60)
    if kind == "binary":
        S, Y = S[:, :, :1], Y[:, :1]
    twice = np.random.default_rng(0).random(60) < 0.5
    again = np.concatenate([np.arange(60), np.flatnonzero(twice)])
    weighed = fit_stacking(S, Y, space(max(Y.shape[1], 2), kind), weight=np.where(twice, 2.0, 1.0))
    repeated = fit_stacking(S[:, again], Y[again], space(max(Y.shape[1], 2), kind))
    np.testing.assert_allclose(weighed.weights, repeated.weights, atol=1e-4)
    np.testing.assert_allclose(weighed.bias, repeated.bias, atol=1e-4)


def test_small_labels_follow_labels_of_their_size_and_large_ones_themselves():
    rng = np.random.default_rng(3)
    n_docs, n_labels = 4_000, 40
    rates = np.where(np.arange(n_labels) < 20, 0.25, 0.001)
    slopes = rng.normal(1.0, 0.4, n_labels)
    S = rng.normal(-4.0, 2.0, (1, n_docs, n_labels))
    bias = special.logit(rates) - special.logit(special.expit(slopes * S[0]).mean(axis=0))
    Y = rng.random((n_docs, n_labels)) < special.expit(slopes * S[0] + bias)
    found = fit_stacking(S, Y, space(n_labels, "multilabel")).weights[0]
    own = np.array([_alone(S[0, :, k], Y[:, k]) for k in range(n_labels)])
    large, small = np.arange(20), np.flatnonzero((np.arange(n_labels) >= 20) & Y.any(axis=0))
    np.testing.assert_allclose(found[large], own[large], rtol=0.1, atol=0.02)  # a tenth of the way at most
    assert np.mean((found[small] - slopes[small]) ** 2) < 0.5 * np.mean((own[small] - slopes[small]) ** 2)


def _alone(s, y):
    fit = optimize.minimize(
        lambda t: np.logaddexp(0.0, np.where(y, -1.0, 1.0) * (t[0] + t[1] * s)).sum() + 1e-6 * (t**2).sum(), np.zeros(2)
    )
    return fit.x[1]


def test_a_label_without_held_out_texts_has_the_weights_of_its_size():
    rng = np.random.default_rng(4)
    S = rng.normal(size=(1, 500, 6))
    Y = rng.random((500, 6)) < special.expit(2.0 * S[0] - 2.0)
    Y[:, 5] = False
    found = fit_stacking(S, Y, space(6, "multilabel"))
    assert np.isfinite(found.weights).all()
    assert np.isfinite(found.bias).all()


def test_many_documents_are_sampled_without_moving_the_weights():
    rng = np.random.default_rng(5)
    S = rng.normal(-3.0, 1.5, (2, 30_000, 2))
    Y = rng.random((30_000, 2)) < special.expit(S[0] + 0.3 * S[1])
    found = fit_stacking(S, Y, space(2, "multilabel"))
    full = np.array([_both(S[:, :, k], Y[:, k]) for k in range(2)])
    np.testing.assert_allclose(found.weights.T, full[:, 1:], atol=0.08)


def _both(s, y):
    def loss(t):
        return np.logaddexp(0.0, np.where(y, -1.0, 1.0) * (t[0] + t[1:] @ s)).sum()

    return optimize.minimize(loss, np.zeros(3)).x


def test_labels_that_no_text_tests_are_not_extrapolated_to():
    """Two tested labels of different sizes say nothing of one with a single text, nor of one that all texts have."""
    rng = np.random.default_rng(6)
    S = rng.normal(size=(2, 60, 4))
    Y = rng.random((60, 4)) < special.expit(S[0] - [[0.0, 2.0, 0.0, 0.0]])
    Y[:, 2], Y[:, 3] = np.arange(60) == 0, True
    use = np.ones_like(Y)
    use[:, 2:] = False
    found = fit_stacking(S, Y, space(4, "multilabel"), use)
    ends = np.sort(found.weights[:, :2], axis=1)
    assert (found.weights[:, 2] >= ends[:, 0] - 0.3).all()
    assert (found.weights[:, 2] <= ends[:, 1] + 0.3).all()
    np.testing.assert_array_equal(found.weights[:, 3], 0.5)
    assert found.bias[3] == 0.0

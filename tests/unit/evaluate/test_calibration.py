"""Measures of probabilities against scikit-learn and direct computation."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve

from textbayes.core.errors import InputError
from textbayes.evaluate import average_log_evidence, brier_loss, calibration_error, log_loss, reliability_curve


@pytest.fixture(scope="module")
def forecast():
    rng = np.random.default_rng(3)
    p = rng.beta(0.5, 1.5, (400, 3))
    return rng.random(p.shape) < p**1.3, p


def test_losses_per_label_and_pooled_equal_scikit_learn(forecast):
    Y, p = forecast
    assert log_loss(Y, p, None) == pytest.approx([metrics.log_loss(Y[:, j], p[:, j]) for j in range(3)])
    assert log_loss(Y, p) == pytest.approx(metrics.log_loss(Y.ravel(), p.ravel()))
    assert brier_loss(Y, p, None) == pytest.approx([metrics.brier_score_loss(Y[:, j], p[:, j]) for j in range(3)])
    assert brier_loss(Y, p) == pytest.approx(metrics.brier_score_loss(Y.ravel(), p.ravel()))


def test_a_certain_error_costs_a_finite_amount():
    assert log_loss([1, 0], [0.0, 0.0]) == pytest.approx(-np.log(1e-15) / 2)
    assert log_loss([1], [0.0], clip=1e-3) == pytest.approx(-np.log(1e-3))


def test_log_evidence_per_decision_and_per_label(forecast):
    Y, p = forecast
    total = np.log(np.where(Y, p, 1 - p)).sum()
    assert average_log_evidence(Y, p) == pytest.approx(total / Y.size)
    assert average_log_evidence(Y, p, "label") == pytest.approx(total / 3)


@pytest.mark.parametrize(("binning", "strategy"), [("width", "uniform"), ("mass", "quantile")])
def test_reliability_curve_equals_scikit_learn(forecast, binning, strategy):
    Y, p = forecast
    curve = reliability_curve(Y[:, [0]], p[:, [0]], n_bins=8, binning=binning)
    share, mean = calibration_curve(Y[:, 0], p[:, 0], n_bins=8, strategy=strategy)
    assert curve.n.sum() == 400
    if binning == "width":
        assert curve.mean_proba == pytest.approx(mean)
        assert curve.share_positive == pytest.approx(share)
    else:  # scikit-learn interpolates its quantiles: a document may fall on the other side of an edge
        assert (np.abs(curve.n - 50) <= 1).all()
        assert curve.mean_proba == pytest.approx(mean, abs=0.01)
        assert curve.share_positive == pytest.approx(share, abs=0.04)


def test_calibration_error_by_hand():
    # Bins [0, ½) and [½, 1]: |¼ − 0.2| · 4/6 + |1 − 0.8| · 2/6.
    Y, p = [1, 0, 0, 0, 1, 1], [0.2, 0.1, 0.3, 0.2, 0.7, 0.9]
    assert calibration_error(Y, p, n_bins=2) == pytest.approx(0.05 * 4 / 6 + 0.2 * 2 / 6)
    assert calibration_error(Y, p, None, n_bins=2) == pytest.approx([0.05 * 4 / 6 + 0.2 * 2 / 6])
    # Equal mass, 3 bins of 2: (0.1, 0.2), … ties stay together, so (0.1, 0.2, 0.2), (0.3), (0.7, 0.9).
    assert reliability_curve(Y, p, 3, "mass").n.tolist() == [3, 1, 2]


def test_calibrated_probabilities_have_little_error():
    rng = np.random.default_rng(4)
    p = rng.random((20_000, 1))
    Y = rng.random(p.shape) < p
    assert calibration_error(Y, p) < 0.02
    assert calibration_error(Y, p, binning="mass") < 0.02
    assert calibration_error(Y, p**3, binning="mass") > 0.2


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="proba has 2"):
        log_loss([[1], [0]], [[0.1, 0.2], [0.3, 0.4]])
    with pytest.raises(InputError, match="no documents"):
        brier_loss(np.empty((0, 2), bool), np.empty((0, 2)))
    with pytest.raises(InputError, match="binning='equal'"):
        calibration_error([1], [0.5], binning="equal")
    with pytest.raises(InputError, match="n_bins=0"):
        reliability_curve([1], [0.5], 0)
    with pytest.raises(InputError, match="average='macro'"):
        log_loss([1], [0.5], "macro")

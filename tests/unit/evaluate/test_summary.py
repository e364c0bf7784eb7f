"""The summary dictionary against scikit-learn, and as JSON."""

import json

import numpy as np
import pytest
from sklearn import metrics

from textbayes.core.errors import InputError
from textbayes.evaluate import calibration_error, evaluate


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(8)
    Y = rng.random((60, 3)) < [0.5, 0.3, 0.1]
    p = np.clip(0.3 * Y + 0.6 * rng.random(Y.shape), 0, 1)
    return Y, p, p > 0.5


def test_values_are_those_of_scikit_learn(problem):
    Y, p, D = problem
    result = evaluate(Y, p, D, ["corn", "ship", "wheat"])
    for average in ("micro", "macro"):
        for name, function in (
            ("f1", metrics.f1_score),
            ("precision", metrics.precision_score),
            ("recall", metrics.recall_score),
        ):
            assert result[f"{average}_{name}"] == pytest.approx(function(Y, D, average=average, zero_division=0.0))
    assert result["log_loss"] == pytest.approx(metrics.log_loss(Y.ravel(), p.ravel()))
    assert result["brier"] == pytest.approx(np.mean((p - Y) ** 2))
    assert result["ece"] == pytest.approx(calibration_error(Y, p))
    assert result["subset_accuracy"] == pytest.approx(metrics.accuracy_score(Y, D))
    assert "accuracy" not in result
    assert (result["n_docs"], result["n_labels"]) == (60, 3)
    ship = result["labels"]["ship"]
    assert ship["f1"] == pytest.approx(metrics.f1_score(Y[:, 1], D[:, 1]))
    assert ship["log_loss"] == pytest.approx(metrics.log_loss(Y[:, 1], p[:, 1]))
    assert (ship["tn"], ship["fp"], ship["fn"], ship["tp"]) == tuple(metrics.confusion_matrix(Y[:, 1], D[:, 1]).ravel())
    assert ship["support"] == Y[:, 1].sum()


def test_is_json_even_where_values_are_undefined(problem):
    Y, p, D = problem
    text = json.dumps(evaluate(Y & False, p, D & False, zero_division="skip"), allow_nan=False)
    assert json.loads(text)["macro_f1"] is None


def test_single_label_kinds_have_accuracy():
    Y = np.eye(3, dtype=bool)[[0, 1, 2, 0]]
    D = np.eye(3, dtype=bool)[[0, 1, 1, 0]]
    result = evaluate(Y, D * 1.0, D, kind="multiclass")
    assert result["accuracy"] == 0.75
    assert "subset_accuracy" not in result
    assert evaluate([1, 0, 1], [0.6, 0.7, 0.8], [1, 1, 1], kind="binary")["accuracy"] == pytest.approx(2 / 3)


def test_probabilities_may_be_missing(problem):
    Y, _, D = problem
    result = evaluate(Y, None, D)
    assert "log_loss" not in result
    assert "ece" not in result["labels"]["0"]


def test_bad_input_is_refused(problem):
    Y, p, D = problem
    with pytest.raises(InputError, match="3 labels need as many different names; 2 were given"):
        evaluate(Y, p, D, ["a", "b"])
    with pytest.raises(InputError, match="kind='single'"):
        evaluate(Y, p, D, kind="single")
    with pytest.raises(InputError, match="decisions has 2"):
        evaluate(Y, p, D[:, :2])

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
    assert result["log_loss_per"] == "decision"
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


@pytest.fixture(scope="module", params=[2, 3, 7], ids="{} classes".format)
def classes(request):
    """True and given class of 90 texts, and probabilities that add up to one."""
    rng, k = np.random.default_rng(4), request.param
    true = rng.integers(k, size=90)
    proba = rng.dirichlet(np.full(k, 0.7), size=90)
    return true, proba, proba.argmax(axis=1), [f"class {j}" for j in range(k)]


def test_exclusive_classes_are_measured_as_scikit_learn_does(classes):
    true, proba, given, names = classes
    eye = np.eye(len(names), dtype=bool)
    kind = "binary" if len(names) == 2 else "multiclass"
    result = evaluate(eye[true], proba, eye[given], names, kind=kind)
    report = metrics.classification_report(true, given, target_names=names, output_dict=True, zero_division=0.0)
    assert result["accuracy"] == pytest.approx(report["accuracy"])
    assert result["micro_f1"] == pytest.approx(report["accuracy"])
    assert result["macro_f1"] == pytest.approx(report["macro avg"]["f1-score"])
    assert result["macro_precision"] == pytest.approx(report["macro avg"]["precision"])
    assert result["log_loss"] == pytest.approx(metrics.log_loss(true, proba))
    assert result["log_loss_per"] == "text"
    for j, name in enumerate(names):
        row = result["labels"][name]
        assert row["recall"] == pytest.approx(report[name]["recall"])
        assert row["f1"] == pytest.approx(report[name]["f1-score"])
        assert row["log_loss"] == pytest.approx(-np.log(proba[true == j, j]).mean())
    assert "subset_accuracy" not in result
    assert result["brier"] == pytest.approx(np.mean((proba - eye[true]) ** 2))


def test_one_column_of_two_classes_is_both(classes):
    true, proba, given, names = classes
    if len(names) > 2:
        with pytest.raises(InputError, match=f"{len(names)} columns were given where kind='binary' has two classes"):
            evaluate(np.eye(len(names))[true], proba, np.eye(len(names))[given], kind="binary")
        return
    eye = np.eye(2, dtype=bool)
    both = evaluate(eye[true], proba, eye[given], names, kind="binary")
    one = evaluate(true == 1, proba[:, 1], given == 1, names, kind="binary")
    assert one.keys() == both.keys()
    assert list(one["labels"]) == names
    for name in ("accuracy", "macro_f1", "log_loss", "brier", "ece"):
        assert one[name] == pytest.approx(both[name], rel=1e-12)


def test_a_text_of_no_known_class_is_an_error_and_has_no_log_loss():
    Y = np.eye(3, dtype=bool)[[0, 1, 2]] & np.array([[True], [True], [False]])
    D = np.eye(3, dtype=bool)[[0, 1, 2]]
    p = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])
    result = evaluate(Y, p, D, kind="multiclass")
    assert result["accuracy"] == pytest.approx(2 / 3)
    assert result["log_loss"] == pytest.approx(np.log(2))
    D[2] = False  # nor is it right to give it nothing
    assert evaluate(Y, p, D, kind="multiclass")["accuracy"] == pytest.approx(2 / 3)


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

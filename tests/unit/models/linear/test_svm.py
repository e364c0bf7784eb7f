"""The linear support vector machine: scikit-learn's weights, and Platt's probabilities as scikit-learn has them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import LinearSVC

from textbayes.core.cross_validation import Folds
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.models.base import FitOptions
from textbayes.models.linear.svm import LinearSvm, platt


def documents(seed=0, n_docs=120, n_words=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_docs, n_words))
    y = X[:, 0] - X[:, 1] + rng.normal(size=n_docs) > 0.3
    return X, y


def fitted(X, Y, **settings):
    space = LabelSpace(np.array([f"label {k}" for k in range(Y.shape[1])], dtype=object), "multilabel")
    features = Features(None, sparse.csr_matrix(X), np.ones(len(X)))
    weight = settings.pop("weight", None)
    return LinearSvm(**settings).fit_features(features, Y, space, FitOptions(weight=weight)), features


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_those_of_scikit_learns_sigmoid_calibration(loss, weighted):
    X, y = documents()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    model, features = fitted(X, y[:, None], C=0.3, loss=loss, tol=1e-9, max_iter=100_000, weight=weight)
    folds = Folds.stratified(y[:, None], 3, 0)
    cv = [tuple(np.flatnonzero(part) for part in folds.split(k)) for k in range(folds.n)]
    machine = LinearSVC(C=0.3, loss=loss, tol=1e-9, max_iter=100_000, random_state=0)
    peer = CalibratedClassifierCV(machine, method="sigmoid", cv=cv, ensemble=False).fit(X, y, sample_weight=weight)
    expected = peer.predict_proba(X)[:, 1]
    np.testing.assert_allclose(special.expit(model.scores(features)[:, 0]), expected, atol=2e-4)
    plain = machine.fit(X, y, sample_weight=weight)
    cosine = model.coef_[0] @ plain.coef_[0] / np.linalg.norm(model.coef_[0]) / np.linalg.norm(plain.coef_[0])
    assert cosine == pytest.approx(1.0, abs=1e-6)


def test_a_label_that_no_text_has_is_unlikely_and_says_nothing():
    X, y = documents(1)
    model, features = fitted(X, np.column_stack([y, np.zeros(len(y), dtype=bool)]))
    assert not model.coef_[1].any()
    assert (special.expit(model.scores(features)[:, 1]) < 0.02).all()


def test_margins_that_point_the_wrong_way_leave_the_share_of_the_label():
    margin, positive = np.array([-2.0, -1.5, -3.0, 1.0, 2.0, 1.5, 0.5, 2.5, 3.0]), np.arange(9) < 3
    slope, base = platt(margin, positive, np.ones(9))
    assert 0.0 < slope < 0.01
    # Platt's targets: 3 of 4/5 and 6 of 1/8, 3.15 of 9 texts
    np.testing.assert_allclose(special.expit(slope * margin + base).mean(), 3.15 / 9, atol=1e-5)


@pytest.mark.parametrize(("name", "value"), [("C", 0.0), ("loss", "log"), ("cv", 1), ("tol", -1.0)])
def test_settings_that_cannot_be_used_are_named(name, value):
    X, y = documents(2)
    with pytest.raises(InputError, match=name):
        fitted(X, y[:, None], **{name: value})

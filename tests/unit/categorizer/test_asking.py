"""Criteria of asking: against enumeration, finite differences and plain retraining on tiny models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, sparse, special

from textbayes.categorizer import asking
from textbayes.models.linear import BayesLinearClassifier


def _entropy(p):
    return -np.sum(special.xlogy(p, p), axis=-1) / np.log(2.0)


def test_information_of_a_label_is_the_mutual_information_by_enumeration():
    """Weights on a grid of a thousand points a side: p(w), p(y | w) and p(y) are sums."""
    grid = np.linspace(-8.0, 8.0, 401)
    w = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    prior = np.exp(-0.5 * (w**2 / np.array([1.0, 1.5**2])).sum(axis=1))
    prior /= prior.sum()
    x = np.array([0.8, -0.6])
    p = special.expit(w @ x + 0.3)
    both = np.stack([p, 1.0 - p], axis=1)
    exact = _entropy(prior @ both) - prior @ _entropy(both)
    variance = (x**2 * np.array([1.0, 1.5**2])).sum()
    assert_allclose(asking.information(np.array([[0.3]]), np.array([variance]), False), exact, rtol=1e-4)


def test_information_of_a_class_is_the_mutual_information_by_enumeration():
    grid = np.linspace(-7.5, 7.5, 61)
    f = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    mean, variance = np.array([0.5, 0.0, -1.0]), 2.0
    weight = np.exp(-0.5 * ((f - mean) ** 2 / variance).sum(axis=1))
    weight /= weight.sum()
    proba = special.expit(f) / special.expit(f).sum(axis=1, keepdims=True)
    exact = _entropy(weight @ proba) - weight @ _entropy(proba)
    found = asking.information(mean[None], np.array([variance]), True)
    assert_allclose(found, exact, rtol=0.05)  # 64 quasi-random draws


def test_information_of_many_labels_is_the_sum_over_labels():
    mean = np.array([[0.2, -1.0, 3.0]])
    each = [asking.information(mean[:, [k]], np.array([1.3]), False)[0] for k in range(3)]
    assert_allclose(asking.information(mean, np.array([1.3]), False), sum(each))


def test_covariance_is_the_inverse_of_the_curvature_by_finite_differences():
    """The Hessian of the negative log posterior of a logistic regression, differenced, inverted and projected."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 3)), np.array([1, 0, 1, 1, 0])
    scale = np.array([1.5, 0.7, 2.0])

    def loss(w):
        eta = X[:5] @ w
        return -(y * special.log_expit(eta) + (1 - y) * special.log_expit(-eta)).sum() + 0.5 * ((w / scale) ** 2).sum()

    mode = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    step, eye = 1e-4, np.eye(3)
    hessian = np.array(
        [
            [
                (
                    loss(mode + step * (a + b))
                    - loss(mode + step * (a - b))
                    - loss(mode - step * (a - b))
                    + loss(mode - step * (a + b))
                )
                / (4 * step * step)
                for a in eye
            ]
            for b in eye
        ]
    )
    p = special.expit(X[:5] @ mode)
    found = asking.Covariance(sparse.csr_matrix(X * scale), np.arange(5, 9), np.arange(5), p * (1.0 - p))
    assert_allclose(found.between, X[5:] @ np.linalg.inv(hessian) @ X[5:].T, rtol=1e-4, atol=1e-6)


def test_an_answer_makes_variances_what_they_are_with_one_more_labelled_text():
    rng = np.random.default_rng(1)
    X = sparse.csr_matrix(rng.normal(size=(8, 5)))
    before = asking.Covariance(X, np.arange(2, 8), np.arange(2), np.array([0.2, 0.1]))
    before.answer(0, 0.15)
    after = asking.Covariance(X, np.arange(2, 8), np.arange(3), np.array([0.2, 0.1, 0.15]))
    assert_allclose(before.between, after.between, atol=1e-10)


def test_the_bits_of_a_batch_add_up_to_its_log_determinant_where_predictors_are_nearly_gaussian():
    """With small variances the information of a batch is ½ log₂ det(I + W^½ C W^½), whatever the order."""
    rng = np.random.default_rng(2)
    X = sparse.csr_matrix(0.1 * rng.normal(size=(4, 6)))
    mean = np.array([[0.1], [-0.2], [0.3], [0.0]])
    covariance = asking.Covariance(X, np.arange(4), np.array([], dtype=np.int64), np.zeros(0))
    p = special.expit(mean[:, 0])
    root = np.sqrt(p * (1.0 - p))
    exact = 0.5 * np.linalg.slogdet(np.eye(4) + root[:, None] * covariance.between * root)[1] / np.log(2.0)
    chosen, bits = asking.informative_batch(mean, covariance, 4, False)
    assert sorted(chosen) == [0, 1, 2, 3]
    assert_allclose(bits.sum(), exact, rtol=0.03)


def test_a_text_like_one_chosen_before_adds_little():
    X = sparse.csr_matrix(np.array([[3.0, 0.0], [3.0, 0.01], [0.0, 2.0]]))
    covariance = asking.Covariance(X, np.arange(3), np.array([], dtype=np.int64), np.zeros(0))
    chosen, _ = asking.informative_batch(np.zeros((3, 1)), covariance, 2, False)
    assert set(chosen) in ({0, 2}, {1, 2})


@pytest.mark.parametrize("exclusive", [True, False])
def test_expected_error_is_near_that_of_training_again(exclusive):
    """The Gaussian approximation against fits with either answer, for thirty texts."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(110, 4)) * np.array([2.0, 1.0, 1.0, 0.3])
    y = (X @ [2.0, -1.0, 0.5, 0.0] > 0.0).astype(int)
    labelled, tried, others = np.arange(20), np.arange(20, 50), np.arange(50, 110)

    def fitted(rows, answers):
        return BayesLinearClassifier(prior="gaussian", scale=0.5, fit_intercept=False, tol=1e-8).fit(X[rows], answers)

    eta = fitted(labelled, y[labelled]).decision_function(X)
    mean = np.stack([-eta, eta], axis=1) if exclusive else eta[:, None]
    p = special.expit(eta)
    both = np.concatenate([tried, others])
    found = asking.Covariance(sparse.csr_matrix(0.5 * X), both, labelled, (p * (1.0 - p))[labelled])
    between, variance = found.between[:30, 30:], found.variance[:30]
    error = asking.expected_error(mean[tried], between, variance, mean[others], exclusive)
    exact = np.zeros(30)
    for place, i in enumerate(tried):
        for answer, chance in ((1, p[i]), (0, 1.0 - p[i])):
            model = fitted(np.append(labelled, i), np.append(y[labelled], answer))
            after = special.expit(model.decision_function(X[others]))
            exact[place] += chance * np.minimum(after, 1.0 - after).mean()
    now = np.minimum(p[others], 1.0 - p[others]).mean()
    assert np.corrcoef(now - error, now - exact)[0, 1] > 0.9


def test_uncertainty_by_hand():
    proba = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    assert_allclose(asking.uncertainty(proba, True), [0.8, 0.0])
    assert_allclose(asking.uncertainty(np.array([[0.5, 0.25]]), False), [1.5])
    assert_allclose(asking.uncertainty(np.array([[0.5, 0.25, 0.25]]), True, "entropy"), [1.5])


def test_clusters_finds_groups_and_the_text_in_the_middle():
    rng = np.random.default_rng(4)
    centres = np.eye(3)
    points = np.vstack([centres[k] + 0.05 * rng.normal(size=(20, 3)) for k in range(3)])
    points = np.vstack([points, centres])  # the last three are in the middle
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    central, group = asking.clusters(points, 3, np.ones(len(points)))
    assert len(central) == 3
    assert sorted(np.bincount(group)) == [21, 21, 21]
    assert all(points[i].max() > 0.995 for i in central)


def test_clusters_of_copies_are_one():
    central, group = asking.clusters(np.tile([[1.0, 0.0]], (6, 1)), 4, np.ones(6))
    assert len(central) == 1
    assert not group.any()

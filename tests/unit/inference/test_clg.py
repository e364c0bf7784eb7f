"""Column relaxation: the bound that makes its steps safe, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from textbayes.core.errors import NotSupportedError
from textbayes.kernels.linear.likelihoods import document_terms, limited_step
from textbayes.models.linear.classifier import BayesLinearClassifier


@pytest.mark.parametrize("eta", [-700.0, -8.0, -0.4, 0.0, 0.3, 2.0, 40.0])
@pytest.mark.parametrize("reach", [0.0, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_bound_is_the_largest_curvature_within_reach(eta, reach, y):
    score, bound = document_terms(eta, y, reach)
    assert score == pytest.approx(y * special.expit(-y * eta), rel=1e-12)
    near = np.append(np.linspace(eta - reach, eta + reach, 2001), np.clip(0.0, eta - reach, eta + reach))
    assert bound == pytest.approx((special.expit(near) * special.expit(-near)).max(), rel=1e-9)


FREE = (-np.inf, np.inf)


def test_steps_stop_at_the_radius_and_at_the_kink():
    assert limited_step(10.0, 1.0, 0.0, 1.0, 0.0, *FREE, 2.0) == 2.0  # would be 9
    assert limited_step(-10.0, 1.0, 0.0, 1.0, 0.0, *FREE, 2.0) == -2.0
    assert limited_step(0.5, 1.0, 0.0, 1.0, 0.0, *FREE, 2.0) == 0.0
    assert limited_step(-0.3, 1.0, 0.7, 1.0, 0.0, *FREE, 2.0) == -0.7  # 0.4 is within the kink: exactly to the mean
    assert limited_step(3.0, 1.0, 0.0, 1.0, 1.0, *FREE, 2.0) == 1.0
    assert limited_step(10.0, 1.0, 0.0, 1.0, 0.0, -np.inf, 0.5, 2.0) == 0.5  # a bound on the weight itself


def test_other_links_are_refused():
    with pytest.raises(NotSupportedError, match="use link 'logit', or inference 'coordinate'"):
        BayesLinearClassifier("probit", inference="clg").fit(np.eye(4), [0, 1, 0, 1])


def test_words_far_apart_in_scale_do_not_overshoot():
    """A huge feature makes the quadratic model useless outside its trust region."""
    X = np.column_stack([np.array([-1e4, -1e4, 1e4, 1e4]), [1.0, 0.0, 1.0, 0.0]])
    model = BayesLinearClassifier("logit", "gaussian", inference="clg", tol=1e-8, max_iter=500).fit(X, [0, 0, 1, 1])
    other = BayesLinearClassifier("logit", "gaussian", tol=1e-8).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(model.fit_info_.objective, other.fit_info_.objective, rtol=1e-6, atol=1e-12)

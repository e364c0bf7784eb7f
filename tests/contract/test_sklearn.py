"""scikit-learn's own checks; estimators of texts have theirs in test_sklearn_text.py."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from textbayes import BayesLinearClassifier, BayesMultinomialClassifier, BayesOnlineClassifier
from textbayes.tune import BayesLinearClassifierCV

ESTIMATORS = [
    # Weights equal repetition at the optimum only, so the checks run close to it.
    BayesLinearClassifier(tol=1e-11),
    BayesLinearClassifier(link="probit", prior="gaussian", tol=1e-11),
    BayesLinearClassifierCV(scales=3, cv=2, tol=1e-11),
    BayesMultinomialClassifier(tol=1e-11, max_iter=1000),
    BayesMultinomialClassifier(prior="gaussian", inference="newton", tol=1e-11),
    BayesOnlineClassifier(),
    BayesOnlineClassifier(covariance="full", passes=2),
    BayesOnlineClassifier(covariance="low_rank", rank=2),
]


def expected_failures(estimator):
    """These shuffle the weighted documents but not the repeated ones, and an online learner depends on the order.

    That weights equal repetition in place is tested in tests/unit/online/test_classifier.py.
    """
    if not isinstance(estimator, BayesOnlineClassifier):
        return {}
    reason = "compares two orders of the documents; what is learnt online depends on their order"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)

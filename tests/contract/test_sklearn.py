"""scikit-learn's own checks; estimators of texts have theirs in test_sklearn_text.py."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from textbayes import BayesLinearClassifier
from textbayes.tune import BayesLinearClassifierCV

ESTIMATORS = [
    # Weights equal repetition at the optimum only, so the checks run close to it.
    BayesLinearClassifier(tol=1e-11),
    BayesLinearClassifier(link="probit", prior="gaussian", tol=1e-11),
    BayesLinearClassifierCV(scales=3, cv=2, tol=1e-11),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_estimator_checks(estimator, check):
    check(estimator)

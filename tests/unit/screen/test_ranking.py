"""Intervals against the posterior of all weights, written out."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from textbayes.screen.remaining import State, estimate_remaining
from textbayes.screen.solver import standard_errors
from textbayes.screen.status import estimate


def test_standard_errors_are_those_of_all_weights():
    random = np.random.default_rng(0)
    X = sparse.csr_matrix(random.random((12, 5)) * (random.random((12, 5)) < 0.6))
    judged, weight, eta = np.arange(7), random.random(7) * 3, random.normal(size=7)
    found = standard_errors(X, np.array([8, 9, 1]), judged, weight, eta)
    ones = np.column_stack([X.toarray(), np.ones(12)])
    p = 1.0 / (1.0 + np.exp(-eta))
    precision = np.eye(6) + ones[:7].T @ (ones[:7] * (weight * p * (1 - p))[:, None])
    covariance = np.linalg.inv(precision)
    np.testing.assert_allclose(found, [np.sqrt(ones[i] @ covariance @ ones[i]) for i in (8, 9, 1)])


def test_probabilities_add_up_to_what_is_left(screening, answer):
    state = screening(questions={"relevant": "green tea"})
    answer(state, 60)
    topic = state.topic()
    told = estimate(topic, topic.unread().tolist())
    total = sum(record.probability for record in told)
    assert total <= estimate_remaining(State.of(topic)).mean * 1.0001
    assert all(record.low < record.probability < record.high for record in told)
    order = np.argsort([-record.probability for record in told], kind="stable")
    np.testing.assert_array_equal(order, np.argsort(-topic.predictors[topic.unread()], kind="stable"))

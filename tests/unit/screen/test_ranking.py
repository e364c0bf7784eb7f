"""Intervals against the posterior of all weights, written out."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from textbayes.screen import export_model
from textbayes.screen.remaining import State, calibration_line, estimate_remaining
from textbayes.screen.solver import GramSolver, standard_errors
from textbayes.screen.status import estimate, probabilities


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


def test_predictors_without_an_answer_are_those_of_fits_without_it(screening, answer):
    state = screening()
    answer(state, 60)
    topic = state.topic()
    relevant, found, counts = topic.left_out()
    judged, y, weights, _ = topic._judged()
    order = np.argsort(y < 0, kind="stable")  # relevant ones first
    judged, y = judged[order], y[order]
    assert relevant.tolist() == (y > 0).tolist()
    assert (counts == 1.0).all()
    without = []
    for i in range(len(judged)):
        solver = GramSolver(state.collection.X, tol=1e-8)
        rest = np.delete(np.arange(len(judged)), i)
        nothing = np.zeros(state.collection.X.shape[0])
        solver.fit(judged[rest], y[rest], weights, nothing)
        without.append(solver.predictors(nothing)[judged[i]])
    # Leaving one out moves the intercept a little more than a quadratic likelihood has it, for all by the same.
    shift = found - without
    in_sample = topic.predictors[judged] - without
    assert shift.std() < 0.1 * in_sample.std()
    assert np.abs(shift).max() < 0.2 * np.abs(in_sample).max()


def test_a_choice_of_the_judged_records_stands_for_all(screening, answer, monkeypatch):
    state = screening()
    answer(state, 120)
    topic = state.topic()
    whole = calibration_line(topic.left_out())
    monkeypatch.setattr("textbayes.screen.topic._LEFT_OUT", 30)
    topic._left_out = None
    part = topic.left_out()
    assert len(part.relevant) < 70
    assert part.counts.sum() == 120
    assert part.counts @ part.relevant == (topic.answers == 1).sum()
    middle = topic.predictors.mean()
    assert abs(np.dot(calibration_line(part), [1.0, middle]) - np.dot(whole, [1.0, middle])) < 0.5


def test_what_was_judged_relevant_is_probable_and_the_model_file_finds_it(screening, answer, review):
    state = screening()
    answer(state, 80)
    topic, relevant = state.topic(), review[2]
    p = probabilities(topic, range(150))
    judged, found = topic.answers != 0, relevant & (topic.answers == 1)
    assert np.median(p[found]) > 0.5 > 3 * np.median(p[judged & ~relevant])
    decided = export_model(state).predict_labels(review[1])
    right = np.array([bool(labels) for labels in decided]) == relevant
    assert right.mean() > 0.95


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

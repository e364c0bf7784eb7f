"""What every registered decision rule must do; a new file in textbayes/decide is tested here by being there."""

import json

import numpy as np
import pytest
from sklearn.base import clone

from textbayes.core.errors import InputError
from textbayes.core.state import from_state, to_state
from textbayes.decide import Rule, make_rule, rules

pytestmark = pytest.mark.filterwarnings("ignore:(precision|recall) .* is not reached")

every_rule = pytest.mark.parametrize("name", rules.names())


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(20)
    Y = rng.random((120, 4)) < [0.5, 0.3, 0.1, 0.04]
    logits = rng.normal(-1.0, 1.5, Y.shape) + 2.5 * Y
    return 1 / (1 + np.exp(-logits)), Y


@every_rule
def test_is_a_clonable_decision_rule_under_its_own_name(name):
    rule = make_rule(name)
    assert isinstance(rule, Rule)
    assert rule.name == name
    assert clone(rule).get_params() == rule.get_params()
    assert rules.get(name).__doc__


@every_rule
def test_decides_yes_or_no_for_each_document_and_label(name, problem):
    proba, Y = problem
    rule = make_rule(name)
    assert rule.fit(proba, Y) is rule
    decisions = rule.decide(proba[:50])
    assert decisions.shape == (50, 4)
    assert decisions.dtype == np.bool_
    if hasattr(rule, "thresholds_"):
        assert rule.thresholds_.shape == (4,)
        assert np.isfinite(rule.thresholds_).all()


@every_rule
def test_can_be_checked_before_there_are_documents(name):
    for n_labels in (2, 3, 7) if name == "top_label" else (1, 2, 7):
        rule = make_rule(name)
        rule.check_params(n_labels)
        assert not hasattr(rule, "n_labels_")


@every_rule
def test_says_what_decides(name, problem):
    proba, Y = problem
    rule = make_rule(name).fit(proba, Y)
    for column in range(4):
        threshold = rule.threshold_of(column)
        assert rule.reason(column)
        if threshold is not None:
            assert (rule.decide(proba)[:, column] == (proba[:, column] > threshold)).all()
            if 0.0 < threshold < 1.0:
                assert f"threshold {threshold:.3g}" in rule.reason(column)
                assert f"threshold {1.0 - threshold:.3g}" in rule.reason(column, mirrored=True)


@every_rule
def test_fitting_leaves_parameters_and_input_alone(name, problem):
    proba, Y = problem
    rule = make_rule(name)
    before, kept_proba, kept_Y = rule.get_params(), proba.copy(), Y.copy()
    rule.fit(proba, Y).decide(proba)
    assert rule.get_params() == before
    assert (proba == kept_proba).all()
    assert (kept_Y == Y).all()


@every_rule
def test_state_survives_strict_json(name, problem):
    proba, Y = problem
    rule = make_rule(name).fit(proba, Y)
    meta, arrays = to_state(rule, "rule")
    text = json.dumps(meta, allow_nan=False)
    revived = from_state(type(rule), json.loads(text), arrays, "the rule", "rule")
    assert (revived.decide(proba) == rule.decide(proba)).all()
    again, same = to_state(revived, "rule")
    assert json.dumps(again, allow_nan=False) == text
    assert {name: array.tobytes() for name, array in same.items()} == {
        name: array.tobytes() for name, array in arrays.items()
    }


@every_rule
def test_order_of_documents_does_not_matter(name, problem):
    proba, Y = problem
    order = np.random.default_rng(3).permutation(len(Y))
    here = make_rule(name).fit(proba, Y).decide(proba)
    there = make_rule(name).fit(proba[order], Y[order]).decide(proba[order])
    assert (here[order] == there).all()


@every_rule
def test_order_of_labels_does_not_matter(name, problem):
    proba, Y = problem
    order = [2, 0, 3, 1]
    here = make_rule(name).fit(proba, Y).decide(proba)
    there = make_rule(name).fit(proba[:, order], Y[:, order]).decide(proba[:, order])
    assert (here[:, order] == there).all()


@every_rule
def test_higher_probability_is_never_turned_down(name, problem):
    proba, Y = problem
    if name == "top_label":
        pytest.skip("chooses within a document, not within a label")
    decisions = make_rule(name).fit(proba, Y).decide(proba)
    for label in range(Y.shape[1]):
        accepted, refused = proba[decisions[:, label], label], proba[~decisions[:, label], label]
        assert not accepted.size or not refused.size or accepted.min() > refused.max()


@every_rule
def test_a_label_without_positives_does_not_break_the_rule(name, problem):
    proba, Y = problem
    Y = Y.copy()
    Y[:, 1] = False
    make_rule(name).fit(proba, Y).decide(proba)


@every_rule
def test_extreme_and_equal_probabilities_are_taken(name):
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    for proba in (np.zeros((4, 2)), np.ones((4, 2)), np.full((4, 2), 0.5), Y.astype(float)):
        assert make_rule(name).fit(proba, Y).decide(proba).shape == (4, 2)


@every_rule
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p, Y: (p * np.nan, Y), "NaN"),
        (lambda p, Y: (p + 1, Y), r"probabilities lie in \[0, 1\]"),
        (lambda p, Y: (p[:-1], Y), "differ in length"),
        (lambda p, Y: (p[:, :-1], Y), "labels"),
        (lambda p, Y: (p, Y + 2), "other than 0 and 1"),
        (lambda p, Y: (p[:0], Y[:0]), "empty"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(name, change, message, problem):
    with pytest.raises(InputError, match=message):
        make_rule(name).fit(*change(*problem))


@every_rule
def test_other_labels_than_fitted_are_refused(name, problem):
    proba, Y = problem
    rule = make_rule(name).fit(proba, Y)
    with pytest.raises(InputError, match="fitted on 4"):
        rule.decide(proba[:, :3])


@every_rule
def test_a_rule_that_learns_must_be_fitted_first(name, problem):
    rule = make_rule(name)
    if not rule.learns and name != "unsure":
        assert rule.decide(problem[0]).shape == problem[0].shape
    else:
        with pytest.raises(InputError, match="has not been fitted"):
            rule.decide(problem[0])

"""Making rules by name, their state, and averaging thresholds over folds."""

import json

import numpy as np
import pytest

from textbayes.core.codec import read, written
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.state import Part
from textbayes.decide import NEVER, FewestErrors, FixedThreshold, MaxF1, UnsureBand, make_rule, rules

RULE = {"rule": Part(rules)}


def restored(meta, arrays=None):
    return read(RULE, {"rule": meta}, arrays or {}, "the model")["rule"]


def test_names_lead_to_classes():
    assert rules.get("max_f1") is MaxF1
    with pytest.raises(InputError, match="did you mean 'max_f1'"):
        rules.get("maxf1")


def test_make_rule_takes_names_and_copies_rules():
    assert make_rule("max_f1", fbr=0.3).fbr == 0.3
    original = MaxF1(beta=2.0).fit([0.1, 0.9], [0, 1])
    copy = make_rule(original)
    assert copy.beta == 2.0
    assert not hasattr(copy, "thresholds_")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_rule("max_f1", bfr=0.3), "no parameter 'bfr'; it has: .*fbr"),
        (lambda: make_rule(3), "neither the name"),
        (lambda: FewestErrors().fit([0.5, 0.6]), "learns from true labels"),
        (lambda: MaxF1().fit_folds([]), "no folds"),
        (lambda: MaxF1().fit_folds([([0.5], [1]), ([[0.5, 0.5]], [[1, 0]])]), "differ in their number of labels"),
        (lambda: MaxF1().fit_folds([([0.5], [1])], scale="odds"), "scale='odds' is not known"),
    ],
)
def test_mistakes_are_refused_in_a_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"name": "fixed"}, "the name of a decision rule and its fields are needed"),
        ({"name": "nope", "fields": {}}, "unknown decision rule"),
        ({"name": "fixed", "fields": {"threshold": 0.5, "x": 1}}, "its rule.x is not known"),
        ({"name": "fixed", "fields": {"threshold": "much"}}, "its rule.threshold cannot be 'much'"),
    ],
)
def test_a_state_that_no_rule_has_is_refused(meta, message):
    with pytest.raises(ModelFileError, match=message):
        restored(meta)


def test_state_holds_nested_rules_and_array_parameters():
    rule = UnsureBand(MaxF1(fbr=0.2), low=np.array([0.1, 0.2]), high=0.9)
    rule.fit([[0.2, 0.3], [0.8, 0.9]], [[0, 0], [1, 1]])
    meta, arrays = written({"rule": rule}, RULE)
    assert meta["rule"]["fields"]["rule"]["fields"]["fbr"] == 0.2
    revived = restored(json.loads(json.dumps(meta["rule"])), arrays)
    assert revived.low.tolist() == [0.1, 0.2]
    grid = np.linspace(0, 1, 41)[:, None] * [1, 1]
    assert (revived.unsure(grid) == rule.unsure(grid)).all()


def test_fold_thresholds_are_averaged_on_either_scale():
    folds = [([0.1, 0.3], [0, 1]), ([0.5, 0.7], [0, 1])]  # thresholds 0.2 and 0.6
    assert FewestErrors().fit_folds(folds).thresholds_ == pytest.approx([0.4])
    odds = np.sqrt((0.2 / 0.8) * (0.6 / 0.4))
    assert FewestErrors().fit_folds(folds, scale="logit").thresholds_ == pytest.approx([odds / (1 + odds)])


def test_a_fold_without_positives_says_nothing():
    folds = [([0.1, 0.3], [0, 1]), ([0.5, 0.7], [0, 0])]
    assert MaxF1().fit_folds(folds).thresholds_ == pytest.approx([0.2])
    assert MaxF1().fit_folds(folds[1:]).thresholds_ == [NEVER]


def test_a_fold_that_says_never_decides_for_all():
    folds = [([0.1, 0.3], [0, 1]), ([0.9, 0.8, 0.7, 0.1], [0, 0, 0, 1])]
    assert MaxF1(fbr=0.5, fallback="never").fit_folds(folds).thresholds_ == [NEVER]
    assert MaxF1(fbr=0.5, fallback="never").fit_folds(folds, scale="logit").thresholds_ == [NEVER]
    assert MaxF1(fbr=0.5).fit_folds(folds).thresholds_ == pytest.approx([(0.2 + 0.9) / 2])


def test_fixed_thresholds_per_label():
    rule = FixedThreshold([0.5, 0.2]).fit([[0.1, 0.1]])
    assert rule.thresholds_.tolist() == [0.5, 0.2]
    assert rule.decide([[0.5, 0.3], [0.6, 0.2]]).tolist() == [[False, True], [True, False]]
    with pytest.raises(InputError, match="one number or 3"):
        rule.set_params(threshold=[0.5, 0.2]).fit([[0.1, 0.1, 0.1]])
    with pytest.raises(InputError, match="finite"):
        FixedThreshold(np.inf).fit([0.1])

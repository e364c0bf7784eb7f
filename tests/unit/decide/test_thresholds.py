"""Tuned thresholds against brute force over every possible cut, and against worked examples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit
from sklearn.metrics import fbeta_score

from textbayes.core.errors import InputError
from textbayes.decide import (
    ALWAYS,
    NEVER,
    FewestErrors,
    MaxF1,
    MicroMacroF1,
    ProportionalCut,
    TargetPrecision,
    TargetRecall,
)

# Few distinct values, so that ties, zeros and ones all come up.
coarse = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])


@st.composite
def scored(draw, values=coarse):
    n = draw(st.integers(1, 12))
    return draw(hnp.arrays(float, (n, 1), elements=values)), draw(hnp.arrays(bool, (n, 1)))


def all_decisions(proba):
    """Every set of yes that some threshold gives, strictest first."""
    cuts = [2.0, *sorted(set(proba.ravel()), reverse=True)]
    return [proba >= cut for cut in cuts]


def f_beta(Y, yes, beta=1.0, smoothing=0.0):
    tp, fp, fn = (Y & yes).sum(), (~Y & yes).sum(), (Y & ~yes).sum()
    below = (1 + beta**2) * tp + beta**2 * fn + fp + smoothing
    return ((1 + beta**2) * tp + smoothing) / below if below else 1.0


@given(scored() | scored(st.floats(0, 1)))
def test_fewest_errors_is_the_minimum_over_all_cuts(data):
    proba, Y = data
    rule = FewestErrors().fit(proba, Y)
    decisions = rule.decide(proba)
    fewest = min((yes != Y).sum() for yes in all_decisions(proba))
    assert (decisions != Y).sum() == fewest == rule.errors_[0]
    strictest = next(yes for yes in all_decisions(proba) if (yes != Y).sum() == fewest)
    assert (decisions == strictest).all()


@given(scored() | scored(st.floats(0, 1)), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from(["probability", "logit"]))
def test_max_f1_is_the_maximum_over_all_cuts(data, beta, scale):
    proba, Y = data
    rule = MaxF1(beta=beta, scale=scale).fit(proba, Y)
    decisions = rule.decide(proba)
    best = max(f_beta(Y, yes, beta) for yes in all_decisions(proba))
    assert f_beta(Y, decisions, beta) == pytest.approx(best)
    assert rule.f_[0] == pytest.approx(best)
    if Y.any():
        assert best == pytest.approx(fbeta_score(Y, decisions, beta=beta, zero_division=0.0))
    else:
        assert rule.thresholds_[0] == NEVER


@given(scored(), st.sampled_from([0.5, 1.0, 4.0]))
def test_smoothing_maximises_the_smoothed_measure(data, smoothing):
    proba, Y = data
    decisions = MaxF1(smoothing=smoothing).fit(proba, Y).decide(proba)
    best = max(f_beta(Y, yes, 1.0, smoothing) for yes in all_decisions(proba))
    assert f_beta(Y, decisions, 1.0, smoothing) == pytest.approx(best)


@given(scored(), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore:precision .* is not reached")
def test_target_precision_has_the_highest_recall_that_reaches_it(data, target):
    proba, Y = data
    rule = TargetPrecision(target).fit(proba, Y)
    decisions = rule.decide(proba)
    hits = [(Y & yes).sum() for yes in all_decisions(proba) if yes.any() and (Y & yes).sum() / yes.sum() >= target]
    reachable = max(hits, default=0) > 0
    assert rule.reached_[0] == reachable
    assert (Y & decisions).sum() == (max(hits) if reachable else 0)
    assert not reachable or (Y & decisions).sum() / decisions.sum() >= target


@given(scored(), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore:recall .* is not reached")
def test_target_recall_says_yes_as_seldom_as_it_can(data, target):
    proba, Y = data
    decisions = TargetRecall(target).fit(proba, Y).decide(proba)
    if not Y.any():
        assert not decisions.any()
        return
    enough = [yes.sum() for yes in all_decisions(proba) if (Y & yes).sum() / Y.sum() >= target]
    assert (Y & decisions).sum() / Y.sum() >= target
    assert decisions.sum() == min(enough)


def test_threshold_lies_half_way_on_its_scale():
    proba, Y = [0.9, 0.5, 0.2], [1, 0, 0]
    assert MaxF1().fit(proba, Y).thresholds_ == pytest.approx([0.7])
    odds = np.sqrt(9.0 * 1.0)
    assert MaxF1(scale="logit").fit(proba, Y).thresholds_ == pytest.approx([odds / (1 + odds)])


def test_threshold_between_neighbouring_floats_still_cuts():
    low = 0.3
    high = np.nextafter(low, 1)
    assert FewestErrors().fit([low, high], [0, 1]).decide([low, high]).ravel().tolist() == [False, True]


def test_accepting_a_probability_of_zero_needs_always():
    rule = MaxF1().fit([0.0, 0.0], [1, 1])
    assert rule.thresholds_ == [ALWAYS]
    assert rule.decide([0.0]).all()


def test_fbr_distrusts_a_low_f1():
    proba, Y = [0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1]  # best F1 is 2/5, by saying yes to all
    assert MaxF1(fbr=0.3).fit(proba, Y).thresholds_ == pytest.approx([0.3])
    assert MaxF1(fbr=0.5).fit(proba, Y).thresholds_ == [0.9]  # SCutFBR.1: above all seen so far
    assert MaxF1(fbr=0.5, fallback="never").fit(proba, Y).thresholds_ == [NEVER]  # SCutFBR.0


def test_fbr_without_positives_asks_for_more_than_was_seen():
    assert MaxF1(fbr=0.1).fit([0.2, 0.7], [0, 0]).thresholds_ == [0.7]
    assert MaxF1(fbr=0.1, fallback="never").fit([0.2, 0.7], [0, 0]).thresholds_ == [NEVER]
    assert MaxF1(fbr=0.1).fit_folds([([0.2], [0]), ([0.4], [0])]).thresholds_ == pytest.approx([0.4])


def test_micro_target_gives_one_threshold_for_pooled_decisions():
    proba = np.array([[0.9, 0.3], [0.4, 0.2], [0.1, 0.6]])
    Y = np.array([[1, 0], [0, 0], [0, 1]], dtype=bool)
    rule = MaxF1(target="micro").fit(proba, Y)
    assert rule.thresholds_ == pytest.approx([0.5, 0.5])
    assert rule.f_ == pytest.approx([1.0, 1.0])


def test_micro_macro_follows_its_definition():
    rng = np.random.default_rng(5)
    Y = rng.random((60, 4)) < [0.5, 0.3, 0.15, 0.05]
    proba = np.clip(0.4 * Y + 0.6 * rng.random(Y.shape), 0, 1)
    decisions = MicroMacroF1().fit(proba, Y).decide(proba)
    hits = errors = 0
    for rank, label in enumerate(np.argsort(-Y.sum(axis=0)), start=1):
        truth = Y[:, [label]]

        def objective(yes, truth=truth, rank=rank, hits=hits, errors=errors):
            micro = (
                2 * (hits + (truth & yes).sum()) / (2 * (hits + (truth & yes).sum()) + errors + (truth != yes).sum())
            )
            return micro + f_beta(truth, yes) / rank

        options = all_decisions(proba[:, [label]])
        best = options[int(np.argmax([objective(yes) for yes in options]))]
        assert (decisions[:, [label]] == best).all()
        hits += (truth & best).sum()
        errors += (truth != best).sum()


def test_micro_macro_spares_the_pool_the_false_alarms_of_a_rare_label():
    rng = np.random.default_rng(6)
    common, rare = rng.random(500) < 0.5, np.zeros(500, dtype=bool)
    rare[0] = True
    proba = np.column_stack([np.where(common, 0.9, 0.1), rng.random(500)])
    proba[0, 1] = np.sort(proba[:, 1])[300]  # the only positive lies deep in the ranking
    Y = np.column_stack([common, rare])
    assert MaxF1().fit(proba, Y).decide(proba)[:, 1].sum() > 150
    assert MicroMacroF1().fit(proba, Y).decide(proba)[:, 1].sum() == 0


def test_confidence_asks_for_more_than_a_lucky_few():
    proba, Y = np.linspace(0.9, 0.1, 9), [1, 1, 1, 0, 1, 0, 0, 0, 0]
    assert TargetPrecision(0.9).fit(proba, Y).reached_[0]
    with pytest.warns(UserWarning, match=r"precision 0.9 is not reached .* for 1 of 1 labels: 1 are never assigned"):
        rule = TargetPrecision(0.9, confidence=0.95).fit(proba, Y)
    assert rule.thresholds_ == [NEVER]
    # Wilson by hand for 3 of 3, z = 1.6449: 3 / (3 + z²) = 0.526.
    assert TargetPrecision(0.52, confidence=0.95).fit(proba[:3], Y[:3]).reached_[0]
    with pytest.warns(UserWarning, match=r"precision 0.53 is not reached"):
        assert not TargetPrecision(0.53, confidence=0.95).fit(proba[:3], Y[:3]).reached_[0]
    with pytest.warns(UserWarning, match="the others always"):
        assert TargetRecall(0.9, confidence=0.95).fit(proba, Y).thresholds_ == [ALWAYS]


def test_unreached_precision_can_take_the_nearest_cut():
    proba, Y = [0.9, 0.8, 0.7], [0, 1, 0]
    with pytest.warns(UserWarning, match="the others at their highest precision"):
        rule = TargetPrecision(0.9, unreached="best").fit(proba, Y)
    assert rule.decide(proba).ravel().tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (MaxF1(beta=0), "beta=0 must be above 0"),
        (MaxF1(fbr=1.5), r"fbr=1.5 must lie in \[0, 1\]"),
        (MaxF1(smoothing=-1), "smoothing=-1"),
        (MaxF1(target="macro"), "target='macro' is not known"),
        (MaxF1(fallback="none"), "fallback='none'"),
        (MicroMacroF1(scale="odds"), "scale='odds'"),
        (TargetPrecision(2), "precision=2"),
        (TargetRecall(-1), "recall=-1"),
        (TargetRecall(0.5, confidence=3), "confidence=3"),
    ],
)
def test_bad_parameters_are_refused(rule, message):
    with pytest.raises(InputError, match=message):
        rule.fit([0.1, 0.9], [0, 1])


@given(st.data())
def test_proportional_cut_gives_a_label_as_often_as_texts_have_it(data):
    n = data.draw(st.integers(2, 12))
    # Thousandths: there is no number between two neighbouring ones of the machine.
    proba = data.draw(hnp.arrays(int, (n, 2), elements=st.integers(10, 990), unique=True)) / 1000
    Y = data.draw(hnp.arrays(bool, (n, 2)))
    decisions = ProportionalCut(strength=0).fit(proba, Y).decide(proba)
    assert (decisions.sum(axis=0) == Y.sum(axis=0))[Y.any(axis=0)].all()


def test_proportional_cut_is_drawn_to_what_all_labels_share():
    """By hand, in log-odds: label 0 takes its one text above 0 of −1 and 2; both together take 3 of −3 … 3."""
    log_odds = np.array([[2.0, 3.0], [-1.0, 1.0], [-2.0, -3.0]])
    Y = np.array([[1, 1], [0, 1], [0, 0]], dtype=bool)
    own, common = np.array([-1.0 + 0.2 * 3.0, -3.0 + 0.2 * 4.0]), -1.0 + 0.2 * 2.0
    expected = (np.array([1, 2]) * own + 4.0 * common) / (np.array([1, 2]) + 4.0)
    rule = ProportionalCut(strength=4).fit(expit(log_odds), Y)
    assert rule.thresholds_ == pytest.approx(expit(expected))
    many = ProportionalCut().fit(np.tile(expit(log_odds), (1000, 1)), np.tile(Y, (1000, 1)))
    fixed = ProportionalCut(strength=15).fit(np.tile(expit(log_odds), (1000, 1)), np.tile(Y, (1000, 1)))
    assert many.thresholds_ == pytest.approx(fixed.thresholds_)


def test_proportional_cut_of_labels_that_no_text_or_every_text_has():
    proba = np.array([[0.9, 0.4, 0.6], [0.2, 0.3, 0.5]])
    rule = ProportionalCut(strength=0).fit(proba, [[1, 0, 1], [0, 0, 1]])
    assert rule.decide([[0.5, 0.35, 0.45]]).tolist() == [[True, False, True]]  # the middle one takes the common cut
    assert rule.decide([[0.5, 0.99, 0.45]])[0, 1]
    assert (ProportionalCut().fit(proba, np.zeros((2, 3), dtype=bool)).thresholds_ == NEVER).all()

"""The unsure band against brute force over all pairs of cuts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from textbayes.core.errors import InputError
from textbayes.decide import UnsureBand


@st.composite
def scored(draw):
    n = draw(st.integers(1, 10))
    values = st.sampled_from([0.05, 0.2, 0.35, 0.45, 0.55, 0.65, 0.8, 0.95])
    return draw(hnp.arrays(float, n, elements=values)), draw(hnp.arrays(bool, n))


def every_band(p):
    """All (yes, no) zones around 0.5 that two thresholds can give."""
    levels = sorted(set(p))
    highs = [None, *[level for level in levels if level > 0.5]]
    lows = [None, *[level for level in levels if level <= 0.5]]
    for high in highs:
        for low in lows:
            yield (p >= high if high else np.zeros(len(p), bool)), (p <= low if low else np.zeros(len(p), bool))


@given(scored(), st.sampled_from([0.0, 0.1, 0.25, 0.5]))
@settings(max_examples=150)
def test_error_rate_band_is_the_narrowest(data, rate):
    p, y = data
    rule = UnsureBand(error_rate=rate).fit(p, y)
    unsure, decided = rule.unsure(p).ravel(), rule.decide(p).ravel()
    sure = ~unsure
    assert (decided[sure] != y[sure]).sum() <= rate * sure.sum() + 1e-9
    most = max(
        (yes | no).sum()
        for yes, no in every_band(p)
        if (yes & ~y).sum() + (no & y).sum() <= rate * (yes | no).sum() + 1e-9
    )
    assert sure.sum() == most


@given(scored(), st.sampled_from([0.5, 0.75, 0.9, 1.0]))
@settings(max_examples=150)
def test_precision_band_is_the_narrowest_on_each_side(data, target):
    p, y = data
    rule = UnsureBand(precision=target).fit(p, y)
    unsure, decided = rule.unsure(p).ravel(), rule.decide(p).ravel()
    yes, no = decided & ~unsure, ~decided & ~unsure
    bands = list(every_band(p))
    assert yes.sum() == max(zone.sum() for zone, _ in bands if y[zone].sum() >= target * zone.sum() - 1e-9)
    assert no.sum() == max(zone.sum() for _, zone in bands if (~y[zone]).sum() >= target * zone.sum() - 1e-9)


def test_fixed_band_holds_the_threshold_of_the_inner_rule():
    rule = UnsureBand("fewest_errors", low=0.3, high=0.5).fit([0.5, 0.7, 0.8], [0, 0, 1])
    assert rule.thresholds_ == pytest.approx([0.75])
    assert (rule.low_[0], rule.high_[0]) == pytest.approx((0.3, 0.75))
    assert rule.decide([0.2, 0.6, 0.9]).ravel().tolist() == [False, False, True]
    assert rule.unsure([0.2, 0.6, 0.9]).ravel().tolist() == [False, True, False]


def test_needs_folds_only_when_something_is_learnt():
    assert not UnsureBand().learns
    assert UnsureBand("max_f1").learns
    assert UnsureBand(error_rate=0.1).learns
    assert UnsureBand("utility").needs_probabilities


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (UnsureBand(precision=0.9, error_rate=0.1), "choose one"),
        (UnsureBand("top_label"), "no threshold to put a band around"),
        (UnsureBand(low=0.8, high=0.2), "low=0.8 is above high=0.2"),
        (UnsureBand(precision=1.2), "precision=1.2"),
    ],
)
def test_bad_bands_are_refused(rule, message):
    with pytest.raises(InputError, match=message):
        rule.fit([[0.1, 0.2], [0.8, 0.9]], [[0, 0], [1, 1]])

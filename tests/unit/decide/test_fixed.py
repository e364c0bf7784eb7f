"""Linear utility against expected utilities computed outcome by outcome."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from textbayes.core.errors import InputError
from textbayes.decide import ALWAYS, NEVER, LinearUtility

worth = st.integers(-5, 5).map(float)


@given(worth, worth, worth, worth, st.floats(0, 1))
def test_takes_the_answer_of_higher_expected_utility(tp, fp, fn, tn, p):
    assume(not (tp < fn and fp > tn))
    yes, no = p * tp + (1 - p) * fp, p * fn + (1 - p) * tn
    assume(abs(yes - no) > 1e-9)
    assert LinearUtility(tp, fp, fn, tn).decide([p])[0, 0] == (yes > no)


def test_filtering_utility_has_threshold_one_third():
    assert LinearUtility().fit([0.5]).thresholds_ == pytest.approx([1 / 3])


def test_utilities_may_differ_by_label():
    rule = LinearUtility(tp=[1, 1, 1, -1], fp=[-1, -9, 1, -1]).fit(np.full((1, 4), 0.5))
    assert rule.thresholds_ == pytest.approx([0.5, 0.9, ALWAYS, NEVER])


def test_reversed_signs_are_refused():
    with pytest.raises(InputError, match="check the signs"):
        LinearUtility(tp=-1, fp=1).decide([0.5])
    with pytest.raises(InputError, match="tp has shape"):
        LinearUtility(tp=[1, 2]).decide([[0.5, 0.5, 0.5]])

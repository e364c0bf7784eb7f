"""TREC filtering measures on worked examples."""

import numpy as np
import pytest

from textbayes.evaluate import (
    ContingencyTable,
    filtering_summary,
    linear_utility,
    scaled_utility,
    t9p,
    t9u,
    t11su,
    t11u,
    zero_returns,
)


@pytest.fixture
def topics():
    """Four topics: good; over-generous; silent; without relevant documents."""
    tp, fp, fn = np.array([30.0, 5.0, 0.0, 0.0]), np.array([10.0, 195.0, 0.0, 3.0]), np.array([20.0, 5.0, 8.0, 0.0])
    return ContingencyTable(tp, fp, fn, 1000 - tp - fp - fn)


def test_t9p_penalises_fewer_than_the_target(topics):
    assert t9p(topics) == pytest.approx([30 / 50, 5 / 200, 0, 0])
    assert t9p(topics, target=10) == pytest.approx([30 / 40, 5 / 200, 0, 0])


def test_utilities(topics):
    assert linear_utility(topics) == pytest.approx([50, -185, 0, -3])
    assert t11u(topics) == pytest.approx([50, -185, 0, -3])
    assert t9u(topics) == pytest.approx([50, -100, 0, -3])
    assert t9u(topics, floor=-400) == pytest.approx([50, -185, 0, -3])
    assert linear_utility(topics, gain=3, cost=2) == pytest.approx([70, -375, 0, -6])


def test_scaled_utilities(topics):
    assert scaled_utility(topics) == pytest.approx([50 / 100, -100 / 20, 0, np.nan], nan_ok=True)
    assert scaled_utility(topics, floor=None)[1] == pytest.approx(-185 / 20)
    # (max(U/2R, −½) + ½) / 1.5
    assert t11su(topics) == pytest.approx([1 / 1.5, 0, 0.5 / 1.5, np.nan], nan_ok=True)


def test_summary_has_the_rows_of_the_paper(topics):
    summary = filtering_summary(topics)
    assert summary["total_retrieved"] == 243
    assert summary["relevant_retrieved"] == 35
    assert summary["macro_recall"] == pytest.approx((0.6 + 0.5) / 4)
    assert summary["macro_precision"] == pytest.approx((0.75 + 0.025) / 4)
    assert summary["mean_utility"] == pytest.approx(-138 / 4)
    assert summary["mean_t9u"] == pytest.approx(-53 / 4)
    assert summary["mean_scaled_utility"] == pytest.approx((0.5 - 5 + 0) / 3)
    assert summary["zero_returns"] == zero_returns(topics) == 1
    silent = ContingencyTable(*(count[3:] for count in topics))
    assert filtering_summary(silent)["mean_t11su"] is None

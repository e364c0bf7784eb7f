"""When to ask: the values of the paper's formulas, and what is not a schedule or a budget."""

from __future__ import annotations

import math

import pytest

from textbayes.core.errors import InputError
from textbayes.stream import Budget, make_ask, make_budget, make_explore, paper_rate, paper_threshold


def test_the_papers_schedule():
    # 0.999/(1 + e⁵) + 0.001 and so on, by hand; figure 1 rises from almost 0 to 1, half-way at 50.
    assert paper_threshold(0) == pytest.approx(0.999 / (1 + math.e**5) + 0.001, rel=1e-14)
    assert paper_threshold(50) == pytest.approx(0.5005, rel=1e-14)
    assert paper_threshold(60) == pytest.approx(0.999 / (1 + 1 / math.e) + 0.001, rel=1e-14)
    assert paper_threshold(10**6) == pytest.approx(1.0, rel=1e-14)
    values = [make_ask("paper")(n) for n in range(200)]
    assert values == sorted(values)
    assert make_ask("paper:target=1000,width=0.1")(0) == pytest.approx(0.001)


def test_the_papers_exploration():
    assert paper_rate(0, 293856) == pytest.approx(50 / 293856)
    assert make_explore("paper")(49) == pytest.approx(1 / 293856)
    assert make_explore("paper:documents=100,target=10")(4) == pytest.approx(0.06)
    assert make_explore("paper")(50) == make_explore("paper")(99) == 0.0


def test_other_schedules():
    assert make_ask("constant:bits=0.25")(3) == 0.25
    assert make_ask("never")(0) == math.inf
    assert make_explore("constant:rate=0.5")(9) == 0.5
    assert make_explore("never")(0) == 0.0
    assert make_ask(lambda n: n / 2)(3) == 1.5


@pytest.mark.parametrize(
    ("make", "spec", "cause"),
    [
        (make_ask, "papr", "unknown asking schedule 'papr': choose one of paper, constant, never"),
        (make_ask, "paper:goal=3", "asking schedule 'paper' has no option 'goal': its options are target, width"),
        (make_ask, "paper:target", "'target' is no setting of an asking schedule; write NAME=NUMBER"),
        (make_ask, "paper:target=inf", "must be finite"),
        (make_ask, "paper:width=0", "needs a width above 0"),
        (make_ask, "never:bits=1", "it takes no options"),
        (make_explore, "constant:rate=2", "a probability lies in"),
        (make_explore, "paper:documents=0", "pass the number of documents that are expected"),
        (make_budget, "20", "write 20/day"),
        (make_budget, "20/year", "write 20/day"),
        (make_budget, "5/0", "write 20/day"),
    ],
)
def test_what_is_none(make, spec, cause):
    with pytest.raises(InputError, match=cause):
        make(spec)


def test_budgets():
    assert make_budget("20/day") == Budget(20, 86400, "seconds")
    assert make_budget(" 3 / Hours ") == Budget(3, 3600, "seconds")
    per_documents = make_budget("5/1000")
    assert [per_documents.window(time=0.0, n_seen=n) for n in (0, 999, 1000, 2500)] == [0, 0, 1, 2]
    assert [make_budget("1/minute").window(time=t, n_seen=0) for t in (0.0, 59.9, 60.0)] == [0, 0, 1]

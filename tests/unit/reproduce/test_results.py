from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.data import CORPORA
from textbayes.reproduce import Experiment, Table, papers


def make(published, ours, digits=1, **settings) -> Table:
    return Table("1", "A caption", ("a",), ("x",), ((published,),), ((ours,),), digits, **settings)


@pytest.mark.parametrize(
    ("published", "ours", "difference", "marked"),
    [
        (97.1, 98.1, 1.0, False),  # one point is not more than one, though 98.1 − 97.1 is 0.9999… in floats
        (97.1, 98.14999, 1.0, False),  # as it is printed, not as it was computed
        (97.1, 98.15001, 1.1, True),
        (97.1, 95.9, -1.2, True),
        (97.1, 97.1, 0.0, False),
        (None, 97.1, None, False),
        (97.1, None, None, False),
        (None, None, None, False),
    ],
)
def test_differences_are_those_of_the_printed_figures(published, ours, difference, marked):
    table = make(published, ours)
    assert table.difference(0, 0) == difference
    assert table.marked(0, 0) is marked


@pytest.mark.parametrize(("mark", "marked"), [(15.0, False), (14.0, True), (np.inf, False)])
def test_the_margin_is_the_table_s(mark, marked):
    assert make(100, 85, digits=0, mark=mark).marked(0, 0) is marked


def test_a_table_without_published_figures_compares_nothing():
    assert not make(None, 1.0).compared
    assert make(1.0, None).compared


NUMBERS = ("table 1", "table 2", "figure 1")
SHORT = Experiment("short", "A short paper", "1999", dict.fromkeys(NUMBERS, ()), dict)


@pytest.mark.parametrize(
    ("only", "wanted"),
    [
        ((), ("table 1", "table 2", "figure 1")),
        (("Table 2",), ("table 2",)),
        (("figure 1", " table   1 "), ("table 1", "figure 1")),
        (("table 1", "TABLE 1"), ("table 1",)),
    ],
)
def test_numbers_are_taken_in_the_paper_s_order(only, wanted):
    assert SHORT.choose(only) == wanted


@pytest.mark.parametrize("number", ["table 3", "1", "", "tables 1"])
def test_an_unknown_number_is_refused_with_those_there_are(number):
    with pytest.raises(InputError, match="it has table 1, table 2, figure 1"):
        SHORT.choose([number])


@pytest.mark.parametrize("name", papers.names())
def test_every_paper_says_what_it_is(name):
    paper = papers.get(name)
    assert paper.name == name
    assert paper.title
    assert paper.reference
    assert len(set(paper.numbers)) == len(paper.numbers)
    assert paper.choose(paper.numbers) == paper.choose(()) == paper.numbers
    assert set(paper.exhibits()) == set(paper.numbers), "each number has a function that makes it"
    needed = {corpus for number in paper.numbers for corpus in paper.corpora_for([number])}
    assert set(paper.corpora_for(paper.numbers)) == needed <= set(CORPORA.names())

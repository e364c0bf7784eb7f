"""Individual-priors files of BBR and BXR, line by line as their readers take them."""

from __future__ import annotations

import io
import math

import pytest
from scipy import stats

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.knowledge import WordPrior, read_bxr


def _read(text, **options):
    return read_bxr(io.StringIO(text), **options)


def test_lines_for_all_classes_and_for_one():
    table = _read("# a comment\n\nwheat 1.5 4 ABS\nclass grain corn -2 0.25 ABS 0\n  bank\t0 9 ABS -1\n")
    assert list(table) == [
        WordPrior("wheat", "*", 1.5, 2.0, "gaussian", None, "bxr"),
        WordPrior("corn", "grain", -2.0, 0.5, "gaussian", None, "bxr"),
        WordPrior("bank", "*", 0.0, 3.0, "gaussian", -1, "bxr"),
    ]


@pytest.mark.parametrize(("family", "density"), [("gaussian", stats.norm), ("laplace", stats.laplace)])
def test_a_variance_is_that_of_the_family(family, density):
    scale = _read("wheat 0 3 ABS", family=family)[0].scale
    assert density(scale=scale).var() == pytest.approx(3.0)


def test_a_variance_is_relative_to_the_common_one():
    assert _read("wheat 0 4", variance=0.25)[0].scale == 1.0
    assert _read("wheat 0 4 ABS", variance=0.25)[0].scale == 2.0
    assert _read("wheat 0 1 1")[0] == WordPrior("wheat", "*", 0.0, None, "gaussian", 1, "bxr")
    with pytest.raises(MalformedFileError, match="line 1: variance 4 is a multiple of the common variance"):
        _read("wheat 0 4")


def test_no_and_full_freedom():
    table = _read("held 1.5 0\nfree 0 inf\nboth 2 inf ABS\n")
    assert table[0].scale < 1e-4
    assert table[0].mean == 1.5
    assert table[1].scale == table[2].scale == math.inf


def test_topics_of_bbr():
    table = _read("topic grain\nwheat 1 1\nendoftopic\nTOPIC trade\nwheat 2 1\nEndOfTopic\noil 3 1\n")
    assert [(row.word, row.label, row.mean) for row in table] == [
        ("wheat", "grain", 1.0),
        ("wheat", "trade", 2.0),
        ("oil", "*", 3.0),
    ]


def test_numbers_stand_for_words():
    assert _read("class 2 17 1 1", words={"17": "wheat"})[0][:2] == ("wheat", "2")
    with pytest.raises(MalformedFileError, match="line 2: feature '18' is not among the words"):
        _read("17 1 1\n18 1 1", words={"17": "wheat"})


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("# nothing\n", None, "no prior in it"),
        ("wheat 1\n", 1, "a feature, a mode and a variance are needed"),
        ("oil 1 1\nclass grain wheat 1\n", 2, "a feature, a mode and a variance are needed"),
        ("wheat much 1\n", 1, "mode 'much' is not a number"),
        ("wheat 1 wide\n", 1, "variance 'wide' is not a number"),
        ("wheat 1 -1 ABS\n", 1, "a variance is 0, positive or inf"),
        ("wheat inf 1\n", 1, "not usable"),
        ("wheat 1 1 REL\n", 1, "'REL' after the variance is not known"),
        ("wheat 0 1 2\n", 1, "'2' after the variance is not known"),
        ("wheat 0 1 ABS 1 1\n", 1, "'1 1' after the variance is not known"),
        ("wheat 0 1 1 ABS\n", 1, "after the variance is not known"),
        ("wheat 2 1 1\n", 1, "skew 1 around mode 2 has no counterpart"),
        ("0 1 1\n", 1, "intercept"),
        ("class grain @constant 1 1\n", 1, "intercept"),
        ("wheat 1 1\noil 1 1\nwheat 2 1\n", 3, "'wheat' is given twice for every label.*line 1 as well"),
    ],
)
def test_what_is_refused(text, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as error:
        _read(text)
    assert error.value.line == line


@pytest.mark.parametrize(("options", "cause"), [({"family": "jeffreys"}, "choose one of"), ({"variance": 0}, "-V")])
def test_options_that_cannot_be_used(options, cause):
    with pytest.raises(InputError, match=cause):
        _read("wheat 1 1", **options)

"""The reference scorer on models written by hand, so that every step has a known result."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from scipy import special, stats

READING = {
    "head": None, "unescape": None, "replace": [], "lowercase": True, "runs": [], "token": r"\w+", "stop_words": [],
    "stemmer": None, "steps": None, "ngrams": [1, 1],
}  # fmt: skip


def model(**changes):
    """A model of one label with nothing but an intercept of 0."""
    plain = {
        "kind": "multilabel", "classes": ["a"], "intercept": [0.0], "per_thousand": [0.0], "with_words": [0.0],
        "length": None, "blocks": [], "dispersed": [], "hints": None, "link": "logit", "normalise": "none",
        "sharpness": 1.0, "thresholds": [0.5], "least": 0.0,
    }  # fmt: skip
    return plain | changes


def block(terms, tf="raw", cosine=False, **reading):
    return {"name": "words", "reading": READING | reading, "tf": tf, "cosine": cosine, "terms": terms}


@pytest.mark.parametrize(
    ("tf", "cosine", "score"),
    [
        ("raw", False, 4 * 2.0 * 3.0 - 5.0),
        ("binary", False, 2.0 * 3.0 - 5.0),
        ("log", False, (1 + math.log(4)) * 2.0 * 3.0 - 5.0),
        ("log2", False, (1 + 2) * 2.0 * 3.0 - 5.0),
        ("raw", True, (8 * 3.0 - 1 * 5.0) / math.sqrt(8**2 + 1)),
    ],
)
def test_values_of_terms(scorer, tf, cosine, score):
    one = block({"corn": [2.0, [0], [3.0]], "oil": [1.0, [0], [-5.0]], "gas": [1.0, [], []]}, tf, cosine)
    [found] = scorer.probabilities("Corn corn CORN corn oil unknown", model(blocks=[one]))
    assert found == pytest.approx(special.expit(score), abs=1e-15)


def test_terms_in_order(scorer):
    how = READING | {"stop_words": ["the"], "ngrams": [1, 2], "runs": [["[0-9]+", "", 1, 2]], "head": 31}
    how |= {"unescape": "&lt;", "replace": [["’", "'"]], "token": r"[\w'<]+"}
    text = "\n The don’t &lt; 123 the end, cut at thirty characters\nno more"
    words = ["don't", "<", "end", "cut", "don't <", "< end", "end cut"]
    assert scorer.cut(text, how) == ["1", "2", "3", "12", "23", *words]


def test_probabilities_of_exclusive_classes(scorer):
    three = {"kind": "multiclass", "classes": ["a", "b", "c"], "intercept": [1.0, 0.0, -2.0], "thresholds": None}
    three |= {"per_thousand": [0.0] * 3, "with_words": [0.0] * 3}
    joint = scorer.probabilities("", model(**three, normalise="softmax"))
    assert joint == pytest.approx(special.softmax([1.0, 0.0, -2.0]))
    own = special.ndtr([1.0, 0.0, -2.0]) ** 1.5
    found = scorer.probabilities("", model(**three, normalise="own", sharpness=1.5, link="probit"))
    assert found == pytest.approx(own / own.sum())
    assert scorer.labels(found, model(**three)) == ["a"]
    assert scorer.labels(found, model(**three, least=0.9)) == []


def test_labels_that_tell_of_each_other(scorer):
    """Of two labels the other's first pass is 2·score − 1, and the hint times its probability is added."""
    told = [{"slope": 0.5, "offset": 0.5, "hint": 3.0}] * 2
    two = {"classes": ["a", "b"], "intercept": [1.0, -1.0], "per_thousand": [0.0] * 2, "with_words": [0.0] * 2}
    found = scorer.probabilities("", model(**two, hints=told))
    assert found == pytest.approx(
        [special.expit(1 + 3 * special.expit(-3.0)), special.expit(-1 + 3 * special.expit(1.0))]
    )


def test_lengths_and_negative_binomials(scorer):
    """Mean ωμ and variance ωμ(1 + ωδ), so size μ/δ and success probability 1/(1 + ωδ)."""
    rates, deltas = {"corn": [40.0, 90.0], "oil": [30.0, 20.0]}, {"corn": [60.0, 0.0], "oil": [15.0, 25.0]}
    one = {"name": "words", "reading": READING, "rows": [[0, -1.0], [0, 1.0]]}
    one["terms"] = {term: [rates[term], deltas[term]] for term in rates}
    text, omega = "corn corn corn oil and so on", 7 / 1000
    expected = 0.3 + omega * 50.0 - 0.25
    for term, n in (("corn", 3), ("oil", 1)):
        for sign, rate, delta in zip((-1, 1), rates[term], deltas[term], strict=True):
            poisson = stats.poisson(omega * rate).logpmf(n)
            expected += sign * (stats.nbinom(rate / delta, 1 / (1 + omega * delta)).logpmf(n) if delta else poisson)
    given = {"intercept": [0.3], "per_thousand": [50.0], "with_words": [-0.25], "length": READING}
    [found] = scorer.probabilities(text, model(**given, dispersed=[one]))
    assert found == pytest.approx(special.expit(expected), abs=1e-13)
    [empty] = scorer.probabilities("", model(**given, dispersed=[one]))
    assert empty == pytest.approx(special.expit(0.3))


def test_it_needs_the_standard_library_alone(scorer, tmp_path):
    (tmp_path / "m.json").write_text('{"kind": "multilabel", "classes": ["a"], "intercept": [1], "per_thousand": [0], '
        '"with_words": [0], "length": null, "blocks": [], "dispersed": [], "hints": null, "link": "logit", '
        '"normalise": "none", "sharpness": 1, "thresholds": [0.5]}')  # fmt: skip
    command = [sys.executable, "-I", "-S", scorer.__file__, tmp_path / "m.json"]
    done = subprocess.run(command, input='{"text": "é"}\n', capture_output=True, text=True, check=True)
    assert done.stdout == f'{{"labels": ["a"], "probabilities": {{"a": {1 / (1 + math.exp(-1))!r}}}}}\n'

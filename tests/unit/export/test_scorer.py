"""The reference scorer on models written by hand, so that every step has a known result; and how long it is."""

from __future__ import annotations

import ast
import io
import json
import math
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from scipy import special, stats

LINES = 40
CUT = {
    "text_rules": [["(?s)^.*", "", "lower"]], "word": r"\w+", "stop_words": [], "word_rules": [], "ngrams": [1],
    "glue": " ",
}  # fmt: skip


def model(n_classes=1, **changes):
    """A model of labels with nothing but intercepts of 0."""
    none = [0.0] * n_classes
    plain = {
        "format": "textbayes scoring", "version": 2, "functions": [], "classes": list("abc"[:n_classes]),
        "intercept": none, "views": [], "first_pass": [none, none], "hint": none, "link": "logit", "sharpness": 1.0,
        "exclusive": False, "thresholds": [0.5] * n_classes, "most": n_classes,
    }  # fmt: skip
    return plain | changes


def view(terms, power=1, log=0.0, cuts=(CUT,), dispersed=()):
    return {"name": "words", "cuts": cuts, "power": power, "log": log, "terms": terms, "dispersed": dispersed}


@pytest.mark.parametrize(
    ("power", "log", "cosine", "score"),
    [
        (1, 0.0, False, 4 * 6.0 - 5.0),
        (0, 0.0, False, 6.0 - 5.0),
        (0, 1.0, False, (1 + math.log(4)) * 6.0 - 5.0),
        (0, 1 / math.log(2), False, (1 + 2) * 6.0 - 5.0),
        (1, 0.0, True, (4 * 6.0 - 5.0) / math.sqrt((4 * 2) ** 2 + 1)),
    ],
)
def test_values_of_terms(scorer, power, log, cosine, score):
    one = view({"corn": [2.0 * cosine, [0], [6.0]], "oil": [cosine, [0], [-5.0]], "gas": [cosine, [], []]}, power, log)
    [found] = scorer.probabilities("Corn corn CORN corn oil unknown", model(views=[one]))
    assert found == pytest.approx(special.expit(score), abs=1e-15)


def test_terms_in_order(scorer):
    how = CUT | {"stop_words": ["the"], "ngrams": [1, 2], "word": r"[\w'<]+", "word_rules": [["s$", "", ""]]}
    rules = [[r"(?s)^\s*([^\n]{0,31}).*", r"\1", ""], ["&lt;", "", "unescape"], ["’", "'", ""], *CUT["text_rules"]]
    text = "\n The don’t &lt; 123 the ends, cut at thirty characters\nno more"
    words = ["don't", "<", "123", "end", "cu", "don't <", "< 123", "123 end", "end cu"]
    assert scorer.cut(text, how | {"text_rules": rules}) == words


def test_probabilities_of_exclusive_classes(scorer):
    three = {"n_classes": 3, "intercept": [1.0, 0.0, -2.0], "exclusive": True, "most": 1}
    joint = scorer.probabilities("", model(**three, link="exp"))
    assert joint == pytest.approx(special.softmax([1.0, 0.0, -2.0]))
    own = special.ndtr([1.0, 0.0, -2.0]) ** 1.5
    found = scorer.probabilities("", model(**three, sharpness=1.5, link="probit"))
    assert found == pytest.approx(own / own.sum())
    assert scorer.labels(found, model(**three, thresholds=[0.5] * 3)) == ["a"]
    assert scorer.labels(found, model(**three, thresholds=[0.9] * 3)) == []


def test_one_label_or_many(scorer):
    assert scorer.labels([0.4, 0.4, 0.2], model(3, thresholds=[0.0] * 3, most=1)) == ["a"]
    assert scorer.labels([0.4, 0.5, 0.1], model(3, thresholds=[0.3, 0.5, 0.0])) == ["a", "c"]


def test_labels_that_tell_of_each_other(scorer):
    """Of two labels the other's first pass is 2·score − 1, and the hint times its probability is added."""
    two = model(2, intercept=[1.0, -1.0], first_pass=[[1.0] * 2, [-2.0] * 2], hint=[3.0] * 2)
    assert scorer.probabilities("", two) == pytest.approx(
        [special.expit(1 + 3 * special.expit(-3.0)), special.expit(-1 + 3 * special.expit(1.0))]
    )


def test_lengths_and_negative_binomials(scorer):
    """Mean ωμ and variance ωμ(1 + ωδ), so size μ/δ and success probability 1/(1 + ωδ); δ next to 0 is a Poisson."""
    rates, deltas = {"corn": [40.0, 90.0], "oil": [30.0, 20.0]}, {"corn": [60.0, 1e-100], "oil": [15.0, 25.0]}
    terms = {term: [0.0, [0], [math.log(second / first)]] for term, (first, second) in rates.items()}
    both = [(term, row, sign) for term in rates for row, sign in ((0, -1.0), (1, 1.0))]
    size = {(term, row): rates[term][row] / deltas[term][row] for term, row, _ in both}
    dispersed = [[term, 0, sign, size[term, row], deltas[term][row] / 1000.0] for term, row, sign in both]
    every_word = CUT | {"word_rules": [["(?s)^.*", "\n", ""]]}
    text, omega = "corn corn corn oil and so on", 7 / 1000
    expected = 0.3 + omega * 50.0 - 0.25
    for term, row, sign in both:
        n, rate, delta = {"corn": 3, "oil": 1}[term], rates[term][row], deltas[term][row]
        poisson, binomial = stats.poisson(omega * rate), stats.nbinom(rate / delta, 1 / (1 + omega * delta))
        expected += sign * (binomial if delta > 1.0 else poisson).logpmf(n)
    views = [
        view(terms | {"\n": [0.0, [0], [0.05]]}, cuts=[CUT, every_word], dispersed=dispersed),
        view({"\n": [0.0, [0], [-0.25]]}, power=0, cuts=[every_word]),
    ]
    [found] = scorer.probabilities(text, model(intercept=[0.3], views=views))
    assert found == pytest.approx(special.expit(expected), abs=1e-13)
    [empty] = scorer.probabilities("", model(intercept=[0.3], views=views))
    assert empty == pytest.approx(special.expit(0.3))


def run_by_itself(scorer, path, exported):
    path.write_text(json.dumps(exported))
    command = [sys.executable, "-I", "-S", scorer.__file__, path]
    return subprocess.run(command, input='{"text": "é"}\n', capture_output=True, text=True, check=False)


def test_it_needs_the_standard_library_alone(scorer, tmp_path):
    done = run_by_itself(scorer, tmp_path / "m.json", model(intercept=[1]))
    assert done.stdout == f'{{"labels": ["a"], "probabilities": {{"a": {1 / (1 + math.exp(-1))!r}}}}}\n'


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 1}, "m.json is not of version 2, which this file scores"),
        ({"version": 3}, "m.json is not of version 2, which this file scores"),
        ({"format": None}, "m.json is not of version 2, which this file scores"),
        ({"functions": ["lower", "Snowball german"]}, "the model needs Snowball german: add the stemmer"),
    ],
)
def test_what_it_cannot_score_is_refused_in_a_sentence(scorer, tmp_path, changes, sentence):
    done = run_by_itself(scorer, tmp_path / "m.json", model(**changes))
    assert (done.returncode, done.stdout) == (1, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_it_stays_short(scorer):
    """Lines of code, imports too, without docstrings and what runs as a command; each statement has its own line."""
    source = Path(scorer.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source)
    command = tree.body[-1]
    assert isinstance(command, ast.If)
    assert ast.unparse(command.test) == "__name__ == '__main__'"
    nodes = list(ast.walk(tree))
    texts = [one for one in nodes if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
    left_out = {line for one in (*texts, command) for line in range(one.lineno, one.end_lineno + 1)}
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = [one for one in tokenize.generate_tokens(io.StringIO(source).readline) if one.type not in blank]
    code = {line for one in tokens for line in range(one.start[0], one.end[0] + 1)} - left_out
    assert len(code) <= LINES
    assert max(map(len, source.splitlines())) <= 120
    starts = [one.lineno for one in nodes if isinstance(one, ast.stmt) and one.lineno not in left_out]
    assert len(starts) == len(set(starts))

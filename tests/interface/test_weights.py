"""One word, one weight: what ``words``, its options and ``explain`` show of a model, and what they say it is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from textbayes import BayesLinearClassifier
from textbayes.store import load_model

ADVICE = "word,label,mean,scale\nwheat,grain,2,1\nbank,grain,-1,1\n"


@pytest.fixture
def advice(tmp_path):
    path = tmp_path / "advice.csv"
    path.write_text(ADVICE, encoding="utf-8")
    return path


def weights_of(rows):
    return {row["word"]: row["weight"] for row in rows}


def test_a_single_model_shows_the_weights_it_was_fitted_with(run, lines, write, documents, advice, tmp_path):
    model = tmp_path / "m.tb"
    asked = ("--family", "laplace", "--scale", "2", "--intervals", "--prior", advice, "--prior-weight", "1")
    run("train", write(documents), *asked, "-o", model)
    plain = lines("words", model, "--label", "grain", "--top", 100)
    intervals = lines("words", model, "--label", "grain", "--top", 100, "--intervals")
    audit = lines("words", model, "--label", "grain", "--prior")
    assert weights_of(plain) == weights_of(intervals)
    assert {row["word"]: row["posterior"] for row in audit} == weights_of(audit)
    assert {word: weights_of(plain)[word] for word in ("wheat", "bank")} == weights_of(audit)
    assert {row["weight_of"] for row in (*plain, *intervals, *audit)} == {"weight (laplace)"}
    for row in intervals:  # the interval is around the weight, not around another number of the same name
        if row["low"] is not None:
            assert row["low"] < row["weight"] < row["high"]
            error = (row["high"] - row["low"]) / 2 / 1.95996  # its middle, the posterior mean, is within one of these
            assert abs(row["low"] + row["high"] - 2 * row["weight"]) <= 2 * error * 1.001
    with_word, without = load_model(model).decision_function(["wheat", ""])[:, 0]  # grain's own log-odds
    assert with_word - without == pytest.approx(weights_of(plain)["wheat"])  # a text of one word of length one


def test_a_single_model_is_the_one_asked_for(run, write, documents, tmp_path):
    """The same regression fitted by itself, without any categorizer around it."""
    run("train", write(documents), "--family", "gaussian", "--scale", "1.5", "-o", tmp_path / "m.tb")
    model = load_model(tmp_path / "m.tb")
    texts, labels = [doc["text"] for doc in documents], [doc["labels"] for doc in documents]
    X = model.weighting_.transform(model.vectorizer_.transform(texts))
    alone = BayesLinearClassifier(prior="gaussian", scale=1.5, inference="newton", tol=1e-3).fit(X, labels)
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(texts), alone.predict_proba(X), rtol=1e-9)
    assert model.pool_.tolist() == [1.0]


def test_a_pool_says_that_it_is_one_and_of_what(run, lines, write, documents, advice, tmp_path):
    path = tmp_path / "m.tb"
    summary = lines(
        "train", write(documents), "--preset", "linear", "--prior", advice, "--prior-weight", "1", "-o", path
    )[0]
    model = load_model(path)
    first, second = model.pool_
    said = f"weight in the pool ({first:.2f} × laplace + {second:.2f} × gaussian)"
    assert summary["weights"] == said
    assert {row["weight_of"] for row in lines("words", path)} == {said}
    assert run("words", path, "--table").stdout.startswith(said[0].upper() + said[1:])
    column = model.vectorizer_.vocabulary_["wheat"]
    (wheat,) = [row for row in lines("words", path, "--prior") if row["word"] == "wheat"]
    assert wheat["weight"] == model.coef_[0, column]
    assert (wheat["weight_of"], wheat["posterior_of"]) == (said, "laplace, the first classifier")
    assert wheat["posterior"] != wheat["weight"]
    table = run("words", path, "--prior", "--table").stdout
    assert f"ensemble: the {said}" in table
    assert "posterior: the learnt weight (laplace, the first classifier)" in table
    assert [f"{wheat[name]:+.2f}" in table for name in ("posterior", "weight")] == [True, True]


@pytest.fixture(scope="module")
def noisy():
    """Two classes whose words overlap: a wide prior makes a model that is too sure of itself."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{a}{b}" for a in "abcdefgh" for b in "abcdefgh"])
    lean = rng.normal(0.0, 0.5, len(words))
    rows = []
    for i in range(160):
        share = np.exp(lean * (1 if i % 2 else -1))
        text = " ".join(rng.choice(words, 12, p=share / share.sum()))
        rows.append({"id": str(i), "text": text, "labels": ["no", "yes"][i % 2]})
    return rows


def test_calibration_is_a_step_of_its_own(lines, write, noisy, tmp_path):
    asked = ("--family", "gaussian", "--scale", "20", "--stemmer", "none")
    plain = lines("train", write(noisy), *asked, "-o", tmp_path / "plain.tb")[0]
    scaled = lines("train", write(noisy), *asked, "--calibrate", "-o", tmp_path / "scaled.tb")[0]
    assert "calibration" not in plain
    assert 0.0 < scaled["calibration"] < 0.8
    assert scaled["held_out"]["log_loss"] < plain["held_out"]["log_loss"]
    one, other = load_model(tmp_path / "plain.tb"), load_model(tmp_path / "scaled.tb")
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.calibration_ == 1.0
    text = noisy[0]["text"]
    p_plain, p_scaled = (model.predict_proba([text])[0, 1] for model in (one, other))
    assert p_scaled == pytest.approx(expit(other.calibration_ * logit(p_plain)))
    (told,) = lines("explain", tmp_path / "scaled.tb", "--literal", text, "--label", "yes", "--top", 100)
    parts = sum(word["log_odds"] for word in told["words"])
    assert told["base"] + parts == pytest.approx(logit(p_scaled))
    assert told["calibration"] == other.calibration_
    assert "calibrated model: weights times" in told["notes"][0]
    assert lines("words", tmp_path / "scaled.tb")[0]["weight_of"] == "weight (gaussian), before calibration"


def test_what_cannot_be_calibrated_is_refused_before_it_is_sampled(run, write, documents, tmp_path):
    asked = ("--inference", "gibbs", "--link", "probit", "--calibrate", "-o", tmp_path / "m.tb")
    assert "leave out --calibrate" in " ".join(run("train", write(documents), *asked, code=1).stderr.split())

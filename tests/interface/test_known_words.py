"""A text without a known word is named as such, and every decision says what it was decided by."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest

from textbayes import BayesLinearClassifier, HashingTextVectorizer, TextCategorizer
from textbayes.store import load_model

NOTHING = "zyzzyva quux"


def test_classify_counts_the_words_it_knows(lines, run, models):
    texts = f"corn from the bank and corn\n{NOTHING}\n"
    rows = lines("classify", models["multiclass"], stdin=texts)
    model = load_model(models["multiclass"])
    terms = {"corn", "from", "the", "bank", "and", "corn from", "from the", "the bank", "bank and", "and corn"}
    names, known = model.vectorizer_.get_feature_names_out(), model.model_.known_words()
    expected = sum(bool(told) and name in terms for name, told in zip(names, known, strict=True))  # words and pairs
    assert expected >= 5
    assert [row["known_words"] for row in rows] == [expected, 0]
    table = list(csv.DictReader(io.StringIO(run("classify", models["multiclass"], "--csv", stdin=texts).stdout)))
    assert [row["known_words"] for row in table] == [str(expected), "0"]
    shown = run("classify", models["binary"], "--table", stdin=texts).stdout.splitlines()
    assert ["no known word" in line for line in shown] == [False, False, True]


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_a_text_of_which_nothing_is_known_gets_no_label(kind, lines, run, models, tmp_path):
    texts = f"wheat harvest\n{NOTHING}\n"
    known, unknown = lines("classify", models[kind], stdin=texts)
    assert known["labels"] == ["grain"]
    assert "note" not in known
    assert (unknown["labels"], unknown["known_words"], unknown["note"]) == ([], 0, "no known word")
    assert unknown["probabilities"] == lines("classify", models[kind], "--guess", stdin=texts)[1]["probabilities"]
    done = run("classify", models[kind], "--csv", stdin=texts)
    table = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["labels"], row["known_words"] == "0") for row in table] == [("grain", False), ("", True)]
    assert "1 text has no word that the model knows and gets no label" in done.stderr
    shown = run("classify", models[kind], "--table", stdin=texts).stdout.splitlines()[2]
    assert re.search(r"no known word +any text: \w+ 0\.\d{3}", shown)
    assert not run("classify", models[kind], stdin="wheat harvest\n").stderr


def test_a_guess_is_the_decision_on_any_such_text(lines, run, models):
    model = load_model(models["multiclass"])
    (row,) = lines("classify", models["multiclass"], "--guess", stdin=f"{NOTHING}\n")
    assert row["labels"] == list(model.predict_labels([""])[0])
    assert len(row["labels"]) == 1
    assert "note" not in row
    assert not run("classify", models["multiclass"], "--guess", stdin=f"{NOTHING}\n").stderr


def test_a_text_of_which_nothing_is_known_in_a_workbook(run, models, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    run("classify", models["multiclass"], "-o", tmp_path / "a.xlsx", stdin=f"wheat harvest\n{NOTHING}\n")
    rows = [[cell.value for cell in row][:4] for row in openpyxl.load_workbook(tmp_path / "a.xlsx").active]
    assert rows[0] == ["id", "labels", "probability", "known_words"]
    assert [(row[1] or None, row[2] is None, row[3]) for row in rows[1:]] == [("grain", False, 2), (None, True, 0)]


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_the_answer_without_a_known_word_is_that_of_any_such_text(kind, lines, run, models):
    (told,) = lines("explain", models[kind], "--literal", NOTHING)
    assert told["known_words"] == 0
    assert told["notes"] == [
        "no word of this text is known to the model: the probability is that of any text, and no label is given"
    ]
    assert not told["decision"]  # as classify, which gives no label
    assert lines("classify", models[kind], stdin=f"{NOTHING}\n")[0]["labels"] == []
    model = load_model(models[kind])
    assert not any(one.decision for one in model.explain(NOTHING, [str(name) for name in model.classes_]))
    np.testing.assert_array_equal(model.predict_proba([NOTHING]), model.predict_proba([""]))
    both = run("explain", models[kind], "--literal", NOTHING, "--table")
    assert "no word of this text is known" in " ".join((both.stdout + both.stderr).split())
    assert f"{told['label']}? not decided, no known word; probability {told['probability']:.3f}" in both.stdout
    assert not lines("explain", models[kind], "corn and the bank")[0]["notes"]


def test_a_threshold_stands_beside_the_probability(lines, run, write, many_labels, documents, tmp_path):
    path = tmp_path / "m.tb"
    run("train", write(many_labels), "--rule", "fixed:threshold=0.31", "-o", path)
    told = lines("explain", path, "corn harvest", "--label", "grain", "--label", "money")
    assert [one["threshold"] for one in told] == [0.31, 0.31]
    assert [one["decision"] for one in told] == [one["probability"] > 0.31 for one in told]
    shown = run("explain", path, "corn harvest", "--label", "grain", "--table").stdout
    assert re.search(r"grain\? (yes|no), probability 0\.\d{3} \(threshold 0\.31\)", shown)


def test_two_classes_have_mirrored_thresholds(lines, run, write, documents, tmp_path):
    rows = [doc for doc in documents if doc["labels"] != "sport"]
    run("train", write(rows), "--rule", "fixed:threshold=0.3", "-o", tmp_path / "m.tb")
    grain, money = lines("explain", tmp_path / "m.tb", "corn", "--label", "grain", "--label", "money")
    assert money["threshold"] == 0.3
    assert grain["threshold"] == pytest.approx(0.7)
    assert "threshold 0.7" in grain["rule"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("auto", "the most probable of 3 labels is chosen"),
        ("top_label:min_probability=0.4", "the most probable of 3 labels is chosen if its probability is at least 0.4"),
        ("expected_f1", "decided with the other texts of its batch, for the highest expected F1"),
        ("unsure:low=0.2,high=0.6", "threshold 0.5, unsure from 0.2 to 0.6"),
        ("utility:tp=1,fp=-4", "threshold 0.8"),
    ],
)
def test_rules_say_what_they_do(rule, said, lines, run, write, documents, tmp_path):
    run("train", write(documents), "--rule", rule, "-o", tmp_path / "m.tb")
    (told,) = lines("explain", tmp_path / "m.tb", "corn harvest", "--label", "grain")
    assert told["rule"] == said
    assert f"({said})" in " ".join(
        run("explain", tmp_path / "m.tb", "corn harvest", "--label", "grain", "--table").stdout.split()
    )


def test_words_that_a_model_gives_no_weight_are_not_known(documents):
    """Hashing has a column for every word, and a sparse model leaves words out: what has no weight says nothing."""
    texts, labels = [doc["text"] for doc in documents], [doc["labels"] for doc in documents]
    model = TextCategorizer(HashingTextVectorizer(n_features=2**16), "log", preset="linear").fit(texts, labels)
    assert model.assess(["corn wheat", NOTHING]).known_words.tolist() == [2, 0]
    sparse = TextCategorizer(model=BayesLinearClassifier(scale=0.4), weighting="log").fit(texts, labels)
    unused = sparse.vectorizer_.get_feature_names_out()[~(sparse.coef_ != 0.0).any(axis=0)]
    assert len(unused)
    assert sparse.assess([" ".join(unused)]).known_words.tolist() == [0]

"""``textbayes select``: words ranked per category, with what the ranking rests on."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from textbayes.lexical import benjamini_hochberg
from textbayes.select import scores
from textbayes.store import load_model
from textbayes.text.surface import shown_names


def test_a_row_says_what_the_score_rests_on(lines, write, documents):
    rows = lines("select", write(documents), "--top-k", "3", "--label", "money")
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[0]["word"] == "bank"
    assert {name: rows[0][name] for name in ("in_category", "outside", "category_size")} == {
        "in_category": 5,
        "outside": 0,
        "category_size": 5,
    }
    assert rows[0]["score"] > rows[1]["score"]
    assert 0 < rows[0]["p_value"] < rows[0]["q_value"] < 0.01


def test_q_values_are_those_of_all_words_of_a_category(lines, write, documents):
    rows = lines("select", write(documents), "--top-k", "1000", "--label", "sport")
    p = np.array([row["p_value"] for row in rows])
    np.testing.assert_allclose([row["q_value"] for row in rows], benjamini_hochberg(p))
    kept = lines("select", write(documents), "--fdr", "0.05", "--label", "sport")
    assert kept == [row for row in rows if row["q_value"] <= 0.05]


def test_training_uses_the_same_words(lines, run, write, documents, tmp_path):
    path = write(documents)
    rows = lines("select", path, "--score", "chi2", "--top-k", "2", "--threshold", "1")
    rules = ("--select", "chi2", "--top-k", "2", "--select-threshold", "1")
    run("train", path, "-o", tmp_path / "m.tb", "--family", "gaussian", *rules)
    model = load_model(tmp_path / "m.tb")
    for label in model.label_space_.column_names:
        words = [row["word"] for row in rows if row["label"] == label]
        shown = shown_names(words, model.vectorizer_, model.surface_)
        assert set(shown) == {word for word, _ in model.top_words(label, None)}


@pytest.mark.parametrize("score", scores.names())
def test_every_score(score, lines, write, documents):
    rows = lines("select", write(documents), "--score", score)
    assert {row["label"] for row in rows} == {"grain", "money", "sport"}
    assert all(row["q_value"] is None or 0 <= row["p_value"] <= row["q_value"] <= 1 for row in rows)


def test_both_of_two_classes_and_many_labels(lines, write, documents, many_labels):
    rows = lines("select", write(documents[:10]), "--top-k", "1")
    assert [(row["label"], row["word"], row["in_category"]) for row in rows] == [
        ("grain", "bank", 0),
        ("money", "bank", 5),
    ]
    assert {row["label"] for row in lines("select", write(many_labels))} == {"grain", "money", "news", "sport"}


def test_table_and_csv(run, write, documents):
    path = write(documents)
    table = run("select", path, "--table", "--threshold", "1000", "--label", "grain").stdout
    assert "grain: no word passes" in table
    assert "money (5 documents)" in run("select", path, "--table").stdout
    rows = list(csv.DictReader(io.StringIO(run("select", path, "--csv").stdout)))
    assert list(rows[0])[:4] == ["label", "rank", "word", "score"]


def test_a_score_without_p_values_has_no_fdr(run, write, documents):
    failed = run("select", write(documents), "--score", "bns", "--fdr", "0.05", code=1)
    assert "has no p-values" in failed.stderr


def test_an_unknown_label(run, write, documents):
    assert "label 'oil' is not known" in run("select", write(documents), "--label", "oil", code=1).stderr


def test_the_path_of_words_is_a_table_and_a_page(lines, run, write, documents, tmp_path):
    path, page = write(documents), tmp_path / "words.html"
    rows = lines("select", path, "--path", "--report", page)
    assert [row["mark"] for row in rows if row["mark"]] in (["chosen", "best"], ["best, chosen"])
    assert rows[0]["words"] == 0 < rows[-1]["words"]
    html = page.read_text()
    assert html.count("<tr>") == 1 + len(rows)
    assert "<svg" in html
    assert "http" not in html
    assert "ranks words of a category" in run("select", path, "--path", "--top-k", "3", code=2).stderr
    assert "--path as well" in run("select", path, "--report", page, code=2).stderr

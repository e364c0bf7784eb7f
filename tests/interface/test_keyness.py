"""``textbayes keyness`` and the table behind ``words --burstiness``."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from textbayes.categorizer import TextCategorizer
from textbayes.cli.keyness import keyness
from textbayes.cli.output import Output
from textbayes.cli.words import COLUMNS, show_burstiness
from textbayes.core.errors import InputError
from textbayes.store import save_model
from textbayes.text import TextVectorizer

# Click keeps the option of help that a command first had: tables of help in other tests have -h.
HELP = {"help_option_names": ["-h", "--help"]}

LOOSE = ("--min-count", "1", "--min-df", "1", "--stemmer", "none", "--stop-words", "none")


@pytest.fixture
def ask(write, documents):
    def run(*arguments, given=documents):
        done = CliRunner().invoke(keyness, [str(write(given)), *arguments], **HELP)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def read(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_row_says_how_often_how_much_more_and_how_sure(ask, documents):
    rows = read(ask(*LOOSE, "--label", "money"))
    first = rows[0]
    assert (first["label"], first["rank"], first["word"]) == ("money", 1, "bank")
    assert (first["count"], first["other_count"]) == (5, 0)
    n_words = TextVectorizer().document_lengths([d["text"] for d in documents if d["labels"] == "money"]).sum()
    assert first["rate"] == pytest.approx(5 / n_words)
    assert first["log_ratio_low"] < first["log_ratio"]
    assert first["log_ratio_high"] is None  # infinite: the word is nowhere else
    assert 0 < first["p_value"] <= first["q_value"] <= 1
    assert all(row["log_ratio"] > 0 for row in rows)


def test_words_used_less(ask):
    rows = read(ask(*LOOSE, "--label", "money", "--negative"))
    assert all(row["log_ratio"] < 0 for row in rows)


@pytest.mark.parametrize("sort", ["p", "log-ratio", "log-likelihood", "delta2"])
def test_ranked_as_asked(ask, sort):
    rows = read(ask(*LOOSE, "--label", "grain", "--sort", sort, "--top", "5"))
    name = {"p": "p_value"}.get(sort, sort.replace("-", "_"))
    values = [row[name] for row in rows]
    assert values == sorted(values, reverse=sort != "p")
    assert len(rows) == 5


def test_rules_and_models(ask):
    everything = read(ask(*LOOSE, "--top", "1000"))
    kept = read(ask(*LOOSE, "--top", "1000", "--fdr", "0.2"))
    assert [row["word"] for row in kept] == [row["word"] for row in everything if row["q_value"] <= 0.2]
    frequent = read(ask("--min-count", "4", *LOOSE[2:], "--top", "1000"))
    assert {row["count"] + row["other_count"] >= 4 for row in frequent} == {True}
    poisson = read(ask(*LOOSE, "--model", "poisson"))
    assert {row["dispersion"] for row in poisson} == {0.0}


def test_table_and_csv(ask):
    table = ask(*LOOSE, "--table", "--label", "sport")
    assert "sport (" in table
    assert "log ratio" in table
    rows = list(csv.DictReader(io.StringIO(ask(*LOOSE, "--csv"))))
    assert {row["label"] for row in rows} == {"grain", "money", "sport"}
    assert "no word passes" in ask(*LOOSE, "--table", "--fdr", "1e-9", "--label", "sport")


def test_both_of_two_classes(ask, documents):
    rows = read(ask(*LOOSE, given=documents[:10]))
    assert {row["label"] for row in rows} == {"grain", "money"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--label", "oil"), "label 'oil' is not known; choose one of grain, money, sport"),
        (("--weighting", "ltc"), "keyness compares counts"),
        (("--min-count", "1000"), "min_count=1000"),
    ],
)
def test_refuses_in_a_sentence(ask, arguments, message):
    with pytest.raises(InputError, match=message):
        ask(*LOOSE[2:], *arguments)


@pytest.fixture(scope="module")
def bursty():
    """A model, and texts in which "gold" comes in bursts and "and" does not."""
    rng = np.random.default_rng(0)
    texts = [
        " ".join(["gold"] * (12 if i % 6 == 0 else 0) + ["and"] * rng.poisson(4) + ["oil", "price"] * 5)
        for i in range(48)
    ]
    vectorizer = TextVectorizer()
    model = TextCategorizer(vectorizer=vectorizer, cv=2, rule="fixed").fit(texts, ["a", "b"] * 24)
    return model, texts


def test_burstiness_lists_the_burstiest_first(bursty, capsys, tmp_path):
    model, texts = bursty
    show_burstiness(model, texts, 10, Output("json"), tmp_path / "variance.svg")
    rows = read(capsys.readouterr().out)
    assert rows[0]["word"] == "gold"
    assert rows[0]["p_value"] < 0.01
    assert set(rows[0]) == set(COLUMNS)
    assert {row["word"] for row in rows} == {"gold", "and", "oil", "price"}
    assert "gold" in (tmp_path / "variance.svg").read_text(encoding="utf-8")
    show_burstiness(model, texts, 2, Output("table"))
    assert "neg. bin." in capsys.readouterr().out


def test_burstiness_refuses_texts_without_a_word_of_the_model(bursty):
    with pytest.raises(InputError, match="no word of the model occurs"):
        show_burstiness(bursty[0], ["nothing known"], 5, Output("json"))


def test_words_burstiness_on_the_command_line(lines, run, bursty, write, tmp_path):
    model, texts = bursty
    file, saved = write([{"text": text} for text in texts]), tmp_path / "gold.tb"
    save_model(model, saved)
    rows = lines("words", saved, "--burstiness", file, "--plot", "variance", "--output", tmp_path / "v.svg")
    assert rows[0]["word"] == "gold"
    assert "<svg" in (tmp_path / "v.svg").read_text(encoding="utf-8")
    run("words", saved, "--plot", "variance", "--output", tmp_path / "w.svg", code=2)
    run("words", saved, "--burstiness", file, "--plot", "variance", code=2)


def test_the_burstiest_words_are_not_looked_for_among_the_most_frequent(lines, run, write, tmp_path):
    """Gold is the rarest word but one, and the burstiest; a comet that came once is no habit."""
    texts = [
        " ".join(
            ["oil", "price", "and", "tin"] * 5 + ["gold"] * (12 if i % 10 == 0 else 0) + ["comet"] * (20 * (i == 1))
        )
        for i in range(60)
    ]
    model = TextCategorizer(vectorizer=TextVectorizer(), cv=2, rule="fixed").fit(texts, ["a", "b"] * 30)
    file, saved = write([{"text": text} for text in texts]), tmp_path / "m.tb"
    save_model(model, saved)
    arguments = ("words", saved, "--burstiness", file, "--top", "1")
    (row,) = lines(*arguments)
    assert (row["word"], row["count"], row["documents"]) == ("gold", 72, 6)
    (rare,) = lines(*arguments, "--min-texts", "1")
    assert (rare["word"], rare["documents"]) == ("comet", 1)
    assert "comet" not in {row["word"] for row in lines(*arguments[:-1], "20")}
    failed = run(*arguments, "--min-texts", "61", code=1)
    assert "no word of the model occurs in --min-texts 61 of the 60 texts" in failed.stderr

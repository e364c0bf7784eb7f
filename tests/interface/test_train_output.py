"""What ``textbayes train`` shows people: the answer first, in 80 columns, with no word broken."""

from __future__ import annotations

import os
import re
from collections import Counter

import numpy as np
import pytest

from textbayes import BayesOnlineClassifier, load_model
from textbayes.display import cell_width
from textbayes.evaluate.intervals import figure_in_words

SECTIONS = ("Measured by", " label  ", "Training set", "\nModel\n", "\nNext\n")


@pytest.fixture
def shown(run, write, tmp_path, monkeypatch):
    """Train, and give what is printed on a terminal of so many columns."""

    def call(rows, *options, width=80, target="m.tb"):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.chdir(tmp_path)
        where = () if "--cv-only" in options else ("-o", target)
        return run("train", write(rows).name, *where, *options, "--table").stdout

    return call


def _words(text: str) -> Counter[str]:
    return Counter(text.replace("─", "").split())


def test_figures_come_first_and_are_those_of_the_json(shown, lines, documents, tmp_path):
    text = shown(documents)
    (summary,) = lines("train", tmp_path / "texts.jsonl", "--cv-only")
    held_out = summary["held_out"]
    low, high = held_out["accuracy_interval"]
    first, second = text.splitlines()[:2]
    assert first.split() == f"Accuracy {held_out['accuracy']:.2f} 95% interval {low:.2f} to {high:.2f}".split()
    assert second.split() == ["Baseline", "0.33", "accuracy", "of", "always", "answering", "'grain'"]
    places = [text.index(part) for part in SECTIONS]
    assert places == sorted(places)
    value, interval = figure_in_words(held_out, "log_loss")
    assert f"{value}  {interval}; per text; label frequencies: 1.10" in text, "ln 3"


def test_it_says_how_it_was_measured_and_that_texts_are_few(shown, documents):
    text = shown(documents)
    assert "Measured by 15-fold cross-validation on 15 texts." in text
    assert "These figures rest on 15 texts, so they are rough" in text


def test_a_row_for_each_label(shown, documents):
    lines = shown(documents).partition("Training set")[0].splitlines()
    table = {line.split()[0]: line.split()[1:] for line in lines if len(line.split()) == 5}
    assert table["label"] == ["texts", "precision", "recall", "F1"]
    assert {label: row[0] for label, row in table.items()} == {"label": "texts"} | dict.fromkeys(
        ("grain", "money", "sport"), "5"
    )
    assert all(re.fullmatch(r"[01]\.\d\d", figure) for figure in table["sport"][1:]), "two digits for five texts"


def test_at_most_twenty_labels_and_the_rest_are_counted(shown, documents):
    rows = [
        {"text": f"{one['text']} {word} {word}", "labels": f"label{word}"}
        for one in documents[:2]
        for word in map(chr, range(97, 97 + 23))
    ]
    text = shown(rows, "--preset", "linear", "--cv-only")
    assert len(re.findall(r"^ label[a-z] ", text, re.MULTILINE)) == 20
    assert "The 20 labels with most texts; --per-label shows 3 more." in text
    assert len(re.findall(r"^ label[a-z] ", shown(rows, "--cv-only", "--preset", "linear", "--per-label"), re.M)) == 23


def test_what_was_found_in_the_training_set(shown, documents):
    rows = [{"body text": one["text"], "desk": one["labels"]} for one in documents]
    rows += [rows[0] | {"body text": rows[0]["body text"].upper()}, {"body text": "nothing", "desk": None}]
    text = shown(rows, "--text-field", "body text", "--label-field", "desk")
    found = dict(line.split(None, 1) for line in text.partition("Training set")[2].splitlines()[1:7])
    assert {name: value.strip() for name, value in found.items()} == {
        "Texts": "16 from texts.jsonl",
        "Columns": "text in 'body text', label in 'desk', no id",
        "Labels": "3, one per text",
        "Language": "English",
        "Duplicates": "1 (1 identical, 0 nearly identical); duplicates share a fold",
        "Left": "out    1 text without a label",
    }


def test_texts_of_rare_labels_are_left_out_and_counted(shown, documents):
    rows = [*documents, {"id": "lone", "text": "a lone text", "labels": "rare"}]
    assert "1 text of labels with fewer than 2 texts" in shown(rows, "--min-texts", "2")


def test_one_sentence_on_the_model_and_the_commands_to_type_next(shown, run, documents, tmp_path):
    text = shown(documents, target="my model.tb")
    assert re.search(r"An ensemble of \d linear models of words and word stems\.", " ".join(text.split()))
    steps = [line.partition("  ")[0] for line in text.partition("\nNext\n")[2].splitlines()]
    assert steps == [
        "textbayes classify 'my model.tb' new.jsonl",
        "textbayes evaluate 'my model.tb' test.jsonl",
        "textbayes words 'my model.tb'",
    ]
    assert "`textbayes show 'my model.tb'`" in " ".join(text.split())
    for odd in ("×", "ratio", "scale", "pool", "complement"):  # what `show` has
        assert odd not in text
    listed = run("show", tmp_path / "my model.tb", "--table").stdout
    assert "logistic regression, ratio prior" in listed


def test_figures_alone_say_how_to_save_the_model(shown, documents):
    assert "The same command with -o model.tb instead of --cv-only" in " ".join(shown(documents, "--cv-only").split())


def test_many_labels_have_micro_f1_with_its_interval_first(shown, lines, many_labels, tmp_path):
    text = shown(many_labels)
    (summary,) = lines("train", tmp_path / "texts.jsonl", "--cv-only")
    held_out = summary["held_out"]
    low, high = held_out["micro_f1_interval"]
    assert text.splitlines()[0].split() == (
        f"Micro F1 {held_out['micro_f1']:.2f} 95% interval {low:.2f} to {high:.2f}".split()
    )
    assert "Macro F1" in text
    assert "Baseline" not in text
    assert "Thresholds were chosen without the texts that they are judged on." in " ".join(text.split())


@pytest.mark.parametrize("width", [80, 60])
def test_lines_fit_and_no_word_is_broken(shown, documents, width):
    names = {"grain": "agricultural commodities and their prices", "money": "貨幣市場", "sport": "sport"}
    rows = [{"text": one["text"], "labels": names[one["labels"]]} for one in documents]
    wide, narrow = shown(rows, width=200), shown(rows, width=width)
    assert max(map(cell_width, narrow.splitlines())) <= width
    assert _words(narrow) == _words(wide)


def test_on_a_terminal_notes_are_broken_between_words(on_terminal, write, documents, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [*documents, {"id": "bare", "text": "a text without any label", "labels": None}]
    shown, _ = on_terminal("train", write(rows), "-o", tmp_path / "m.tb", "--json", stream="stderr")
    notes = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r\n", "\n")
    told = notes[notes.index("textbayes: warning: 1 of 16 texts") :].partition("\ntextbayes: ")[0]
    assert len(told.splitlines()) > 1
    # The path is one word, however long it is.
    assert all(len(line) <= 60 or os.sep in line for line in told.splitlines())
    assert "keep them as texts of none of the labels with --unlabelled keep" in " ".join(told.split())


def test_log_evidence_of_online_models_is_that_of_judging_before_learning(lines, run, write, documents, tmp_path):
    path, model = write(documents), tmp_path / "m.tb"
    [told] = lines("train", path, "-o", model, "--model", "online:passes=2")
    trained = load_model(model)
    X = trained.features([one["text"] for one in documents]).weights
    rows = np.random.default_rng(0).permutation(len(documents))
    Y = np.array([[one["labels"] == name for name in trained.classes_] for one in documents]).astype(int)
    learner, sums = BayesOnlineClassifier(), [0.0, 0.0]
    for number in range(2):
        for i in rows:
            p = learner.predict_proba(X[i])[0] if hasattr(learner, "posterior_") else np.full(3, 0.5)
            sums[number] += np.log(np.where(Y[i], p, 1.0 - p)).sum()
            learner.partial_fit(X[i], Y[[i]], classes=trained.classes_)
    assert told["pass_log_evidence"] == pytest.approx(sums)
    assert told["log_evidence"] == pytest.approx(sums[0])
    assert sum(told["label_log_evidence"].values()) == pytest.approx(sums[0])
    [shown] = lines("show", model)
    assert shown["log_evidence"] == pytest.approx(sums[0])
    assert f"Log-evidence {sums[0]:.1f}" in run("train", path, "--cv-only", "--model", "online", "--table").stdout


def test_what_a_rule_leaves_to_people_is_said_by_train_and_show(shown, lines, run, documents, tmp_path):
    text = " ".join(shown(documents, "--rule", "top_label:min_probability=0.99").split())
    (told,) = lines("show", tmp_path / "m.tb", "--json")
    n_decided = told["held_out"]["n_decided"]
    assert n_decided < 15
    line = f"Decided {n_decided} of 15 texts ({100 * n_decided / 15:.1f} %)"
    assert line in text
    assert line in run("show", tmp_path / "m.tb", "--table").stdout
    unsure = " ".join(shown(documents, "--rule", "unsure:low=0.01,high=0.99").split())
    assert "the accuracy counts the label that the rule prefers" in unsure


def test_scales_that_were_looked_for_are_shown(shown, lines, run, documents, tmp_path):
    text = " ".join(shown(documents, "--scale", "norm").split())
    (told,) = lines("show", tmp_path / "m.tb", "--json")
    scales = [row["scales"] for row in told["labels"]]
    assert [len(one) for one in scales] == [2, 2, 2], "of a sparse and of a dense member"
    assert f"chosen on held-out texts: grain {scales[0][0]:.3g}, {scales[0][1]:.3g}; money" in text
    assert "scale of prior" in run("show", tmp_path / "m.tb", "--table").stdout


GERMAN = {
    "korn": ["Der Preis des Weizens ist im Jahr sehr gestiegen", "Die Bauern ernten den Weizen und den Mais im Sommer"],
    "geld": ["Die Bank hat ihre Zinsen erneut gesenkt", "Der Kredit bei der Bank ist wieder sehr teuer geworden"],
}


@pytest.mark.parametrize("options", [["--model", "linear"], ["--min-df", "1"], ["--preset", "linear", "--out-of-core"]])
def test_texts_of_another_language_are_read_in_it_whatever_is_named(shown, lines, tmp_path, options, monkeypatch):
    monkeypatch.setenv("TEXTBAYES_SHARDS", str(tmp_path / "shards"))
    rows = [
        {"text": f"{text} {'abcd'[i]}", "labels": name}
        for name, own in GERMAN.items()
        for text in own
        for i in range(4)
    ]
    (tmp_path / "prior.csv").write_text("word,label,mean\nsehr,geld,1\n")
    prior = [] if "--out-of-core" in options else ["--prior", "prior.csv"]
    text = shown(rows, *options, *prior)
    assert re.search("Language .*[Gg]erman", text)
    (told,) = lines("show", tmp_path / "m.tb", "--json")
    words = told["settings"]["vectorizer"]
    assert words["stemmer"] == "german"
    assert "der" in words["stop_words"] or words["stop_words"] == "german"
    if prior:
        assert "sehr" not in words["stop_words"], "a prior names it"


@pytest.mark.filterwarnings("ignore:the prior names")
def test_warnings_of_labels_and_of_the_prior_stand_with_the_figures(shown, documents, tmp_path):
    (tmp_path / "prior.csv").write_text("word,label,mean\ncorn,grain,1\nhouse,estate,1\n")
    rows = [
        *documents,
        {"id": "x", "text": "nothing is said", "labels": "n/a"},
        {"id": "y", "text": "a goal", "labels": "Sport"},
    ]
    text = " ".join(shown(rows, "--prior", "prior.csv").partition("Training set")[2].split())
    assert "'n/a' (1) is treated as a label" in text
    assert "labels differ by letter case only" in text
    assert "below zero is better" in text
    assert "Ignored: the rows of estate, which no text has as its label." in text

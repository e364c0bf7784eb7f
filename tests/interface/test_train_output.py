"""What ``textbayes train`` shows people: the answer first, in 80 columns, with no word broken."""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from textbayes.display.lines import cell_width
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
    assert "keep such texts as texts of none of the labels with --unlabelled keep" in " ".join(told.split())

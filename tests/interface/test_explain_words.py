"""``textbayes explain`` and ``textbayes words``: what speaks for a label, either of two classes included."""

from __future__ import annotations

import csv
import io
import json

import pytest

from textbayes.store import load_model, save_model


def test_a_text_on_the_command_line(lines, models):
    (told,) = lines("explain", models["multiclass"], "corn and the bank and corn", "--label", "grain")
    assert (told["id"], told["label"]) == ("text", "grain")
    assert told["words"][0]["word"] in {"corn", "bank"}
    assert {word["word"]: word["occurrences"] for word in told["words"]}["corn"] == 2
    total = told["base"] + sum(word["log_odds"] for word in told["words"]) + told["other_words"]
    assert total == pytest.approx(told["log_odds"])
    assert 0 < told["probability"] < 1
    assert isinstance(told["decision"], bool)


def test_the_words_not_listed_are_added_up(lines, models):
    arguments = ("explain", models["multiclass"], "corn wheat harvest bank", "--label", "grain")
    (all_words,), (one_word,) = lines(*arguments), lines(*arguments, "--top", "1")
    assert len(one_word["words"]) == 1
    assert one_word["other_words"] == pytest.approx(sum(word["log_odds"] for word in all_words["words"][1:]))


def test_without_a_label_the_decision_is_explained(lines, models):
    assert [told["label"] for told in lines("explain", models["multilabel"], "the match ended")] == ["sport"]
    for text, label in (("corn harvest", "grain"), ("the bank", "money")):
        (told,) = lines("explain", models["binary"], text)
        assert (told["label"], told["decision"]) == (label, True)
        assert told["probability"] > 0.5


def test_both_of_two_classes_can_be_explained(lines, models):
    first, second = lines("explain", models["binary"], "corn from the bank", "--label", "grain", "--label", "money")
    assert first["probability"] == pytest.approx(1 - second["probability"])
    assert first["base"] == pytest.approx(-second["base"])
    assert first["decision"] != second["decision"]
    assert [word["log_odds"] for word in first["words"]] == [-word["log_odds"] for word in second["words"]]


def test_documents_of_a_file(lines, run, models, write, documents):
    path = write(documents)
    assert len(lines("explain", models["multiclass"], path)) == len(documents)
    (told,) = lines("explain", models["multiclass"], path, "--id", "sport-3")
    assert (told["id"], told["label"]) == ("sport-3", "sport")
    said = run("explain", models["multiclass"], path, "--id", "x", code=1).stderr
    assert "no document of id 'x'" in said
    assert f"ids are such as {documents[0]['id']!r}" in said


def test_mean_parts_in_the_answers_to_given_texts(lines, run, models, write, documents):
    path = write(documents)
    told = lines("words", models["multiclass"], "--texts", path, "--label", "grain", "--top", "6")
    assert [one["label"] for one in told] == ["grain"] * 6
    first = told[0]
    parts = [word["log_odds"] for text in lines("explain", models["multiclass"], path, "--label", "grain")
             for word in text["words"] if word["word"] == first["word"]]  # fmt: skip
    assert first["texts"] == len(parts)
    assert first["part"] == pytest.approx(sum(parts) / len(parts))
    assert first["contribution"] == pytest.approx(sum(parts) / len(documents))
    assert first["word"] in run("words", models["multiclass"], "--texts", path, "--table").stdout
    assert "there are no texts" in run("words", models["binary"], "--texts", write([], "none.jsonl"), code=1).stderr
    refused = run("words", models["binary"], "--texts", path, "--intervals", code=2).stderr
    assert "--texts lists mean parts alone" in refused


def test_standard_input(lines, models):
    assert lines("explain", models["multiclass"], "-", stdin="the bank\n")[0]["label"] == "money"
    assert lines("explain", models["multiclass"], stdin="the bank\n")[0]["label"] == "money"


def test_a_mistyped_file_is_not_taken_for_a_text(lines, run, models):
    failed = run("explain", models["multiclass"], "new.jsnl", code=1)
    assert "there is no file new.jsnl; check the path, or pass --literal" in failed.stderr
    assert len(lines("explain", models["multiclass"], "new.jsnl", "--literal")) == 1


def test_a_text_without_quotes_and_a_mixture(lines, run, models, write, documents):
    assert lines("explain", models["multiclass"], "the", "bank")[0]["label"] == "money"
    failed = run("explain", models["multiclass"], write(documents), "gone", code=1)
    assert "there is no file gone" in failed.stderr


def test_fields_of_a_table(lines, models, tmp_path):
    (tmp_path / "a.csv").write_text("no,story\n7,the bank\n", encoding="utf-8")
    arguments = ("--text-field", "story", "--id-field", "no")
    assert lines("explain", models["multiclass"], tmp_path / "a.csv", *arguments)[0]["id"] == "7"


def test_an_unknown_label(run, models):
    for kind in ("multiclass", "binary"):
        assert "label 'oil' is not known" in run("explain", models[kind], "a text", "--label", "oil", code=1).stderr
        assert "label 'oil' is not known" in run("words", models[kind], "--label", "oil", code=1).stderr


def test_explanations_as_table_and_csv(run, models):
    arguments = ("explain", models["multiclass"], "corn and the bank", "--label", "grain")
    table = run(*arguments, "--table").stdout
    assert "grain? " in table
    assert [row in table for row in ("corn", "base", "log-odds")] == [True] * 3
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout)))
    assert {"corn", "bank"} < {row["word"] for row in rows} <= {"corn", "and", "the", "bank", "and the", "the bank"}
    two = run("explain", models["multiclass"], "--csv", stdin="the bank\nthe match\n").stdout
    assert two.count("log_odds") == 1


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_words_of_every_label(kind, lines, models):
    rows = lines("words", models[kind], "--top", "2", "--by", "weight")
    model = load_model(models[kind])
    assert {row["label"] for row in rows} == {str(name) for name in model.classes_}
    for label in model.label_space_.column_names:
        found = [(row["word"], row["weight"]) for row in rows if row["label"] == label]
        assert found == [(row.word, row.weight) for row in model.label_words(label, 2, by="weight")]


def test_words_of_the_first_of_two_classes_are_those_of_the_second_turned_round(lines, models):
    first = lines("words", models["binary"], "--label", "grain", "--by", "weight")
    second = lines("words", models["binary"], "--label", "money", "--by", "weight")
    assert [(row["word"], row["weight"]) for row in first] == [(row["word"], -row["weight"]) for row in second]


def test_words_as_table_and_csv(run, models):
    table = run("words", models["multiclass"], "--table").stdout
    assert [head in table for head in ("corn", "adds", "weight", "texts")] == [True] * 4
    rows = list(csv.DictReader(io.StringIO(run("words", models["multiclass"], "--csv").stdout)))
    assert rows[0]["rank"] == "1"
    assert list(rows[0]) == ["label", "rank", "word", "weight", "contribution", "texts", "weight_of"]


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_words_are_ranked_by_what_they_add(kind, lines, models):
    rows = lines("words", models[kind], "--label", "grain", "--top", "3")
    first, second, against = (row["contribution"] for row in rows)
    assert first > second > 0.0 > against
    every = lines("words", models[kind], "--label", "grain", "--top", "100")
    assert against == min(row["contribution"] for row in every)
    assert first == max(row["contribution"] for row in every)
    assert all(row["contribution"] * row["weight"] > 0.0 for row in every)
    assert {row["word"]: row["texts"] for row in rows}["corn"] == 4


def test_a_file_that_does_not_say_how_frequent_words_are(run, write, documents, tmp_path):
    run("train", write(documents), "--preset", "linear", "--weighting", "log", "-o", tmp_path / "m.tb")
    model = load_model(tmp_path / "m.tb")
    model.weighting_.document_frequency_ = None
    save_model(model, tmp_path / "m.tb")
    done = run("words", tmp_path / "m.tb", "--label", "grain", "--json")
    assert "does not say how frequent words are" in done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {(row["contribution"], row["texts"]) for row in rows} == {(None, None)}
    sizes = [abs(row["weight"]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert "corn" in run("words", tmp_path / "m.tb", "--table").stdout


def test_intervals_of_weights(run, lines, write, documents, tmp_path):
    run("train", write(documents), "--intervals", "-o", tmp_path / "m.tb")
    narrow, wide = (
        lines("words", tmp_path / "m.tb", "--intervals", "--level", level, "--label", "grain") for level in (0.5, 0.99)
    )
    assert narrow[0]["word"] == wide[0]["word"]
    assert wide[0]["low"] < narrow[0]["low"] <= narrow[0]["weight"] <= narrow[0]["high"] < wide[0]["high"]
    assert "low" in run("words", tmp_path / "m.tb", "--intervals", "--table").stdout
    run("train", write(documents), "-o", tmp_path / "plain.tb")
    assert "intervals" in run("words", tmp_path / "plain.tb", "--intervals", code=1).stderr


def test_stems_are_shown_as_whole_words_by_every_command(run, lines, write, tmp_path):
    """The stems of company and party are no words; the model file knows what they stand for."""
    rows = [{"text": f"companies report {word}", "labels": "money"} for word in ("profits", "losses", "profits again")]
    rows += [{"text": f"parties debate {word}", "labels": "power"} for word in ("laws", "votes", "laws again")]
    model = tmp_path / "m.tb"
    run("train", write(rows), "-o", model, "--preset", "linear", "--intervals")
    listed = {row["word"] for row in lines("words", model, "--top", "50")}
    assert {"companies", "parties"} <= listed
    assert not {"compani", "parti"} & listed
    for row in lines("words", model, "--intervals"):
        assert row["form"] == {"compani": "companies", "parti": "parties"}.get(row["word"], row["form"])
    table = run("words", model, "--intervals", "--table").stdout
    assert "companies" in table
    assert "compani " not in table
    assert "95% credible intervals" in table
    assert "80% credible intervals" in run("words", model, "--intervals", "--level", "0.8", "--table").stdout
    assert [row["level"] for row in lines("words", model, "--intervals", "--top", "1")] == [0.95, 0.95]
    for command in ("select", "keyness"):
        shown = run(
            command, tmp_path / "texts.jsonl", "--table", *(["--min-count", "1"] if command == "keyness" else [])
        )
        assert "companies" in shown.stdout
        assert "compani " not in shown.stdout


def test_models_trained_out_of_core_know_whole_words_too(run, lines, write, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = [{"text": f"companies report {word}", "labels": "money"} for word in ("profits", "losses", "profits again")]
    rows += [{"text": f"parties debate {word}", "labels": "power"} for word in ("laws", "votes", "laws again")]
    for _ in range(2):  # from texts, and from what the first run has kept of them
        run("train", write(rows), "-o", tmp_path / "m.tb", "--out-of-core", "--preset", "linear")
        assert {"companies", "parties"} <= {row["word"] for row in lines("words", tmp_path / "m.tb", "--top", "50")}


def test_the_text_is_shown_above_its_explanation(run, models, write, documents):
    shown = run("explain", models["multiclass"], write(documents), "--id", "money-0", "--table").stdout
    assert shown.splitlines()[0] == "“bank raises rates” (money-0)"


def test_words_that_the_model_does_not_know_are_named(run, models):
    said = run("explain", models["multiclass"], "Charming corn and charming wheat, funny", "--table").stdout
    assert said.rstrip().endswith("not known: charming, funny")
    assert "not known" not in run("explain", models["multiclass"], "corn and wheat", "--table").stdout

"""``textbayes evaluate``: the measures, per label too; unknown labels; decisions kept for ``compare``."""

from __future__ import annotations

import csv
import io
import json

import pytest

from textbayes.store import load_model


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_one_object_with_all_measures(kind, lines, models, write, documents, many_labels):
    rows = {"multiclass": documents, "binary": documents[:10], "multilabel": many_labels}[kind]
    (result,) = lines("evaluate", models[kind], write(rows), "--json")
    assert result["kind"] == kind
    assert result["n_docs"] == len(rows)
    assert result["unknown_labels"] == {}
    assert ("subset_accuracy" if kind == "multilabel" else "accuracy") in result
    measures = {"precision", "recall", "f1", "log_loss", "brier", "ece"}
    assert {"micro_f1", "macro_f1", "log_loss"} <= set(result)
    assert set(result["labels"]) == {str(name) for name in load_model(models[kind]).classes_}
    assert all(measures | {"tp", "fp", "fn", "tn", "support"} <= set(row) for row in result["labels"].values())


def test_the_figures_are_those_of_the_decisions(lines, models, write, documents):
    path = write(documents)
    decided = lines("classify", models["multiclass"], path)
    right = sum(row["labels"] == [doc["labels"]] for row, doc in zip(decided, documents, strict=True))
    (result,) = lines("evaluate", models["multiclass"], path)
    assert result["accuracy"] == result["micro_f1"] == right / len(documents)


def test_two_classes_both_have_a_row(lines, models, write, documents):
    (result,) = lines("evaluate", models["binary"], write(documents[:10]))
    grain, money = result["labels"]["grain"], result["labels"]["money"]
    assert (grain["tp"], grain["fp"]) == (money["tn"], money["fn"])
    assert grain["log_loss"] == pytest.approx(money["log_loss"])
    assert result["macro_f1"] == pytest.approx((grain["f1"] + money["f1"]) / 2)


def test_unknown_labels_are_named_and_counted(lines, run, models, write, documents):
    strangers = [{"id": f"w{i}", "text": "rain", "labels": ["weather"]} for i in range(2)]
    path = write([*documents, *strangers])
    done = run("evaluate", models["multiclass"], path)
    assert "textbayes: warning: the model has not seen 1 of the labels (documents): 'weather' (2)" in done.stderr
    result = json.loads(done.stdout)
    assert result["unknown_labels"] == {"weather": 2}
    assert "weather" not in result["labels"]
    assert result["accuracy"] <= 15 / 17  # they count as errors
    failed = run("evaluate", models["multiclass"], path, "--strict", code=1)
    assert "correct them, or leave out --strict" in failed.stderr
    assert failed.stdout == ""


def test_tables_and_csv_show_labels_on_demand(run, models, write, documents):
    arguments = ("evaluate", models["multiclass"], write(documents))
    table = run(*arguments, "--table").stdout
    assert "15 documents, 3 labels (multiclass)" in table
    assert "accuracy" in table
    assert "grain" not in table
    assert "grain" in run(*arguments, "--table", "--per-label").stdout
    (overall,) = csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout))
    assert float(overall["micro_f1"]) > 0.9
    each = list(csv.DictReader(io.StringIO(run(*arguments, "--csv", "--per-label").stdout)))
    assert [row["label"] for row in each] == ["grain", "money", "sport"]


def test_decisions_are_kept_as_classify_writes_them(run, lines, models, write, documents, tmp_path):
    path = write(documents)
    run("evaluate", models["multiclass"], path, "--save-decisions", tmp_path / "d.jsonl")
    kept = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()]
    assert kept == lines("classify", models["multiclass"], path)


def test_nothing_is_kept_when_the_evaluation_fails(run, models, write, documents, tmp_path):
    path = write([*documents, {"id": "x", "text": "two labels", "labels": ["grain", "sport"]}])
    failed = run("evaluate", models["multiclass"], path, "--save-decisions", tmp_path / "d.jsonl", code=1)
    assert "document 16 of " in failed.stderr
    assert "(id 'x') has 2 labels (grain, sport) where exactly one is needed" in failed.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["texts.jsonl"]


def test_documents_without_any_label_are_refused(run, models, write, documents):
    bare = write({"id": doc["id"], "text": doc["text"]} for doc in documents)
    assert "has a label; name the field that holds it" in run("evaluate", models["multilabel"], bare, code=1).stderr


def test_the_input_is_never_overwritten(run, models, write, documents):
    path = write(documents)
    for target in (path, models["multiclass"]):
        failed = run("evaluate", models["multiclass"], path, "--save-decisions", target, code=1)
        assert "would be replaced" in failed.stderr

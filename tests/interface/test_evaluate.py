"""``textbayes evaluate``: the measures, per label too; unknown labels; decisions kept for ``compare``."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter

import pytest
from sklearn import metrics

from textbayes.decide import make_rule
from textbayes.store import load_model, save_model


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
    decided = lines("classify", models["binary"], write(documents[:10]))
    losses = [-math.log(row["probabilities"][doc["labels"]]) for row, doc in zip(decided, documents, strict=False)]
    assert result["log_loss"] == pytest.approx(sum(losses) / 10)  # per text
    assert grain["log_loss"] == pytest.approx(sum(losses[:5]) / 5)
    assert result["macro_f1"] == pytest.approx((grain["f1"] + money["f1"]) / 2)


def test_unknown_labels_are_named_and_counted(lines, run, models, write, documents):
    strangers = [{"id": f"w{i}", "text": "rain", "labels": ["weather"]} for i in range(2)]
    path = write([*documents, *strangers])
    done = run("evaluate", models["multiclass"], path)
    assert "textbayes: warning: 1 label is not in the training set (texts): 'weather' (2)" in done.stderr
    result = json.loads(done.stdout)
    assert result["unknown_labels"] == {"weather": 2}
    assert "weather" not in result["labels"]
    assert result["accuracy"] <= 15 / 17  # they count as errors
    shown = " ".join(run("evaluate", models["multiclass"], path, "--table").stdout.split())
    assert "Texts of other labels (2) count as errors; the log-loss is of the 15 other texts." in shown
    failed = run("evaluate", models["multiclass"], path, "--strict", code=1)
    assert "correct them, or leave out --strict" in failed.stderr
    assert failed.stdout == ""


def test_tables_and_csv_show_labels_on_demand(run, models, write, documents):
    arguments = ("evaluate", models["multiclass"], write(documents))
    table = run(*arguments, "--table").stdout
    assert table.splitlines()[0] == "15 texts, 3 labels"
    assert table.splitlines()[1].split() == ["Accuracy", "1.00", "95%", "interval", "0.80", "to", "1.00"], (
        "Wilson's, of 15 of 15"
    )
    assert "These figures rest on 15 texts" in table
    assert "sport" not in table
    assert "sport" in run(*arguments, "--table", "--per-label").stdout
    (overall,) = csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout))
    assert float(overall["micro_f1"]) > 0.9
    each = list(csv.DictReader(io.StringIO(run(*arguments, "--csv", "--per-label").stdout)))
    assert [row["label"] for row in each] == ["grain", "money", "sport"]


@pytest.fixture
def mistaken(write, documents):
    """The same texts, three of them with another label than the model has learnt."""
    wrong = {"grain-0": "money", "grain-1": "money", "sport-2": "grain"}
    return write([doc | {"labels": wrong.get(doc["id"], doc["labels"])} for doc in documents], "mistaken.jsonl")


def test_confusion(run, lines, models, mistaken):
    arguments = ("evaluate", models["multiclass"], mistaken, "--confusion")
    (result,) = lines(*arguments)
    found = {(row["true"], row["given"]): row["n"] for row in result["confusion"]}
    assert found == {
        ("grain", "grain"): 3,
        ("money", "grain"): 2,
        ("money", "money"): 5,
        ("grain", "sport"): 1,
        ("sport", "sport"): 4,
    }
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout)))
    assert {(row["true"], row["given"]): int(row["n"]) for row in rows} == found
    table = run(*arguments, "--table").stdout.splitlines()
    at = next(i for i, line in enumerate(table) if "true ↓ predicted →" in line)
    assert table[at].split()[-3:] == ["grain", "money", "sport"]
    assert [line.split() for line in table[at + 2 : at + 5]] == [
        ["grain", "3", "0", "1"],
        ["money", "2", "5", "0"],
        ["sport", "0", "0", "4"],
    ]


def test_confusion_where_texts_have_several_labels(lines, models, write, documents):
    truth = [doc | {"labels": ["news"] if doc["id"] == "money-2" else [doc["labels"]]} for doc in documents]
    path = write(truth)
    decided = {row["id"]: set(row["labels"]) for row in lines("classify", models["multilabel"], path)}
    (result,) = lines("evaluate", models["multilabel"], path, "--confusion")
    found = {(row["true"], row["given"]): row["n"] for row in result["confusion"]}
    pairs = Counter()
    for doc in truth:
        missed, extra = set(doc["labels"]) - decided[doc["id"]], decided[doc["id"]] - set(doc["labels"])
        pairs.update((m, e) for m in missed or {"(none)"} for e in extra or {"(none)"} if missed or extra)
    assert found == pairs
    assert ("news", "money") in found
    assert [row["n"] for row in result["confusion"]] == sorted(found.values(), reverse=True)


def test_the_surest_errors(run, lines, models, mistaken, documents):
    proba = {row["id"]: row["probabilities"] for row in lines("classify", models["multiclass"], mistaken)}
    wrong = {"grain-0": "grain", "grain-1": "grain", "sport-2": "sport"}  # what they are given
    order = sorted(wrong, key=lambda name: -proba[name][wrong[name]])
    (result,) = lines("evaluate", models["multiclass"], mistaken, "--errors", "2")
    assert [row["id"] for row in result["errors"]] == order[:2]
    first = result["errors"][0]
    assert (first["given"], first["label"], first["mistake"]) == ([wrong[order[0]]], wrong[order[0]], "given")
    assert first["probability"] == proba[order[0]][wrong[order[0]]]
    assert first["snippet"] == next(doc["text"] for doc in documents if doc["id"] == order[0])
    explained = load_model(models["multiclass"]).explain(first["snippet"], [first["label"]])[0].contributions
    assert [part["word"] for part in first["words"]] == [part.word for part in explained if part.log_odds > 0][:6]
    table = run("evaluate", models["multiclass"], mistaken, "--errors", "5", "--table").stdout
    assert "The 3 most confident of 3 wrong decisions" in table
    (row, *_) = csv.DictReader(
        io.StringIO(run("evaluate", models["multiclass"], mistaken, "--errors", "5", "--csv").stdout)
    )
    assert (row["id"], row["true"]) == (order[0], "money" if order[0].startswith("grain") else "grain")
    failed = run("evaluate", models["multiclass"], mistaken, "--errors", "5", "--confusion", "--csv", code=2)
    assert "A CSV holds one table" in failed.stderr


def test_a_label_that_was_missed_is_an_error_too(lines, models, write, documents):
    path = write([doc | {"labels": [doc["labels"], "news"]} for doc in documents[5:8]])
    (result,) = lines("evaluate", models["multilabel"], path, "--errors", "10")
    assert [row["mistake"] for row in result["errors"] if row["label"] == "news"].count("missed") >= 1
    missed = next(row for row in result["errors"] if row["mistake"] == "missed")
    assert missed["label"] in missed["true"]
    assert missed["label"] not in missed["given"]
    assert all(part["log_odds"] < 0 for part in missed["words"])


@pytest.mark.parametrize("kind", ["binary", "multilabel"])
def test_says_how_many_are_left_unsure(kind, run, lines, write, documents, many_labels, tmp_path):
    rows = documents[:10] if kind == "binary" else many_labels
    run("train", write(rows), "-o", tmp_path / "m.tb", "--rule", "unsure:low=0.01,high=0.999")
    decided = lines("classify", tmp_path / "m.tb", write(rows))
    (result,) = lines("evaluate", tmp_path / "m.tb", write(rows))
    each = [len(row["unsure"]) for row in decided]
    expected = sum(map(bool, each)) if kind == "binary" else sum(each)
    assert result["unsure"] == expected > 0
    shown = " ".join(run("evaluate", tmp_path / "m.tb", write(rows), "--table").stdout.split())
    if kind == "multilabel":
        assert f"Left to people as unsure: {expected} of {15 * 4} decisions" in shown
        return
    sure = [row["labels"] == [doc["labels"]] for row, doc in zip(decided, rows, strict=True) if not row["unsure"]]
    assert result["n_decided"] == len(sure) == 10 - expected
    assert result["accuracy_decided"] == (sum(sure) / len(sure) if sure else None)
    assert f"Decided {10 - expected} of 10 texts" in shown
    assert "left to people; the accuracy counts the label that the rule prefers" in shown


def test_says_how_good_the_decided_texts_are(run, lines, models, write, documents, tmp_path):
    found = lines("classify", models["multiclass"], write(documents))
    best = {row["id"]: max(row["probabilities"].values()) for row in found}
    ranked = sorted(best.values())
    model = load_model(models["multiclass"])
    cut = (ranked[5] + ranked[6]) / 2  # six of the fifteen stay below it
    model.rule_ = make_rule("top_label", min_probability=cut).fit([[0.2, 0.3, 0.5]])
    save_model(model, tmp_path / "m.tb")
    wrong = max(best, key=best.__getitem__)  # one of the nine
    others = {"grain": "money", "money": "sport", "sport": "grain"}
    rows = [doc | {"labels": others[doc["labels"]] if doc["id"] == wrong else doc["labels"]} for doc in documents]
    decided = [row["labels"] for row in lines("classify", tmp_path / "m.tb", write(rows))]
    right = [given == [doc["labels"]] for given, doc in zip(decided, rows, strict=True) if given]
    (result,) = lines("evaluate", tmp_path / "m.tb", write(rows))
    assert (len(right), sum(right)) == (9, 8)
    assert (result["n_decided"], result["accuracy_decided"]) == (9, 8 / 9)
    assert result["accuracy"] == 8 / 15
    (row,) = csv.DictReader(io.StringIO(run("evaluate", tmp_path / "m.tb", write(rows), "--csv").stdout))
    assert (row["n_decided"], float(row["accuracy_decided"])) == ("9", pytest.approx(8 / 9))
    shown = " ".join(run("evaluate", tmp_path / "m.tb", write(rows), "--table").stdout.split())
    said = f"Decided 9 of 15 texts (60.0 %); {100 * 8 / 9:.1f} % of them correct. 6 are left to people, and"
    assert f"{said} count as errors in the accuracy." in shown


def test_a_rule_that_decides_everything_leaves_nobody_unsure(run, lines, models, write, documents):
    (result,) = lines("evaluate", models["multiclass"], write(documents))
    assert result["unsure"] is None
    assert (result["n_decided"], result["accuracy_decided"]) == (result["n_docs"], result["accuracy"])
    shown = run("evaluate", models["multiclass"], write(documents), "--table").stdout
    assert "unsure" not in shown
    assert "Decided" not in shown


def test_texts_of_the_training_set_are_warned_of(run, models, write, documents):
    fresh = [doc | {"id": f"new-{i}", "text": f"{doc['text']} today"} for i, doc in enumerate(documents)]
    done = run("evaluate", models["multiclass"], write(fresh))
    assert "training set" not in done.stderr
    assert json.loads(done.stdout)["in_training"] == 0
    spaced = [doc | {"text": f" {doc['text']}\n"} for doc in documents[:4]]
    done = run("evaluate", models["multiclass"], write([*fresh, *spaced]))
    assert "textbayes: warning: 4 of 19 texts were in the training set of the model" in done.stderr


def test_a_model_file_without_fingerprints_is_read_and_does_not_warn(run, models, write, documents, tmp_path):
    model = load_model(models["multiclass"])
    model.fingerprints_ = None  # as in files of earlier versions
    save_model(model, tmp_path / "old.tb")
    done = run("evaluate", tmp_path / "old.tb", write(documents))
    assert "training set" not in done.stderr
    assert json.loads(done.stdout)["in_training"] is None


def test_training_evaluation_and_scikit_learn_agree(run, lines, write, documents, tmp_path):
    """The cross-validated figures are those of the same definitions, two classes included."""
    rows = documents[:10]
    path = write(rows)
    (summary,) = lines("train", path, "-o", tmp_path / "m.tb")
    (result,) = lines("evaluate", tmp_path / "m.tb", path)
    assert summary["held_out"].keys() == result.keys() - {
        *("unsure", "n_decided", "accuracy_decided", "in_training", "unknown_labels"),
    }
    assert list(summary["held_out"]["labels"]) == ["grain", "money"]
    assert summary["held_out"]["log_loss_per"] == result["log_loss_per"] == "text"
    decided = lines("classify", tmp_path / "m.tb", path)
    true = [doc["labels"] for doc in rows]
    given = [row["labels"][0] for row in decided]
    proba = [[row["probabilities"][name] for name in ("grain", "money")] for row in decided]
    assert result["accuracy"] == pytest.approx(metrics.accuracy_score(true, given))
    assert result["macro_f1"] == pytest.approx(metrics.f1_score(true, given, average="macro"))
    assert result["log_loss"] == pytest.approx(metrics.log_loss(true, proba))


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
    assert "has a label; name the column that holds it" in run("evaluate", models["multilabel"], bare, code=1).stderr


def test_the_input_is_never_overwritten(run, models, write, documents):
    path = write(documents)
    for target in (path, models["multiclass"]):
        failed = run("evaluate", models["multiclass"], path, "--save-decisions", target, code=1)
        assert "would replace" in failed.stderr

"""``textbayes compare``: models and decisions in any mixture against the truth."""

from __future__ import annotations

import csv
import io
import json

import pytest


@pytest.fixture
def systems(write, documents):
    """Decisions of a perfect and of a poor system, and the truth."""
    many = [doc | {"id": f"{doc['id']}-{i}"} for i in range(4) for doc in documents]
    good = write(({"id": doc["id"], "labels": [doc["labels"]]} for doc in many), "good.jsonl")
    poor = write(({"id": doc["id"], "labels": "grain"} for doc in reversed(many)), "poor.jsonl")
    return good, poor, write(many, "truth.jsonl")


def test_decisions(lines, systems):
    good, poor, truth = systems
    (result,) = lines("compare", good, poor, "--truth", truth)
    assert (result["n_docs"], result["n_labels"], result["kind"]) == (60, 3, "multiclass")
    assert result["systems"]["good"] == {"accuracy": 1.0, "micro_f1": 1.0, "macro_f1": 1.0, "labels_won": 3}
    assert result["systems"]["poor"]["accuracy"] == pytest.approx(1 / 3)
    symbols = {(row["test"], row["first"]): row["symbol"] for row in result["tests"]}
    assert symbols == {
        ("s", "good"): "≫",
        ("s", "poor"): "≪",
        ("S", "good"): "~",
        ("S", "poor"): "~",
        ("mcnemar", "good"): "≫",
        ("mcnemar", "poor"): "≪",
        ("bootstrap_micro", "good"): "≫",
        ("bootstrap_micro", "poor"): "≪",
    }


def test_how_probable_it_is_that_a_system_is_better(lines, run, systems):
    good, poor, truth = systems
    (result,) = lines("compare", good, poor, "--truth", truth, "--rope", "0.05")
    forth, back = result["posteriors"]
    assert (forth["first"], forth["second"], result["rope"]) == ("good", "poor", 0.05)
    assert forth["better"] == pytest.approx(back["worse"])
    assert forth["better"] > 0.999
    assert forth["mean"] == pytest.approx(40 / 63)  # of 60 documents 40 are right by good alone; the prior adds three
    shown = run("compare", good, poor, "--truth", truth, "--table", "--rope", "0.9").stdout
    assert "equal: at most 0.9 apart" in shown
    assert "posterior: better 0.000, equal 1.000, worse 0.000" in shown


def test_models_and_decisions_together(run, lines, models, write, documents, tmp_path):
    truth = write(documents)
    run("evaluate", models["multiclass"], truth, "--save-decisions", tmp_path / "kept.jsonl")
    (result,) = lines("compare", models["multiclass"], tmp_path / "kept.jsonl", models["multilabel"], "--truth", truth)
    assert list(result["systems"]) == ["multiclass", "kept", "multilabel"]
    assert result["systems"]["multiclass"] == result["systems"]["kept"]
    same = [row for row in result["tests"] if {row["first"], row["second"]} == {"multiclass", "kept"}]
    assert {row["p_value"] for row in same} == {1.0}


def test_matrix_and_csv(run, systems):
    good, poor, truth = systems
    shown = run("compare", good, f"bad={poor}", "--truth", truth, "--table", "--test", "s", "--two-sided").stdout
    assert "bad" in shown
    assert "≫" in shown
    assert "a document is one decision" in shown
    rows = list(csv.DictReader(io.StringIO(run("compare", good, poor, "--truth", truth, "--csv").stdout)))
    assert rows[0]["symbol"] == "≫"
    assert len(rows) == 8
    assert float(rows[0]["difference"]) == pytest.approx(2 / 3)
    assert float(rows[0]["low"]) < 2 / 3 < float(rows[0]["high"])


def _decided(write, truth, wrong, name):
    """Decisions on two classes that are wrong for the documents named."""
    other = {"grain": "money", "money": "grain"}
    rows = [{"id": d["id"], "labels": other[d["labels"]] if d["id"] in wrong else d["labels"]} for d in truth]
    return write(rows, name)


def test_two_classes_are_one_decision_a_document(lines, run, write, documents):
    truth = [doc for doc in documents if doc["labels"] != "sport"]
    right = _decided(write, truth, (), "right.jsonl")
    wrong = _decided(write, truth, ("grain-0", "grain-1", "money-0", "money-1"), "wrong.jsonl")
    path = write(truth, "truth.jsonl")
    (result,) = lines("compare", right, wrong, "--truth", path, "--two-sided")
    found = {row["test"]: row for row in result["tests"] if row["first"] == "right"}
    assert (found["s"]["n"], found["s"]["unit"]) == (4, "documents")
    assert found["s"]["p_value"] == pytest.approx(0.125)  # 2 · (½)⁴, not 2 · (½)⁸
    assert found["S"]["n"] == 1
    assert found["s"]["difference"] == pytest.approx(0.4)
    table = run("compare", right, wrong, "--truth", path, "--two-sided", "--table").stdout
    row = table.splitlines()[table.splitlines().index("right against wrong") + 1].split()
    assert row[:2] == ["s", "+0.4000"]
    assert row[5:] == ["4", "documents", "0.1250", "~"]
    (many,) = lines("compare", right, wrong, "--truth", path, "--multi-label", "--test", "s")
    assert {(row["n"], row["unit"]) for row in many["tests"]} == {(8, "decisions")}


def test_a_matrix_of_symbols_for_three_or_more(run, systems, tmp_path):
    good, poor, truth = systems
    two = run("compare", good, poor, "--truth", truth, "--table").stdout
    assert "The row against the column" not in two
    shown = run("compare", good, poor, f"third={poor}", "--truth", truth, "--table", "--test", "s").stdout
    lines = shown.splitlines()
    at = lines.index("The row against the column, by s:")
    assert [line.split() for line in lines[at + 1 : at + 5]] == [
        ["good", "poor", "third"],
        ["good", "≫", "≫"],
        ["poor", "≪", "~"],
        ["third", "≪", "~"],
    ]
    pairs = [line for line in lines if " against " in line and not line.startswith("The row")]
    assert pairs == ["good against poor", "good against third", "poor against third"]


def test_a_model_compared_on_its_training_texts_is_warned_of(run, models, systems, write, documents):
    other = write(({"id": doc["id"], "labels": "grain"} for doc in documents), "other.jsonl")
    done = run("compare", models["multiclass"], other, "--truth", write(documents))
    assert "15 of 15 texts were in the training set of multiclass" in done.stderr


def test_names(run, systems, tmp_path):
    good, _poor, truth = systems
    (tmp_path / "b").mkdir()
    other = tmp_path / "b" / "good.jsonl"
    other.write_bytes(good.read_bytes())
    result = json.loads(run("compare", good, other, "--truth", truth).stdout)
    assert list(result["systems"]) == [str(good), str(other)]
    assert "was named twice" in run("compare", good, good, "--truth", truth, code=2).stderr
    assert "name two or more" in run("compare", good, "--truth", truth, code=2).stderr
    assert "There is no input for --truth" in run("compare", good, other, code=2).stderr
    assert "there is no file nothing.jsonl" in run("compare", good, "x=nothing.jsonl", "--truth", truth, code=1).stderr


def test_mismatched_ids(run, systems, write, documents):
    good, _poor, truth = systems
    fewer = write([{"id": "grain-0-0", "labels": ["grain"]}], "fewer.jsonl")
    failed = run("compare", good, fewer, "--truth", truth, code=1)
    assert "fewer.jsonl has no decision for 'grain-1-0' and 58 more of " in failed.stderr
    part = write([documents[0] | {"id": "grain-0-0"}], "part.jsonl")
    done = run("compare", good, fewer, "--truth", part)
    assert "good.jsonl has 59 decisions on documents that are not in" in done.stderr


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("hello", "neither a model nor decisions in JSON lines"),
        ("[1]", "'id' and 'labels' are needed"),
        ('{"id": "1"}', "'id' and 'labels' are needed"),
        ('{"id": "1", "labels": [2]}', "'labels' must be a string or a list of strings"),
        ('{"id": 1.5, "labels": []}', "'id' must be a string or a whole number"),
        ('{"id": "1", "labels": []}\n\n{"id": 1, "labels": []}', "line 3: id '1' was used before"),
    ],
)
def test_malformed_decisions(line, cause, run, systems, tmp_path):
    good, _poor, truth = systems
    (tmp_path / "odd.jsonl").write_text(line, encoding="utf-8")
    failed = run("compare", good, tmp_path / "odd.jsonl", "--truth", truth, code=1)
    assert "odd.jsonl, line " in failed.stderr
    assert cause in failed.stderr


def test_truth_without_labels(run, systems, write):
    good, poor, _truth = systems
    bare = write([{"id": "grain-0-0", "text": "corn"}], "bare.jsonl")
    assert "has a label; name the column" in run("compare", good, poor, "--truth", bare, code=1).stderr

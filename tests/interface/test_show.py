"""``textbayes show``: what is in a model file, for people and for programs."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import zipfile

import numpy as np
import pytest

from textbayes import __version__
from textbayes.store import load_model


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_everything_as_one_object(kind, lines, models, documents, many_labels):
    rows = {"multiclass": documents, "binary": documents[:10], "multilabel": many_labels}[kind]
    os.utime(models[kind], (1_000_000_000, 1_000_000_000))
    (shown,) = lines("show", models[kind])
    model = load_model(models[kind])
    assert (shown["kind"], shown["n_texts"], shown["n_labels"]) == (kind, len(rows), len(model.classes_))
    assert shown["file_written"] == "2001-09-09 01:46 UTC"
    assert shown["textbayes"] == __version__
    assert shown["held_out"] == model.held_out_
    counts = {name: sum(name in _listed(row["labels"]) for row in rows) for name in model.classes_}
    assert {row["label"]: row["texts"] for row in shown["labels"]} == counts
    assert [row["held_out_f1"] for row in shown["labels"]] == [
        model.held_out_["labels"][name]["f1"] for name in model.classes_
    ]
    thresholds = [row["threshold"] for row in shown["labels"]]
    if kind == "multilabel":
        assert thresholds == model.rule_.thresholds_.tolist()
    else:
        assert thresholds == {"binary": [0.5, 0.5], "multiclass": [None] * 3}[kind]
    settings = shown["settings"]
    first, second = settings["vectorizer"]["views"][:2]
    assert (first["name"], first["vectorizer"]["stemmer"]) == ("words", None)
    assert (second["name"], second["vectorizer"]["stemmer"]) == ("stem", "porter")
    assert second["weighting"]["scheme"] == "tfidf1"
    assert [member.partition(",")[0] for member in settings["members"][:2]] == ["ratio", "ratio"]
    assert (settings["cv"], settings["random_state"]) == (5, 0)
    assert settings["rule"]["name"] == model.rule_.name


def test_settings_are_those_given(run, lines, write, documents, tmp_path):
    options = ("--family", "gaussian", "--scale", "2", "--stemmer", "none", "--folds", "3", "--rule", "max_f1")
    run("train", write(documents[:10]), "-o", tmp_path / "m.tb", *options, "--weighting", "binary", "--seed", "7")
    (shown,) = lines("show", tmp_path / "m.tb")
    assert shown["settings"]["members"] == ["logit link, gaussian prior of scale 2"]
    assert shown["settings"]["vectorizer"]["stemmer"] is None
    assert shown["settings"]["weighting"]["scheme"] == "binary"
    assert (shown["settings"]["cv"], shown["settings"]["random_state"]) == (3, 7)
    assert shown["settings"]["rule"]["name"] == "max_f1"
    first, second = (row["threshold"] for row in shown["labels"])
    assert first == pytest.approx(1 - second)
    table = run("show", tmp_path / "m.tb", "--table").stdout
    assert "logit link, gaussian prior of scale 2" in " ".join(table.split())
    assert "3 folds, seed 7" in table


def test_table_and_csv(run, models):
    table = run("show", models["multilabel"], "--table").stdout
    for part in (
        "Training texts",
        "Micro F1",
        "Measured by",
        "member reads scale weight log-loss",
        "threshold",
        "grain",
        f"by textbayes {__version__}",
    ):
        assert part in " ".join(table.split())
    rows = list(csv.DictReader(io.StringIO(run("show", models["multiclass"], "--csv").stdout)))
    assert [(row["label"], row["texts"]) for row in rows] == [("grain", "5"), ("money", "5"), ("sport", "5")]


POOLED = ("--model", "svm", "--model", "linear:prior=gaussian,scale=1", "--folds", "3")


def test_the_model_of_each_label(run, lines, write, many_labels, tmp_path):
    run("train", write(many_labels), "-o", tmp_path / "best.tb", *POOLED, "--pool", "best")
    model = load_model(tmp_path / "best.tb")
    names = ["svm", "logit link, gaussian prior of scale 1"]
    assert ((model.label_pool_ != 0.0).sum(axis=0) == 1).all()
    chosen = [names[number] for number in np.argmax(model.label_pool_ != 0.0, axis=0)]
    (shown,) = lines("show", tmp_path / "best.tb")
    assert [row["model"] for row in shown["labels"]] == chosen
    for row, weights in zip(shown["labels"], model.label_pool_.T, strict=True):
        assert row["weights"] == dict(zip(names, weights.tolist(), strict=True))
    table = run("show", tmp_path / "best.tb", "--table").stdout
    assert max(map(len, table.splitlines())) <= 80
    for row in shown["labels"]:
        cells = f"{row['label']} {row['texts']} {row['threshold']:.3f} {row['held_out_f1']:.3f}"
        assert re.search(rf"{re.escape(cells)} {row['model'].split()[0]}", " ".join(table.split()))
    assert f"svm {chosen.count('svm')}" in " ".join(table.split())
    rows = list(csv.DictReader(io.StringIO(run("show", tmp_path / "best.tb", "--csv").stdout)))
    assert [row["model"] for row in rows] == chosen


def test_the_weights_of_each_label(run, lines, write, many_labels, tmp_path):
    run("train", write(many_labels), "-o", tmp_path / "label.tb", *POOLED, "--pool", "label")
    model = load_model(tmp_path / "label.tb")
    (shown,) = lines("show", tmp_path / "label.tb")
    table = run("show", tmp_path / "label.tb", "--table").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert "Weights by label" in table
    assert [f"{mean:+.2f}" for mean in model.label_pool_.mean(axis=1)] == [f"{mean:+.2f}" for mean in model.pool_]
    for row, weights in zip(shown["labels"], model.label_pool_.T, strict=True):
        assert "model" not in row
        assert list(row["weights"].values()) == weights.tolist()
        assert f"{row['label']} {weights[0]:+.2f} {weights[1]:+.2f}" in " ".join(table.split())


def test_weights_of_more_labels_than_the_table_has_are_left_to_json(run, lines, write, tmp_path):
    rows = [{"text": f"word{i} only word{i}", "labels": [f"label {i}"]} for i in range(21) for _ in range(3)]
    run("train", write(rows), "-o", tmp_path / "m.tb", *POOLED, "--pool", "label")
    table = run("show", tmp_path / "m.tb", "--table").stdout
    assert "The weights of 21 labels: textbayes show MODEL --json" in table
    (shown,) = lines("show", tmp_path / "m.tb")
    assert all(len(row["weights"]) == 2 for row in shown["labels"])


def test_classes_of_a_pair_have_the_same_model(run, lines, write, documents, tmp_path):
    run("train", write(documents[:10]), "-o", tmp_path / "m.tb", *POOLED, "--pool", "best")
    (shown,) = lines("show", tmp_path / "m.tb")
    first, second = shown["labels"]
    assert first["model"] == second["model"] in ("svm", "logit link, gaussian prior of scale 1")


def test_a_file_that_does_not_say_how_many_texts_there_were(run, lines, models, tmp_path):
    old = tmp_path / "old.tb"
    _rewrite(models["multiclass"], old, lambda state: state.update(label_counts=None))
    (shown,) = lines("show", old)
    assert [row["texts"] for row in shown["labels"]] == [None] * 3
    assert "not recorded" in run("show", old, "--table").stdout


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, "3"], [1, 2, -1], [1, 2, 10**15], [1, 2, True], {"a": 1}, 5])
def test_counts_that_cannot_be_are_refused(run, models, tmp_path, counts):
    bad = tmp_path / "bad.tb"
    _rewrite(models["multiclass"], bad, lambda state: state.update(label_counts=counts))
    assert "is a damaged model file: " in run("show", bad, code=1).stderr


def test_what_is_no_model_is_refused(run, write, documents):
    assert "is not a model file" in run("show", write(documents), code=1).stderr
    assert "does not exist" in run("show", "nowhere.tb", code=1).stderr


def _listed(labels) -> list[str]:
    return [labels] if isinstance(labels, str) else labels


def _rewrite(source, target, change) -> None:
    """The file with another state, its checksums made anew."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    described = json.loads(members["model.json"])
    change(described["state"])
    members["model.json"] = json.dumps(described).encode()
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"]["model.json"] = hashlib.sha256(members["model.json"]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)

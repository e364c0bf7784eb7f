"""``filter --export`` and ``filter --model``: one posterior, as a filter and as a model file; and prior files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from .test_filter import draw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Labelled documents, a stream, a filter of them and its topics as a model."""
    from click.testing import CliRunner

    from textbayes.cli.main import cli

    here = tmp_path_factory.mktemp("models")
    for name, rows in (("labelled", draw(0, 60)), ("feed", draw(1, 40, first=1000))):
        (here / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    start = ["filter", str(here / "desk"), "--train", str(here / "labelled.jsonl"), "--jobs", "1"]
    for command in (start, ["filter", str(here / "desk"), "--export", str(here / "m.tb")]):
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 0, done.stderr
    return here


def delivered(rows, topic):
    return {row["id"]: row["probability"] for row in rows if row["topic"] == topic}


def test_export_classify_and_back(folder, lines, run, tmp_path):
    feed, desk = folder / "feed.jsonl", tmp_path / "desk"
    classified = lines("classify", folder / "m.tb", feed)
    (told,) = lines("filter", desk, "--model", folder / "m.tb", "--ask", "never")
    assert told["model"] == str(folder / "m.tb")
    assert {name: topic["can_deliver"] for name, topic in told["topics"].items()} == {"grain": True, "money": True}
    first = lines("filter", desk, feed)
    for topic in ("grain", "money"):
        found, expected = delivered(first, topic), {row["id"]: row["probabilities"][topic] for row in classified}
        assert len(found) > 2
        assert {row["id"] for row in classified if topic in row["labels"]} == set(found)
        assert all(found[name] == pytest.approx(expected[name], abs=1e-9) for name in list(found)[:1])
    assert lines("filter", desk, "--replay")[0]["identical"] is True
    assert "was started from" in run("filter", tmp_path / "other", "--model", folder / "m.tb", "--table").stdout


def test_a_model_of_a_filter_is_shown_explained_and_reported(folder, lines, run, tmp_path):
    (told,) = lines("show", folder / "m.tb")
    assert [label["label"] for label in told["labels"]] == ["grain", "money"]
    assert {row["label"] for row in lines("words", folder / "m.tb", "--top", "3")} == {"grain", "money"}
    for row in lines("explain", folder / "m.tb", folder / "feed.jsonl"):
        total = row["base"] + sum(word["log_odds"] for word in row["words"]) + row["other_words"]
        assert total == pytest.approx(row["log_odds"], abs=1e-9)
    run("report", folder / "m.tb", folder / "labelled.jsonl", "-o", tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size > 10_000
    assert "2 topics" in run("filter", folder / "desk", "--export", tmp_path / "n.tb", "--table").stdout


def test_a_filter_from_a_model_that_was_trained(folder, lines, run, tmp_path):
    model = tmp_path / "linear.tb"
    run("train", folder / "labelled.jsonl", "-o", model, "--model", "linear:link=probit,prior=gaussian", "--intervals")
    (told,) = lines("filter", tmp_path / "desk", "--model", model, "--topic", "grain", "--threshold", "0.6")
    assert list(told["topics"]) == ["grain"]
    rows = lines("filter", tmp_path / "desk", folder / "feed.jsonl", "--judge-by-labels")
    relevant = {row["id"] for row in draw(1, 40, first=1000) if "grain" in row["labels"]}
    assert relevant & set(delivered(rows, "grain"))
    assert all(row["probability"] > 0.6 for row in rows if row["reason"] == "relevant")
    assert lines("filter", tmp_path / "desk", "--replay")[0]["identical"] is True


@pytest.mark.parametrize(
    ("model", "cause"),
    [
        ("counts", "cannot go on from a model of type 'counts'"),
        ("svm", "cannot go on from a model of type 'svm'"),
        ("linear", "has no standard errors of its weights"),
    ],
)
def test_models_that_are_refused(folder, run, tmp_path, model, cause):
    run("train", folder / "labelled.jsonl", "-o", tmp_path / "m.tb", "--model", model)
    shown = run("filter", tmp_path / "desk", "--model", tmp_path / "m.tb", code=1).stderr
    assert cause in shown
    assert not (tmp_path / "desk").exists()


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--model", "m.tb", "--train"], "--train and --model were both given"),
        (["--model", "m.tb", "feed.jsonl"], "--model reads no documents"),
        (["--export", "n.tb", "feed.jsonl"], "--export reads no documents"),
        (["--model", "m.tb", "--continue"], "do not go with --model"),
        (["--model", "m.tb", "--prior", "p.csv"], "belong to --train"),
        (["--model", "m.tb", "--stemmer", "german"], "belong to --train"),
    ],
)
def test_usage(run, tmp_path, arguments, cause):
    assert cause in run("filter", tmp_path / "desk", *arguments, code=2).stderr


def test_the_settings_of_the_model_cannot_be_changed(folder, run, tmp_path):
    arguments = ["--model", folder / "m.tb", "--covariance", "diagonal"]
    shown = run("filter", tmp_path / "desk", *arguments, code=1).stderr
    assert "--covariance diagonal is given, but the model has 'full'; leave it out" in shown


def test_a_prior_file_starts_a_filter(folder, lines, run, write, tmp_path):
    prior = tmp_path / "prior.csv"
    prior.write_text("word,label,mean,scale\nbarley,grain,3,0.5\nmatch,grain,-2,0.5\n")
    run("filter", tmp_path / "plain", "--train", folder / "labelled.jsonl", "--jobs", "1")
    arguments = ["--train", folder / "labelled.jsonl", "--prior", prior, "--jobs", "1"]
    (told,) = lines("filter", tmp_path / "told", *arguments)
    weights = {row["word"]: row["weight"] for row in lines("words", tmp_path / "told", "--top", "500") if
               row["label"] == "grain"}  # fmt: skip
    assert weights["barlei"] == pytest.approx(3.0)  # in no labelled document: nothing else is known of it
    assert weights["match"] < -0.5
    news = write([{"id": "x", "text": "barley barley"}])
    assert delivered(lines("filter", tmp_path / "told", news, "--ask", "never"), "grain")["x"] > 0.8
    assert not delivered(lines("filter", tmp_path / "plain", news, "--ask", "never"), "grain")
    assert np.isfinite(told["seconds"])

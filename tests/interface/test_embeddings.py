"""A model that reads sentence vectors beside words, in every command that takes a model."""

from __future__ import annotations

import json
import re

import pytest

from references.sentences import WIDTH, by_chance, draw
from textbayes.text import sentences
from textbayes.text.sentences import MEANING


def rows(seed: int, n: int) -> list[dict]:
    texts, labels = draw(seed, n)
    return [
        {"id": str(i), "text": text, "labels": label} for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


@pytest.fixture
def trained(sentence_model, run, write, tmp_path):
    folder, path = sentence_model(), tmp_path / "m.tb"
    done = run("train", write(rows(0, 60)), "--embeddings", folder, "--budget", "quick", "-o", path, "--json")
    return json.loads(done.stdout), path


def test_every_command_takes_it(trained, run, lines, write, tmp_path):
    told, path = trained
    assert "Sentence embeddings (tiny) were kept" in told["chosen"]
    new = write([*rows(1, 9), {"id": "rare", "text": "wooooooo", "labels": "grain"}], "new.jsonl")
    for form in ("--json", "--csv", "--table"):
        for command in (["classify", path, new], ["evaluate", path, new], ["explain", path, new], ["show", path]):
            assert run(*command, form).stdout
        assert "embedding" not in run("words", path, form).stdout.replace("sentence vectors", "")
    *answers, rare = lines("classify", path, new)
    assert sum(one["labels"] == [row["labels"]] for one, row in zip(answers, rows(1, 9), strict=True)) >= 8
    assert (rare["labels"], rare["known_words"], rare["note"]) == ([], 0, "no known word")
    (guessed,) = [one for one in lines("classify", path, new, "--guess") if one["id"] == "rare"]
    assert guessed["labels"] == ["grain"]
    told = lines("explain", path, new, "--id", "1")[0]
    (line,) = [part for part in told["words"] if part["word"] == MEANING]
    assert line["occurrences"] == 1
    assert told["base"] + sum(part["log_odds"] for part in told["words"]) + told["other_words"] == pytest.approx(
        told["log_odds"]
    )
    assert run("explain", path, "wooooooo", "--table").stderr.count("rests on its sentence vector alone") == 1
    columns = run("explain", path, new, "--id", "1", "--columns", "--csv").stdout
    assert columns.splitlines()[1].startswith("1,money,embedding:2,"), "its words begin with b"
    run("report", path, new, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert MEANING in page
    assert "embedding:" not in page
    assert not any(":" in row["word"] or row["word"] == MEANING for row in lines("prior", "--model", path))
    assert run("words", path, "--burstiness", new, "--min-texts", "1").stdout


def test_export_refuses_it_in_a_sentence(trained, run, tmp_path):
    _, path = trained
    assert "train it with --embeddings off" in run("export", path, "-o", tmp_path / "m.json", code=1).stderr
    assert not (tmp_path / "m.json").exists()


def test_what_is_in_the_file(trained, run, lines):
    summary, path = trained
    (shown,) = lines("show", path)
    assert shown["n_words"] == summary["words"]
    assert shown["words_with_weight"] == summary["words_with_weight"] <= shown["n_words"]
    view = shown["settings"]["vectorizer"]["views"][-1]
    assert (view["name"], view["vectorizer"]["name"], shown["settings"]["embeddings"]) == (
        "embedding",
        "sentences",
        "tiny",
    )
    table = " ".join(run("show", path, "--table").stdout.split())
    assert re.search(rf"{WIDTH} numbers, the sentence vector of tiny \(fingerprint [0-9a-f]{{12}}\)", table)


def test_what_cannot_be_done_is_refused_in_a_sentence(trained, run, write, tmp_path, monkeypatch):
    _, path = trained
    new = write(rows(1, 9), "new.jsonl")
    assert "several views" in run("filter", tmp_path / "desk", "--model", path, code=1).stderr
    monkeypatch.setattr(sentences, "_encoders", {})
    monkeypatch.setenv("TEXTBAYES_EMBEDDINGS", "off")
    for command in ("classify", "evaluate", "explain"):
        failed = " ".join(run(command, path, new, code=1).stderr.split())
        assert "the sentence model 'tiny', of which there is no copy" in failed
        assert "internal error" not in failed
    monkeypatch.setattr(sentences, "is_installed", lambda: False)
    assert "pip install 'textbayes[embeddings]'" in run("classify", path, new, code=1).stderr
    assert run("show", path).stdout, "what is in a file can be seen anywhere"
    assert run("words", path).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--embeddings", "x/y", "--model", "counts"], "--embeddings x/y asks for one more view in an automatic"),
        (["--embeddings", "x/y"], "the sentence model --embeddings x/y is no folder, and could not be had"),
        (["--embeddings", "../secret"], "--embeddings ../secret is no folder, and no name"),
        (["--embeddings", ""], "is not usable; pass 'auto', 'off'"),
    ],
)
def test_names_that_cannot_be_used(options, message, sentence_model, run, write, tmp_path):
    sentence_model()
    failed = run("train", write(rows(0, 9)), *options, "-o", tmp_path / "m.tb", code=1).stderr
    assert message in " ".join(failed.split())
    assert not (tmp_path / "m.tb").exists()


def test_auto_and_off(sentence_model, lines, write, tmp_path):
    sentence_model(by_chance)
    texts = write(rows(0, 60))
    (auto,) = lines("train", texts, "-o", tmp_path / "auto.tb", "--folds", "2")
    (off,) = lines("train", texts, "-o", tmp_path / "off.tb", "--folds", "2", "--embeddings", "off")
    assert "Sentence embeddings (tiny) were tried and left out" in auto["chosen"]
    assert "Sentence embeddings" not in off["chosen"]
    assert auto["held_out"] == off["held_out"]

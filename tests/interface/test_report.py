"""``textbayes report`` and ``train --report``: a page about one's own model, whatever the labels hold."""

from __future__ import annotations

import json
import re

import pytest

from textbayes.store import load_model

HOSTILE = "<script>alert('x')</script>"


def _page(path) -> str:
    html = path.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert html.rstrip().endswith("</html>")
    assert "<script" not in html
    assert "http" not in html
    return html


def _words(html: str) -> str:
    """What a reader sees, on one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", html.partition("</style>")[2]).split())


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_a_page_about_ones_own_model(kind, lines, models, write, documents, many_labels, tmp_path):
    rows = {"multiclass": documents, "binary": documents[:10], "multilabel": many_labels}[kind]
    path, target = write(rows, "test.jsonl"), tmp_path / "report.html"
    (summary,) = lines("report", models[kind], path, "-o", target)
    (measured,) = lines("evaluate", models[kind], path)
    share = "subset_accuracy" if kind == "multilabel" else "accuracy"
    assert summary["report"] == str(target)
    assert summary["documents"] == len(rows)
    assert summary[share] == measured[share] == (len(rows) - summary["errors"]) / len(rows)
    html = _page(target)
    text = _words(html)
    assert f"{kind}.tb on {path}" in text
    assert f"Texts {len(rows)} in {path}" in text
    assert re.search(r"Date 20\d\d-\d\d-\d\d \d\d:\d\d UTC", text)
    for heading in ("Performance by label", "Most certain errors", "Calibration", "Precision and recall"):
        assert f">{heading}</h2>" in html
    assert (">Confusion matrix</h2>" in html) == (kind != "multilabel")
    assert (">Confused labels</h2>" in html) == (kind == "multilabel" and summary["errors"] > 0)
    for label in load_model(models[kind]).classes_:  # both of two
        row = rf'<th role="rowheader" scope="row" dir="auto">{label}</th><td role="cell" data-name="Texts">(\d+)<'
        assert int(re.search(row, html)[1]) == measured["labels"][label]["support"]
    assert html.count('type="radio"') == (0 if kind == "binary" else 6)


def test_errors_are_listed_with_their_words(lines, models, write, documents, tmp_path):
    wrong = {"id": "odd one", "text": "the striker scored a goal for the bank", "labels": "grain"}
    (summary,) = lines("report", models["multiclass"], write([*documents, wrong]), "-o", tmp_path / "r.html")
    assert summary["errors"] >= 1
    text = _words(_page(tmp_path / "r.html")).partition("Errors With")[0]
    (told, *_) = lines("explain", models["multiclass"], wrong["text"], "--literal", "--json")
    strongest = next(word for word in told["words"] if word["log_odds"] > 0.0)
    errors = text.partition(" of 16 texts were classified wrongly")[2].partition("Model and training set")[0]
    assert f"odd one Predicted {told['label']} , true label grain {wrong['text']}" in errors
    assert f"+{strongest['log_odds']:.2f}" in errors
    lines("report", models["multiclass"], write([*documents, wrong]), "-o", tmp_path / "r.html", "--errors", 0)
    assert "odd one Predicted sport" not in _words(_page(tmp_path / "r.html"))


def test_unknown_labels_count_as_errors_and_are_said(run, models, write, documents, tmp_path):
    path = write([*documents, {"id": "w", "text": "rain", "labels": "weather"}])
    done = run("report", models["multiclass"], path, "-o", tmp_path / "r.html")
    assert "1 label is not in the training set (texts): 'weather' (1)" in done.stderr
    text = _words(_page(tmp_path / "r.html"))
    assert "1 label is not in the training set (texts): weather (1); these texts count as errors." in text
    assert "true label a label that the model does not know" in text
    failed = run("report", models["multiclass"], path, "-o", tmp_path / "s.html", "--strict", code=1)
    assert "leave out --strict" in failed.stderr
    assert not (tmp_path / "s.html").exists()


def test_labels_ids_words_and_titles_are_escaped(run, write, tmp_path):
    texts = ["wheat <b>corn</b>", "bank rates", "corn & wheat", "the bank's rates"] * 4
    rows = [
        {"id": f"{HOSTILE}{i}", "text": f"{HOSTILE} {text} \u202egnp", "labels": [HOSTILE, "a & \u202eb"][i % 2]}
        for i, text in enumerate(texts)
    ]
    path = write(rows)
    run("train", path, "-o", tmp_path / "m.tb", "--report", tmp_path / "t.html", "--folds", 2)
    rows[0]["labels"] = "a & \u202eb"
    run("report", tmp_path / "m.tb", write(rows), "-o", tmp_path / "r.html", "--title", HOSTILE)
    for page in (tmp_path / "t.html", tmp_path / "r.html"):
        html = _page(page)
        assert "<b>" not in html
        assert "\u202e" not in html
        assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in html
        assert r"a &amp; \u202eb" in html


@pytest.mark.parametrize("kind", ["multiclass", "multilabel"])
def test_a_page_with_the_training(kind, lines, write, documents, many_labels, tmp_path):
    rows = {"multiclass": documents, "multilabel": many_labels}[kind]
    path = write(rows, "train.jsonl")
    (summary,) = lines("train", path, "-o", tmp_path / "m.tb", "--report", tmp_path / "r.html", "--folds", 3)
    assert summary["report"] == str(tmp_path / "r.html")
    html = _page(tmp_path / "r.html")
    text = _words(html)
    assert f"m.tb: cross-validation on {path}" in text
    # So few texts are held out one by one, whatever the folds asked for.
    assert "Cross-validated in 15 folds: each text was classified by a model that was not trained on it." in text
    keys = {"Macro F1": "macro_f1"} | ({"Accuracy": "accuracy"} if kind == "multiclass" else {"Micro F1": "micro_f1"})
    for name, key in keys.items():
        value, (low, high) = summary["held_out"][key], summary["held_out"][f"{key}_interval"]
        shown = re.search(rf"{name} ([\d.]+)%? .{{0,40}}?95% interval ([\d.]+)%? to ([\d.]+)", text)
        assert shown is not None, name
        for one, expected in zip(shown.groups(), (value, low, high), strict=True):
            half = 0.5 * 10.0 ** -len(one.partition(".")[2])  # of the last digit that is shown
            assert any(float(one) == pytest.approx(scale * expected, abs=1.001 * half) for scale in (1.0, 100.0)), name
    # The file is the same with and without the page: what the page needs is not kept.
    lines("train", path, "-o", tmp_path / "n.tb", "--folds", 3)
    assert (tmp_path / "n.tb").read_bytes() == (tmp_path / "m.tb").read_bytes()


def test_the_page_must_not_replace_what_is_read_or_written(run, models, write, documents, tmp_path):
    path = write(documents)
    for target in (path, models["multiclass"]):
        before = target.read_bytes()
        failed = run("report", models["multiclass"], path, "-o", target, code=1)
        assert "name another file" in failed.stderr
        assert target.read_bytes() == before
    failed = run("train", path, "-o", tmp_path / "m.tb", "--report", tmp_path / "m.tb", code=1)
    assert "too; name another file for the output" in failed.stderr
    assert not (tmp_path / "m.tb").exists()


def test_what_cannot_be_done_is_said_before_the_work(run, models, write, documents, tmp_path):
    path = write(documents)
    failed = run("report", models["multiclass"], path, "-o", tmp_path / "no" / "r.html", code=1)
    assert "choose a folder that exists" in failed.stderr
    assert "Missing option" in run("report", models["multiclass"], path, code=2).stderr
    empty = write([], "empty.jsonl")
    assert "no document" in run("report", models["binary"], empty, "-o", tmp_path / "r.html", code=1).stderr
    bare = write([{"text": "corn"}], "bare.jsonl")
    failed = run("report", models["multilabel"], bare, "-o", tmp_path / "r.html", code=1)
    assert "--label-field" in failed.stderr
    assert list(tmp_path.glob("*.html")) == []


def test_on_a_terminal_it_says_where_the_page_is(run, models, write, documents, tmp_path):
    shown = run("report", models["multiclass"], write(documents), "-o", tmp_path / "r.html", "--table").stdout
    assert "15 documents, " in shown
    assert f"Report: {tmp_path / 'r.html'}" in shown
    assert json.loads(run("report", models["multiclass"], write(documents), "-o", tmp_path / "r.html").stdout)


def test_texts_of_the_training_are_said_to_flatter(run, models, write, documents, tmp_path):
    path = write([*documents, {"id": "new", "text": "corn and bank", "labels": "grain"}])
    done = run("report", models["multiclass"], path, "-o", tmp_path / "r.html")
    assert "15 of 16 texts were in the training set" in done.stderr
    assert "15 of the 16 texts were in the training set of the model" in _words(_page(tmp_path / "r.html"))

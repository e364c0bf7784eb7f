"""``textbayes link``."""

from __future__ import annotations

import json

from textbayes.store import load_model


def test_a_report_of_links(run, lines, write, documents):
    few = ("--scales", "2", "--folds", "3", "--jobs", "1")
    rows = lines("link", write(documents), *few)
    assert {row["links"] for row in rows} == {"logit", "probit", "student_t", "skew_t"}
    assert {row["label"] for row in rows} == {"grain", "money", "sport"}
    assert all(row["log_loss"] > 0.0 and 0.0 <= row["f1"] <= 1.0 for row in rows)
    shown = " ".join(run("link", write(documents), *few, "--table").stdout.split())
    for question in ("Heavy tails", "Asymmetry", "The flexible link"):
        assert question in shown


def test_links_found_for_each_label(run, write, documents, tmp_path):
    model = tmp_path / "m.tb"
    run("train", write(documents), "--link", "auto", "--folds", "3", "--intervals", "-o", model)
    links = json.loads(run("show", model, "--json").stdout)["settings"]["link"].split(";")
    fitted = load_model(model)
    assert len(links) == len(fitted.classes_) == 3
    assert [fitted.link_.for_label(k).spec for k in range(3)] == links
    shown = " ".join(run("show", model, "--table").stdout.split())
    assert "regression per label" in shown
    assert "link found for each label" in shown


def test_what_auto_cannot_be_combined_with(run, write, documents, tmp_path):
    given = "train", write(documents), "--link", "auto", "-o", tmp_path / "m.tb"
    assert "held-out texts" in run(*given, "--scale", "norm", code=2).stderr
    assert "one link for all labels" in run(*given, "--inference", "gibbs", code=2).stderr


def test_a_filter_has_one_link(run, write, documents, tmp_path):
    model = tmp_path / "m.tb"
    two = "linear:link=probit;logit;student_t:df=8,prior=gaussian"
    run("train", write(documents), "--model", two, "--folds", "3", "--intervals", "-o", model)
    assert "have different links" in run("filter", tmp_path / "f", "--model", model, code=1).stderr

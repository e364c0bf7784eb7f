"""``textbayes link``."""

from __future__ import annotations

import json

import numpy as np

from textbayes.store import load_model
from textbayes.tune import candidate_links


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


def test_links_and_scales_by_f1_on_a_validation_set(run, write, documents, tmp_path):
    rows, grid = documents * 3, "auto:df=[1,30],skew=[0.5,2]"
    path, model, loose = (
        write([doc | {"id": f"{n}"} for n, doc in enumerate(rows)]),
        tmp_path / "m.tb",
        tmp_path / "n.tb",
    )
    asked = ("--link", grid, "--scoring", "f1", "--validation", "0.33", "--folds", "3", "--rule", "fixed")
    run("train", path, *asked, "-o", model)
    fitted = load_model(model)
    assert {fitted.link_.for_label(k).spec for k in range(3)} <= set(candidate_links(grid))
    named = f'linear:link="{grid}",scoring=f1,cv=0.33'
    run("train", path, "--model", named, "--folds", "3", "--rule", "fixed", "-o", loose)
    other = load_model(loose)
    assert other.link_.spec == fitted.link_.spec
    np.testing.assert_allclose(other.coef_, fitted.coef_)
    scaled = ("--family", "laplace", "--scale", "cv", "--scoring", "f1")
    run("train", path, *scaled, "--folds", "3", "-o", loose)
    assert load_model(loose).held_out_["scales"].keys() == {"grain", "money", "sport"}


def test_scoring_without_a_search_and_grids_that_are_none_are_refused(run, write, documents, tmp_path):
    given = "train", write(documents), "-o", tmp_path / "m.tb"
    assert "--scoring says how a scale or a link is chosen" in run(*given, "--scoring", "f1", code=2).stderr
    assert "--validation says how" in run(*given, "--scale", "evidence", "--validation", "0.3", code=2).stderr
    assert "no parameter 'nu'" in run(*given, "--link", "auto:nu=1", code=2).stderr
    assert "pass 2 folds or more, or the share" in run(*given, "--model", "linear:link=auto,cv=1.5", code=1).stderr


def test_what_auto_cannot_be_combined_with(run, write, documents, tmp_path):
    given = "train", write(documents), "--link", "auto", "-o", tmp_path / "m.tb"
    assert "held-out texts" in run(*given, "--scale", "norm", code=2).stderr
    assert "one link for all labels" in run(*given, "--inference", "gibbs", code=2).stderr


def test_a_filter_has_one_link(run, write, documents, tmp_path):
    model = tmp_path / "m.tb"
    two = "linear:link=probit;logit;student_t:df=8,prior=gaussian"
    run("train", write(documents), "--model", two, "--folds", "3", "--intervals", "-o", model)
    assert "have different links" in run("filter", tmp_path / "f", "--model", model, code=1).stderr

"""Ctrl-C in a training: what was there stays as it was, unless the part that is done was asked for."""

from __future__ import annotations

import json
import shutil
import signal

import pytest

from textbayes.store import load_categorizer


@pytest.fixture
def ctrl_c(monkeypatch):
    """Ctrl-C, as the terminal sends it, when a number of folds is done in the cross-validation."""
    from textbayes.core import cross_validation

    found = cross_validation.over_folds

    def set_at(n_folds: int) -> None:
        def interrupted(*given, **how):
            for number, one in enumerate(found(*given, **how)):
                if number == n_folds:
                    signal.raise_signal(signal.SIGINT)
                yield one

        monkeypatch.setattr(cross_validation, "over_folds", interrupted)

    return set_at


def test_an_interrupt_leaves_the_model_of_before(run, write, documents, models, ctrl_c, tmp_path):
    path, model = write(documents), tmp_path / "model.tb"
    shutil.copy(models["binary"], model)
    ctrl_c(35)  # of 15 folds each: two members are done
    failed = run("train", path, "-o", model, code=130)
    assert failed.stderr.splitlines()[-1] == "textbayes: interrupted; no file was left half-written"
    assert failed.stdout == ""
    assert model.read_bytes() == models["binary"].read_bytes()
    assert sorted(tmp_path.iterdir()) == [model, path]


def test_an_interrupt_keeps_what_is_done_if_asked(run, lines, write, documents, models, ctrl_c, tmp_path):
    path, model = write(documents), tmp_path / "model.tb"
    shutil.copy(models["binary"], model)
    ctrl_c(35)
    done = run("train", path, "-o", model, "--keep-partial", "--json", code=130)
    (shown,) = lines("show", model)
    n_planned = load_categorizer(models["multiclass"]).choice_["n_planned"]
    assert shown["partial"] == json.loads(done.stdout)["partial"] == f"2 of {n_planned} members"
    assert done.stderr.splitlines()[-1] == (
        f"textbayes: interrupted; {model} is a model of {shown['partial']} alone (--keep-partial)"
    )
    assert f"{shown['partial']}: the training was interrupted" in run("show", model, "--table").stdout
    assert "partial" not in lines("show", models["multiclass"])[0]
    assert lines("classify", model, path)[0]["labels"] == ["grain"]


@pytest.mark.parametrize(
    "options", [("--model", "linear"), ("--out-of-core", "--preset", "linear"), ("--inference", "gibbs")]
)
def test_what_has_no_parts_cannot_keep_one(run, write, documents, options, tmp_path):
    failed = run("train", write(documents), "-o", tmp_path / "m.tb", "--keep-partial", *options, code=2)
    assert "--keep-partial keeps members of an automatic training" in " ".join(failed.stderr.split())
    assert not (tmp_path / "m.tb").exists()

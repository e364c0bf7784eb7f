"""``textbayes prior``, ``train --prior`` and ``words --prior``: knowledge from file to audit."""

from __future__ import annotations

import pytest

from textbayes.knowledge import WordPriors
from textbayes.store import load_model


def test_names_descriptions_and_files_make_one_table(run, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("grain:\n  corn: {mean: 2, scale: 0.5}\n", encoding="utf-8")
    target = tmp_path / "priors.csv"
    run(
        "prior",
        "--label",
        "money",
        "--describe",
        "grain=corn",
        "--describe",
        "sport=goals and matches",
        mine,
        "-o",
        target,
    )
    table = {(row.word, row.label): row.mean for row in WordPriors.read(str(target))}
    assert table == {("money", "money"): "for", ("goals and matches", "sport"): "for", ("corn", "grain"): 2.0}


def test_without_a_target_the_table_is_shown(run, lines):
    assert lines("prior", "--label", "money")[0]["source"] == "name"
    assert run("prior", "--label", "money", "--csv").stdout.splitlines()[1:] == ["money,money,for,,,,name"]
    assert "money" in run("prior", "--label", "money", "--table").stdout


def test_a_model_becomes_the_prior_of_the_next(run, write, documents, tmp_path):
    run("train", write(documents), "-o", tmp_path / "old.tb")
    run("prior", "--model", tmp_path / "old.tb", "--model-scale", "0.001", "-o", tmp_path / "old.csv")
    run("train", write(documents), "--prior", tmp_path / "old.csv", "--prior-weight", "1", "--family", "laplace",
        "-o", tmp_path / "new.tb")  # fmt: skip
    old, new = load_model(tmp_path / "old.tb"), load_model(tmp_path / "new.tb")
    # Scales this narrow leave the weights where the earlier model had them; the pool then scales them all alike.
    held = old.coef_ != 0.0
    ratio = new.coef_[held] / old.coef_[held]
    assert ratio == pytest.approx(new.pool_[0], rel=1e-2)


@pytest.mark.filterwarnings("default:the prior speaks of")
def test_the_audit_tells_what_became_of_the_advice(run, lines, write, documents, tmp_path):
    advice = tmp_path / "advice.csv"
    rows = ("wheat,grain,4,0.5,me", "bank,grain,6,0.1,wrong", "volcano,grain,1,1,rare", "the,grain,1,1,stop")
    advice.write_text("\n".join(["word,label,mean,scale,source", *rows]), encoding="utf-8")
    many = ("--duplicates", "keep", "--prior", advice, "--prior-weight", "1")
    narrow = ("--family", "gaussian", "--scale", "0.5")  # else the other words make up for a wrong weight
    result = run("train", write(documents * 8), *many, *narrow, "-o", tmp_path / "m.tb")
    assert "the prior speaks of 1 words that the model does not have: the" in " ".join(result.stderr.split())
    model = load_model(tmp_path / "m.tb")  # no text has the word, but one may come
    assert dict(model.top_words("grain", 100))["volcano"] == pytest.approx(model.pool_[0])
    rows = lines("words", tmp_path / "m.tb", "--prior", "--label", "grain")
    assert {row["word"]: row["source"] for row in rows} == {"wheat": "me", "bank": "wrong", "volcano": "rare"}
    assert rows[0]["word"] == "bank"
    assert rows[0]["conflict"]
    assert rows[0]["followed"] == 1.0
    table = run("words", tmp_path / "m.tb", "--prior", "--table").stdout
    assert "conflict" in table
    assert "grain: the prior is followed at weight 1" in table


def test_bad_advice_is_turned_down_by_itself(run, write, documents, tmp_path):
    """The weight is chosen by held-out loss: what would make it worse gets none."""
    advice = tmp_path / "advice.yaml"
    advice.write_text("grain: {bank: 8, goal: 8}\nsport: {wheat: 8}\n", encoding="utf-8")
    run("train", write(documents * 4), "--duplicates", "keep", "--prior", advice, "-o", tmp_path / "m.tb")
    model = load_model(tmp_path / "m.tb")
    assert dict(zip(model.label_space_.column_names, model.prior_weight_, strict=True)) == {
        "grain": 0.0, "money": 0.0, "sport": 0.0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Nothing to make priors of"),
        (("--describe", "ship"), 2, "is not LABEL=TEXT"),
        (("--label", "a", "-o", "priors.txt"), 2, "ends neither in .csv nor in .yaml"),
        (("nowhere.csv",), 1, "nowhere.csv"),
    ],
)
def test_what_cannot_be_used_is_refused(run, arguments, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("prior", *arguments, code=code)
    assert message in " ".join(result.stderr.split())


def test_a_bad_prior_file_is_refused_before_training(run, write, documents, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("word,label,mean\nwheat,grain,heavy\n", encoding="utf-8")
    result = run("train", write(documents), "--prior", bad, "-o", tmp_path / "m.tb", code=1)
    assert "line 2" in result.stderr
    assert not (tmp_path / "m.tb").exists()


def test_words_of_a_model_without_a_prior(run, write, documents, tmp_path):
    run("train", write(documents), "-o", tmp_path / "m.tb")
    result = run("words", tmp_path / "m.tb", "--prior", code=1)
    assert "trained without a prior file" in result.stderr

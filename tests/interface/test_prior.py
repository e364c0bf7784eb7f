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


def test_a_vocabulary_describes_labels(run, lines, tmp_path):
    file = tmp_path / "goods.rdf"
    file.write_text(
        """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns:skos="http://www.w3.org/2004/02/skos/core#">
        <skos:Concept rdf:about="#g"><skos:prefLabel xml:lang="en">grain</skos:prefLabel>
        <skos:altLabel xml:lang="en">cereals</skos:altLabel><skos:altLabel xml:lang="de">Getreide</skos:altLabel>
        </skos:Concept><skos:Concept rdf:about="#t"><skos:prefLabel xml:lang="en">tea</skos:prefLabel>
        <skos:definition xml:lang="en">A drink of leaves.</skos:definition></skos:Concept>
        <skos:Concept rdf:about="#x"><skos:prefLabel xml:lang="en">steel</skos:prefLabel></skos:Concept></rdf:RDF>""",
        encoding="utf-8",
    )
    told = {row["label"]: row["word"] for row in lines("prior", "--descriptions", file)}
    assert told == {"grain": "cereals", "tea": "A drink of leaves."}
    rows = lines("prior", "--descriptions", file, "--label", "grain")
    assert {(row["word"], row["label"]) for row in rows} == {("grain", "grain"), ("cereals", "grain")}
    assert "no concept named 'corn'" in run("prior", "--descriptions", file, "--label", "corn", code=1).stderr
    table = tmp_path / "told.csv"
    table.write_text("label,description\ngrain,wheat and corn\n", encoding="utf-8")
    assert lines("prior", "--descriptions", table)[0]["word"] == "wheat and corn"


def test_without_a_target_the_table_is_shown(run, lines):
    assert lines("prior", "--label", "money")[0]["source"] == "name"
    assert run("prior", "--label", "money", "--csv").stdout.splitlines()[1:] == ["money,money,for,,,,name"]
    assert "money" in run("prior", "--label", "money", "--table").stdout


def test_a_model_becomes_the_prior_of_the_next(run, write, documents, tmp_path):
    run("train", write(documents), "-o", tmp_path / "old.tb", "--preset", "linear")
    run("prior", "--model", tmp_path / "old.tb", "--model-scale", "0.001", "-o", tmp_path / "old.csv")
    run("train", write(documents), "--prior", tmp_path / "old.csv", "--prior-weight", "1", "--family", "laplace",
        "-o", tmp_path / "new.tb")  # fmt: skip
    old, new = load_model(tmp_path / "old.tb"), load_model(tmp_path / "new.tb")
    # Scales this narrow leave the weights where the earlier model had them.
    held = old.coef_ != 0.0
    assert new.coef_[held] == pytest.approx(old.coef_[held], rel=1e-2)


@pytest.mark.filterwarnings("default:the prior names")
def test_the_audit_tells_what_became_of_the_advice(run, lines, write, documents, tmp_path):
    advice = tmp_path / "advice.csv"
    rows = ("wheat,grain,4,0.5,me", "bank,grain,6,0.1,wrong", "volcano,grain,1,1,rare", "7,grain,1,1,number")
    advice.write_text("\n".join(["word,label,mean,scale,source", *rows]), encoding="utf-8")
    many = ("--duplicates", "keep", "--prior", advice, "--prior-weight", "1")
    narrow = ("--family", "gaussian", "--scale", "0.5")  # else the other words make up for a wrong weight
    result = run("train", write(documents * 8), *many, *narrow, "-o", tmp_path / "m.tb")
    assert "the prior names 1 word that the model does not have: 7" in " ".join(result.stderr.split())
    model = load_model(tmp_path / "m.tb")  # no text has the word, but one may come
    assert dict(model.top_words("grain", 100))["volcano"] == pytest.approx(1.0)
    rows = lines("words", tmp_path / "m.tb", "--prior", "--label", "grain")
    assert {row["word"]: row["source"] for row in rows} == {"wheat": "me", "bank": "wrong", "volcano": "rare"}
    assert rows[0]["word"] == "bank"
    assert rows[0]["conflict"]
    assert rows[0]["followed"] == 1.0
    table = run("words", tmp_path / "m.tb", "--prior", "--table").stdout
    assert "conflict" in table
    assert "grain: the prior is followed at weight 1" in table


@pytest.mark.parametrize("kind", ["multinomial", "counts", "online", "gp"])
def test_every_kind_of_model_has_an_audit(run, lines, write, documents, tmp_path, kind):
    advice = tmp_path / "advice.csv"
    # The texts about grain have "corn": to say that it speaks against them is wrong, and against money right.
    advice.write_text("word,label,mean,scale\ncorn,grain,-60,0.5\ncorn,money,-1,1\n", encoding="utf-8")
    model = tmp_path / "m.tb"
    run("train", write(documents), "--model", kind, "--prior", advice, "--prior-weight", "1", "-o", model)
    rows = {row["label"]: row for row in lines("words", model, "--prior")}
    assert set(rows) == {"grain", "money"}
    assert rows["grain"]["conflict"]
    assert not rows["money"]["conflict"]
    saved, column = load_model(model), {"grain": 0, "money": 1}
    weights, at = saved.model_.word_weights().weights, saved.vectorizer_.vocabulary_["corn"]
    for label, row in rows.items():
        assert row["posterior"] == weights[column[label], at]
        assert row["shift"] == pytest.approx((row["posterior"] - row["prior_mean"]) / row["prior_scale"])
    told = run("train", write(documents), "--model", kind, "--prior", advice, "-o", model, "--json").stdout
    assert "as requested" not in told  # the weight was chosen, not given


def test_bad_advice_is_turned_down_by_itself(run, write, documents, tmp_path):
    """The weight is chosen by held-out loss: what would make it worse gets none."""
    advice = tmp_path / "advice.yaml"
    advice.write_text("grain: {bank: 8, goal: 8}\nsport: {wheat: 8}\n", encoding="utf-8")
    run("train", write(documents * 4), "--duplicates", "keep", "--prior", advice, "-o", tmp_path / "m.tb")
    model = load_model(tmp_path / "m.tb")
    assert dict(zip(model.label_space_.column_names, model.prior_weight_, strict=True)) == {
        "grain": 0.0, "money": 0.0, "sport": 0.0
    }  # fmt: skip


def test_training_tells_label_by_label_what_it_did_with_the_advice(run, lines, write, documents, tmp_path):
    advice, model = tmp_path / "advice.csv", tmp_path / "m.tb"
    rows = ("wheat,grain,4,2", "volcano,grain,1,1", "bank,grain,-4,2", "wheat,sport,9,0.5", "bank,sport,9,0.5")
    advice.write_text("\n".join(["word,label,mean,scale", *rows]), encoding="utf-8")
    asked = (write(documents * 4), "--duplicates", "keep", "--prior", advice, "-o", model)
    (summary,) = lines("train", *asked)
    told = {row["label"]: row for row in summary["prior"]}
    assert told.keys() == {"grain", "sport"}  # nothing is said of money
    assert (told["grain"]["words"], told["grain"]["not_in_texts"]) == (3, 1)
    assert (told["sport"]["words"], told["sport"]["not_in_texts"]) == (2, 0)
    weights = dict(zip(*_weights(model), strict=True))
    assert {label: row["weight"] for label, row in told.items()} == {name: weights[name] for name in told}
    assert weights["sport"] == 0.0  # wheat and banks are no sport, and held-out texts say so
    assert told["sport"]["why"] == "not supported by held-out texts"
    assert told["sport"]["change"] > 0.0
    assert 0.0 < told["sport"]["tried"] <= 1.0
    table = run("train", *asked, "--table").stdout
    assert "not in texts" in table
    assert f"{100 * told['sport']['change']:+.1f} %" in table
    (as_told,) = lines("train", *asked, "--prior-weight", "0.5")
    assert [(row["weight"], row["why"], row["change"]) for row in as_told["prior"]] == [(0.5, "as requested", None)] * 2


def _weights(path):
    model = load_model(path)
    return model.label_space_.column_names, model.prior_weight_.tolist()


@pytest.mark.parametrize("weight", ["0", "0.25", "1"])
def test_the_prior_is_shown_as_it_was_given_whatever_its_weight(weight, lines, run, write, documents, tmp_path):
    advice, model = tmp_path / "advice.csv", tmp_path / "m.tb"
    advice.write_text("word,label,mean,scale\nwheat,grain,4,0.5\nbank,grain,6,0.1\n", encoding="utf-8")
    asked = ("--prior", advice, "--prior-weight", weight, "--family", "gaussian", "--scale", "0.5")
    run("train", write(documents * 8), "--duplicates", "keep", *asked, "-o", model)
    found = {row["word"]: row for row in lines("words", model, "--prior", "--label", "grain")}
    assert {word: (row["prior_mean"], row["prior_scale"]) for word, row in found.items()} == {
        "wheat": (4.0, 0.5), "bank": (6.0, 0.1)
    }  # fmt: skip
    for row in found.values():
        assert row["followed"] == float(weight)
        assert row["shift"] == pytest.approx((row["posterior"] - row["prior_mean"]) / row["prior_scale"])
    assert found["bank"]["p_value"] < 0.05  # banks are no grain, and texts without the advice say so as well
    assert found["bank"]["conflict"]
    shown = run("words", model, "--prior", "--table").stdout
    assert f"grain: the prior is followed at weight {weight}" in shown
    assert "+6.00 ± 0.10" in shown


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


@pytest.mark.filterwarnings("default:the prior names")
def test_a_misspelt_label_of_a_prior_gets_the_closest_one(run, write, documents, tmp_path):
    advice = tmp_path / "advice.csv"
    advice.write_text("word,label,mean,scale\nwheat,grain,1,1\nbank,mony,1,1\n", encoding="utf-8")
    options = ("--prior", advice, "--prior-weight", "1", "--preset", "linear", "-o", tmp_path / "m.tb")
    said = " ".join(run("train", write(documents), *options).stderr.split())
    hint = "mony; did you mean 'money'? Its words are ignored"
    assert f"warning: the prior names 1 label that the model does not have: {hint}" in said


@pytest.mark.parametrize("kind", [(), ("--preset", "linear")])
def test_a_table_whose_words_no_text_has_is_not_called_supported(kind, lines, run, write, documents, tmp_path):
    advice = tmp_path / "advice.csv"
    advice.write_text("label,word,mean\ngrain,zebra,for\ngrain,giraffe,for\n")
    asked = ("train", write(documents * 4), "--duplicates", "keep", "--prior", advice, *kind, "-o", tmp_path / "m.tb")
    (summary,) = lines(*asked)
    assert [(row["words"], row["not_in_texts"]) for row in summary["prior"]] == [(2, 2)]
    assert summary["prior"][0]["why"] == "not tested: none of its words is in the texts"
    assert "not tested" in run(*asked, "--table").stdout

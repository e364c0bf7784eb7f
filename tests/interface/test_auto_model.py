"""A model of several views of the words, which the automatic preset makes, in every command that takes a model."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest

from textbayes import TextCategorizer, load_model, save_model
from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.core.errors import InputError
from textbayes.stream import filter_from_model

TOPICS = {
    "grain": ["wheat", "corn", "harvests", "farms", "crops"],
    "money": ["banks", "rates", "loans", "credits", "bonds"],
    "oil": ["crude", "barrels", "pumps", "fuels", "drills"],
}
COMMON = ["report", "week", "chart", "news", "today", "said", "year", "the", "a", "of"]


def _rows(kind: str, seed: int, n: int) -> list[dict]:
    rng = np.random.default_rng(seed)
    rows, names = [], list(TOPICS)
    for i in range(n):
        own = [name for name in names if rng.random() < 0.4] if kind == "multilabel" else [names[i % 3]]
        words = [*rng.choice(COMMON, 10), *(word for name in own for word in rng.choice(TOPICS[name], 4))]
        rng.shuffle(words)
        labels = own if kind == "multilabel" else own[0]
        if kind == "binary":
            labels = "grain" if labels == "grain" else "other"
        rows.append({"id": str(i), "text": " ".join(words[:2]) + "\n" + " ".join(words[2:]), "labels": labels})
    return rows


@pytest.fixture(scope="module", params=["binary", "multiclass", "multilabel"])
def saved(request, tmp_path_factory):
    rows = _rows(request.param, 0, ENOUGH_TEXTS)
    path = tmp_path_factory.mktemp("auto") / "m.tb"
    model = TextCategorizer(preset="auto", budget="quick", cv=2)
    save_model(model.fit([row["text"] for row in rows], [row["labels"] for row in rows]), path)
    return request.param, path


@pytest.fixture
def new(saved, write):
    return write(_rows(saved[0], 1, 12))


@pytest.mark.parametrize("form", ["--json", "--csv", "--table"])
def test_every_form_of_every_answer(form, run, saved, new):
    _, path = saved
    for command in (
        ["classify", path, new],
        ["evaluate", path, new],
        ["explain", path, new],
        ["words", path],
        ["show", path],
    ):
        assert run(*command, form).stdout
    for options in (["--per-label"], ["--confusion"], ["--errors", "3"]):
        run("evaluate", path, new, form, *options)
    assert "stem:" in run("explain", path, new, form, "--columns").stdout
    for command in (["explain", path, new], ["words", path], ["words", path, "--by", "weight"]):
        assert "stem:" not in run(*command, form).stdout


def test_explanations_show_words_as_the_text_has_them(lines, saved):
    kind, path = saved
    for told in lines("explain", path, "--literal", "harvests and the bank's corn\nharvest banks", "--label", "grain"):
        words = {part["word"]: part for part in told["words"]}
        assert "harvest" not in words, "shown under the first form in the alphabet of those that the model knows"
        assert words["harvests"]["occurrences"] == 2
        assert bool(told["rivals"]) == (kind != "multilabel")
        total = told["base"] + sum(part["log_odds"] for part in told["words"]) + told["other_words"]
        assert total == pytest.approx(told["log_odds"])
        assert 1.0 / (1.0 + np.exp(-told["log_odds"])) == pytest.approx(told["probability"], rel=1e-9)


def test_words_are_shown_in_forms_that_texts_have(lines, saved):
    words = {row["word"]: row for row in lines("words", saved[1], "--label", "grain", "--top", "30")}
    assert "harvests" in words
    assert "harvest" not in words
    texts = [row["text"].split() for row in _rows(saved[0], 0, ENOUGH_TEXTS)]
    assert words["harvests"]["texts"] == sum("harvests" in text for text in texts)


def test_burstiness_is_that_of_words(lines, saved, new):
    rows = lines("words", saved[1], "--burstiness", new, "--min-texts", "2")
    assert rows
    assert not any(":" in row["word"] for row in rows)


def test_reports_and_comparisons(run, lines, saved, new, tmp_path):
    kind, path = saved
    run("report", path, new, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "stem:" not in page
    assert "View &#39;stem&#39;" in page
    assert ("Other labels:" in page) == (kind != "multilabel")
    texts, labels = zip(*((row["text"], row["labels"]) for row in _rows(kind, 0, ENOUGH_TEXTS)), strict=True)
    save_model(TextCategorizer(cv=2).fit(texts, labels), tmp_path / "linear.tb")
    assert run("compare", path, tmp_path / "linear.tb", "--truth", new).stdout


def test_what_is_in_the_file(lines, run, saved):
    _, path = saved
    (told,) = lines("show", path)
    assert [view["name"] for view in told["settings"]["vectorizer"]["views"]] == ["words", "stem", "head"]
    names = [member["name"] for member in load_model(path).choice_["members"]]
    assert [re.sub(r"(, scale [\d.]+)?, weight .*", "", text) for text in told["settings"]["members"]] == names
    table = run("show", path, "--table").stdout
    assert "View 'head'" in table
    assert "of the first line of a text" in table


@pytest.mark.filterwarnings("default:the prior names")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # it is surer than floats can tell
def test_a_prior_file_has_words_that_another_model_finds(lines, run, saved, write, tmp_path):
    rows = lines("prior", "--model", saved[1])
    words = [(row["word"], row["label"]) for row in rows]
    assert len(set(words)) == len(words)
    assert not any(":" in word or " " in word for word, _ in words)
    run("prior", "--model", saved[1], "--model-scale", "2", "-o", tmp_path / "p.csv")
    run("train", write(_rows(saved[0], 1, 60)), "--prior", tmp_path / "p.csv", "-o", tmp_path / "t.tb")
    audited = csv.DictReader(io.StringIO(run("words", tmp_path / "t.tb", "--prior", "--csv").stdout))
    assert {row["word"] for row in audited} & {"corn", "harvest", "wheat"}


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (["words", "{model}", "--intervals"], "train it with --intervals"),
        (["words", "{model}", "--by", "sign"], "this model was not sampled; train it with"),
        (["words", "{model}", "--plot", "forest", "--output", "x.svg"], "train --inference gibbs"),
        (["words", "{model}", "--prior"], "give one to train with --prior"),
        (["update", "{model}", "{new}"], "textbayes train --intervals"),
        (["filter", "{desk}", "--model", "{model}"], "train --preset linear --intervals"),
    ],
)
def test_what_it_cannot_do_is_refused_with_advice(command, advice, run, saved, new, tmp_path):
    places = {"model": saved[1], "new": new, "desk": tmp_path / "desk"}
    failed = run(*(part.format(**places) for part in command), code=1).stderr
    assert advice in " ".join(failed.split())
    assert "internal error" not in failed


def test_in_python_too(saved):
    from textbayes.report import to_inference_data

    model = load_model(saved[1])
    with pytest.raises(InputError, match="was not sampled"):
        to_inference_data(model)
    with pytest.raises(InputError, match="several views"):
        filter_from_model(model)

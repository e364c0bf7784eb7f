"""Sentence vectors in an automatic training: tried where they can be afforded, kept where held-out texts approve."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from references.sentences import WIDTH, by_chance, by_first_letter, draw
from textbayes import BayesLinearClassifier, TextCategorizer, load_model, save_model
from textbayes.categorizer import reading
from textbayes.categorizer.summary import describe_choice
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.stream import filter_from_model
from textbayes.text import sentences
from textbayes.text.sentences import MEANING

KINDS = ["binary", "multiclass", "multilabel"]


def chosen(texts, embeddings="auto", budget="normal", own_words=False):
    return reading.sentence_model(embeddings, budget, own_words, texts)


def right(model, kind: str) -> float:
    texts, labels = draw(1, 60, kind)
    own = [set(one) if kind == "multilabel" else {one} for one in labels]
    return float(
        np.mean([set(found) == wanted for found, wanted in zip(model.predict_labels(texts), own, strict=True)])
    )


_FITTED: dict[str, TextCategorizer] = {}


@pytest.fixture(params=KINDS)
def fitted(request, sentence_model):
    """A model of each kind of labels, trained once; a test gets a copy."""
    sentence_model()
    if request.param not in _FITTED:
        _FITTED[request.param] = TextCategorizer(cv=3, n_jobs=1).fit(*draw(0, 60, request.param))
    return request.param, copy.deepcopy(_FITTED[request.param])


def test_vectors_that_tell_more_than_words_are_kept_and_told_of(fitted):
    kind, model = fitted
    without = TextCategorizer(cv=3, embeddings="off").fit(*draw(0, 60, kind))
    assert right(model, kind) > right(without, kind) + 0.2
    assert right(model, kind) > 0.85
    told = model.choice_["embeddings"]
    assert (told["model"], told["outcome"]) == ("tiny", "kept")
    assert told["log_loss"] < 0.99 * told["log_loss_without"]
    assert "Gaussian, sentence vectors" in [member["name"] for member in model.choice_["members"]]
    story = describe_choice(model.choice_)
    assert f"{WIDTH} sentence embeddings" in story
    assert f"(tiny) were kept: held-out log-loss {told['log_loss']:.4f} with them, " in story
    assert "embeddings" not in str(without.choice_["members"])


def test_vectors_that_tell_nothing_leave_no_trace_in_the_answers(sentence_model):
    sentence_model(by_chance)
    texts, labels = draw(0, 60)
    model = TextCategorizer(cv=3).fit(texts, labels)
    without = TextCategorizer(cv=3, embeddings="off").fit(texts, labels)
    assert model.choice_["embeddings"]["outcome"] == "left out"
    assert "were tried and left out" in describe_choice(model.choice_)
    assert [view["name"] for view in model.choice_["views"]] == [view["name"] for view in without.choice_["views"]]
    asked = [*draw(1, 20)[0], "", "never seen"]
    np.testing.assert_array_equal(model.predict_proba(asked), without.predict_proba(asked))
    assert without.choice_["embeddings"] is None
    assert describe_choice(model.choice_).startswith(describe_choice(without.choice_))


def test_chance_alone_is_not_enough(sentence_model):
    sentence_model(by_chance)
    fits = [TextCategorizer(cv=3, budget="quick", embeddings="tiny").fit(*draw(seed, 30)) for seed in range(8)]
    assert sum(model.choice_["embeddings"]["outcome"] == "kept" for model in fits) <= 1


def test_explanations_have_one_line_for_the_vector_and_add_up(fitted):
    _, model = fitted
    for text in [*draw(2, 3)[0], "weeiou", "", "Ünï \ud83d wiou"]:
        for told in model.explain(text):
            named = [part for part in told.contributions if part.word == MEANING]
            assert len(named) == bool(text)
            assert all(part.occurrences == 1 for part in named)
            assert not any(part.word.startswith("embedding") for part in told.contributions)
            total = told.base + (told.other_labels or 0.0) + sum(part.log_odds for part in told.contributions)
            assert total == pytest.approx(told.log_odds)
            assert 1.0 / (1.0 + np.exp(-told.log_odds)) == pytest.approx(told.probability, rel=1e-6)
    text = draw(2, 1)[0][0]
    label = str(model.classes_[-1])
    (one,), (each,) = model.explain(text, [label]), model.explain(text, [label], merge=False)
    columns = [part for part in each.contributions if part.word.startswith("embedding:")]
    (line,) = [part for part in one.contributions if part.word == MEANING]
    assert sum(part.log_odds for part in columns) == pytest.approx(line.log_odds)
    # By hand: the vector times its weights, against the other classes where they exclude each other.
    if model.label_space_.kind != "multiclass":
        assert line.log_odds == pytest.approx(by_first_letter([text])[0] @ model.coef_[-1, -WIDTH:])


def test_columns_of_vectors_are_no_words(fitted):
    _, model = fitted
    for label in map(str, model.classes_):
        words = [one.word for one in model.label_words(label, None)]
        assert words
        assert MEANING not in words
        assert not any("embedding" in word for word in words)
        assert not any("embedding" in word for word, _ in model.top_words(label, None))
    assert model.words_with_weight().sum() <= model.word_columns().sum() == len(model.weighting_.idf_) - WIDTH
    assert model.merged_words().columns.max() < model.word_columns().sum()


def test_words_that_are_known_are_counted_without_the_vector(fitted):
    _, model = fitted
    known = model.assess(["wooooooo", "", "the market"]).known_words
    assert known[0] == known[1] == 0
    assert known[2] > 0
    notes = {text: model.explain(text)[0].notes[0] for text in ("wooooooo", "")}
    assert notes["wooooooo"].endswith("rests on its sentence vector alone, and no label is given")
    assert notes[""].endswith("that of any text, and no label is given")
    proba = model.predict_proba(["wooooooo", ""])
    assert abs(proba[0] - proba[1]).max() > 0.1


def test_a_file_knows_its_sentence_model_again_by_its_files(fitted, tmp_path, monkeypatch, sentence_model):
    _, model = fitted
    path, asked = tmp_path / "m.tb", draw(3, 9)[0]
    save_model(model, path)
    expected = model.predict_proba(asked)
    monkeypatch.setattr(sentences, "_encoders", {})
    np.testing.assert_array_equal(load_model(path).predict_proba(asked), expected)
    save_model(load_model(path), tmp_path / "again.tb")
    assert (tmp_path / "again.tb").read_bytes() == path.read_bytes()
    assert load_model(path).choice_ == model.choice_
    monkeypatch.setattr(sentences, "_encoders", {})
    sentence_model(name="other")
    with pytest.raises(InputError, match="sentence model 'tiny', of which there is no copy"):
        load_model(path).predict_proba(asked)
    monkeypatch.setattr(sentences, "is_installed", lambda: False)
    with pytest.raises(MissingExtraError, match=r"pip install 'textbayes\[embeddings\]'"):
        load_model(path).predict_proba(asked)
    assert load_model(path).label_words(str(model.classes_[0])), "what the file knows of words can be read anywhere"


def test_no_folder_is_written_to_a_file(sentence_model):
    folder = sentence_model()
    model = TextCategorizer(cv=3, budget="quick", embeddings=folder).fit(*draw(0, 60))
    meta, _ = model.to_state()
    assert str(folder.parent) not in str(meta)
    assert meta["settings"]["embeddings"] == "tiny"
    as_text = TextCategorizer(cv=3, budget="quick", embeddings=str(folder)).fit(*draw(0, 60))
    assert as_text.to_state()[0] == meta
    again = TextCategorizer.from_state(*model.to_state()).fit(*draw(0, 60))  # found by its name in the environment
    assert again.choice_ == model.choice_


def test_auto_tries_them_where_they_can_be_afforded(sentence_model, monkeypatch):
    folder = str(sentence_model())
    few, many = ["a" * 100] * 100, ["a" * 10_000] * 201  # 1,500 characters of each are counted: 301,500
    assert chosen(few) == (folder, False)
    assert chosen(many) == (folder, True)
    assert chosen(many, budget="thorough") == (folder, False)
    assert chosen(few, budget="quick")[0] is None
    assert chosen(few, own_words=True)[0] is None
    assert chosen(few, embeddings=None)[0] is None
    assert chosen(few, embeddings="off")[0] is None
    assert chosen(many, embeddings="x", budget="quick") == ("x", False), "named, at any cost"
    monkeypatch.setenv("TEXTBAYES_EMBEDDINGS", "off")
    assert chosen(few)[0] is None


def test_texts_that_take_too_long_are_told_of(sentence_model):
    sentence_model(lambda texts: pytest.fail("no text is read"))
    texts, labels = draw(0, 201)
    model = TextCategorizer(cv=2).fit([text + " the" * 500 for text in texts], labels)
    assert model.choice_["embeddings"] == {
        "model": "tiny", "outcome": "too long", "log_loss": None, "log_loss_without": None,
    }  # fmt: skip
    assert "were not tried: 201 texts of this length take too long for the budget" in describe_choice(model.choice_)
    assert model.to_state()[0]["choice"]["embeddings"]["outcome"] == "too long"


def test_weights_and_a_prior_file_go_with_them(sentence_model):
    sentence_model()
    texts, labels = draw(0, 60)
    table = WordPriors([WordPrior("market", "grain", "for")])
    model = TextCategorizer(cv=3, prior=table).fit(texts, labels, sample_weight=np.linspace(0.5, 2.0, 60))
    assert model.choice_["embeddings"]["outcome"] == "kept"
    assert right(model, "multiclass") > 0.85
    assert model.prior_advice_


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"model": "counts"}, "embeddings='x' asks for one more view in an automatic training, and model for another"),
        ({"model": BayesLinearClassifier()}, "and model for another"),
        ({"preset": "linear"}, "and preset for another"),
    ],
)
def test_a_named_model_beside_another_training_is_refused(settings, match):
    with pytest.raises(InputError, match=match):
        TextCategorizer(embeddings="x", **settings).fit(*draw(0, 9))


@pytest.mark.parametrize("given", [True, 3, "", ["x"]])
def test_what_is_no_name_is_refused(given):
    with pytest.raises(InputError, match=r"embeddings=.* is not usable"):
        TextCategorizer(embeddings=given).fit(*draw(0, 9))


def test_filters_cannot_read_them(fitted):
    with pytest.raises(InputError, match="several views"):
        filter_from_model(fitted[1])

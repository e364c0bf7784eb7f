"""Unlabelled texts in automatic training: they help where they can, harm nowhere, and are saved like all members."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer, TextVectorizer, load_model, save_model
from textbayes.categorizer.reading import read_views
from textbayes.categorizer.sources import TextSource
from textbayes.categorizer.summary import describe_choice, member_rows, unlabelled_sentence
from textbayes.categorizer.unlabelled import LEAST_TEXTS, MOST_TEXTS, read_unlabelled
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.text import TermWeighting
from textbayes.text.views import View


def spelt(n, seed):
    """Different words of seven letters, which share no beginning or end."""
    letters = np.random.default_rng(seed).choice(list("bcdfgklmnoprstuvaei"), (n, 7))
    return sorted({"".join(row) for row in letters})


ENGLISH = ["the", "of", "and", "to", "is", "the"]  # by which the language is known, and read word by word
IDLE = spelt(60, 100)
OWN = [spelt(80, k) for k in range(4)]


def topics(seed, n_docs, n_classes=2, several=False):
    """Texts with a few of the many words of their classes, which each text alone says little of."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n_docs):
        of = [k for k in range(n_classes) if rng.random() < 0.4] if several else [i % n_classes]
        words = [*ENGLISH, *rng.choice(IDLE, 6)]
        for k in of:
            words += list(rng.choice(OWN[k], 6))
        texts.append(" ".join(rng.permutation(words)))
        labels.append([f"class {k}" for k in of] if several else f"class {of[0]}")
    return texts, labels


def log_loss(model, texts, labels):
    proba = model.predict_proba(texts)
    own = [list(model.classes_).index(label) for label in labels]
    return -np.log(np.maximum(proba[np.arange(len(own)), own], 1e-12)).mean()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_they_help_where_words_go_together(n_classes):
    texts, labels = topics(0, 5 * n_classes, n_classes)
    new, truth = topics(1, 200, n_classes)
    unlabelled, _ = topics(2, 400, n_classes)
    alone = TextCategorizer().fit(texts, labels)
    model = TextCategorizer().fit(texts, labels, unlabelled=unlabelled)
    assert model.choice_["unlabelled"]["outcome"] == "kept"
    assert model.score(new, truth) > alone.score(new, truth) + 0.05
    assert log_loss(model, new, truth) < 0.7 * log_loss(alone, new, truth)
    assert alone.choice_["unlabelled"] is None


def test_held_out_figures_are_those_of_later_texts():
    texts, labels = topics(3, 60)
    unlabelled, _ = topics(4, 300)
    labels = list(np.random.default_rng(0).permutation(labels))  # nothing can be learnt
    model = TextCategorizer().fit(texts, labels, unlabelled=unlabelled)
    assert model.held_out_["accuracy"] < 0.7
    assert model.held_out_["log_loss"] > 0.6
    new, _ = topics(5, 200)
    assert np.abs(model.predict_proba(new)[:, 1] - 0.5).mean() < 0.25


SIGNS = [spelt(4, 200), spelt(4, 201)]


def crossed(seed, n_docs):
    """Texts of two topics that say nothing of the labels, which two words of their own do."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n_docs):
        words = [*ENGLISH, *rng.choice(OWN[rng.integers(2)], 12), *rng.choice(SIGNS[i % 2], 2)]
        texts.append(" ".join(rng.permutation(words)))
        labels.append(f"class {i % 2}")
    return texts, labels


def test_they_do_not_mislead():
    texts, labels = crossed(0, 60)
    new, truth = crossed(1, 400)
    signs = {*SIGNS[0], *SIGNS[1]}
    unlabelled = [" ".join(word for word in text.split() if word not in signs) for text in crossed(2, 400)[0]]
    alone = TextCategorizer().fit(texts, labels)
    model = TextCategorizer().fit(texts, labels, unlabelled=unlabelled)
    weights = [row.weight for row in member_rows(model.choice_) if row.view == "unlabelled texts"]
    assert sum(weights) < 0.25
    assert log_loss(model, new, truth) < log_loss(alone, new, truth) + 0.03
    assert model.score(new, truth) > alone.score(new, truth) - 0.02


def test_texts_of_another_kind_change_nothing():
    texts, labels = topics(6, 40)
    new, truth = topics(7, 200)
    alone = TextCategorizer().fit(texts, labels)
    rng = np.random.default_rng(0)
    other = [" ".join(rng.choice(spelt(50, 300), 10)) for _ in range(100)]
    model = TextCategorizer().fit(texts, labels, unlabelled=other)
    assert log_loss(model, new, truth) < log_loss(alone, new, truth) + 0.03
    assert model.score(new, truth) > alone.score(new, truth) - 0.03


def test_several_labels_learn_latent_directions(tmp_path):
    texts, labels = topics(8, 40, 3, several=True)
    unlabelled, _ = topics(9, 300, 3, several=True)
    model = TextCategorizer().fit(texts, labels, unlabelled=unlabelled)
    new, truth = topics(10, 200, 3, several=True)
    alone = TextCategorizer().fit(texts, labels)
    Y = np.array([[name in row for name in model.classes_] for row in truth])
    losses = [-np.log(np.where(Y, one.predict_proba(new), 1 - one.predict_proba(new))).mean() for one in (model, alone)]
    assert losses[0] < losses[1]
    assert not any("mixture" in member["name"] for member in model.choice_["members"])
    assert any("latent" in member["name"] for member in model.choice_["members"])
    save_model(model, tmp_path / "m.tb")
    np.testing.assert_array_equal(load_model(tmp_path / "m.tb").predict_proba(new), model.predict_proba(new))


def test_the_model_is_linear_saved_explained_and_updated(tmp_path):
    texts, labels = topics(11, 30, 3)
    unlabelled, _ = topics(12, 300, 3)
    model = TextCategorizer(intervals=True).fit(texts, labels, unlabelled=unlabelled)
    new, truth = topics(13, 50, 3)
    save_model(model, tmp_path / "m.tb")
    loaded = load_model(tmp_path / "m.tb")
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert loaded.choice_ == model.choice_
    told = model.choice_["unlabelled"]
    assert (told["n_texts"], told["outcome"]) == (300, "kept")
    assert told["log_loss"] < told["log_loss_without"]
    assert unlabelled_sentence(told) in describe_choice(loaded.choice_)
    assert "Learnt from 300 unlabelled texts: held-out log-loss 0." in unlabelled_sentence(told)
    known = set(" ".join(texts).split())
    unseen = [one.word for one in model.label_words("class 0", None) if one.word in OWN[0] and one.word not in known]
    assert unseen  # of the unlabelled texts alone
    text = f"{unseen[0]} {unseen[-1]} {new[0]}"
    for row in model.explain(text, top=None):
        assert row.log_odds == pytest.approx(row.base + sum(one.log_odds for one in row.contributions), abs=1e-6)
        assert row.probability == pytest.approx(model.predict_proba([text])[0][list(model.classes_).index(row.label)])
    before = log_loss(model, new, truth)
    model.update(*topics(14, 60, 3))
    assert log_loss(model, new, truth) < before + 0.05


def test_none_and_an_empty_list_are_the_same_training():
    texts, labels = topics(15, 30)
    new, _ = topics(16, 20)
    plain = TextCategorizer().fit(texts, labels)
    for nothing in ([], iter(())):
        model = TextCategorizer().fit(texts, labels, unlabelled=nothing)
        np.testing.assert_array_equal(model.predict_proba(new), plain.predict_proba(new))
        assert model.choice_ == plain.choice_


def test_too_few_texts_or_words_are_said_and_change_nothing():
    texts, labels = topics(17, 30)
    new, _ = topics(18, 20)
    plain = TextCategorizer().fit(texts, labels)
    for few in (topics(19, LEAST_TEXTS - 1)[0], [""] * 50, spelt(50, 400)):
        model = TextCategorizer().fit(texts, labels, unlabelled=few)
        np.testing.assert_array_equal(model.predict_proba(new), plain.predict_proba(new))
        assert model.choice_["unlabelled"]["outcome"] == "too few"
        assert "had too few words in common to learn from" in describe_choice(model.choice_)


def test_what_cannot_learn_from_them_refuses():
    texts, labels = topics(20, 20)
    for given in ({"model": "counts"}, {"preset": "linear"}):
        with pytest.raises(NotSupportedError, match="30 unlabelled texts were given to a training that cannot learn"):
            TextCategorizer(**given).fit(texts, labels, unlabelled=topics(21, 30)[0])
    with pytest.raises(InputError, match="unlabelled is 'one text' where a list of texts is needed"):
        TextCategorizer().fit(texts, labels, unlabelled="one text")
    with pytest.raises(InputError, match="unlabelled: document 1 is a float, not a str; leave it out"):
        TextCategorizer().fit(texts, labels, unlabelled=["one text", float("nan")])
    with pytest.raises(InputError, match=r"^document 20 is a NoneType, not a str"):
        TextCategorizer().fit([*texts, None], [*labels, labels[0]], unlabelled=["one text"])


def test_a_vectorizer_that_is_given_reads_them():
    texts, labels = topics(22, 30)
    unlabelled, _ = topics(23, 300)
    model = TextCategorizer(vectorizer=TextVectorizer(analyzer="char_wb", ngram_range=(3, 4))).fit(
        texts, labels, unlabelled=unlabelled
    )
    assert model.vectorizer_.vectorizers_[-1].analyzer == "char_wb"
    fixed = TextVectorizer(vocabulary=[*OWN[0][:2], *OWN[1][:2], *IDLE])
    model = TextCategorizer(vectorizer=fixed).fit(texts, labels, unlabelled=unlabelled)
    assert len(model.coef_[0]) == (4 + len(IDLE)) * len(model.choice_["views"])


def test_many_texts_are_sampled_and_the_view_is_theirs_alone():
    texts, _ = topics(24, 40)
    views, _ = read_views(texts)
    unlabelled, _ = topics(25, MOST_TEXTS["quick"] + 100)
    found = read_unlabelled(views, [text + " common" for text in unlabelled], "quick")
    assert found.texts.weights.shape[0] == MOST_TEXTS["quick"]
    assert "common" in found.vectorizer.vocabulary_
    assert found.weighting.n_docs_ == MOST_TEXTS["quick"]


def test_a_view_is_left_out_with_its_weighting():
    counts = [np.eye(3), 2.0 * np.eye(3)[:, :2], np.ones((3, 1))]
    views = [View(name, TextVectorizer(), TermWeighting("binary")) for name in "abc"]
    settled = {1: TermWeighting("binary"), 2: TermWeighting("log")}
    source = TextSource(views, ["A", "B", "C"], counts, np.ones(3), settled, list(counts))
    after = source.without_view(1)
    assert [view.name for view in after.views] == ["a", "c"]
    assert after.vectorizers == ["A", "C"]
    assert after.settled == {1: settled[2]}
    assert after.bounds.tolist() == [0, 3, 4]
    assert [block.shape for block in after.unlabelled] == [(3, 3), (3, 1)]
    assert source.without_view(2).settled == {1: settled[1]}


def test_copies_of_labelled_texts_are_left_out(tmp_path):
    texts, labels = topics(26, 30)
    unlabelled, _ = topics(27, 100)
    new, _ = topics(28, 20)
    model = TextCategorizer().fit(texts, labels, unlabelled=unlabelled)
    copies = [text.replace(" ", "\n ") for text in texts]
    again = TextCategorizer().fit(texts, labels, unlabelled=[*copies, *unlabelled])
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert again.held_out_ == model.held_out_  # no fold has read its texts
    assert "Learnt from 100 unlabelled texts (without 30 that are copies of labelled ones): " in describe_choice(
        again.choice_
    )
    plain = TextCategorizer().fit(texts, labels)
    none = TextCategorizer().fit(texts, labels, unlabelled=copies)
    np.testing.assert_array_equal(none.predict_proba(new), plain.predict_proba(new))
    told = "Of 30 unlabelled texts nothing was learnt: all are copies of labelled ones."
    assert told in describe_choice(none.choice_)
    save_model(none, tmp_path / "m.tb")
    assert load_model(tmp_path / "m.tb").choice_ == none.choice_

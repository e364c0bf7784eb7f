"""Names of labels and prior files as members of the pool: they speak as far as the texts agree."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer, load_model, save_model
from textbayes.categorizer.plan import fits_to_all, folds_for, folds_held_out, lexicon_members
from textbayes.categorizer.reading import read_views
from textbayes.core.labels import LabelSpace
from textbayes.knowledge import WordPrior, WordPriors

TOPICS = ["wheat", "gold", "coffee", "sugar"]


def space(names, kind) -> LabelSpace:
    return LabelSpace(np.array(names, dtype=object), kind)


def drawn(seed: int, n: int) -> tuple[list[str], list[list[str]]]:
    """Texts whose topics show in one way alone: the name of the topic stands among words that say nothing."""
    rng = np.random.default_rng(seed)
    idle = [f"w{j}" for j in range(300)]
    labels = [sorted(rng.choice(TOPICS, rng.integers(1, 3), replace=False)) for _ in range(n)]
    return [" ".join(rng.permutation([*rng.choice(idle, 12), *row])) for row in labels], labels


def test_a_name_speaks_for_its_label():
    texts = ["the money of the bank", "ships at sea", "wheat of the farm"] * 2
    views, blocks = read_views(texts)
    member, _ = lexicon_members(texts, views, blocks, space(["money-fx", "ship", "C01"], "multilabel"), new_words=False)
    (v,) = member.views
    words = list(views.vectorizers_[v].get_feature_names_out())
    fitted = member.estimator.fit(blocks[v].astype(float), None)
    coef, intercept = fitted.coef_, fitted.intercept_
    assert {(words[j], k) for k, j in zip(*np.nonzero(coef), strict=True)} == {
        ("monei", 0),
        ("ship", 1),
    }  # Porter's stems
    assert (coef >= 0.0).all()
    assert not intercept.any()


def test_words_that_all_names_share_and_names_without_words_say_nothing():
    texts = ["the class of the bank", "class struggle", "good bank"] * 2
    views, blocks = read_views(texts)
    for names, kind in (
        (["class bank", "class good"], "binary"),
        (["class bank", "class good", "class x"], "multiclass"),
    ):
        member, _ = lexicon_members(texts, views, blocks, space(names, kind), new_words=False)
        words = views.vectorizers_[member.views[0]].get_feature_names_out()
        coef = member.estimator.fit(blocks[member.views[0]].astype(float), None).coef_
        assert not coef[:, list(words).index("class")].any()
    assert lexicon_members(texts, views, blocks, space(["0", "1"], "binary"), new_words=False) == (None, None)


def test_a_name_that_few_texts_have_becomes_a_word(tmp_path):
    texts, labels = drawn(0, 40)
    held = [i for i, row in enumerate(labels) if "sugar" in row]
    texts = [text.replace("sugar", "x") for text in texts]
    model = TextCategorizer().fit(texts, labels)
    assert held
    assert "stem:sugar" in model.vectorizer_.vocabulary_
    save_model(model, tmp_path / "m.tb")
    assert load_model(tmp_path / "m.tb").predict_proba(["sugar"]) == pytest.approx(model.predict_proba(["sugar"]))


@pytest.mark.parametrize("n", [6, 60])
def test_names_help_where_texts_are_few_and_codes_take_nothing_away(n):
    """With 6 texts of 300 idle words the name is the only word that says something; misleading names are unlearnt."""
    texts, labels = drawn(1, n)
    new, truth = drawn(2, 300)
    wrong = dict(zip(TOPICS, TOPICS[1:] + TOPICS[:1], strict=True))
    right = {name: [name in row for row in truth] for name in TOPICS}

    def loss(rename: dict[str, str]) -> float:
        model = TextCategorizer().fit(texts, [[rename[name] for name in row] for row in labels])
        proba = dict(zip(model.classes_, model.predict_proba(new).T, strict=True))
        told = [np.where(right[name], proba[rename[name]], 1.0 - proba[rename[name]]) for name in TOPICS]
        return float(-np.log(told).mean())

    codes = loss({name: f"C{j}" for j, name in enumerate(TOPICS)})
    named, misnamed = loss({name: name for name in TOPICS}), loss(wrong)
    assert named < 0.9 * codes if n == 6 else named < 1.01 * codes  # 60 texts have taught all that names could say
    assert misnamed < 1.1 * codes


def test_few_texts_have_many_folds():
    assert [folds_for(n, 5, "normal") for n in (4, 15, 200, 300, 10_000)] == [5, 15, 20, 5, 5]
    assert folds_for(50, 30, "quick") == 30


def test_haste_has_fewer_folds_where_texts_are_enough():
    assert [folds_for(n, 5, "quick") for n in (299, 300, 20_000)] == [20, 3, 3]
    assert folds_for(300, 2, "quick") == 2
    assert folds_for(300, 5, "thorough") == 5


def test_of_many_texts_some_folds_are_held_out():
    sizes = (300, 20_000, 20_001, 25_000, 30_000, 60_000, 1_000_000)
    assert [folds_held_out(n, 5, "normal") for n in sizes] == [5, 5, 5, 4, 4, 2, 2]
    assert [folds_held_out(n, 3, "quick") for n in (5_000, 7_400, 7_500)] == [3, 3, 2]
    assert folds_held_out(60_000, 5, "thorough") == 5
    assert folds_held_out(60_000, 2, "normal") == 2
    assert [fits_to_all(n, 5, "normal") for n in (300, 60_000)] == pytest.approx([5.0, 2.6])


CODES = dict(zip(TOPICS, ["c1", "c2", "c3", "c4"], strict=True))
SYNONYMS = {topic: [f"{topic}{letter}u" for letter in "bcdfghjklm"] for topic in TOPICS}
TABLE = WordPriors([WordPrior(word, CODES[topic], "for") for topic in TOPICS for word in SYNONYMS[topic]])


def coded(seed: int, n: int) -> tuple[list[str], list[list[str]]]:
    """Texts of topics that go by ten words each, and whose labels are codes: a table tells what few texts do."""
    rng, (texts, labels) = np.random.default_rng(seed), drawn(seed, n)
    worded = [
        " ".join(rng.choice(SYNONYMS[word]) if word in SYNONYMS else word for word in text.split()) for text in texts
    ]
    return worded, [[CODES[topic] for topic in row] for row in labels]


def log_loss(model, texts, labels) -> float:
    held = model.label_space_.class_names
    truth = np.array([[name in row for name in held] for row in labels])
    proba = np.clip(model.predict_proba(texts), 1e-9, 1.0 - 1e-9)
    return float(-np.log(np.where(truth, proba, 1.0 - proba)).mean())


def test_a_prior_file_is_followed_as_far_as_texts_bear_it_out(tmp_path):
    texts, labels = coded(1, 30)
    new_texts, new_labels = coded(2, 200)
    names = list(CODES.values())
    wrong = WordPriors([row._replace(label=names[(names.index(row.label) + 1) % 4]) for row in TABLE])
    none, right, misled = (TextCategorizer(prior=prior).fit(texts, labels) for prior in (None, TABLE, wrong))
    loss = log_loss(none, new_texts, new_labels)
    assert log_loss(right, new_texts, new_labels) < 0.8 * loss
    assert log_loss(misled, new_texts, new_labels) < 1.1 * loss
    assert right.choice_ is not None
    assert "prior file" in [member["name"] for member in right.choice_["members"]]
    assert (right.prior_weight_ > misled.prior_weight_).all()
    assert {row.label for row in right.prior_advice_} == set(names)
    assert all(row.change < 0.0 for row in right.prior_advice_)
    save_model(right, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    assert again.prior_audit_ == right.prior_audit_
    assert again.prior_table_ == TABLE
    np.testing.assert_array_equal(again.predict_proba(new_texts), right.predict_proba(new_texts))


def test_the_audit_has_the_weights_of_the_model():
    texts, labels = coded(3, 40)
    model = TextCategorizer(prior=TABLE).fit(texts, labels)
    weights, vocabulary = model.model_.word_weights().weights, model.vectorizer_.vocabulary_
    assert len(model.prior_audit_) == len(TABLE)
    for row in model.prior_audit_:
        column = model.label_space_.column_names.index(row.label)
        assert row.posterior == weights[column, vocabulary[row.word]]


def test_a_word_of_the_file_that_no_text_has_speaks_in_later_ones():
    texts, labels = coded(4, 40)
    texts = [text.replace("sugarbu", "x") for text in texts]
    known = TextCategorizer(prior=TABLE).fit(texts, labels)
    (with_word,), (without,) = known.predict_proba(["sugarbu w1 w2"]), known.predict_proba(["w1 w2"])
    column = known.label_space_.class_names.index("c4")
    assert with_word[column] > without[column]


@pytest.mark.parametrize(
    ("row", "weight"),
    [
        (WordPrior("wheat", "c1", 2.0), "auto"),
        (WordPrior("wheat", "c1", "for", scale=1.0), "auto"),
        (WordPrior("wheat", "c1", "for", sign=1), "auto"),
        (WordPrior("wheat", "c1", "for", family="laplace"), "auto"),
        (WordPrior("wheat", "c1", "for"), 0.5),
    ],
)
def test_a_file_with_numbers_is_the_prior_of_the_regressions(row, weight):
    texts, labels = coded(5, 40)
    model = TextCategorizer(prior=WordPriors([row]), prior_weight=weight).fit(texts, labels)
    assert "prior file" not in [one["name"] for one in model.choice_["members"]] + model.choice_["left_out"]
    assert model.prior_weight_ is not None
    assert [row.word for row in model.prior_audit_] == ["wheat"]


def test_a_file_of_other_words_and_labels_is_followed_nowhere():
    texts, labels = coded(6, 40)
    with pytest.warns(UserWarning, match="label that the model does not have"):
        model = TextCategorizer(prior=WordPriors([WordPrior("wheat", "other", "for")])).fit(texts, labels)
    assert not model.prior_weight_.any()
    assert model.prior_audit_ == []

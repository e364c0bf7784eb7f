"""Intervals, calibration and numeric priors in automatic training: they add to it, and change nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer, TextVectorizer, WordPriors, load_model, save_model
from textbayes.categorizer.ensemble import Part, merge_linear
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.knowledge import MatchedPriors, WordPrior, match_priors
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.word_sums import NaiveBayesWeights
from textbayes.text import HashingTextVectorizer

WORDS = {"grain": ["wheat", "corn", "harvest", "crop"], "money": ["bank", "rate", "loan", "bond"]}


def texts_and_labels(seed, n_docs, several=False):
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n_docs):
        own = [name for name in WORDS if rng.random() < 0.5] if several else [list(WORDS)[i % 2]]
        words = [*rng.choice(["said", "year", "report", "week"], 4), *(w for o in own for w in rng.choice(WORDS[o], 2))]
        texts.append(" ".join(words))
        labels.append(own if several else own[0])
    return texts, labels


@pytest.mark.parametrize("several", [False, True])
def test_intervals_and_calibration_leave_every_probability_as_it_is(several, tmp_path):
    texts, labels = texts_and_labels(0, 60, several)
    new, _ = texts_and_labels(1, 20, several)
    plain = TextCategorizer(cv=3).fit(texts, labels)
    for changes in ({"intervals": True}, {"calibrate": True}):
        model = TextCategorizer(cv=3, **changes).fit(texts, labels)
        np.testing.assert_array_equal(model.predict_proba(new), plain.predict_proba(new))
        assert model.choice_ == plain.choice_
    model = TextCategorizer(cv=3, intervals=True).fit(texts, labels)
    found = {one.word: one for one in model.word_intervals("grain", None, whole=False)}
    assert found["wheat"].low < found["wheat"].weight < found["wheat"].high
    names, [weights, *_] = model.vectorizer_.get_feature_names_out(), model.model_.word_weights().weights
    assert set(names[weights != 0.0]) <= set(found)
    save_model(model, tmp_path / "m.tb")
    np.testing.assert_array_equal(load_model(tmp_path / "m.tb").standard_errors_, model.standard_errors_)
    more, later = texts_and_labels(2, 20, several)
    before = model.predict_proba(more)
    assert not np.array_equal(model.update(more, later).predict_proba(more), before)
    with pytest.raises(NotSupportedError, match="train --intervals"):
        plain.update(more, later)


def test_errors_of_an_ensemble_are_sums_over_members_and_views():
    rng = np.random.default_rng(0)
    X, Y = rng.random((40, 6)), rng.random((40, 2)) < 0.5
    space = LabelSpace(np.array(["a", "b"]), "multilabel")
    first = BayesLinearClassifier(prior="gaussian", intervals=True).fit(X, Y.astype(int))
    second = BayesLinearClassifier(prior="gaussian", scale=3.0, intervals=True).fit(X[:, 2:5], Y.astype(int))
    computed = NaiveBayesWeights().fit(X, Y)
    weights = np.array([0.5, 2.0]), np.array([-1.0, 0.25]), np.array([1.0, 1.0])
    parts = [Part(first, weights[0]), Part(second, weights[1], np.arange(2, 5)), Part(computed, weights[2])]
    merged = merge_linear(space, make_link("logit"), parts, 6)
    wide = np.zeros((2, 6))
    wide[:, 2:5] = np.abs(weights[1])[:, None] * second.standard_errors_
    np.testing.assert_allclose(merged.standard_errors_, weights[0][:, None] * first.standard_errors_ + wide)
    ends = weights[0] * first.intercept_errors_ + np.abs(weights[1]) * second.intercept_errors_
    np.testing.assert_allclose(merged.intercept_errors_, ends)
    half = merged.scaled(0.5)
    np.testing.assert_allclose(half.standard_errors_, 0.5 * merged.standard_errors_)
    np.testing.assert_allclose(half.intercept_errors_, 0.5 * merged.intercept_errors_)
    without = BayesLinearClassifier(prior="gaussian").fit(X, Y.astype(int))
    assert merge_linear(space, make_link("logit"), [*parts, Part(without, weights[0])], 6).standard_errors_ is None


def test_a_numeric_prior_is_the_prior_of_the_regressions_of_automatic_training():
    texts, labels = texts_and_labels(0, 60)
    table = WordPriors([WordPrior("rye", "grain", mean=6.0, scale=0.1), WordPrior("wheat", "grain", sign=1)])
    plain = TextCategorizer(cv=3).fit(texts, labels)
    told = TextCategorizer(cv=3, prior=table, prior_weight=1.0).fit(texts, labels)
    assert told.choice_ is not None
    assert {one["name"] for one in told.choice_["members"]} <= {one["name"] for one in plain.choice_["members"]}
    column = told.classes_.tolist().index("grain")
    with_word, without = told.predict_proba(["rye said", "said"])[:, column]
    assert with_word > without + 0.1
    assert plain.predict_proba(["rye said"])[0, column] == plain.predict_proba(["said"])[0, column]
    assert told.prior_weight_.tolist() == [1.0]
    rows = {row.word: row for row in told.prior_audit_}
    assert rows["rye"].posterior == pytest.approx(-6.0)  # of two classes the column is that of money
    assert told.prior_advice_[0].why == "as requested"
    ignored = TextCategorizer(cv=3, prior=table, prior_weight=0.0).fit(texts, labels)
    assert ignored.predict_proba(["rye said"])[0, column] == ignored.predict_proba(["said"])[0, column]


def test_a_numeric_prior_that_held_out_texts_contradict_is_not_followed():
    texts, labels = texts_and_labels(0, 80)
    wrong = WordPriors([WordPrior(word, "grain", mean=9.0, scale=0.1) for word in WORDS["money"]])
    model = TextCategorizer(cv=3, prior=wrong).fit(texts, labels)
    assert not model.prior_weight_.any()
    assert model.predict(["bank loan"]).tolist() == ["money"]


def test_a_numeric_prior_that_held_out_texts_support_is_followed():
    """Words that few texts have, told rightly: the members that are held out know them too."""
    rng = np.random.default_rng(0)
    rare = {name: [f"{name}{i}" for i in range(20)] for name in WORDS}
    texts, labels = [], []
    for i in range(60):
        name = list(WORDS)[i % 2]
        texts.append(" ".join([*rng.choice(["said", "year", "report", "week"], 4), rare[name][rng.integers(20)]]))
        labels.append(name)
    table = WordPriors([WordPrior(word, name, mean=4.0, scale=1.0) for name in WORDS for word in rare[name]])
    told, plain = (TextCategorizer(cv=5, prior=prior).fit(texts, labels) for prior in (table, None))
    assert told.prior_weight_.all()
    assert told.held_out_["log_loss"] < plain.held_out_["log_loss"] - 0.1


def test_scales_of_a_table_are_not_multiplied_by_those_of_the_words():
    rng = np.random.default_rng(0)
    X, y = (rng.random((60, 4)) < 0.4).astype(float), rng.random(60) < 0.5
    table = match_priors([WordPrior("a", "x", mean=1.0, scale=1e-4)], list("abcd"), ["x"])
    model = BayesLinearClassifier(prior="gaussian", scale=5.0, word_scales="ratio").with_prior(table, X)
    fitted = model.unfitted(tol=1e-3).fit(X, y)
    assert fitted.coef_[0, 0] == pytest.approx(1.0, abs=1e-3)
    assert abs(fitted.coef_[0, 1]) > 1e-3


def test_tables_of_several_views_stand_side_by_side():
    rows = [WordPrior("b", "x", mean=1.0), WordPrior("c", "y", mean=2.0)]
    blocks = [match_priors(rows, words, ["x", "y"]) for words in (["a", "b"], ["c", "b", "d"])]
    joined = MatchedPriors.side_by_side(blocks)
    assert joined.n_features == 5
    found = sorted(zip(joined.label.tolist(), joined.column.tolist(), joined.mean.tolist(), strict=True))
    assert found == [(0, 1, 1.0), (0, 3, 1.0), (1, 2, 2.0)]


@pytest.mark.parametrize(
    "parameters",
    [{"select": "chi2", "select_k": 5}, {"weighting": "log"}, {"refit_k": 3}, {"vectorizer": HashingTextVectorizer()}],
    ids=lambda parameters: next(iter(parameters)),
)
def test_what_is_of_one_view_is_refused_and_never_swaps_the_algorithm(parameters):
    texts, labels = texts_and_labels(0, 20)
    with pytest.raises(NotSupportedError, match=r"of one view of words.*use preset='linear'"):
        TextCategorizer(cv=2, **parameters).fit(texts, labels)
    assert TextCategorizer(cv=2, preset="linear", **parameters).fit(texts, labels).choice_ is None


def test_words_that_are_given_are_read_in_automatic_training():
    texts, labels = texts_and_labels(0, 40)
    model = TextCategorizer(TextVectorizer(min_df=1), cv=2).fit(texts, labels)
    assert [view["name"] for view in model.choice_["views"]] == ["words"]
    with pytest.raises(InputError, match="which chooses model by itself"):
        model.set_params(model__0__scale=3.0)


def test_a_numeric_prior_goes_with_sentence_vectors(sentence_model):
    texts, labels = texts_and_labels(0, 40)
    table = WordPriors([WordPrior("rye", "grain", mean=6.0, scale=0.1)])
    model = TextCategorizer(cv=2, embeddings=sentence_model(), prior=table, prior_weight=1.0).fit(texts, labels)
    column = model.classes_.tolist().index("grain")
    with_word, without = model.predict_proba(["rye said", "said"])[:, column]
    assert with_word > without

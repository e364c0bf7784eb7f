"""What scikit-learn's users expect of TextCategorizer: grids over its parts, weights, scores, tables in and out."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.class_weight import compute_sample_weight

from textbayes import BayesLinearClassifier, TextCategorizer, TextVectorizer
from textbayes.categorizer.summary import explanations_html
from textbayes.core.errors import InputError, MissingExtraError, NotSupportedError
from textbayes.decide import make_rule
from textbayes.select import scores
from textbayes.text import TermWeighting
from textbayes.tune import BayesLinearClassifierCV

GRAIN = ["wheat and corn prices rise", "corn harvest falls short", "wheat exports to grow", "grain and corn stocks"]
MONEY = ["the bank raises its rates", "central bank cuts rates", "money supply and interest rates", "banks lend money"]
OIL = ["crude oil output falls", "opec oil price rises", "oil tanker delayed at port", "crude prices and opec output"]
TEXTS = (GRAIN + MONEY + OIL) * 3
TOPICS = (["grain"] * 4 + ["money"] * 4 + ["oil"] * 4) * 3
TWO, TWO_TOPICS = (GRAIN + MONEY) * 3, (["grain"] * 4 + ["money"] * 4) * 3
SINGLE = BayesLinearClassifier(prior="gaussian", scale=2.0, tol=1e-9)


@pytest.fixture(scope="module")
def model():
    return TextCategorizer(cv=2, intervals=True).fit(TEXTS, TOPICS)


# -- parameters -------------------------------------------------------------------------------------------------------
def test_a_grid_over_parts_that_are_left_to_their_defaults():
    grid = {"vectorizer__min_df": [1, 4], "model__0__scale": [5.0]}
    search = GridSearchCV(TextCategorizer(cv=2, preset="linear"), grid, cv=2).fit(TEXTS, TOPICS)
    assert search.best_params_ == {"vectorizer__min_df": 1, "model__0__scale": 5.0}
    assert search.best_estimator_.vectorizer.min_df == 1
    assert search.best_estimator_.vectorizer.stemmer == "porter"  # the rest is as in the default


def test_parameters_of_defaults_are_listed_and_changed_by_name():
    untouched = TextCategorizer(preset="linear")
    params = untouched.get_params()
    assert (params["vectorizer__min_df"], params["weighting__scheme"]) == (2, "tfidf1")
    assert (params["model__0__prior"], params["model__1__prior"]) == ("laplace", "gaussian")
    changed = clone(untouched).set_params(
        vectorizer__min_df=1, weighting="log", weighting__norm=None, model__1__scale=3.0, rule="fixed",
        rule__threshold=0.3,
    )  # fmt: skip
    assert changed.get_params()["vectorizer__min_df"] == 1
    assert (changed.weighting.scheme, changed.weighting.norm) == ("log", None)
    assert [member.scale for member in changed.model] == [10.0, 3.0]
    assert changed.rule.threshold == 0.3
    assert clone(changed).get_params()["model__1__scale"] == 3.0
    assert (untouched.vectorizer, untouched.weighting, untouched.model) == (None, None, None)


def test_setting_what_is_set_already_changes_nothing():
    model = TextCategorizer()
    assert model.set_params(**model.get_params()).model is None
    assert (model.vectorizer, model.weighting) == (None, None)
    given = TextCategorizer(model=BayesLinearClassifier(scale=np.array([1.0, 2.0])))
    given.set_params(**(given.get_params() | {"model__tol": 0.5}))
    assert given.model.tol == 0.5
    assert given.model.scale.tolist() == [1.0, 2.0]


def test_a_single_classifier_keeps_its_short_names():
    model = TextCategorizer(model=SINGLE).set_params(model__scale=7.0)
    assert model.get_params()["model__scale"] == 7.0
    with pytest.raises(ValueError, match=r"vectorizer__mindf.*vectorizer__min_df"):
        TextCategorizer(preset="linear").set_params(vectorizer__mindf=3)


def test_automatic_training_lists_no_parameters_of_models_that_it_does_not_fit():
    model = TextCategorizer()
    assert not [name for name in model.get_params() if name.startswith(("model__", "vectorizer__", "weighting__"))]
    for name in ("model__0__scale", "vectorizer__min_df", "weighting__scheme"):
        with pytest.raises(InputError, match="with preset='auto', which chooses"):
            clone(model).set_params(**{name: 1})
    given = clone(model).set_params(vectorizer=TextVectorizer(min_df=3))
    assert given.get_params()["vectorizer__min_df"] == 3
    assert clone(given).set_params(vectorizer__min_df=1).vectorizer.min_df == 1


@pytest.mark.parametrize("parameter", ["intervals", "calibrate"])
def test_a_grid_over_what_adds_to_automatic_training_compares_the_same_model(parameter):
    search = GridSearchCV(TextCategorizer(cv=2), {parameter: [False, True]}, cv=2, scoring="neg_log_loss")
    search.fit(TEXTS, TOPICS)
    first, second = search.cv_results_["mean_test_score"]
    assert first == second
    assert search.best_estimator_.choice_ is not None


def test_a_grid_over_parameters_that_act_compares_different_models():
    grid = {"vectorizer": [None, TextVectorizer(min_df=1, analyzer="char")], "class_weight": [None, "balanced"]}
    search = GridSearchCV(TextCategorizer(cv=2), grid, cv=2, scoring="neg_log_loss").fit(TEXTS, TOPICS)
    scores = np.reshape(search.cv_results_["mean_test_score"], (2, 2))
    assert (scores[:, 0] > scores[:, 1]).all()  # letters say less than words


# -- rules ------------------------------------------------------------------------------------------------------------
def test_rule_strings_mean_in_python_what_they_mean_on_the_command_line(model):
    spec = "fixed:threshold=0.3"
    assert make_rule(spec).threshold == make_rule("fixed", threshold=0.3).threshold == 0.3
    by_name = TextCategorizer(cv=2, rule=spec).fit(TEXTS, TOPICS)
    np.testing.assert_array_equal(by_name.assess(TEXTS).decisions, model.predict_proba(TEXTS) > 0.3)


@pytest.mark.parametrize(
    ("rule", "labels", "message"),
    [
        ("fixed:treshold=0.3", TOPICS, "no parameter 'treshold'"),
        ("fixed:0.3", TOPICS, "is not a setting"),
        ("max_f2", TOPICS, "did you mean 'max_f1'"),
        ("target_recall:recall=3", TOPICS, r"recall=3 must lie in \[0, 1\]"),
        (make_rule("fixed", threshold=[0.3, 0.2]), TOPICS, "one number or 3"),
        ("top_label", TOPICS[:8] * 4 + TOPICS[:4], "use rule 'fixed'"),
    ],
)
def test_a_bad_rule_is_refused_before_anything_is_fitted(rule, labels, message):
    seen = []
    with pytest.raises(InputError, match=message):
        TextCategorizer(rule=rule).fit(TEXTS, labels, progress=lambda *step: seen.append(step))
    assert seen == []


# -- words ------------------------------------------------------------------------------------------------------------
def test_words_and_their_intervals_take_the_same_arguments(model):
    words = model.top_words("grain", 3)
    assert {one.weight for one in model.word_intervals("grain", None)} >= {weight for _, weight in words}
    assert model.word_intervals("grain", k=3) == model.word_intervals("grain", 3, level=0.9)
    frame, intervals = model.top_words("grain", 3, as_frame=True), model.word_intervals("grain", 3, as_frame=True)
    assert frame.columns.tolist() == ["word", "weight"]
    assert list(frame.itertuples(index=False, name=None)) == words
    assert intervals.columns.tolist() == ["word", "weight", "low", "high"]
    assert len(intervals) == len(frame) == 3


def test_frames_without_pandas_are_refused_in_a_sentence(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="a DataFrame needs pandas"):
        model.top_words("grain", 3, as_frame=True)


def test_word_scores_as_a_table():
    vectorizer = TextVectorizer()
    X, Y = vectorizer.fit_transform(TEXTS), np.array([[topic == name for name in ("grain", "oil")] for topic in TOPICS])
    result = scores.get("chi2")(X, Y)
    frame = result.to_frame(vectorizer.get_feature_names_out(), ["grain", "oil"])
    assert len(frame) == result.scores.size
    first = frame.groupby("label").first()
    for k, label in enumerate(("grain", "oil")):
        best = result.scores[k].argmax()
        assert first.loc[label, "word"] == vectorizer.get_feature_names_out()[best]
        assert first.loc[label, "score"] == result.scores[k, best]
        assert first.loc[label, "p_value"] == result.p_values[k, best]
    with pytest.raises(InputError, match="2 labels are named"):
        scores.get("chi2")(X, Y[:, :1]).to_frame(vectorizer.get_feature_names_out(), ["grain", "oil"])


def test_explanations_show_in_notebooks_with_everything_escaped():
    texts = [text.replace("grain", "x").replace("corn", "<script>") for text in TEXTS]
    pattern = TextVectorizer(token_pattern=r"<?\w+>?")
    with pytest.warns(UserWarning, match="Python's re"):
        model = TextCategorizer(pattern, cv=2).fit(texts, [f"<b>{topic}" for topic in TOPICS])
    told = model.explain("<script> prices rise")
    shown = told._repr_html_()
    assert isinstance(told, list)
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "<b>" not in shown
    for part in told[0].contributions:
        assert f"{part.log_odds:+.3f}" in shown


def test_a_fitted_model_shows_its_figures_in_notebooks(model):
    shown = model._repr_html_()
    figures = model.held_out_
    said = re.search(r"Accuracy <strong>([\d.]+)</strong> \(95% interval ([\d.]+) to ([\d.]+)\)", shown)
    expected = [figures["accuracy"], *figures["accuracy_interval"]]
    for one, value in zip(said.groups(), expected, strict=True):
        assert float(one) == pytest.approx(value, abs=0.5001 * 10.0 ** -len(one.partition(".")[2]))
    assert f"{figures['labels']['grain']['f1']:.3f}" in shown
    for name in (*model.classes_, *model.member_names()):
        assert str(name) in shown
    assert model._repr_mimebundle_()["text/html"] == shown
    assert not re.search("<script|https?:|url\\(|<link", shown)


def test_an_unfitted_model_shows_the_diagram_of_scikit_learn(model):
    assert "sk-toggleable" in clone(model)._repr_html_()


@pytest.mark.parametrize("many", [False, True])
def test_hostile_labels_are_shown_in_notebooks_not_obeyed(many):
    bad = "<script>alert('x')</script>\u202e"
    labels = [bad if topic == "grain" else topic for topic in TOPICS]
    model = TextCategorizer(cv=2).fit(TEXTS, [[label] for label in labels] if many else labels)
    shown = model._repr_html_() + model.explain(TEXTS[0])._repr_html_()
    assert "<script" not in shown
    assert "\u202e" not in shown
    assert "&lt;script&gt;alert(&#x27;x&#x27;)" in shown
    assert ("All labels correct" in shown) == many
    assert "micro F1" in shown or not many


def test_the_parts_of_an_explanation_in_notebooks_add_up():
    """Words beyond those listed are one row, so that the rows add up to the sum below them."""
    texts = [
        " ".join(f"word{chr(97 + (i * j) % 26)}" for j in range(40)) + (" corn" if i % 2 else " bank")
        for i in range(12)
    ]
    model = TextCategorizer(preset="linear", cv=2).fit(texts, ["grain" if i % 2 else "money" for i in range(12)])
    (told,) = model.explain(" ".join(texts), ["grain"])
    shown = [float(number) for number in re.findall(r"[+-]\d+\.\d{3}(?=<)", explanations_html([told]))]
    assert len(told.contributions) > len(shown) - 3, "not all are listed"
    *parts, total = shown
    assert sum(parts) == pytest.approx(total, abs=0.02)
    assert total == pytest.approx(told.log_odds, abs=1e-3)


# -- tables of texts --------------------------------------------------------------------------------------------------
def test_a_table_of_one_column_is_that_column(model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "topic": TOPICS})
    expected = model.predict(TEXTS).tolist()
    array = np.array(TEXTS, dtype=object)[:, None]
    for given in (frame["text"], frame[["text"]], array):
        assert model.predict(given).tolist() == expected
    again = clone(model).fit(frame[["text"]], frame["topic"])
    np.testing.assert_array_equal(again.coef_, model.coef_)
    for given in (frame, np.hstack([array, array])):
        for call in (model.predict, lambda texts: TextCategorizer().fit(texts, TOPICS)):
            with pytest.raises(InputError, match=r"a corpus of shape \(36, 2\) was given.*one text column"):
                call(given)


# -- weights ----------------------------------------------------------------------------------------------------------
def test_a_weight_is_a_number_of_copies():
    weight = np.resize([1.0, 2.0, 0.0, 1.0], len(TWO))
    copies = np.repeat(np.arange(len(TWO)), weight.astype(int))
    vectorizer = TextVectorizer(vocabulary=["bank", "corn", "rates", "wheat", "money"])
    kind = {"vectorizer": vectorizer, "weighting": TermWeighting("log"), "model": SINGLE, "rule": "fixed"}
    weighed = TextCategorizer(**kind).fit(TWO, TWO_TOPICS, sample_weight=weight)
    repeated = TextCategorizer(**kind).fit([TWO[i] for i in copies], [TWO_TOPICS[i] for i in copies])
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, atol=1e-6)
    with pytest.raises(InputError, match="fewer than two classes"):
        TextCategorizer().fit(TWO, TWO_TOPICS, sample_weight=[float(topic == "grain") for topic in TWO_TOPICS])
    with pytest.raises(InputError, match="fewer than two classes"):
        TextCategorizer(class_weight={"grain": 0.0}).fit(TWO, TWO_TOPICS)


@pytest.mark.parametrize("class_weight", ["balanced", {"grain": 3.0, "money": 0.5}, {"grain": 2.0}])
def test_class_weights_are_those_of_scikit_learn(class_weight):
    texts, topics = TWO[:9] + GRAIN * 2, TWO_TOPICS[:9] + ["grain"] * 8
    weight = compute_sample_weight(class_weight, topics)
    by_class = TextCategorizer(model=SINGLE, class_weight=class_weight, cv=2).fit(texts, topics)
    by_text = TextCategorizer(model=SINGLE, cv=2).fit(texts, topics, sample_weight=weight)
    np.testing.assert_allclose(by_class.coef_, by_text.coef_, rtol=1e-9)
    X = by_text.weighting_.transform(by_text.vectorizer_.transform(texts))
    alone = clone(SINGLE).set_params(class_weight=class_weight).fit(X, topics)
    np.testing.assert_allclose(alone.coef_, clone(SINGLE).fit(X, topics, sample_weight=weight).coef_, rtol=1e-9)
    np.testing.assert_allclose(alone.coef_, by_class.coef_, atol=1e-6)


def test_a_balanced_search_of_scales_weighs_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = np.array(["no", "yes"])[(X[:, 0] + rng.logistic(size=80) > 1.5).astype(int)]
    weight = compute_sample_weight("balanced", y)
    search = BayesLinearClassifierCV(scales=3, cv=2, tol=1e-9)
    balanced = clone(search).set_params(class_weight="balanced").fit(X, y)
    weighed = clone(search).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(balanced.coef_, weighed.coef_, rtol=1e-6)
    assert balanced.predict_proba(X)[:, 1].mean() > clone(search).fit(X, y).predict_proba(X)[:, 1].mean() + 0.05


@pytest.mark.parametrize(
    ("class_weight", "labels", "error", "message"),
    [
        ("even", TOPICS, InputError, "'balanced' or"),
        ({"grain": -1.0}, TOPICS, InputError, "from 0 on"),
        ({"corn": 2.0}, TOPICS, InputError, "'corn', which is not among the classes 'grain'"),
        ("balanced", [[topic] for topic in TOPICS], NotSupportedError, "one label per document"),
    ],
)
def test_class_weights_that_make_no_sense(class_weight, labels, error, message):
    with pytest.raises(error, match=message):
        TextCategorizer(class_weight=class_weight).fit(TEXTS, labels)


def test_the_weight_of_a_class_belongs_to_the_categorizer():
    member = BayesLinearClassifier(class_weight="balanced")
    with pytest.raises(InputError, match="give it to the TextCategorizer"):
        TextCategorizer(model=member).fit(TEXTS, TOPICS)


def test_the_weights_of_classes_survive_a_model_file():
    numbers = [len(topic) for topic in TWO_TOPICS]  # both are 5
    model = TextCategorizer(class_weight={0: 2.0, 1: 0.5}, cv=2)
    model.fit(TWO, [number % 2 if i % 8 < 4 else 0 for i, number in enumerate(numbers)])
    assert TextCategorizer.from_state(*model.to_state()).class_weight == {0: 2.0, 1: 0.5}


# -- scores -----------------------------------------------------------------------------------------------------------
def test_decision_function_has_scikit_learns_shapes_and_order(model):
    scores = model.decision_function(TEXTS)
    assert scores.shape == (36, 3)
    assert model.classes_[scores.argmax(axis=1)].tolist() == model.predict(TEXTS).tolist()
    two = TextCategorizer(cv=2).fit(TWO, TWO_TOPICS)
    p = two.predict_proba(TWO)[:, 1]
    assert two.decision_function(TWO).shape == (24,)
    np.testing.assert_allclose(two.decision_function(TWO), np.log(p / (1 - p)), rtol=1e-9)
    scored = cross_val_score(TextCategorizer(cv=2), TWO, TWO_TOPICS, scoring="roc_auc", cv=2, error_score="raise")
    assert scored.tolist() == [1.0, 1.0]

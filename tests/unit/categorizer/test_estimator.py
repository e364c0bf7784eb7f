"""TextCategorizer: kinds of labels, held-out thresholds, reasons that add up, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier, TextCategorizer, TextVectorizer
from textbayes.core.errors import InputError

GRAIN = ["wheat and corn prices rise", "corn harvest falls short", "wheat exports to grow", "grain and corn stocks"]
MONEY = ["the bank raises its rates", "central bank cuts rates", "money supply and interest rates", "banks lend money"]
OIL = ["crude oil output falls", "opec oil price rises", "oil tanker delayed at port", "crude prices and opec output"]
TEXTS = (GRAIN + MONEY + OIL) * 4
TOPICS = (["grain"] * 4 + ["money"] * 4 + ["oil"] * 4) * 4


def many_labels():
    """Two topics where texts are joined, and texts without any."""
    texts = [*TEXTS, *[f"{a} {b}" for a, b in zip(GRAIN, OIL, strict=True)] * 3, "hello there", "nothing to see"]
    labels = [*[[topic] for topic in TOPICS], *[["grain", "oil"]] * 12, [], []]
    return texts, labels


@pytest.fixture(scope="module")
def multiclass():
    return TextCategorizer().fit(TEXTS, TOPICS)


@pytest.fixture(scope="module")
def multilabel():
    return TextCategorizer().fit(*many_labels())


def test_one_label_per_text(multiclass):
    assert multiclass.predict(["corn and wheat", "bank rates", "opec crude"]).tolist() == ["grain", "money", "oil"]
    proba = multiclass.predict_proba(["corn and wheat"])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert multiclass.label_space_.kind == "multiclass"


def test_two_classes():
    model = TextCategorizer().fit(TEXTS[:8] * 3, TOPICS[:8] * 3)
    assert model.predict(["corn", "bank rates"]).tolist() == ["grain", "money"]
    assert model.predict_proba(["corn"]).shape == (1, 2)
    assert model.predict_labels(["corn"]) == [("grain",)]


def test_many_labels_or_none(multilabel):
    found = multilabel.predict_labels(["corn harvest and crude oil from opec", "bank rates", "completely different"])
    assert found == [("grain", "oil"), ("money",), ()]
    assert multilabel.predict(["bank rates"]).tolist() == [[0, 1, 0]]


def test_indicator_matrix_equals_lists():
    texts, named = many_labels()
    codes = {"grain": "C1", "money": "C2", "oil": "C3"}  # a matrix has no names, which would say something
    labels = [[codes[name] for name in row] for row in named]
    matrix = np.array([[name in row for name in codes.values()] for row in labels])
    by_lists = TextCategorizer().fit(texts, labels).predict_proba(TEXTS[:5])
    for given in (matrix, sparse.csr_matrix(matrix)):
        np.testing.assert_array_equal(TextCategorizer().fit(texts, given).predict_proba(TEXTS[:5]), by_lists)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_reasons_add_up_to_the_probability(link):
    classifier = BayesLinearClassifier(link=link, prior="gaussian", scale=3.0)
    model = TextCategorizer(model=classifier).fit(TEXTS[:8] * 3, TOPICS[:8] * 3)
    text = "corn prices and bank rates rise"
    (reason,) = model.explain(text, labels=["money"])
    total = reason.base + sum(part.log_odds for part in reason.contributions)
    assert total == pytest.approx(reason.log_odds, rel=1e-9)
    probability = model.predict_proba([text])[0, 1]
    assert reason.probability == probability
    assert np.log(probability / (1 - probability)) == pytest.approx(reason.log_odds, rel=1e-6)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_log_odds_of_exclusive_classes_belong_to_their_probability(link):
    """Each class has a regression of its own, whose log-odds are not those of the probabilities that add up to one."""
    classifier = BayesLinearClassifier(link=link, prior="gaussian", scale=3.0)
    model = TextCategorizer(model=classifier).fit(TEXTS * 3, TOPICS * 3)
    text = "corn prices and bank rates rise"
    proba = dict(zip(model.classes_.tolist(), model.predict_proba([text])[0].tolist(), strict=True))
    own = model.decision_function([text])[0]
    for reason in model.explain(text, labels=list(proba)):
        total = reason.base + sum(part.log_odds for part in reason.contributions)
        p = proba[reason.label]
        assert total == pytest.approx(reason.log_odds, rel=1e-9)
        assert reason.log_odds == pytest.approx(np.log(p / (1.0 - p)), rel=1e-9)
        assert abs(reason.log_odds - own[list(proba).index(reason.label)]) > 1e-3
        assert {rival.label: rival.probability for rival in reason.rivals} == pytest.approx(
            {label: p for label, p in proba.items() if label != reason.label}
        )


def test_reasons_are_the_labels_decided_on(multilabel):
    reasons = multilabel.explain("corn harvest and crude oil from opec", top=2)
    assert {reason.label for reason in reasons} == {"grain", "oil"}
    assert all(reason.decision and len(reason.contributions) <= 2 for reason in reasons)
    # No label decided on: the likeliest is explained, and said not to be decided on.
    (reason,) = multilabel.explain("completely different")
    assert not reason.decision


def test_words_of_a_label(multiclass):
    words = {row.word: row.weight for row in multiclass.label_words("grain", 5)}
    assert max(words, key=words.get) == "corn"
    with pytest.raises(InputError, match="choose one of grain, money, oil"):
        multiclass.top_words("sport")


def test_words_chosen_per_label():
    model = TextCategorizer(preset="linear", select="likelihood_ratio", select_k=2).fit(TEXTS, TOPICS)
    assert (np.count_nonzero(model.coef_, axis=1) <= 2).all()


def test_thresholds_do_not_see_their_own_texts():
    """Labels drawn at random: thresholds tuned on seen texts would find them predictable."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(300)]
    texts = [" ".join(rng.choice(words, 30)) for _ in range(120)]
    Y = rng.random((120, 2)) < 0.3
    model = TextCategorizer(vectorizer=TextVectorizer()).fit(texts, Y)
    seen = model.predict_proba(texts)
    # A pool fitted to held-out texts trusts such models little: probabilities stay near the base rate.
    assert np.abs(seen - Y.mean(axis=0)).max() < 0.35


def test_label_with_one_text():
    texts, labels = many_labels()
    labels = [*labels[:-1], ["rare"]]
    model = TextCategorizer().fit(texts, labels)
    assert model.predict_proba(["nothing to see"]).shape == (1, 4)
    assert np.isfinite(model.coef_).all()


def test_same_result_every_time(multilabel):
    again = TextCategorizer(n_jobs=2).fit(*many_labels())
    np.testing.assert_array_equal(again.coef_, multilabel.coef_)


def test_progress_is_reported():
    seen = []
    TextCategorizer(cv=2).fit(TEXTS, TOPICS, progress=lambda *step: seen.append(step))
    steps = [done for what, done, _ in seen if what == "cross-validation"]
    (total,) = {total for what, _, total in seen if what == "cross-validation"}
    assert sorted(set(steps)) == list(range(total + 1))
    assert steps == sorted(steps)
    assert seen[-1] == ("fitting all texts", seen[-1][2], seen[-1][2])


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ([], [], "no "),
        ("one text", ["a"], "wrap one text in a list"),
        (None, ["a"], "texts is None"),
        (["a b", "c d"], ["x", "y", "x"], "differ in length: 2 and 3"),
        (["a b", "c d"], ["x", "x"], "only one class, 'x'"),
        (["a b", "c d"], None, "labels are given as NoneType"),
        (["a b", "c d"], {"x": 1}, "labels are given as dict"),
        (["a b", "c d"], ["x", float("nan")], "NaN"),
        (["a b", "c d"], ["1", 1], r"mix types \(number, str\)"),
        (["a b", "c d"], [b"x", b"y"], "labels of type bytes"),
        (["a b", "c d"], [["x"], None], "None"),
        (["a b", "c d"], np.zeros((2, 0)), "shape"),
        (["a b", "c d"], [[], []], "no document carries a label"),
        (["a b", "c d"], ["x", None], "None"),
        (["a b", "c d"], [1.0, float("nan")], "NaN"),
        (["...", ""], ["x", "y"], "hold no term"),
        ([b"bytes", "text"], ["x", "y"], "bytes"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(texts, labels, message):
    with pytest.raises(InputError, match=message):
        TextCategorizer().fit(texts, labels)


def test_unknown_choices_are_refused():
    for params, message in (
        ({"rule": "max_f2"}, "unknown decision rule 'max_f2'.*did you mean 'max_f1'"),
        ({"preset": "linear", "weighting": "bm25"}, "bm25"),
        ({"preset": "linear", "select": "chi3"}, "unknown score function 'chi3'.*did you mean 'chi2'"),
        ({"model": BayesLinearClassifier(link="cauchit")}, "unknown link 'cauchit'"),
        ({"model": "linaer"}, "unknown model 'linaer'.*did you mean 'linear'"),
        ({"model": "linear:depth=3"}, "model 'linear' has no parameter 'depth'; it has: link, prior"),
    ):
        with pytest.raises(InputError, match=message):
            TextCategorizer(**params).fit(TEXTS, TOPICS)


def test_either_of_two_classes_can_be_explained():
    model = TextCategorizer().fit(TEXTS[:8] * 3, TOPICS[:8] * 3)
    (grain,), (money,) = (model.explain("corn prices", labels=[label]) for label in ("grain", "money"))
    assert grain.probability + money.probability == pytest.approx(1.0)
    assert (grain.decision, money.decision) == (True, False)
    assert grain.log_odds == -money.log_odds
    assert dict(model.top_words("grain", None)) == {word: -weight for word, weight in model.top_words("money", None)}
    for label in ("grain", "money"):
        weights = [weight for _, weight in model.top_words(label, None)]
        positive = [weight for weight in weights if weight > 0.0]
        assert weights[: len(positive)] == sorted(positive, reverse=True), "the strongest evidence for the label first"
        assert weights[len(positive) :] == sorted(weights[len(positive) :]), "then the strongest against it"
        assert model.top_words(label, n=2) == model.top_words(label, None)[:2]
        assert len(model.top_words(label)) <= 10
    assert model.explain("corn prices")[0].label == "grain"


def test_held_out_figures_are_those_of_texts_not_seen(multilabel):
    assert set(multilabel.held_out_["labels"]) == {str(name) for name in multilabel.classes_}
    assert multilabel.held_out_["log_loss_per"] == "decision"
    texts, labels = many_labels()
    rng = np.random.default_rng(0)
    shuffled = [labels[i] for i in rng.permutation(len(labels))]
    assert TextCategorizer().fit(texts, shuffled).held_out_["log_loss"] > 3 * multilabel.held_out_["log_loss"]


@pytest.mark.parametrize("rule", ["max_f1", "fixed", "target_recall"])
def test_single_label_prediction_follows_the_probabilities_within_what_the_rule_favours(rule):
    rng = np.random.default_rng(0)
    words = [f"word{letter}" for letter in "abcdefghij"]
    topics = np.arange(120) % 4
    texts = [" ".join(words[t] if rng.random() < 0.3 else rng.choice(words) for _ in range(6)) for t in topics]
    model = TextCategorizer(rule=rule, cv=3).fit(texts, topics)
    proba, decisions = model.assess(texts)
    chosen = model.predict(texts)
    for row, yes, label in zip(proba, decisions, chosen, strict=True):
        allowed = np.flatnonzero(yes) if yes.any() else np.arange(4)
        assert label == allowed[row[allowed].argmax()]


def test_no_texts_no_results(multiclass, multilabel):
    assert multiclass.predict([]).tolist() == []
    assert multilabel.predict_labels([]) == []
    assert multilabel.predict_proba([]).shape == (0, 3)


def test_two_texts_are_enough():
    model = TextCategorizer(vectorizer=TextVectorizer()).fit(["corn wheat", "bank rates"], ["grain", "money"])
    assert model.predict(["corn wheat", "bank rates"]).tolist() == ["grain", "money"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cv": 2.5}, "cv=2.5 is not usable"),
        ({"cv": 1}, "cv=1 is not usable"),
        ({"select_k": 5}, "name it with select"),
        ({"model": 3}, "a int is no model that TextCategorizer knows"),
        ({"model": []}, "pass a model, its name, or a list"),
        ({"vectorizer": "words"}, "pass a textbayes TextVectorizer"),
        ({"n_jobs": 0}, "n_jobs=0 is not usable"),
        ({"model": BayesLinearClassifier(tol=float("nan"))}, "tol=nan is not usable"),
        ({"model": BayesLinearClassifier(max_iter=0)}, "max_iter=0 is not usable"),
    ],
)
def test_settings_that_make_no_sense(params, message):
    with pytest.raises(InputError, match=message):
        TextCategorizer(**params).fit(TEXTS, TOPICS)


def test_a_label_as_one_string_and_a_number_of_words(multiclass):
    assert multiclass.explain("corn", labels="grain")[0].label == "grain"
    for call in (lambda: multiclass.explain("corn", top=0), lambda: multiclass.top_words("grain", -1)):
        with pytest.raises(InputError, match="words were asked for"):
            call()

"""Trainings on so many texts that some folds are held out and the others only learnt from."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer, load_model, save_model
from textbayes.categorizer import plan
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.member_scores import Setting, cross_fitted, parts_of
from textbayes.categorizer.plan import Plan
from textbayes.categorizer.stackers import LabelWeights
from textbayes.categorizer.stacking import fit_stacking
from textbayes.categorizer.summary import describe_choice
from textbayes.core.folds import stratified_folds
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.evaluate import contingency, f_measure
from textbayes.report import collect_report
from textbayes.report.wording import folds_in_words

N_TEXTS = 400
WORDS = {"grain": "wheat corn harvest farm", "money": "bank rate loan credit", "oil": "crude barrel opec rig"}


def drawn(kind: str) -> tuple[list[str], list]:
    rng, names = np.random.default_rng(3), list(WORDS)
    texts, labels = [], []
    for i in range(N_TEXTS):
        own = [name for name in names if rng.random() < 0.4] if kind == "multilabel" else [names[i % 3]]
        said = [
            *rng.choice(["the", "week", "said", "news", "rose"], 6),
            *(w for n in own for w in WORDS[n].split()[:2]),
        ]
        texts.append(" ".join(said))
        labels.append(own)
    if kind == "binary":
        return texts, ["grain" if own == ["grain"] else "other" for own in labels]
    return texts, labels if kind == "multilabel" else [own[0] for own in labels]


@pytest.fixture(scope="module", params=["binary", "multiclass", "multilabel"])
def fitted(request):
    texts, labels = drawn(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plan._ENOUGH_HELD_OUT, "normal", N_TEXTS // 3)
        return TextCategorizer(cv=5).fit(texts, labels), texts, labels


def test_two_of_five_folds_are_answered_and_all_texts_learnt(fitted):
    model, _, labels = fitted
    indicator, _ = encode_labels(labels)
    expected = stratified_folds(indicator, 5, 0) < 2
    np.testing.assert_array_equal(~np.isnan(model.held_out_proba_).any(axis=1), expected)
    assert model.choice_["n_held_out"] == expected.sum()
    assert model.choice_["n_folds"] == 5
    assert model.label_counts_.sum() == sum(len(one) if isinstance(one, list) else 1 for one in labels)
    n_judged = sum(row["support"] for row in model.held_out_["labels"].values())
    # Of two classes, which have one column, each text is judged as one of them.
    assert n_judged == (expected.sum() if model.label_space_.kind == "binary" else indicator[expected].sum())
    assert np.mean([row["f1"] for row in model.held_out_["labels"].values()]) > 0.95  # thresholds were found


def test_fewer_held_out_texts_decide_alike(fitted):
    model, texts, labels = fitted
    everything = TextCategorizer(cv=5).fit(texts, labels)
    assert not np.isnan(everything.held_out_proba_).any()
    np.testing.assert_allclose(model.predict_proba(texts), everything.predict_proba(texts), atol=0.1)


def test_it_is_told_wherever_the_cross_validation_is(fitted, tmp_path):
    model, texts, labels = fitted
    n = model.choice_["n_held_out"]
    assert f"{n} of the texts were held out to measure this." in describe_choice(model.choice_)
    assert folds_in_words(model) == f"5 folds, {n} of {N_TEXTS} texts held out"
    data = collect_report(model, texts, labels, cross_validated=True)
    assert dict(data.facts)["Texts"] == str(n)
    assert data.measures["micro_f1"] == pytest.approx(model.held_out_["micro_f1"])
    save_model(model, tmp_path / "m.tb")
    assert folds_in_words(load_model(tmp_path / "m.tb")) == folds_in_words(model)


def test_all_texts_held_out_need_no_saying(fitted):
    _, texts, labels = fitted
    model = TextCategorizer(cv=3).fit(texts, labels)
    assert folds_in_words(model) == "3 folds"
    assert "held out to measure" not in describe_choice(model.choice_)


def test_a_pool_is_fitted_to_held_out_texts_alone():
    rng = np.random.default_rng(0)
    space = LabelSpace(np.arange(3), "multilabel")
    indicator, fold, weight = rng.random((200, 3)) < 0.3, rng.integers(-1, 3, 200), rng.random(200)
    held, rows = HeldOut.of(indicator, fold, weight, space), fold >= 0
    scores = rng.normal(size=(2, 200, 3)) + 2.0 * indicator
    stacker = LabelWeights(space)
    found = stacker.fit(scores[:, rows], held)
    expected = fit_stacking(scores[:, rows], indicator[rows], space, weight=weight[rows])
    np.testing.assert_array_equal(found.weights, expected.weights)
    log_odds = found.scores(scores[:, rows])
    by_hand = np.logaddexp(0.0, np.where(indicator[rows], -log_odds, log_odds)).mean()
    proba = stacker.probabilities(scores[:, rows], found)
    assert held.log_loss(proba) == pytest.approx(by_hand)
    first = held.fold == 0
    assert held.of_rows(first).log_loss(proba[first]) == pytest.approx(
        np.logaddexp(0.0, np.where(held.indicator[first], -log_odds[first], log_odds[first])).mean()
    )


def test_labels_that_no_held_out_text_has_are_untested():
    indicator = np.zeros((10, 2), dtype=bool)
    indicator[[0, 1, 2], 0] = True
    indicator[[8, 9], 1] = True
    fold = np.array([0, 1, 0, 1, 0, 1, 0, 1, -1, -1])
    held = HeldOut.of(indicator, fold, None, LabelSpace(np.arange(2), "multilabel"))
    assert held.untested().tolist() == [False, True]


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_weights_are_judged_on_texts_that_they_were_not_fitted_to(kind):
    """Members of noise: weights fitted to the same texts beat the frequencies of the labels; others do not."""
    rng, n, n_columns = np.random.default_rng(8), 120, {"binary": 1}.get(kind, 3)
    Y = np.eye(3, dtype=bool)[rng.integers(0, 3, n)] if kind == "multiclass" else rng.random((n, n_columns)) < 0.5
    classes = np.array(["a", "b"] if kind == "binary" else ["a", "b", "c"], dtype=object)
    space = LabelSpace(classes, kind)
    held = HeldOut.of(Y, np.arange(n) % 20, None, space)
    at, part = Setting(Plan([], LabelWeights(space)), None, held), parts_of(held)
    scores, share = 2.0 * rng.normal(size=(6, n, n_columns)), np.full(6, 1 / 6)
    judged = cross_fitted(at, scores, part, share)
    stacker = at.plan.stacker
    same = stacker.probabilities(scores, stacker.fit(scores, held, share))
    chance = -np.log(1 / 3 if kind == "multiclass" else 1 / 2)
    assert held.log_loss(same) < held.log_loss(judged)
    assert held.log_loss(judged) > chance
    # What is said of a part does not hang on the labels of its texts.
    rows = part == 3
    other = held.indicator.copy()
    other[rows] = other[rows][:, ::-1] if kind == "multiclass" else ~other[rows]
    changed = at._replace(held=HeldOut.of(other, held.fold, None, space))
    np.testing.assert_array_equal(cross_fitted(changed, scores, part, share)[rows], judged[rows])


def test_copies_of_texts_do_not_make_intervals_narrower():
    rng = np.random.default_rng(1)
    texts, labels = drawn("binary")
    few = [int(i) for i in rng.permutation(len(texts))[:60]]
    once = ([f"{texts[i]} number{i}" for i in few], ["grain" if rng.random() < 0.2 else labels[i] for i in few])
    twice = [one for one in once[0] for _ in range(2)], [one for one in once[1] for _ in range(2)]
    widths = [
        np.diff(TextCategorizer(budget="quick").fit(*data).held_out_["accuracy_interval"]) for data in (once, twice)
    ]
    assert widths[1] > 0.9 * widths[0]


def test_thresholds_are_judged_on_texts_that_they_were_not_chosen_on():
    """Labels of noise: thresholds that find the best F1 of the same texts flatter themselves."""
    rng, words = np.random.default_rng(5), " ".join(WORDS.values()).split()
    texts = [" ".join(rng.choice(words, 8)) for _ in range(150)]
    labels = [[name for name in ("x", "y", "z") if rng.random() < 0.3] for _ in texts]
    model = TextCategorizer(preset="linear", rule="max_f1").fit(texts, labels)
    indicator, _ = encode_labels(labels)
    flattering = f_measure(contingency(indicator, model.rule_.decide(model.held_out_proba_)), "macro")
    assert model.held_out_["macro_f1"] < flattering
    honest = f_measure(contingency(indicator, model.held_out_decisions_), "macro")
    assert model.held_out_["macro_f1"] == pytest.approx(float(honest))

"""Named models weighed label by label, or one of them for each label."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from textbayes import TextCategorizer, store
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.stackers import LabelWeights
from textbayes.categorizer.stacking import Stack
from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.models.linear.classifier import BayesLinearClassifier

MODELS = ["linear:prior=gaussian,scale=1", "counts:model=multinomial"]


def two_members(n=600):
    """Scores of two members, of which each knows one label and says nothing of the other."""
    random = np.random.default_rng(0)
    truth = random.random((n, 2)) < 0.3
    signal = np.where(truth, 1.0, -0.5) + random.normal(size=(n, 2))
    noise = random.normal(size=(n, 2))
    scores = np.array([[signal[:, 0], noise[:, 1]], [noise[:, 0], signal[:, 1]]]).transpose(0, 2, 1)
    space = LabelSpace(np.array(["a", "b"], dtype=object), "multilabel")
    return scores, truth, HeldOut(truth, np.ones_like(truth), np.arange(n) % 5, None, space)


def test_the_best_member_of_each_label_is_taken_and_calibrated():
    scores, truth, held = two_members()
    stacker = LabelWeights(held.space, best=True)
    stack = stacker.fit(scores, held)
    assert (stack.weights > 0.0).tolist() == [[True, False], [False, True]]
    for label in range(2):  # its weight and bias are near those of a regression of the label on its score
        fitted = BayesLinearClassifier(prior="gaussian", scale=10.0).fit(scores[label][:, [label]], truth[:, label])
        own = fitted.predict_proba(scores[label][:, [label]])[:, 1]
        found = stacker.probabilities(scores, stack)[:, label]
        np.testing.assert_allclose(found, own, atol=0.03)


@pytest.mark.parametrize("pool", ["label", "best"])
def test_such_a_pool_is_saved_explained_and_searched(corpus_of_two, pool, tmp_path):
    texts, labels = corpus_of_two
    model = TextCategorizer(model=MODELS, pool=pool, cv=3).fit(texts, labels)
    proba = model.predict_proba(texts)
    store.save_model(model, tmp_path / "model.tb")
    again = store.load_model(tmp_path / "model.tb")
    np.testing.assert_allclose(again.predict_proba(texts), proba, atol=1e-12)
    assert again.get_params()["pool"] == pool
    np.testing.assert_array_equal(again.label_pool_, model.label_pool_)
    np.testing.assert_array_equal(again.pool_, model.label_pool_.mean(axis=1))
    assert [list(found) for found in model.predict_labels(texts)].count(["grain"]) > 10
    assert np.mean([set(a) == set(b) for a, b in zip(model.predict_labels(texts), labels, strict=True)]) > 0.9
    if pool == "best":
        weights = np.array([part.weight for part in model.model_.parts])
        assert ((weights != 0.0).sum(axis=0) <= 2).all()  # the merged linear part holds the biases
    for column, one in enumerate(sorted(model.explain(texts[0], ["grain", "money"]), key=lambda one: one.label)):
        assert one.base + sum(part.log_odds for part in one.contributions) == pytest.approx(one.log_odds, abs=1e-6)
        assert special.expit(one.log_odds) == pytest.approx(proba[0, column], abs=1e-9)


@pytest.fixture
def corpus_of_two():
    random = np.random.default_rng(1)
    words = {"grain": ["wheat", "corn", "barley"], "money": ["bank", "rate", "loan"]}
    texts, labels = [], []
    for _ in range(90):
        own = [name for name in words if random.random() < 0.5]
        drawn = [str(word) for name in own for word in random.choice(words[name], 3)]
        texts.append(" ".join([*drawn, *map(str, random.choice(["the", "of", "year", "said"], 5))]))
        labels.append(own)
    return texts, labels


def test_a_member_that_is_turned_round_can_be_saved(corpus_of_two, monkeypatch, tmp_path):
    def turned(self, scores, held, expected=None):
        return Stack(-np.ones((len(scores), 2)), np.zeros(2))

    monkeypatch.setattr(LabelWeights, "fit", turned)
    model = TextCategorizer(model=MODELS, pool="label", cv=3).fit(*corpus_of_two)
    store.save_model(model, tmp_path / "model.tb")
    assert (store.load_model(tmp_path / "model.tb").pool_ == -1.0).all()


def test_weights_of_other_labels_are_refused(corpus_of_two):
    model = TextCategorizer(model=MODELS, pool="label", cv=3).fit(*corpus_of_two)
    meta, arrays = model.to_state()
    for wrong in (arrays["pool"][:, :1], arrays["pool"][None], arrays["pool"][:1]):
        with pytest.raises(ModelFileError, match="was the file altered"):
            TextCategorizer.from_state(meta, arrays | {"pool": wrong})
    shared = meta | {"settings": meta["settings"] | {"pool": "shared"}}
    with pytest.raises(ModelFileError, match="not of its labels"):
        TextCategorizer.from_state(shared, arrays)
    older = TextCategorizer.from_state(meta, arrays | {"pool": arrays["pool"].mean(axis=1)})
    assert older.label_pool_ is None


def test_what_cannot_be_is_refused():
    texts, classes = ["wheat corn", "bank rate", "oil rig"] * 10, ["g", "m", "o"] * 10
    with pytest.raises(NotSupportedError, match="use pool='label'"):
        TextCategorizer(model=MODELS, pool="best", cv=2).fit(texts, classes)
    assert TextCategorizer(model=MODELS, pool="label", cv=2).fit(texts, classes).score(texts, classes) == 1.0
    for model in ("svm", ["svm"], None):
        with pytest.raises(InputError, match="several models that are named"):
            TextCategorizer(model=model, pool="label").fit(texts, classes)
    sampled = [BayesLinearClassifier(inference="gibbs"), "counts"]
    with pytest.raises(NotSupportedError, match="take another inference"):
        TextCategorizer(model=sampled, pool="label").fit(texts, classes)
    with pytest.raises(ValueError, match="pool"):
        TextCategorizer(pool="worst").fit(texts, classes)

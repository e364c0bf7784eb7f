"""A flatter softmax for some of the probability: what it computes, what it finds, and that it changes nothing else."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import special

from textbayes import TextCategorizer, load_corpus, load_model, save_model
from textbayes.categorizer.auto.flatten import fit_flat_share, flattened
from textbayes.categorizer.auto.story import describe_choice
from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.kinds.multinomial import FittedMultinomial, FlatShare, MultinomialKind

STORIES = load_corpus("bbc").train
TOPICS = sorted(set(STORIES.targets))


def test_scores_are_those_of_the_mixture():
    scores = np.random.default_rng(0).normal(0, 4, (50, 6))
    mixed = 0.8 * special.softmax(1.5 * scores, axis=1) + 0.2 * special.softmax(0.3 * scores, axis=1)
    found = FlatShare(0.2, 1.5, 0.3).scores(scores)
    np.testing.assert_allclose(special.softmax(found, axis=1), mixed, rtol=1e-12)
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))
    shifted = FlatShare(0.2, 1.5, 0.3).scores(scores + 50.0)
    np.testing.assert_allclose(special.softmax(shifted, axis=1), mixed, rtol=1e-10)


def test_scores_far_out_are_numbers():
    found = FlatShare(0.05, 2.0, 0.4).scores(np.array([[1e4, 0.0, -1e4], [0.0, 0.0, 0.0]]))
    proba = special.softmax(found, axis=1)
    np.testing.assert_allclose(proba, [[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-12)


def drawn(truth: FlatShare, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of texts, and classes drawn with the probabilities that belong to them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 4, (n, 8))
    proba = special.softmax(truth.scores(scores), axis=1)
    return scores, np.eye(8, dtype=bool)[(proba.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)]


@pytest.mark.parametrize("truth", [FlatShare(0.15, 1.5, 0.3), FlatShare(0.3, 0.7, 0.28)])
def test_what_texts_were_drawn_with_is_found(truth):
    scores, right = drawn(truth, 40_000, 1)
    assert tuple(fit_flat_share(scores, right, np.ones(len(scores)))) == pytest.approx(tuple(truth), rel=0.15)


def test_texts_that_do_not_count_have_no_say():
    scores, right = drawn(FlatShare(0.3, 1.2, 0.3), 4_000, 2)
    weight = np.repeat([1.0, 0.0], 2_000)
    right[2_000:] = right[2_000:][::-1]
    some = fit_flat_share(scores[:2_000], right[:2_000], np.ones(2_000))
    assert tuple(fit_flat_share(scores, right, weight)) == pytest.approx(tuple(some), rel=1e-3)


@pytest.mark.parametrize(("share", "kept"), [(0.3, True), (1e-9, False)])
def test_a_share_is_kept_where_the_other_folds_agree(share, kept):
    """Where one softmax is right of all texts another says nothing more; nor where no text counts."""
    scores, right = drawn(FlatShare(share, 1.0, 0.2), 3_000, 3)
    space = LabelSpace(np.array([f"c{k}" for k in range(8)]), "multiclass")
    model = FittedMultinomial(space, coef=np.eye(8), intercept=np.zeros(8))

    def loss(after: np.ndarray) -> float:
        return float(-special.log_softmax(after, axis=1)[right].mean())

    fold = np.arange(len(scores)) % 5
    found, after = flattened(model, scores, right, np.ones(len(scores)), fold, loss)
    assert (found.flat is not None) == kept
    assert (loss(after) < loss(scores)) == kept
    np.testing.assert_array_equal(found.coef, model.coef)
    unknown = flattened(model, scores, right, np.zeros(len(scores)), fold, lambda _: float("nan"))
    assert unknown[0] is model


@pytest.fixture(scope="module")
def odd():
    """Stories of which one in eight has a topic drawn at random, and the automatic model of them."""
    rng = np.random.default_rng(2)
    labels = [str(rng.choice(TOPICS)) if rng.random() < 0.12 else str(one) for one in STORIES.targets]
    return TextCategorizer(budget="quick").fit(STORIES.texts, labels)


def test_odd_texts_make_a_share_and_a_paragraph(odd):
    assert odd.model_.flat is not None
    assert odd.model_.flat.is_sound
    assert 0.02 < odd.model_.flat.share < 0.6
    assert odd.choice_["flat_share"] == odd.model_.flat.share
    assert odd.choice_["n_folds"] == 3
    assert "shared out more evenly" in describe_choice(odd.choice_)


def test_explanations_add_up(odd):
    text = STORIES.texts[3]
    proba = odd.predict_proba([text])[0]
    for told in odd.explain(text, TOPICS, top=None):
        assert told.probability == pytest.approx(proba[TOPICS.index(told.label)])
        assert special.expit(told.log_odds) == pytest.approx(told.probability)
        total = told.base + sum(part.log_odds for part in told.contributions)
        assert total == pytest.approx(told.log_odds, abs=1e-9)


def test_the_base_is_that_of_no_words_and_words_say_about_as_much(odd):
    plain = copy.copy(odd)
    plain.model_ = copy.copy(odd.model_)
    plain.model_.flat = None
    text = STORIES.texts[int(odd.predict_proba(STORIES.texts[:50]).max(axis=1).argmax())]
    (flat,), (steep,) = odd.explain(text, top=None), plain.explain(text, top=None)
    nothing = odd.predict_proba([""])[0, TOPICS.index(flat.label)]
    assert flat.base == pytest.approx(special.logit(nothing))
    before = {part.word: part.log_odds for part in steep.contributions}
    assert all(0.3 < part.log_odds / before[part.word] < 3.0 for part in flat.contributions[:10])


def test_a_saved_model_is_the_model(odd, tmp_path):
    save_model(odd, tmp_path / "odd.tb")
    again = load_model(tmp_path / "odd.tb")
    assert again.model_.flat == odd.model_.flat
    np.testing.assert_array_equal(again.predict_proba(STORIES.texts[:20]), odd.predict_proba(STORIES.texts[:20]))


@pytest.mark.parametrize(
    "flat", [[0.1], [0.1, 1.0, 1.0], [0.0, 1.0, 0.5], ["0.1", 1.0, 0.5], {"share": 0.1}, [0.1, 1.0, float("nan")]]
)
def test_altered_files_are_refused(odd, flat):
    meta, arrays = odd.model_.to_state()
    with pytest.raises(ModelFileError, match="altered"):
        MultinomialKind().from_state(meta | {"flat": flat}, arrays, odd.label_space_, odd.coef_.shape[1])

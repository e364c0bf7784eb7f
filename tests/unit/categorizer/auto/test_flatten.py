"""A flatter softmax for some of the probability: what it computes, what it finds, and that it changes nothing else."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import special

from textbayes import TextCategorizer, load_corpus, load_model, save_model
from textbayes.categorizer.auto.flatten import fit_flat_share
from textbayes.categorizer.auto.story import describe_choice
from textbayes.core.errors import ModelFileError
from textbayes.kinds.multinomial import FlatShare, MultinomialKind

STORIES = load_corpus("bbc").train
TOPICS = sorted(set(STORIES.targets))


def test_scores_are_those_of_the_mixture():
    scores = np.random.default_rng(0).normal(0, 4, (50, 6))
    mixed = 0.8 * special.softmax(scores, axis=1) + 0.2 * special.softmax(0.3 * scores, axis=1)
    found = FlatShare(0.2, 0.3).scores(scores)
    np.testing.assert_allclose(special.softmax(found, axis=1), mixed, rtol=1e-12)
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))
    np.testing.assert_allclose(special.softmax(FlatShare(0.2, 0.3).scores(scores + 50.0), axis=1), mixed, rtol=1e-12)


def test_scores_far_out_are_numbers():
    found = FlatShare(0.05, 0.4).scores(np.array([[1e4, 0.0, -1e4], [0.0, 0.0, 0.0]]))
    proba = special.softmax(found, axis=1)
    np.testing.assert_allclose(proba, [[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-12)


@pytest.mark.parametrize(("slope", "share", "flat"), [(1.5, 0.15, 0.2), (0.7, 0.3, 0.4)])
def test_what_texts_were_drawn_with_is_found(slope, share, flat):
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 4, (40_000, 8))
    truth = FlatShare(share, flat)
    proba = special.softmax(truth.scores(slope * scores), axis=1)
    drawn = (proba.cumsum(axis=1) > rng.random((len(scores), 1))).argmax(axis=1)
    found = fit_flat_share(scores, np.eye(8, dtype=bool)[drawn], np.ones(len(scores)))
    assert found[0] == pytest.approx(slope, rel=0.08)
    assert found[1] == pytest.approx(truth, rel=0.15)


@pytest.fixture(scope="module")
def odd():
    """Stories of which one in eight has a topic drawn at random, and the automatic model of them."""
    rng = np.random.default_rng(2)
    labels = [str(rng.choice(TOPICS)) if rng.random() < 0.12 else str(one) for one in STORIES.targets]
    return TextCategorizer(budget="quick").fit(STORIES.texts, labels)


def test_odd_texts_make_a_share_and_a_paragraph(odd):
    assert odd.model_.flat is not None
    assert 0.02 < odd.model_.flat.share < 0.6
    assert odd.choice_["flat_share"] == odd.model_.flat.share
    assert "shared out more evenly" in describe_choice(odd.choice_)


def test_explanations_add_up(odd):
    text = STORIES.texts[3]
    proba = odd.predict_proba([text])[0]
    for told in odd.explain(text, TOPICS, top=None):
        assert told.probability == pytest.approx(proba[TOPICS.index(told.label)])
        assert special.expit(told.log_odds) == pytest.approx(told.probability)
        total = told.base + sum(part.log_odds for part in told.contributions)
        assert total == pytest.approx(told.log_odds, abs=1e-9)


def test_words_keep_their_order_and_the_base_stays(odd):
    """What a flatter softmax takes away is taken from all words alike."""
    plain = copy.copy(odd)
    text = STORIES.texts[int(odd.predict_proba(STORIES.texts[:50]).max(axis=1).argmax())]
    plain.model_ = copy.copy(odd.model_)
    plain.model_.flat = None
    (flat,), (steep,) = odd.explain(text, top=None), plain.explain(text, top=None)
    assert flat.base == pytest.approx(steep.base)
    assert [part.word for part in flat.contributions] == [part.word for part in steep.contributions]
    ratio = [a.log_odds / b.log_odds for a, b in zip(flat.contributions, steep.contributions, strict=True)]
    assert ratio == pytest.approx([ratio[0]] * len(ratio))
    assert 0.0 < ratio[0] < 1.0


def test_a_saved_model_is_the_model(odd, tmp_path):
    save_model(odd, tmp_path / "odd.tb")
    again = load_model(tmp_path / "odd.tb")
    assert again.model_.flat == odd.model_.flat
    np.testing.assert_array_equal(again.predict_proba(STORIES.texts[:20]), odd.predict_proba(STORIES.texts[:20]))


@pytest.mark.parametrize("flat", [[0.1], [0.1, 1.0], [0.0, 0.5], ["0.1", 0.5], {"share": 0.1}, [0.1, float("nan")]])
def test_altered_files_are_refused(odd, flat):
    meta, arrays = odd.model_.to_state()
    with pytest.raises(ModelFileError, match="altered"):
        MultinomialKind().from_state(meta | {"flat": flat}, arrays, odd.label_space_, odd.coef_.shape[1])

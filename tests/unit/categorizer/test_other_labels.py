"""Labels that tell of each other: what the others add to a label's log-odds is a line of its explanation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from textbayes import TextCategorizer
from textbayes.categorizer.ensemble import Ensemble, Part
from textbayes.categorizer.scorer import LabelStacking, Scorer
from textbayes.core.errors import ModelFileError
from textbayes.store import load_categorizer, load_scorer, save_model

TEXTS = ["wheat and corn prices", "corn harvest", "bank rates rise", "the bank cuts rates", "oil price", "oil"] * 3
LABELS = [["grain", "price"], ["grain"], ["money"], ["money"], ["oil", "price"], ["oil"]] * 3
EFFECT = np.array([-1.5, 0.5, 0.0, 2.0])


@pytest.fixture(scope="module")
def models():
    first = TextCategorizer(cv=2, model="linear").fit(TEXTS, LABELS)
    second = TextCategorizer(cv=2, model="linear").fit(TEXTS, LABELS)
    linear = first.model_.linear.scaled(1.2)
    linear.intercept_ = linear.intercept_ - 0.3
    stacking = LabelStacking(np.full(4, 1.2), np.full(4, -0.3), EFFECT)
    second.model_ = Ensemble(first.label_space_, [Part(linear, np.ones(4))], label_stacking=stacking)
    return first, second


def test_other_labels_are_a_line_and_everything_adds_up(models):
    first, second = models
    text = "corn and oil prices"
    alone = special.expit(first.model_.scores(first.features([text])))[0]
    names = first.label_space_.class_names
    for told in second.explain(text, names):
        k = names.index(told.label)
        some_other = 1.0 - np.prod(1.0 - np.delete(alone, k))
        assert told.other_labels == pytest.approx(EFFECT[k] * some_other)
        assert special.expit(told.log_odds) == pytest.approx(told.probability)
        listed = sum(part.log_odds for part in told.contributions)
        assert listed + sum(value for _, value in told.remainder) == pytest.approx(told.log_odds, abs=1e-3)
        assert ("other labels", told.other_labels) in told.remainder


def test_models_of_one_pass_have_no_such_line(models):
    (told,) = models[0].explain("corn and oil prices", ["oil"])
    assert told.other_labels is None
    assert [name for name, _ in told.remainder][-1] == "base"
    assert "other labels" not in dict(told.remainder)


def test_the_scorer_of_a_file_adds_it_too(models, tmp_path):
    save_model(models[1], tmp_path / "model.tb")
    new = ["corn and oil prices", "the bank", "", "zebra", "oil oil wheat"]
    scorer, model = load_scorer(tmp_path / "model.tb"), load_categorizer(tmp_path / "model.tb")
    assert isinstance(scorer, Scorer)
    found, wanted, features = scorer.assess(new), model.assess(new), model.features(new)
    assert np.array_equal(found.proba, wanted.proba)
    assert np.array_equal(found.decisions, wanted.decisions)
    # The ensemble scores matrices, in two stages; and without the second it would answer otherwise.
    assert np.allclose(found.proba, model.model_.proba(features), rtol=1e-12, atol=1e-15)
    assert np.array_equal(found.known_words, model._known_words(features))
    assert np.abs(found.proba - models[0].assess(new).proba).max() > 0.01


@pytest.mark.parametrize("damage", ["shorter", "exclusive"])
def test_a_damaged_second_stage_is_refused(models, damage):
    meta, arrays = models[1].to_state()
    (name,) = (name for name in arrays if name.endswith("label_stacking.effect"))
    if damage == "shorter":
        arrays[name] = arrays[name][:-1]
    else:
        meta["labels"] = {**meta["labels"], "kind": "multiclass"}
    with pytest.raises(ModelFileError):
        Scorer.from_state(meta, arrays)

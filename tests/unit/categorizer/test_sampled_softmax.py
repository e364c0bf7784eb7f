"""A ``TextCategorizer`` with a sampled softmax: what it tells while it draws, and intervals of its classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from textbayes import BayesMultinomialClassifier, TextCategorizer
from textbayes.core.errors import NotSupportedError
from textbayes.inference.gibbs import Gibbs
from textbayes.models.base import SamplingCallback
from textbayes.store.checkpoint import RunFolder

TEXTS = ["wheat corn", "corn harvest", "bank rates", "bank cuts rates", "goal match", "match won"] * 4
THREE = ["grain", "grain", "money", "money", "sport", "sport"] * 4
LABELS = {"multiclass": THREE, "binary": ["grain" if label == "grain" else "other" for label in THREE]}
NEW = ["corn and wheat", "the bank", "match goal corn", "", "nothing known"]


def categorizer(**changes):
    plan = {"chains": 2, "warmup": 20, "max_draws": 100, "target_ess": 15, "max_r_hat": 3.0} | changes
    member = BayesMultinomialClassifier("gaussian", scale=2.0, intercept_scale=5.0, inference=Gibbs(**plan))
    return TextCategorizer(model=member, cv=2)


@pytest.fixture(scope="module", params=LABELS)
def model(request):
    return categorizer().fit(TEXTS, LABELS[request.param])


def by_draw(model, texts):
    """Probabilities of the classes, (n_draws, n_texts, n_classes), one draw after the other."""
    X = model.weighting_.transform(model.vectorizer_.transform(texts)).toarray()
    classes = model.model_.members[0].draws_.labels
    found = []
    for chain, draw in np.ndindex(classes[0].intercept.shape):
        eta = [X @ one.weights[chain, draw].astype(float) + one.intercept[chain, draw] for one in classes]
        found.append(softmax(np.stack(eta, axis=1), axis=1))
    return np.array(found)


def test_probabilities_and_their_intervals_are_means_and_quantiles_over_draws(model):
    proba = by_draw(model, NEW)
    np.testing.assert_allclose(model.predict_proba(NEW), proba.mean(axis=0), atol=1e-6)
    own = proba if model.label_space_.kind == "multiclass" else proba[:, :, 1:]
    for level in (0.5, 0.9):
        expected = np.quantile(own, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        np.testing.assert_allclose(model.predict_interval(NEW, level), expected, atol=1e-6)


def test_the_plug_in_is_the_softmax_of_the_mean(model):
    fitted, features = model.model_.members[0], model.features(NEW)
    expected = softmax(features.weights @ fitted.coef_.T + fitted.intercept_, axis=1)
    np.testing.assert_allclose(model.predict_proba(NEW, posterior_predictive=False), expected, rtol=1e-9)


def test_credible_intervals_need_draws():
    mode = TextCategorizer(model="multinomial", cv=2).fit(TEXTS, THREE)
    with pytest.raises(NotSupportedError, match="use a model that samples"):
        mode.model_.probability_interval(mode.features(NEW), 0.9)


class Recorded(SamplingCallback):
    """Keeps what it is told, in a folder too, and stops the run after so many rounds."""

    def __init__(self, folder, rounds=None):
        self.folder, self.left, self.told = folder, rounds, []
        self.resume, self.recall, self.finish, self.begin = folder.resume, folder.recall, folder.finish, folder.begin

    def progress(self, stage, at):
        self.folder.progress(stage, at)
        self.told.append((stage, at))
        if self.left is not None and len(self.told) == self.left:
            raise KeyboardInterrupt


def test_every_stage_is_told_and_all_classes_are_drawn_together(tmp_path):
    watch = Recorded(RunFolder(tmp_path / "run"))
    categorizer(target_ess=400, max_draws=500).fit(TEXTS, THREE, sampling=watch)
    assert list(dict.fromkeys(stage for stage, _ in watch.told)) == ["fold 1 of 2", "fold 2 of 2", "all texts"]
    assert all(at.label == 0 and at.together for _, at in watch.told)
    last = dict(watch.told)
    assert all(at.finished for at in last.values())
    # Folds are for probabilities alone: a quarter of the effective sample size asked for.
    assert last["fold 1 of 2"].n_draws < last["all texts"].n_draws


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path):
    slow = {"max_draws": 160, "target_ess": 1.0, "max_r_hat": 1.0 + 1e-9}  # out of reach: several rounds a stage
    with pytest.warns(Warning, match="sampled less well"):
        whole = categorizer(**slow).fit(TEXTS, THREE)
    starts, resumed = 0, None
    while resumed is None and starts < 50:
        starts += 1
        try:
            with pytest.warns(Warning, match="sampled less well"):
                resumed = categorizer(**slow).fit(TEXTS, THREE, sampling=Recorded(RunFolder(tmp_path / "run"), 2))
        except KeyboardInterrupt:
            continue
    assert starts > 2
    np.testing.assert_array_equal(by_draw(resumed, NEW), by_draw(whole, NEW))
    assert resumed.held_out_ == whole.held_out_

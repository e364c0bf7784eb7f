"""A ``TextCategorizer`` that samples: averages over draws, words, files, and runs that are interrupted."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.special import ndtr

from references.killing import killed_at_every_step
from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, ModelFileError
from textbayes.inference.gibbs import Gibbs
from textbayes.models.base import SamplingCallback
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.store import load_model, save_model
from textbayes.store.checkpoint import RunFolder
from textbayes.text import TextVectorizer

TEXTS = [
    "wheat corn prices",
    "corn harvest falls",
    "bank raises rates",
    "bank cuts rates",
    "goal match",
    "match won",
] * 4
MANY = [["grain"], ["grain", "news"], ["money"], ["money", "news"], [], ["news"]] * 4
ONE = [labels[0] if labels else "sport" for labels in MANY]
TWO = ["grain" if "grain" in labels else "other" for labels in MANY]
KINDS = {"multilabel": MANY, "multiclass": ONE, "binary": TWO}
NEW = ["corn and wheat", "the bank", "match goal corn", "", "nothing known"]


def sampler(**changes):
    return Gibbs(**{"chains": 2, "warmup": 20, "max_draws": 100, "target_ess": 15, "max_r_hat": 3.0} | changes)


def categorizer(priors=("laplace",), **settings):
    members = [BayesLinearClassifier("probit", prior=prior, scale=2.0, inference=sampler()) for prior in priors]
    return TextCategorizer(model=members, **{"cv": 2} | settings)


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    return categorizer().fit(TEXTS, KINDS[request.param])


def _by_hand(model, texts):
    """The average of Φ(x'w + b) over draws, one draw after the other."""
    X = model.weighting_.transform(model.vectorizer_.transform(texts)).toarray()
    own = np.zeros((len(texts), len(model.draws_.labels)))
    for k, one in enumerate(model.draws_.labels):
        flat, intercept = one.weights.reshape(-1, len(one.columns)), one.intercept.ravel()
        for w, b in zip(flat, intercept, strict=True):
            own[:, k] += ndtr(X[:, one.columns] @ w.astype(float) + b) / len(intercept)
    return own


def test_probabilities_are_averages_over_draws(model):
    own, proba = _by_hand(model, NEW), model.assess(NEW).proba
    if model.label_space_.kind == "multiclass":
        own = own**model.inverse_temperature_ / (own**model.inverse_temperature_).sum(axis=1, keepdims=True)
    else:
        assert model.inverse_temperature_ == 1.0
    np.testing.assert_allclose(proba, own, atol=1e-6)
    np.testing.assert_array_equal(model.assess(NEW).decisions, model.rule_.decide(proba))
    assert model.pool_.tolist() == [1.0]


def test_plug_in_is_at_the_posterior_mean():
    averaged, plug_in = categorizer().fit(TEXTS, MANY), categorizer(posterior_predictive=False).fit(TEXTS, MANY)
    np.testing.assert_array_equal(averaged.coef_, plug_in.coef_)
    X = plug_in.weighting_.transform(plug_in.vectorizer_.transform(NEW))
    by_hand = ndtr(X @ plug_in.coef_.T + plug_in.intercept_)
    np.testing.assert_allclose(plug_in.assess(NEW).proba, by_hand, rtol=1e-10)
    np.testing.assert_allclose(averaged.predict_proba(NEW, posterior_predictive=False), by_hand, rtol=1e-10)
    np.testing.assert_array_equal(plug_in.predict_proba(NEW, posterior_predictive=True), averaged.predict_proba(NEW))
    assert np.abs(plug_in.assess(NEW).proba - averaged.assess(NEW).proba).max() > 0.01
    assert plug_in.held_out_ != averaged.held_out_  # what rules learn from is what they will be given


def test_intervals_of_probabilities_hold_what_they_say(model):
    X = model.weighting_.transform(model.vectorizer_.transform(NEW)).toarray()
    low, high = model.predict_interval(NEW, level=0.8)
    proba = np.stack(
        [
            ndtr(X[:, one.columns] @ one.weights.reshape(-1, len(one.columns)).T.astype(float) + one.intercept.ravel())
            for one in model.draws_.labels
        ],
        axis=-1,
    )
    if model.label_space_.kind == "multiclass":  # of what is shown: each draw normalised
        proba = proba**model.inverse_temperature_
        proba /= proba.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose([low, high], np.quantile(proba, [0.1, 0.9], axis=1), atol=1e-5)
    else:
        inside = ((proba >= low[:, None]) & (proba <= high[:, None])).mean(axis=1)
        np.testing.assert_allclose(inside, 0.8, atol=0.02)


def test_words_as_their_draws_have_them(model):
    label = str(model.classes_[0])
    column, mirrored = model._column(label)
    one = model.draws_.labels[column]
    names = model.vectorizer_.get_feature_names_out()
    found = model.word_intervals(label, level=0.9, k=None, size=0.5, whole=False)
    assert [word.word for word in found] == [names[j] for j in np.argsort(-np.abs(model.draws_.mean()[column]))]
    for word in found:
        w = one.flat[:, list(names[one.columns]).index(word.word)].astype(float) * (-1 if mirrored else 1)
        assert word.weight == pytest.approx(w.mean(), abs=1e-6)
        assert word.sd == pytest.approx(w.std(), abs=1e-6)
        np.testing.assert_allclose([word.low, word.high], np.quantile(w, [0.05, 0.95]), atol=1e-5)
        assert word.sign_probability == pytest.approx((np.sign(w) == np.sign(w.mean())).mean())
        assert word.inclusion_probability == pytest.approx((np.abs(w) > 0.5).mean())
    for by, value in (("sign", "sign_probability"), ("inclusion", "inclusion_probability")):
        ranked = [getattr(word, value) for word in model.word_intervals(label, by=by, size=0.5)]
        assert np.abs(np.array(ranked) - (0.5 if by == "sign" else 0)).tolist() == sorted(
            np.abs(np.array(ranked) - (0.5 if by == "sign" else 0)), reverse=True
        )


def test_a_model_file_gives_the_same_model_and_the_same_bytes(model, tmp_path):
    save_model(model, tmp_path / "a.tb")
    again = load_model(tmp_path / "a.tb")
    save_model(again, tmp_path / "b.tb")
    assert (tmp_path / "a.tb").read_bytes() == (tmp_path / "b.tb").read_bytes()
    np.testing.assert_array_equal(again.assess(NEW).proba, model.assess(NEW).proba)
    np.testing.assert_array_equal(again.predict_interval(NEW), model.predict_interval(NEW))
    assert again.draws_.labels[0].weights.dtype == np.float32
    (member,) = again.model
    assert member.inference.plan == sampler().plan
    np.testing.assert_array_equal(again.fit(TEXTS, _labels(model)).coef_, model.coef_)  # it can be trained again


def _labels(model):
    return KINDS[model.label_space_.kind]


def test_draws_that_do_not_belong_are_refused(model):
    meta, arrays = model.to_state()
    ensemble = meta["ensemble"]
    (fitted,) = (member["state"] for member in ensemble["members"])
    for change in (
        {"draws_": fitted["draws_"] | {"n_features": 99}},
        {"draws_": fitted["draws_"] | {"labels": [{}] * 99}},
        {"held_scale_": -1.0},
    ):
        changed = ensemble | {"members": [{"type": "linear", "state": fitted | change, "columns": None}]}
        with pytest.raises(ModelFileError, match="was the file altered"):
            TextCategorizer.from_state(meta | {"ensemble": changed}, arrays)
    with pytest.raises(ModelFileError, match="was the file altered"):
        TextCategorizer.from_state(meta | {"ensemble": ensemble | {"inverse_temperature": -1.0}}, arrays)
    weights = next(name for name in sorted(arrays) if name.startswith("fitted.0.draws_.") and "weights" in name)
    fewer = {name: array for name, array in arrays.items() if name != weights}
    with pytest.raises(ModelFileError, match=f"lacks the array '{weights}'"):
        TextCategorizer.from_state(meta, fewer)


def test_a_pool_of_posteriors():
    pool = categorizer(("laplace", "gaussian"), keep_draws=60).fit(TEXTS, MANY)
    assert pool.pool_.sum() == pytest.approx(1.0)
    assert all(one.intercept.size <= 60 for one in pool.draws_.labels)
    np.testing.assert_allclose(pool.assess(NEW).proba, _by_hand(pool, NEW), atol=1e-6)
    np.testing.assert_array_less(np.abs(pool.coef_ - pool.draws_.mean()), 1.5)


def test_words_of_a_refit():
    model = categorizer(refit_k=2, refit_by="sign").fit(TEXTS, MANY)
    assert ((model.coef_ != 0.0).sum(axis=1) <= 2).all()
    assert [len(one.columns) for one in model.draws_.labels] == [2, 2, 2]
    mode = TextCategorizer(refit_k=1, cv=2, model=BayesLinearClassifier()).fit(TEXTS, MANY)
    assert ((mode.coef_ != 0.0).sum(axis=1) <= 1).all()
    with pytest.raises(InputError, match="refit_by='sign' ranks words by their draws"):
        TextCategorizer(preset="linear", refit_k=1, refit_by="sign").fit(TEXTS, MANY)


@pytest.mark.parametrize("averaged", [True, False])
def test_words_kept_without_a_refit_have_the_means_of_the_first_fit(averaged):
    """The Gibbs paper's rule; averaged, each draw is cut to the words."""
    settings = {"posterior_predictive": averaged, "keep_draws": 10_000}
    first = categorizer(**settings).fit(TEXTS, MANY)
    model = categorizer(refit_k=2, refit=False, **settings).fit(TEXTS, MANY)
    kept = np.argsort(np.argsort(-np.abs(first.draws_.mean()), axis=1), axis=1) < 2
    np.testing.assert_allclose(model.coef_, np.where(kept, first.coef_, 0.0))
    np.testing.assert_array_equal(model.draws_.mean() != 0.0, kept)
    X = model.features(NEW).weights.toarray()
    eta = X @ np.where(kept, first.coef_, 0.0).T + first.intercept_
    expected = first.link_.probability(eta)
    if averaged:
        expected = np.zeros_like(expected)
        for label, one in enumerate(first.draws_.labels):
            weights = np.zeros((one.intercept.size, X.shape[1]))
            weights[:, one.columns] = one.flat
            drawn = X @ (weights * kept[label]).T + one.intercept.ravel()
            expected[:, label] = first.link_.probability(drawn).mean(axis=1)
    np.testing.assert_allclose(model.predict_proba(NEW), expected, atol=1e-5)
    mode = TextCategorizer(refit_k=1, refit=False, cv=2, model=BayesLinearClassifier()).fit(TEXTS, MANY)
    whole = TextCategorizer(cv=2, model=BayesLinearClassifier()).fit(TEXTS, MANY)
    own = mode.coef_ != 0.0
    assert (own.sum(axis=1) <= 1).all()
    np.testing.assert_allclose(mode.coef_[own], whole.coef_[own])
    with pytest.raises(InputError, match="say how many with refit_k"):
        categorizer(refit=False).fit(TEXTS, MANY)


def test_german_texts_and_a_label_that_only_one_text_has():
    texts = ["Öl und Gas für Köln", "Straße nach Münster", "Öl aus Übersee", "Münster grüßt Köln"] * 3 + ["", "Gruß"]
    labels = [["Öl"], ["Straße"], ["Öl"], ["Straße"]] * 3 + [[], ["Gruß"]]
    model = categorizer(vectorizer=TextVectorizer()).fit(texts, labels)
    assert model.classes_[model.predict_proba(["Öl aus Übersee"])[0].argmax()] == "Öl"
    assert "öl" in {word.word for word in model.word_intervals("Öl")}
    low, high = model.predict_interval(["Öl"])
    assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()


@pytest.mark.parametrize(
    ("settings", "labels", "words"),
    [
        ({}, ["grain"] * 24, "at least two"),
        ({"keep_draws": 0}, MANY, "keep_draws=0 is not usable"),
        ({"refit_k": 0}, MANY, "k=0 is not usable"),
        ({"refit_by": "luck", "refit_k": 2}, MANY, "luck"),
    ],
)
def test_what_cannot_be_used_is_refused(settings, labels, words):
    with pytest.raises(InputError, match=words):
        categorizer(**settings).fit(TEXTS, labels)


def test_what_needs_draws_says_so():
    model = TextCategorizer(cv=2).fit(TEXTS, TWO)
    assert (model.draws_, model.inverse_temperature_) == (None, 1.0)
    with pytest.raises(InputError, match="'inclusion' ranks words by their draws"):
        model.word_intervals("grain", by="inclusion")


# -- interrupted runs -------------------------------------------------------------------------------------------------
class Interrupted(SamplingCallback):
    """Stops the run after so many rounds, after they have been kept."""

    def __init__(self, folder, rounds):
        self.folder, self.left, self.resume, self.recall = folder, rounds, folder.resume, folder.recall
        self.finish, self.begin = folder.finish, folder.begin

    def progress(self, stage, at):
        self.folder.progress(stage, at)
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path):
    # Targets out of reach, so that every label takes several rounds.
    slow = BayesLinearClassifier("probit", inference=sampler(max_draws=160, target_ess=1.0, max_r_hat=1.0 + 1e-9))
    settings = {"model": slow, "cv": 2, "refit_k": 3}
    with pytest.warns(Warning, match="sampled less well"):
        whole = TextCategorizer(**settings).fit(TEXTS, MANY)
    starts = 0
    while starts < 200:
        starts += 1
        watch = Interrupted(RunFolder(tmp_path / "run", {"seed": "0"}), 3)
        try:
            with pytest.warns(Warning, match="sampled less well"):
                resumed = TextCategorizer(**settings).fit(TEXTS, MANY, sampling=watch)
            break
        except KeyboardInterrupt:
            continue
    assert starts > 3
    for one, other in zip(whole.draws_.labels, resumed.draws_.labels, strict=True):
        for part, again in zip(one, other, strict=True):
            np.testing.assert_array_equal(part, again)
    assert whole.held_out_ == resumed.held_out_
    assert [path.name for path in (tmp_path / "run").glob("*fold*label*")] == []  # of a finished fold no draws are kept
    RunFolder(tmp_path / "run", {"seed": "0"}).remove()
    assert not (tmp_path / "run").exists()


def test_a_run_begun_with_anything_else_is_refused(tmp_path):
    RunFolder(tmp_path / "run", {"texts": "a", "chains": "4"})
    assert RunFolder(tmp_path / "run", {"texts": "a", "chains": "4"}).resumed
    with pytest.raises(InputError, match=re.escape("begun with other chains, texts; go on with")):
        RunFolder(tmp_path / "run", {"texts": "b", "chains": "2"})
    with pytest.raises(InputError, match="begun with other random_state"):
        RunFolder(tmp_path / "run", {"texts": "a", "chains": "4", "random_state": "1"})


def test_other_texts_labels_or_settings_are_noticed_before_anything_is_drawn(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        categorizer().fit(TEXTS, MANY, sampling=Interrupted(RunFolder(tmp_path / "run"), 1))
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    other_texts, other_labels = [*TEXTS[1:], "corn"], [*MANY[1:], ["grain"]]
    seed = BayesLinearClassifier("probit", scale=2.0, inference=sampler(random_state=1))
    scale = BayesLinearClassifier("probit", scale=3.0, inference=sampler())
    for changed, texts, labels in (
        ({}, other_texts, MANY),
        ({}, TEXTS, other_labels),
        ({"cv": 3}, TEXTS, MANY),
        ({"model": seed}, TEXTS, MANY),
        ({"model": scale}, TEXTS, MANY),
    ):
        model = categorizer().set_params(**changed)
        with pytest.raises(InputError, match="begun with other texts, labels or settings; go on with"):
            model.fit(texts, labels, sampling=RunFolder(tmp_path / "run"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    more = categorizer().set_params(model=BayesLinearClassifier("probit", scale=2.0, inference=sampler(target_ess=30)))
    more.fit(TEXTS, MANY, sampling=RunFolder(tmp_path / "run"))  # more draws may be asked for


def test_a_folder_that_is_no_run_is_refused_and_left_alone(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file; name a folder"):
        RunFolder(tmp_path / "file")
    with pytest.raises(InputError, match="a folder with other files"):
        RunFolder(tmp_path)
    with pytest.raises(InputError, match="cannot be made"):
        RunFolder(tmp_path / "no" / "such")
    run = RunFolder(tmp_path / "run")
    (tmp_path / "run" / "mine.txt").write_text("x")
    run.remove()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["mine.txt"]
    for content in ("no json", json.dumps({"format": "other", "version": "1", "about": {}}), "{}"):
        (tmp_path / "run" / "run.json").write_text(content)
        with pytest.raises(ModelFileError, match="Gibbs run"):
            RunFolder(tmp_path / "run")


def test_a_run_whose_process_is_killed_at_any_step(tmp_path):
    """Whatever a kill leaves of a folder, the run goes on in it, or begins anew, and can be deleted."""
    about = {"seed": "0"}

    def whole(folder):
        run = RunFolder(folder, about)
        run.begin(["a"], "mark")
        run.finish("fold 1", np.zeros(3))
        run.remove()

    *killed, let_through = killed_at_every_step(whole, tmp_path / "nowhere", tmp_path / "k")
    assert len(killed) > 10
    assert not let_through.exists()
    for folder in killed:
        again = RunFolder(folder, about)
        again.begin(["a"], "mark")
        found = again.recall("fold 1")
        assert found is None or found.tolist() == [0.0] * 3
        again.finish("fold 1", np.ones(3))
        assert again.recall("fold 1").tolist() == [1.0] * 3
        again.remove()
        assert not folder.exists()

"""Draws in ArviZ: the same numbers, the same diagnostics, and leave-one-out from the likelihood."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_ndtr
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.inference.gibbs import Gibbs
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.posterior.diagnostics import bulk_effective_sample_size, split_r_hat
from textbayes.report import summarise_draws, to_inference_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * (RNG.random((60, 5)) < 0.7)
Y = (X @ RNG.normal(size=(5, 2)) + RNG.normal(size=(60, 2)) > 0.0).astype(int)
SAMPLER = Gibbs(chains=3, warmup=50, max_draws=400, target_ess=1e6, random_state=1)


@pytest.fixture(scope="module", autouse=True)
def az():
    """ArviZ takes seconds to import: not while tests are collected, which every worker does."""
    return pytest.importorskip("arviz", reason="needs the extra gibbs")


@pytest.fixture(scope="module")
def model():
    with pytest.warns(Warning, match="sampled less well"):
        return BayesLinearClassifier("probit", inference=SAMPLER).fit(X, Y)


@pytest.fixture(scope="module")
def data(model):
    return to_inference_data(model, X, Y, log_likelihood=True, names=list("abcde"))


def test_the_same_numbers_under_their_names(model, data):
    weight = data.posterior["weight"]
    assert weight.dims == ("chain", "draw", "label", "word")
    assert weight.dtype == np.float32
    assert weight.coords["word"].values.tolist() == list("abcde")
    for k, one in enumerate(model.draws_.labels):
        np.testing.assert_array_equal(weight.sel(label=str(k)), one.weights)
        np.testing.assert_array_equal(data.posterior["intercept"].sel(label=str(k)), one.intercept)
    assert "global_scale" not in data.posterior
    np.testing.assert_array_equal(data.observed_data["y"], Y)
    lengths = np.linalg.norm(model.draws_.labels[1].weights.astype(float), axis=2)
    np.testing.assert_allclose(data.sample_stats["weight_norm"].isel(label=1), lengths)


def test_diagnostics_are_those_that_arviz_computes(az, model, data):
    summary = az.summary(data, var_names=["weight"], round_to="none")
    ours = np.concatenate([one.weights for one in model.draws_.labels], axis=2)
    np.testing.assert_allclose(summary["ess_bulk"], bulk_effective_sample_size(ours), rtol=0.02)
    np.testing.assert_allclose(summary["r_hat"], split_r_hat(ours), atol=1e-3)
    np.testing.assert_allclose(summary["mean"], model.coef_.ravel(), atol=1e-6)
    np.testing.assert_allclose(summary["sd"], model.standard_errors_.ravel(), rtol=1e-2)


def test_the_summary_is_that_of_arviz_without_arviz(az, model, data):
    rows = [row for row in summarise_draws(model, names=list("abcde")) if row.word != "intercept"]
    theirs = az.summary(data, var_names=["weight"], round_to="none")
    assert [(row.label, row.word) for row in rows] == [(label, word) for label in "01" for word in "abcde"]
    for ours, name, rtol in (
        ("mean", "mean", 1e-5),
        ("sd", "sd", 1e-2),
        ("ess_bulk", "ess_bulk", 0.02),
        ("ess_tail", "ess_tail", 0.02),
        ("r_hat", "r_hat", 1e-3),
    ):
        np.testing.assert_allclose([getattr(row, ours) for row in rows], theirs[name], rtol=rtol)
    low, high = model.weight_intervals(0.95)
    np.testing.assert_allclose([row.low for row in rows], low.ravel(), rtol=1e-6)
    np.testing.assert_allclose([row.high for row in rows], high.ravel(), rtol=1e-6)


def test_a_summary_of_some_words_and_of_a_label_that_was_not_sampled():
    one_sided = np.column_stack([Y[:, 0], np.zeros(60, dtype=int)])
    sampler = Gibbs(chains=2, warmup=50, max_draws=100, target_ess=1.0, max_r_hat=9.0)
    model = BayesLinearClassifier("probit", inference=sampler).fit(X, one_sided)
    rows = summarise_draws(model, words=["4", "2"])
    found = [(row.label, row.word) for row in rows]
    assert found == [("0", "intercept"), ("0", "4"), ("0", "2"), ("1", "intercept")]
    assert rows[1].mean == pytest.approx(model.coef_[0, 4])
    assert np.isnan(rows[3].r_hat)
    assert rows[3].sd == 0.0


def test_a_pipeline_of_scikit_learn_brings_its_words():
    texts = ["corn prices", "corn harvest", "bank rates", "the bank"] * 6
    labels = ["grain", "grain", "money", "money"] * 6
    sampler = Gibbs(chains=2, warmup=20, max_draws=100, target_ess=10, max_r_hat=3.0)
    pipeline = make_pipeline(CountVectorizer(), BayesLinearClassifier("probit", inference=sampler)).fit(texts, labels)
    data = to_inference_data(pipeline, texts, labels, words=["corn", "bank"])
    assert data.posterior.coords["word"].values.tolist() == ["corn", "bank"]
    assert data.observed_data["y"].sum() == 12
    renamed = to_inference_data(pipeline, names=[f"w{j}" for j in range(6)])
    assert renamed.posterior.coords["word"].values.tolist()[0] == "w0"
    assert {row.word for row in summarise_draws(pipeline)} == {"intercept", *pipeline[0].get_feature_names_out()}
    with pytest.raises(InputError, match="a CountVectorizer has no draws"):
        to_inference_data(make_pipeline(CountVectorizer()))


def test_the_likelihood_is_that_of_the_link(model, data):
    found = data.log_likelihood["y"]
    assert found.dims == ("chain", "draw", "document", "label")
    one = model.draws_.labels[1]
    by_hand = log_ndtr(np.where(Y[:, 1] == 1, 1.0, -1.0) * (X @ one.weights[2, 7].astype(float) + one.intercept[2, 7]))
    np.testing.assert_allclose(found[2, 7, :, 1], by_hand, rtol=1e-9)
    np.testing.assert_allclose(data.sample_stats["total_log_likelihood"], found.sum("document"), rtol=1e-12)


@pytest.mark.slow
def test_leave_one_out_is_near_what_leaving_out_gives(az):
    """Three documents left out one after the other, against the estimate from draws that saw them all."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 2)), rng.random(40) < 0.5
    model = BayesLinearClassifier(
        "probit", prior="gaussian", scale=0.5, inference=Gibbs(target_ess=800, random_state=2)
    )
    estimated = az.loo(to_inference_data(model.fit(X, y), X, y, log_likelihood=True), pointwise=True)
    assert estimated.n_data_points == 40
    left_out = []
    for i in range(3):
        others = np.arange(40) != i
        proba = model.fit(X[others], y[others]).predictive_proba(X[i : i + 1])[0]
        left_out.append(np.log(proba[int(y[i])]))
    np.testing.assert_allclose(estimated.loo_i.values.ravel()[:3], left_out, atol=0.02)


def test_some_labels_and_words(data, model):
    some = to_inference_data(model, labels=["1"], words=["c", "a"], names=list("abcde"))
    np.testing.assert_array_equal(some.posterior["weight"], data.posterior["weight"].sel(label=["1"], word=["c", "a"]))
    assert not hasattr(some, "observed_data")
    assert not hasattr(some, "log_likelihood")


def test_labels_of_unequal_length_and_words_of_their_own():
    words = np.array([[True, True, False, True, True], [False, True, True, True, True]])
    one_sided = np.column_stack([Y[:, 0], np.zeros(60, dtype=int), Y[:, 1]])
    stops = Gibbs(chains=2, warmup=50, max_draws=3000, target_ess=60, max_r_hat=1.2)
    model = BayesLinearClassifier("probit", prior="gaussian", mean=0.25, inference=stops)
    model.fit(sparse.csr_matrix(X), one_sided, words=np.vstack([words[:1], words]))
    weight = to_inference_data(model).posterior["weight"].values
    assert weight.shape[1] == min(model.draws_.labels[k].weights.shape[1] for k in (0, 2))
    assert (weight[:, :, 0, 2] == 0.25).all()
    assert (weight[:, :, 1] == 0.25).all()  # a label that no document has is not sampled
    assert (weight[:, :, 2, 0] == 0.25).all()
    assert weight[:, :, 2, 1].std() > 0.01


def test_texts_of_a_categorizer():
    texts = ["corn prices", "corn harvest", "bank rates", "the bank", "match goal", "goal"] * 4
    labels = ["grain", "grain", "money", "money", "sport", "sport"] * 4
    sampler = Gibbs(chains=2, warmup=20, max_draws=100, target_ess=10, max_r_hat=3.0)
    model = TextCategorizer(model=BayesLinearClassifier("probit", inference=sampler), cv=2).fit(texts, labels)
    data = to_inference_data(model, texts, labels)
    assert data.posterior.coords["label"].values.tolist() == ["grain", "money", "sport"]
    assert data.posterior.coords["word"].values.tolist() == model.vectorizer_.get_feature_names_out().tolist()
    assert data.observed_data["y"].sum("document").values.tolist() == [8, 8, 8]
    stems = model.vectorizer_.get_feature_names_out().tolist()
    assert "price" in stems
    found = to_inference_data(model, words=["corn", "prices"])  # a word in any form
    assert found.posterior.coords["word"].values.tolist() == ["corn", "price"]
    assert [row.word for row in summarise_draws(model, labels=["grain"], words=["Prices"])] == ["intercept", "price"]
    with pytest.raises(InputError, match="word 'prize' is not one of the model's; did you mean 'price'"):
        to_inference_data(model, words=["corn", "prize"])
    with pytest.raises(InputError, match="word 'corn prices' is not one"):
        to_inference_data(model, words=["corn prices"])


def test_the_worst_diagnostics_are_among_those_of_the_summary(model):
    rows = model.draws_.summary()
    assert model.draws_.worst_diagnostics() == (max(row.r_hat for row in rows), min(row.ess_bulk for row in rows))
    first = [model.draws_.ranking(k)[0] for k in range(2)]
    few = [row for k in range(2) for row in rows if row.label == str(k) and row.word in ("intercept", str(first[k]))]
    assert len(few) == 4
    assert model.draws_.worst_diagnostics(1) == (max(row.r_hat for row in few), min(row.ess_bulk for row in few))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"log_likelihood": True}, "pass them and their labels"),
        ({"documents": X}, "go together"),
        ({"y": Y}, "go together"),
        ({"documents": X, "y": Y[:-1]}, "60"),
        (
            {"documents": X, "y": Y[:, 0]},
            "y is binary and the model multilabel; pass labels in the same form",
        ),
        ({"labels": ["nothing"]}, "label 'nothing' is not one of the model's"),
        ({"words": ["x"]}, "word 'x' is not one of the model's"),
        ({"words": []}, "no word is named"),
        ({"names": ["a"]}, "1 names are given for 5 words"),
    ],
)
def test_what_cannot_be_used_is_refused(model, arguments, words):
    with pytest.raises(InputError, match=words):
        to_inference_data(model, **arguments)


def test_a_model_without_draws_is_refused():
    with pytest.raises(InputError, match="was not sampled"):
        to_inference_data(BayesLinearClassifier().fit(X, Y))
    with pytest.raises(InputError, match="a str has no draws"):
        to_inference_data("model.tb")


def test_without_the_extra_the_sentence_says_how_to_get_it(model, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] == "arviz":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'textbayes\[gibbs\]'"):
        to_inference_data(model)


def test_the_likelihood_of_labels_that_judges_agree_on_is_refused():
    pytest.importorskip("polyagamma", reason="needs the extra gibbs")
    sampler = Gibbs(chains=2, warmup=5, max_draws=10, target_ess=1.0, max_r_hat=9.0, label_replicates=2)
    judged = BayesLinearClassifier("logit", inference=sampler).fit(X, Y)
    assert "y" in to_inference_data(judged, X, Y).observed_data
    with pytest.raises(InputError, match="leave out log_likelihood, or fit with label_replicates=1"):
        to_inference_data(judged, X, Y, log_likelihood=True)

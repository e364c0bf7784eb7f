"""The count classifier: labels, lengths, priors, learning in parts, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.models.counts import BayesCountClassifier, make_count_model
from textbayes.models.counts.inputs import choose_beta
from textbayes.models.counts.text_model import restore_classifier, state_of_classifier


def data(n_docs=80, seed=0, n_words=8):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_docs) < 0.4, "ham", "spam")
    rates = np.where((y == "ham")[:, None], np.linspace(0.2, 3.0, n_words), np.linspace(3.0, 0.2, n_words))
    omega = rng.uniform(0.3, 2.0, n_docs)
    return sparse.csr_matrix(rng.poisson(omega[:, None] * rates).astype(float)), y, omega


def test_probabilities_follow_from_likelihood_and_prior():
    X, y, omega = data()
    model = BayesCountClassifier("poisson").fit(X, y, lengths=omega)
    joint = model.model_.log_likelihood(X, omega, model.estimate_) + np.log([np.mean(y == "ham"), np.mean(y == "spam")])
    expected = np.exp(joint - np.logaddexp(joint[:, :1], joint[:, 1:]))
    np.testing.assert_allclose(model.predict_proba(X, omega), expected, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X, omega)), expected, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X, omega), joint[:, 1] - joint[:, 0], rtol=1e-9)
    assert (model.predict(X, omega) == model.classes_[expected.argmax(axis=1)]).all()


@pytest.mark.parametrize("name", ["poisson", "dirichlet_negative_binomial", "multinomial"])
def test_a_document_without_a_known_word_has_the_priors_probabilities(name):
    X, y, _ = data()
    for prior, expected in (("uniform", [0.5, 0.5]), ([0.9, 0.1], [0.9, 0.1]), ("counts", [np.mean(y == "ham")] * 2)):
        model = BayesCountClassifier(name, class_prior=prior).fit(X, y)
        proba = model.predict_proba(sparse.csr_matrix((1, 8)))
        assert proba[0, 0] == pytest.approx(expected[0], abs=1e-6)


def test_an_empty_document_of_known_length_tells_that_its_words_are_missing():
    X, y, omega = data()
    X = X[:, :3]  # words that spam has more of
    model = BayesCountClassifier("poisson", class_prior="uniform").fit(X, y, lengths=omega)
    assert model.predict_proba(sparse.csr_matrix((1, 3)), [5.0])[0, 0] > 0.99


def test_learning_in_parts_and_combining_are_learning_at_once():
    X, y, omega = data()
    for name in ("poisson", "dirichlet_poisson", "dirichlet_negative_binomial", "negative_binomial", "bernoulli"):
        whole = BayesCountClassifier(name).fit(X, y, lengths=omega)
        parts = BayesCountClassifier(name).partial_fit(X[:1], y[:1], classes=["spam", "ham"], lengths=omega[:1])
        for rows in (slice(1, 30), slice(30, 80)):
            parts.partial_fit(X[rows], y[rows], lengths=omega[rows])
        halves = [
            BayesCountClassifier(name).fit(X[rows], y[rows], lengths=omega[rows])
            for rows in (slice(0, 40), slice(40, 80))
        ]
        for other in (parts, halves[0].combine(halves[1])):
            np.testing.assert_array_equal(other.predict_proba(X, omega), whole.predict_proba(X, omega))


def test_weights_are_repetition():
    X, y, omega = data()
    weight = np.arange(80) % 3
    twice = np.repeat(np.arange(80), weight)
    for name in ("poisson", "dirichlet_poisson", "dirichlet_negative_binomial"):
        weighted = BayesCountClassifier(name).fit(X, y, sample_weight=weight, lengths=omega)
        repeated = BayesCountClassifier(name).fit(X[twice], y[twice], lengths=omega[twice])
        np.testing.assert_allclose(weighted.predict_proba(X, omega), repeated.predict_proba(X, omega), atol=1e-7)


def test_mode_mean_and_integral_agree_where_much_is_known():
    X, y, omega = data(600)
    for name in ("dirichlet_poisson", "dirichlet_negative_binomial"):
        proba = {
            how: BayesCountClassifier(name, beta=(2.0, 1.0), prediction=how)
            .fit(X, y, lengths=omega)
            .predict_proba(X, omega)
            for how in ("mode", "mean", "integrated")
        }
        np.testing.assert_allclose(proba["mean"], proba["mode"], atol=0.08)
        np.testing.assert_allclose(proba["integrated"], proba["mean"], atol=0.08)
        assert not np.array_equal(proba["integrated"], proba["mean"])


def test_draws_do_not_depend_on_threads():
    X, y, omega = data(n_words=8)
    found = [
        BayesCountClassifier("dirichlet_poisson", prediction="mean", n_jobs=jobs).fit(X, y, lengths=omega).estimate_
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(found[0].draws, found[1].draws)
    assert found[0].r_hat.shape == (2, 8)
    assert found[0].effective.min() > 20.0


def test_cross_validation_finds_that_useless_words_need_a_strong_prior():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    noise = sparse.csr_matrix(rng.poisson(1.0, (120, 60)).astype(float))
    model = BayesCountClassifier("dirichlet_poisson", beta="cv").fit(noise, y)
    weak = BayesCountClassifier("dirichlet_poisson", beta=(1.0, 0.01)).fit(noise, y)
    assert model.model_.beta[0] * 1000 + model.model_.beta[1] > 1000
    fresh = sparse.csr_matrix(rng.poisson(1.0, (200, 60)).astype(float))
    assert np.abs(model.decision_function(fresh)).mean() < 0.5 * np.abs(weak.decision_function(fresh)).mean()


def test_automatic_constants_follow_the_amount_of_text():
    X, y, omega = data()
    found = BayesCountClassifier("dirichlet_negative_binomial").fit(X, y, lengths=omega).estimate_.beta
    np.testing.assert_allclose(found[:2], [10.0, 0.3 * omega.sum() / 2.0], rtol=1e-5)


def test_state_is_json_and_arrays_and_is_checked():
    X, y, omega = data()
    model = BayesCountClassifier(make_count_model("dirichlet_poisson", rate_means=np.ones((2, 8)))).fit(
        X, y, lengths=omega
    )
    meta, arrays = state_of_classifier(model, statistics=False)
    meta = json.loads(json.dumps(meta))
    restored = restore_classifier(BayesCountClassifier, meta, arrays)
    np.testing.assert_array_equal(restored.predict_proba(X, omega), model.predict_proba(X, omega))
    with pytest.raises(NotSupportedError, match="without its statistics"):
        restored.partial_fit(X, y)
    with pytest.raises(NotSupportedError, match="without its statistics"):
        restored.combine(model)
    pickle = {**meta["model"], "name": "pickle"}
    for broken in ({**meta, "model": pickle}, {**meta, "n_features": 3}, {key: meta[key] for key in ("model",)}):
        with pytest.raises(ModelFileError):
            restore_classifier(BayesCountClassifier, broken, arrays)
    fields = meta["model"]["fields"]
    for sampling in ("None", [], {"draws": 3}, {"n_draws": -1}):
        changed = {**meta["model"], "fields": {**fields, "sampling": sampling}}
        with pytest.raises(ModelFileError, match="the count classifier cannot be used"):
            restore_classifier(BayesCountClassifier, {**meta, "model": changed}, arrays)
    with pytest.raises(ModelFileError, match=r"estimate\.rates has values from nan"):
        restore_classifier(BayesCountClassifier, meta, {**arrays, "estimate.rates": np.full((2, 8), np.nan)})


@pytest.mark.parametrize("last", [0, -1, 10**6])
def test_documents_of_a_state_are_never_read_outside_of_their_arrays(last):
    X, y, omega = data()
    model = BayesCountClassifier("dirichlet_negative_binomial").fit(X, y, lengths=omega)
    meta, arrays = state_of_classifier(model, statistics=True)
    restore_classifier(BayesCountClassifier, meta, arrays).partial_fit(X, y, lengths=omega)
    pointers = arrays["documents.X.indptr"].copy()
    pointers[-1] = last
    with pytest.raises(ModelFileError):
        restore_classifier(BayesCountClassifier, meta, {**arrays, "documents.X.indptr": pointers})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": 3}, "neither the name"),
        ({"class_prior": [0.5, 0.2]}, "add up to 1"),
        ({"class_prior": "even"}, "not known"),
        ({"prediction": "median"}, "not known"),
        ({"model": "poisson", "beta": (2.0, 1.0)}, "has no constants beta"),
        ({"model": "poisson", "prediction": "mean"}, "has no prediction"),
        ({"model": "poisson", "beta": "cv"}, "has no constants"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    X, y, _ = data()
    with pytest.raises(InputError, match=message):
        BayesCountClassifier(**settings).fit(X, y)


def test_bad_documents_are_refused():
    X, y, omega = data()
    model = BayesCountClassifier("poisson")
    with pytest.raises(InputError, match="Negative values"):
        model.fit(-X, y)
    with pytest.raises(InputError, match="has words but length 0"):
        model.fit(X, y, lengths=np.zeros(80))
    for odd, message in ((-1.0, "lengths go down to -1"), (np.nan, "NaN")):
        with pytest.raises(InputError, match=message):
            model.fit(X, y, lengths=np.where(np.arange(80) == 3, odd, omega))
    for lengths in (None, np.zeros(80)):
        with pytest.raises(InputError, match="no document has a word"):
            model.fit(0 * X, y, lengths=lengths)
    with pytest.raises(InputError, match="one length for each"):
        model.fit(X, y, lengths=omega[:5])
    with pytest.raises(InputError, match="only one class"):
        model.fit(X[:3], ["a", "a", "a"])
    with pytest.raises(NotSupportedError, match="several labels"):
        model.fit(X[:2], [["a"], ["a", "b"]])
    with pytest.raises(InputError, match="differ in length"):
        model.fit(X, y[:5])
    with pytest.raises(ValueError, match=r"leaves nothing|non-zero"):  # newer scikit-learn refuses it before we do
        model.fit(X, y, sample_weight=np.zeros(80))


def test_learning_in_parts_refuses_what_cannot_be():
    X, y, omega = data()
    with pytest.raises(InputError, match="classes must be passed"):
        BayesCountClassifier().partial_fit(X, y)
    with pytest.raises(NotSupportedError, match="beta='cv'"):
        BayesCountClassifier(beta="cv").partial_fit(X, y, classes=["ham", "spam"])
    model = BayesCountClassifier("poisson").partial_fit(X, y, classes=["ham", "spam"])
    with pytest.raises(InputError, match="were given in the first call"):
        model.partial_fit(X, y, classes=["ham", "eggs"])
    with pytest.raises(InputError, match="not among the classes"):
        model.partial_fit(X, np.full(80, "eggs"))
    with pytest.raises(InputError, match="models differ"):
        model.combine(BayesCountClassifier("multinomial").fit(X, y))
    with pytest.raises(InputError, match="classes differ"):
        model.combine(BayesCountClassifier("poisson").fit(X, np.where(y == "ham", "eggs", y)))
    with pytest.raises(InputError, match="fewer than two"):
        choose_beta(make_count_model("dirichlet_poisson"), X[:3], np.eye(2)[[0, 1, 1]], omega[:3], np.zeros(2))


def test_a_class_without_documents_waits_for_them():
    X, y, omega = data()
    for name in ("multinomial", "poisson", "negative_binomial", "dirichlet_poisson", "dirichlet_negative_binomial"):
        model = BayesCountClassifier(name).partial_fit(X, y, classes=["eggs", "ham", "spam"], lengths=omega)
        proba = model.predict_proba(X, omega)
        assert np.isfinite(proba).all()
        assert (model.predict(X, omega) != "eggs").mean() > 0.9


RATE_MODELS = [
    make_count_model("poisson"),
    make_count_model("negative_binomial"),
    make_count_model("negative_binomial", method="likelihood"),
    make_count_model("dirichlet_poisson", beta="auto"),
    make_count_model("dirichlet_negative_binomial", beta="auto"),
]


@pytest.mark.parametrize("model", RATE_MODELS, ids=lambda model: f"{model.name}-{getattr(model, 'method', 'auto')}")
def test_words_that_no_class_had_tell_nothing_however_many_they_are(model):
    X, y, omega = data()  # the classes have unequal amounts of text
    longer = sparse.hstack([X, sparse.csr_matrix((X.shape[0], 5000))], format="csr")
    new = longer.tolil()
    new[:, 8:40] = 1.0
    few = BayesCountClassifier(model).fit(X, y, lengths=omega)
    many = BayesCountClassifier(model).fit(longer, y, lengths=omega)
    for documents in (longer, new.tocsr()):
        np.testing.assert_allclose(
            many.decision_function(documents, omega), few.decision_function(X, omega), rtol=1e-7, atol=1e-7
        )


@pytest.mark.parametrize("prediction", ["mean", "integrated"])
@pytest.mark.parametrize("name", ["dirichlet_poisson", "dirichlet_negative_binomial"])
def test_words_that_no_class_had_tell_nothing_in_draws_either(name, prediction):
    X, y, omega = data(n_docs=20)
    longer = sparse.hstack([X, sparse.csr_matrix((X.shape[0], 30))], format="csr")
    few, many = (
        BayesCountClassifier(name, prediction=prediction).fit(counts, y, lengths=omega).decision_function(counts, omega)
        for counts in (X, longer)
    )
    np.testing.assert_allclose(many, few, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["negative_binomial", "dirichlet_negative_binomial"])
def test_a_count_of_billions_is_scored_at_once_and_only_refused_in_learning(name):
    X, y, omega = data()
    model = BayesCountClassifier(name).fit(X, y, lengths=omega)
    assert np.isfinite(model.predict_proba(X * 1e9, omega)).all()
    huge = X.copy()
    huge.data[0] = 3e9
    if name.startswith("dirichlet"):
        with pytest.raises(InputError, match="occurs 3e\\+09 times"):
            BayesCountClassifier(name).fit(huge, y, lengths=omega)


def test_labels_that_are_nan_and_what_is_no_classifier_are_refused():
    X, y, omega = data()
    with pytest.raises(InputError, match="NaN"):
        BayesCountClassifier("poisson").fit(X, np.where(y == "ham", np.nan, 1.0))
    with pytest.raises(InputError, match="was given int"):
        BayesCountClassifier("poisson").fit(X, y, lengths=omega).combine(3)


def test_automatic_constants_of_poisson_rates_grow_to_all_of_the_text():
    X, y, omega = data()
    shares = []
    for scale in (0.01, 1.0, 100.0):
        model = BayesCountClassifier("dirichlet_poisson").fit(X, y, lengths=scale * omega)
        text = scale * omega.sum() / 2.0
        shares.append(model.estimate_.beta[1] / text)
        assert model.estimate_.beta[0] == 10.0
    assert shares[0] < 0.2 < shares[1] < shares[2] < 1.0


@pytest.mark.parametrize("method", ["fit_classes", "gather"])
def test_labels_and_documents_of_different_numbers_are_named(method):
    with pytest.raises(InputError, match=r"4.*2|2.*4"):
        getattr(BayesCountClassifier(), method)(np.ones((4, 3)), [0, 1], [0, 1])

"""Between filters and model files: the same words, weights and probabilities, there and back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from textbayes import BayesLinearClassifier, BayesOnlineClassifier, TextCategorizer
from textbayes.core.errors import InputError, ModelFileError
from textbayes.models.online import DeferredPosterior
from textbayes.store import load_categorizer, save_model
from textbayes.stream import FilterFolder, export_model, filter_from_model, replay_log, simulate
from textbayes.stream.run import run
from textbayes.text import TermWeighting, TextVectorizer

from .conftest import draw

KINDS = {
    "deferred": {},
    "full": {"deferred": False},
    "low_rank": {"covariance": "low_rank"},
    "diagonal": {"covariance": "diagonal"},
    "linear process": {"covariance": "gp"},
    "rbf process": {"covariance": "gp", "kernel": "rbf", "basis": 20},
}


def texts_of(documents):
    return [document.text for document in documents]


def probabilities(filter, texts):
    return filter.score(filter.read(texts)).probability


@pytest.fixture(scope="module", params=list(KINDS))
def taught(request, make, stream):
    """A filter that has learnt on, with words of its own and others in the lexicon."""
    desk = make(word_threshold=6.0, threshold=0.4, **KINDS[request.param])
    assert list(simulate(desk, stream[:100]))
    return desk


@pytest.fixture(scope="module")
def exported(taught, tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "m.tb"
    save_model(export_model(taught), path)
    return load_categorizer(path)


@pytest.fixture(scope="module")
def trained():
    """A function that trains a categorizer on labelled documents."""
    documents = draw(3, 120)
    one = ["both" if len(document.labels) == 2 else (*document.labels, "none")[0] for document in documents]
    labels = {
        "multilabel": [document.labels for document in documents],
        "multiclass": one,
        "binary": ["grain" if "grain" in document.labels else "other" for document in documents],
    }

    def train(model, kind="multilabel", **settings):
        return TextCategorizer(model=model, cv=2, **settings).fit(texts_of(documents), labels[kind])

    return train


# -- out --------------------------------------------------------------------------------------------------------------
def test_an_exported_model_has_the_probabilities_and_decisions_of_the_filter(taught, exported, stream):
    texts = [*texts_of(stream[100:]), "", "words that nobody has met", "corn corn corn corn bank"]
    expected = probabilities(taught, texts)
    assert exported.classes_.tolist() == [topic.name for topic in taught.topics]
    np.testing.assert_allclose(exported.predict_proba(texts), expected, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(exported.predict(texts), expected > 0.4)
    assert 0.1 < (expected > 0.4).mean() < 0.9


def test_words_and_explanations_of_an_exported_model(taught, exported, stream):
    for topic in taught.topics:
        mean = topic.mean[1:]
        own = dict(zip(taught.lexicon.names(topic.words), mean.tolist(), strict=True))
        assert len(own) < len(taught.lexicon)
        found = dict(exported.top_words(topic.name, 5))
        noise = taught.settings.noise or 1.0
        best = sorted((value / noise for value in own.values() if value > 0.0), reverse=True)[:5]
        np.testing.assert_allclose(list(found.values()), best, rtol=1e-6)
        assert all(word in own for word in found)
    for document in stream[:10]:
        scores = exported.decision_function([document.text])[0]
        contributions = exported.model_.contributions(exported.features([document.text]))
        np.testing.assert_allclose(contributions.base + contributions.parts.sum(axis=1), scores, atol=1e-9)


def test_an_exported_model_learns_on_as_the_filter_would(taught, exported, stream):
    """One judged document that brings no new word, without rehearsal."""
    document = stream[150]
    k = 0
    bag = taught.read([document.text]).bag(0)
    other = taught.copy(rehearse=False, most_words=1)
    other.judge("x", other.topics[k].name, True, bag)
    labels = [[name for name in exported.classes_ if name == other.topics[k].name]]
    after = load_copy(exported).update([document.text], labels)
    texts = texts_of(stream[160:])
    np.testing.assert_allclose(after.predict_proba(texts)[:, k], probabilities(other, texts)[:, k], rtol=0.0, atol=1e-7)


def load_copy(model):
    return TextCategorizer.from_state(*model.to_state())


def test_a_file_with_a_word_twice_or_beyond_the_vocabulary_is_refused(make):
    meta, arrays = export_model(make()).to_state()
    words = arrays["fitted.0.0.words"]
    for bad in (np.full_like(words, words[0]), np.where(words == words[0], 10**6, words), words[:-1].copy()):
        with pytest.raises(ModelFileError):
            TextCategorizer.from_state(meta, arrays | {"fitted.0.0.words": bad})


# -- in ---------------------------------------------------------------------------------------------------------------
def test_a_filter_from_an_exported_model_goes_on_with_the_same_probabilities(taught, exported, stream):
    texts = texts_of(stream[100:])
    back = filter_from_model(exported)
    np.testing.assert_allclose(probabilities(back, texts), probabilities(taught, texts), rtol=0.0, atol=1e-9)
    kept = ("covariance", "kernel", "link", "noise", "variance", "threshold", "text", "weighting", "norm")
    assert {name: getattr(back.settings, name) for name in kept} == {
        name: getattr(taught.settings, name) for name in kept
    }
    assert isinstance(back.topics[0].posterior, DeferredPosterior) == (back.settings.covariance == "full")
    np.testing.assert_array_equal(
        back.lexicon.document_frequency, np.maximum(taught.lexicon.document_frequency, 1)
    )  # a word that no training document has counts as in one
    assert len(list(simulate(back, stream[100:]))) > 5
    assert all(topic.n_relevant > 0 for topic in back.topics)


def test_a_folder_from_a_model_replays_to_the_bit(exported, stream, tmp_path):
    path = tmp_path / "desk"
    FilterFolder.create(path, filter_from_model(exported, word_threshold=6.0))
    for part in (stream[:50], stream[50:]):
        with FilterFolder.open(path) as folder:
            folder.begin("stream")
            assert list(run(folder, [part], by_labels=True))
    found = replay_log(path)
    assert found.difference is None
    assert found.judgements > 10


@pytest.mark.parametrize("weighting", [None, "ltc", "tfidf", "raw", "log", TermWeighting("raw", norm=None)])
def test_words_are_weighed_as_the_model_weighs_them(trained, stream, weighting):
    model = trained("online", weighting=weighting)
    desk = filter_from_model(model)
    texts = [*texts_of(stream), "corn corn corn wheat wheat bank", ""]
    np.testing.assert_allclose(probabilities(desk, texts), model.predict_proba(texts), rtol=0.0, atol=1e-9)
    if isinstance(weighting, str | None) and weighting not in ("raw", "log"):
        counts = model.vectorizer_.transform(texts_of(draw(3, 120)))
        np.testing.assert_array_equal(desk.lexicon.document_frequency, np.bincount(counts.indices))


@pytest.mark.parametrize("model", ["online:covariance=full", "online:covariance=low_rank,link=logit", "gp:kernel=rbf"])
@pytest.mark.parametrize("kind", ["multilabel", "multiclass", "binary"])
def test_every_label_becomes_a_topic_with_its_own_probability(trained, stream, model, kind):
    model = trained(model, kind)
    desk = filter_from_model(model)
    assert [topic.name for topic in desk.topics] == model.classes_.tolist()
    texts = texts_of(stream)
    own = special.expit(model.decision_function(texts))
    expected = np.column_stack([1.0 - own, own]) if kind == "binary" else own
    np.testing.assert_allclose(probabilities(desk, texts), expected, rtol=0.0, atol=1e-9)
    assert list(simulate(desk, stream))


def test_of_two_classes_with_a_skewed_link_only_the_second_is_a_topic(trained, stream):
    model = trained(BayesOnlineClassifier("skew_t:df=4,skew=2"), "binary")
    desk = filter_from_model(model)
    assert [topic.name for topic in desk.topics] == ["other"]
    texts = texts_of(stream)
    np.testing.assert_allclose(probabilities(desk, texts), model.predict_proba(texts)[:, 1:], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_a_linear_model_with_intervals_gives_its_predictor_averaged_over_its_errors(trained, stream, link):
    model = trained(BayesLinearClassifier(link, "gaussian", scale=3.0), intervals=True)
    desk = filter_from_model(model)
    texts = texts_of(stream)
    X = model.features(texts).weights
    mean = X @ model.coef_.T + model.intercept_
    var = X.multiply(X) @ (model.standard_errors_**2).T + model.model_.linear.intercept_errors_**2
    if link == "probit":
        expected = stats.norm.cdf(mean / np.sqrt(1.0 + var))
    else:  # ∫ expit(u) N(u; mean, var) du by Gauss–Hermite
        nodes, weights = np.polynomial.hermite_e.hermegauss(80)
        at = mean[..., None] + np.sqrt(var)[..., None] * nodes
        expected = special.expit(at) @ weights / np.sqrt(2.0 * np.pi)
    np.testing.assert_allclose(probabilities(desk, texts), expected, rtol=0.0, atol=1e-7)
    before = probabilities(desk, texts)
    assert list(simulate(desk, stream))
    assert (probabilities(desk, texts) != before).any()


def test_words_that_a_linear_model_holds_at_zero_join_by_evidence(trained, stream):
    model = trained(BayesLinearClassifier("probit", "laplace", scale=0.3), intervals=True)
    desk = filter_from_model(model, word_threshold=3.0)
    for k, topic in enumerate(desk.topics):
        np.testing.assert_array_equal(topic.words, np.flatnonzero(model.coef_[k]))
    before = [len(topic.words) for topic in desk.topics]
    assert min(before) < len(desk.lexicon)
    list(simulate(desk, stream))
    assert [len(topic.words) for topic in desk.topics] > before


def test_topics_are_chosen_and_settings_given(trained, stream):
    model = trained("online")
    desk = filter_from_model(model, topics=["money"], threshold=0.7, ask="never")
    assert [topic.name for topic in desk.topics] == ["money"]
    assert (desk.settings.threshold, desk.settings.ask) == (0.7, "never")
    with pytest.raises(InputError, match="no label 'sport'; choose among 'grain', 'money'"):
        filter_from_model(model, topics=["sport"])
    with pytest.raises(InputError, match="covariance='full' is given, but the model has 'diagonal'"):
        filter_from_model(model, covariance="full")


def test_statistics_begin_anew_where_the_model_does_not_tell_them(trained, stream):
    model = trained("online", weighting="raw")
    told = filter_from_model(model)
    assert [topic.n_relevant for topic in told.topics] == model.label_counts_.tolist()
    model.weighting_.document_frequency_ = None  # as in a file of an earlier version
    desk = filter_from_model(model)
    for topic in desk.topics:
        assert (topic.n_relevant, desk.lexicon.n_docs + topic.n_later) == (0, 0)
    list(simulate(desk, stream))
    judged = {k: [r for (_, topic), r in desk.judgements.items() if topic == k] for k in range(2)}
    for k, topic in enumerate(desk.topics):
        assert desk.lexicon.n_docs + topic.n_later == len(judged[k]) > 0
        assert topic.n_relevant == sum(judged[k])


@pytest.mark.parametrize(
    ("model", "settings", "cause"),
    [
        ("counts", {}, "from a model of type 'counts': it needs a Gaussian posterior of weights"),
        (
            None,
            {},
            "reads texts in several views, which a filter cannot do; train one for it with train --preset linear",
        ),
        (
            None,
            {"preset": "linear"},
            "has no standard errors of its weights, which a filter needs to start from it; train it with",
        ),
        (["online", "counts"], {}, "from a model of type 'online, counts'"),
        ("online", {"vectorizer": TextVectorizer(binary=True)}, "counts each word once"),
    ],
)
def test_models_that_are_refused(trained, model, settings, cause):
    with pytest.raises(InputError, match=cause):
        filter_from_model(trained(model, **settings))


def test_a_model_that_has_learnt_more_texts_than_it_was_trained_on_is_saved_and_loaded(trained, tmp_path):
    model = trained("online", "binary")
    model.update(["corn wheat harvest"] * 200, ["grain"] * 200)
    save_model(model, tmp_path / "m.tb")
    again = load_categorizer(tmp_path / "m.tb")
    assert again.label_counts_.max() > 200
    desk = filter_from_model(again)  # how many of the texts that were weighed were relevant is not known any more
    assert [topic.n_relevant for topic in desk.topics] == [0, 0]
    np.testing.assert_allclose(
        probabilities(desk, ["corn"])[:, 0], again.predict_proba(["corn"])[:, 0], rtol=0.0, atol=1e-9
    )

"""A model that was saved and loaded has every parameter that it had, and fitted again it is the same model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from textbayes import (
    BayesLinearClassifier,
    BayesMultinomialClassifier,
    TextCategorizer,
    TextVectorizer,
    load_model,
    save_model,
)
from textbayes.core.errors import InputError
from textbayes.core.validation import as_numbers
from textbayes.decide import MaxF1, UnsureBand
from textbayes.inference import BaseInference
from textbayes.inference.em import BlockEm, Em
from textbayes.inference.gibbs.sampler import Gibbs
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.links import links, make_link
from textbayes.links.logit import Logit
from textbayes.links.skew_t import SkewT
from textbayes.priors import BasePrior, priors
from textbayes.priors.by_word import ByWord
from textbayes.priors.elastic_net import ElasticNet
from textbayes.priors.gaussian import Gaussian
from textbayes.text import SlowTokenPatternWarning, TermWeighting
from textbayes.tune import BayesLinearClassifierCV

TEXTS = ["wheat and corn prices", "corn harvest", "bank rates rise", "the bank cuts rates", "oil price", "oil"] * 3
LABELS = ["grain", "grain", "money", "money", "oil", "oil"] * 3
MANY = [[label] for label in LABELS[:-1]] + [["grain", "oil"]]
TABLE = WordPriors([
    WordPrior("wheat", "grain", 2.0, 0.5, "gaussian", source="a farmer"),
    WordPrior("rye", "grain", "for"),
    WordPrior("oil", sign=1),
    WordPrior("bank", "oil", scale=np.inf),
])  # fmt: skip
WORDS = ["bank", "corn", "oil", "price", "rates"]
FAMILIES = ["laplace", "gaussian", "laplace", "gaussian", "laplace"]
linear = BayesLinearClassifier
SAMPLER = Gibbs(chains=2, warmup=5, max_draws=6, target_ess=3.0, random_state=7, factors=1)
PLAIN_SAMPLER = Gibbs(chains=2, warmup=5, max_draws=6, target_ess=3.0, random_state=7)

GIVEN = {
    "nothing": ({}, LABELS),
    "prior object": ({"model": linear(prior=Gaussian(scale=2.0, mean=0.1))}, LABELS),
    "prior object with more": ({"model": [linear(prior=ElasticNet(l1_ratio=0.3), tol=1e-5)]}, LABELS),
    "prior by word": (
        {
            "model": linear(prior=ByWord(scale=np.arange(1.0, 6.0), family=FAMILIES)),
            "vectorizer": TextVectorizer(vocabulary=WORDS),
        },
        LABELS,
    ),
    "scales by label and word": (
        {"model": linear(scale=np.outer([1.0, 2.0, np.inf], np.ones(5)), intercept_scale=[1.0, 2.0, np.inf])}
        | {"vectorizer": TextVectorizer(vocabulary=WORDS)},
        LABELS,
    ),
    "inference objects": (
        {"model": [linear(inference=Em(plain=True, max_iter=7)), linear(inference=BlockEm(memory=4096))]},
        MANY,
    ),
    "sampler": ({"model": linear("probit", inference=SAMPLER), "keep_draws": 6, "posterior_predictive": False}, LABELS),
    "sampler of a softmax": ({"model": BayesMultinomialClassifier(inference=PLAIN_SAMPLER)}, LABELS),
    "prior object of a softmax": ({"model": BayesMultinomialClassifier(prior=Gaussian(scale=2.0))}, LABELS),
    "link object": ({"model": linear(link=SkewT(df=8, skew=2), max_iter=20)}, LABELS),
    "search": ({"model": BayesLinearClassifierCV(scales=[0.5, 1.0, 2.0], cv=2, rule="one_se")}, LABELS),
    "prior table": ({"prior": TABLE, "prior_weight": 0.5}, LABELS),
    "prior table, weighed": ({"prior": TABLE, "n_jobs": 2, "random_state": 3}, LABELS),
    "rule by name": ({"rule": "max_f1"}, MANY),
    "rule object": ({"rule": UnsureBand(MaxF1(fbr=0.1), low=[0.1, 0.2, 0.3])}, MANY),
    "weighting by name": ({"weighting": "ltc", "preset": "linear"}, LABELS),
    "weighting object": (
        {"weighting": TermWeighting("raw", norm=None), "select": "chi2", "select_k": 3, "preset": "linear"},
        LABELS,
    ),
    "vectorizer": ({"vectorizer": TextVectorizer(stop_words=["the"], ngram_range=(1, 2), max_features=9)}, LABELS),
    "vocabulary and prior": ({"vectorizer": TextVectorizer(vocabulary=WORDS[::-1]), "prior": TABLE}, LABELS),
    "calibrated": ({"calibrate": True, "model": linear(scale=3.0), "class_weight": "balanced"}, LABELS),
    "weights of classes": ({"class_weight": {"oil": 2.0, "grain": np.float64(0.5)}}, LABELS),
    "weights of numbers": ({"class_weight": {1: 3}}, [1, 1, 2, 2, 3, 3] * 3),
    "rule with parameters": ({"rule": "max_f1:fbr=0.1"}, MANY),
    "refit": ({"refit_k": 2, "intervals": True, "preset": "linear"}, LABELS),
}  # fmt: skip


def plain(value):
    """A parameter in a form that can be compared."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, BasePrior | BaseInference):
        return type(value), {name: plain(one) for name, one in vars(value).items()}
    if hasattr(value, "get_params"):
        return type(value), {name: plain(one) for name, one in value.get_params(deep=False).items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.spec if hasattr(value, "spec") else value


@pytest.mark.filterwarnings("ignore")  # of few texts, of folds, of words that are not there
@pytest.mark.parametrize("name", GIVEN)
def test_every_parameter_survives(name, tmp_path):
    given, labels = GIVEN[name]
    model = TextCategorizer(cv=2, **given).fit(TEXTS, labels)
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    before, after = plain(model)[1], plain(again)[1]
    assert after == before
    fitted = clone(again).fit(TEXTS, labels)
    np.testing.assert_array_equal(fitted.predict_proba(TEXTS), model.predict_proba(TEXTS))
    np.testing.assert_array_equal(fitted.model_.word_weights().weights, model.model_.word_weights().weights)
    assert fitted.prior_audit_ == model.prior_audit_ == again.prior_audit_
    assert repr(fitted.prior_advice_) == repr(model.prior_advice_) == repr(again.prior_advice_)


@pytest.mark.filterwarnings("ignore:the prior names:UserWarning")
def test_the_table_of_a_prior_file_comes_back_without_the_file(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text(TABLE.to_csv())
    model = TextCategorizer(cv=2, prior=path, prior_weight=1.0).fit(TEXTS, LABELS)
    path.unlink()
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    assert again.prior == TABLE
    np.testing.assert_array_equal(clone(again).fit(TEXTS, LABELS).coef_, model.coef_)


def test_a_stop_word_file_is_not_read_again(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("corn\noil\n")
    model = TextCategorizer(cv=2, vectorizer=TextVectorizer(stop_words=str(path))).fit(TEXTS, LABELS)
    path.unlink()
    save_model(model, tmp_path / "m.tb")
    again = clone(load_model(tmp_path / "m.tb")).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(again.coef_, model.coef_)


class Mine(Gaussian):
    """A prior that no other process knows."""


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"model": linear(prior=Mine(2.0))},
            "the prior of the classifier is a Mine, which a model file cannot keep",
        ),
        (
            {"model": BayesLinearClassifierCV(scales=2, cv=StratifiedKFold(2))},
            "the cv of the classifier is a Strat",
        ),
        (
            {"vectorizer": TextVectorizer(token_pattern=r"\w+@?\w+")},
            "token_pattern.* it may take for ever on some texts",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:token_pattern:UserWarning")
def test_what_cannot_be_kept_is_refused_when_saved(parameters, message, tmp_path):
    model = TextCategorizer(cv=2, **parameters).fit(TEXTS, [label == "oil" for label in LABELS])
    with pytest.raises(InputError, match=message):
        save_model(model, tmp_path / "m.tb")
    assert not (tmp_path / "m.tb").exists()


def test_a_pattern_that_cannot_be_kept_is_told_of_before_the_work_begins():
    with pytest.warns(SlowTokenPatternWarning, match="a model file cannot keep it, as it may take for ever"):
        TextVectorizer(token_pattern=r"\w+@\w+").fit(["a@b"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_watches_a_sampler_is_left_out_with_a_warning(tmp_path):
    sampler = Gibbs(chains=2, warmup=5, max_draws=6, target_ess=3.0, progress=lambda at: None)
    model = TextCategorizer(cv=2, keep_draws=6, model=linear("probit", inference=sampler)).fit(TEXTS, LABELS)
    with pytest.warns(UserWarning, match="progress and resume are of one run"):
        save_model(model, tmp_path / "m.tb")
    assert load_model(tmp_path / "m.tb").model.inference.plan == sampler.plan


def test_a_prior_and_a_link_with_parameters_of_their_own_need_no_other_file(tmp_path, monkeypatch):
    """As a stranger would add them: registered, and nothing said of files."""

    class Ridge(Gaussian):
        name = "ridge_of_two"

        def __init__(self, scale=1.0, mean=0.0, sign=0, more=2.0):
            super().__init__(scale, mean, sign)
            self.more = as_numbers(more, "more")

    class Tilted(Logit):
        name = "tilted"
        parameters = ("shift", "on", "kind")

        def __init__(self, shift=0.0, on=False, kind="plain"):
            self.shift, self.on, self.kind = shift, on, kind

    for registry, cls in ((priors, Ridge), (links, Tilted)):
        registry.names()
        monkeypatch.setitem(registry._members, cls.name, cls)
    texts, labels = ["tea time", "tea and toast", "rain again", "more rain"] * 5, ["tea", "tea", "rain", "rain"] * 5
    given = BayesLinearClassifier(Tilted(0.5, True, "steep"), Ridge(2.0, more=np.array(3.0)))
    model = TextCategorizer(model=given, cv=2).fit(texts, labels)
    save_model(model, tmp_path / "own.tb")
    again = load_model(tmp_path / "own.tb")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert (float(again.model.prior.scale), float(again.model.prior.more)) == (2.0, 3.0)
    assert make_link(again.model.link) == Tilted(0.5, True, "steep")

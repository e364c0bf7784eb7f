from __future__ import annotations

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.report import collect_report
from textbayes.report.wording import members_in_words, settings_in_words
from textbayes.store import load_model, save_model
from textbayes.text import HashingTextVectorizer, TextVectorizer
from textbayes.tune import BayesLinearClassifierCV

TEXTS = ["corn and wheat", "wheat prices", "bank rates", "the bank"] * 4
LABELS = ["grain", "grain", "money", "money"] * 4


def _settings(**options) -> dict[str, str]:
    return dict(settings_in_words(TextCategorizer(cv=2, **options).fit(TEXTS, LABELS)))


def test_the_defaults_in_words():
    settings = _settings(preset="linear")
    assert settings["Labels"] == "yes or no: money (yes) or grain (no)"
    assert "Porter stems" in settings["Words"]
    assert "stop words left out" in settings["Words"]
    assert settings["Model"].startswith("logistic regression per label; ")
    assert settings["Decision"].startswith("fixed: ")


def test_other_choices_in_words():
    vectorizer = TextVectorizer(token_pattern=r"\w+", ngram_range=(1, 2), lowercase=False)
    classifier = BayesLinearClassifier(link="probit", scale=2.0)
    settings = _settings(vectorizer=vectorizer, weighting="binary", model=classifier, rule="max_f1")
    assert settings["Words"].startswith(r"what matches \w+, sequences of 1 to 2: ")
    assert settings["Weight of a word in a text"] == "1 if the word occurs, each text scaled to length one"
    assert settings["Model"].startswith("probit regression per label; ")
    assert "pool" not in settings["Model"]
    assert settings["Decision"].startswith("max_f1: ")


def test_characters_in_words():
    settings = _settings(vectorizer=TextVectorizer(analyzer="char_wb", ngram_range=(2, 3)))
    assert settings["Words"].startswith("runs of 2 to 3 characters within words: ")


def test_hashed_words_have_a_report_too(tmp_path):
    model = TextCategorizer(cv=2, preset="linear", vectorizer=HashingTextVectorizer(n_features=64)).fit(TEXTS, LABELS)
    assert dict(settings_in_words(model))["Words"].endswith(": hashed into 64 columns")
    save_model(model, tmp_path / "m.tb")
    data = collect_report(load_model(tmp_path / "m.tb"), TEXTS, LABELS)
    assert data.right.share == 1.0
    assert all(group.words for group in data.words)


def test_members_in_words():
    pooled = TextCategorizer(cv=2, preset="linear").fit(TEXTS, LABELS)
    assert members_in_words(pooled) == [
        "logit link, laplace prior of scale 10",
        "logit link, gaussian prior of scale 5.5",
    ]
    alone = BayesLinearClassifier(scale=2.0)
    assert members_in_words(TextCategorizer(cv=2, model=alone).fit(TEXTS, LABELS)) == [
        "logit link, laplace prior of scale 2"
    ]
    searched = BayesLinearClassifierCV(scales=[1.0, 10.0], cv=2)
    assert searched.settings_description() == "logit link, laplace prior, its scale found by cv"


def test_classifiers_in_words():
    assert (
        BayesLinearClassifier(prior="gaussian", scale=5.5).settings_description()
        == "logit link, gaussian prior of scale 5.5"
    )
    early = BayesLinearClassifier("probit", scale=2.0, inference="em:plain=true")
    assert early.settings_description() == "probit link, laplace prior of scale 2, plain EM"
    several = BayesLinearClassifier(scale=np.ones(3))
    assert several.settings_description() == "logit link, laplace prior of scales of its own for each word or label"
    own = BayesLinearClassifier(link="probit", prior=make_prior("laplace", 2.0, 0.0))
    assert own.settings_description() == "probit link, laplace prior"


def test_languages_and_scripts_without_spaces_in_words():
    words = TextVectorizer(analyzer="mixed", token_pattern="all", stop_words="de", stemmer="de")
    told = _settings(vectorizer=words)["Words"]
    assert told.startswith("runs of letters or digits, !, ? and emoji, characters and sequences of them in scripts")
    assert "stop words left out (german list), German stems" in told

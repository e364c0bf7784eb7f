"""Small models of every kind that a model file can hold, for mutations to start from."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from textbayes import BayesLinearClassifier, HashingTextVectorizer, TextCategorizer, TextVectorizer
from textbayes.decide import UnsureBand
from textbayes.inference.em import Em
from textbayes.inference.gibbs.sampler import Gibbs
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.priors.by_word import ByWord
from textbayes.text import sentences
from textbayes.tune import BayesLinearClassifierCV

sys.path.insert(0, str(Path(__file__).parents[1]))  # for ``references``
from references.sentences import by_first_letter, draw, write_model

TEXTS = [
    "wheat and corn prices",
    "corn harvest of the year",
    "bank rates rise",
    "the bank cuts rates",
    "crude oil",
    "oil output and crude prices",
] * 2
LABELS = ["grain", "grain", "money", "money", "oil", "oil"] * 2
MANY = [[label] for label in LABELS[:-1]] + [["grain", "oil"]]
TWO = [label == "oil" for label in LABELS]
ASKED = [*TEXTS[:6], "never seen words", "", "corn and oil and the bank's rates", "Ünï \u0130\u03a3 \ud83d oil"]
SAMPLER = Gibbs(chains=2, warmup=5, max_draws=5, target_ess=2.0, random_state=3)
TABLE = WordPriors([WordPrior("wheat", "grain", 2.0, 0.5), WordPrior("rye", "grain", "for"), WordPrior("oil", sign=1)])


def use_sentence_model() -> Path:
    """Let this process have a sentence model without a network; what files name is looked for on no other machine."""
    folder = write_model(Path(tempfile.mkdtemp(prefix="textbayes-fuzz-"), "tiny"))
    os.environ |= {"TEXTBAYES_EMBEDDINGS": str(folder), "HF_HUB_OFFLINE": "1"}
    module: Any = sentences
    module.is_installed, module.load_encoder = (lambda: True), (lambda folder: by_first_letter)
    return folder


def variants() -> dict[str, TextCategorizer]:
    """Fitted models by name."""
    sentences = use_sentence_model()
    linear = BayesLinearClassifier
    unfitted: dict[str, tuple[TextCategorizer, Any]] = {
        "pool": (TextCategorizer(cv=2, embeddings="off"), LABELS),
        "intervals": (TextCategorizer(cv=2, model=linear(scale=3.0), intervals=True, select="chi2"), LABELS),
        "prior": (TextCategorizer(cv=2, prior=TABLE, prior_weight=1.0), LABELS),
        "sampled": (
            TextCategorizer(cv=2, keep_draws=6, model=linear("probit", scale=2.0, inference=SAMPLER)),
            LABELS,
        ),
        "hashed": (
            TextCategorizer(cv=2, preset="linear", vectorizer=HashingTextVectorizer(n_features=64), weighting="ltc"),
            TWO,
        ),
        "many": (TextCategorizer(cv=2, embeddings="off"), MANY),
        "tree": (TextCategorizer(cv=2, model="counts", label_tree={"grain": "goods", "oil": "goods"}), MANY),
        "unsure": (TextCategorizer(cv=2, rule=UnsureBand("shrunk_f1", precision=0.8)), MANY),
        "binary": (TextCategorizer(cv=2, vectorizer=TextVectorizer(stop_words=["and", "the"]), rule="max_f1"), TWO),
        "ngrams": (
            TextCategorizer(
                cv=2,
                vectorizer=TextVectorizer(ngram_range=(1, 2), token_pattern=r"\w+(?:-\w+)*", max_features=30),
                model=[linear(prior="gaussian", inference="newton"), linear(prior="laplace", inference=Em())],
            ),
            LABELS,
        ),
        "searched": (
            TextCategorizer(cv=2, model=BayesLinearClassifierCV(scales=3, cv=2), class_weight={True: 2.0}),
            TWO,
        ),
        "calibrated": (TextCategorizer(cv=2, model=linear(scale=3.0), calibrate=True), LABELS),
        "counts": (TextCategorizer(cv=2, model="counts:model=dirichlet_poisson"), LABELS),
        "documents kept": (TextCategorizer(cv=2, model="counts"), TWO),
        "counts of many": (TextCategorizer(cv=2, model="counts:model=multinomial"), MANY),
        "online": (TextCategorizer(cv=2, model="online"), LABELS),
        "full covariance": (TextCategorizer(cv=2, model="online:covariance=full"), TWO),
        "low rank": (TextCategorizer(cv=2, model="online:covariance=low_rank,rank=2"), MANY),
        "process": (TextCategorizer(cv=2, model="gp:kernel=rbf,budget=5"), LABELS),
        "pool of kinds": (TextCategorizer(cv=2, model=["linear", "counts:model=poisson", "online"]), LABELS),
    }
    models = {name: model.fit(TEXTS, labels) for name, (model, labels) in unfitted.items()}
    # Sentence vectors are kept where words cannot tell the labels: of the same labels, in other texts.
    models["sentence vectors"] = TextCategorizer(cv=2, embeddings=sentences).fit(*draw(0, 60))
    assert models["sentence vectors"].vectorizer_.views[-1].name == "embedding"
    # A scale for each word needs to know their number.
    n_words = models["binary"].coef_.shape[1]
    scales = [1.0 + 0.1 * j for j in range(n_words)]
    by_word = ByWord(scale=scales, family=["laplace", "gaussian"] * (n_words // 2) + ["laplace"] * (n_words % 2))
    fixed = TextVectorizer(vocabulary=list(models["binary"].vectorizer_.vocabulary_))
    models["by word"] = TextCategorizer(cv=2, vectorizer=fixed, model=linear(prior=by_word)).fit(TEXTS, LABELS)
    return models

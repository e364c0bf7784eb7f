"""The jobs of ``textbayes compile``: a small use of every feature, which compiles its kernels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from textbayes import decide, store, tune
from textbayes.categorizer import TextCategorizer
from textbayes.core.types import Document
from textbayes.inference.gibbs import Gibbs
from textbayes.inference.newton import logit_mode
from textbayes.kernels import n_compiled
from textbayes.lexical import keyness as test_keyness
from textbayes.models.clusters import SoftClusters
from textbayes.models.counts import BayesCountClassifier
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.multinomial import BayesMultinomialClassifier
from textbayes.models.online import (
    BayesOnlineClassifier,
    DeferredPosterior,
    FullPosterior,
    GaussianProcess,
    OnlineLikelihood,
    propagate,
)
from textbayes.models.weights import as_columns
from textbayes.scale.executor import JoblibExecutor
from textbayes.scale.linear import WorkerDocuments, fit_in_parts
from textbayes.screen.collection import Collection
from textbayes.screen.settings import ScreenSettings
from textbayes.screen.solver import GramSolver, RowSolver
from textbayes.screen.topic import ScreeningTopic
from textbayes.stream import AdaptiveFilter, FilterSettings, simulate
from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer

_LABELS = ("grain", "money", "oil")
_N_TEXTS = 24


# A round of these texts with each is judged by a filter: enough for what waits to be learnt together to be learnt.
_NEW_WORDS = ("barley", "copper", "cotton", "gold", "rubber", "silver", "sugar", "timber")


def make_texts() -> tuple[list[str], list[str]]:
    """Texts of made-up words, a third of which belong to each of three labels."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{a}{b}" for a in "abcdefgh" for b in "lmnop"])
    labels = [_LABELS[i % len(_LABELS)] for i in range(_N_TEXTS)]
    texts = [" ".join([label, "café", *rng.choice(words, 12)]) for label in labels]
    return texts, labels


def read_words(folder: Path) -> None:
    """Words, pairs of words, characters, hashed words."""

    texts, _ = make_texts()
    for vectorizer in (
        TextVectorizer(min_df=2, stemmer="english"),
        TextVectorizer(ngram_range=(1, 2), token_pattern=r"\w+"),
        TextVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
        HashingTextVectorizer(),
    ):
        vectorizer.fit(texts).transform(texts)


def linear_models(folder: Path) -> None:
    """The default model from fitting to answers of a loaded file, then other links, priors and inferences."""

    texts, labels = make_texts()
    TextCategorizer(cv=2, encoder="off").fit(texts, labels)
    model = TextCategorizer(cv=2, intervals=True, encoder="off").fit(texts, labels)
    store.save_model(model, folder / "model.tb")
    loaded = store.load_categorizer(folder / "model.tb")
    loaded.predict(texts)
    loaded.explain(texts[0])
    X = model.weighting_.transform(model.vectorizer_.transform(texts))
    for settings in (
        {"prior": "gaussian", "inference": "newton"},
        {"prior": "gaussian", "inference": "dual"},
        {"link": "probit", "scale": 5.0},
        {"link": "skew_t"},
        {"inference": "clg"},
        {"inference": "em"},
        {"inference": "block_em"},
    ):
        BayesLinearClassifier(**settings).fit(X, labels)
    tune.BayesLinearClassifierCV(cv=2).fit(X, labels)
    y = np.where(np.asarray(labels)[:, None] == model.classes_, 1.0, -1.0)
    ones = np.ones(len(y))
    logit_mode(y, y[:, 0] > 0.0, ones, *np.ones((3, y.shape[1])))
    parts = [WorkerDocuments(as_columns(X), y, None)]
    fit_in_parts(JoblibExecutor(1), parts, BayesLinearClassifier(), model.label_space_, X.shape[1])


def multinomial_models(folder: Path) -> None:
    """A softmax by coordinate descent and by Newton's method, in single and in double precision; a sampled probit."""

    X, labels = _weights()
    BayesMultinomialClassifier(intervals=True).fit(X, labels)
    BayesMultinomialClassifier("gaussian", inference="newton", tol=1e-8).fit(X, labels)
    few = Gibbs(chains=1, warmup=4, max_draws=4)
    BayesMultinomialClassifier("gaussian", link="probit", inference=few).fit(X, labels).predict_proba(X)


def expected_f1(folder: Path) -> None:
    """The rule that maximises the expected F1 exactly."""

    rng = np.random.default_rng(0)
    proba = rng.random((40, 2))
    decide.make_rule("expected_f1", method="exact").fit(proba, rng.random((40, 2)) < proba).decide(proba)


def sampling(folder: Path) -> None:
    """Draws with each link and each family of priors."""

    X, labels = _weights()
    gibbs = Gibbs(chains=1, warmup=4, max_draws=4)
    for link in ("logit", "probit", "student_t", "skew_t"):
        for prior in ("gaussian", "laplace", "horseshoe", "student_t"):
            BayesLinearClassifier(link, prior, intercept_scale=10.0, inference=gibbs).fit(X, labels).predict_proba(X)
    BayesMultinomialClassifier(inference=gibbs).fit(X, labels)
    sweeps = Gibbs(chains=1, warmup=4, max_draws=4, method="sweeps")
    BayesLinearClassifier("probit", "laplace", inference=sweeps).fit(X, labels)


def online_learning(folder: Path) -> None:
    """Every form of covariance and the Gaussian process, with outcomes in closed form and without; information gain."""

    X, labels = _weights()
    outcomes = np.where(np.array(labels) == _LABELS[0], 1.0, -1.0)
    for link in ("probit", "skew_t"):
        for covariance in ("diagonal", "low_rank", "full"):
            online = BayesOnlineClassifier(link, covariance=covariance, rank=2, forgetting_factor=0.99)
            online.partial_fit(X, labels, classes=_LABELS).partial_fit(X[:2], labels[:2]).predict_proba(X)
            online.information_gain(X)
        likelihood = OnlineLikelihood(link)
        process, _ = GaussianProcess.start(range(X.shape[1]), budget=6).learn(X, outcomes, likelihood)
        process.predict(X)
    full, _ = propagate(FullPosterior.start(range(X.shape[1])), X, outcomes, OnlineLikelihood("probit"))
    DeferredPosterior.of(full, 1.0).predict(X)


def filters(folder: Path) -> None:
    """A filter that is started, reads documents and learns judgements."""

    texts, labels = make_texts()
    documents = [Document(str(i), text, (label,)) for i, (text, label) in enumerate(zip(texts, labels, strict=True))]
    for covariance in ("full", "low_rank", "diagonal", "gp"):
        made = AdaptiveFilter.start(documents, settings=FilterSettings(covariance=covariance, word_threshold=0.0))
        for word in _NEW_WORDS:
            new = [one._replace(id=f"{word} {one.id}", text=f"{one.text} {word}") for one in documents]
            list(simulate(made, new, judged=True))


def count_models(folder: Path) -> None:
    """Rates, dispersions and their draws."""

    counts, labels = _counts()
    for model in ("dirichlet_poisson", "dirichlet_negative_binomial", "negative_binomial", "poisson"):
        BayesCountClassifier(model).fit(counts, labels).predict_proba(counts)
    for model in ("dirichlet_poisson", "dirichlet_negative_binomial"):
        BayesCountClassifier(model, prediction="integrated").fit(counts, labels).predict_proba(counts)


def screening(folder: Path) -> None:
    """Records of a literature review, judged one after the other; and the machine that simulations compare with."""

    texts, _ = make_texts()
    settings = ScreenSettings()
    records = Collection.read([str(i) for i in range(len(texts))], texts, settings.topics)
    topic = ScreeningTopic(settings.topics[0], records, settings)
    for row, answer in ((0, "relevant"), (1, "irrelevant"), (0, "withdrawn")):
        topic.judge(row, answer)
        topic.next_records(1)
    judged, y, offset = np.array([0, 1]), np.array([1.0, -1.0]), np.zeros(len(texts))
    for solver in (GramSolver(records.X, squared_hinge=True), RowSolver(records.X)):
        solver.fit(judged, y, (1.0, 1.0), offset)
        solver.predictors(offset)
        solver.predictors_of(judged, offset)


def clusters(folder: Path) -> None:
    """Soft clusters of texts."""

    counts, _ = _counts()
    SoftClusters(2, n_init=1, max_iter=3).fit(counts).transform(counts)


def keyness(folder: Path) -> None:
    """Exact tests of word rates."""

    counts, labels = _counts()
    Y = np.array(labels)[:, None] == np.array(_LABELS)
    for model in ("poisson", "negative_binomial"):
        test_keyness(counts, Y, model=model)


JOBS: dict[str, Callable[[Path], None]] = {
    "reading words": read_words,
    "linear models": linear_models,
    "multinomial models": multinomial_models,
    "expected F1": expected_f1,
    "sampling": sampling,
    "online learning": online_learning,
    "filters": filters,
    "screening": screening,
    "count models": count_models,
    "clusters": clusters,
    "keyness": keyness,
}


def run_job(name: str, folder: Path) -> None:
    """Use the kernels of a feature once; warnings about so small a job mean nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        JOBS[name](folder)


def _counts() -> tuple[Any, list[str]]:

    texts, labels = make_texts()
    return TextVectorizer().fit_transform(texts), labels


def _weights() -> tuple[Any, list[str]]:

    counts, labels = _counts()
    return TermWeighting().fit_transform(counts), labels


def compiled_by(name: str, folder: Path) -> dict[str, Any]:
    """Run the small job of a feature, and count the kernels that were not in the cache."""
    before, start = n_compiled(), time.perf_counter()
    run_job(name, folder)
    return {"feature": name, "compiled": n_compiled() - before, "seconds": round(time.perf_counter() - start, 2)}

"""The scoring part of a model file, which answers as the whole model does."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from textbayes.categorizer import Scorer, TextCategorizer
from textbayes.core.errors import CorpusNotFoundError, InputError, ModelFileError
from textbayes.data import load_corpus
from textbayes.store import load_categorizer, load_scorer, save_model
from textbayes.text import HashingTextVectorizer, TextVectorizer

TEXTS = ["Wheat and corn\nprices", "corn harvest falls", "wheat prices rise", "bank rates", "the bank cuts rates"]
TEXTS = [*TEXTS, "loans of the bank", "oil wells", "oil and gas prices", "Öl und Gas"] * 2
CLASSES = (["grain"] * 3 + ["money"] * 3 + ["oil"] * 3) * 2
_HEAVY = (
    "sklearn",
    "scipy.stats",
    "scipy.optimize",
    "joblib",
    "pandas",
    "matplotlib",
    "rich",
    "dask",
    "pyarrow",
    "lxml",
)
_HEAVY += ("textbayes.categorizer.estimator", "textbayes.tune", "textbayes.models.linear.classifier")
NEW = ["corn prices", "the bank\nand its oil", "zebra", "", "Öl, ÖL and wheat: rates rise rise"]


@pytest.fixture
def saved(tmp_path):
    def make(labels=CLASSES, **parameters):
        path = tmp_path / "model.tb"
        save_model(TextCategorizer(cv=2, embeddings="off", **parameters).fit(TEXTS, labels), path)
        return path

    return make


@pytest.mark.parametrize(
    ("labels", "parameters"),
    [
        (CLASSES, {}),
        ([name == "oil" for name in CLASSES], {}),
        ([["grain", "oil"] if i % 4 == 0 else [name] for i, name in enumerate(CLASSES)], {}),
        (CLASSES, {"preset": "linear", "rule": "top_label:min_probability=0.4"}),
        (CLASSES, {"model": "linear:link=probit", "weighting": "ltc", "calibrate": True}),
        (
            CLASSES,
            {"model": "linear", "vectorizer": TextVectorizer(ngram_range=(1, 2), binary=True, stop_words=["the"])},
        ),
        (
            CLASSES,
            {"model": "linear:prior=gaussian", "vectorizer": TextVectorizer(analyzer="char_wb", ngram_range=(2, 3))},
        ),
        (CLASSES, {"model": "linear", "vectorizer": TextVectorizer(vocabulary=["wheat", "bank", "corn", "oil"])}),
    ],
)
def test_a_scorer_answers_as_the_model_to_the_last_bit(saved, labels, parameters):
    path = saved(labels, **parameters)
    scorer, model = load_scorer(path), load_categorizer(path)
    assert isinstance(scorer, Scorer)
    found, wanted = scorer.assess(NEW), model.assess(NEW)
    assert np.array_equal(found.proba, wanted.proba)
    assert np.array_equal(found.decisions, wanted.decisions)
    assert np.array_equal(found.known_words, wanted.known_words)
    assert found.known_words[3] == 0 < found.known_words[0]
    assert np.array_equal(scorer.predict_interval(NEW, 0.8), model.predict_interval(NEW, 0.8))
    assert scorer.label_space_.class_names == model.label_space_.class_names
    # The matrices that training sees, and their product: SciPy may round products and sums together (FMA).
    features = model.features(NEW)
    assert np.allclose(found.proba, model.model_.proba(features, True), rtol=1e-12, atol=1e-15)
    assert np.array_equal(found.known_words, model._known_words(features))


@pytest.mark.parametrize("corpus", ["bbc", "movie_reviews", "20newsgroups"])
def test_scores_of_real_texts_are_those_of_the_matrices(corpus):
    try:
        texts = load_corpus(corpus).texts[::15][:120]
    except CorpusNotFoundError as error:
        pytest.skip(str(error))
    model = TextCategorizer(cv=2, budget="quick", embeddings="off").fit(texts[:80], [i % 3 for i in range(80)])
    new = [*texts[60:], *NEW, "wheat" * 20_000, "corn\0prices", "great 😀 news!!! 🇩🇪", "日本語 news", "\ud800 x"]
    for some in (new, *([text] for text in new[::6]), *([text] for text in new[-6:])):
        found, features = model.assess(some), model.features(some)
        assert np.allclose(found.proba, model.model_.proba(features, True), rtol=1e-12, atol=1e-15)
        assert np.array_equal(found.known_words, model._known_words(features))


@pytest.mark.parametrize(
    "parameters", [{"model": "counts"}, {"model": "linear", "vectorizer": HashingTextVectorizer(n_features=2**8)}]
)
def test_models_that_score_in_another_way_are_read_whole(saved, parameters):
    found = load_scorer(saved(**parameters))
    assert isinstance(found, TextCategorizer)
    assert found.assess(NEW).proba.shape == (len(NEW), 3)


def test_what_a_scorer_is_not_given_or_is_damaged_is_refused(saved):
    model = load_categorizer(saved(model="linear"))
    meta, arrays = model.to_state()
    without = {name: array for name, array in arrays.items() if not name.startswith("calibration_band")}
    scorer = Scorer.from_state({**meta, "arrays": sorted(without), "calibration_band": None}, without)
    with pytest.raises(InputError, match="held out in training"):
        scorer.predict_interval(NEW)
    for name in ("vectorizer._vocabulary", "weighting.idf_", "fitted.0.coef_.data", "fitted.0.intercept_"):
        with pytest.raises(ModelFileError):
            Scorer.from_state(meta, {**arrays, name: arrays[name][:-1]})
    with pytest.raises(ModelFileError, match="array"):
        Scorer.from_state(meta, {name: array for name, array in arrays.items() if name != "fitted.0.intercept_"})


def test_classify_does_not_import_what_only_training_needs(saved, tmp_path):
    new = tmp_path / "new.jsonl"
    new.write_text(json.dumps({"text": "corn prices"}) + "\n")
    code = f"""
import sys
from textbayes.cli.main import main
sys.argv = ["textbayes", "classify", {str(saved())!r}, {str(new)!r}]
try:
    main()
finally:
    print([name for name in {_HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["labels"] == ["grain"]
    assert done.stderr.splitlines()[-1] == "[]"

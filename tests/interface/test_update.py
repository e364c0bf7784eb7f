"""``textbayes update``: a sparse model learns and stays sparse (the sparse paper, section 5); several at once."""

from __future__ import annotations

import json

import _forked
import numpy as np
import pytest

from textbayes.categorizer import TextCategorizer
from textbayes.store import SharedModel, load_model, save_model


def texts_of(rng, n_docs):
    """Two topics of five words each among 300 words that say nothing."""
    rows = []
    for i in range(n_docs):
        topic = ("grain", "money")[i % 2]
        own = [f"{topic}{'abcde'[k]}" for k in rng.integers(0, 5, 3)]
        rest = ["noise" + "".join("abcdefghij"[int(digit)] for digit in f"{k:03d}") for k in rng.integers(0, 300, 12)]
        rows.append({"id": str(i), "text": " ".join([*own, *rest]), "labels": [topic]})
    return rows


def test_a_sparse_model_learns_on_and_stays_sparse(run, write, tmp_path):
    rng, model = np.random.default_rng(0), tmp_path / "m.tb"
    options = "--family", "laplace", "--scale", "1", "--intervals", "--folds", "2", "--stemmer", "none", "-o", model
    run("train", write(texts_of(rng, 60)), *options)
    before = load_model(model)
    for _ in range(3):
        run("update", model, write(texts_of(rng, 60)))
    after = load_model(model)
    new = texts_of(rng, 200)
    losses = []
    for one in (before, after):
        proba = one.predict_proba([row["text"] for row in new])
        truth = [one.classes_.tolist().index(row["labels"][0]) for row in new]
        losses.append(-np.log(proba[np.arange(len(new)), truth]).mean())
    assert losses[1] < losses[0]  # 180 texts more
    terms = after.vectorizer_.get_feature_names_out()
    used = {str(terms[j]) for j in np.flatnonzero((after.coef_ != 0.0).any(axis=0))}
    assert len(used) < 0.15 * len(terms)
    assert sum(not word.startswith("noise") for word in used) >= 8  # of the ten that tell


def test_two_updates_at_once_are_both_in_the_file(start, write, documents, tmp_path):
    model, more = tmp_path / "m.tb", write(documents[:1], "more.jsonl")
    texts, labels = [doc["text"] for doc in documents], [doc["labels"] for doc in documents]
    save_model(TextCategorizer(model="counts", cv=2).fit(texts, labels), model)
    for _ in range(3):
        both = [start("update", model, more, program=_forked.command()) for _ in range(4)]
        assert [(process.communicate()[1], process.returncode)[1] for process in both] == [0] * 4
    assert load_model(model).label_counts_.sum() == len(texts) + 12


def test_an_update_says_that_it_waits_for_another(start, write, documents, tmp_path):
    model, more = tmp_path / "m.tb", write(documents[:1], "more.jsonl")
    texts, labels = [doc["text"] for doc in documents], [doc["labels"] for doc in documents]
    save_model(TextCategorizer(model="counts", cv=2).fit(texts, labels), model)
    with SharedModel(model).change() as learner:
        process = start("update", model, more, program=_forked.command())
        while line := process.stderr.readline():
            if b"another process is changing" in line:
                break
        else:
            pytest.fail("it did not wait")
        learner.update(["corn"], ["grain"])
    process.communicate()
    assert process.returncode == 0
    assert load_model(model).label_counts_.sum() == len(texts) + 2


@pytest.mark.parametrize("times", [1, 2])
def test_texts_that_were_learnt_before_are_warned_of(run, write, documents, tmp_path, times):
    model, new = tmp_path / "m.tb", {"id": "new", "text": "corn and bank", "labels": "grain"}
    texts, labels = [doc["text"] for doc in documents], [doc["labels"] for doc in documents]
    save_model(TextCategorizer(model="counts", cv=2).fit(texts, labels), model)
    for _ in range(times):
        done = run("update", model, write([*documents[:2], new]), "--json")
    summary = json.loads(done.stdout)
    assert summary["known_documents"] == times + 1
    assert f"{2 if times == 1 else 3} of 3 texts had been learnt before" in done.stderr
    assert (summary["log_loss_before"] is None) == (times == 2), "of new texts alone"
    shown = json.loads(run("show", model, "--json").stdout)
    assert (shown["n_texts"], shown["n_updated"]) == (15, 3 * times)
    table = " ".join(run("show", model, "--table").stdout.split())
    assert f"Training texts 15, and {3 * times} learnt since by update" in table
    assert f"{3 * times} texts learnt since by update: the figures are from before." in table


def test_a_model_without_errors_says_both_ways_to_go_on(run, write, documents, tmp_path):
    model = tmp_path / "m.tb"
    texts, labels = [doc["text"] for doc in documents], [doc["labels"] for doc in documents]
    save_model(TextCategorizer(preset="linear", cv=2).fit(texts, labels), model)
    said = " ".join(run("update", model, write(documents[:1]), code=1).stderr.split())
    assert "train again with old and new texts together" in said
    assert "textbayes train --intervals" in said
    assert "intervals=True" not in said

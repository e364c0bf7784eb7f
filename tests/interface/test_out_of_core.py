"""``train --out-of-core`` and ``--estimate``: the same model as in memory, what is kept, what is refused."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest

from textbayes.scale import estimate as estimating
from textbayes.store import load_model

LINEAR = ("--preset", "linear")


@pytest.fixture(autouse=True)
def shards(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTBAYES_SHARDS", str(tmp_path / "shards"))
    return tmp_path / "shards"


def only(folder):
    """The one folder of shards."""
    (found,) = (one for one in folder.iterdir() if one.is_dir())
    return found


def same_model(first, second):
    one, other = load_model(first), load_model(second)
    assert one.vectorizer_.vocabulary_ == other.vectorizer_.vocabulary_
    np.testing.assert_allclose(
        one.model_.word_weights().weights, other.model_.word_weights().weights, rtol=0, atol=1e-6
    )
    assert one.held_out_.keys() == other.held_out_.keys()
    for name, value in one.held_out_.items():
        nested = isinstance(value, (str, dict))
        assert other.held_out_[name] == (value if nested else pytest.approx(value, abs=1e-9)), name
    np.testing.assert_array_equal(one.fingerprints_, other.fingerprints_)
    texts = ["corn prices rise", "a goal for the bank", "nothing known here"]
    np.testing.assert_allclose(one.predict_proba(texts), other.predict_proba(texts), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "asked",
    [
        ["--preset", "linear"],
        ["--model", "counts:model=poisson"],
        ["--model", "linear:prior=gaussian,inference=newton", "--calibrate", "--folds", "3"],
        ["--preset", "linear", "--ngrams", "1-2", "--min-df", "1", "--weighting", "ltc"],
    ],
)
def test_the_model_is_that_of_a_training_in_memory(lines, write, documents, many_labels, tmp_path, asked):
    for number, given in enumerate((documents, many_labels, documents[:10])):
        path = write(given)
        (inside,) = lines("train", path, "-o", tmp_path / "in.tb", "--in-memory", *asked)
        (outside,) = lines("train", path, "-o", tmp_path / "out.tb", "--out-of-core", *asked)
        same_model(tmp_path / "in.tb", tmp_path / "out.tb")
        for summary in (inside, outside):
            del summary["model"], summary["seconds"], summary["held_out"]
        assert inside == outside, number


def test_unlabelled_rare_and_grouped_texts_are_treated_alike(lines, write, documents, tmp_path):
    given = [{**one, "author": f"a{i % 4}"} for i, one in enumerate(documents)]
    given += [{"id": "bare", "text": "only here bare bare", "labels": "", "author": "a1"}]
    given += [{"id": "odd", "text": "seldom seldom seldom", "labels": "seldom", "author": "a2"}]
    options = ["--preset", "linear", "--unlabelled", "skip", "--min-texts", "2", "--group-field", "author"]
    path = write(given)
    (inside,) = lines("train", path, "-o", tmp_path / "in.tb", *options)
    (outside,) = lines("train", path, "-o", tmp_path / "out.tb", "--out-of-core", *options)
    same_model(tmp_path / "in.tb", tmp_path / "out.tb")
    assert inside["documents"] == outside["documents"] == 15
    assert "seldom" not in load_model(tmp_path / "out.tb").vectorizer_.vocabulary_


def test_automatic_training_is_refused_and_not_swapped_for_another(run, write, documents, tmp_path):
    refused = run("train", write(documents), "-o", tmp_path / "m.tb", "--out-of-core", code=1)
    said = " ".join(refused.stderr.split())
    assert "automatic training needs the whole matrix in memory; use --preset linear" in said
    assert not (tmp_path / "m.tb").exists()


def test_shards_are_used_again_until_the_input_changes(run, write, documents, shards, tmp_path):
    path = write(documents)
    first = run("train", path, "-o", tmp_path / "a.tb", "--out-of-core", *LINEAR)
    assert "its shards are stored in" in first.stderr
    folder = only(shards)
    again = run("train", path, "-o", tmp_path / "b.tb", "--out-of-core", *LINEAR)
    assert "were read before" in again.stderr
    assert (tmp_path / "a.tb").read_bytes() == (tmp_path / "b.tb").read_bytes()
    with open(path, "a", encoding="utf-8") as file:
        for _ in range(2):
            file.write(json.dumps({"id": os.urandom(4).hex(), "text": "newcomer", "labels": "grain"}) + "\n")
    changed = run("train", path, "-o", tmp_path / "c.tb", "--out-of-core", *LINEAR)
    assert "were read before" not in changed.stderr
    assert only(shards) == folder
    assert "newcom" in load_model(tmp_path / "c.tb").vectorizer_.vocabulary_


def test_altered_shards_are_refused_with_a_way_out(run, write, documents, shards, tmp_path):
    path = write(documents)
    run("train", path, "-o", tmp_path / "a.tb", "--out-of-core", *LINEAR)
    damaged = next(only(shards).rglob("00000.data.npy"))
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 255
    damaged.write_bytes(content)
    result = run("train", path, "-o", tmp_path / "b.tb", "--out-of-core", *LINEAR, code=1)
    assert "not as it was written; remove the folder" in result.stderr
    assert not (tmp_path / "b.tb").exists()
    shutil.rmtree(only(shards))
    run("train", path, "-o", tmp_path / "b.tb", "--out-of-core", *LINEAR)


def test_a_folder_for_shards_that_cannot_be_written_is_said(run, write, documents, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("TEXTBAYES_SHARDS", str(tmp_path / "taken"))
    result = run("train", write(documents), "-o", tmp_path / "m.tb", "--out-of-core", *LINEAR, code=1)
    assert "cannot be made" in result.stderr
    assert "TEXTBAYES_SHARDS" in result.stderr


def test_an_empty_input_is_said(run, write, tmp_path):
    result = run("train", write([]), "-o", tmp_path / "m.tb", "--out-of-core", *LINEAR, code=1)
    assert "no document" in result.stderr


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--select", "chi2", "--top-k", "5"], "select needs the whole matrix in memory; leave it out"),
        (["--intervals"], "intervals needs the whole matrix in memory"),
        (["--model", "linear", "--model", "counts"], "are not trained out of core together"),
        (["--model", "counts:model=dirichlet_negative_binomial"], "keeps all documents in memory"),
        (["--inference", "gibbs"], "keeps the matrix in memory"),
    ],
)
def test_what_needs_memory_is_refused_in_a_sentence(run, write, documents, tmp_path, monkeypatch, asked, said):
    monkeypatch.chdir(tmp_path)
    result = run("train", write(documents), "-o", tmp_path / "m.tb", "--out-of-core", *LINEAR, *asked, code=1)
    assert said in " ".join(result.stderr.split())


def test_a_report_needs_the_texts(run, write, documents, tmp_path):
    options = ("-o", tmp_path / "m.tb", "--out-of-core", *LINEAR, "--report", tmp_path / "page.html")
    assert "--report shows texts" in run("train", write(documents), *options, code=2).stderr


def test_what_would_not_fit_is_trained_out_of_core_unasked(run, write, documents, tmp_path, monkeypatch):
    path = write(documents)
    size = os.path.getsize(path)
    monkeypatch.setattr(estimating, "available_memory", lambda: 2 * size)
    unasked = run("train", path, "-o", tmp_path / "a.tb", "--preset", "linear")
    assert "training is out of core" in unasked.stderr
    asked = run("train", path, "-o", tmp_path / "b.tb", "--preset", "linear", "--in-memory")
    assert "out of core" not in asked.stderr
    same_model(tmp_path / "a.tb", tmp_path / "b.tb")
    refused = run("train", path, "-o", tmp_path / "c.tb", code=1).stderr
    assert "train with --preset linear --out-of-core" in " ".join(refused.split())
    unable = run("train", path, "-o", tmp_path / "c.tb", "--preset", "linear", "--intervals")
    assert "memory may run out" in unable.stderr
    monkeypatch.setattr(estimating, "available_memory", lambda: 100 * size)
    assert "out of core" not in run("train", path, "-o", tmp_path / "d.tb", "--preset", "linear").stderr


def test_the_estimate_has_seconds_memory_and_disk_and_trains_nothing(lines, run, write, documents, shards, monkeypatch):
    path = write(documents)
    (inside,) = lines("train", path, "--estimate")
    (outside,) = lines("train", path, "--estimate", "--out-of-core", *LINEAR)
    assert inside["documents"] == outside["documents"] == 15
    assert min(inside["seconds"], outside["seconds"], inside["memory_gib"]) > 0
    assert (inside["disk_gib"], outside["out_of_core"]) == (0, True)
    monkeypatch.setattr(estimating, "available_memory", lambda: 1 << 20)
    refused = run("train", path, "--estimate", "--in-memory", code=1)
    assert "are available; train with --out-of-core" in " ".join(refused.stderr.split())


def test_the_estimate_says_that_its_texts_are_a_sample(run, write, documents, monkeypatch):
    whole = estimating.sample
    monkeypatch.setattr(estimating, "sample", lambda read: whole(read, most=10))
    told = run("train", write(documents), "--estimate").stderr
    assert "a sample of 10 of 15 texts, 3 labels" in told

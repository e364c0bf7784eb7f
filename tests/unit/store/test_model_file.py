"""Model files: same scores after a reload, refusal of anything damaged, nothing half-written."""

from __future__ import annotations

import copy
import errno
import json
import os
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save
from sklearn.base import clone

from textbayes import BayesLinearClassifier, HashingTextVectorizer, TextCategorizer, load_model, save_model
from textbayes.core.errors import InputError, ModelFileError
from textbayes.store.container import write_members
from textbayes.store.model_format import MODEL_FILE

TEXTS = [
    "wheat and corn prices",
    "corn harvest",
    "bank rates rise",
    "the bank cuts rates",
    "crude oil",
    "oil output",
] * 4
LABELS = ["grain", "grain", "money", "money", "oil", "oil"] * 4
MANY = [[label] for label in LABELS[:-1]] + [["grain", "oil"]]


@pytest.fixture(scope="module")
def model():
    return TextCategorizer(cv=3).fit(TEXTS, LABELS)


@pytest.fixture
def path(model, tmp_path):
    save_model(model, tmp_path / "model.tb")
    return tmp_path / "model.tb"


def rewrite(path, **changes):
    """The same zip with some members replaced (None takes one out)."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members |= {name.replace("__", "."): content for name, content in changes.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)


@pytest.mark.parametrize("labels", [LABELS, MANY, [label == "oil" for label in LABELS]], ids=["one", "many", "binary"])
def test_scores_are_identical_after_a_reload(labels, tmp_path):
    model = TextCategorizer(cv=3).fit(TEXTS, labels)
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    texts = [*TEXTS, "never seen words", "", "corn and oil and bank"]
    for before, after in zip(model.assess(texts), again.assess(texts), strict=True):
        np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    assert again.explain(texts[0]) == model.explain(texts[0])
    assert again.label_space_.kind == model.label_space_.kind


def test_same_model_same_bytes(model, tmp_path):
    for name in "ab":
        save_model(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_every_truncation_is_refused(path):
    whole = path.read_bytes()
    for length in [0, 1, 10, 100, *range(200, len(whole), max(1, len(whole) // 40)), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load_model(path)


def test_every_flipped_byte_is_refused_or_harmless(path, model):
    whole = bytearray(path.read_bytes())
    expected = model.predict_proba(TEXTS[:6])
    for position in range(0, len(whole), max(1, len(whole) // 150)):
        damaged = whole.copy()
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            loaded = load_model(path)
        except ModelFileError:
            continue
        np.testing.assert_array_equal(loaded.predict_proba(TEXTS[:6]), expected)


def test_altered_content_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("model.json"))
    content["state"]["labels"]["classes"][0] = "sport"
    rewrite(path, model__json=json.dumps(content))
    with pytest.raises(ModelFileError, match=r"altered after it was written: model\.json"):
        load_model(path)


DAMAGE = {
    "index far outside": lambda meta, arrays: arrays["fitted.0.coef_.indices"].__setitem__(0, 2_000_000_000),
    "negative index": lambda meta, arrays: arrays["fitted.0.coef_.indices"].__setitem__(0, -1),
    "not a number": lambda meta, arrays: arrays["fitted.0.coef_.data"].__setitem__(0, np.nan),
    "idf too short": lambda meta, arrays: arrays.update(
        {"weighting.weightings_.0.idf_": arrays["weighting.weightings_.0.idf_"][:-1]}
    ),
    "one class": lambda meta, arrays: meta["labels"].update(classes=["a"]),
    "odd kind": lambda meta, arrays: meta["labels"].update(kind="foo"),
    "odd rule": lambda meta, arrays: meta["rule"]["fields"].update(decide=3),
    "odd rule settings": lambda meta, arrays: meta["rule"].update(fields=[]),
    "odd vectorizer": lambda meta, arrays: meta["vectorizer"].update(name="os.system"),
    "odd link": lambda meta, arrays: meta["ensemble"]["members"][0]["state"].update(link_="magic"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_file_that_claims_nonsense_with_correct_checksums_is_refused(model, path, name):
    meta, arrays = copy.deepcopy(model.to_state())
    DAMAGE[name](meta, arrays)
    described = json.dumps({"class": "TextCategorizer", "state": meta}).encode()
    write_members(path, MODEL_FILE, described, save(arrays))
    with pytest.raises(ModelFileError):
        load_model(path)


def test_settings_survive_a_reload(tmp_path):
    classifier = BayesLinearClassifier(link="probit", prior="gaussian", scale=2.0)
    model = TextCategorizer(model=classifier, rule="max_f1", cv=3, select="chi2", select_k=4).fit(TEXTS, LABELS)
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    assert (again.cv, again.select, again.select_k, again.rule) == (3, "chi2", 4, "max_f1")
    retrained = clone(again).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(retrained.coef_, model.coef_)


@pytest.mark.parametrize("labels", [[3, 3, 1, 1, 2, 2] * 4, [True, True, False, False, True, True] * 4])
def test_labels_keep_their_type(labels, tmp_path):
    model = TextCategorizer(cv=3).fit(TEXTS, labels)
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb").predict(TEXTS)
    assert again.dtype == model.predict(TEXTS).dtype
    assert again.tolist() == model.predict(TEXTS).tolist()


def test_hashed_words(tmp_path):
    model = TextCategorizer(preset="linear", vectorizer=HashingTextVectorizer(n_features=256), cv=3).fit(TEXTS, LABELS)
    save_model(model, tmp_path / "m.tb")
    np.testing.assert_array_equal(load_model(tmp_path / "m.tb").predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_newer_format_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    rewrite(path, manifest__json=json.dumps(manifest | {"format_version": 99, "textbayes": "9.0"}))
    with pytest.raises(ModelFileError, match=r"format version 99, written by textbayes 9\.0.*upgrade textbayes"):
        load_model(path)


@pytest.mark.parametrize("manifest", ["[]", "{}", "not json", '{"format": "other", "format_version": 1, "sha256": {}}'])
def test_other_zip_files_are_refused(path, manifest):
    rewrite(path, manifest__json=manifest)
    with pytest.raises(ModelFileError, match="not a textbayes model file"):
        load_model(path)


def test_missing_member_is_refused(path):
    rewrite(path, arrays__safetensors=None)
    with pytest.raises(ModelFileError, match=r"it has no arrays\.safetensors"):
        load_model(path)


def test_pickle_is_never_loaded(tmp_path):
    (tmp_path / "evil.tb").write_bytes(b"cos\nsystem\n(S'touch hacked'\ntR.")
    with pytest.raises(ModelFileError, match="not a model file"):
        load_model(tmp_path / "evil.tb")


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ModelFileError, match="does not exist; train a model first"):
        load_model(tmp_path / "none.tb")
    with pytest.raises(ModelFileError, match="is a folder"):
        load_model(tmp_path)


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_failure_while_writing_leaves_the_old_file_and_nothing_else(model, path, monkeypatch, failure):
    before = path.read_bytes()

    def fail(*_):
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    expected, message = (InputError, "No space left") if isinstance(failure, OSError) else (KeyboardInterrupt, None)
    with pytest.raises(expected, match=message):
        save_model(model, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_folder_that_cannot_be_written(model, tmp_path):
    with pytest.raises(InputError, match="choose a folder that exists"):
        save_model(model, tmp_path / "no" / "such" / "model.tb")

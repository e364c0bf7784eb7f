"""Files that earlier versions wrote load, and those models say what they said then."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from textbayes import load_model, save_model
from textbayes.core.errors import ModelFileError

FIXTURES = Path(__file__).parent / "fixtures"
FOLDERS = {"format 1": FIXTURES, "format 2": FIXTURES / "format2"}
SAID = {name: json.loads((folder / "said.json").read_text()) for name, folder in FOLDERS.items()}


@pytest.mark.parametrize(("version", "name"), [(version, name) for version in SAID for name in SAID[version]["models"]])
def test_files_of_earlier_formats_say_what_they_said(version, name, tmp_path):
    model = load_model(FOLDERS[version] / f"{name}.tb")
    texts, expected = SAID[version]["texts"], SAID[version]["models"][name]
    # Recorded on another machine perhaps, whose exp may differ in the last bit.
    np.testing.assert_allclose(model.predict_proba(texts), expected["proba"], rtol=1e-12)
    assert [list(labels) for labels in model.predict_labels(texts)] == expected["labels"]
    save_model(model, tmp_path / "again.tb")
    again = load_model(tmp_path / "again.tb")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))


def test_what_format_2_was_given_comes_back():
    by_word = load_model(FOLDERS["format 2"] / "by word.tb")
    assert by_word.model.prior.scale.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert by_word.calibrate
    assert by_word.calibration_ != 1.0
    searched = load_model(FOLDERS["format 2"] / "searched.tb")
    assert (searched.model.scales, searched.class_weight) == (3, {True: 2.0})
    multiclass = load_model(FOLDERS["format 2"] / "multiclass.tb")
    assert multiclass.model is None
    assert multiclass.standard_errors_ is not None


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("multiclass", "errors.data", r"no array errors\.data"),
        ("multilabel", "vectorizer.terms", "the vocabulary cannot be read"),
        ("hashed", "vectorizer.name_offsets", "the names table cannot be read"),
        ("sampled", "draws.0.weights", "draws are not those of 3 labels"),
    ],
)
def test_format_1_does_not_list_its_arrays_but_lacks_none(name, array, message, tmp_path):
    with zipfile.ZipFile(FIXTURES / f"{name}.tb") as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    arrays = load(members["arrays.safetensors"])
    del arrays[array]
    members["arrays.safetensors"] = save(arrays)
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"]["arrays.safetensors"] = hashlib.sha256(members["arrays.safetensors"]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(tmp_path / "m.tb", "w") as archive:
        for one, content in members.items():
            archive.writestr(one, content)
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path / "m.tb")


def test_what_format_1_kept_beside_the_weights():
    sampled, prior = load_model(FIXTURES / "sampled.tb"), load_model(FIXTURES / "prior.tb")
    assert sampled.draws_ is not None
    assert sampled.model[0].inference.plan.chains == 2
    assert sampled.model[0].inference.random_state == 3  # which was called seed
    assert {(row.word, row.label) for row in prior.prior_audit_} == {("wheat", "grain"), ("rye", "grain")}
    assert prior.prior_weight_.tolist() == [1.0, 1.0, 1.0]
    assert load_model(FIXTURES / "multiclass.tb").standard_errors_ is not None
    assert load_model(FIXTURES / "ngrams.tb").vectorizer.ngram_range == (1, 2)

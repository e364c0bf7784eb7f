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
SAID = json.loads((FIXTURES / "said.json").read_text())


@pytest.mark.parametrize("name", SAID["models"])
def test_format_1(name, tmp_path):
    model = load_model(FIXTURES / f"{name}.tb")
    expected = SAID["models"][name]
    # Recorded on another machine perhaps, whose exp may differ in the last bit.
    np.testing.assert_allclose(model.predict_proba(SAID["texts"]), expected["proba"], rtol=1e-12)
    assert [list(labels) for labels in model.predict_labels(SAID["texts"])] == expected["labels"]
    save_model(model, tmp_path / "again.tb")
    again = load_model(tmp_path / "again.tb")
    np.testing.assert_array_equal(again.predict_proba(SAID["texts"]), model.predict_proba(SAID["texts"]))


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

"""A model file that somebody sent: whatever is in it, the command ends with a sentence, not with a signal."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest
from safetensors.numpy import load, save


def altered(source, target, change):
    """The model file with something changed, and checksums that are right again."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    described, arrays = json.loads(members["model.json"]), load(members["arrays.safetensors"])
    change(described["state"], arrays)
    members["model.json"], members["arrays.safetensors"] = json.dumps(described).encode(), save(arrays)
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"] = {name: hashlib.sha256(members[name]).hexdigest() for name in manifest["sha256"]}
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target


def words_of(state):
    """What the file says of the first view's vectorizer."""
    return state["vectorizer"]["fields"]["fitted_views"]["words"]["vectorizer"]["fields"]


def pointers(state, arrays):
    arrays["fitted.0.coef_.indptr"][-1] = 0


def stop_words(state, arrays):
    words_of(state)["stop_words_"] = [1, 2, 3]


def thresholds(state, arrays):
    arrays["rule.thresholds_"] = arrays["rule.thresholds_"][:1]


def pattern(state, arrays):
    words_of(state)["token_pattern"] = r"(\w|\d)*!"


def grams(state, arrays):
    words_of(state)["ngram_range"] = [1, 10**6]


@pytest.mark.parametrize(
    "change", [pointers, stop_words, thresholds, pattern, grams], ids=lambda change: change.__name__
)
def test_a_hostile_model_file_is_refused_in_a_sentence(change, models, tmp_path, start, write):
    model = altered(models["multilabel"], tmp_path / "sent.tb", change)
    texts = write([{"text": "corn " * 400 + "a" * 60}])
    process = start("classify", model, texts)
    out, error = process.communicate(timeout=120)
    assert (process.returncode, out) == (1, b"")
    assert error.decode().splitlines()[-1].startswith(f"textbayes: error: {model} is a damaged model file: ")
    assert b"Traceback" not in error

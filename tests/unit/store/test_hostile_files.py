"""Model files made to do harm, with right checksums: refused at load, in a sentence, quickly and in little memory."""

from __future__ import annotations

import copy
import io
import json
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save

from textbayes import TextCategorizer, TextVectorizer, load_model, save_model
from textbayes.core.errors import InputError, ModelFileError
from textbayes.inference.gibbs.sampler import Gibbs
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.store.container import write_members
from textbayes.store.model_format import MODEL_FILE

TEXTS = ["wheat and corn prices", "corn harvest", "bank rates rise", "the bank cuts rates", "oil price", "oil"] * 3
MANY = [["grain"], ["grain"], ["money"], ["money"], ["oil"], ["oil", "grain"]] * 3


@pytest.fixture(scope="module")
def state():
    vectorizer = TextVectorizer(stop_words=["the", "and"])
    return TextCategorizer(cv=2, vectorizer=vectorizer, intervals=True).fit(TEXTS, MANY).to_state()


def described(meta):
    return json.dumps({"class": "TextCategorizer", "state": meta}).encode()


def write(path, meta, arrays):
    write_members(path, MODEL_FILE, described(meta), save(arrays))
    return path


def put(*where):
    """A change: the value at the end of a path in the description."""
    *path, key, value = where

    def change(meta, arrays):
        for step in path:
            meta = meta[step]
        meta[key] = value

    return change


def entry(name, at, value):
    return lambda meta, arrays: arrays[name].__setitem__(at, value)


def array(name, value):
    return lambda meta, arrays: arrays.update({name: np.asarray(value)})


def copied(name, source, target):
    """Change an entry of an array to another one of it."""
    return lambda meta, arrays: arrays[name].__setitem__(target, arrays[name][source])


PATTERN = ("vectorizer", "fields", "token_pattern")
CHANGES = {
    "last row pointer 0": (entry("fitted.0.coef_.indptr", -1, 0), "rows that do not follow each other"),
    "last row pointer negative": (entry("fitted.0.coef_.indptr", -1, -1), "coef_.indptr has values from -1"),
    "row pointers fall": (entry("fitted.0.coef_.indptr", 1, 10**6), "coef_.indptr has values"),
    "row pointers beyond": (
        array("fitted.0.standard_errors_.indptr", np.array([0, 9, 3, 5], dtype=np.int32)),
        "standard_errors_",
    ),
    "column outside": (entry("fitted.0.coef_.indices", 0, 10**6), "coef_.indices has values"),
    "column twice": (copied("fitted.0.coef_.indices", 0, 1), "a column twice"),
    "weight infinite": (entry("fitted.0.coef_.data", 0, np.inf), "coef_.data has values"),
    "weight huge": (entry("fitted.0.coef_.data", 0, 1e300), "coef_.data has values"),
    "error negative": (entry("fitted.0.standard_errors_.data", 0, -1.0), "standard_errors_.data has values"),
    "intercept of another type": (array("fitted.0.intercept_", np.zeros(3, dtype=np.float32)), "intercept_ is float32"),
    "idf negative": (entry("weighting.idf_", 0, -5.0), "an idf is from"),
    "array gone": (lambda m, a: a.pop("fitted.0.coef_.data"), "lacks the array 'fitted.0.coef_.data'"),
    "array unknown": (array("more", [1.0]), "lacks the array 'more', or does not know of it"),
    "words not sorted": (lambda m, a: a["vectorizer._vocabulary"].__setitem__(0, ord("z")), "not in sorted order"),
    "stop words that are no texts": (put("vectorizer", "fields", "stop_words_", [1, None]), "_words_.0 cannot be 1"),
    "thresholds of another length": (array("rule.thresholds_", [0.5]), r"float64 of shape \(3\) is needed"),
    "threshold a list": (put("rule", "fields", "thresholds_", [0.5, 0.5, 0.5]), "rule.thresholds_ cannot be a list"),
    "threshold not finite": (entry("rule.thresholds_", 2, np.nan), "rule.thresholds_ has values from nan"),
    "rule learnt on other labels": (put("rule", "fields", "n_labels_", 2), r"of shape \(2\) is needed"),
    "rule's parameter no number": (put("rule", "fields", "strength", "much"), "strength='much'"),
    "rule not known": (put("rule", "name", "nope"), "unknown decision rule 'nope'"),
    "classes of one name": (put("labels", "classes", ["a", "a", "b"]), "distinct and in sorted order"),
    "classes not sorted": (put("labels", "classes", ["oil", "money", "grain"]), "distinct and in sorted order"),
    "classes of two kinds": (put("labels", "classes", ["1", 1, 2]), "labels.classes"),
    "classes of one text": (put("labels", "classes", [1, 1.0, 2]), "all of one type"),
    "half a character": (put("labels", "classes", ["\ud800", "\ud801", "\ud802"]), "surrogate"),
    "lowercase 1": (put("vectorizer", "fields", "lowercase", 1), "lowercase cannot be 1"),
    "folds true": (put("settings", "cv", True), "settings.cv cannot be True"),
    "folds 10^30": (put("settings", "cv", 10**30), "settings.cv is 1000000000000000000000000000000"),
    "folds 10^40": (put("settings", "cv", 10**40), "a number of 41 digits"),
    "folds 10^400": (put("settings", "cv", 10**400), "a number of 401 digits"),
    "temperature infinite": (
        put("ensemble", "inverse_temperature", float("inf")),
        "inverse_temperature is inf: it must be a finite number",
    ),
    "setting missing": (lambda m, a: m["settings"].pop("cv"), "settings.cv is missing"),
    "setting unknown": (put("settings", "depth", 3), "settings.depth is not known"),
    "pattern that backtracks": (put(*PATTERN, r"(\w|\d)*!"), "may take for ever on some texts"),
    "pattern that backtracks too": (put(*PATTERN, r"(a+)+$"), "may take for ever on some texts"),
    "long n-grams": (put("vectorizer", "fields", "ngram_range", [1, 10**6]), "ngram_range.1 is 1000000"),
    "nested": (put("rule", "fields", "strength", json.loads("[" * 100 + "]" * 100)), "nested more than 32 deep"),
    "classifier of another shape": (put("given", "model", []), "empty list of models"),
    "link in a link in a link": (
        put("ensemble", "members", 0, "state", "link_", "flip:base=" * 30 + "logit"),
        "link_ is",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_with_right_checksums_that_breaks_an_invariant_is_refused(name, state, tmp_path):
    change, message = CHANGES[name]
    meta, arrays = copy.deepcopy(state)
    change(meta, arrays)
    path = write(tmp_path / "m.tb", meta, arrays)
    with pytest.raises(ModelFileError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path} is a damaged model file: ")
    assert "\n" not in str(caught.value)


def test_the_file_as_it_is_loads(state, tmp_path):
    load_model(write(tmp_path / "m.tb", *copy.deepcopy(state)))


TEXT = {
    "key twice": (lambda text: text.replace('"link_"', '"link_": "logit", "link_"', 1), "a key twice"),
    "deep": (lambda text: "[" * 200_000, "nested more than 32 deep"),
    "millions": (lambda text: "[" + "[]," * 4_000_001 + "0]", "more than 4,000,000 values"),
    "long": (lambda text: text + " " * (40 << 20), "more than 32 MiB"),
    "cut": (lambda text: text[:-1], "cannot be read"),
    "something else": (lambda text: '{"class": "Filter", "state": {}}', "does not know"),
}


@pytest.mark.parametrize("name", TEXT)
def test_text_that_is_not_the_json_of_a_model_is_refused(name, state, tmp_path):
    change, message = TEXT[name]
    content = change(described(state[0]).decode()).encode()
    write_members(tmp_path / "m.tb", MODEL_FILE, content, save(state[1]))
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path / "m.tb")


def with_manifest(path, **changes):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"]) | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {"manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(name, content)


@pytest.mark.parametrize("version", [True, 0, -1, 1.0, "1", None, [1]])
def test_a_version_that_is_no_whole_number_from_1_on_is_refused(version, state, tmp_path):
    path = write(tmp_path / "m.tb", *state)
    with_manifest(path, format_version=version)
    with pytest.raises(ModelFileError, match="not a textbayes model file"):
        load_model(path)


def test_members_twice_or_more_than_a_model_has_are_refused(state, tmp_path):
    path = write(tmp_path / "m.tb", *state)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.json", b"{}")
    with pytest.raises(ModelFileError, match=r"more than one model\.json"):
        load_model(path)
    path = write(tmp_path / "m.tb", *state)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more", b"")
    with pytest.raises(ModelFileError, match="more in it than a model"):
        load_model(path)
    with zipfile.ZipFile(path, "a") as archive:
        for number in range(2_000):
            archive.writestr(str(number), b"")
    with pytest.raises(ModelFileError, match="more in it than a model"):
        load_model(path)


LIMITED = """
import resource, sys
from textbayes import load_model
from textbayes.core.errors import ModelFileError
with open("/proc/self/statm") as sizes:
    now = int(sizes.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (300 << 20),) * 2)
try:
    load_model(sys.argv[1])
except ModelFileError as error:
    print(error)
"""


def with_zeros(meta, arrays):
    return described(meta), save({**arrays, "more": np.zeros(1 << 24)})  # 128 MiB


def without_arrays(meta, arrays):
    header = json.dumps({"a": {"dtype": "F64", "shape": [1 << 27], "data_offsets": [0, 1 << 30]}}).encode()
    return described(meta), struct.pack("<Q", len(header)) + header + bytes(8)


def with_blanks(meta, arrays):
    return b" " * (320 << 20), save(arrays)  # more than LIMITED allows


def with_many_labels(meta, arrays):
    many = [f"{number:07}" for number in range(1_000_000)]
    return described({**meta, "labels": {"kind": "multilabel", "classes": many}}), save(arrays)


# Files of a megabyte or so that claim to be much more: the description and the arrays of each.
BOMBS = {
    "arrays of zeros": with_zeros,
    "arrays that are not there": without_arrays,
    "text": with_blanks,
    "labels times words": with_many_labels,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name, state, tmp_path):
    path = tmp_path / "m.tb"
    write_members(path, MODEL_FILE, *BOMBS[name](*state))
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(path)), done.stdout


def test_packed_members_are_read_no_further_than_their_header_says(state, tmp_path):
    content = save(state[1]) + b"\0" * 100
    write_members(tmp_path / "m.tb", MODEL_FILE, described(state[0]), content)
    with pytest.raises(ModelFileError, match="does not have the length that it claims"):
        load_model(tmp_path / "m.tb")


def test_a_pattern_that_could_hang_is_refused_before_a_text_is_read(state, tmp_path):
    meta, arrays = copy.deepcopy(state)
    meta["vectorizer"]["fields"]["token_pattern"] = r"(?:\w+)+@"
    with pytest.raises(ModelFileError):
        load_model(write(tmp_path / "m.tb", meta, arrays))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_draws_that_do_not_fit_are_refused(tmp_path):
    sampler = Gibbs(chains=2, warmup=5, max_draws=6, target_ess=3.0)
    classifier = BayesLinearClassifier("probit", inference=sampler)
    meta, arrays = TextCategorizer(cv=2, keep_draws=6, model=classifier).fit(TEXTS, MANY).to_state()
    for name, value in {
        "fitted.0.draws_.labels.0.columns": arrays["fitted.0.draws_.labels.0.columns"][::-1].copy(),
        "fitted.0.draws_.labels.1.weights": arrays["fitted.0.draws_.labels.1.weights"].astype(np.float64),
        "fitted.0.draws_.labels.1.intercept": arrays["fitted.0.draws_.labels.1.intercept"][:, :0].copy(),
        "fitted.0.draws_.labels.2.global_scale": arrays["fitted.0.draws_.labels.2.global_scale"] * np.nan,
        "fitted.0.draws_.labels.2.elsewhere": arrays["fitted.0.draws_.labels.2.elsewhere"][1:].copy(),
    }.items():
        with pytest.raises(ModelFileError, match=r"draws|global_scale|weights|elsewhere"):
            load_model(write(tmp_path / "m.tb", meta, {**arrays, name: value}))


def test_long_ngrams_are_refused_when_fitting():
    with pytest.raises(InputError, match=r"ngram_range=\(1, 1000000\).*≤ 32"):
        TextVectorizer(ngram_range=(1, 10**6)).fit(TEXTS)


def test_a_device_is_no_model_file():
    with pytest.raises(ModelFileError, match="not a regular file"):
        load_model("/dev/zero")


def test_a_large_array_that_packs_well_is_written_so_that_it_is_believed(state, tmp_path, monkeypatch):
    import textbayes.store.container as archive

    monkeypatch.setattr(archive, "_ALWAYS", 1_000)
    model = TextCategorizer.from_state(*state)
    model.vectorizer.set_params(stop_words=["a" * 200_000])  # a hundred to one and more
    model.vectorizer_.set_params(stop_words=["a" * 200_000])
    save_model(model, tmp_path / "m.tb")
    load_model(tmp_path / "m.tb")
    stream = io.BytesIO((tmp_path / "m.tb").read_bytes())
    assert zipfile.ZipFile(stream).getinfo("model.json").compress_type == zipfile.ZIP_STORED

"""Fuzz of the model file: ``python tests/fuzz/model_file.py --mutations 20000 --seed 0`` (see ``--help``).

A mutated file is refused with a ``TextBayesError`` when it is loaded, or it is a model: it predicts, explains, can be
written and read again, and can be fitted again.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import random
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from model_mutations import mutate_arrays, mutate_description, mutate_json_text, mutate_tensors
from model_variants import ASKED, TEXTS, variants
from safetensors.numpy import save
from sklearn.base import clone
from worker import LateFailureError, main

from textbayes import BayesLinearClassifier, TextCategorizer, load_model, save_model
from textbayes.core.errors import TextBayesError
from textbayes.inference.base import BaseInference
from textbayes.store.model_format import MODEL_FILE

NAMES = ("manifest.json", "model.json", "arrays.safetensors")
FOLDER = Path(tempfile.mkdtemp(prefix="textbayes-fuzz-"))


class Case(NamedTuple):
    """A file, what the model it was made of says, and whether it may say something else."""

    content: bytes
    expected: Any
    fair: bool
    labels: Any
    refit: bool


class Base(NamedTuple):
    """A model to start from."""

    name: str
    meta: Any
    arrays: dict[str, Any]
    expected: Any
    labels: Any


def said(model: TextCategorizer) -> Any:
    """Everything that a model is asked."""
    proba, labels = model.predict_proba(ASKED), model.predict_labels(ASKED)
    if not (np.isfinite(proba).all() and (proba >= 0.0).all() and (proba <= 1.0).all()):
        raise LateFailureError("probabilities that are none")
    words = [model.top_words(str(name), n=5) for name in model.classes_]
    explained = [model.explain(text) for text in ASKED[:2]]
    if model.standard_errors_ is not None:
        words += [model.word_intervals(str(model.classes_[-1]), k=5)]
    if model.draws_ is not None:
        words += [model.predict_interval(ASKED[:2])[0].tolist()]
    return proba.tolist(), labels, repr(words), repr(explained)


def target(case: Case) -> str:
    """Load the file and, if it is accepted, do all that is done with a model."""
    path = FOLDER / "model.tb"
    path.write_bytes(case.content)
    try:
        model = load_model(path)
    except TextBayesError as error:
        if "not foreseen" in str(error):
            raise LateFailureError(f"refused by chance: {error.__cause__!r}") from error
        raise
    try:
        answers = said(model)
        if not case.fair and answers != case.expected:
            raise LateFailureError("accepted, and gives other answers")
        save_model(model, FOLDER / "again.tb")
        if said(load_model(FOLDER / "again.tb")) != answers:
            raise LateFailureError("written and read again, it gives other answers")
    except TextBayesError as error:
        raise LateFailureError(str(error)) from error
    if case.refit:
        try:
            brief(clone(model)).fit(TEXTS, case.labels)
        except TextBayesError as error:
            if not case.fair:
                raise LateFailureError(f"fitted again: {error}") from error
    return "accepted" if answers == case.expected else "another model"


def brief(model: TextCategorizer) -> TextCategorizer:
    """The model with less patience: how long to train is the user's to say."""
    members = model.model if isinstance(model.model, list) else [model.model]
    for member in members:
        if isinstance(member, BayesLinearClassifier):
            member.set_params(max_iter=min(member.max_iter, 20), n_jobs=None)
            if isinstance(member.inference, BaseInference):
                sampler: Any = member.inference
                sampler.max_iter, sampler.n_jobs = min(sampler.max_iter, 20), 1
                if sampler.samples:
                    sampler.set_params(chains=1, warmup=2, max_draws=4, thin=1)
    return model.set_params(n_jobs=None)


def mutations(bases: list[Base]) -> Any:
    """``mutate`` of the worker: one to three changes of one of the models."""

    def mutate(rng: random.Random) -> tuple[str, Case]:
        base = rng.choice(bases)
        meta, arrays = copy.deepcopy(base.meta), dict(base.arrays)
        whats, fair = [], False  # one change that may make another model is enough for another model
        level = rng.choice(["model"] * 5 + ["arrays"] * 5 + ["json", "tensors", "manifest", "zip"])
        for _ in range(rng.choice([1, 1, 1, 2, 3]) if level in ("model", "arrays") else 0):
            act = mutate_description if rng.random() < (0.9 if level == "model" else 0.1) else mutate_arrays
            what, one_fair = act(rng, meta if act is mutate_description else arrays)
            whats.append(what)
            fair = fair or one_fair
            if not arrays:
                break
        # An array that was made another type and its own again is rounded: another model.
        there_and_back = [name for name in arrays if sum(what.startswith(f"{name} as ") for what in whats) > 1]
        fair = fair or any(arrays[name].dtype == base.arrays[name].dtype for name in there_and_back)
        text = json.dumps({"class": "TextCategorizer", "state": meta})
        members = {"model.json": text.encode(), "arrays.safetensors": save(arrays) if writable(arrays) else b""}
        if level == "json":
            what, members["model.json"] = mutate_json_text(rng, text)
            whats, fair = [what], what.startswith(("byte", "number"))
        elif level == "tensors":
            what, members["arrays.safetensors"] = mutate_tensors(rng, members["arrays.safetensors"])
            whats, fair = [what], "header" in what or "byte" in what or "entry" in what
        content, what = packed(rng, members, level)
        case = Case(content, base.expected, fair, base.labels, rng.random() < 0.1)
        return f"{base.name}: {'; '.join([*whats, what] if what else whats)}", case

    return mutate


def writable(arrays: dict[str, Any]) -> bool:
    return all(array.flags.c_contiguous for array in arrays.values())


def packed(rng: random.Random, members: dict[str, bytes], level: str) -> tuple[bytes, str]:
    """The file, with a damaged manifest or zip where asked for."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    manifest: Any = {
        "format": "textbayes model",
        "format_version": MODEL_FILE.version,
        "textbayes": "1",
        "sha256": sums,
    }
    what = ""
    if level == "manifest":
        what = mutate_description(rng, manifest)[0]
    whole = {"manifest.json": json.dumps(manifest).encode(), **members}
    pairs = list(whole.items())
    packing = zipfile.ZIP_DEFLATED
    act = rng.choice(
        ["flip"] * 12
        + ["cut"] * 8
        + ["directory"] * 4
        + ["cut", "double", "bomb", "packing", "extra", "comment", "rename"]
    )
    if level == "zip":
        what = f"zip {act}"
        if act == "double":
            pairs.append(rng.choice(pairs))
        elif act == "bomb":
            name = rng.choice(NAMES)
            pairs = [(one, b"\0" * (300 << 20) if one == name else content) for one, content in pairs]
        elif act == "packing":
            packing = rng.choice([zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
        elif act == "extra":
            pairs += [(f"{i}", b"") for i in range(rng.choice([1, 5000]))]
        elif act == "rename":
            pairs[rng.randrange(3)] = ("other", b"")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing, compresslevel=1) as archive:
        for name, content in pairs:
            archive.writestr(zipfile.ZipInfo(name), content, packing)
        if level == "zip" and act == "comment":
            archive.comment = b"PK\5\6" * 9
    content = bytearray(stream.getvalue())
    if level == "zip" and act == "flip":
        for _ in range(rng.choice([1, 1, 10])):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif level == "zip" and act == "cut":
        content = content[: rng.randrange(len(content))]
    elif level == "zip" and act == "directory":
        at = content.rfind(b"PK\1\2") + rng.randrange(60)
        content[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"])
    return bytes(content), what


def bases() -> list[Base]:
    """Models of the present format, and the files of an earlier one that tests keep."""
    found = []
    for name, model in variants().items():
        meta, arrays = model.to_state()
        plain = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
        found.append(Base(name, json.loads(json.dumps(meta)), plain, said(model), labels_like(model)))
    return found


def labels_like(model: TextCategorizer) -> list[Any]:
    """Labels of the kind that the model has, to fit it to again."""
    names = model.label_space_.class_names  # those of a label tree are its own
    several = [sorted({names[0], names[n % len(names)]}) for n in range(len(TEXTS))]
    kinds = {"binary": [n % 2 == 0 for n in range(len(TEXTS))], "multilabel": several}
    return kinds.get(model.label_space_.kind, [str(n % 3) for n in range(len(TEXTS))])


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    start = bases()
    for base in start:  # files as they are: this also compiles what is used below, once
        described = json.dumps({"class": "TextCategorizer", "state": base.meta}).encode()
        members = {"model.json": described, "arrays.safetensors": save(base.arrays)}
        content, _ = packed(random.Random(0), members, "")
        target(Case(content, base.expected, False, base.labels, True))
    sys.exit(main(target, mutations(start)))

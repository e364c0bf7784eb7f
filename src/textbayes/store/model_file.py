"""A model file: a zip of ``manifest.json``, ``model.json`` and ``arrays.safetensors``.

The manifest names the format, its version and the SHA-256 of the other members. Nothing in the file is executed, and
nothing in it is believed: see ``archive``, ``strict_json`` and ``arrays`` for its form, and the schemas of
``textbayes.categorizer.schema`` for what it says.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from textbayes._version import __version__
from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.state import check_description
from textbayes.core.errors import InputError, ModelFileError, TextBayesError
from textbayes.kinds.bare import classifier_state, restored_classifier
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.store.archive import open_archive
from textbayes.store.container import pack_arrays, write_container
from textbayes.store.strict_json import MOST_BYTES, read_json

FORMAT = "textbayes model"
FORMAT_VERSION = 3
_MODEL, _ARRAYS = "model.json", "arrays.safetensors"
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 1 << 16
_CLASSES = (TextCategorizer.__name__, BayesLinearClassifier.__name__)
_UNFORESEEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)


def save_model(model: TextCategorizer | BayesLinearClassifier, path: str | Path) -> None:
    """Write a fitted model to ``path``; what stood there is replaced only when the new file is complete.

    The file holds every parameter, so that the model can be fitted again; one that cannot be kept is refused by name. A
    ``BayesLinearClassifier``, which knows matrices and no texts, is kept as it is; commands need a ``TextCategorizer``.

    Parameters
    ----------
    model : TextCategorizer or BayesLinearClassifier
        Fitted.
    path : path
    """
    if isinstance(model, BayesLinearClassifier):
        meta, arrays = classifier_state(model)
    elif isinstance(model, TextCategorizer):
        meta, arrays = model.to_state()
    else:
        raise InputError(
            f"a {type(model).__name__} cannot be saved; pass a fitted TextCategorizer (with model=… for other kinds of "
            "models) or BayesLinearClassifier"
        )
    members = {_MODEL: _as_json({"class": type(model).__name__, "state": meta}), _ARRAYS: pack_arrays(arrays)}
    if isinstance(model, TextCategorizer):
        _check_can_be_read(members[_MODEL], arrays)
    write_members(path, members)


def write_members(path: str | Path, members: dict[str, bytes]) -> None:
    """Write the members of a model file, and the manifest that vouches for them."""
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "textbayes": __version__,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    write_container(path, {_MANIFEST: json.dumps(manifest, indent=1).encode(), **members})


def load_categorizer(path: str | Path) -> TextCategorizer:
    """Read the model file of a ``TextCategorizer``; one of a bare classifier, which knows no texts, is refused."""
    model = load_model(path)
    if not isinstance(model, TextCategorizer):
        raise InputError(
            f"{path} holds a {type(model).__name__}, which knows matrices and no texts; use it in Python (load_model), "
            "or train a model with `textbayes train`"
        )
    return model


def load_model(path: str | Path) -> Any:
    """Read a model file: a ``TextCategorizer``, or what else was saved.

    A truncated, altered or newer file is refused in a sentence.
    """
    from textbayes.store.arrays import load_arrays, read_arrays_member  # loads pydantic
    from textbayes.store.upgrade import upgraded

    path = Path(path)
    with open_archive(path, (_MANIFEST, _MODEL, _ARRAYS)) as archive:
        with archive.open(_MANIFEST) as stream:
            manifest = _manifest(path, stream.read(_LARGEST_MANIFEST + 1))
        with archive.open(_MODEL) as stream:
            described = stream.read(MOST_BYTES + 1)
            if len(described) > MOST_BYTES:
                raise ModelFileError(f"{path} is not believable: its {_MODEL} has more than {MOST_BYTES >> 20} MiB")
        _check_sum(path, manifest, _MODEL, described)
        with archive.open(_ARRAYS) as stream:
            content = read_arrays_member(path, stream, _ARRAYS)
        _check_sum(path, manifest, _ARRAYS, content)
    try:
        told, arrays = read_json(described, _MODEL), load_arrays(content)
        if not isinstance(told, dict) or set(told) != {"class", "state"} or told["class"] not in _CLASSES:
            raise ModelFileError("it holds something that this version of textbayes does not know")
        if told["class"] == BayesLinearClassifier.__name__:
            return restored_classifier(told["state"], arrays)
        return TextCategorizer.from_state(*upgraded(told["state"], arrays, manifest["format_version"]))
    except TextBayesError as error:
        raise ModelFileError(f"{path} is a damaged model file: {_reason(error)}; train or copy it again") from error
    except _UNFORESEEN as error:  # nothing is known to get here, but a file should never end in a traceback
        raise ModelFileError(
            f"{path} is a damaged model file, in a way that was not foreseen ({error!r:.100}); train or copy it again"
        ) from error
    except MemoryError:
        raise ModelFileError(f"{path} needs more memory than there is; was the file altered?") from None


def written_by(path: str | Path) -> str:
    """The version of textbayes that wrote a model file."""
    path = Path(path)
    with open_archive(path, (_MANIFEST, _MODEL, _ARRAYS)) as archive, archive.open(_MANIFEST) as stream:
        return str(_manifest(path, stream.read(_LARGEST_MANIFEST + 1)).get("textbayes", "?"))[:40]


def _as_json(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except TypeError as error:
        raise InputError(f"this model cannot be kept in a file: {error}; pass plain numbers and names") from error


def _check_can_be_read(described: bytes, arrays: dict[str, Any]) -> None:
    """Refuse now what could not be loaded later."""
    try:
        check_description(read_json(described, "its description")["state"], arrays)
    except TextBayesError as error:
        raise InputError(f"this model cannot be kept in a file: {_reason(error)}") from error


def _reason(error: TextBayesError) -> str:
    return str(error).removesuffix("; was the file altered?")


def _manifest(path: Path, content: bytes) -> dict[str, Any]:
    other = ModelFileError(f"{path} is a zip file but not a textbayes model file")
    try:
        manifest = read_json(content[: _LARGEST_MANIFEST + 1], _MANIFEST)
    except ModelFileError:
        raise other from None
    if len(content) > _LARGEST_MANIFEST or not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise other
    version, sums = manifest.get("format_version"), manifest.get("sha256")
    if type(version) is not int or version < 1 or not isinstance(sums, dict):
        raise other
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, written by textbayes {str(manifest.get('textbayes', '?'))[:40]}; "
            f"this is textbayes {__version__}, which reads up to version {FORMAT_VERSION}: upgrade textbayes"
        )
    return manifest


def _check_sum(path: Path, manifest: dict[str, Any], name: str, content: bytes) -> None:
    if hashlib.sha256(content).hexdigest() != manifest["sha256"].get(name):
        raise ModelFileError(f"{path} was altered after it was written: {name} does not match its checksum")

"""A model file: a zip of ``manifest.json``, ``model.json`` and ``arrays.safetensors``.

The manifest names the format, its version and the SHA-256 of the other members. Nothing in the file is executed.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from textbayes._version import __version__
from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, ModelFileError
from textbayes.store.atomic import atomic_write

FORMAT = "textbayes model"
FORMAT_VERSION = 1
_MEMBERS = ("model.json", "arrays.safetensors")
_TIME = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes
_MOST_BYTES = 16 * 2**30  # what a member may unpack to: stops a zip bomb before memory does


def save_model(model: TextCategorizer, path: str | Path) -> None:
    """Write a fitted categorizer to ``path``; what stood there is replaced only when the new file is complete."""
    from safetensors.numpy import save

    if not isinstance(model, TextCategorizer):
        raise InputError(f"a {type(model).__name__} cannot be saved; pass a fitted TextCategorizer")
    meta, arrays = model.to_state()
    members = {
        "model.json": json.dumps({"class": type(model).__name__, "state": meta}).encode(),
        "arrays.safetensors": save({name: np.ascontiguousarray(array) for name, array in arrays.items()}),
    }
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "textbayes": __version__,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"manifest.json": json.dumps(manifest, indent=1).encode(), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)


def load_model(path: str | Path) -> TextCategorizer:
    """Read a model file; a truncated, altered or newer one is refused in a sentence."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    members = _read(Path(path))
    try:
        described = json.loads(members["model.json"])
        arrays = load(members["arrays.safetensors"])
        if described["class"] != TextCategorizer.__name__:
            raise ModelFileError(
                f"{path} holds a {described['class']!r}, which this version of textbayes does not know"
            )
        return TextCategorizer.from_state(described["state"], arrays)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, SafetensorError) as error:
        raise ModelFileError(f"{path} is a damaged model file ({error}); train or copy it again") from error


def written_by(path: str | Path) -> str:
    """The version of textbayes that wrote a model file."""
    with zipfile.ZipFile(path) as archive:
        return str(_manifest(Path(path), archive).get("textbayes", "?"))


def _read(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; pass a model file written by `textbayes train`")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(path, archive)
            return {name: _member(path, archive, name, manifest) for name in _MEMBERS}
    except FileNotFoundError:
        raise ModelFileError(
            f"{path} does not exist; train a model first: textbayes train texts.jsonl -o {path}"
        ) from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as error:
        raise ModelFileError(f"{path} is not a model file, or it is truncated or altered ({error})") from error


def _manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(_unpack(path, archive, "manifest.json"))
        version, known = manifest["format_version"], manifest["format"] == FORMAT
        manifest["sha256"].keys()
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ModelFileError(f"{path} is a zip file but not a textbayes model file") from None
    if not known or not isinstance(version, int):
        raise ModelFileError(f"{path} is a zip file but not a textbayes model file")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, written by textbayes {manifest.get('textbayes', '?')}; this is "
            f"textbayes {__version__}, which reads up to version {FORMAT_VERSION}: upgrade textbayes"
        )
    return manifest


def _member(path: Path, archive: zipfile.ZipFile, name: str, manifest: dict[str, Any]) -> bytes:
    content = _unpack(path, archive, name)
    if hashlib.sha256(content).hexdigest() != manifest["sha256"].get(name):
        raise ModelFileError(f"{path} was altered after it was written: {name} does not match its checksum")
    return content


def _unpack(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        size = archive.getinfo(name).file_size
    except KeyError:
        raise ModelFileError(f"{path} is not a textbayes model file: it has no {name}") from None
    if size > _MOST_BYTES:
        raise ModelFileError(f"{path} is not believable: its {name} unpacks to more than {_MOST_BYTES >> 30} GiB")
    return archive.read(name)

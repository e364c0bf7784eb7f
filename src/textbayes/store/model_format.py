"""A model file: a zip of ``manifest.json``, ``model.json`` and ``arrays.safetensors``.

The manifest names the format, its version and the SHA-256 of the other members. Nothing in the file is executed, and
nothing in it is believed: see ``container`` for its form, and the fields of ``textbayes.categorizer.schema`` for
what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray
from textbayes.store.container import FileFormat, open_container

MODEL_FILE = FileFormat(
    "textbayes model",
    version=5,
    noun="model file",
    remedy="train or copy it again",
    description="model.json",
    manifest="manifest.json",
    source="pass a model file written by `textbayes train`",
    missing="train a model first: textbayes train train.csv -o {path}",
)
_CLASSES = ("TextCategorizer", "BayesLinearClassifier")


def read_model(path: Path) -> tuple[str, Any, Mapping[str, AnyArray]]:
    """Read a model file: the class that was saved, its description and its arrays."""
    with open_container(path, MODEL_FILE) as container:
        if container.mark["format_version"] < MODEL_FILE.version:
            raise ModelFileError(
                f"{path} was written by a version of textbayes before 0.1.0, whose files are not read any more; train "
                "the model again"
            )
        told, arrays = container.description(), container.arrays()
    with MODEL_FILE.damage(path):
        if not isinstance(told, dict) or set(told) != {"class", "state"} or told["class"] not in _CLASSES:
            raise ModelFileError("it holds something that this version of textbayes does not know")
    return told["class"], told["state"], arrays

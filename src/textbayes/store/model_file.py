"""Models written to files and read from them; see ``model_format`` for what a file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, TextBayesError
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.store.classifier_state import classifier_state, restored_classifier
from textbayes.store.container import open_container, pack_arrays, write_members
from textbayes.store.file_format import without_question
from textbayes.store.lock import replacing
from textbayes.store.model_format import MODEL_FILE, read_model


def save_model(model: TextCategorizer | BayesLinearClassifier, path: str | Path) -> None:
    """Write a fitted model to ``path``; what stood there is replaced when the new file is complete and could be read.

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
    elif isinstance(model, Pipeline):
        raise InputError(
            "a scikit-learn Pipeline cannot be saved: a model file holds one model of textbayes and no other steps; "
            "train a TextCategorizer, which reads texts itself, or save the last step alone: save_model(pipeline[-1], "
            "path)"
        )
    else:
        raise InputError(
            f"a {type(model).__name__} cannot be saved; pass a fitted TextCategorizer (with model=… for other kinds of "
            "models) or BayesLinearClassifier"
        )
    described = _as_json({"class": type(model).__name__, "state": meta})
    with replacing(path, needed=False):  # not while another changes what it has read there
        write_members(Path(path), MODEL_FILE, described, pack_arrays(arrays), check=_read_back)


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
    path = Path(path)
    name, state, arrays = read_model(path)
    with MODEL_FILE.damage(path):
        if name == BayesLinearClassifier.__name__:
            return restored_classifier(state, arrays)
        return TextCategorizer.from_state(state, arrays)


def written_by(path: str | Path) -> str:
    """The version of textbayes that wrote a model file."""
    with open_container(Path(path), MODEL_FILE) as container:
        return str(container.mark.get("textbayes", "?"))[:40]


def _as_json(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except TypeError as error:
        raise InputError(f"this model cannot be kept in a file: {error}; pass plain numbers and names") from error


def _read_back(path: Path) -> None:
    """Refuse a file, before it takes its place, that could not be loaded later."""
    try:
        load_model(path)
    except TextBayesError as error:
        cause = error.__cause__ if isinstance(error.__cause__, TextBayesError) else error
        reason = without_question(cause).replace(str(path), "it")
        raise InputError(f"this model cannot be kept in a file: {reason}; no file was changed") from error

"""Models written to files and read from them, by one process or several; see ``model_format`` for what a file holds.

A fitted ``BayesLinearClassifier`` is kept by itself, for users of matrices, not of texts.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.model_types import model_state, restored_model
from textbayes.core.codec import Described, Field, Null, Whole, read, written
from textbayes.core.errors import InputError, ModelFileError, TextBayesError
from textbayes.core.labels import LabelSpace
from textbayes.core.state import Part, part_of, under
from textbayes.core.types import AnyArray
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.posterior.gaussian import GaussianApproximation
from textbayes.store.container import open_container, pack_arrays, without_question, write_members
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


_FIELDS: dict[str, Field] = {
    "model": Described(),
    "labels": Part(LabelSpace),
    "n_features": Whole(1),
    "fitted": Described(),
    "approximation": Described() | Null(),
    "n_iter": Whole(0),
}


def classifier_state(classifier: BayesLinearClassifier) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The parameters of a fitted classifier, its weights, and its posterior as far as it has one."""
    check_is_fitted(classifier)
    if type(classifier) is not BayesLinearClassifier:
        raise InputError(f"a {type(classifier).__name__} cannot be kept by itself; save a BayesLinearClassifier")
    given, arrays = model_state(classifier)
    fitted, own = classifier.to_state()
    approximation, more = None, {}
    if classifier.approximation_ is not None:
        approximation, more = classifier.approximation_.to_state()
    values = {
        "model": given,
        "labels": classifier.label_space_,
        "n_features": int(classifier.n_features_in_),
        "fitted": fitted,
        "approximation": approximation,
        "n_iter": int(classifier.n_iter_),
    }
    meta, _ = written(values, _FIELDS)
    return meta, arrays | under("fitted", own) | under("approximation", more)


def restored_classifier(meta: Any, arrays: Mapping[str, AnyArray]) -> BayesLinearClassifier:
    """The classifier of :func:`classifier_state`; what does not fit together is refused."""
    found = read(_FIELDS, meta, arrays, "the classifier")
    space, n_features = found["labels"], found["n_features"]
    classifier = restored_model(found["model"], arrays, space.n_columns, n_features)
    if type(classifier) is not BayesLinearClassifier:
        raise ModelFileError("the file holds no BayesLinearClassifier; was it altered?")
    fitted = BayesLinearClassifier.from_state(found["fitted"], part_of(arrays, "fitted"), space, n_features)
    classifier.n_iter_ = found["n_iter"]
    for name, value in vars(fitted).items():
        if name.endswith("_"):
            setattr(classifier, name, value)
    if found["approximation"] is not None:
        classifier.approximation_ = GaussianApproximation.from_state(
            found["approximation"], part_of(arrays, "approximation")
        )
    return classifier


logger = logging.getLogger("textbayes")


class SharedModel:
    """A model file in use, which others may change as well.

    Parameters
    ----------
    path : path
        The file of a ``TextCategorizer``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "model.tb"
    >>> texts, labels = ["corn prices", "corn harvest", "bank rates", "the bank"], ["grain", "grain", "money", "money"]
    >>> save_model(TextCategorizer(model="counts", cv=2).fit(texts, labels), path)
    >>> shared = SharedModel(path)
    >>> with shared.change() as model:
    ...     model = model.update(["corn loans"], ["money"])
    >>> shared.model.label_counts_.tolist()
    [2, 3]
    """

    def __init__(self, path: str | Path) -> None:
        self._path, self._reading = Path(path), threading.Lock()
        self._seen, self._model = _seen(self._path), load_categorizer(path)

    @property
    def model(self) -> TextCategorizer:
        """The model as the file has it now; where that cannot be read, as it was, and a warning says so."""
        try:
            return self._newest()
        except TextBayesError as error:
            logger.warning("textbayes: %s; the model that was read before is in use", error)
            return self._model

    def is_newest(self, model: TextCategorizer) -> bool:
        """Whether a model is the one that was read last, and the file is still that one; nothing is waited for."""
        return model is self._model and _seen(self._path) == self._seen

    @contextlib.contextmanager
    def change(self, waiting: Callable[[], None] | None = None) -> Iterator[TextCategorizer]:
        """A model to teach, as the file has it now; it is written when the block ends without an error.

        Nobody else writes the file meanwhile. Those who ask for :attr:`model` have the one of before until then.

        Parameters
        ----------
        waiting : function, optional
            Called once if somebody else is changing the file, before that is waited for.
        """
        with replacing(self._path, waiting):
            changed = copy.copy(self._newest())  # what was learnt before is replaced by an update, not changed
            yield changed
            save_model(changed, self._path)
            with self._reading:
                self._seen, self._model = _seen(self._path), changed

    def _newest(self) -> TextCategorizer:
        with self._reading:
            seen = _seen(self._path)
            if seen != self._seen:
                self._model = load_categorizer(self._path)
                self._seen = seen  # of before it was read: a change since then is seen the next time
            return self._model


def _seen(path: Path) -> tuple[int, ...] | None:
    """What is another when the file is another; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

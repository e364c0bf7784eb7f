"""A model file that several processes read and teach: nothing that one of them has learnt is lost by another."""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import TextBayesError
from textbayes.store.lock import replacing
from textbayes.store.model_file import load_categorizer, save_model

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

"""Texts that a model was trained on, met again where it is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.cli.settings import warn
from textbayes.core.types import Document

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer


class SeenTexts:
    """Counts texts that were in the training set; models of older files do not know theirs, and ``n`` stays None."""

    def __init__(self, model: TextCategorizer, name: str = "the model") -> None:
        self._fingerprints, self._name = model.fingerprints_, name
        self.n: int | None = None if self._fingerprints is None else 0

    def add(self, documents: list[Document]) -> None:
        """Count those of more texts."""
        if self._fingerprints is not None and self.n is not None:
            from textbayes.text.fingerprint import n_known

            self.n += n_known((document.text for document in documents), self._fingerprints)

    def warn(self, n_docs: int) -> None:
        """Warn if any texts were in the training set."""
        if self.n:
            warn(
                f"{self.n:,} of {n_docs:,} texts were in the training set of {self._name}: its figures on them are too "
                "good; measure it on texts it has not seen, or see the cross-validated figures that train prints"
            )

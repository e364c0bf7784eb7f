"""A corpus in memory: texts or vectors, their labels, and which part each document belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, Document
from textbayes.core.validation import check_same_length

if TYPE_CHECKING:
    from textbayes.core.labels import LabelSpace


@dataclass(frozen=True, eq=False)  # matrices have no single truth value to compare by
class Corpus:
    """Documents with labels.

    Parameters
    ----------
    name : str
    ids : list of str
    labels : list of tuples of str
        None, one or several per document.
    texts : list of str
        Empty for a corpus of vectors.
    label_names : tuple of str
        All categories, in sorted order; those of the parts are those of the whole.
    split : list of str, optional
        The part of each document: ``train`` or ``test``, or the number of its fold.
    dates : list of str, optional
        YYYY-MM-DD, or a year.
    X : sparse matrix, optional
        One row per document, for a corpus of vectors.
    notes : tuple of str
        What a careful user should know of this copy.

    Examples
    --------
    >>> corpus = Corpus("tea", ["1", "2"], [("green",), ("black",)], ["sencha", "assam"], split=["train", "test"])
    >>> corpus.train.texts, corpus.label_names
    (['sencha'], ('black', 'green'))
    """

    name: str
    ids: list[str]
    labels: list[tuple[str, ...]]
    texts: list[str]
    label_names: tuple[str, ...] = ()
    split: list[str] | None = None
    dates: list[str] | None = None
    X: Any = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_same_length(self.ids, "ids", self.labels, "labels")
        if self.X is None or self.texts:
            check_same_length(self.ids, "ids", self.texts, "texts")
        for name, values in (("split", self.split), ("dates", self.dates), ("X", self.X)):
            if values is not None:
                check_same_length(self.ids, "ids", values, name)
        if not self.label_names:
            found = sorted({label for labels in self.labels for label in labels})
            object.__setattr__(self, "label_names", tuple(found))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        parts = "" if self.split is None else " " + " + ".join(f"{n:,} {part}" for part, n in self.parts.items())
        return f"<Corpus {self.name}: {len(self):,} documents{parts}, {len(self.label_names)} labels>"

    @property
    def parts(self) -> dict[str, int]:
        """The parts there are and their sizes, in order of first appearance."""
        return dict(Counter(self.split or ()))

    @property
    def train(self) -> Corpus:
        """The documents to learn from."""
        return self.part("train")

    @property
    def test(self) -> Corpus:
        """The documents held out."""
        return self.part("test")

    @property
    def single_label(self) -> bool:
        """Whether every document carries exactly one label."""
        return all(len(labels) == 1 for labels in self.labels)

    @property
    def targets(self) -> list[str] | list[tuple[str, ...]]:
        """Labels as estimators take them: a string per document if each has exactly one, else tuples."""
        return [labels[0] for labels in self.labels] if self.single_label else self.labels

    def part(self, *names: str) -> Corpus:
        """The documents of the parts named."""
        for name in names:
            if name not in self.parts:
                there = ", ".join(map(repr, self.parts)) or "none"
                raise InputError(f"corpus {self.name!r} has no part {name!r}; its parts are: {there}")
        assert self.split is not None  # a name was found in it
        return self.take([i for i, part in enumerate(self.split) if part in names])

    def take(self, rows: Sequence[int]) -> Corpus:
        """The documents of the given rows; categories stay those of the whole."""

        def chosen(values: list[Any] | None) -> Any:
            return None if values is None else [values[i] for i in rows]

        return replace(
            self,
            ids=chosen(self.ids),
            labels=chosen(self.labels),
            texts=chosen(self.texts) if self.texts else [],
            split=chosen(self.split),
            dates=chosen(self.dates),
            X=None if self.X is None else self.X[list(rows)],
        )

    def documents(self) -> Iterator[Document]:
        """The documents one by one; a corpus of vectors has none."""
        if not self.texts and len(self):
            raise InputError(f"corpus {self.name!r} holds vectors without texts; use its matrix X")
        yield from map(Document, self.ids, self.texts, self.labels)

    def encode(self) -> tuple[BoolArray, LabelSpace]:
        """Indicator matrix of the labels, in the order of ``label_names``, and their space."""
        from textbayes.core.labels import encode_labels  # scipy: only when used

        return encode_labels(self.targets, classes=self.label_names)

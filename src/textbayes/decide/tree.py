"""Labels above others: probabilities and decisions that agree with a hierarchy of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.codec import Fields, List, Named, Text
from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_probabilities

_MOST_LEVELS = 100  # MeSH, among the deepest, has 13; without a bound a file could keep a reader busy for hours
_MOST_WAYS = 20_000_000  # from labels to those above them; the largest thesauri have a tenth
_Relatives = tuple[int, IntArray, IntArray]  # a column, those of the labels above it, and below it, its own in both


class LabelTree:
    """Which labels imply which: a document with a label has all labels above it. A label may have several parents.

    Parameters
    ----------
    parents : label → its parent, or parents
        ``textbayes.data.read_parents`` reads them from a table or a SKOS vocabulary.

    Examples
    --------
    >>> tree = LabelTree({"wheat": "grain", "corn": "grain", "grain": "goods"})
    >>> tree.complete(["wheat"])
    ('wheat', 'grain', 'goods')
    >>> names = ["grain", "wheat"]
    >>> tree.coherent([[0.2, 0.8], [0.9, 0.3]], names).tolist()
    [[0.5, 0.5], [0.9, 0.3]]
    >>> tree.closed(np.array([[False, True]]), names).tolist()
    [[True, True]]
    """

    fields: ClassVar[Fields] = {"parents": Named(List(Text(), 1))}

    def __init__(self, parents: Mapping[Any, Any]) -> None:
        named = {str(label): _names(given) for label, given in parents.items()}
        self.parents = {label: given for label, given in named.items() if given}
        self._above: dict[str, tuple[str, ...]] = {}
        self._relatives: tuple[tuple[str, ...], list[_Relatives]] | None = None
        n_ways = 0
        for label in self.parents:
            n_ways += self._climb(label)
            if n_ways > _MOST_WAYS:
                raise InputError("the labels have too many others above them; give the tree of fewer labels")

    @property
    def names(self) -> set[str]:
        """All labels that the tree has."""
        return {*self.parents, *(name for given in self.parents.values() for name in given)}

    def above(self, label: str) -> tuple[str, ...]:
        """All labels above one, the nearest first."""
        return self._above.get(label, ())

    def among(self, names: Iterable[str]) -> LabelTree:
        """The tree of some labels and all above them."""
        kept = dict.fromkeys(other for name in names for other in (name, *self.above(name)))
        return LabelTree({name: self.parents[name] for name in kept if name in self.parents})

    def complete(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Labels of a document with all those above them."""
        labels = tuple(labels)
        return tuple(dict.fromkeys([*labels, *(other for label in labels for other in self.above(label))]))

    def coherent(self, proba: ArrayLike, names: Sequence[str], known: BoolArray | None = None) -> FloatArray:
        """Probabilities (n_docs, n_labels) of which no label's is higher than that of a label above it.

        They lie halfway between the highest coherent ones below those given (each the least of its own and all above)
        and the lowest coherent ones above (each the greatest of its own and all below). Coherent ones stay as they are.

        Parameters
        ----------
        proba : array (n_docs, n_labels)
        names : sequence of str
            The label of each column.
        known : boolean array (n_docs, n_labels), optional
            Where a probability means something. Others stay, and no other follows them.
        """
        given = check_probabilities(proba)
        found = given.copy()
        least, most = (given, given) if known is None else (np.where(known, given, 0.0), np.where(known, given, 1.0))
        for column, above, below in self._columns(names):
            found[:, column] = 0.5 * (most[:, above].min(axis=1) + least[:, below].max(axis=1))
        return found if known is None else np.where(known, found, given)

    def closed(self, decisions: BoolArray, names: Sequence[str]) -> BoolArray:
        """Decisions (n_docs, n_labels) with all labels above those decided on.

        Parameters
        ----------
        decisions : boolean array (n_docs, n_labels)
        names : sequence of str
            The label of each column.
        """
        given = np.asarray(decisions, dtype=np.bool_)
        found = given.copy()
        for column, _, below in self._columns(names):
            found[:, column] = given[:, below].any(axis=1)
        return found

    def _columns(self, names: Sequence[str]) -> list[_Relatives]:
        """The columns of labels that have others above or below them; those of the names last asked for are kept."""
        names = tuple(names)
        if self._relatives is None or self._relatives[0] != names:
            place = {name: k for k, name in enumerate(names)}
            above = [
                [k, *(place[other] for other in self.above(name) if other in place)] for k, name in enumerate(names)
            ]
            below: list[list[int]] = [[] for _ in names]
            for k, own in enumerate(above):
                for other in own:
                    below[other].append(k)
            related = [k for k in place.values() if len(above[k]) > 1 or len(below[k]) > 1]
            self._relatives = names, [(k, np.array(above[k]), np.array(below[k])) for k in related]
        return self._relatives[1]

    def _climb(self, label: str) -> int:
        """Find the labels above one, level by level; returns how many parents were looked at."""
        found: dict[str, None] = {}
        n_ways = 0
        level = list(self.parents[label])
        for depth in count():
            if not level:
                break
            if depth == _MOST_LEVELS:
                raise InputError(f"label {label!r} has more than {_MOST_LEVELS} levels above it; correct its parents")
            if label in level:
                raise InputError(f"label {label!r} is above itself; a hierarchy has no cycles: correct its parents")
            found |= dict.fromkeys(level)
            next_up = [other for name in level for other in self.parents.get(name, ())]
            n_ways += len(next_up)
            # Each once: where all labels have the same two parents, ways up double with every level.
            level = [other for other in dict.fromkeys(next_up) if other not in found]
        self._above[label] = tuple(found)
        return n_ways


def _names(given: Any) -> tuple[str, ...]:
    """The parents of a label, given as one or as several; nothing, and what pandas has in an empty cell, is none."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return tuple(str(one) for one in (given if several else (given,)) if one is not None and one == one and one != "")

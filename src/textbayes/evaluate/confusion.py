"""Confusion matrix: how often each true label was given as which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, FloatArray

NOTHING = "(none)"  # no label where one was due, or none due where one was given
SEVERAL = "(several)"


class Confused(NamedTuple):
    """Number ``n`` of documents of label ``true`` that were given label ``given``."""

    true: str
    given: str
    n: int


def confusion(
    true: Iterable[Sequence[str]], given: Iterable[Sequence[str]], multilabel: bool = False
) -> list[Confused]:
    """Pairs of true and given labels that occur, by the labels of each document.

    Where classes exclude each other this is the confusion table, right pairs included, in the order of the labels; a
    document that was given none or several is under "(none)" or "(several)".

    For multi-label documents these are the mistakes, the most frequent first: each label that was missed with each that
    was wrongly given to the same document, or with "(none)" where nothing was, and the other way round.

    Parameters
    ----------
    true, given : iterables of sequences of str
        The labels of each document, and those it was given.
    multilabel : bool
        Documents may have several labels.

    Examples
    --------
    >>> for pair in confusion([["corn"], ["corn"], ["rain"]], [["corn"], ["rain"], ["rain"]]):
    ...     print(*pair)
    corn corn 1
    corn rain 1
    rain rain 1
    """
    pairs = zip(true, given, strict=True)
    if not multilabel:
        found = Counter((_one(due), _one(got)) for due, got in pairs)
        return [Confused(*pair, n) for pair, n in sorted(found.items())]
    found = Counter()
    for due, got in pairs:
        missed, extra = sorted(set(due) - set(got)), sorted(set(got) - set(due))
        if missed or extra:
            found.update(product(missed or [NOTHING], extra or [NOTHING]))
    return [Confused(*pair, n) for pair, n in sorted(found.items(), key=lambda item: (-item[1], item[0]))]


def mistake_sureness(truth: BoolArray, decisions: BoolArray, proba: FloatArray, exclusive: bool = False) -> FloatArray:
    """How sure a model was of what is not so: of yes to a label it gave, of no to one it missed; −1 where it is right.

    Of ``exclusive`` classes the one given is the mistake: the true one was missed for its sake, and has −1 as well.

    Parameters
    ----------
    truth, decisions : boolean arrays (n_docs, n_labels)
    proba : array (n_docs, n_labels)
    """
    sureness = np.where(truth == decisions, -1.0, np.where(decisions, proba, 1.0 - proba))
    if not exclusive:
        return sureness
    given = decisions & ~truth
    return np.where(given | ~given.any(axis=1, keepdims=True), sureness, -1.0)


def _one(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else SEVERAL if labels else NOTHING

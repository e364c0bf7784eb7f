"""First guesses from names and descriptions of labels: what each stands for among the texts, before any answer.

A description is read as a text of its label. Few texts have its very words, so that the texts nearest to it count as
texts of the label as well: those that share most of its words, and then those nearest to the middle of these by what
goes together in all texts (McCallum & Nigam 1999, Text classification by bootstrapping with keywords, EM and
shrinkage). Whatever their number, they count as one labelled text for each label, and the description as another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, IntArray

_NEAREST, _FEWEST = 50, 5  # texts that stand for a label at most; of few texts half as many as a label has on average


class Described(NamedTuple):
    """Rows that descriptions stand for.

    Parameters
    ----------
    names : list of str
        All labels that were described.
    X : csr_matrix (n_rows, n_words)
    label : array of int (n_rows,)
        Place of the label in ``names``.
    weight : array (n_rows,)
    text : array of int (n_rows,)
        Which of the texts the row is; −1 for a description itself.
    """

    names: list[str]
    X: Any
    label: IntArray
    weight: FloatArray
    text: IntArray

    def joined(
        self, X: Any, Y: BoolArray, names: Sequence[str], labelled: Collection[int], followed: float
    ) -> tuple[Any, BoolArray, FloatArray]:
        """Labelled texts with these rows below them, and the weight of each; no row stands for a text with a label.

        Parameters
        ----------
        X : csr_matrix (n_labelled, n_words)
        Y : boolean array (n_labelled, n_labels)
        names : sequence of str
            The labels of the columns of Y, these among them.
        labelled : collection of int
            Indices of the texts that have labels.
        followed : float
            By how much the weights of these rows are multiplied.
        """
        open_ = ~np.isin(self.text, np.fromiter(labelled, np.int64, len(labelled)))
        place = np.array([list(names).index(name) for name in self.names], dtype=np.int64)
        own = np.zeros((int(open_.sum()), Y.shape[1]), dtype=np.bool_)
        own[np.arange(len(own)), place[self.label[open_]]] = True
        weight = np.concatenate([np.ones(X.shape[0]), followed * self.weight[open_]])
        return sparse.vstack([X, self.X[open_]], format="csr"), np.concatenate([Y, own]), weight


def read_described(
    told: Mapping[str, str],
    read: Callable[[Sequence[str]], Any],
    X: Any,
    points: FloatArray,
) -> Described:
    """What names and descriptions stand for among the texts.

    Parameters
    ----------
    told : label → its name and description
    read : callable
        Reads texts as the others were read: their weights of words.
    X : csr_matrix (n_texts, n_words)
        Weights of the words of all texts, rows of length one.
    points : array (n_texts, n_dimensions)
        Their directions, of length one.
    """
    if not all(label.strip() for label in told):
        raise InputError("a label without a name is described; give every label a name")
    names = list(told)
    own = read(list(told.values()))
    known = np.flatnonzero(np.diff(own.indptr))
    n = min(_NEAREST, max(_FEWEST, X.shape[0] // (2 * max(len(names), 1))))
    near = _nearest(np.asarray((X @ own.T).todense()), n)
    centres = np.zeros((len(names), points.shape[1]))
    for k, rows in enumerate(near):
        total = points[rows].sum(axis=0)
        centres[k] = total / max(float(np.linalg.norm(total)), 1e-12)
    near = _nearest(points @ centres.T, n)
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *near])
    label = np.repeat(np.arange(len(names)), [len(some) for some in near])
    weight = np.concatenate([np.ones(len(known)), *(np.full(len(some), 1.0 / max(len(some), 1)) for some in near)])
    return Described(
        names, sparse.vstack([own[known], X[rows]], format="csr"), np.concatenate([known, label]), weight,
        np.concatenate([np.full(len(known), -1), rows]),
    )  # fmt: skip


def _nearest(likeness: FloatArray, n: int) -> list[IntArray]:
    """For each label the ``n`` texts most like it, of those that are like no other label more."""
    best, most = likeness.argmax(axis=1), likeness.max(axis=1)
    found = []
    for k in range(likeness.shape[1]):
        rows = np.flatnonzero((best == k) & (most > 0.0))
        found.append(rows[np.argsort(-most[rows], kind="stable")[:n]])
    return found

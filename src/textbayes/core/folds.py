"""Cross-validation folds that spread the positives of every label, the rarest first."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, IntArray, Matrix
from textbayes.core.validation import check_indicator


def label_seen(indicator: BoolArray, fold: IntArray) -> BoolArray:
    """Whether models that do not train on a document see texts with a label and texts without it, like ``indicator``.

    Where they do not, scores of the label mean nothing. False for documents that are not held out.

    Parameters
    ----------
    indicator : boolean array (n_docs, n_labels)
    fold : array (n_docs,)
        −1 for documents that are not held out.
    """
    seen = np.zeros(indicator.shape, dtype=np.bool_)
    for k in range(int(fold.max()) + 1):
        others = indicator[fold != k]
        seen[fold == k] = others.any(axis=0) & ~others.all(axis=0)
    return seen


def stratified_folds(
    Y: Matrix | ArrayLike,
    n_folds: int,
    random_state: int | np.random.Generator | None = 0,
    groups: Iterable[Hashable] | None = None,
    copies: IntArray | None = None,
) -> IntArray:
    """The fold (0 … n_folds − 1) of each document, positives of each label spread as evenly as can be.

    Each document goes with its rarest label. Labels are taken from the rarest to the commonest; each of their
    documents goes to the fold with the fewest of that label so far, of equal ones to the smallest fold. Documents
    without labels come last and even out the sizes. A label with m < n_folds positives lands in m different folds
    (as far as rarer labels of its documents have not placed them), so that no training part is without it. This is
    iterative stratification (Sechidis, Tsoumakas & Vlahavas 2011) with the order of labels fixed in advance:
    O(n_docs · n_folds). The order of the columns of Y decides nothing: of labels of one size, the documents that have
    them say which comes first, and two classes in one column are two labels.

    With ``groups``, one value per document, documents of a group share a fold, so that no model is tested on a group
    that it was trained on; see :func:`grouped_folds`. With ``copies`` the first of some documents with the same text is
    placed as if the others were not there, and these follow it. Where a copy is in another group the two groups become
    one, as long as that is no larger than a fold.

    Parameters
    ----------
    Y : boolean array (n_docs, n_labels)
    n_folds : int
    random_state : int, Generator or None
        Seed of the order that documents are placed in.
    groups : sequence of n_docs values, optional
    copies : array (n_docs,), optional
        The place of the first document that each is a copy of, its own place for a document that is none. Of fewer
        different documents than ``n_folds`` each is a fold of its own.

    Returns
    -------
    array (n_docs,)

    Examples
    --------
    >>> stratified_folds([[1, 0], [1, 0], [0, 1], [0, 1]], 2, random_state=0).tolist()
    [1, 0, 1, 0]
    """
    Y = check_indicator(Y)
    if groups is not None:
        return grouped_folds(Y, joined_groups(group_codes(groups, len(Y)), copies, n_folds), n_folds, random_state)
    n_docs = len(Y)
    if not 2 <= n_folds <= n_docs:
        raise InputError(f"n_folds={n_folds} with {n_docs} documents; choose between 2 and the number of documents")
    if copies is not None:
        firsts, place = np.unique(copies, return_inverse=True)
        if 1 < len(firsts) < n_docs:  # where all are the same, there is nothing to hold out
            return stratified_folds(Y[firsts], min(n_folds, len(firsts)), random_state)[place]
    Y = _in_order_of_size(Y)
    n_labels = Y.shape[1]
    generator = np.random.default_rng(random_state)
    key = _rarest_label(Y)
    shuffled = generator.permutation(n_docs)
    luck = generator.permutation(n_folds).tolist()
    fold = np.full(n_docs, -1, dtype=np.int64)
    sizes = [0] * n_folds
    for label in range(n_labels + 1):
        mine = shuffled[key[shuffled] == label]
        if not len(mine):
            continue
        placed = fold[(fold >= 0) & Y[:, label]] if label < n_labels else fold[:0]
        carried = np.bincount(placed, minlength=n_folds).tolist()
        for document in mine.tolist():
            chosen = min(zip(carried, sizes, luck, range(n_folds), strict=True))[-1]
            fold[document] = chosen
            carried[chosen] += label < n_labels
            sizes[chosen] += 1
    return fold


def grouped_folds(
    Y: Matrix | ArrayLike, groups: Iterable[Hashable], n_folds: int, random_state: int | np.random.Generator | None = 0
) -> IntArray:
    """The fold of each document such that those of one group share it, labels spread as evenly as groups allow.

    By scikit-learn's ``StratifiedGroupKFold``, each document counting as one of its rarest label. Of fewer groups than
    ``n_folds`` each is a fold of its own.

    Parameters
    ----------
    Y : boolean array (n_docs, n_labels)
    groups : sequence of n_docs values
    n_folds : int
    random_state : int, Generator or None

    Returns
    -------
    array (n_docs,)

    Examples
    --------
    >>> fold = grouped_folds([[1], [0], [1], [0]], ["ann", "ann", "bob", "bob"], 2)
    >>> bool(fold[0] == fold[1] != fold[2] == fold[3])
    True
    """
    from sklearn.model_selection import StratifiedGroupKFold

    Y = check_indicator(Y)
    code = group_codes(groups, len(Y))
    n_groups = int(code.max()) + 1
    if n_folds < 2:
        raise InputError(f"n_folds={n_folds} is not usable; pass 2 folds or more")
    if n_groups < 2:
        raise InputError("all documents are of one group; folds need two groups or more")
    n_folds = min(n_folds, n_groups)
    target = _rarest_label(_in_order_of_size(Y))
    if np.bincount(target).max() < n_folds:  # too few of every label to spread
        target = np.zeros_like(target)
    seed = int(np.random.default_rng(random_state).integers(2**32))
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    fold = np.empty(len(Y), dtype=np.int64)
    with warnings.catch_warnings():  # that a label has fewer documents than there are folds is usual here
        warnings.filterwarnings("ignore", message="The least populated class in y")
        for number, (_, test) in enumerate(folds.split(code, target, code)):
            fold[test] = number
    return np.unique(fold, return_inverse=True)[1].astype(np.int64)  # a fold may have got no group


def group_codes(groups: Iterable[Hashable], n_docs: int) -> IntArray:
    """Groups as numbers from 0 on, one per document."""
    values = list(groups)
    if len(values) != n_docs:
        raise InputError(f"{len(values)} groups were given for {n_docs} documents; pass one for each")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def joined_groups(groups: IntArray, copies: IntArray | None, n_folds: int) -> IntArray:
    """Groups, those joined that hold copies of one document, as long as they are no larger than a fold then.

    Without that limit a common short text (a word of thanks) would make one group of all authors.

    Parameters
    ----------
    groups : array (n_docs,)
        Numbers from 0 on.
    copies : array (n_docs,) or None
        As for :func:`stratified_folds`.
    n_folds : int

    Examples
    --------
    >>> joined_groups(np.array([0, 1, 2, 3, 3, 3]), np.array([0, 0, 2, 3, 4, 2]), 3).tolist()
    [0, 0, 2, 3, 3, 3]
    """
    if copies is None:
        return groups
    size, root, most = np.bincount(groups), np.arange(groups.max() + 1), len(groups) / n_folds

    def of(group: int) -> int:
        while root[group] != group:
            group = root[group]
        return group

    for document in np.flatnonzero(copies != np.arange(len(copies))).tolist():
        one, other = sorted((of(groups[document]), of(groups[copies[document]])))
        if one != other and size[one] + size[other] <= most:
            root[other] = one
            size[one] += size[other]
    return np.array([of(group) for group in range(len(root))])[groups]


def label_order(Y: BoolArray) -> IntArray:
    """Columns of the labels from the rarest to the commonest, whatever the order they come in.

    Of labels of one size the documents that have them say which comes first; only labels of the same documents, of
    which either may stand for the other, are left in the order of their columns.

    Parameters
    ----------
    Y : boolean array (n_docs, n_labels)
    """
    n_positive, members = Y.sum(axis=0).tolist(), np.packbits(Y, axis=0)
    order = sorted(range(Y.shape[1]), key=lambda label: (n_positive[label], members[:, label].tobytes()))
    return np.array(order, dtype=np.int64)


def _in_order_of_size(Y: BoolArray) -> BoolArray:
    """The labels from the rarest to the commonest; two classes in one column are two labels."""
    both = np.hstack([Y, ~Y]) if Y.shape[1] == 1 else Y
    return both[:, label_order(both)]


def _rarest_label(Y: BoolArray) -> IntArray:
    """The first label of each document, labels being in order of size; their number for a document without any."""
    return np.where(Y.any(axis=1), Y.argmax(axis=1), Y.shape[1]) if Y.shape[1] else np.zeros(len(Y), dtype=np.int64)

"""Cross-validation folds that spread the positives of every label, the rarest first."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import IntArray
from textbayes.core.validation import check_indicator


def stratified_folds(Y: Any, n_folds: int, rng: int | np.random.Generator | None = 0) -> IntArray:
    """The fold (0 … n_folds − 1) of each document, positives of each label spread as evenly as can be.

    Each document goes with its rarest label. Labels are taken from the rarest to the commonest; each of their
    documents goes to the fold with the fewest of that label so far, of equal ones to the smallest fold. Documents
    without labels come last and even out the sizes. A label with m < n_folds positives lands in m different folds
    (as far as rarer labels of its documents have not placed them), so that no training part is without it. This is
    iterative stratification (Sechidis, Tsoumakas & Vlahavas 2011) with the order of labels fixed in advance:
    O(n_docs · n_folds).

    >>> stratified_folds([[1, 0], [1, 0], [0, 1], [0, 1]], 2, rng=0).tolist()
    [1, 0, 1, 0]
    """
    Y = check_indicator(Y)
    n_docs, n_labels = Y.shape
    if not 2 <= n_folds <= n_docs:
        raise InputError(f"n_folds={n_folds} with {n_docs} documents; choose between 2 and the number of documents")
    generator = np.random.default_rng(rng)
    n_positive = Y.sum(axis=0)
    rarity = np.where(Y, n_positive, n_docs + 1)
    key = np.where(Y.any(axis=1), rarity.argmin(axis=1), n_labels) if n_labels else np.zeros(n_docs, dtype=np.int64)
    shuffled = generator.permutation(n_docs)
    luck = generator.permutation(n_folds).tolist()
    fold = np.full(n_docs, -1, dtype=np.int64)
    sizes = [0] * n_folds
    for label in [*np.argsort(n_positive, kind="stable").tolist(), n_labels]:
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

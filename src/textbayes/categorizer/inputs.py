"""Inputs of a ``TextCategorizer`` brought into one form: texts and the weight of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from textbayes.core.class_weight import document_weights
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.text.batches import check_texts


def as_texts(texts: Iterable[str], name: str = "texts") -> list[str]:
    """The texts as a list; one text by itself is refused, a table of one column is that column."""
    if isinstance(texts, (str, bytes)) or texts is None:
        raise InputError(
            f"{name} is {_shortened(texts)} where a list of texts is needed; wrap one text in a list: [text]"
        )
    return list(check_texts(texts))


def weighed(
    texts: list[str],
    indicator: BoolArray,
    space: LabelSpace,
    sample_weight: Any,
    class_weight: Any,
    groups: IntArray | None = None,
) -> tuple[list[str], BoolArray, FloatArray | None, IntArray | None]:
    """Texts, labels, weights and groups without those of weight 0, which are as if they were not there.

    Parameters
    ----------
    texts : list of str
    indicator : boolean array (n_texts, n_columns)
    space : LabelSpace
    sample_weight : array (n_texts,) or None
    class_weight : dict, "balanced" or None
        Further factors by class.
    groups : array (n_texts,) or None
    """
    own = None
    if sample_weight is not None:
        own = _check_sample_weight(sample_weight, indicator, ensure_non_negative=True)
    weight = document_weights(class_weight, indicator, space, own)
    if weight is None:
        return texts, indicator, None, groups
    kept = np.flatnonzero(weight)
    if not len(kept) or (indicator.shape[1] == 1 and len(np.unique(indicator[kept, 0])) < 2):
        raise InputError("the weights leave texts of fewer than two classes; give texts of two at least a weight")
    return [texts[i] for i in kept], indicator[kept], weight[kept], None if groups is None else groups[kept]


def _shortened(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"

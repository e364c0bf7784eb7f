"""Scales of priors that follow the words: larger where a word is spread unevenly over a label and the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import BoolArray, FloatArray

_PSEUDO_TEXTS = 2.0  # at the base rate of the label, for every word: without them rare words have wild ratios
_BLOCK = 8  # labels at a time: there are as many numbers of each as words
_LEAST = 0.25  # of a word that is spread evenly, so that none is shut out


def ratio_scales(X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> FloatArray:
    """Scale of each word in each label, (n_labels, n_features), by the log odds ratio of the label given the word.

    r_jk is the log-odds of label k among the documents that have word j, less that among all; the scale is
    ¼ + ¾ |r_jk|, times a number for each label that makes x'Vx one on average, for documents of length one. Naive Bayes
    says which words matter, and the regression how much: the idea of NB-SVM as a prior.

    Parameters
    ----------
    X : sparse matrix (n_docs, n_features)
    indicator : boolean array (n_docs, n_labels)
    sample_weight : array (n_docs,), optional

    References
    ----------
    Wang & Manning (2012), Baselines and bigrams: simple, good sentiment and topic classification, ACL.
    """
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    n_docs = weight.sum()
    present, squares = X.copy(), X.copy()
    present.data, squares.data = (X.data != 0.0).astype(np.float64), X.data**2
    with_word = np.asarray(present.T @ weight)
    mean_square = np.asarray(squares.T @ weight) / max(n_docs, 1e-300)
    out = np.empty((indicator.shape[1], X.shape[1]))
    for start in range(0, len(out), _BLOCK):
        labels = slice(start, start + _BLOCK)
        positive = indicator[:, labels] * weight[:, None]
        rate = ((positive.sum(axis=0) + 0.5) / (n_docs + 1.0))[:, None]
        with_both = np.asarray(present.T @ positive).T
        yes = with_both + _PSEUDO_TEXTS * rate
        no = with_word - with_both + _PSEUDO_TEXTS * (1.0 - rate)
        scale = _LEAST + (1.0 - _LEAST) * np.abs(np.log(yes / no) - np.log(rate / (1.0 - rate)))
        length = scale**2 @ mean_square
        out[labels] = scale / np.sqrt(np.where(length > 0.0, length, 1.0))[:, None]
    return out

"""Thresholds as LibMultiLabel's ``thresholding`` chooses them, on scores of any classifier.

References
----------
Lin & Lin (2023), On the thresholding strategy for infrequent labels in multi-label classification, CIKM (section 4.3,
micromacro-freq). Lewis, Yang, Rose & Li (2004), RCV1, JMLR 5:361-397 (SCutFBR.1, whose folds these are).
"""

from __future__ import annotations

import numpy as np


def micromacro_thresholds(scores: np.ndarray, Y: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Thresholds of the labels (n_labels,), each the mean of its cuts fold by fold.

    Labels are taken by falling frequency. A fold's cut maximises the label's F1, as a share of the macro-F1 of the
    labels so far, plus the micro-F1 of these; of equal cuts the strictest. So a fold without positives is cut above its
    top score.

    Parameters
    ----------
    scores : array (n_docs, n_labels)
        Each by a model that did not learn from the document.
    Y : boolean array (n_docs, n_labels)
    fold : array (n_docs,)
    """
    thresholds = np.zeros(Y.shape[1])
    so_far = np.zeros(3)  # true and false positives, false negatives of the labels before
    rows = [np.flatnonzero(fold == k) for k in np.unique(fold)]
    for n_labels, label in enumerate(np.argsort(-Y.sum(axis=0), kind="stable"), 1):
        chosen, cuts = np.zeros(3), []
        for part in rows:
            order = part[np.argsort(scores[part, label], kind="stable")]
            values, missed = scores[order, label], np.append(0, np.cumsum(Y[order, label]))
            hits = missed[-1] - missed
            table = np.array([hits, np.arange(len(part), -1, -1) - hits, missed], dtype=float)  # the lowest i rejected
            gain = _f1(table) / n_labels + _f1(table + so_far[:, None])
            best = len(part) - int(np.argmax(gain[::-1]))
            ends = np.concatenate([[np.nextafter(values[0], -np.inf)], values, [np.nextafter(values[-1], np.inf)]])
            inside = 0 < best < len(part)
            cuts.append(ends[best : best + 2].mean() if inside else ends[0 if best == 0 else -1])
            chosen += table[:, best]
        thresholds[label] = np.mean(cuts)
        so_far += chosen
    return thresholds


def _f1(table: np.ndarray) -> np.ndarray:
    hits, false, missed = table
    return 2.0 * hits / np.maximum(2.0 * hits + false + missed, 1.0)

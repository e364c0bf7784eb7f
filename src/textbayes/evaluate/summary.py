"""All measures of one evaluation as a plain dictionary: the one place where training, commands and reports get them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.labels import Kind
from textbayes.core.types import BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.evaluate.calibration import (
    brier_loss,
    calibration_error,
    check_forecast,
    class_log_losses,
    decision_losses,
    log_loss,
)
from textbayes.evaluate.intervals import (
    CROSS_VALIDATED,
    Units,
    accuracy_interval,
    log_loss_interval,
    macro_f1_interval,
    micro_f1_interval,
)
from textbayes.evaluate.measures import (
    ZeroDivision,
    check_pair,
    contingency,
    f_measure,
    precision,
    recall,
)


def evaluate(
    Y_true: Matrix | ArrayLike,
    proba: ArrayLike | None,
    decisions: Matrix | ArrayLike,
    label_names: Sequence[str] | None = None,
    *,
    kind: Kind = "multilabel",
    zero_division: ZeroDivision = 0,
    groups: IntArray | None = None,
    cross_validated: bool = False,
    seen: BoolArray | None = None,
) -> dict[str, Any]:
    """Measures of decisions and probabilities, over all labels and for each.

    Parameters
    ----------
    Y_true, decisions : indicators (n_docs, n_labels); for "binary" both classes, or one column, the second class
    proba : probabilities of the same shape, or None when there are none (their measures are then left out)
    label_names : one per label, of two classes both; by default "0", "1", …
    kind : "multilabel", "multiclass" or "binary"
    zero_division : what 0/0 counts as in precision, recall and F1, see ``textbayes.evaluate.measures``
    groups : array (n_docs,), the group of each document, where those of one count together for the intervals
    cross_validated : each document was answered by a model trained on others of these, which intervals allow for
    seen : of the shape of Y_true, False where that model knew nothing of the label: left out of the log-loss

    Returns
    -------
    dict that ``json.dumps`` takes; undefined values are None.

    Where classes exclude each other ("binary", "multiclass") every class is a label, both of two: macro averages are
    means over all classes, ``accuracy`` is the share of documents with the right class, and so are the micro averages
    if every document has one class and is given one. ``log_loss`` is the mean over documents of −ln p(true class), that
    of a class the mean over its documents (``log_loss_per`` is "text"). Documents of a class that is no column (a
    row of zeros) count as errors and are left out of the log-loss.

    Multi-label has ``subset_accuracy``, documents with all labels right, and ``log_loss`` is the mean over all
    yes-or-no decisions, documents × labels (``log_loss_per`` is "decision").

    ``accuracy_interval``, ``subset_accuracy_interval``, ``micro_f1_interval`` (of multi-label), ``macro_f1_interval``
    and ``log_loss_interval`` are 95% intervals, [low, high], or None; see ``textbayes.evaluate.intervals``.

    ``brier`` and ``ece`` (10 bins of equal width) are means over yes-or-no decisions in all kinds.

    Examples
    --------
    >>> result = evaluate([[1, 0], [0, 1]], [[0.9, 0.2], [0.4, 0.6]], [[1, 0], [1, 1]], ["corn", "wheat"])
    >>> result["micro_f1"], result["labels"]["corn"]["precision"]
    (0.8, 0.5)
    """
    check_choice("kind", kind, ("binary", "multiclass", "multilabel"))
    Y, decided = check_pair(Y_true, decisions, ("Y_true", "decisions"))
    p = None if proba is None else check_forecast(Y, proba)[1]
    use = np.ones(Y.shape, dtype=np.bool_) if seen is None else np.asarray(seen, dtype=np.bool_)
    if kind == "binary":
        Y, decided, p, use = _both_classes(Y, decided, p, use)
    n_docs, n_labels = Y.shape
    names = [str(j) for j in range(n_labels)] if label_names is None else [str(name) for name in label_names]
    if len(names) != n_labels or len(set(names)) != n_labels:
        raise InputError(f"{n_labels} labels need as many different names; {len(names)} were given")
    exclusive = kind != "multilabel"
    table = contingency(Y, decided)
    right = (decided == Y).all(axis=1)
    if exclusive:
        right &= Y.any(axis=1)
    result: dict[str, Any] = {"n_docs": n_docs, "n_labels": n_labels, "kind": kind}
    for name, function in (("precision", precision), ("recall", recall), ("f1", f_measure)):
        result[f"micro_{name}"] = _number(function(table, "micro", zero_division))
        result[f"macro_{name}"] = _number(function(table, "macro", zero_division))
    share = "accuracy" if exclusive else "subset_accuracy"
    result[share] = _number(right.mean()) if n_docs else None
    units = Units.of(n_docs, groups, CROSS_VALIDATED if cross_validated else 1.0)
    ends = {share: accuracy_interval(right, units), "macro_f1": macro_f1_interval(Y, decided, units, zero_division)}
    if not exclusive:
        ends["micro_f1"] = micro_f1_interval(Y, decided, units)
    columns: dict[str, FloatArray] = {
        "precision": precision(table, None, zero_division),
        "recall": recall(table, None, zero_division),
        "f1": f_measure(table, None, zero_division),
    }
    if p is not None:
        losses, counted = decision_losses(Y, p), use & Y if exclusive else use
        n_counted, totals = counted.sum(axis=1), np.where(counted, losses, 0.0).sum(axis=1)
        result["log_loss"] = _number(totals.sum() / n_counted.sum()) if n_counted.any() else None
        ends["log_loss"] = log_loss_interval(totals, n_counted, units)
        columns["log_loss"] = class_log_losses(Y, p)[1] if exclusive else log_loss(Y, p, None)
        result["log_loss_per"] = "text" if exclusive else "decision"
        for name, loss in (("brier", brier_loss), ("ece", calibration_error)):
            result[name] = _number(loss(Y, p, "micro"))
            columns[name] = loss(Y, p, None)
    result |= {f"{name}_interval": None if pair is None else list(pair) for name, pair in ends.items()}
    counts = {"tp": table.tp, "fp": table.fp, "fn": table.fn, "tn": table.tn, "support": table.support}
    result["labels"] = {
        label: {name: _number(values[j]) for name, values in columns.items()}
        | {name: int(values[j]) for name, values in counts.items()}
        for j, label in enumerate(names)
    }
    return result


def decided_summary(Y: BoolArray, decided: BoolArray, unsure: BoolArray | None, kind: Kind) -> dict[str, Any]:
    """How much a rule decides and how much of that rightly, for the figures of :func:`evaluate`.

    ``unsure`` counts the decisions that it leaves to people (texts, where classes exclude each other), None if it has
    no such band. ``n_decided`` and ``accuracy_decided``, of exclusive classes alone, are of texts that get a label.

    Parameters
    ----------
    Y, decided : boolean arrays (n_docs, n_labels), of two classes both or the second alone
    unsure : boolean array of the same shape, or None
    kind : "multilabel", "multiclass" or "binary"
    """
    several = kind == "multilabel"
    n_unsure = None if unsure is None else int(unsure.sum() if several else unsure.any(axis=1).sum())
    if several:
        return {"unsure": n_unsure}
    sure = np.ones(len(Y), dtype=np.bool_) if Y.shape[1] == 1 else decided.any(axis=1)
    if unsure is not None:
        sure = sure & ~unsure.any(axis=1)
    right = (decided == Y).all(axis=1)[sure]
    return {
        "unsure": n_unsure,
        "n_decided": int(sure.sum()),
        "accuracy_decided": _number(right.mean()) if len(right) else None,
    }


def _both_classes(
    Y: BoolArray, decided: BoolArray, p: FloatArray | None, use: BoolArray
) -> tuple[BoolArray, BoolArray, FloatArray | None, BoolArray]:
    """Two columns, one of each class, whether one or both were given."""
    if Y.shape[1] == 2:
        return Y, decided, p, use
    if Y.shape[1] != 1:
        raise InputError(
            f"{Y.shape[1]} columns were given where kind='binary' has two classes; pass both, or the second alone"
        )
    proba = None if p is None else np.hstack([1.0 - p, p])
    return np.hstack([~Y, Y]), np.hstack([~decided, decided]), proba, np.hstack([use, use])


def _number(value: Any) -> float | None:
    number = float(np.asarray(value))
    return number if math.isfinite(number) else None

"""All measures of one evaluation as a plain dictionary, for reports and ``textbayes evaluate --json``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.labels import Kind
from textbayes.core.types import FloatArray
from textbayes.core.validation import check_choice
from textbayes.evaluate.calibration import brier_loss, calibration_error, check_forecast, log_loss
from textbayes.evaluate.contingency import check_pair, contingency
from textbayes.evaluate.measures import ZeroDivision, f_measure, precision, recall


def evaluate(
    Y_true: Any,
    proba: Any,
    decisions: Any,
    label_names: Sequence[str] | None = None,
    *,
    kind: Kind = "multilabel",
    zero_division: ZeroDivision = 0,
) -> dict[str, Any]:
    """Measures of decisions and probabilities, over all labels and for each.

    Parameters
    ----------
    Y_true, decisions : indicators (n_docs, n_labels); for "binary" one column, the positive class
    proba : probabilities of the same shape, or None when there are none (their measures are then left out)
    label_names : one per column; by default "0", "1", …
    kind : "multilabel", "multiclass" or "binary"
    zero_division : what 0/0 counts as in precision, recall and F1, see ``textbayes.evaluate.measures``

    Returns
    -------
    dict that ``json.dumps`` takes; undefined values are None. Single-label kinds have ``accuracy``, the share of
    documents with the right class; multi-label has ``subset_accuracy`` instead, documents with all labels right.
    ``log_loss``, ``brier`` and ``ece`` (10 bins of equal width) treat every label as a yes-or-no question and average
    over all decisions.

    Examples
    --------
    >>> result = evaluate([[1, 0], [0, 1]], [[0.9, 0.2], [0.4, 0.6]], [[1, 0], [1, 1]], ["corn", "wheat"])
    >>> result["micro_f1"], result["labels"]["corn"]["precision"]
    (0.8, 0.5)
    """
    check_choice("kind", kind, ("binary", "multiclass", "multilabel"))
    Y, decided = check_pair(Y_true, decisions, ("Y_true", "decisions"))
    n_docs, n_labels = Y.shape
    names = [str(j) for j in range(n_labels)] if label_names is None else [str(name) for name in label_names]
    if len(names) != n_labels or len(set(names)) != n_labels:
        raise InputError(f"{n_labels} labels need as many different names; {len(names)} were given")
    table = contingency(Y, decided)
    right = (decided == Y).all(axis=1)
    result: dict[str, Any] = {"n_docs": n_docs, "n_labels": n_labels, "kind": kind}
    for name, function in (("precision", precision), ("recall", recall), ("f1", f_measure)):
        result[f"micro_{name}"] = _number(function(table, "micro", zero_division))
        result[f"macro_{name}"] = _number(function(table, "macro", zero_division))
    result["subset_accuracy" if kind == "multilabel" else "accuracy"] = _number(right.mean()) if n_docs else None
    columns: dict[str, FloatArray] = {
        "precision": precision(table, None, zero_division),
        "recall": recall(table, None, zero_division),
        "f1": f_measure(table, None, zero_division),
    }
    if proba is not None:
        Y, p = check_forecast(Y, proba)
        for name, loss in (("log_loss", log_loss), ("brier", brier_loss), ("ece", calibration_error)):
            result[name] = _number(loss(Y, p, "micro"))
            columns[name] = loss(Y, p, None)
    counts = {"tp": table.tp, "fp": table.fp, "fn": table.fn, "tn": table.tn, "support": table.support}
    result["labels"] = {
        label: {name: _number(values[j]) for name, values in columns.items()}
        | {name: int(values[j]) for name, values in counts.items()}
        for j, label in enumerate(names)
    }
    return result


def _number(value: Any) -> float | None:
    number = float(np.asarray(value))
    return number if math.isfinite(number) else None

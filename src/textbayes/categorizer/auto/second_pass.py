"""Second pass of a pool over labels that may go together: what it says of the others tells of each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textbayes.categorizer.auto.stacking import fit_stacking
from textbayes.core.types import BoolArray, FloatArray
from textbayes.kinds.hinted import hinted, some_other_label
from textbayes.kinds.linear import FittedLinear

_LEAST_GAIN = 0.002  # of the log-loss


def second_pass(
    model: FittedLinear,
    log_odds: FloatArray,
    indicator: BoolArray,
    learnable: BoolArray,
    weight: FloatArray | None,
    log_loss: Callable[[FloatArray], float],
) -> tuple[FittedLinear, FloatArray]:
    """The model with hints of the labels to each other, and its held-out log-odds, where they say enough.

    Parameters
    ----------
    model : FittedLinear
    log_odds : array (n_docs, n_labels)
        Of held-out texts.
    indicator, learnable : boolean arrays (n_docs, n_labels)
        ``learnable`` is False where the other folds had no text of the label.
    weight : array (n_docs,) or None
    log_loss : function of log-odds
    """
    told = np.stack([log_odds, some_other_label(log_odds)])
    found = fit_stacking(told, indicator, model.space, learnable, weight, np.array([1.0, 0.0]))
    after = found.scores(told)
    if not log_loss(after) <= (1.0 - _LEAST_GAIN) * log_loss(log_odds):  # nor where nothing is known of either
        return model, log_odds
    slope, hint = found.weights
    return hinted(model, slope, hint, found.bias), after

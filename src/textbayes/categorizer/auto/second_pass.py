"""Second pass of a pool over labels that may go together: what it says of the others tells of each."""

from __future__ import annotations

import numpy as np

from textbayes.categorizer.auto.held_out import HeldOut
from textbayes.core.types import FloatArray
from textbayes.kinds.hinted import hinted, some_other_label
from textbayes.kinds.linear import FittedLinear

_LEAST_GAIN = 0.002  # of the log-loss


def second_pass(model: FittedLinear, log_odds: FloatArray, held: HeldOut) -> tuple[FittedLinear, FloatArray]:
    """The model with hints of the labels to each other, and its held-out log-odds, where they say enough.

    Parameters
    ----------
    model : FittedLinear
    log_odds : array (n_held_out, n_labels)
    held : HeldOut
    """
    told = np.stack([log_odds, some_other_label(log_odds)])
    found = held.pool(told, np.array([1.0, 0.0]))
    after = found.scores(told)
    if not held.log_loss(after) <= (1.0 - _LEAST_GAIN) * held.log_loss(
        log_odds
    ):  # nor where nothing is known of either
        return model, log_odds
    slope, hint = found.weights
    return hinted(model, slope, hint, found.bias), after

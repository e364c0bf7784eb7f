"""Softmax of a pool that knows of texts unlike others: some probability is that of a flatter one.

One softmax cannot be right of both kinds: mislabelled and odd texts, whose scores are sure and wrong, make it flatter
than the many others deserve, and it is still too sure where it is surest. Two slopes and a share, fitted to held-out
texts, leave the likeliest class as it is, since both softmaxes have the same order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from textbayes.categorizer.auto.stacking import some_of, worth_having
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.kinds.multinomial import FittedMultinomial, FlatShare

_MOST_ENTRIES = 4_000_000  # of documents × classes that three numbers are fitted to
_START = np.array([0.2, -2.5, 0.0])  # log of the steep slope, log-odds of the share and of flat/steep
_SD = np.array([0.5, 1.5, 1.5])
_WIDEST = 6.0  # log-odds


def flattened(
    model: FittedMultinomial,
    scores: FloatArray,
    indicator: BoolArray,
    weight: FloatArray,
    fold: IntArray,
    log_loss: Callable[[FloatArray], float],
) -> tuple[FittedMultinomial, FloatArray]:
    """The model with a flatter softmax for some of the probability, and its held-out scores, where it says enough.

    It does if what is fitted to half of the folds says more of the other half.

    Parameters
    ----------
    model : FittedMultinomial
    scores : array (n_docs, n_classes)
        Of held-out texts.
    indicator : boolean array (n_docs, n_classes)
    weight : array (n_docs,)
        How much each text counts, 0 where its score means nothing.
    fold : array (n_docs,)
    log_loss : function of scores
    """
    half, after = fold % 2 == 0, np.empty_like(scores)
    for rows in (half, ~half):
        after[rows] = fit_flat_share(scores, indicator, np.where(rows, 0.0, weight)).scores(scores[rows])
    if not worth_having(log_loss(scores), log_loss(after)):
        return model, scores
    flat = fit_flat_share(scores, indicator, weight)
    return FittedMultinomial(model.space, flat=flat, coef=model.coef, intercept=model.intercept), flat.scores(scores)


def fit_flat_share(scores: FloatArray, indicator: BoolArray, weight: FloatArray) -> FlatShare:
    """The slopes and the share of highest posterior, given scores of held-out texts.

    Parameters
    ----------
    scores : array (n_docs, n_classes)
    indicator : boolean array (n_docs, n_classes)
        One class for each.
    weight : array (n_docs,)
        How much each document counts.
    """
    rows, counts = some_of(indicator, weight, max(_MOST_ENTRIES // scores.shape[1], 1_000))
    told, right = scores[rows], indicator[rows]

    def objective(theta: FloatArray) -> float:
        log_p = special.log_softmax(_read(theta).scores(told), axis=1)
        return -float(counts @ log_p[right]) + 0.5 * float((((theta - _START) / _SD) ** 2).sum())

    bounds = [(-2.0, 2.0), (-_WIDEST, _WIDEST), (-_WIDEST, _WIDEST)]
    return _read(optimize.minimize(objective, _START, method="L-BFGS-B", bounds=bounds).x)


def _read(theta: FloatArray) -> FlatShare:
    steep, (share, part) = float(np.exp(theta[0])), special.expit(theta[1:])
    return FlatShare(float(share), steep, float(part) * steep)

"""Probabilities of documents whose linear predictor is not known but Gaussian."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.types import FloatArray
from textbayes.links.base import BaseLink


def predictive_probabilities(eta: FloatArray, var: FloatArray, link: BaseLink, space: LabelSpace) -> FloatArray:
    """Predictive probability of every column, ∫ p(y = 1 | u) N(u; eta, var) du; one-of-many classes add up to one.

    Each class's own is divided by their sum (``core.labels.normalise_classes``).

    Parameters
    ----------
    eta, var : arrays (n_docs, n_columns)
        Mean and variance of the linear predictor.
    link : BaseLink
    space : LabelSpace

    Examples
    --------
    >>> from textbayes.links import make_link
    >>> two = LabelSpace(np.array(["no", "yes"]), "binary")
    >>> predictive_probabilities(np.array([[3.0], [3.0]]), np.array([[0.0], [9.0]]), make_link("logit"), two).round(3)
    array([[0.953],
           [0.806]])
    """
    if space.kind != "multiclass":
        return link.predictive(eta, var)
    return normalise_classes(link.moments(eta, var, np.ones_like(eta)).log_z)


def probability_interval(
    eta: FloatArray, var: FloatArray, link: BaseLink, level: float = 0.9
) -> tuple[FloatArray, FloatArray]:
    """Ends of the central interval that holds p(y = 1 | eta) with probability ``level``, eta being N(eta, var).

    A link is monotone, so quantiles of the predictor are quantiles of the probability. They are of each label by
    itself, also where classes exclude each other.

    Parameters
    ----------
    eta, var : arrays
        Mean and variance of the linear predictor.
    link : BaseLink
    level : float
        The probability that an interval holds.

    Returns
    -------
    tuple of arrays
        The lower and the upper ends.

    Examples
    --------
    >>> from textbayes.links import make_link
    >>> [float(end.round(2)[0]) for end in probability_interval(np.array([1.0]), np.array([0.25]), make_link("logit"))]
    [0.54, 0.86]
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} is given; an interval holds a share between 0 and 1, such as 0.9")
    reach = special.ndtri(0.5 + 0.5 * level) * np.sqrt(var)
    return link.probability(eta - reach), link.probability(eta + reach)

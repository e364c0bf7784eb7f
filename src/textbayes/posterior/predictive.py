"""Probabilities of documents by their linear predictor, which is known or Gaussian."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.types import FloatArray
from textbayes.links.base import BaseLink


def label_probabilities(eta: FloatArray, link: BaseLink, space: LabelSpace, sharpness: float = 1.0) -> FloatArray:
    """Probability of every column, p(y = 1 | eta); one-of-many classes add up to one.

    Parameters
    ----------
    eta : array (n_docs, n_columns)
        The linear predictor.
    link : BaseLink
    space : LabelSpace
    sharpness : float
        The power of each class's own probability before they are normalised.
    """
    if space.kind != "multiclass":
        return link.probability(eta)
    return normalise_classes(link.log_prob(eta, np.ones_like(eta)), sharpness)


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

"""A table of word priors as the prior of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray
from textbayes.knowledge.match import MatchedPriors
from textbayes.knowledge.strength import DEFAULT_STRENGTH, Strength
from textbayes.links import BaseLink
from textbayes.priors import BasePrior
from textbayes.priors.by_word import ByWord


def table_prior(
    matched: MatchedPriors,
    default: BasePrior,
    X: Any = None,
    weight: ArrayLike = 1.0,
    *,
    link: str | BaseLink = "logit",
    strength: Strength = DEFAULT_STRENGTH,
) -> BasePrior:
    """The prior of a model that knows what a table says.

    Parameters
    ----------
    matched : MatchedPriors
        The table in terms of the model, from :func:`match_priors`.
    default : BasePrior
        That of the model without knowledge, which holds for every other word and wherever a row is blank.
    X : array or sparse matrix (n_docs, n_features), optional
        The training documents; needed for rows that say "for" or "against".
    weight : float or array (n_labels,)
        How far to follow the table, from 0 to 1: mean = weight·mean + (1 − weight)·default and likewise the logarithm
        of the scale, with family and sign as in the table. At 0 a label has the default prior, exactly.
    link, strength : str or BaseLink, Strength
        The size of "for" and "against".

    Examples
    --------
    >>> from textbayes.knowledge import WordPrior, match_priors
    >>> from textbayes.priors.gaussian import Gaussian
    >>> table = [WordPrior("wheat", "grain", mean=2.0, scale=0.25), WordPrior("rye", "grain", mean=1.0)]
    >>> prior = table_prior(match_priors(table, ["bank", "wheat"], ["grain"]), Gaussian(scale=1.0), weight=0.5)
    >>> prior.mean.tolist(), prior.scale.tolist()
    ([[0.0, 1.0]], [[1.0, 0.5]])
    """
    shape = (matched.n_labels, matched.n_features)
    weights = _checked_weight(weight, matched.n_labels)
    followed = np.flatnonzero(weights[matched.label] > 0.0)
    if not len(followed):
        return default
    means = strength.means(matched, X, link)
    values = {name: _in_full(value, name, shape) for name, value in vars(default).items()}
    at = matched.label[followed], matched.column[followed]
    share, means, sign = weights[at[0]], means[followed], matched.sign[followed]
    default_mean, default_scale = values["mean"][at], values["scale"][at]
    means = np.where(np.isnan(means), default_mean, means)
    values["sign"][at] = sign = np.where(np.isnan(sign), values["sign"][at], sign)
    mixed = np.where(share == 1.0, means, share * means + (1.0 - share) * default_mean)
    values["mean"][at] = np.where(mixed * sign < 0.0, 0.0, mixed)  # a default mean may lie where a sign forbids it
    scales = strength.scales(matched, means, default_scale, followed)
    values["scale"][at] = _between(default_scale, scales, share)
    families = matched.family[followed]
    if ((families == "") | (families == default.name)).all():
        return type(default)(**values)
    return _by_word(default, values, at, families)


def _checked_weight(weight: Any, n_labels: int) -> FloatArray:
    try:
        weights = np.broadcast_to(np.asarray(weight, dtype=np.float64), (n_labels,))
    except ValueError:
        raise InputError(
            f"weight has shape {np.shape(weight)}; pass a number or one for each of {n_labels} labels"
        ) from None
    if not ((weights >= 0.0) & (weights <= 1.0)).all():
        raise InputError(f"weight={weight!r} is not usable; it lies between 0 (the default prior) and 1 (the table)")
    return weights


def _in_full(value: Any, name: str, shape: tuple[int, int]) -> Any:
    try:
        return np.array(np.broadcast_to(value, shape))
    except ValueError:
        raise InputError(f"the default prior's {name} has shape {value.shape}; the model has {shape}") from None


def _between(default: FloatArray, scale: FloatArray, share: FloatArray) -> FloatArray:
    """exp(share·ln scale + (1 − share)·ln default), exactly ``scale`` at share 1; free if either is."""
    return np.where(scale == default, default, scale**share * default ** (1.0 - share))


def _by_word(default: BasePrior, values: dict[str, Any], at: tuple[Any, Any], families: AnyArray) -> ByWord:
    """The prior that has families of its own where the table names them."""
    if not isinstance(default, ByWord):
        values["family"] = np.full(values["mean"].shape, ByWord(family=default.name).family)
    named = families != ""
    numbers = ByWord(family=np.where(named, families, "laplace")).family
    values["family"][at] = np.where(named, numbers, values["family"][at])
    remaining = ByWord(family=values["family"]).families
    if default.name not in remaining and not isinstance(default, ByWord):  # every word has a family of its own
        values = {name: values[name] for name in ("scale", "mean", "sign", "family")}
    return ByWord(**values)

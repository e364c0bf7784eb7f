"""A table of word priors as the prior of a model, with a weight for the knowledge as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import make_inference
from textbayes.knowledge.match import Analyze, MatchedPriors, match_priors
from textbayes.knowledge.rows import WordPrior
from textbayes.knowledge.strength import DEFAULT_STRENGTH, Strength
from textbayes.knowledge.table import WordPriors
from textbayes.links import BaseLink, make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import BasePrior, make_prior
from textbayes.priors.by_word import ByWord


class AppliedPriors(NamedTuple):
    """Prior made of a table, where it knows something (n_labels, n_features), and what was not found."""

    prior: BasePrior
    known: BoolArray
    unknown_words: tuple[str, ...]
    unknown_labels: tuple[str, ...]


def apply_priors(
    priors: WordPriors | Iterable[WordPrior],
    default: BasePrior,
    vocabulary: Mapping[str, int] | Iterable[str],
    labels: LabelSpace | Sequence[str],
    X: Any = None,
    *,
    weight: ArrayLike = 1.0,
    analyze: Analyze | None = None,
    link: str | BaseLink = "logit",
    strength: Strength = DEFAULT_STRENGTH,
) -> AppliedPriors:
    """The prior of a model that knows what a table says.

    Parameters
    ----------
    priors : WordPriors
    default : prior
        That of the model without knowledge, which holds for every other word and wherever a row is blank.
    vocabulary, labels, analyze
        As for :func:`match_priors`.
    X : documents (n_docs, n_features)
        Needed where the table says "for" or "against".
    weight : float or one for each label
        How far to follow the table, from 0 to 1: mean = weight·mean + (1 − weight)·default and likewise the logarithm
        of the scale, with family and sign as in the table. At 0 a label has the default prior, exactly.
    link, strength
        What "for" and "against" mean.

    Examples
    --------
    >>> from textbayes.priors.gaussian import Gaussian
    >>> table = [WordPrior("wheat", "grain", mean=2.0, scale=0.25), WordPrior("rye", "grain", mean=1.0)]
    >>> applied = apply_priors(table, Gaussian(scale=1.0), ["bank", "wheat"], ["grain"], weight=0.5)
    >>> applied.prior.mean.tolist(), applied.prior.scale.tolist(), applied.unknown_words
    ([[0.0, 1.0]], [[1.0, 0.5]], ('rye',))
    """
    matched = match_priors(priors, vocabulary, labels, analyze)
    prior = informed_prior(matched, default, X, weight, link=link, strength=strength)
    known = np.zeros((matched.n_labels, matched.n_features), dtype=np.bool_)
    known[matched.label, matched.column] = True
    return AppliedPriors(prior, known, matched.unknown_words, matched.unknown_labels)


def informed_prior(
    matched: MatchedPriors,
    default: BasePrior,
    X: Any = None,
    weight: ArrayLike = 1.0,
    *,
    link: str | BaseLink = "logit",
    strength: Strength = DEFAULT_STRENGTH,
) -> BasePrior:
    """Prior informed by a table as in :func:`apply_priors`, whose words and labels were found before.

    Parameters
    ----------
    matched : MatchedPriors
    default : BasePrior
        The prior without knowledge.
    X : array or sparse matrix (n_docs, n_features), optional
        The documents to be learnt from; needed for rows that say "for" or "against".
    weight : float or array (n_labels,)
        How far to follow the table, from 0 to 1.
    link : str or BaseLink
    strength : Strength
        The size of "for" and "against".
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


def informed(
    classifier: BayesLinearClassifier,
    matched: MatchedPriors,
    X: Any,
    weight: ArrayLike = 1.0,
    strength: Strength = DEFAULT_STRENGTH,
) -> BayesLinearClassifier:
    """Copy a classifier, not fitted, with a prior informed by a table; at weight 0 a plain copy.

    Where its inference cannot work with the prior that results (a sign, or another family among the words), the copy
    has ``coordinate``, which can.

    Parameters
    ----------
    classifier : BayesLinearClassifier
    matched : MatchedPriors
    X : array or sparse matrix (n_docs, n_features)
        The documents to be learnt from.
    weight : float or array (n_labels,)
        How far to follow the table, from 0 to 1.
    strength : Strength
        The size of "for" and "against".
    """
    default = make_prior(classifier.prior, classifier.scale, classifier.mean, classifier.sign)
    link = make_link(classifier.link)
    prior = informed_prior(matched, default, X, weight, link=link, strength=strength)
    copy = clone(classifier)
    if prior is default:
        return copy
    copy.set_params(prior=prior, scale=1.0, mean=0.0, sign=0)
    try:
        make_inference(copy.inference, copy.tol, copy.max_iter, 1).check(link, prior)
    except NotSupportedError:
        copy.set_params(inference="coordinate")
    return copy


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

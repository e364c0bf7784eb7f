"""Size of the weights that "for" and "against" stand for, in the units of a model's features.

A weight has no meaning apart from the features: 2 is much for a word count and little for a weight of a text of
length one. What people can say is what an occurrence of the word should add to the log-odds. So with x̄ the typical
value of a feature that is not zero, and slope the log-odds per unit of eta (1 for the logit),

    mean_j = direction_j · log_odds · rare_j · own_j / (x̄ · slope),    scale_j = max(doubt · |mean_j|, default)

where rare_j = min(1, ln(1 / share of texts with the word) / ln(1 / common)) is less than 1 for words in more than the
share ``common`` of all texts, and own_j = 1 − ln(labels it is for) / ln(labels with such words) is 0 for a word that
every description has. This is the idea of modes and variances by TFIDF of Dayanik et al., with the term weights of the
texts left to the features, which have them already.

The defaults were chosen on training parts alone, by macro-F1 at probability 0.5 with 10 positive and 100 negative
documents of a category, four corpora and three priors (``benchmarks/tune_knowledge.py``): ``log_odds`` 3 is best or
close to it throughout, ``doubt`` matters less, and ``common`` not at all, for these descriptions are short; it is there
for longer ones, in everyday words.

References
----------
Dayanik, Lewis, Madigan, Menkov & Genkin (2006), Constructing informative prior distributions from domain knowledge in
text classification, SIGIR.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix
from textbayes.knowledge.match import MatchedPriors
from textbayes.links import BaseLink, make_link
from textbayes.priors import BasePrior
from textbayes.priors.by_word import ByWord

_MOST = 1e6  # pseudo-counts of a scale that is next to zero: nothing is left to learn
_LARGEST_LOG_RATIO = 100.0  # of rates: beyond it they leave the floats


class FeatureSizes(NamedTuple):
    """What documents say of the size of their features, as far as :meth:`Strength.means` asks; made once for many.

    Parameters
    ----------
    n_docs : int
    present : array (n_features,)
        Documents in which each feature is not zero.
    typical : float
        Of :func:`typical_value`.
    """

    n_docs: int
    present: IntArray
    typical: float

    @classmethod
    def of(cls, X: Matrix | ArrayLike) -> Self:
        """Read a matrix of documents.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
        """
        X = sparse.csr_matrix(X)
        full = np.count_nonzero(X.data) == len(X.data)  # as a rule: nothing need be copied
        present = np.bincount(X.indices if full else X.indices[X.data != 0.0], minlength=X.shape[1])
        return cls(X.shape[0], present, typical_value(X))


class Strength(NamedTuple):
    """Strength of the words "for" and "against": the mean and the scale of the prior they stand for.

    Parameters
    ----------
    log_odds : float
        What a typical occurrence of such a word adds to the log-odds of the label, or takes from them.
    doubt : float
        Scale of the prior as a share of its mean: at 0.5 the sign is sure by two scales.
    common : float
        Words in more than this share of the texts count less, a word in all of them nothing.
    """

    log_odds: float = 3.0
    doubt: float = 0.5
    common: float = 0.25

    def means(
        self, matched: MatchedPriors, X: Matrix | ArrayLike | FeatureSizes, link: str | BaseLink = "logit"
    ) -> FloatArray:
        """Prior mean of each entry; NaN where neither a number nor a direction is given.

        ``X`` (n_docs, n_features) are the training documents; their labels play no part.

        Parameters
        ----------
        matched : MatchedPriors
        X : array or sparse matrix (n_docs, n_features), or FeatureSizes of it
        link : str or BaseLink
            Sets the size of a weight that is worth ``log_odds``.
        """
        self._check()
        means = matched.mean.copy()
        hinted = np.flatnonzero(matched.direction)
        if not len(hinted):
            return means
        if X is None:
            raise InputError(
                "the table says for or against, without numbers; pass the documents X, which say how large that is"
            )
        sizes = X if isinstance(X, FeatureSizes) else FeatureSizes.of(X)
        if len(sizes.present) != matched.n_features:
            raise InputError(f"X has {len(sizes.present)} columns; the vocabulary has {matched.n_features} words")
        present = sizes.present[matched.column[hinted]]
        rare = np.minimum(1.0, np.log((sizes.n_docs + 1.0) / (present + 1.0)) / -np.log(self.common))
        labels, of_label = np.unique(matched.label[hinted], return_inverse=True)
        slope = np.array([log_odds_slope(make_link(link).for_label(int(label))) for label in labels])[of_label]
        full = self.log_odds / (sizes.typical * slope)
        means[hinted] = matched.direction[hinted] * full * rare * _own(matched, hinted)
        return means

    def scales(self, matched: MatchedPriors, means: FloatArray, default: FloatArray, entries: IntArray) -> FloatArray:
        """Scales of some entries, given their means and the scales of the model without knowledge.

        Parameters
        ----------
        matched : MatchedPriors
        means, default : arrays (n_entries,)
            Prior means, and scales without knowledge.
        entries : array (n_entries,)
            The rows of ``matched`` they belong to.
        """
        given, hinted = matched.scale[entries], matched.direction[entries] != 0.0
        doubtful = np.where(hinted, np.maximum(default, self.doubt * np.abs(means)), default)
        return np.where(np.isnan(given), doubtful, given)

    def _check(self) -> None:
        if not (self.log_odds > 0.0 and self.doubt > 0.0 and 0.0 < self.common < 1.0):
            raise InputError(f"{self} is not usable; log_odds and doubt lie above 0, common between 0 and 1")


DEFAULT_STRENGTH = Strength()


def typical_value(X: Matrix | ArrayLike) -> float:
    """The mean size of the features that are not zero; 1 where there are none."""
    values = np.abs(sparse.csr_matrix(X).data)
    if np.count_nonzero(values) < len(values):
        values = values[values > 0.0]
    return float(values.mean()) if len(values) else 1.0


def log_odds_slope(link: str | BaseLink) -> float:
    """d log-odds / d eta at eta = 0: 1 for the logit, 1.6 for the probit.

    >>> log_odds_slope("logit"), round(log_odds_slope("probit"), 3)
    (1.0, 1.596)
    """
    step = 1e-4
    low, high = make_link(link).log_odds(np.array([-step, step]))
    return round(float(high - low) / (2.0 * step), 6)


def _own(matched: MatchedPriors, hinted: Any) -> FloatArray:
    """1 for a word of one label alone, 0 for one that every label with hints has; rows for all labels count in full."""
    everywhere = np.array([row.label == "*" for row in matched.priors], dtype=np.bool_)[matched.row[hinted]]
    column, label, direction = matched.column[hinted], matched.label[hinted], matched.direction[hinted]
    counted = ~everywhere & (direction > 0.0)
    n_hinted = len(np.unique(label[counted]))
    if n_hinted < 2:
        return np.ones(len(hinted))
    n_for = np.bincount(column[counted], minlength=matched.n_features)[column]
    return np.where(counted, 1.0 - np.log(np.maximum(n_for, 1)) / np.log(n_hinted), 1.0)


class CountPriors(NamedTuple):
    """Priors of the rates of a count model: log-ratios and pseudo-counts (n_classes, n_features), and general rates.

    The rate to expect of a word in a class is ``rates`` (n_features,), that of all documents, times e to the power
    ``log_ratios``; the prior is worth ``pseudo_counts`` occurrences.
    """

    log_ratios: FloatArray
    pseudo_counts: FloatArray
    rates: FloatArray

    @property
    def rate_means(self) -> FloatArray:
        """Rates to expect (n_classes, n_features); the Dirichlet models take these alone, as the split of a word."""
        return self.rates * np.exp(self.log_ratios)

    def settings(self) -> dict[str, FloatArray]:
        """For models with gamma priors of their rates: ``make_count_model("poisson", **priors.settings())``."""
        return {"pseudo_counts": self.pseudo_counts, "rate_means": self.rate_means}


def count_priors(
    matched: MatchedPriors,
    X: Any,
    lengths: Any = None,
    weight: ArrayLike = 1.0,
    *,
    log_ratio: float = 1.0,
    pseudo_counts: float = 1.0,
) -> CountPriors:
    """Turn a table of word priors into priors on how often documents of a class use each word.

    A mean m is taken for the logarithm of how many times more often the class uses the word than all documents do, so
    that the rate to expect is e^m times its rate in X; "for" and "against" are m = ±``log_ratio``. A scale s is the
    standard deviation of that logarithm: a gamma variable of shape 1/s² has it, so the prior is worth 1/s² occurrences.
    Families have no counterpart here; a sign without a mean counts as "for" or "against".

    Parameters
    ----------
    matched : MatchedPriors
        The table in terms of the model, from :func:`match_priors`, with the names of all classes as labels.
    X : counts (n_docs, n_features)
        Those of the training documents, for the rates that words have in general.
    lengths : array (n_docs,) or None
        Thousands of words; the sums of X's rows unless given.
    weight : float or array (n_labels,)
        How far to follow the table, from 0 to 1.
    log_ratio : float
        What "for" means.
    pseudo_counts : float
        What the prior of every other word is worth, in occurrences.

    Examples
    --------
    >>> from textbayes.knowledge import WordPrior, match_priors
    >>> X = np.array([[2, 1], [0, 1]])
    >>> matched = match_priors([WordPrior("wheat", "grain", 2.0, 0.5)], ["wheat", "bank"], ["grain", "money"])
    >>> found = count_priors(matched, X, lengths=[1.0, 1.0])
    >>> found.pseudo_counts.tolist(), (found.rate_means / [1.25, 1.25]).round(2).tolist()
    ([[4.0, 1.0], [1.0, 1.0]], [[7.39, 1.0], [1.0, 1.0]])
    """
    if X.shape[1] != matched.n_features:
        raise InputError(
            f"X has {X.shape[1]} features and the vocabulary {matched.n_features} terms; pass both of one kind"
        )
    if not (np.isfinite(log_ratio) and log_ratio > 0.0 and np.isfinite(pseudo_counts) and pseudo_counts > 0.0):
        raise InputError(f"log_ratio={log_ratio!r} and pseudo_counts={pseudo_counts!r} must be positive numbers")
    totals = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    exposure = float(np.sum(lengths)) if lengths is not None else float(totals.sum()) / 1000.0
    if not exposure > 0.0:
        raise InputError("X has no words to tell their rates by; pass the counts of the training documents")
    shape = matched.n_labels, matched.n_features
    worth, ratios = np.full(shape, float(pseudo_counts)), np.zeros(shape)
    side = np.where(np.nan_to_num(matched.direction) == 0.0, matched.sign, matched.direction)
    log_means = np.where(np.isnan(matched.mean), np.nan_to_num(side) * log_ratio, matched.mean)
    if len(log_means) and np.abs(log_means).max() > _LARGEST_LOG_RATIO:
        largest = log_means[np.abs(log_means).argmax()]
        raise InputError(
            f"a prior has the mean {largest:g}; a count model reads it as e^{largest:g} times as often as all texts. "
            f"Give means from -{_LARGEST_LOG_RATIO:g} to {_LARGEST_LOG_RATIO:g}"
        )
    at = matched.label, matched.column
    share = np.broadcast_to(np.asarray(weight, dtype=np.float64), (matched.n_labels,))[matched.label]
    ratios[at] = share * log_means
    has_scale = np.isfinite(matched.scale)
    given = np.where(has_scale, np.minimum(np.where(has_scale, matched.scale, 1.0) ** -2.0, _MOST), pseudo_counts)
    worth[at] = given**share * pseudo_counts ** (1.0 - share)
    return CountPriors(ratios, worth, (totals + 0.5) / exposure)


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

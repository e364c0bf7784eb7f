"""Probabilities of documents and intervals of words, of one linear model or of a pool of them, and of mixed draws.

The uncertainty of a yes or no has two parts: what more texts could tell, and what no number of them will.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.core.validation import check_level
from textbayes.links.base import BaseLink

if TYPE_CHECKING:
    from textbayes.posterior.draws import Draws, LabelDraws


def label_probabilities(
    eta: FloatArray, link: BaseLink, space: LabelSpace, inverse_temperature: float = 1.0
) -> FloatArray:
    """Probability of every column, p(y = 1 | eta); one-of-many classes add up to one.

    Parameters
    ----------
    eta : array (n_docs, n_columns)
        The linear predictor.
    link : BaseLink
    space : LabelSpace
    inverse_temperature : float
        The power of each class's own probability before they are normalised.
    """
    if space.kind != "multiclass":
        return link.probability(eta)
    return normalise_classes(link.log_prob(eta, np.ones_like(eta)), inverse_temperature)


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
    eta: FloatArray, var: FloatArray, link: BaseLink, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Ends of the central interval that holds p(y = 1 | eta) with probability ``level``, eta being N(eta, var).

    A link is monotone, so quantiles of the predictor are quantiles of the probability. They are of each label by
    itself; for classes that exclude each other see :func:`class_interval`.

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
    [0.51, 0.88]
    """
    check_level(level)
    reach = special.ndtri(0.5 + 0.5 * level) * np.sqrt(var)
    return link.probability(eta - reach), link.probability(eta + reach)


_N_SAMPLED, _AT_ONCE = 2048, 1 << 22  # predictors drawn for each class; values held at a time


def class_interval(
    eta: FloatArray,
    var: FloatArray,
    log_prob: Callable[[FloatArray], FloatArray],
    level: float = 0.95,
    inverse_temperature: float = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Ends of the central interval of each class's probability, p_k^c / Σ_j p_j^c, the predictors being N(eta, var).

    The ratio has no closed form: it is computed for points that fill the Gaussian evenly (Sobol), the same at each
    call.

    Parameters
    ----------
    eta, var : arrays (n_docs, n_classes)
        Mean and variance of the predictors, independent between classes.
    log_prob : callable
        ln p of predictors, each class by itself.
    level : float
        The probability that an interval holds.
    inverse_temperature : float
        The power c.

    Examples
    --------
    >>> low, high = class_interval(np.zeros((1, 3)), np.full((1, 3), 0.25), special.log_expit)
    >>> low.round(1).tolist(), high.round(1).tolist()
    ([[0.2, 0.2, 0.2]], [[0.5, 0.5, 0.5]])
    """
    from scipy.stats import qmc  # slow to load

    check_level(level)
    points = special.ndtri(qmc.Sobol(eta.shape[1], seed=0).random(_N_SAMPLED).clip(1e-9, 1.0 - 1e-9))
    sd, ends = np.sqrt(var), np.empty((2, *eta.shape))
    size = max(1, _AT_ONCE // points.size)
    for first in range(0, len(eta), size):
        rows = slice(first, first + size)
        drawn = eta[rows, None] + sd[rows, None] * points
        shares = normalise_classes(log_prob(drawn), inverse_temperature)
        ends[:, rows] = np.quantile(shares, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=1)
    return ends[0], ends[1]


def pooled_draws(pool: FloatArray, members: Sequence[Draws], most: int) -> Draws:
    """Mix the members' draws, at most ``most`` of all chains together for each label.

    Every member has its share of every chain, spread evenly; where there are more draws than that, those that are
    left out lie evenly between the others, so that of neighbours that are much alike one stays.

    Parameters
    ----------
    pool : array (n_members,)
        The weights of the members, one in sum.
    members : sequence of Draws
    most : int
    """
    labels = [_mixed(pool, [draws.labels[k] for draws in members], most) for k in range(len(members[0].labels))]
    return type(members[0])(labels, members[0].n_features)


def _mixed(pool: FloatArray, members: Sequence[LabelDraws], most: int) -> LabelDraws:
    used = [(share, one) for share, one in zip(pool, members, strict=True) if share > 0.0]
    n_chains = min(one.intercept.shape[0] for _, one in used)
    n_draws = min(int(one.intercept.shape[1] / share) for share, one in used)
    n_draws = max(1, min(n_draws, most // n_chains))
    turn = _turns(np.array([share for share, _ in used]), n_draws)
    first = used[0][1]
    # Words that some member has and another holds, at whatever weight.
    columns = np.flatnonzero(
        np.any([np.isin(np.arange(len(one.elsewhere)), one.columns) for _, one in used], axis=0)
        | np.any([one.elsewhere != first.elsewhere for _, one in used], axis=0)
    )
    weights = np.empty((n_chains, n_draws, len(columns)), dtype=np.float32)
    intercept, scale = np.empty((n_chains, n_draws)), np.empty((n_chains, n_draws))
    for m, (_, one) in enumerate(used):
        places = np.flatnonzero(turn == m)
        chosen = ((np.arange(len(places)) + 0.5) * one.intercept.shape[1] / max(len(places), 1)).astype(np.int64)
        weights[:, places] = _spread(one, columns, n_chains, chosen)
        intercept[:, places] = one.intercept[:n_chains, chosen]
        scale[:, places] = one.global_scale[:n_chains, chosen]
    return first._replace(columns=columns, weights=weights, intercept=intercept, global_scale=scale)


def _turns(shares: FloatArray, n_places: int) -> IntArray:
    """The member of every place in a chain: the one that is furthest behind its share."""
    turn, done = np.empty(n_places, dtype=np.int64), np.zeros(len(shares))
    for place in range(n_places):
        turn[place] = int(np.argmax(shares * (place + 1) - done))
        done[turn[place]] += 1.0
    return turn


def _spread(one: LabelDraws, columns: IntArray, n_chains: int, chosen: IntArray) -> AnyArray:
    """Some of the draws of a member, of the words ``columns``, which include its own."""
    if np.array_equal(columns, one.columns):
        return one.weights[:n_chains, chosen]
    out = np.broadcast_to(one.elsewhere[columns], (n_chains, len(chosen), len(columns))).astype(np.float32)
    out[:, :, np.searchsorted(columns, one.columns)] = one.weights[:n_chains, chosen]
    return out


PRACTICAL_SIZE = 1.0  # a smaller weight is as good as none; see ``sampled_words``


class WordInterval(NamedTuple):
    """A word's weight and the ends of its interval; both NaN for a word that is held at its prior mean."""

    word: str
    weight: float
    low: float
    high: float


class SampledWord(NamedTuple):
    """A word's weight as its draws have it: posterior mean, ends of the interval, standard deviation and two chances.

    ``sign_probability`` is that of a weight of the same sign as its mean; ``inclusion_probability`` that of a weight
    that is larger than what is as good as none.
    """

    word: str
    weight: float
    low: float
    high: float
    sd: float
    sign_probability: float
    inclusion_probability: float


def word_intervals(
    names: AnyArray,
    weights: FloatArray,
    errors: FloatArray,
    level: float = 0.95,
    top: int | None = None,
    shifts: FloatArray | None = None,
) -> list[WordInterval]:
    """Intervals of the words of one label with weights other than 0, the largest weight first.

    Parameters
    ----------
    names, weights, errors : arrays (n_features,)
        Words, their weights, and standard errors.
    level : float
        The probability that an interval holds.
    top : int or None
        Words at most; None for all.
    shifts : array (n_features,), optional
        Posterior mean − mode of the weights, see :func:`centred_interval`.

    Examples
    --------
    >>> found = word_intervals(np.array(["corn", "the"]), np.array([2.0, 0.0]), np.array([0.5, np.nan]), level=0.95)
    >>> [(one.word, round(one.low, 2), round(one.high, 2)) for one in found]  # 2 ± 1.96·0.5
    [('corn', 1.02, 2.98)]
    """
    low, high = centred_interval(weights, errors, shifts, level)
    order = np.argsort(-np.abs(weights), kind="stable")
    order = order[weights[order] != 0.0][:top]
    return [WordInterval(str(names[j]), float(weights[j]), float(low[j]), float(high[j])) for j in order]


def centred_interval(
    weights: FloatArray, errors: FloatArray, shifts: FloatArray | None, level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals of weights around their posterior means, widened to hold the weights; NaN without error.

    Parameters
    ----------
    weights, errors : arrays
        Modes of the posterior, and standard errors.
    shifts : array like them, or None
        Mean − mode.
    level : float
        The probability that an interval holds.
    """
    check_level(level)
    reach, middle = special.ndtri(0.5 + 0.5 * level) * errors, weights if shifts is None else weights + shifts
    return np.minimum(middle - reach, weights), np.maximum(middle + reach, weights)


def mixture_standard_errors(pool: FloatArray, members: Sequence[Draws]) -> FloatArray:
    """Standard deviations of the weights under a mixture of posteriors; NaN for words that no member may use.

    Var w = Σ_m a_m (Var_m w + (E_m w)²) − (Σ_m a_m E_m w)².

    Parameters
    ----------
    pool : array (n_members,)
        The weights of the members, one in sum.
    members : sequence of Draws
    """
    means = np.stack([draws.mean() for draws in members])
    within = np.tensordot(pool, np.stack([draws.variance() for draws in members]), axes=1)
    centre = np.tensordot(pool, means, axes=1)
    variance = within + np.tensordot(pool, (means - centre) ** 2, axes=1)
    return np.where(variance > 0.0, np.sqrt(variance), np.nan)


def sampled_words(
    names: AnyArray,
    draws: Draws,
    label: int,
    level: float = 0.95,
    top: int | None = None,
    by: str = "mean",
    size: float = PRACTICAL_SIZE,
    mirrored: bool = False,
) -> list[SampledWord]:
    """The words that a label may use, the first the most telling one, and what the draws say of each.

    Parameters
    ----------
    names : names of all words
    draws : draws of the posterior
    label : number of the label
    level : the share of the posterior that an interval holds, the same on either side of it
    top : how many words; None for all
    by : {"mean", "sign", "inclusion"}
        What words are ranked by, see ``Draws.ranking``.
    size : float
        A smaller weight is as good as none: the inclusion probability is P(\\|w\\| > size). No continuous prior gives
        a weight of exactly 0 any probability, so that how small is small must be said; with texts of length one, a
        word that makes up a tenth of a text and has the weight 1 adds 0.1 to its log-odds.
    mirrored : bool
        Speak of the other of two classes, whose weights have the other sign.

    References
    ----------
    Kruschke (2018), Rejecting or accepting parameter values in Bayesian estimation, Advances in Methods and Practices
    in Psychological Science 1, 270–280 (a region of practical equivalence).
    """
    own = draws.labels[label]
    order = draws.ranking(label, by, size)
    order = order[np.isin(order, own.columns)][:top]
    chosen = own.take(order)
    chosen = chosen._replace(weights=chosen.weights * np.float32(-1.0 if mirrored else 1.0))
    few = type(draws)([chosen], len(order))
    mean, (low, high), positive = few.mean()[0], few.interval(level), few.sign_probability()[0]
    sd, included = np.sqrt(few.variance()[0]), few.inclusion_probability(size)[0]
    sure = np.where(mean >= 0.0, positive, 1.0 - positive)
    columns = (mean, low[0], high[0], sd, sure, included)
    rows = zip((names[j] for j in order), *(column.tolist() for column in columns), strict=True)
    return [SampledWord(str(word), *numbers) for word, *numbers in rows]


_REACH = 8.5  # standard deviations of the predictor on either side; beyond lies less than 1e-16
_STEP = 0.35  # of the predictor: the trapezoidal rule is then exact to ten digits, see ``gaussian_uncertainty``
_LEAST_NODES, _MOST_NODES = 101, 20_001
_NODES_AT_ONCE = 4_000_000


class Uncertainty(NamedTuple):
    """Entropy in bits of each label's yes or no, by a posterior of the weights; arrays (n_docs, n_columns).

    ``total`` is the entropy of the averaged probability, ``aleatoric`` the average of the entropies: what is left if
    the weights were known. Their difference ``epistemic`` is the mutual information of label and weights: what is
    unknown for want of training texts.

    References
    ----------
    Depeweg, Hernández-Lobato, Doshi-Velez & Udluft (2018), Decomposition of uncertainty in Bayesian deep learning,
    ICML. Houlsby, Huszár, Ghahramani & Lengyel (2011), Bayesian active learning for classification, arXiv:1112.5745.
    """

    total: FloatArray
    aleatoric: FloatArray

    @property
    def epistemic(self) -> FloatArray:
        """Mutual information of label and weights, in bits; never negative."""
        return np.maximum(self.total - self.aleatoric, 0.0)


def entropy_bits(proba: FloatArray) -> FloatArray:
    """Entropy of yes or no, in bits.

    >>> entropy_bits(np.array([0.5, 0.0, 0.11])).round(3)
    array([1. , 0. , 0.5])
    """
    return np.asarray((special.entr(proba) + special.entr(1.0 - proba)) / np.log(2.0))


def gaussian_uncertainty(
    mean: FloatArray, var: FloatArray, probability: Callable[[FloatArray], FloatArray], averaged: FloatArray
) -> Uncertainty:
    """The parts where predictors are N(mean, var): ∫ H(p(u)) N(u) du beside the entropy of the averaged probability.

    The integral is a sum over equally spaced predictors. For a link that is analytic within ±h of the real line the
    error falls as exp(−2πh/step): h is π for the logit.

    Parameters
    ----------
    mean, var : arrays (n_docs, n_columns)
    probability : function
        p(y = 1) at predictors of shape (…, n_columns).
    averaged : array (n_docs, n_columns)
        ∫ p(u) N(u) du.

    Examples
    --------
    >>> mean, var = np.zeros((1, 2)), np.array([[0.0, 25.0]])  # by symmetry ½ on average
    >>> told = gaussian_uncertainty(mean, var, special.expit, np.full((1, 2), 0.5))
    >>> told.total.round(2).tolist(), told.aleatoric.round(2).tolist()
    ([[1.0, 1.0]], [[1.0, 0.35]])
    """
    sd = np.sqrt(np.maximum(var, 0.0))
    nodes = int(np.clip(2.0 * _REACH * sd.max(initial=0.0) / _STEP, _LEAST_NODES, _MOST_NODES))
    z = np.linspace(-_REACH, _REACH, nodes)
    weight = np.exp(-0.5 * z**2)
    weight /= weight.sum()
    aleatoric = np.empty_like(mean)
    at_once = max(1, _NODES_AT_ONCE // (nodes * max(mean.shape[1], 1)))
    for first in range(0, len(mean), at_once):
        rows = slice(first, first + at_once)
        at = mean[rows, None] + sd[rows, None] * z[:, None]
        aleatoric[rows] = np.einsum("j,ijk->ik", weight, entropy_bits(probability(at)))
    return Uncertainty(entropy_bits(averaged), aleatoric)

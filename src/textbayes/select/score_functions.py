"""Score functions: each scores every word for every label at once.

``scores`` holds them by name. A function of another package joins by ``scores.register("name")``, or as a plug-in under
the entry-point group ``textbayes.score_functions``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from textbayes.core.protocols import ScoreFunction, ScoreResult
from textbayes.core.registry import Registry
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.lexical.delta2 import delta2_test
from textbayes.lexical.p_values import chi2_p_value, t_p_value
from textbayes.select.tables import PresenceTable, about_mean, score_tables, word_values

scores: Registry[ScoreFunction] = Registry("score function", "textbayes.select.score_functions")

CLIP = 0.0005
"""Rates are clipped this far from 0 and 1, where Φ⁻¹ is infinite (Forman 2003)."""


@scores.register("bns")
def bns(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Bi-normal separation |Φ⁻¹(tpr) − Φ⁻¹(fpr)| with tpr = a/(a+c) and fpr = b/(b+d); no p-value.

    Both rates are clipped to [0.0005, 0.9995]. Strong on rare categories; it has no null distribution of its own
    because it ignores the number of documents.

    Reference: Forman (2003), "An extensive empirical study of feature selection metrics for text classification",
    JMLR 3.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> bns(X, np.array([1, 1, 0, 0])).scores.round(3)
    array([[6.581, 3.291]])
    """
    return score_tables(X, Y, _bns_table)


def _bns_table(table: PresenceTable) -> ScoreResult:
    a, b, c, d = table
    inside = special.ndtri(np.clip(a / (a + c), CLIP, 1.0 - CLIP))
    outside = special.ndtri(np.clip(b / (b + d), CLIP, 1.0 - CLIP))
    return ScoreResult(np.abs(inside - outside), None)


@scores.register("chi2")
def chi2(X: Matrix, Y: AnyArray) -> ScoreResult:
    """χ² = N (ad − bc)² / ((a+b)(c+d)(a+c)(b+d)), without continuity correction; p-value by χ²₁.

    Notation of :class:`~textbayes.select.tables.PresenceTable`. scikit-learn's ``chi2`` differs: it adds up the values
    of X per class and leaves out the documents without the word. On 0/1 data and two classes it equals this statistic
    times (N − df)/N, where df is the word's document frequency: nearly the same for rare words, too small for frequent
    ones.

    Reference: Yang & Pedersen (1997), "A comparative study on feature selection in text categorization", ICML, §2.4.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = chi2(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[4.   , 1.333]]), array([[0.046, 0.248]]))
    """
    return score_tables(X, Y, _chi2_table)


def _chi2_table(table: PresenceTable) -> ScoreResult:
    a, b, c, d = table
    with_word, without, inside, outside = a + b, c + d, a + c, b + d
    score = (inside + outside) * np.square(a * d - b * c) / (with_word * without * (inside * outside))
    return ScoreResult(score, chi2_p_value(score))


@scores.register("delta2")
def delta2(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ² = (S − nπ)² / (nπ(1−π)) of counts, S of n in the category with share π of the text; exact (binomial) p-value.

    For Poisson counts, given n. The p-value is the mid-p, which counts half of the chance of the observed Δ² itself.
    Favours frequent words. ``lengths`` are those of the documents in thousands of words, the row sums of X unless
    given. Words that come in bursts get too small p-values: see ``delta2_negative_binomial``. Other methods for the
    p-value: :func:`~textbayes.lexical.delta2.delta2_score`.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §4, here for unequal classes.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Counts of words.
    Y : boolean array (n_docs, n_labels)
    lengths : array (n_docs,), optional

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> result = delta2(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1])
    >>> result.scores.round(3), result.p_values.round(4).tolist()
    (array([[10.889,  0.   ]]), [[0.0007, 0.8125]])
    """
    return delta2_test(X, Y, lengths=lengths, model="poisson", method="exact")


@scores.register("delta2_chi2")
def delta2_chi2(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ² of counts with p-value by χ²₁: ``delta2`` in the limit of frequent words.

    Right for words with some ten occurrences to expect both inside and outside the category. ``lengths`` as in
    ``delta2``.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §4; the limit is ours.

    Parameters
    ----------
    X, Y, lengths
        As for :func:`delta2`.

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> delta2_chi2(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1]).p_values.round(4)
    array([[0.001, 1.   ]])
    """
    return delta2_test(X, Y, lengths=lengths, model="poisson", method="chi2")


@scores.register("delta2_negative_binomial")
def delta2_negative_binomial(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ²/(1 + δω̃) of counts, δ a word's burstiness by moments; beta-binomial p-value, for negative-binomial counts.

    A word that fills two documents and is in no other is no longer taken for one that tells categories apart. δ = 0,
    common for rare words, is ``delta2``. ``lengths`` and mid-p as there.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §2.2 and §4; the distribution
    is derived in ``docs/guide/keyness.md``.

    Parameters
    ----------
    X, Y, lengths
        As for :func:`delta2`.

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> result = delta2_negative_binomial(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1])
    >>> result.scores.round(3), result.p_values.round(4)
    (array([[2.882, 0.   ]]), array([[0.0616, 0.8125]]))
    """
    return delta2_test(X, Y, lengths=lengths, model="negative_binomial", method="exact")


@scores.register("delta2_negative_binomial_chi2")
def delta2_negative_binomial_chi2(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ²/(1 + δω̃) of counts with p-value by χ²₁: ``delta2_negative_binomial`` in the limit of frequent words.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §4; the limit is ours.

    Parameters
    ----------
    X, Y, lengths
        As for :func:`delta2`.

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> delta2_negative_binomial_chi2(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1]).p_values.round(4)
    array([[0.0896, 1.    ]])
    """
    return delta2_test(X, Y, lengths=lengths, model="negative_binomial", method="chi2")


@scores.register("information_gain")
def information_gain(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Information gain IG = H(category) − H(category | word present or not), in bits, one category against the rest.

    The same quantity as ``likelihood_ratio`` in another unit: −2 ln λ = 2 N ln 2 · IG exactly, for both are the
    Kullback–Leibler divergence of the observed table from independence. So the ranking within a category is the same,
    the p-value by χ²₁ is that of −2 ln λ, and only thresholds differ (IG does not grow with the corpus).

    Reference: Yang & Pedersen (1997), "A comparative study on feature selection in text categorization", ICML, §2.2
    (there summed over all categories of a single-label corpus; here per category).

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> information_gain(X, np.array([1, 1, 0, 0])).scores.round(3)
    array([[1.   , 0.311]])
    """
    return score_tables(X, Y, _information_gain_table)


def _information_gain_table(table: PresenceTable) -> ScoreResult:
    ratio = log_likelihood_ratio(table)
    n_docs = sum(table)
    return ScoreResult(ratio / (2.0 * np.log(2.0) * n_docs), chi2_p_value(ratio))


@scores.register("likelihood_ratio")
def likelihood_ratio(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Likelihood ratio −2 ln λ = 2 Σ_cells O ln(O/E), E the count expected under independence; p-value by χ²₁.

    λ compares one probability of the word for all documents with one inside and one outside the category (Dunning's
    binomial test on documents). The online paper keeps words above 12.13 (0.05 % level), at most 300 per category.

    References: Dunning (1993), "Accurate methods for the statistics of surprise and coincidence", Computational
    Linguistics 19(1); "Bayesian online classifiers for text classification and filtering", §2.3.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = likelihood_ratio(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[5.545, 1.726]]), array([[0.019, 0.189]]))
    """
    return score_tables(X, Y, _likelihood_ratio_table)


def _likelihood_ratio_table(table: PresenceTable) -> ScoreResult:
    score = log_likelihood_ratio(table)
    return ScoreResult(score, chi2_p_value(score))


def log_likelihood_ratio(table: PresenceTable) -> FloatArray:
    """−2 ln λ of each table.

    Written with ln(O/E) = log1p((O − E)/E), where |O − E| = |ad − bc|/N is the same in all four cells: near
    independence the four terms cancel, and logarithms of O/E would leave only rounding error of the size of N.
    """
    a, b, c, d = table
    with_word, without, inside, outside = a + b, c + d, a + c, b + d
    excess = a * d - b * c
    half = special.xlog1py(a, excess / (with_word * inside))
    half += special.xlog1py(b, -excess / (with_word * outside))
    half += special.xlog1py(c, -excess / (without * inside))
    half += special.xlog1py(d, excess / (without * outside))
    return np.maximum(2.0 * half, 0.0)


@scores.register("odds_ratio")
def odds_ratio(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Log odds ratio ln[(a+½)(d+½) / ((b+½)(c+½))]: signed; positive for words more frequent inside the category.

    The ½ in every cell (Haldane–Anscombe) keeps the ratio finite when a cell is empty and removes most of its bias.
    The p-value is Wald's, one-sided like the ranking: P(Z ≥ score/s) with s² = Σ_cells 1/(O+½), small for words that
    occur more often inside the category, near 1 for words that occur less often. With a binary vector of labels only
    words for the positive class come first; score both classes as an indicator matrix to get both.

    References: Haldane (1956), Anscombe (1956), on the estimation of log odds; Mladenić & Grobelnik (1999), "Feature
    selection for unbalanced class distribution and naive Bayes", ICML, for the one-sided use in text.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = odds_ratio(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[ 3.219, -1.609]]), array([[0.071, 0.798]]))
    """
    return score_tables(X, Y, _odds_ratio_table)


def _odds_ratio_table(table: PresenceTable) -> ScoreResult:
    a, b, c, d = (cell + 0.5 for cell in table)
    score = np.log(a * d / (b * c))
    error = np.sqrt(1.0 / a + 1.0 / b + 1.0 / c + 1.0 / d)
    return ScoreResult(score, special.ndtr(-score / error))


@scores.register("pearson")
def pearson(X: Matrix, Y: AnyArray) -> ScoreResult:
    """|r| = |Σ_in (x − x̄)| / √(n_in n_out/N · Σ (x − x̄)²), on the values of X; p-value by t = r√((N−2)/(1−r²)).

    The numerator is the covariance with a 0/1 label. t with N − 2 degrees of freedom is the pooled two-sample t, so
    ``t_test_pooled`` ranks words within a category alike and has the same p-values. Constant words and categories
    with every or no document score 0 with p-value 1. Values of either sign are taken.

    Reference: the sparse paper, eq. (15), which keeps 300 to 1,000 words per category.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Values, not only whether a word is there.
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = pearson(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[0.816, 0.577]]), array([[0.184, 0.423]]))
    """
    values = word_values(X, Y)
    n_in, n_out, n_docs = values.n_in, values.n_out, values.n_docs
    r = values.sum_in()
    r -= n_in * (values.total / n_docs)
    np.abs(r, out=r)
    norm = np.sqrt(n_in * n_out / n_docs) * np.sqrt(values.spread)
    np.divide(r, norm, out=r, where=norm > 0.0)
    r[norm == 0.0] = 0.0
    np.minimum(r, 1.0, out=r)
    if n_docs <= 2:  # a line goes through any two points: their correlation says nothing
        return ScoreResult(r, np.ones_like(r))
    with np.errstate(divide="ignore"):  # |r| = 1: t is infinite and p = 0
        t = r * np.sqrt((n_docs - 2) / ((1.0 - r) * (1.0 + r)))
    return ScoreResult(r, t_p_value(t, n_docs - 2.0))


@scores.register("t_test")
def t_test(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Welch's |t| = |x̄_in − x̄_out| / √(s²_in/n_in + s²_out/n_out), two-sided p-value with Satterthwaite's df.

    A word whose values do not vary inside and do not vary outside, but differ, has |t| = inf and p-value 0. Fewer
    than two documents on a side leave a variance unknown: score 0, p-value 1. Values of either sign are taken.

    In a category of a handful of documents a frequent word that happens to be in none of them has s²_in = 0 and so a
    large |t|: the textbook result, but misleading; use ``t_test_pooled`` (or ``likelihood_ratio``) there.

    References: Welch (1947), Biometrika 34; the gibbs paper keeps 800 words by a two-sample t-test of TF-IDF in R,
    whose ``t.test`` is Welch's by default.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Values, not only whether a word is there.
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = t_test(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[2., 1.]]), array([[0.295, 0.5  ]]))
    """
    groups = _groups(X, Y)
    n_in, n_out = groups.n_in, groups.n_out
    with np.errstate(divide="ignore", invalid="ignore"):  # sides of fewer than two documents, overwritten below
        error_in = groups.spread_in / (n_in * (n_in - 1.0))
        error_out = groups.spread_out / (n_out * (n_out - 1.0))
        error = error_in + error_out
        df = np.square(error) / (np.square(error_in) / (n_in - 1.0) + np.square(error_out) / (n_out - 1.0))
    known = (n_in >= 2.0) & (n_out >= 2.0)
    return _result(groups.difference, error, df, known)


@scores.register("t_test_pooled")
def t_test_pooled(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Student's |t| = |x̄_in − x̄_out| / √(s² (1/n_in + 1/n_out)), s² pooled, two-sided p-value with N − 2 df.

    Assumes one variance inside and outside; defined from one document on a side and three in all (otherwise score 0,
    p-value 1). No variation within either side but different means: |t| = inf, p-value 0. Values of either sign are
    taken.

    Reference: Student (1908), Biometrika 6; see ``pearson`` for the correlation it is equivalent to.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Values, not only whether a word is there.
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = t_test_pooled(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[2., 1.]]), array([[0.184, 0.423]]))
    """
    groups = _groups(X, Y)
    n_in, n_out = groups.n_in, groups.n_out
    df = n_in + n_out - 2.0
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty side, overwritten below
        error = (groups.spread_in + groups.spread_out) * ((1.0 / n_in + 1.0 / n_out) / df)
    known = (n_in >= 1.0) & (n_out >= 1.0) & (df >= 1.0)
    return _result(groups.difference, error, np.broadcast_to(df, error.shape), known)


class _Groups(NamedTuple):
    n_in: FloatArray
    n_out: FloatArray
    difference: FloatArray
    spread_in: FloatArray
    spread_out: FloatArray


def _groups(X: Matrix, Y: AnyArray) -> _Groups:
    values = word_values(X, Y)
    n_in, n_out, n_docs = values.n_in, values.n_out, values.n_docs
    sum_in, square_in = values.sum_in(), values.sum_square_in()
    sum_out, square_out = values.total - sum_in, values.total_square - square_in
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty side
        difference = np.abs(sum_in / n_in - sum_out / n_out)
        spread_in = about_mean(sum_in, square_in, n_in, n_docs, square_in)
        # What is left after a subtraction carries the rounding error of the whole.
        spread_out = about_mean(sum_out, square_out, n_out, n_docs, values.total_square)
    return _Groups(n_in, n_out, difference, spread_in, spread_out)


def _result(difference: FloatArray, error: FloatArray, df: FloatArray, known: AnyArray) -> ScoreResult:
    with np.errstate(divide="ignore", invalid="ignore"):  # zero variance: inf, or 0/0 where the means agree
        t = difference / np.sqrt(error)
    nothing = ~known | (difference == 0.0)
    t[nothing] = 0.0
    p = t_p_value(t, np.where(error > 0.0, df, 1.0))
    p[nothing] = 1.0
    return ScoreResult(t, p)


@scores.register("yule_q")
def yule_q(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Yule's \\|Q\\| = \\|ad − bc\\| / (ad + bc): from 0, no association, to 1, where some cell of the table is empty.

    With the odds ratio ω = ad/(bc) it is |ω − 1|/(ω + 1). It does not know how much text stands behind a table: a word
    that is in one document scores 1, whatever the category. Of equal scores the first words are taken, so choose words
    by it among those in several documents only.

    References: Yule (1900), "On the association of attributes in statistics", Phil. Trans. A 194; footnote 2 of the
    sparse paper, which found it far behind Pearson's correlation.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0, 1], [3, 1, 1], [0, 1, 1], [0, 1, 0]])
    >>> yule_q(X, np.array([1, 1, 1, 0])).scores.round(3)
    array([[1., 1., 1.]])
    >>> yule_q([[1], [1], [0], [1], [0], [0]], np.array([1, 1, 1, 0, 0, 0])).scores  # (2·2 − 1·1)/(2·2 + 1·1)
    array([[0.6]])
    """
    return score_tables(X, Y, _yule_q_table)


def _yule_q_table(table: PresenceTable) -> ScoreResult:
    a, b, c, d = table
    return ScoreResult(np.abs(a * d - b * c) / (a * d + b * c), None)

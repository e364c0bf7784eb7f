"""What the label of a text would teach, and batches that do not repeat themselves: words, a fast model, and criteria.

The linear predictors of texts have a Gaussian posterior: weights have the prior N(0, diag(scale²)), and each labelled
text adds its curvature p(1 − p). The curvature of a text is shared by its labels, the mean of those of its labels
weighted by themselves, so that one covariance serves all of them. With rows of X multiplied by the scales, and A the
labelled rows with curvatures W, the covariance of two predictors is x'u − x'A'W^½ (I + W^½AA'W^½)⁻¹ W^½Au (Woodbury).

References
----------
Chai, Ng & Chieu (2002), SIGIR, § 3 and 4.2; MacKay (1992), Information-based objective functions for active data
selection, Neural Computation 4; Houlsby et al. (2011), Bayesian active learning for classification and preference
learning (mutual information for several classes); Kirsch, van Amersfoort & Gal (2019), BatchBALD; Roy & McCallum
(2001), Toward optimal active learning through sampling estimation of error reduction; Zhdanov (2019), Diverse
mini-batch active learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse, special, stats
from scipy.sparse import csr_matrix

from textbayes.categorizer.reading import language_of
from textbayes.core.errors import InputError
from textbayes.core.labels import normalise_classes
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.copies import find_copies, text_sketches

SCALE, _TOLERANCE = 10.0, 3e-3  # of the Gaussian prior of the fast model, and of its fits
_FARTHEST_OFF = -20.0  # log-odds of a class without a labelled text
_LN_2 = np.log(2.0)
_LEAST = 1e-12  # of a variance, which rounding may bring below 0
_DRAWS = 5  # 2⁵ quasi-random draws of the predictors of several classes
_NODES = 32  # of the quadrature for one label
_CLASSES = 8  # most probable classes of a text whose answers are tried
_SWEEPS = 12  # of the search for clusters


class ReadTexts(NamedTuple):
    """Weights of the words of all texts, the text that each is a copy of, scales of the words' priors, and readers."""

    X: Any
    first: IntArray
    scale: FloatArray
    reader: Any
    weighting: TermWeighting | None = None

    def as_rows(self, texts: Sequence[str]) -> Any:
        """Further texts, read as these were."""
        assert self.weighting is not None
        return sparse.csr_matrix(self.weighting.transform(self.reader.transform(texts)))


def read_texts(texts: list[str], model: Any) -> ReadTexts:
    """Read the texts of a session, as a fitted ``TextCategorizer`` does where there is one."""
    if model is not None:
        X = sparse.csr_matrix(model.features(texts).weights)
        own = model.vectorizer_
        reader = own if isinstance(own, TextVectorizer) else default_reader(texts)
        return ReadTexts(X, find_copies(text_sketches(texts, reader)).first, _scales_after(model, X.shape[1]), own)
    reader = default_reader(texts)
    try:
        counts = reader.fit_transform(texts)
    except InputError:  # no word is in two texts
        counts = reader.set_params(min_df=1).fit_transform(texts)
    weighting = TermWeighting("tfidf1").fit(counts)
    first = find_copies(text_sketches(texts, reader)).first
    X = weighting.transform(counts)
    return ReadTexts(X, first, np.full(X.shape[1], SCALE), reader, weighting)


def default_reader(texts: list[str]) -> TextVectorizer:
    """What a session counts in texts: stems of words of all kinds, also stop words, which short texts need."""
    language = language_of(texts)
    stemmer = "porter" if language.name == "english" else language.stemmer
    return TextVectorizer(token_pattern="all", analyzer="mixed", stemmer=stemmer, min_df=2)


def _scales_after(model: Any, n_columns: int) -> FloatArray:
    """Posterior standard deviations of a model's weights, were words independent: its texts are not at hand.

    A word that the training texts have often is known well: its precision is that of the prior and, for each text with
    it, the largest curvature times its squared weight there.
    """
    mean, frequency = model.weighting_.mean_weights(), model.weighting_.document_frequency_
    if mean is None or len(mean) != n_columns:
        return np.full(n_columns, SCALE)
    n_docs = model.weighting_.n_docs_
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(frequency > 0, mean * n_docs / np.maximum(frequency, 1), 0.0)
    return np.asarray(1.0 / np.sqrt(1.0 / SCALE**2 + 0.25 * frequency * weight**2))


class FastModel(NamedTuple):
    """Logistic regressions of the labels that some texts have and some have not; ``Y`` is what they were fitted to."""

    fitted: BayesLinearClassifier
    Y: BoolArray
    exclusive: bool

    def log_odds(self, X: Any) -> FloatArray:
        """Of every label by itself, also of two classes; a label that no text has is as good as impossible."""
        found = self.fitted.decision_function(X)
        return self._of_all(self._two(found) if found.ndim == 1 else found, X.shape[0])

    def weights(self) -> FloatArray:
        """Of every word for each label, (n_labels, n_words); 0 where nothing could be learnt of a label."""
        coef = self.fitted.coef_
        told = self._told
        out = np.zeros((self.Y.shape[1], coef.shape[1]))
        out[told] = np.concatenate([-coef, coef]) if len(coef) < told.sum() else coef
        return out

    @property
    def _told(self) -> BoolArray:
        return np.asarray(self.Y.any(axis=0) & ~self.Y.all(axis=0))

    def _two(self, found: FloatArray) -> FloatArray:
        return np.stack([-found, found], axis=1) if self.exclusive else found[:, None]

    def _of_all(self, found: FloatArray, n_texts: int) -> FloatArray:
        out = np.where(self.Y.all(axis=0), -_FARTHEST_OFF, _FARTHEST_OFF) * np.ones((n_texts, 1))
        out[:, self._told] = found
        return np.asarray(out)


def fast_fit(X: Any, Y: BoolArray, exclusive: bool, weight: FloatArray | None = None) -> FastModel | None:
    """The fast model, of the labels that some texts have and some have not; None if there is nothing to tell apart.

    Exclusive classes have no intercepts: with few texts these would say little more than which class came first, and
    outvote the words. Of many labels most texts have none, so that they need theirs.

    Parameters
    ----------
    X : csr_matrix (n_texts, n_words)
    Y : boolean array (n_texts, n_labels)
    exclusive : bool
    weight : array (n_texts,), optional
        How much each text counts.
    """
    told = Y.any(axis=0) & ~Y.all(axis=0)
    if not told.any():
        return None
    settings: dict[str, Any] = {"prior": "gaussian", "inference": "dual", "tol": _TOLERANCE}
    model = BayesLinearClassifier(scale=SCALE, fit_intercept=not exclusive, **settings)
    labels = Y[:, told].argmax(axis=1) if exclusive else sparse.csr_matrix(Y[:, told].astype(int))
    return FastModel(model.fit(X, labels, sample_weight=weight), Y, exclusive)


def probabilities(log_odds: FloatArray, exclusive: bool) -> FloatArray:
    """Of every label, from the log-odds of each by itself; those of exclusive classes add up to one."""
    return normalise_classes(special.log_expit(log_odds)) if exclusive else special.expit(log_odds)


def shared_curvature(proba: FloatArray) -> FloatArray:
    """One curvature a text, (n_texts,): the mean of p(1 − p) over its labels, weighted by itself."""
    curvature = proba * (1.0 - proba)
    return np.asarray((curvature**2).sum(axis=1) / np.maximum(curvature.sum(axis=1), _LEAST))


class Covariance:
    """Posterior covariance of the predictors of some texts with one another, which answers make smaller.

    Parameters
    ----------
    X : csr_matrix (n_texts, n_words)
        Rows times the prior scales of the words.
    rows : array of int
        The texts whose covariance is kept.
    labelled : array of int
    curvature : array (n_labelled,)

    Attributes
    ----------
    between : array (n_rows, n_rows)
    """

    def __init__(self, X: csr_matrix, rows: IntArray, labelled: IntArray, curvature: FloatArray) -> None:
        chosen = X[rows]
        self.between = _products(chosen, chosen)
        if len(labelled):
            A, root = X[labelled], np.sqrt(curvature)
            inner = np.eye(len(labelled)) + root[:, None] * _products(A, A) * root
            factor = linalg.cholesky(inner, lower=True)
            told = linalg.solve_triangular(factor, root[:, None] * _products(A, chosen), lower=True)
            self.between -= told.T @ told

    @property
    def variance(self) -> FloatArray:
        """Of each predictor."""
        return np.maximum(np.diagonal(self.between), _LEAST)

    def answer(self, place: int, curvature: float) -> None:
        """Take account of an answer to one of the rows, whatever it will be: its curvature is what is expected."""
        column = self.between[:, place].copy()
        self.between -= np.outer(column, column) / (max(column[place], _LEAST) + 1.0 / max(curvature, _LEAST))


def _products(left: csr_matrix, right: csr_matrix) -> FloatArray:
    return np.asarray((left @ right.T).todense(), dtype=np.float64)


def uncertainty(proba: FloatArray, exclusive: bool, measure: str = "margin") -> FloatArray:
    """How unsure each text's answer is, from 0 on; with many labels the sum over them.

    Parameters
    ----------
    proba : array (n_texts, n_labels)
        Of two exclusive classes there are two columns.
    exclusive : bool
    measure : {"margin", "entropy"}
        "margin": one less the distance between the two most probable classes, or between a label and its absence;
        "entropy": bits.

    Examples
    --------
    >>> uncertainty(np.array([[0.5, 0.5, 0.0], [0.9, 0.1, 0.0]]), True).round(3).tolist()
    [1.0, 0.2]
    """
    if measure == "entropy":
        return _entropy(proba) if exclusive else np.asarray(_binary_entropy(proba).sum(axis=1))
    if not exclusive:
        return np.asarray((1.0 - np.abs(2.0 * proba - 1.0)).sum(axis=1))
    ranked = np.partition(proba, -2, axis=1)
    return np.asarray(1.0 - (ranked[:, -1] - ranked[:, -2]))


def information(mean: FloatArray, variance: FloatArray, exclusive: bool) -> FloatArray:
    """Expected bits about the weights from the answer to each text: the mutual information of answer and weights.

    For one label it is E over y of the distance between posterior and prior, the online paper's criterion; many labels
    add up, as each has weights of its own; of exclusive classes the answer is one.

    Parameters
    ----------
    mean : array (n_texts, n_labels)
        Of the predictors (log-odds of each label).
    variance : array (n_texts,)
    exclusive : bool

    Examples
    --------
    >>> nothing, much = information(np.zeros((2, 1)), np.array([1e-9, 1e6]), False).round(2)
    >>> bool(nothing == 0.0), bool(much > 0.95)  # a bit at most
    (True, True)
    """
    spread = np.sqrt(variance)[:, None]
    if not exclusive:
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        weights = weights / weights.sum()
        proba = special.expit(mean[:, :, None] + spread[:, :, None] * nodes)
        gain = _binary_entropy(proba @ weights) - _binary_entropy(proba) @ weights
        return np.asarray(np.maximum(gain, 0.0).sum(axis=1))
    average, entropy = np.zeros(mean.shape), np.zeros(len(mean))
    draws = _normal_draws(mean.shape[1])
    for draw in draws:
        proba = normalise_classes(special.log_expit(mean + spread * draw))
        average += proba / len(draws)
        entropy += _entropy(proba) / len(draws)
    return np.maximum(_entropy(average) - entropy, 0.0)


@lru_cache(maxsize=4)
def _normal_draws(n_classes: int) -> FloatArray:
    """Quasi-random normal draws, the same whenever asked for, with their opposites, (64, n_classes)."""
    uniform = stats.qmc.Sobol(n_classes, scramble=True, seed=0).random_base2(_DRAWS)
    draws = special.ndtri(np.clip(uniform, 1e-9, 1.0 - 1e-9))
    return np.concatenate([draws, -draws])


def expected_error(
    mean: FloatArray, covariance: FloatArray, variance: FloatArray, others: FloatArray, exclusive: bool
) -> FloatArray:
    """Share of other texts expected to be wrong after the answer to each text: smaller is better, (n_texts,).

    Every answer is tried with its probability. It moves the predictors of the other texts by c(y − p'), with c the
    covariance and p' the text's own probability after the answer. The error of a text is one less the probability of
    its most probable class, of a label that of its less probable outcome.

    Parameters
    ----------
    mean : array (n_texts, n_labels)
    covariance : array (n_texts, n_others)
    variance : array (n_texts,)
    others : array (n_others, n_labels)
        Their predictors.
    exclusive : bool
    """
    proba = probabilities(mean, exclusive)
    if not exclusive:
        total = np.zeros(len(mean))
        for k in range(mean.shape[1]):
            p = proba[:, k]
            for y, chance in ((1.0, p), (-1.0, 1.0 - p)):
                moved = covariance * (y * _left_to_learn(y * mean[:, k], variance))[:, None]
                after = special.expit(others[:, k] + moved)
                total += chance * np.minimum(after, 1.0 - after).mean(axis=1)
        return total
    order = np.argsort(-proba, axis=1, kind="stable")[:, :_CLASSES]
    error, tried = np.zeros(len(mean)), np.zeros(len(mean))
    rows = np.arange(len(mean))
    other = -_left_to_learn(-mean, variance[:, None])
    for k in order.T:
        step = other.copy()
        step[rows, k] = _left_to_learn(mean[rows, k], variance)
        for i in rows:
            after = probabilities(others + covariance[i][:, None] * step[i], True)
            error[i] += proba[i, k[i]] * (1.0 - after.max(axis=1).mean())
        tried += proba[rows, k]
    return np.asarray(error / tried)


def _left_to_learn(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """1 − p' after a text has been found to have a label: the d in (0, 1) with d = 1 − expit(mean + variance·d)."""
    low, high = np.zeros(np.shape(mean)), np.ones(np.shape(mean))
    for _ in range(30):  # halvings
        middle = 0.5 * (low + high)
        short = middle < special.expit(-(mean + variance * middle))
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return 0.5 * (low + high)


def informative_batch(
    mean: FloatArray, covariance: Covariance, n: int, exclusive: bool
) -> tuple[list[int], FloatArray]:
    """Places of texts whose answers together tell most, one after the other, and the bits that each adds.

    What a text adds is its information given the answers to those before it: they make its variance smaller, so that a
    text like one of them adds little.
    """
    curvature = shared_curvature(probabilities(mean, exclusive))
    chosen: list[int] = []
    bits = []
    for _ in range(min(n, len(mean))):
        gain = information(mean, covariance.variance, exclusive)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
        bits.append(float(gain[chosen[-1]]))
        covariance.answer(chosen[-1], float(curvature[chosen[-1]]))
    return chosen, np.array(bits)


def corrective_batch(
    mean: FloatArray, covariance: Covariance, n_texts: int, n: int, exclusive: bool
) -> tuple[list[int], FloatArray]:
    """Places of texts after whose answers other texts are expected to have fewest errors, and by how much.

    Of the rows of the covariance the first ``n_texts`` may be chosen, the rest are those whose errors count. After each
    choice the gain of every text is multiplied by the share of its variance that is left.
    """
    candidates, others = mean[:n_texts], mean[n_texts:]
    proba = probabilities(others, exclusive)
    before = 1.0 - proba.max(axis=1).mean() if exclusive else np.minimum(proba, 1.0 - proba).mean(axis=0).sum()
    between = covariance.between
    variance = covariance.variance[:n_texts]
    gain = before - expected_error(candidates, between[:n_texts, n_texts:], variance, others, exclusive)
    gain -= min(gain.min(), 0.0)  # so that a smaller variance never makes more of it
    curvature = shared_curvature(probabilities(candidates, exclusive))
    chosen: list[int] = []
    found = []
    for _ in range(min(n, n_texts)):
        left = gain * covariance.variance[:n_texts] / variance
        left[chosen] = -1.0
        chosen.append(int(left.argmax()))
        found.append(float(left[chosen[-1]]))
        covariance.answer(chosen[-1], float(curvature[chosen[-1]]))
    return chosen, np.array(found)


def clusters(points: FloatArray, n: int, weight: FloatArray, seed: int = 0) -> tuple[IntArray, IntArray]:
    """Texts in groups by direction: the text nearest to the centre of each, and the group of every text.

    Weighted k-means of points of length one, from centres as far apart as k-means++ draws them.

    Parameters
    ----------
    points : array (n_texts, n_dimensions)
    n : int
        Groups; fewer come back where points coincide.
    weight : array (n_texts,)
        How much each text counts for the centres.
    seed : int

    Returns
    -------
    central : array of int
        Places of texts, one for each group.
    group : array (n_texts,)
    """
    rng = np.random.default_rng(seed)
    weight = np.maximum(weight, _LEAST)
    centres = points[[int(weight.argmax())]]
    distance = np.maximum(1.0 - points @ centres[0], 0.0)
    while len(centres) < min(n, len(points)) and (distance > 1e-9).any():
        share = weight * distance
        centres = np.vstack([centres, points[rng.choice(len(points), p=share / share.sum())]])
        distance = np.minimum(distance, np.maximum(1.0 - points @ centres[-1], 0.0))
    group = np.zeros(len(points), dtype=np.int64)
    for _ in range(_SWEEPS):
        closest = (points @ centres.T).argmax(axis=1)
        if (closest == group).all() and _:
            break
        group = closest
        for k in range(len(centres)):
            total = weight[group == k] @ points[group == k]
            length = np.linalg.norm(total)
            centres[k] = total / length if length > 0.0 else centres[k]
    similarity = points @ centres.T
    filled = np.unique(group)
    central = [int(np.where(group == k, similarity[:, k], -np.inf).argmax()) for k in filled]
    return np.array(central, dtype=np.int64), np.searchsorted(filled, group).astype(np.int64)


def directions(X: Any, n: int, seed: int = 0) -> FloatArray:
    """Texts in few dimensions, of length one: latent semantic analysis."""
    from sklearn.utils.extmath import randomized_svd

    n = max(min(n, min(X.shape) - 1), 1)
    left, values, _ = randomized_svd(X, n, n_iter=3, random_state=seed)
    points = np.asarray(left * values, dtype=np.float64)
    return np.asarray(points / np.maximum(np.linalg.norm(points, axis=1), _LEAST)[:, None])


def likeness(X: Any) -> FloatArray:
    """How much each text has in common with others, on average over them, as a multiple of what the usual text has."""
    total = np.asarray(X.sum(axis=0)).ravel()
    shared = np.asarray(X @ total).ravel() - np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(shared / max(float(np.median(shared)), _LEAST))


def _entropy(proba: FloatArray) -> FloatArray:
    return np.asarray(special.entr(proba).sum(axis=1) / _LN_2)


def _binary_entropy(proba: FloatArray) -> FloatArray:
    return np.asarray((special.entr(proba) + special.entr(1.0 - proba)) / _LN_2)

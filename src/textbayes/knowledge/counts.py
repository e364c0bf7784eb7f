"""A table of word priors as the prior of a count model: pseudo-counts and rates to expect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray
from textbayes.knowledge.match import Analyze, MatchedPriors, match_priors
from textbayes.knowledge.rows import WordPrior
from textbayes.knowledge.table import WordPriors

_MOST = 1e6  # pseudo-counts of a scale that is next to zero: nothing is left to learn
_LARGEST_LOG_RATIO = 100.0  # of rates: beyond it they leave the floats


class CountPriors(NamedTuple):
    """Priors of a count model, (n_classes, n_features), for ``make_count_model(name, **priors.settings())``.

    Words and labels that were not found are named.
    """

    pseudo_counts: FloatArray
    rate_means: FloatArray
    unknown_words: tuple[str, ...]
    unknown_labels: tuple[str, ...]

    def settings(self) -> dict[str, FloatArray]:
        """For models with gamma priors of their rates, ``poisson`` and ``negative_binomial``.

        The Dirichlet models take ``rate_means`` alone, which say how a word splits over the classes.
        """
        return {"pseudo_counts": self.pseudo_counts, "rate_means": self.rate_means}


def count_priors(
    priors: WordPriors | Iterable[WordPrior],
    vocabulary: Mapping[str, int] | Iterable[str],
    classes: Sequence[str],
    X: Any,
    lengths: ArrayLike | None = None,
    *,
    log_ratio: float = 1.0,
    pseudo_counts: float = 1.0,
    analyze: Analyze | None = None,
) -> CountPriors:
    """Turn a table of word priors into priors on how often documents of a class use each word.

    A mean m is taken for the logarithm of how many times more often the class uses the word than all documents do, so
    that the rate to expect is e^m times its rate in X; "for" and "against" are m = ±``log_ratio``. A scale s is the
    standard deviation of that logarithm: a gamma variable of shape 1/s² has it, so the prior is worth 1/s² occurrences.
    Families have no counterpart here; a sign without a mean counts as "for" or "against".

    Parameters
    ----------
    priors, vocabulary, analyze
        As for :func:`match_priors`.
    classes : the names of all classes, in the order of the model's
    X : counts (n_docs, n_features) of the training documents, for the rates that words have in general
    lengths : thousands of words of each document; the sums of X's rows unless given
    pseudo_counts : what the prior of every other word is worth, in occurrences

    Examples
    --------
    >>> X = np.array([[2, 1], [0, 1]])
    >>> table = [WordPrior("wheat", "grain", mean=2.0, scale=0.5)]
    >>> found = count_priors(table, ["wheat", "bank"], ["grain", "money"], X, lengths=[1.0, 1.0])
    >>> found.pseudo_counts.tolist(), (found.rate_means / [1.25, 1.25]).round(2).tolist()
    ([[4.0, 1.0], [1.0, 1.0]], [[7.39, 1.0], [1.0, 1.0]])
    """
    names = [str(name) for name in classes]
    if len(names) < 2:
        raise InputError(f"classes={list(classes)!r} are given; pass the names of all classes, two or more")
    matched = match_priors(priors, vocabulary, names, analyze)
    if X.shape[1] != matched.n_features:
        raise InputError(
            f"X has {X.shape[1]} features and the vocabulary {matched.n_features} terms; pass both of one kind"
        )
    if not (np.isfinite(log_ratio) and log_ratio > 0.0 and np.isfinite(pseudo_counts) and pseudo_counts > 0.0):
        raise InputError(f"log_ratio={log_ratio!r} and pseudo_counts={pseudo_counts!r} must be positive numbers")
    ratios, worth, rates = matched_count_priors(
        matched, X, lengths, np.ones(len(names)), log_ratio=log_ratio, pseudo_counts=pseudo_counts
    )
    return CountPriors(worth, rates * np.exp(ratios), matched.unknown_words, matched.unknown_labels)


def matched_count_priors(
    matched: MatchedPriors,
    X: Any,
    lengths: Any,
    weight: FloatArray,
    *,
    log_ratio: float = 1.0,
    pseudo_counts: float = 1.0,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """As :func:`count_priors`, of a table whose words and labels were found before, followed as far as ``weight``.

    Log-ratios and pseudo-counts (n_labels, n_features), and the rates (n_features,) that words have in general.

    Parameters
    ----------
    matched : MatchedPriors
    X : counts (n_docs, n_features)
        Those of the training documents.
    lengths : array (n_docs,) or None
        Thousands of words; the sums of X's rows unless given.
    weight : array (n_labels,)
        How far to follow the table, from 0 to 1.
    log_ratio, pseudo_counts : float
        As for :func:`count_priors`.
    """
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
    at, share = (matched.label, matched.column), weight[matched.label]
    ratios[at] = share * log_means
    told = np.isfinite(matched.scale)
    given = np.where(told, np.minimum(np.where(told, matched.scale, 1.0) ** -2.0, _MOST), pseudo_counts)
    worth[at] = given**share * pseudo_counts ** (1.0 - share)
    return ratios, worth, (totals + 0.5) / exposure

"""A model of ours beside the paper's, for the same 800 words: which of them a document has, and labels beyond doubt.

Four things differ from the paper's. A word counts by its presence, not by its weight: in unit-length TF-IDF a rare word
of a short document outweighs everything else. The prior is Gaussian with a scale of spread/(√p·s_j), s_j the standard
deviation of the word's column, so that no word has the larger say for being frequent, and the predictor of a document
has a prior standard deviation of about ``spread``, however many the words. There is an intercept. And a label is taken
for what it is: nobody doubts whether a book is one of chemistry, so it counts as what ``JUDGES`` who decide by the same
words would all say (``Gibbs(label_replicates=…)``). Without this the posterior of few documents says of every new one
that it may be anything, and averaged probabilities are too cautious.

As in the paper, the words of largest posterior mean, here in units of 1/s_j, are kept, and their model is fitted again.
A document is accepted at a probability of ``THRESHOLD``. All settings were chosen on ``published.OTHER_DOCUMENTS``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.links import make_link
from textbayes.priors.gaussian import Gaussian
from textbayes.reproduce.gibbs.sampling import Fit, Model, sample, top_words

THRESHOLD = 0.8  # accepting a document wrongly costs as much as missing four
RANKING_SPREAD, RANKING_INTERCEPT = 3.0, 30.0  # of a probit model of all words
JUDGES, SPREAD = 50, 2.0
TARGET_ESS = 100.0
_LOGIT = make_link("logit")


def column_spread(X: Any) -> FloatArray:
    """Standard deviation of each column of 0 and 1; at least that of a word that one document has."""
    n = X.shape[0]
    share = np.asarray(X.mean(axis=0)).ravel()
    return np.sqrt(np.maximum(share * (1.0 - share), (1.0 - 1.0 / n) / n) * n / (n - 1.0))


def even_prior(X: Any, spread: float) -> Gaussian:
    """Every word has the same say, and all of them together ``spread``."""
    return Gaussian(spread / (np.sqrt(X.shape[1]) * column_spread(X)))


def fit_presence_model(X: Any, y: BoolArray, random_state: int, draws: int | None = None) -> tuple[IntArray, Fit]:
    """Find the top words of training documents X (presence of words), and sample the model of these alone."""
    by_presence = Model(even_prior(X, RANKING_SPREAD), Gaussian(RANKING_INTERCEPT))
    ranking = sample(X, y, random_state, draws, by_presence, TARGET_ESS)
    top = top_words(ranking.mean * column_spread(X))
    few = X[:, top]
    agreed = Model(even_prior(few, SPREAD), Gaussian(SPREAD), _LOGIT, JUDGES)
    return top, sample(few, y, random_state, draws, agreed, TARGET_ESS)

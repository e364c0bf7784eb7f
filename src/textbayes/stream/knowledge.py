"""What a prior file says of words, as the prior of a filter's topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.categorizer.knowledge import match_knowledge, words_known
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray, IntArray
from textbayes.knowledge import WordPriors, table_prior
from textbayes.models.online import DiagonalPosterior, GaussianProcess, OnlineLikelihood
from textbayes.priors import make_prior
from textbayes.stream.settings import FilterSettings
from textbayes.stream.topic import POSTERIORS, start_posterior
from textbayes.stream.words import Lexicon, Rows, vectorizer_of


class KnownWords(NamedTuple):
    """Columns of the words that something is known of, ascending, and mean and standard deviation of their weights."""

    columns: IntArray
    mean: FloatArray
    scale: FloatArray


def known_words(
    table: WordPriors, names: Sequence[str], lexicon: Lexicon, weighed: Rows, settings: FilterSettings
) -> dict[str, KnownWords]:
    """What a table says of each topic; its words join the lexicon.

    Numbers of a table are weights at noise 1; at a hard threshold they are taken as they are.

    Parameters
    ----------
    table : WordPriors
    names : names of the topics
    lexicon : Lexicon
    weighed : Rows
        The training documents, which say how large "for" and "against" are.
    settings : FilterSettings
    """
    lexicon.add(words_known(table, vectorizer_of(settings.text, lexicon)))
    space = LabelSpace(np.array(sorted(names), dtype=object), "multilabel")
    matched = match_knowledge(table, vectorizer_of(settings.text, lexicon), space)
    likelihood = OnlineLikelihood(settings.link, settings.noise)
    X = sparse.csr_matrix((weighed.data, weighed.indices, weighed.indptr), shape=(weighed.n_docs, len(lexicon)))
    default = make_prior("gaussian", float(np.sqrt(settings.variance)))
    prior = table_prior(matched, default, X, link=likelihood.link)
    noise = likelihood.noise or 1.0
    found = {}
    for label in np.unique(matched.label).tolist():
        columns = np.unique(matched.column[matched.label == label])
        found[space.column_names[label]] = KnownWords(
            columns, noise * prior.mean[label, columns], noise * prior.scale[label, columns]
        )
    return found


def informed_posterior(settings: FilterSettings, words: IntArray, known: KnownWords) -> Any:
    """The prior over the weights of a topic's words, of which some are known."""
    if settings.covariance == "gp":
        process: GaussianProcess = start_posterior(settings, words)
        return process.observe(*known)
    order = np.argsort(words)
    at = order[np.searchsorted(words, known.columns, sorter=order)]
    mean, variance = np.zeros(len(words)), np.full(len(words), settings.variance)
    mean[at], variance[at] = known.mean, known.scale**2
    if settings.covariance == "diagonal":
        own = variance[:, None], settings.variance, mean[:, None]
        return DiagonalPosterior.start(len(words), 1, *own)
    kind = POSTERIORS[settings.covariance]
    return kind.start(words, variance=variance, bias_variance=settings.variance, mean=mean)

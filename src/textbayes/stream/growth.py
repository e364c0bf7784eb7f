"""Which words tell a topic apart: Dunning's likelihood ratio on the judgements of one topic (§ 2.3, § 4.2.1)."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.select import select_per_label
from textbayes.select.score_functions import log_likelihood_ratio
from textbayes.select.tables import PresenceTable
from textbayes.stream.topic import Topic
from textbayes.stream.words import Lexicon

NONE = np.zeros(0, dtype=np.int64)


def telling_words(topic: Topic, lexicon: Lexicon, threshold: float, most: int, least: int = 0) -> IntArray:
    """Columns, ascending, of words with −2 ln λ > threshold that are not the topic's yet; at most ``most``, the best.

    Where fewer than ``least`` of them are more frequent in relevant documents than in others, the best of such words
    are taken whatever their scores: with little evidence no score is high, but a topic without words is deaf.

    A word in none of the relevant documents has a score that rises with the documents it is in (the derivative is
    2 ln((N − b)/(N − b − R)) > 0 for b of N documents, R relevant), so of these only the frequent ones are looked at.
    """
    n_docs = lexicon.n_docs + topic.n_later
    if most < 1 or not 0 < topic.n_relevant < n_docs:
        return NONE
    relevant, later = (counts[: len(lexicon)] for counts in topic.counts.resized(len(lexicon)))
    with_word = lexicon.document_frequency + later
    looked_at = relevant > 0
    looked_at |= with_word >= _least_frequent(topic.n_relevant, n_docs, threshold)
    looked_at[topic.words] = False
    columns = np.flatnonzero(looked_at)
    scores = word_scores(relevant[columns], with_word[columns], topic.n_relevant, n_docs)
    above = scores > threshold
    if least:
        # As float64: products of counts leave the integers that counts are kept in.
        in_relevant, in_all = relevant[columns].astype(np.float64), with_word[columns].astype(np.float64)
        speak = in_relevant * n_docs > in_all * topic.n_relevant
        missing = least - int((above & speak).sum())
        rest = np.flatnonzero(speak & ~above)
        above[rest[np.argsort(-scores[rest], kind="stable")[: max(missing, 0)]]] = True
    return best_words(columns[above], scores[above], most)


def best_words(columns: IntArray, scores: FloatArray, most: int) -> IntArray:
    """Those of the columns, at most ``most``, with the highest scores."""
    if not len(columns):
        return NONE
    chosen = select_per_label(ScoreResult(scores[None, :], None), k=most)[0]
    return columns[chosen]


def word_scores(relevant: AnyArray, with_word: AnyArray, n_relevant: int, n_docs: int) -> FloatArray:
    """−2 ln λ of words in ``relevant`` of the relevant and ``with_word`` of all documents; 0 where nothing can be told.

    >>> word_scores(np.array([2, 0]), np.array([2, 4]), 2, 4).round(3)
    array([5.545, 0.   ])
    """
    a, total = np.asarray(relevant, dtype=np.float64), np.asarray(with_word, dtype=np.float64)
    b, c = total - a, n_relevant - a
    with np.errstate(divide="ignore", invalid="ignore"):  # empty margins, overwritten
        scores = log_likelihood_ratio(PresenceTable(a, b, c, n_docs - total - c))
    return np.where((total > 0) & (total < n_docs) & (0 < n_relevant < n_docs), scores, 0.0)


def _least_frequent(n_relevant: int, n_docs: int, threshold: float) -> int:
    """The fewest documents a word must be in, none of them relevant, to score above the threshold; by bisection."""
    low, high = 0, n_docs - n_relevant + 1  # scores at most the threshold; above it, or more than there are
    while high - low > 1:
        middle = (low + high) // 2
        score = word_scores(np.zeros(1), np.array([middle]), n_relevant, n_docs)[0]
        low, high = (low, middle) if score > threshold else (middle, high)
    return high

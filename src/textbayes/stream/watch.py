"""Which words begin to tell a topic apart, found after each judgement without looking at all words.

A judged document that lacks a word raises the word's −2 ln λ by at most −2 ln(1 − n/N), for n of N judged documents
with the word: the derivative of −2 ln λ in the cell of the document, o of a margin m with o ≤ m, is
2 ln(o/m · N/(N − n)). A word that is so far below the threshold that this takes k more documents need not be looked at
before, unless a judged document has it. So a judgement costs about the words of its document, however many the topic
has met.
"""

from __future__ import annotations

import numpy as np

from textbayes.core.types import AnyArray, IntArray
from textbayes.stream.growth import NONE, best_words, word_scores
from textbayes.stream.topic import Topic, WordPlaces
from textbayes.stream.words import Lexicon

_LEVELS = 24  # a word at level j is looked at when the number of judgements is a multiple of 2 to the j
_ROUNDING = 1e-6  # of scores: a word that is nearer to the threshold is looked at


class WordWatch:
    """The words of one topic that may join, each with the time when it is to be looked at again.

    What :meth:`joining` finds is what :func:`~textbayes.stream.growth.telling_words` finds, to the word. It holds
    nothing that cannot be found out anew: where counts are corrected or settings change, ``forget`` is enough.
    """

    def __init__(self) -> None:
        self.places = WordPlaces()
        self._level = np.zeros(0, dtype=np.int8)
        self.forget()

    def forget(self) -> None:
        """Look at every word next time."""
        self._waiting: list[list[AnyArray]] = [[] for _ in range(_LEVELS)]
        self._now = -1
        self._threshold = np.nan

    def joining(self, topic: Topic, lexicon: Lexicon, threshold: float, most: int, document: IntArray) -> IntArray:
        """Columns, ascending, of words above the threshold that are not the topic's yet; at most ``most``, the best.

        ``document`` has the columns of the one document judged since the last call.
        """
        if most < 1:  # no word can join, and the time that passes is not counted
            self.forget()
            return NONE
        if threshold != self._threshold:
            self.forget()
            self._threshold = threshold
        self._level = _at_least(self._level, len(lexicon))
        self._now += 1
        columns = self._due(topic, lexicon, document)
        n_docs = lexicon.n_docs + topic.n_later
        with_word = lexicon.document_frequency[columns] + topic.counts.later[columns]
        scores = word_scores(topic.counts.relevant[columns], with_word, topic.n_relevant, n_docs)
        below = scores <= threshold
        self._wait(columns[below], threshold - scores[below], with_word[below], n_docs)
        return best_words(columns[~below], scores[~below], most)

    def _due(self, topic: Topic, lexicon: Lexicon, document: IntArray) -> IntArray:
        if not self._now:
            columns = np.flatnonzero((lexicon.document_frequency + topic.counts.later[: len(lexicon)]) > 0)
            self._level[:] = -1
        else:
            due = [document.astype(np.int64)]
            for level in range(_LEVELS):
                if self._now % (1 << level):
                    break
                # Those that were looked at meanwhile wait elsewhere.
                due += [some[self._level[some] == level] for some in self._waiting[level]]
                self._waiting[level] = []
            columns = np.unique(np.concatenate(due))
        self._level[columns] = -1
        return columns[self.places.of(topic.words, columns) < 0]

    def _wait(self, columns: IntArray, missing: AnyArray, with_word: AnyArray, n_docs: int) -> None:
        with np.errstate(divide="ignore"):  # a word in all documents: anything may happen next
            growth = -2.0 * np.log1p(-with_word / n_docs)
            safe = np.floor(np.maximum(missing - _ROUNDING, 0.0) / growth)
        levels = np.clip(np.frexp(safe + 1.0)[1] - 1, 0, _LEVELS - 1).astype(np.int8)
        self._level[columns] = levels
        for level in np.unique(levels).tolist():
            self._waiting[level].append(columns[levels == level])


def _at_least(array: AnyArray, size: int) -> AnyArray:
    if size <= len(array):
        return array
    return np.concatenate([array, np.full(size + size // 4 - len(array), -1, dtype=array.dtype)])

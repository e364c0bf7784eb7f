"""Reuters-21578 as the paper has it: ModApte, 90 topics, ltc weights, and the words of each topic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, IntArray
from textbayes.data import Corpus, load_corpus
from textbayes.reproduce.texts import TextRules
from textbayes.select import scores
from textbayes.select.rules import select_per_label
from textbayes.text import TermWeighting

LEAST_RATIO, MOST_WORDS = 12.13, 300
_COMMON = 3  # documents that have a word of SVMa


class Collection(NamedTuple):
    """Weights (n_docs, n_words) and topics (n_docs, n_topics) of training and test documents.

    ``words`` are the columns of each topic's own words, ``common`` those that SVMa sees for every topic.
    """

    train: Any
    test: Any
    Y_train: BoolArray
    Y_test: BoolArray
    words: tuple[IntArray, ...]
    common: IntArray

    def of_topics(self, topics: IntArray) -> Collection:
        """The same documents with these topics alone."""
        return self._replace(
            Y_train=self.Y_train[:, topics],
            Y_test=self.Y_test[:, topics],
            words=tuple(self.words[topic] for topic in topics),
        )


class Reading(NamedTuple):
    """Choices that the paper leaves open: § 2.2 says that words were tokenised, stemmed and stopped, and no more.

    It says as well that unlabelled documents were removed, and counts 9,603 and 3,299, with which they are not.
    """

    text: TextRules = TextRules(stemmer="porter")
    labelled_only: bool = False


def r90(reading: Reading | None = None) -> Collection:
    """The 9,603 training and 3,299 test stories, or only those that carry one of the 90 topics: 7,770 and 3,019."""
    reading = reading or Reading()
    unlabelled = "drop" if reading.labelled_only else "keep"
    return collection(load_corpus("reuters21578", topics="r90", unlabelled=unlabelled), reading)


def held_out(corpus: Corpus | None = None, share: float = 1 / 3) -> Collection:
    """The training stories alone, the later share of them in place of the test stories.

    Words and weights are those of the earlier ones: nothing of what is held out is seen.
    """
    stories = (corpus or load_corpus("reuters21578", topics="r90", unlabelled="keep")).train
    n_earlier = len(stories) - round(share * len(stories))
    parts = ["train"] * n_earlier + ["test"] * (len(stories) - n_earlier)
    return collection(replace(stories, split=parts), Reading())


def collection(corpus: Corpus, reading: Reading) -> Collection:
    """Stemmed, stopped words (§ 2.2) with ltc weights; per topic at most 300 with −2 ln λ > 12.13 (§ 2.3, 4.1.1)."""
    train, test = reading.text.counts(corpus.train, corpus.test)
    Y_train, Y_test = (np.asarray(part.encode()[0], dtype=np.bool_) for part in (corpus.train, corpus.test))
    chosen = select_per_label(scores.get("likelihood_ratio")(train, Y_train), threshold=LEAST_RATIO, k=MOST_WORDS)
    common = np.flatnonzero(np.bincount(train.indices, minlength=train.shape[1]) >= _COMMON)
    weighting = TermWeighting("ltc").fit(train)
    words = tuple(np.flatnonzero(row) for row in chosen)
    return Collection(weighting.transform(train), weighting.transform(test), Y_train, Y_test, words, common)

"""Words that people favour or disfavour: what was said of each, what became of it, and whether the answers agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from textbayes.app.assignments import ReviewerQueue
from textbayes.app.live import LiveReview
from textbayes.core.errors import InputError
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.screen import Screening
from textbayes.screen.settings import MEDIUM
from textbayes.screen.solver import WIDE
from textbayes.screen.topic import IRRELEVANT, RELEVANT, ScreeningTopic
from textbayes.text.languages import load_stop_words
from textbayes.text.tokenize import tokenize

LONGEST_WORD = 200
MOST_PASTED = 200  # words taken of a protocol
_SURE = 0.05  # p-value of Fisher's test below which answers contradict a word


@dataclass(frozen=True)
class SaidWord:
    """A word that somebody favours or disfavours.

    Parameters
    ----------
    word : str
    direction : {"for", "against"}
    strength : {"weak", "medium", "strong"}
    prior, weight : float or None
        Its weight before any answer, and now; None where no record has it.
    low, high : float or None
        95 % of the posterior distribution of its weight.
    n_relevant, n_irrelevant : int
        Answered records that have it.
    conflict : bool
        Whether the answers contradict what was said of it (Fisher's exact test, one-sided, p < 0.05).
    """

    word: str
    direction: str
    strength: str
    prior: float | None
    weight: float | None
    low: float | None
    high: float | None
    n_relevant: int
    n_irrelevant: int
    conflict: bool


@dataclass(frozen=True)
class WordWeight:
    """A word of the model: its weight, and 95 % of its posterior distribution."""

    word: str
    weight: float
    low: float
    high: float


def say(review: LiveReview, reviewer: ReviewerQueue, word: str, direction: str, strength: str = MEDIUM) -> None:
    """Favour (``"for"``), disfavour (``"against"``) or ``"forget"`` a word; the queue is ranked anew at once.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
    word, direction : str
    strength : {"weak", "medium", "strong"}
        Half as large a weight as usual, the usual one, or twice that.
    """
    if len(word) > LONGEST_WORD or "\x00" in word:
        raise InputError(f"a word of {len(word)} characters cannot be used; give one of 1 to {LONGEST_WORD}")
    entry = review.screening.word(word, direction, reviewer.topic, strength)
    review.step(reviewer.user, lambda assignments: [entry])
    review.shown.clear()


def words_of_protocol(review: LiveReview, text: str) -> list[str]:
    """Words of a protocol that records have, the rarest first: what somebody may want to favour.

    Parameters
    ----------
    review : LiveReview
    text : str
    """
    from textbayes.text.packed import unpack

    collection = review.screening.collection
    tokens = tokenize([text[:100_000]], collection.vectorizer.token_pattern, True)
    vocabulary = collection.vectorizer.columns_by_term()
    common = set(load_stop_words("english"))
    known = [
        word
        for word in dict.fromkeys(unpack(tokens.names))
        if word in vocabulary and len(word) > 1 and word not in common
    ]
    frequency = collection.measure().present
    return sorted(known, key=lambda word: (int(frequency[vocabulary[word]]), word))[:MOST_PASTED]


def said_words(screening: Screening, topic: str) -> list[SaidWord]:
    """What was said of words, beside what was learnt.

    Parameters
    ----------
    screening : Screening
    topic : str
    """
    known = screening.topic(topic)
    return [_said(screening, known, word, direction) for word, direction in known.words.items()]


def strong_words(screening: Screening, topic: str, top: int = 30) -> list[WordWeight]:
    """The words with the largest weights, with intervals.

    Parameters
    ----------
    screening : Screening
    topic : str
    top : int
    """
    known = screening.topic(topic)
    weights = known.weights()[0]
    columns = np.argsort(-np.abs(weights), kind="stable")[:top]
    half_width = WIDE * known.word_standard_errors(columns)
    names = screening.collection.vectorizer.terms_of(columns)
    rows = zip(names, weights[columns].tolist(), half_width.tolist(), strict=True)
    return [WordWeight(name, weight, weight - by, weight + by) for name, weight, by in rows if weight != 0.0]


def _said(screening: Screening, known: ScreeningTopic, word: str, direction: str) -> SaidWord:
    table = WordPriors([WordPrior(word, known.name, direction)])
    strength = known.strengths.get(word, MEDIUM)
    columns, means = screening.collection.find_words(table, known.name, times=[known.times(word)])
    if not len(columns):
        return SaidWord(word, direction, strength, None, None, None, None, 0, 0, False)
    place = int(np.argmax(np.abs(means)))  # of a phrase the word that counts most stands for all
    column = columns[place : place + 1]
    weight = float(known.weights()[0][column[0]])
    half_width = float(WIDE * known.word_standard_errors(column)[0])
    has = np.zeros(len(known.answers), dtype=np.bool_)
    rows, _ = screening.collection.occurrences(int(column[0]))
    has[rows[rows < len(has)]] = True  # questions are below the records
    counts = [[int((known.answers[part] == said).sum()) for said in (RELEVANT, IRRELEVANT)] for part in (has, ~has)]
    side = "less" if direction == "for" else "greater"
    p = float(stats.fisher_exact(counts, alternative=side)[1])
    prior, (n_relevant, n_irrelevant) = float(means[place]), counts[0]
    return SaidWord(
        word,
        direction,
        strength,
        prior,
        weight,
        weight - half_width,
        weight + half_width,
        n_relevant,
        n_irrelevant,
        p < _SURE,
    )

"""Scoring by itself, as other programs need it: how texts are cut, what words weigh, how probabilities follow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray

Normalise = Literal["none", "softmax", "own"]
NO_WORD = "(?!)"  # a pattern that matches nowhere
TermWeight = Literal["raw", "binary", "log", "log2"]


@dataclass(frozen=True)
class TextReading:
    """How a text is cut into terms, step by step in the order of these parameters.

    Parameters
    ----------
    head : int or None
        Only the first line is read, and so many characters of it; None reads all.
    tidy : bool
        HTML entities are read as what they stand for.
    replace : tuple of (pattern, replacement)
    lowercase : bool
    runs : tuple of (unit, edge, shortest, longest)
        Runs of characters that match ``unit`` are read as n-grams of these, with ``edge`` on either side, and taken
        out; one shorter than ``shortest`` is one term if it has an edge.
    token : str
        The regular expression of a word, as Python's ``re`` reads it.
    stop_words : tuple of str
    stemmer : str or None
    ngrams : (shortest, longest)
        Of words.
    """

    head: int | None
    tidy: bool
    replace: tuple[tuple[str, str], ...]
    lowercase: bool
    runs: tuple[tuple[str, str, int, int], ...]
    token: str
    stop_words: tuple[str, ...] = ()
    stemmer: str | None = None
    ngrams: tuple[int, int] = (1, 1)

    @property
    def reads_words(self) -> bool:
        """Whether it looks for words, and not for characters alone."""
        return self.token != NO_WORD


@dataclass(frozen=True, eq=False)
class TermBlock:
    """Terms of one reading whose values, times weights, are added to the scores.

    Parameters
    ----------
    name : str
    reading : TextReading
    tf : {"raw", "binary", "log", "log2"}
        Value of a count n: n, 1, 1 + ln n or 1 + log₂ n; times the idf.
    cosine : bool
        Whether the values of a text are divided by their Euclidean length.
    terms : list of str
    idf : array (n_terms,)
    weights : array (n_columns, n_terms)
    """

    name: str
    reading: TextReading
    tf: TermWeight
    cosine: bool
    terms: list[str]
    idf: FloatArray
    weights: FloatArray

    @property
    def used(self) -> list[int]:
        """The terms that matter: one without a weight counts for the Euclidean length of a text alone."""
        n_terms = len(self.terms)
        return list(range(n_terms)) if self.cosine else np.flatnonzero(self.weights.any(axis=0)).tolist()


@dataclass(frozen=True, eq=False)
class DispersedBlock:
    """Terms of negative binomials: of mean ωμ and variance ωμ(1 + ωδ) in a text of ω thousand words.

    Parameters
    ----------
    name : str
    reading : TextReading
    terms : list of str
    rates, deltas : arrays (n_rows, n_terms)
        μ and δ of each class.
    rows : list of (column, factor)
        Where the log-likelihood of each class is added.
    """

    name: str
    reading: TextReading
    terms: list[str]
    rates: FloatArray
    deltas: FloatArray
    rows: list[tuple[int, float]]


class Hints(NamedTuple):
    """Second pass over what a first says of the other labels, see ``LabelStacking``."""

    slope: FloatArray
    offset: FloatArray
    hint: FloatArray


@dataclass(eq=False)
class Scoring:
    """All that the probabilities and decisions of a model are made of.

    Parameters
    ----------
    space : LabelSpace
    intercept, per_thousand, with_words : arrays (n_columns,)
        Scores of a text without words, what a thousand words add, known or not, and what having any adds.
    length : TextReading or None
        The terms that are such words; None where they add nothing.
    blocks : list of TermBlock
    dispersed : list of DispersedBlock
    hints : Hints or None
    link : {"logit", "probit"}
    normalise : {"none", "softmax", "own"}
        Probabilities of exclusive classes are a softmax of the scores, or of ``sharpness`` times the logarithms of each
        class's own probability; others are left as they are.
    sharpness : float
    thresholds : list of float or None
        A label is given where its probability is higher; None gives the likeliest class.
    least : float
        Probability that the likeliest class needs to be given.
    """

    space: LabelSpace
    intercept: FloatArray = field(init=False)
    per_thousand: FloatArray = field(init=False)
    with_words: FloatArray = field(init=False)
    length: TextReading | None = None
    blocks: list[TermBlock] = field(default_factory=list)
    dispersed: list[DispersedBlock] = field(default_factory=list)
    hints: Hints | None = None
    link: str = "logit"
    normalise: Normalise = "none"
    sharpness: float = 1.0
    thresholds: list[float] | None = None
    least: float = 0.0

    def __post_init__(self) -> None:
        n_columns = self.space.n_columns
        self.intercept, self.per_thousand, self.with_words = (np.zeros(n_columns) for _ in range(3))

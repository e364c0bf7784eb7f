"""How a fitted vectorizer cuts texts, in words that other programs can follow."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import NotSupportedError
from textbayes.export.scoring import NO_WORD, Reading, TermWeight
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.batches import LONGEST_HEAD
from textbayes.text.tokenize import PATTERN_NAMES, token_expression
from textbayes.text.unspaced import SCRIPTS
from textbayes.text.views import TextViews

_TERM_WEIGHTS: dict[str, TermWeight] = {"raw": "raw", "binary": "binary", "ltc": "log2"}


class ReadView(NamedTuple):
    """One view of a model: how it reads texts, its terms, and how it weighs them; columns begin at ``start``."""

    name: str
    reading: Reading
    vectorizer: TextVectorizer
    weighting: TermWeighting
    factor: float
    start: int

    @property
    def tf(self) -> TermWeight:
        """What becomes of a count; one where only presence was counted."""
        return "binary" if self.vectorizer.binary else _TERM_WEIGHTS.get(self.weighting.scheme, "log")


def read_views(model: TextCategorizer) -> list[ReadView]:
    """The views of a model, one where it has a single vectorizer; hashed words are refused.

    Parameters
    ----------
    model : fitted TextCategorizer
    """
    vectorizer, weighting = model.vectorizer_, model.weighting_
    if isinstance(vectorizer, TextViews):
        if not all(isinstance(one, TextVectorizer) for one in vectorizer.vectorizers_):
            raise NotSupportedError(
                "a model that reads sentence vectors cannot be exported, as these come of a sentence model; train it "
                "with --embeddings off"
            )
        parts = zip(vectorizer.views, vectorizer.vectorizers_, weighting.weightings_, vectorizer.bounds_, strict=False)
        return [
            ReadView(view.name, reading_of(one, view.part == "head"), one, weigh, view.factor, int(start))
            for view, one, weigh, start in parts
        ]
    if not isinstance(vectorizer, TextVectorizer):
        raise NotSupportedError(
            f"a model whose words are hashed ({type(vectorizer).__name__}) cannot be exported, as it does not know "
            "them; train it with a vocabulary (TextVectorizer)"
        )
    return [ReadView("words", reading_of(vectorizer), vectorizer, weighting, 1.0, 0)]


def reading_of(vectorizer: TextVectorizer, head: bool = False) -> Reading:
    """How a fitted vectorizer cuts texts.

    Parameters
    ----------
    vectorizer : TextVectorizer
    head : bool
        Whether it is shown first lines only.
    """
    low, high = vectorizer.ngram_range
    base = Reading(
        head=LONGEST_HEAD if head else None, tidy=False, replace=(), lowercase=bool(vectorizer.lowercase), runs=(),
        token=NO_WORD,
    )  # fmt: skip
    if vectorizer.analyzer == "char":
        return replace(base, replace=((r"\s\s+", " "),), runs=(("(?s:.)", "", low, high),))
    if vectorizer.analyzer == "char_wb":
        return replace(base, runs=((r"\S", " ", low, high),))
    named = vectorizer.token_pattern in PATTERN_NAMES
    runs = tuple((f"[{script.characters}]", "", low, high + script.more) for script in SCRIPTS)
    return replace(
        base,
        tidy=named,
        replace=(("’", "'"),) if named else (),
        runs=runs if vectorizer.analyzer == "mixed" else (),
        token=token_expression(vectorizer.token_pattern),
        stop_words=tuple(vectorizer.stop_words_),
        stemmer=vectorizer.stemmer,
        ngrams=(low, high),
    )


def all_words(vectorizer: TextVectorizer) -> Reading:
    """The terms that make up the length of a text: every word, and every character of a script without spaces.

    Parameters
    ----------
    vectorizer : TextVectorizer
        One that counts words; lengths of texts that are read as characters are refused.
    """
    if vectorizer.analyzer not in ("word", "mixed"):
        raise NotSupportedError(
            f"a count model of characters (analyzer={vectorizer.analyzer!r}) cannot be exported, as its texts have "
            "lengths in words; train it on words, or train a linear model"
        )
    reading = reading_of(vectorizer)
    runs = tuple((unit, edge, 1, 1) for unit, edge, _, _ in reading.runs)
    return replace(reading, runs=runs, stop_words=(), stemmer=None, ngrams=(1, 1))

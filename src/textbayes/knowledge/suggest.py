"""Suggestions for an unknown word: its stem, or a word that is written much like it."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import Any

from textbayes.knowledge.match import words_of

_CLOSE = 0.75  # of difflib's ratio: "wheet" is like "wheat" (0.8), "wheel" like "wheat" is not (0.6)


def suggested_words(word: str, vocabulary: Collection[str], vectorizer: Any = None, n: int = 3) -> list[str]:
    """Words of the vocabulary that may be meant, the stem as ``vectorizer`` makes it first.

    Parameters
    ----------
    word : str
        One that the vocabulary lacks.
    vocabulary : collection of str
    vectorizer : TextVectorizer, optional
        For its stemmer.
    n : int
        Suggestions at most.

    Examples
    --------
    >>> from textbayes.text import TextVectorizer
    >>> suggested_words("priced", ["price", "prized", "bank"], TextVectorizer(stemmer="porter"))
    ['price', 'prized']
    """
    stems = [] if vectorizer is None else [piece for piece in words_of(vectorizer)(word) if piece in vocabulary]
    close = difflib.get_close_matches(word.lower(), list(vocabulary), n, _CLOSE)
    return list(dict.fromkeys([*stems, *close]))[:n]


def did_you_mean(word: str, vocabulary: Collection[str], vectorizer: Any = None) -> str:
    """End of a message, such as "; did you mean 'price'?"; empty where no word is like it."""
    found = suggested_words(word, vocabulary, vectorizer)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""

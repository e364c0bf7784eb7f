"""Texts to numbers: counts of words and n-grams, hashed counts, weights.

>>> from textbayes.text import TermWeighting, TextVectorizer
>>> counts = TextVectorizer().fit_transform(["grain prices rise", "grain prices fall"])
>>> TermWeighting("ltc").fit_transform(counts).toarray().tolist()
[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textbayes.core.lazy import on_first_use
from textbayes.core.registry import Registry

if TYPE_CHECKING:
    from textbayes.text.hashing import HashingTextVectorizer as HashingTextVectorizer
    from textbayes.text.languages import Language as Language
    from textbayes.text.languages import detect_language as detect_language
    from textbayes.text.languages import load_stop_words as load_stop_words
    from textbayes.text.tokenize import SlowTokenPatternWarning as SlowTokenPatternWarning
    from textbayes.text.vectorize import TextVectorizer as TextVectorizer
    from textbayes.text.weight import TermWeighting as TermWeighting

# Modules by the name that they register. A vectorizer that is registered can be used by a ``TextCategorizer``.
vectorizers: Registry[Any] = Registry(
    "vectorizer",
    "textbayes.text",
    {
        "hashing": "textbayes.text.hashing",
        "sentences": "textbayes.text.sentences",
        "tokens": "textbayes.text.tokens",
        "views": "textbayes.text.views",
        "words": "textbayes.text.vectorize",
    },
)
weightings: Registry[Any] = Registry(
    "weighting",
    "textbayes.text",
    {"vectors": "textbayes.text.sentences", "views": "textbayes.text.views", "words": "textbayes.text.weight"},
)

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.text.hashing": ("HashingTextVectorizer",),
        "textbayes.text.languages": ("Language", "detect_language", "load_stop_words"),
        "textbayes.text.tokenize": ("SlowTokenPatternWarning",),
        "textbayes.text.vectorize": ("TextVectorizer",),
        "textbayes.text.weight": ("TermWeighting",),
    },
)

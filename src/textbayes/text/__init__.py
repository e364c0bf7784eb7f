"""Texts to numbers: counts of words and n-grams, hashed counts, weights.

>>> from textbayes.text import TermWeighting, TextVectorizer
>>> counts = TextVectorizer().fit_transform(["grain prices rise", "grain prices fall"])
>>> TermWeighting("ltc").fit_transform(counts).toarray().tolist()
[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
"""

from textbayes.text.hashing import HashingTextVectorizer
from textbayes.text.language import Language, detect_language
from textbayes.text.stopwords import load_stop_words
from textbayes.text.tokenize import SlowTokenPatternWarning
from textbayes.text.vectorize import TextVectorizer
from textbayes.text.weight import TermWeighting

__all__ = [
    "HashingTextVectorizer",
    "Language",
    "SlowTokenPatternWarning",
    "TermWeighting",
    "TextVectorizer",
    "detect_language",
    "load_stop_words",
]

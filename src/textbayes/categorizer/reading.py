"""How texts are read: the views in which they have words, and sentence vectors as one more view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.core.errors import InputError
from textbayes.core.progress import Progress
from textbayes.core.types import FloatArray
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.batches import check_each, head
from textbayes.text.languages import Language, detect_language
from textbayes.text.sentences import SentenceVectorizer, VectorWeighting, automatic_model
from textbayes.text.views import TextViews, View

_ENGLISH = ("the", "of", "and", "to", "is", "for", "with", "that")
_READ = 500  # characters of a text, for its language
_LOOKED_AT = 1_000  # texts, for what they look like
_HEADLINE = 0.3  # of its text at most, in characters, is a first line that stands for more
# With fewer, words that occur once are kept: they are most of what there is. Naive Bayes of two classes needs as many.
FEW_TEXTS = 100
WORD_SCHEMES = ("tfidf1", "binary")  # weights of plain words: the first is better for topics, the second for long texts
# Characters that "auto" reads at most with a sentence model: from seconds on a fast machine to some minutes on a slow
# one. Where texts are many, words say as much.
_MOST_CHARACTERS = {"quick": 0, "normal": 300_000, "thorough": 3_000_000}
_READ_BY_SENTENCES = 1_500  # characters of a text: some 256 tokens, after which the packaged model stops


def read_views(texts: Sequence[str], vectorizer: Any = None) -> tuple[TextViews, list[Any]]:
    """The views in which these texts have words, fitted, and counts of their words.

    Parameters
    ----------
    texts : sequence of str
    vectorizer : TextVectorizer, optional
        The words to use instead of the views that would be chosen.
    """
    check_each(texts)
    views: list[View] = []
    vectorizers, blocks = [], []
    for view in _views(texts, vectorizer):
        fitted = clone(view.vectorizer).set_output(transform="default")
        try:
            counts = fitted.fit_transform(view.read(texts))
        except InputError:  # no word, or none in two texts
            if views:
                continue
            if vectorizer is not None or fitted.min_df == 1:
                raise
            counts = fitted.set_params(min_df=1).fit_transform(view.read(texts))
        views.append(view)
        vectorizers.append(fitted)
        blocks.append(counts)
    return TextViews.of_fitted(views, vectorizers), blocks


def _views(texts: Sequence[str], vectorizer: Any) -> list[View]:
    if vectorizer is not None:
        return [View("words", vectorizer, TermWeighting(WORD_SCHEMES[0]))]
    language = language_of(texts)
    few, enough = len(texts) < FEW_TEXTS, len(texts) >= ENOUGH_TEXTS
    # Pairs and first lines of few texts repeat what single words say, and dilute it; pairs of stems, without the words
    # between them, do so longest. Scripts without spaces are read as runs of characters, and need those of several.
    single = few and language.spaced
    read: dict[str, Any] = {"analyzer": "mixed", "min_df": 1 if few else 2}
    words = plain_words().set_params(ngram_range=(1, 1) if single else (1, 2), min_df=read["min_df"])
    views = [View("words", words, TermWeighting(WORD_SCHEMES[0]))]
    if language.stemmer is not None:
        read |= {"ngram_range": (1, 2) if enough else (1, 1), "stop_words": language.stop_words}
        stemmer = "porter" if language.name == "english" else language.stemmer
        stems = TextVectorizer(token_pattern="words", stemmer=stemmer, **read)
        views.append(View("stem", stems, TermWeighting("tfidf1")))
        if enough and has_headlines(texts):
            views.append(View("head", clone(stems), TermWeighting("tfidf1"), part="head", factor=0.5))
    elif language.spaced:  # no stemmer: the beginnings and ends of words do as much
        parts = TextVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=read["min_df"])
        views.append(View("chars", parts, TermWeighting("tfidf1")))
    return views


def plain_words() -> TextVectorizer:
    """Reader of the first view: words of all letters, digits and the like, as they stand."""
    return TextVectorizer(token_pattern="all", analyzer="mixed")


def language_of(texts: Sequence[str]) -> Language:
    """The language of texts; English is known by its commonest words, without loading what knows all others."""
    some = texts[:: max(len(texts) // _LOOKED_AT, 1)]
    words = [word for text in some for word in text[:_READ].lower().split()]
    counts = Counter(words)
    if counts["the"] > 0.015 * len(words) and sum(counts[word] for word in _ENGLISH) > 0.06 * len(words):
        return Language("en", 1.0, "latin")
    return detect_language(texts)


def has_headlines(texts: Sequence[str]) -> bool:
    """Whether most texts begin with a line that is a small part of them."""
    some = texts[:: max(len(texts) // _LOOKED_AT, 1)]
    return bool(np.mean([len(head(text)) <= _HEADLINE * len(text) for text in some]) > 0.5) if some else False


def sentence_model(embeddings: Any, budget: str, own_words: bool, texts: Sequence[str]) -> tuple[Any, bool]:
    """The sentence model to try, None for none, and whether reading the texts with it takes too long.

    Parameters
    ----------
    embeddings : "auto", "off" or None, name or folder
        As for ``TextCategorizer``.
    budget : {"quick", "normal", "thorough"}
    own_words : bool
        Whether a vectorizer was given.
    texts : sequence of str
    """
    if embeddings is None or embeddings == "off":
        return None, False
    if embeddings != "auto":
        return embeddings, False
    most = _MOST_CHARACTERS[budget]
    if not most or own_words:
        return None, False
    return automatic_model(), sum(min(len(text), _READ_BY_SENTENCES) for text in texts) > most


def with_sentences(
    views: TextViews, blocks: list[Any], texts: Sequence[str], model: Any, report: Progress
) -> tuple[TextViews, list[Any]]:
    """The views, and the matrices of the texts, with that of sentence vectors behind the others.

    Parameters
    ----------
    views, blocks : TextViews, list of CSR matrix
    texts : sequence of str
    model : str or path
        The sentence model.
    report : Progress
    """
    vectorizer = SentenceVectorizer(model)
    vectors = vectorizer.fit_transform(texts, report=report)
    view = View("embedding", SentenceVectorizer(model), VectorWeighting())
    return TextViews.of_fitted([*views.views, view], [*views.vectorizers_, vectorizer]), [*blocks, vectors]


def text_lengths(texts: Sequence[str], counts: Any, vectorizer: Any, used: bool) -> FloatArray:
    """Lengths of texts in thousands of words; the sums of their counts where no model asks, or words are hashed.

    Parameters
    ----------
    texts : sequence of str
    counts : CSR matrix (n_docs, n_features)
    vectorizer : fitted vectorizer
    used : bool
        Whether a model asks for them.
    """
    if used and isinstance(vectorizer, TextVectorizer | TextViews):
        return vectorizer.document_lengths(texts)
    return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel() / 1000.0

"""Stories as word counts and topics, for the papers that say how they read them, or leave it open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textbayes.core.types import BoolArray

if TYPE_CHECKING:
    from textbayes.data import Corpus


class TextRules(NamedTuple):
    """Rules that turn stories into words.

    By default runs of two or more letters and digits of headline and body, in lower case, without the words of the
    SMART list, not stemmed.
    """

    pattern: str | None = None
    stop_words: str | None = "smart"
    stemmer: str | None = None
    headline: bool = True

    def counts(self, train: Corpus, test: Corpus) -> tuple[Any, Any]:
        """Count the words that the training stories have, in these and in the test stories."""
        from textbayes.text import TextVectorizer
        from textbayes.text.tokenize import DEFAULT_PATTERN

        vectorizer = TextVectorizer(
            token_pattern=self.pattern or DEFAULT_PATTERN, stop_words=self.stop_words, stemmer=self.stemmer
        )
        texts = [part.texts if self.headline else list(map(_body, part.texts)) for part in (train, test)]
        return vectorizer.fit_transform(texts[0]), vectorizer.transform(texts[1])


def _body(text: str) -> str:
    """A story without its first line, which is the headline unless it is all there is."""
    return text.partition("\n")[2] or text


def indicator(labels: Iterable[Sequence[str]], topics: Sequence[str]) -> BoolArray:
    """Return which of the topics each document has, (n_docs, n_topics)."""
    return np.array([[topic in row for topic in topics] for row in map(set, labels)], dtype=np.bool_)

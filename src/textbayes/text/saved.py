"""Schemas of what a model file says of its vectorizer and its weighting: one line for each field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from textbayes.core.saved import Saved, Share, SortedTexts, Text, WholeFrom1
from textbayes.text.base import LONGEST_NGRAM
from textbayes.text.linear_pattern import LONGEST_PATTERN, why_not_linear

_Length = Annotated[int, Field(ge=1, le=LONGEST_NGRAM)]


class TextParameters(Saved):
    """Saved parameters of every text vectorizer."""

    analyzer: Literal["word", "char", "char_wb"]
    ngram_range: Annotated[list[_Length], Field(min_length=2, max_length=2)]
    lowercase: bool
    token_pattern: Annotated[Text, Field(max_length=LONGEST_PATTERN)]
    stop_words: Text | SortedTexts | None
    stemmer: Text | None
    binary: bool

    @field_validator("token_pattern")
    @classmethod
    def _linear(cls, pattern: str) -> str:
        reason = why_not_linear(pattern)
        if reason is not None:
            raise ValueError(f"it may take for ever on some texts ({reason})")
        return pattern

    @model_validator(mode="after")
    def _together(self) -> Any:
        if self.ngram_range[0] > self.ngram_range[1]:
            raise ValueError("ngram_range goes from the shortest to the longest")
        return self

    def arguments(self, stop_words: list[str]) -> dict[str, Any]:
        """Arguments of the vectorizer. A stop word file is never looked for again: its words are in the model."""
        given = self.stop_words
        if isinstance(given, str) and given not in ("english", "smart"):
            given = stop_words
        return {**dict(self), "ngram_range": tuple(self.ngram_range), "stop_words": given}


class VectorizerParameters(TextParameters):
    """Saved parameters of a ``TextVectorizer``."""

    min_df: WholeFrom1 | Share
    max_df: WholeFrom1 | Share
    max_features: WholeFrom1 | None


class HashingParameters(TextParameters):
    """Saved parameters of a ``HashingTextVectorizer``."""

    n_features: WholeFrom1
    alternate_sign: bool
    n_names: Annotated[int, Field(ge=1, le=1000)]


class _SavedText(Saved):
    params: TextParameters
    stop_words: SortedTexts

    @model_validator(mode="after")
    def _together(self) -> Any:
        if self.params.stop_words is None and self.stop_words:
            raise ValueError("stop words were left out although none were asked for")
        return self


class SavedVectorizer(_SavedText):
    """A fitted ``TextVectorizer`` beside its terms."""

    params: VectorizerParameters
    fixed_vocabulary: bool


class SavedHashing(_SavedText):
    """A ``HashingTextVectorizer`` beside its names."""

    params: HashingParameters


class WeightingParameters(Saved):
    """Saved parameters of a ``TermWeighting``."""

    scheme: Literal["raw", "binary", "log", "ltc", "tfidf", "tfidf1"]
    norm: Literal["cosine"] | None


class SavedWeighting(Saved):
    """A fitted ``TermWeighting`` beside its idf."""

    params: WeightingParameters
    n_docs: WholeFrom1

"""Schemas of what a model file says of its vectorizer and its weighting: one line for each field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from textbayes.core.saved import Saved, Share, SortedTexts, Text, WholeFrom1
from textbayes.text.analyze import LONGEST_NGRAM
from textbayes.text.languages import is_list_name
from textbayes.text.linear_pattern import LONGEST_PATTERN, why_not_linear

_Length = Annotated[int, Field(ge=1, le=LONGEST_NGRAM)]


def _linear(pattern: str) -> str:
    reason = why_not_linear(pattern)
    if reason is not None:
        raise ValueError(f"it may take for ever on some texts ({reason})")
    return pattern


LinearPattern = Annotated[Text, Field(max_length=LONGEST_PATTERN), AfterValidator(_linear)]


class TextParameters(Saved):
    """Saved parameters of every text vectorizer."""

    analyzer: Literal["word", "char", "char_wb", "mixed"]
    ngram_range: Annotated[list[_Length], Field(min_length=2, max_length=2)]
    lowercase: bool
    token_pattern: LinearPattern
    stop_words: Text | SortedTexts | None
    stemmer: Text | None
    binary: bool

    @model_validator(mode="after")
    def _together(self) -> Any:
        if self.ngram_range[0] > self.ngram_range[1]:
            raise ValueError("ngram_range goes from the shortest to the longest")
        return self

    def arguments(self, stop_words: list[str]) -> dict[str, Any]:
        """Arguments of the vectorizer. A stop word file is never looked for again: its words are in the model."""
        given = self.stop_words
        if isinstance(given, str) and not is_list_name(given):
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


class VectorParameters(Saved):
    """Saved parameters of a ``VectorWeighting``."""

    scheme: Literal["vector"]
    norm: None


class SavedVectorWeighting(Saved):
    """A fitted ``VectorWeighting``."""

    params: VectorParameters
    n_docs: WholeFrom1


class SentenceParameters(Saved):
    """Saved name of a sentence model."""

    model: Annotated[Text, Field(min_length=1, max_length=200)]


class SavedSentences(Saved):
    """A fitted ``SentenceVectorizer``: the sentence model itself is not in the file."""

    params: SentenceParameters
    fingerprint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    width: Annotated[int, Field(ge=1, le=2**16)]


_Factor = Annotated[float, Field(gt=0.0, le=1e6, allow_inf_nan=False)]


class SavedView(Saved):
    """One view of ``TextViews``; its vectorizer is read by itself."""

    name: Annotated[Text, Field(min_length=1, max_length=40)]
    part: Literal["text", "head"]
    factor: _Factor
    weighting: WeightingParameters | VectorParameters
    words: dict[str, Any]
    reads: Literal["words", "sentences"] = "words"

    @model_validator(mode="after")
    def _together(self) -> Any:
        if (self.reads == "sentences") != (self.weighting.scheme == "vector"):
            raise ValueError("sentence vectors, and they alone, are not weighed")
        return self


class SavedViews(Saved):
    """Fitted ``TextViews`` beside the terms of each."""

    views: Annotated[list[SavedView], Field(min_length=1, max_length=20)]
    # Arrays go by the number of a view: views that changed places would have each other's terms.
    order: list[Text] | None = None

    @model_validator(mode="after")
    def _together(self) -> Any:
        if self.order not in (None, [view.name for view in self.views]):
            raise ValueError("the views stand in another order than their terms")
        if self.views[0].reads != "words":
            raise ValueError("the first view must be one of words")
        return self


class SavedViewsWeighting(Saved):
    """A fitted ``ViewsWeighting`` beside the idf of each view."""

    blocks: Annotated[list[SavedWeighting | SavedVectorWeighting], Field(min_length=1, max_length=20)]
    factors: Annotated[list[_Factor], Field(min_length=1, max_length=20)]

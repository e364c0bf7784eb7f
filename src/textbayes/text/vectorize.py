"""Texts to a matrix of counts, one column for each term of a learnt vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import NotFittedError

from textbayes.core.codec import Fields
from textbayes.core.errors import InputError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.text import vectorizers
from textbayes.text.analyze import (
    Analysis,
    TextOptions,
    analyze,
    columns_to_csr,
    count_tokens,
    counts_matrix,
    frequencies,
)
from textbayes.text.base import BaseTextVectorizer, as_configured
from textbayes.text.batches import check_texts
from textbayes.text.languages import StopWords
from textbayes.text.packed import Packed, SortedStrings, sort_order, take, unpack
from textbayes.text.tokenize import DEFAULT_PATTERN
from textbayes.text.vocabulary import WORDS, WORDS_FOUND, Vocabulary, check_terms, fixed_terms

_NO_DOCUMENT = "no document was given; a vocabulary needs at least one with words in it"


@vectorizers.register("words")
class TextVectorizer(BaseTextVectorizer):
    r"""Count the words, or the word or character n-grams, of each text.

    The matrix and the vocabulary are those of scikit-learn's ``CountVectorizer`` with the same settings, several times
    faster: a compiled kernel reads the texts' bytes, and Python sees each distinct word once. In order: lower case,
    tokens, stop words out, stems, n-grams of what remains.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb", "mixed"}, default="word"
        What n-grams are made of: words; characters, after two or more white-space characters became one space; or the
        characters of each word between white space, with a space on either side. "mixed" is "word" that reads Chinese,
        Japanese, Thai, Lao, Burmese and Khmer, which put no spaces between words, as overlapping n-grams of characters:
        with ``ngram_range=(n, m)`` of n to m + 1 characters, of n to m + 2 in the alphabets of South-East Asia.
    ngram_range : tuple (shortest, longest), default=(1, 1)
    lowercase : bool, default=True
        As ``str.lower`` does, for every script.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        What a word is. Runs of one class of characters are fast: ``\w+``, ``\b\w\w+\b``, ``[a-z]{3,}``,
        ``\b[a-zA-Z]{2,}\b``, ``\b[^\W\d_]+\b`` and the like. Any other pattern is left to Python's ``re``, with a
        :class:`SlowTokenPatternWarning` when fitting. "words" (two letters or more), "all" (single letters, digits,
        ``!``, ``?`` and emoji too) and "tweets" (#hashtags, @mentions, "don't" and emoticons as well) are names of
        patterns that hold words with vowel signs and accents together and read "&amp;" as "&".
    stop_words : None, "smart", a language such as "german" or "de", path or iterable of str, default=None
        Words to leave out, compared before stemming; see :func:`load_stop_words`. They are lower-cased and split like
        the texts: with the default pattern "don't" takes out "don".
    stemmer : None or str, default=None
        "porter", or a Snowball language such as "english", "german" or "de". Each distinct word is stemmed once.
    min_df, max_df : int or float in [0, 1], default=1 and 1.0
        Leave out terms in fewer, or more, documents than this number or proportion.
    max_features : int, default=None
        Keep that many terms, those with the most occurrences.
    binary : bool, default=False
        1 for every term that occurs.
    vocabulary : mapping of term to column, or iterable of terms, default=None
        Count these terms only, as they are after stemming; ``min_df``, ``max_df`` and ``max_features`` do not apply.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each term; columns are in the order of the sorted terms unless ``vocabulary`` says otherwise.
    stop_words_ : tuple of str
        The tokens left out as stop words.

    Notes
    -----
    Fitting and transforming take O(bytes) time, on all cores for texts of more than two million characters. The result
    does not depend on the number of cores.

    Examples
    --------
    >>> texts = ["Grain prices rise", "Grain stocks and grain prices fall"]
    >>> vectorizer = TextVectorizer(stop_words="english", stemmer="porter")
    >>> vectorizer.fit_transform(texts).toarray().tolist()
    [[0, 1, 1, 1, 0], [1, 2, 1, 0, 1]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['fall', 'grain', 'price', 'rise', 'stock']
    >>> vectorizer.document_lengths(texts).tolist()  # thousands of words
    [0.003, 0.006]
    """

    name: ClassVar[str] = "words"
    fields: ClassVar[Fields] = WORDS
    learnt: ClassVar[Fields] = WORDS_FOUND

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        token_pattern: str = DEFAULT_PATTERN,
        stop_words: StopWords = None,
        stemmer: str | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        binary: bool = False,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.token_pattern = token_pattern
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.binary = binary
        self.vocabulary = vocabulary

    @all_or_nothing
    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Learn the vocabulary of the texts."""
        self._warn_if_slow()
        self._fit(texts)
        return self

    @all_or_nothing
    def fit_transform(self, texts: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Learn the vocabulary of the texts and count its terms, reading them once."""
        self._warn_if_slow()
        analysis, column_of_term = self._fit(texts)
        return as_configured(self, self._matrix(analysis, column_of_term), texts)

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Count the vocabulary's terms: a CSR matrix (n_docs, n_features) of int64 with sorted columns."""
        options = self._fitted()
        counts = self._vocabulary.count(check_texts(texts), options)
        return as_configured(self, counts_matrix(*counts, self._vocabulary.terms.n_strings, self.binary), texts)

    def document_lengths(self, texts: Any) -> FloatArray:
        """Document lengths ω in thousands of words.

        Of texts: every token that ``token_pattern`` finds, stop words and words outside the vocabulary too, whatever
        the analyzer; with "mixed" each character of a script without spaces is one more. Of a matrix of counts: the sum
        of each row, which is less (words that were left out are not in it) unless it counts n-grams, which are more.
        """
        if sparse.issparse(texts) or (isinstance(texts, np.ndarray) and texts.dtype.kind in "biuf"):
            return np.asarray(texts.sum(axis=1), dtype=np.float64).ravel() / 1000.0
        analyzer = "mixed" if self.analyzer == "mixed" else "word"
        options = TextOptions(analyzer, token_pattern=self.token_pattern, lowercase=bool(self.lowercase))
        return count_tokens(check_texts(texts), options) / 1000.0

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:
        """The terms by column."""
        self._fitted()
        names = np.empty(self._vocabulary.terms.n_strings, dtype=object)
        names[:] = unpack(self._vocabulary.terms)
        return names

    def terms_of(self, columns: IntArray) -> list[str]:
        """The terms of some columns, without a list of all."""
        self._fitted()
        return unpack(take(self._vocabulary.terms, columns))

    def columns_by_term(self) -> Mapping[str, int]:
        """As ``vocabulary_``, for a few questions: terms are looked up where they stand, no dictionary is made."""
        self._fitted()
        return SortedStrings(self._vocabulary.terms) if self.vocabulary is None else self.vocabulary_

    def add_terms(self, terms: Iterable[str]) -> TextVectorizer:
        """Widen the fitted vocabulary by terms that its texts need not have; columns are in sorted order again."""
        self._vocabulary = Vocabulary(fixed_terms(sorted(set(self.vocabulary_).union(terms))))
        return self

    @property
    def vocabulary_(self) -> dict[str, int]:
        if not hasattr(self, "_vocabulary"):
            raise AttributeError("this TextVectorizer has no vocabulary yet; call fit first")
        return self._vocabulary.columns

    def check_state(self) -> None:
        super().check_state()
        self._check_parameters()
        if hasattr(self, "_vocabulary"):
            check_terms(self._vocabulary, self.vocabulary)
            self._fitted()

    def fitted(self) -> tuple[TextOptions, Vocabulary]:
        """How texts are read, and the terms by column."""
        return self._fitted(), self._vocabulary

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_vocabulary")

    def _fit(self, texts: Iterable[str]) -> tuple[Analysis, AnyArray]:
        texts = check_texts(texts)
        options = self._text_options()
        fixed = None if self.vocabulary is None else fixed_terms(self.vocabulary)
        self._check_parameters()
        analysis = analyze(texts, options)
        if not analysis.n_docs:
            raise InputError(_NO_DOCUMENT)
        if fixed is not None:
            vocabulary = Vocabulary(fixed)
            column_of_term = vocabulary.find(analysis.terms)
        else:
            vocabulary, column_of_term = self._choose(analysis.terms, analysis.n_docs, lambda: frequencies(analysis))
        self.stop_words_ = options.stop_words
        self._vocabulary = vocabulary
        return analysis, column_of_term

    def fit_terms(self, terms: Packed, n_docs: int, documents: IntArray, occurrences: IntArray) -> AnyArray:
        """Learn the vocabulary from terms that were counted before, a part of the texts at a time.

        Parameters
        ----------
        terms : Packed
            The distinct terms of all texts (:meth:`count_terms`), in any order.
        n_docs : int
        documents, occurrences : arrays (n_terms,)
            Number of texts that have each term, and of its occurrences in all texts.

        Returns
        -------
        array (n_terms,)
            The column of each term, −1 for those that are left out.
        """
        self._check_parameters()
        if not n_docs:
            raise InputError(_NO_DOCUMENT)
        if self.vocabulary is not None:
            vocabulary = Vocabulary(fixed_terms(self.vocabulary))
            column_of_term = vocabulary.find(terms)
        else:
            vocabulary, column_of_term = self._choose(terms, n_docs, lambda: (documents, occurrences))
        self.stop_words_ = self._text_options().stop_words
        self._vocabulary = vocabulary
        return column_of_term

    def count_terms(self, texts: Iterable[str]) -> tuple[Packed, sparse.csr_matrix]:
        """The distinct terms of some texts before any is left out, and their counts, (n_docs, n_terms) of int64."""
        analysis = analyze(check_texts(texts), self._text_options())
        n_terms = analysis.terms.n_strings
        counts = columns_to_csr(analysis.pieces, np.arange(n_terms))
        return analysis.terms, counts_matrix(*counts, n_terms, self.binary)

    def _choose(
        self, terms: Packed, n_docs: int, counted: Callable[[], tuple[IntArray, IntArray]]
    ) -> tuple[Vocabulary, AnyArray]:
        """The vocabulary, and the column of each term."""
        chosen = self._chosen(terms, n_docs, counted)
        column_of_term = np.full(terms.n_strings, -1, dtype=np.int32)
        column_of_term[chosen] = np.arange(len(chosen), dtype=np.int32)
        return Vocabulary(take(terms, chosen)), column_of_term

    def _check_parameters(self) -> None:
        _check_frequency("min_df", self.min_df)
        _check_frequency("max_df", self.max_df)
        if self.max_features is not None and not (_is_integer(self.max_features) and self.max_features >= 1):
            raise InputError(f"max_features={self.max_features!r} is not usable; pass None or a positive integer")

    def _chosen(self, terms: Packed, n_docs: int, counted: Callable[[], tuple[IntArray, IntArray]]) -> IntArray:
        """The terms to keep, sorted."""
        n_terms = terms.n_strings
        if not n_terms:
            raise InputError(
                f"the {n_docs} document(s) hold no term: they are empty, or token_pattern={self.token_pattern!r} and "
                f"stop_words leave nothing; check the texts, or relax these"
            )
        least = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_docs
        most = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_docs
        if most < least:
            raise InputError(
                f"min_df={self.min_df} asks for more of the {n_docs} document(s) than max_df={self.max_df} allows; "
                "lower min_df or raise max_df"
            )
        order = sort_order(terms)
        if least <= 1 and most >= n_docs and self.max_features is None:
            return order
        documents, occurrences = counted()
        kept = order[(documents[order] >= least) & (documents[order] <= most)]
        if self.max_features is not None and len(kept) > self.max_features:
            size = documents[kept] if self.binary else occurrences[kept]
            # Not a stable sort: among equal frequencies CountVectorizer keeps what this very call puts first.
            kept = kept[np.sort((-size).argsort()[: self.max_features])]
        if not len(kept):
            raise InputError(
                f"min_df={self.min_df} and max_df={self.max_df} leave none of the {n_terms} terms of {n_docs} "
                "document(s); lower min_df or raise max_df"
            )
        return kept

    def _fitted(self) -> TextOptions:
        """Options with the stop words found when fitting; a fixed vocabulary needs no fitting."""
        if not hasattr(self, "_vocabulary"):
            if self.vocabulary is None:
                raise NotFittedError("this TextVectorizer has no vocabulary yet; call fit first or pass vocabulary=")
            self.stop_words_ = self._text_options().stop_words
            self._vocabulary = Vocabulary(fixed_terms(self.vocabulary))
        return self._text_options(self.stop_words_)

    def _matrix(self, analysis: Analysis, column_of_term: AnyArray) -> sparse.csr_matrix:
        counts = columns_to_csr(analysis.pieces, column_of_term)
        return counts_matrix(*counts, self._vocabulary.terms.n_strings, self.binary)


def _check_frequency(name: str, value: Any) -> None:
    if _is_integer(value):
        sound = value >= 1
    else:
        sound = isinstance(value, Real) and not isinstance(value, bool) and 0.0 <= float(value) <= 1.0
    if not sound:
        raise InputError(
            f"{name}={value!r} is not usable; pass a number of documents from 1 on (an int) or a proportion in [0, 1] "
            "(a float)"
        )


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))

"""Texts to a matrix of counts without a vocabulary: columns are hashes of terms, for streams that never end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.array_fields import saved_array
from textbayes.core.codec import ABSENT, Arrays, Field, Fields, Flag, Sizes, Whole
from textbayes.core.errors import InputError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.types import AnyArray
from textbayes.text import vectorizers
from textbayes.text.analyze import Analysis, TextOptions, analyze, columns_to_csr, counts_matrix, frequencies
from textbayes.text.base import BaseTextVectorizer, as_configured
from textbayes.text.batches import check_texts
from textbayes.text.languages import StopWords
from textbayes.text.packed import Strings, unpack
from textbayes.text.tokenize import DEFAULT_PATTERN

_LONGEST_NAME = 100  # characters kept of a term's name


class _NamesTable(Field):
    """Names of columns with their counts, column by column, as one array for each."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)

    def is_meant(self, saved: Any) -> bool:
        return saved is ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        rows = [(column, name, n) for column, names in value.items() for name, n in names.items()]
        columns, names, counts = zip(*rows, strict=True) if rows else ((), (), ())
        Strings().write(names, f"{place}.names", arrays)
        arrays[f"{place}.columns"] = np.array(columns, dtype=np.int64)
        arrays[f"{place}.counts"] = np.array(counts, dtype=np.int64)
        return ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        names = Strings().read(saved, f"{place}.names", arrays, sizes)
        n_names = (len(names),)
        columns = saved_array(arrays, f"{place}.columns", np.int64, n_names, least=0, most=2**30 - 1).tolist()
        counts = saved_array(arrays, f"{place}.counts", np.int64, n_names, least=1, most=2.0**62).tolist()
        table: dict[int, dict[str, int]] = {}
        for name, column, n in zip(names, columns, counts, strict=True):
            table.setdefault(column, {})[name] = n
        if sum(map(len, table.values())) < len(names):
            raise ValueError("the names table has a name twice")
        return table


@vectorizers.register("hashing")
class HashingTextVectorizer(BaseTextVectorizer):
    r"""Count terms in columns given by a hash, with a table of the terms seen most in each column.

    The column of a term is ``abs(h) mod n_features``, h its 32-bit MurmurHash3 as a signed integer, the same in every
    process and in scikit-learn's ``HashingVectorizer(norm=None)``. Nothing need be fitted; fitting fills the names
    table, so that explanations can show words.

    Parameters
    ----------
    n_features : int, default=2**20
        Number of columns, a power of two up to 2**30.
    alternate_sign : bool, default=False
        Count terms with h < 0 as −1, so that terms in one column cancel in expectation (Weinberger et al. 2009).
    n_names : int, default=2
        How many names are kept for each column.
    analyzer, ngram_range, lowercase, token_pattern, stop_words, stemmer, binary
        As in :class:`TextVectorizer`. With ``binary`` every stored value is 1, the sign too.

    Notes
    -----
    The names of a column are counted by the rule of Misra and Gries: a term that finds no room takes its count off the
    others and stays only if something is left of it. A term that is more than 1/(n_names + 1) of what the column saw is
    never missing. The table holds at most n_features · n_names names of at most 100 characters.

    References
    ----------
    Weinberger et al. (2009), Feature hashing for large scale multitask learning. Misra & Gries (1982), Finding repeated
    elements.

    Examples
    --------
    >>> vectorizer = HashingTextVectorizer(n_features=2**10).partial_fit(["grain prices", "grain stocks"])
    >>> X = vectorizer.transform(["grain"])
    >>> [vectorizer.feature_name(column) for column in X.indices]
    ['grain']
    """

    name: ClassVar[str] = "hashing"
    fields: ClassVar[Fields] = {
        "n_features": Whole(2, 2**30),
        "alternate_sign": Flag(),
        "n_names": Whole(1, 1000),
    }
    learnt: ClassVar[Fields] = {"_names": _NamesTable()}

    def __init__(
        self,
        *,
        n_features: int = 2**20,
        alternate_sign: bool = False,
        n_names: int = 2,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        token_pattern: str = DEFAULT_PATTERN,
        stop_words: StopWords = None,
        stemmer: str | None = None,
        binary: bool = False,
    ) -> None:
        self.n_features = n_features
        self.alternate_sign = alternate_sign
        self.n_names = n_names
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.token_pattern = token_pattern
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.binary = binary

    @all_or_nothing
    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Start the names table anew from these texts."""
        self._warn_if_slow()
        self._start()
        self._learn(self._analyze(texts))
        return self

    @all_or_nothing
    def partial_fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Add the names of these texts to the table."""
        self._warn_if_slow()
        if not hasattr(self, "_names"):
            self._start()
        self._learn(self._analyze(texts))
        return self

    @all_or_nothing
    def fit_transform(self, texts: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Fit to the texts and count their terms, reading them once."""
        self._warn_if_slow()
        self._start()
        analysis = self._analyze(texts)
        self._learn(analysis)
        return as_configured(self, self._matrix(analysis), texts)

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Count terms by column: a CSR matrix (n_docs, n_features) of int64 with sorted columns."""
        return as_configured(self, self._matrix(self._analyze(texts)), texts)

    def feature_names(self, column: int) -> list[str]:
        """The terms seen most in a column, the most frequent first; empty if none was seen."""
        if not 0 <= column < self.n_features:
            raise InputError(f"column {column} does not exist; there are {self.n_features}, from 0 on")
        names: dict[str, int] = getattr(self, "_names", {}).get(int(column), {})
        return sorted(names, key=lambda name: (-names[name], name))

    def feature_name(self, column: int) -> str:
        """The terms seen most in a column as one string, "grain|corn"; "#17" if none was seen in column 17."""
        return "|".join(self.feature_names(column)) or f"#{column}"

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:
        """Names of all columns, :meth:`feature_name` of each."""
        names = np.array([f"#{column}" for column in range(self.n_features)], dtype=object)
        for column in getattr(self, "_names", {}):
            names[column] = self.feature_name(column)
        return names

    def check_state(self) -> None:
        super().check_state()
        self._options()
        rows = self._names.values()
        if max(map(len, rows), default=0) > self.n_names or max(self._names, default=0) >= self.n_features:
            raise ValueError("the names table has too many names for a column, or a column that is none")

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _start(self) -> None:
        self.stop_words_ = self._text_options().stop_words
        self._names: dict[int, dict[str, int]] = {}

    def _options(self) -> TextOptions:
        n = self.n_features
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 2 <= n <= 2**30 or n & (n - 1):
            raise InputError(f"n_features={n!r} is not usable; pass a power of two from 2 to 2**30, such as 2**20")
        if not isinstance(self.n_names, (int, np.integer)) or self.n_names < 1:
            raise InputError(f"n_names={self.n_names!r} is not usable; pass a positive integer")
        return self._text_options(getattr(self, "stop_words_", None))

    def _analyze(self, texts: Iterable[str]) -> Analysis:
        return analyze(check_texts(texts), self._options())

    def _columns(self, analysis: Analysis) -> tuple[AnyArray, AnyArray]:
        """The column and the sign of each term."""
        from textbayes.kernels.linear.columns import murmur3

        hashes = murmur3(analysis.terms.data, analysis.terms.offsets)
        columns = np.abs(hashes.astype(np.int64)) & (self.n_features - 1)
        signs = np.where(hashes < 0, -1, 1).astype(np.int32)
        return columns, signs

    def _matrix(self, analysis: Analysis) -> sparse.csr_matrix:
        columns, signs = self._columns(analysis)
        pieces = analysis.pieces
        if self.alternate_sign:
            # A stop word has no term, hence no sign; its count is left out later, whatever it is multiplied by.
            signs = np.append(signs, np.int32(0))
            pieces = [piece._replace(counts=piece.counts * signs[piece.term_of[piece.ids]]) for piece in pieces]
        return counts_matrix(*columns_to_csr(pieces, columns), int(self.n_features), self.binary)

    def _learn(self, analysis: Analysis) -> None:
        columns, _ = self._columns(analysis)
        _, occurrences = frequencies(analysis)
        terms = unpack(analysis.terms)
        changed: dict[int, dict[str, int]] = {}  # the table itself changes when all is counted, in one step
        for term, column, n in zip(terms, columns.tolist(), occurrences.tolist(), strict=True):
            if column not in changed:
                changed[column] = dict(self._names.get(column, {}))
            names = changed[column]
            name = term[:_LONGEST_NAME]
            if name in names:
                names[name] += n
            elif len(names) < self.n_names:
                names[name] = n
            else:
                cut = min(n, *names.values())
                kept = {other: count - cut for other, count in names.items() if count > cut}
                if n > cut:
                    kept[name] = n - cut
                changed[column] = kept
        self._names.update(changed)

"""Base of all text vectorizers: the text options, their checks, their form in model files, output in data frames."""

from __future__ import annotations

import importlib
import warnings
from typing import Any, ClassVar, Self

from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED

from textbayes.core.codec import Fields, Flag
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.text.analyze import FOUND, LONGEST_NGRAM, READING, TextOptions, check_analysis, check_found, stop_tokens
from textbayes.text.languages import load_stop_words
from textbayes.text.linear_pattern import why_not_linear
from textbayes.text.tokenize import SlowTokenPatternWarning, named_pattern, parse_pattern


class SparseOutput:
    """``set_output`` as scikit-learn's transformers have it; its own refuses sparse results.

    Only ``set_output`` counts, not scikit-learn's global ``transform_output``: a data frame of all words is slow to
    make, and is to be asked for.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        # scikit-learn would wrap ``transform`` and refuse the sparse matrix.
        super().__init_subclass__(auto_wrap_output_keys=None, **options)  # type: ignore[call-arg]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return.

        Parameters
        ----------
        transform : {"default", "pandas"} or None
            "default": a sparse matrix. "pandas": a ``DataFrame`` with sparse columns, named by
            ``get_feature_names_out``. None changes nothing.
        """
        if transform not in (None, "default", "pandas"):
            raise InputError(f"transform={transform!r} is not usable; pass 'default' or 'pandas'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # the name that scikit-learn's clone copies
        return self


def as_configured(transformer: Any, X: sparse.csr_matrix, given: Any) -> Any:
    """The result of a transformer as its ``set_output`` asks for: the matrix, or a data frame with sparse columns.

    Parameters
    ----------
    transformer : estimator
    X : sparse matrix (n_docs, n_features)
    given : what was transformed
        Of a pandas object, the index is kept.
    """
    if getattr(transformer, "_sklearn_output_config", {}).get("transform") != "pandas":
        return X
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError("pandas", "pandas", "set_output(transform='pandas')") from None
    index = given.index if isinstance(given, pandas.DataFrame | pandas.Series) else None
    names = transformer.get_feature_names_out()
    return pandas.DataFrame.sparse.from_spmatrix(X, index=index, columns=names)


def check_sparse(transformer: Any, X: Any) -> None:
    """Refuse to make a data frame of dense numbers, in scikit-learn's words for transformers with sparse results."""
    wanted = getattr(transformer, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
    if wanted != "default" and not (sparse.issparse(X) or hasattr(X, "sparse")):
        raise InputError(
            "The transformer outputs a scipy sparse matrix. Pass a sparse matrix or a data frame with sparse columns, "
            "or disable data frames with set_output(transform='default')"
        )


class BaseTextVectorizer(SparseOutput, TransformerMixin, BaseEstimator):
    """A transformer of texts; a subclass takes the parameters below, and ``binary``, in its constructor.

    One that is registered (``textbayes.text.vectorizers``), with its ``name``, can be used by a ``TextCategorizer``. A
    model file keeps parameters of its own, and what ``learnt`` says that a fit sets.
    """

    name: ClassVar[str]

    analyzer: str
    ngram_range: tuple[int, int]
    lowercase: bool
    token_pattern: str
    stop_words: Any
    stemmer: str | None
    binary: bool
    stop_words_: tuple[str, ...]

    fields: ClassVar[Fields] = {**READING, "binary": Flag()}
    learnt: ClassVar[Fields] = FOUND

    # The texts are data, not metadata to be routed.
    __metadata_request__fit = {"texts": UNUSED}  # noqa: RUF012
    __metadata_request__partial_fit = {"texts": UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"texts": UNUSED}  # noqa: RUF012

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def check_state(self) -> None:
        """Refuse what a file says of the reading of texts where it cannot be."""
        if hasattr(self, "stop_words_"):
            check_found(self.stop_words, self.stop_words_)
            if self.stop_words is True:  # those of a file, which is never looked for again
                self.stop_words = list(self.stop_words_)
        check_analysis(self.analyzer, self.token_pattern, self.stop_words, self.stemmer)

    def _text_options(self, stop_words: tuple[str, ...] | None = None) -> TextOptions:
        """Checked options; ``stop_words`` are the tokens found when fitting, looked up anew if None."""
        check_analysis(self.analyzer, self.token_pattern, self.stop_words, self.stemmer)
        lowercase = bool(self.lowercase)
        if stop_words is None:
            stop_words = stop_tokens(load_stop_words(self.stop_words), self.token_pattern, lowercase)
        ngram_range = self._checked_ngram_range()
        return TextOptions(self.analyzer, ngram_range, lowercase, self.token_pattern, stop_words, self.stemmer)

    def _checked_ngram_range(self) -> tuple[int, int]:
        try:
            shortest, longest = (int(n) for n in self.ngram_range)
        except (TypeError, ValueError):
            shortest = longest = 0
        if not 1 <= shortest <= longest <= LONGEST_NGRAM:
            raise InputError(
                f"ngram_range={self.ngram_range!r} is not usable; pass (shortest, longest) with 1 ≤ shortest ≤ longest "
                f"≤ {LONGEST_NGRAM}"
            )
        return shortest, longest

    def _warn_if_slow(self) -> None:
        named = named_pattern(self.token_pattern) is not None
        if self.analyzer in ("word", "mixed") and not named and parse_pattern(self.token_pattern) is None:
            reason = why_not_linear(self.token_pattern)
            unkept = "" if reason is None else f"; a model file cannot keep it, as it may take for ever ({reason})"
            warnings.warn(
                f"token_pattern={self.token_pattern!r} is not a run of one class of characters, so Python's re finds "
                f"the tokens, many times slower{unkept}",
                SlowTokenPatternWarning,
                stacklevel=4,
            )

"""Several readings of the same texts, side by side: each has its own words, weights and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from textbayes.core.codec import Field, List, Named
from textbayes.core.errors import InputError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.state import Part, with_fields
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.core.validation import check_choice
from textbayes.text import vectorizers, weightings
from textbayes.text.base import SparseOutput, as_configured
from textbayes.text.batches import check_texts, head
from textbayes.text.read_words import FACTOR, MOST_VIEWS, VIEW, WordView, WordViews, check_views
from textbayes.text.sentences import VectorWeighting, WordlessVectorizer
from textbayes.text.vectorize import TextVectorizer
from textbayes.text.weight import TermWeighting

Reader: TypeAlias = TextVectorizer | WordlessVectorizer


class View(BaseEstimator):
    """One reading of texts: its words, how they are weighed, and the part of the text that is read.

    Parameters
    ----------
    name : str
        Stands before the words of this view in lists and explanations, unless the view is the first.
    vectorizer : TextVectorizer, SentenceVectorizer or TokenVectorizer
    weighting : TermWeighting
        Of sentence vectors and tokens a ``VectorWeighting``, which leaves them as they are.
    part : {"text", "head"}
        The whole text, or its first line (a headline, a subject, a title).
    factor : float
        Of the weights: how much the view counts beside others that the same model reads.
    """

    def __init__(
        self,
        name: str,
        vectorizer: Reader,
        weighting: TermWeighting,
        part: str = "text",
        factor: float = 1.0,
    ) -> None:
        self.name = name
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.part = part
        self.factor = factor

    @property
    def has_pairs(self) -> bool:
        """Whether it counts pairs of words, or longer runs; a view of sentence vectors counts nothing."""
        return isinstance(self.vectorizer, TextVectorizer) and bool(self.vectorizer.ngram_range[1] > 1)

    def read(self, texts: Sequence[str]) -> Sequence[str]:
        """The part of each text that this view reads."""
        check_choice("part", self.part, ("text", "head"))
        return texts if self.part == "text" else [head(text) for text in texts]


@with_fields({**VIEW, "weighting": Part(weightings, fitted=False), "vectorizer": Part(vectorizers)})
class FittedView(NamedTuple):
    """A view of a model file: its place, its part of the text, its factor, its weighting, not fitted, and its words."""

    number: int
    part: str
    factor: float
    weighting: TermWeighting
    vectorizer: Reader


@vectorizers.register("views")
class TextViews(SparseOutput, TransformerMixin, BaseEstimator):
    """Count the words of texts in several views, a block of columns for each.

    Parameters
    ----------
    views : list of View
        Words of the first have their own name; those of the others begin with the name of the view and a colon. The
        first reads words.

    Attributes
    ----------
    vectorizers_ : list of fitted vectorizers
    bounds_ : array (n_views + 1,)
        View ``v`` has the columns from ``bounds_[v]`` to ``bounds_[v + 1]``.

    Examples
    --------
    >>> plain = View("words", TextVectorizer(), TermWeighting("binary"))
    >>> stems = View("stem", TextVectorizer(stemmer="porter"), TermWeighting("tfidf1"))
    >>> views = TextViews([plain, stems]).fit(["grain prices rise"])
    >>> views.get_feature_names_out().tolist()
    ['grain', 'prices', 'rise', 'stem:grain', 'stem:price', 'stem:rise']
    """

    name: ClassVar[str] = "views"
    fields: ClassVar[dict[str, Field | None]] = {"views": None, "fitted_views": Named(Part(FittedView))}

    def __init__(self, views: list[View]) -> None:
        self.views = views

    @all_or_nothing
    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Learn the vocabulary of every view."""
        self.fit_blocks(texts)
        return self

    @all_or_nothing
    def fit_blocks(self, texts: Iterable[str]) -> list[sparse.csr_matrix]:
        """Learn the vocabulary of every view, and count its words: a matrix (n_docs, n_features) for each view."""
        if not self.views:
            raise InputError("views=[] is empty; pass at least one View")
        texts = list(check_texts(texts))
        self.vectorizers_ = [clone(view.vectorizer).set_output(transform="default") for view in self.views]
        both = zip(self.views, self.vectorizers_, strict=True)
        blocks = [vectorizer.fit_transform(view.read(texts)) for view, vectorizer in both]
        self.settle()
        return blocks

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Learn the vocabulary of every view, and count its words, side by side."""
        return as_configured(self, side_by_side(self.fit_blocks(texts)), texts)

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Counts of the words of every view, side by side: a CSR matrix (n_docs, n_features)."""
        return as_configured(self, side_by_side(self.blocks(texts)), texts)

    def blocks(self, texts: Iterable[str]) -> list[sparse.csr_matrix]:
        """Counts of the words of every view, a matrix for each."""
        check_is_fitted(self)
        texts = list(check_texts(texts))
        both = zip(self.views, self.vectorizers_, strict=True)
        return [vectorizer.transform(view.read(texts)) for view, vectorizer in both]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:
        """The words by column; those of all views but the first after the name of their view."""
        check_is_fitted(self)
        names = [vectorizer.get_feature_names_out() for vectorizer in self.vectorizers_]
        marked = [names[0]] + [
            np.array([f"{view.name}:{term}" for term in terms], dtype=object)
            for view, terms in zip(self.views[1:], names[1:], strict=True)
        ]
        return np.concatenate(marked)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each word, under the names of ``get_feature_names_out``."""
        return {name: column for column, name in enumerate(self.get_feature_names_out())}

    def document_lengths(self, texts: Any) -> FloatArray:
        """Lengths in thousands of words, as the first view counts them."""
        words: Any = self.vectorizers_[0]
        return words.document_lengths(texts)

    @property
    def fitted_views(self) -> dict[str, FittedView]:
        """The views by name, with what was learnt, as a model file keeps them."""
        check_is_fitted(self)
        numbered = enumerate(zip(self.views, self.vectorizers_, strict=True))
        found = {
            view.name: FittedView(number, view.part, float(view.factor), view.weighting, vectorizer)
            for number, (view, vectorizer) in numbered
        }
        if len(found) < len(self.views):
            raise InputError("two views have one name, by which a model file keeps them; give each a name of its own")
        return found

    @classmethod
    def of_state(cls, fitted_views: Mapping[str, FittedView]) -> Self:
        """The views of a file; they transform identically."""
        described = fitted_views.values()
        check_views(list(fitted_views), [one.number for one in described], [one.vectorizer.name for one in described])
        for name, (_, _, _, weighting, vectorizer) in fitted_views.items():
            if isinstance(vectorizer, WordlessVectorizer) != isinstance(weighting, VectorWeighting):
                raise ValueError(f"view {name!r} is wrong: vectors and tokens, and they alone, are not weighed")
        views = [
            View(name, clone(vectorizer), weighting, part, factor)
            for name, (_, part, factor, weighting, vectorizer) in fitted_views.items()
        ]
        return cls.of_fitted(views, [one.vectorizer for one in fitted_views.values()])

    @classmethod
    def of_fitted(cls, views: list[View], vectorizers: Sequence[Reader]) -> Self:
        """The views with vectorizers that are fitted already, one for each."""
        made = cls(views)
        made.vectorizers_ = list(vectorizers)
        made.settle()
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def settle(self) -> None:
        """Lay out the columns anew, after words were added to a view."""
        widths = [len(vectorizer.get_feature_names_out()) for vectorizer in self.vectorizers_]
        self.bounds_ = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)


@weightings.register("views")
class ViewsWeighting(TransformerMixin, BaseEstimator):
    """Weigh the counts of several views, block by block: each by its own scheme, to its own length.

    Parameters
    ----------
    weightings : list of TermWeighting
    factors : sequence of float
    bounds : sequence of int
        View ``v`` has the columns from ``bounds[v]`` to ``bounds[v + 1]``.

    Attributes
    ----------
    weightings_ : list of TermWeighting, fitted
    """

    name: ClassVar[str] = "views"
    fields: ClassVar[dict[str, Field | None]] = {
        "weightings": None,
        "bounds": None,
        "weightings_": List(Part(weightings), 1, MOST_VIEWS),
        "factors": List(FACTOR, 1, MOST_VIEWS),
    }

    def __init__(self, weightings: list[TermWeighting], factors: Sequence[float], bounds: Sequence[int]) -> None:
        self.weightings = weightings
        self.factors = factors
        self.bounds = bounds

    @classmethod
    def of_fitted(cls, weightings: list[TermWeighting], factors: Sequence[float], bounds: Any) -> Self:
        """The weighting made of one for each view that is fitted already."""
        made = cls([clone(one) for one in weightings], list(factors), [int(bound) for bound in bounds])
        made.weightings_ = list(weightings)
        return made

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the document frequencies of X (n_docs, n_features); ``y`` is not used."""
        self.weightings_ = [clone(one).fit(block) for one, block in zip(self.weightings, self._blocks(X), strict=True)]
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Weights as a float64 CSR matrix."""
        check_is_fitted(self)
        return side_by_side(
            [
                factor * weighting.transform(block)
                for factor, weighting, block in zip(self.factors, self.weightings_, self._blocks(X), strict=True)
            ]
        )

    @property
    def idf_(self) -> FloatArray:
        """Inverse document frequencies by column."""
        return np.concatenate([one.idf_ for one in self.weightings_])

    @property
    def document_frequency_(self) -> IntArray | None:
        """Number of training documents that have each column's word; None where it is not known of all."""
        found = [one.document_frequency_ for one in self.weightings_]
        return None if any(one is None for one in found) else np.concatenate(found)

    def mean_weights(self) -> FloatArray | None:
        """Weight of each word on average, see :meth:`TermWeighting.mean_weights`."""
        found = [one.mean_weights() for one in self.weightings_]
        known = [factor * one for factor, one in zip(self.factors, found, strict=True) if one is not None]
        return np.concatenate(known) if len(known) == len(found) else None

    @property
    def n_docs_(self) -> int:
        """Number of training documents."""
        return self.weightings_[0].n_docs_

    @classmethod
    def of_state(cls, weightings_: list[TermWeighting], factors: list[float]) -> Self:
        """The weighting of a file; it transforms identically."""
        if len(weightings_) != len(factors):
            raise ValueError("its factors are of other views")
        return cls.of_fitted(weightings_, factors, np.cumsum([0, *(len(one.idf_) for one in weightings_)]))

    def _blocks(self, X: Any) -> list[sparse.csr_matrix]:
        return [_columns(X, start, stop) for start, stop in pairwise(self.bounds)]


def word_views(vectorizer: Any, weighting: Any) -> WordViews | None:
    """What a fitted vectorizer and its weighting do, as plain data; None where they do not count words of a vocabulary.

    Parameters
    ----------
    vectorizer, weighting : transformers
        Fitted: ``TextVectorizer`` and ``TermWeighting``, or ``TextViews`` and ``ViewsWeighting``.
    """
    if type(vectorizer) is not TextViews:
        pairs = [(View("words", vectorizer, weighting), vectorizer, weighting)]
    else:
        pairs = list(zip(vectorizer.views, vectorizer.vectorizers_, weighting.weightings_, strict=True))
    if any(type(words) is not TextVectorizer or type(weights) is not TermWeighting for _, words, weights in pairs):
        return None
    read = []
    for view, words, weights in pairs:
        options, vocabulary = words.fitted()
        how = (bool(words.binary), weights.scheme, weights.norm, weights.idf_, view.part, view.factor)
        read.append(WordView(options, vocabulary, *how))
    return WordViews(read)


def side_by_side(blocks: Sequence[Any]) -> sparse.csr_matrix:
    """Matrices of the same documents as one, a block of columns each."""
    return blocks[0] if len(blocks) == 1 else sparse.csr_matrix(sparse.hstack(blocks, format="csr"))


def _columns(X: Any, start: int, stop: int) -> sparse.csr_matrix:
    """A block of columns of a CSR matrix with sorted columns, without going through the other format."""
    if start == 0 and stop == X.shape[1]:
        return X
    mask = (X.indices >= start) & (X.indices < stop)
    kept = np.concatenate([[0], np.cumsum(mask)])
    return sparse.csr_matrix(
        (X.data[mask], X.indices[mask] - start, kept[X.indptr].astype(X.indptr.dtype)), shape=(X.shape[0], stop - start)
    )

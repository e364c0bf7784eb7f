"""Texts as vectors of their meaning: one more view of them, whose columns are no words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textbayes.core.codec import Choice, Field, Fields, Null, Text, Whole
from textbayes.core.fitting import all_or_nothing
from textbayes.core.progress import Progress, silent
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.text import vectorizers, weightings
from textbayes.text.base import SparseOutput, as_configured
from textbayes.text.batches import check_each, check_texts
from textbayes.text.sentence_models import PACKAGED, check_width, encoder_of, find_model
from textbayes.text.weight import TermWeighting

MEANING = "meaning of the text"  # what all columns together are called beside words
_AT_ONCE = 64  # texts between two reports of progress


def check_digest(text: str) -> None:
    if not set(text) <= set("0123456789abcdef"):
        raise ValueError("it is no SHA-256")


class WordlessVectorizer(SparseOutput, TransformerMixin, BaseEstimator):
    """Base of vectorizers whose columns are no words; ``width_`` is their number."""

    width_: int

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Numbers of the columns, from 1 on."""
        check_is_fitted(self)
        return np.array([str(number) for number in range(1, self.width_ + 1)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


@vectorizers.register("sentences")
class SentenceVectorizer(WordlessVectorizer):
    """Turn texts into the vectors of a sentence-transformers model, each of length one.

    Parameters
    ----------
    model : str or path
        See :func:`textbayes.text.sentence_models.find_model`.

    Attributes
    ----------
    name_, fingerprint_ : str
        The name of the sentence model, and the SHA-256 of its files.
    width_ : int
        Numbers of a vector.
    """

    name: ClassVar[str] = "sentences"
    fields: ClassVar[dict[str, Field | None]] = {
        "model": None,
        "name_": Text(200, least=1),
        "fingerprint_": Text(64, least=64).where(check_digest),
        "width_": Whole(1, 2**16),
    }

    def __init__(self, model: Any = PACKAGED) -> None:
        self.model = model

    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Find the sentence model; of the texts nothing is learnt."""
        self.fit_transform([])
        return self

    @all_or_nothing
    def fit_transform(self, texts: Iterable[str], y: Any = None, report: Progress = silent) -> sparse.csr_matrix:
        """Find the sentence model, and give the vectors of the texts.

        Parameters
        ----------
        texts : iterable of str
        y : ignored
        report : Progress
            Is told how many texts are done: this is slow.
        """
        found = find_model(self.model)
        report("loading the sentence model", 0, 1)
        self.name_, self.fingerprint_ = found.name, found.fingerprint
        self.width_ = encoder_of(found.name, found.fingerprint, found.folder)(["text"]).shape[1]
        report("loading the sentence model", 1, 1)
        return self.transform(texts, report)

    def transform(self, texts: Iterable[str], report: Progress = silent) -> sparse.csr_matrix:
        """Vectors of texts as a CSR matrix (n_docs, width); an empty text has zeros."""
        check_is_fitted(self)
        given = list(check_texts(texts))
        check_each(given)
        encode = encoder_of(self.name_, self.fingerprint_)
        vectors = np.empty((len(given), self.width_))
        for start in range(0, len(given), _AT_ONCE):
            report("sentence vectors", start, len(given))
            found = encode(given[start : start + _AT_ONCE])
            check_width(found.shape[1], self.width_)
            vectors[start : start + _AT_ONCE] = found
        report("sentence vectors", len(given), len(given))
        return as_configured(self, sparse.csr_matrix(vectors), texts)

    @classmethod
    def of_state(cls, name_: str, fingerprint_: str, width_: int) -> Self:
        """The vectorizer of a file; the sentence model itself is looked for when texts come."""
        made = cls(name_)
        made.name_, made.fingerprint_, made.width_ = name_, fingerprint_, width_
        return made


@weightings.register("vectors")
class VectorWeighting(TermWeighting):
    """Weigh nothing: numbers of either sign stay as they are.

    Parameters
    ----------
    scheme : {"vector"}
    norm : None
    """

    name: ClassVar[str] = "vectors"
    fields: ClassVar[Fields] = {"scheme": Choice("vector"), "norm": Null()}

    def __init__(self, scheme: str = "vector", norm: str | None = None) -> None:
        super().__init__(scheme, norm)

    def transform(self, X: Matrix | Any) -> sparse.csr_matrix:
        """The numbers as they are, as a float64 CSR matrix."""
        check_is_fitted(self)
        return self._checked(X, reset=False)

    def mean_weights(self) -> FloatArray | None:
        """Zeros: a column that is no word has no weight in a text to speak of."""
        return np.zeros(len(self.idf_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags

    def _check_parameters(self) -> None:
        check_choice("scheme", self.scheme, ("vector",))
        check_choice("norm", self.norm, (None,))

    def _check_signs(self, X: sparse.csr_matrix) -> None:
        """Any will do."""

"""What a stranger may add, each in one file: a prior, a rule, a vectorizer, a format, a model type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator

from textbayes.core.array_fields import Array
from textbayes.core.codec import List, Text
from textbayes.core.protocols import Contributions, LocalPenalty, WordWeights
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.streams import read_lines
from textbayes.decide import ThresholdRule, rules
from textbayes.models import model_types
from textbayes.models.base import TextModel
from textbayes.priors import BasePrior, priors
from textbayes.text import vectorizers
from textbayes.text.base import BaseTextVectorizer


@priors.register("bounded")
class Bounded(BasePrior):
    """Gaussian prior whose width is a share of its scale: ``share`` is a hyperparameter of its own."""

    name = "bounded"
    proper = smooth = log_concave = exact_local = True

    def __init__(self, scale: ArrayLike = 1.0, mean: ArrayLike = 0.0, sign: ArrayLike = 0, share: float = 0.5) -> None:
        super().__init__(scale, mean, sign)
        self.share = np.asarray(share, dtype=np.float64)

    def neg_log(self, w):
        width = self.share * self.scale
        return 0.5 * ((w - self.mean) / width) ** 2 + np.log(width * np.sqrt(2.0 * np.pi))

    def local(self, w):
        width = np.broadcast_to(self.share * self.scale, np.shape(w))
        return LocalPenalty(np.array(np.broadcast_to(self.mean, np.shape(w))), np.zeros(np.shape(w)), 1.0 / width**2)


@rules.register("median")
class Median(ThresholdRule):
    """Say yes to the half of the texts with the highest probability, or to another share of them."""

    name = "median"
    learnt = {"spread_": Array(np.float64, ("n_labels_",), least=0.0)}  # noqa: RUF012

    def __init__(self, share: float = 0.5) -> None:
        self.share = share

    def _fit(self, proba, Y):
        self.thresholds_, self.spread_ = np.quantile(proba, 1.0 - self.share, axis=0), proba.std(axis=0)


@vectorizers.register("first_letters")
class FirstLetters(BaseTextVectorizer):
    """Count the first ``width`` letters of the words of each text."""

    name = "first_letters"
    learnt = {"beginnings_": List(Text())}  # noqa: RUF012

    def __init__(
        self, width=3, analyzer="word", ngram_range=(1, 1), lowercase=True, token_pattern="letters",
        stop_words=None, stemmer=None, binary=False,
    ) -> None:  # fmt: skip
        self.width = width
        self.analyzer, self.ngram_range, self.lowercase = analyzer, ngram_range, lowercase
        self.token_pattern, self.stop_words, self.stemmer, self.binary = token_pattern, stop_words, stemmer, binary

    def _read(self, texts):
        return [[word[: self.width] for word in text.lower().split()] for text in texts]

    def fit(self, texts, y=None):
        self.stop_words_ = ()
        self.beginnings_ = sorted({word for words in self._read(texts) for word in words})
        return self

    def transform(self, texts):
        column = {word: number for number, word in enumerate(self.beginnings_)}
        found = [[column[word] for word in words if word in column] for words in self._read(texts)]
        ends, columns = np.cumsum([0, *map(len, found)]), [one for row in found for one in row]
        counts = sparse.csr_matrix((np.ones(len(columns), np.int64), columns, ends), (len(found), len(column)))
        counts.sum_duplicates()
        return counts

    def fit_transform(self, texts, y=None):
        texts = list(texts)
        return self.fit(texts).transform(texts)

    def get_feature_names_out(self, input_features=None):
        return np.array(self.beginnings_, dtype=object)


def _records(source: Any, *, separator: str = "\t") -> Iterator[Record]:
    for number, line in read_lines(source):
        label, _, text = line.rstrip("\n").partition(separator)
        yield Record(text, (label,), line=number)


FORMATS.register("labelled")(Format("labelled", "a label and a text on each line", _records, suffixes=(".labelled",)))


@model_types.register("overlap")
class Overlap(TextModel, BaseEstimator):
    """Score of a label: ``sharpness`` times the log-ratio of the words that its texts have and others have not.

    The score is not linear in the words, so that it cannot be merged into weights.
    """

    model_type = "overlap"
    learnt = dict.fromkeys(("inside_", "outside_"), Array(np.float64, ("n_columns", "n_features"), least=0.0))

    def __init__(self, sharpness: float = 1.0) -> None:
        self.sharpness = sharpness

    def fit_features(self, features, indicator, space, options=None):
        has = (features.weights != 0.0).astype(float)
        counts = np.ones(len(indicator)) if options is None or options.weight is None else options.weight
        shares = []
        for labels in (indicator, ~indicator):
            weights = labels * counts[:, None]
            shares.append(np.asarray(has.T @ weights).T / np.maximum(weights.sum(axis=0), 1.0)[:, None])
        one = self.unfitted()
        one.label_space_, (one.inside_, one.outside_) = space, shares
        return one

    def scores(self, features, posterior_predictive=True):
        has = (features.weights != 0.0).astype(float)
        return np.tanh(self.sharpness * np.asarray(has @ self._ratio().T)) * 3.0

    def _ratio(self):
        return np.log((self.inside_ + 0.1) / (self.outside_ + 0.1))

    def contributions(self, document):
        columns = document.weights.indices.astype(np.int64)
        parts = self._ratio()[:, columns]
        total = self.scores(document)[0]
        parts = (
            parts
            * np.divide(total, parts.sum(axis=1), out=np.zeros_like(total), where=parts.sum(axis=1) != 0.0)[:, None]
        )
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def word_weights(self):
        return WordWeights(self._ratio(), None, "log-ratio")

"""The two collections of the paper as counts: Reuters-21578 ModApte, and RCV1-v2 as far as it is public."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.data import Corpus, load_corpus
from textbayes.reproduce.sparse.published import TOPICS
from textbayes.reproduce.texts import TextRules, indicator

MARKETS, _PARTS_OF_IT = "MCAT", {"M11", "M12", "M13", "M14"}
_COMMON = 5  # documents a word must be in for its own weights to tell its idf
# Quantiles that are the weight of one occurrence. A quarter of any document's words occur once in it; of a very common
# word fewer are single ones, but its weights are many and exact.
_OF_DOCUMENT, _OF_WORD = 0.25, 0.05


class Collection(NamedTuple):
    """Word counts (n_docs, n_words) and topics (n_docs, n_topics) of training and test documents."""

    train: Any
    test: Any
    Y_train: BoolArray
    Y_test: BoolArray
    topics: tuple[str, ...]


def reuters(rules: TextRules | None = None) -> Collection:
    """Reuters-21578 ModApte, the stories that carry one of the 90 topics: 7,770 and 3,019, the ten largest topics.

    The paper counts 7,769 training stories, one less; stories that carry none of the 90 topics (5 in training) are in
    neither count. It says that stop words and punctuation marks were removed, and no more.
    """
    train, test = _stories()
    counts = (rules or TextRules()).counts(train, test)
    return Collection(*counts, indicator(train.labels, TOPICS), indicator(test.labels, TOPICS), TOPICS)


@lru_cache(maxsize=1)
def _stories() -> tuple[Corpus, Corpus]:
    corpus = load_corpus("reuters21578", topics="r90", unlabelled="drop")
    return corpus.train, corpus.test


def rcv1(subset: int | None = None) -> Collection:
    """The five public samples of RCV1-v2 pooled (or one of them), their counts recovered from the term weights.

    The samples lack MCAT, put back here as what it is by definition: the union of M11 to M14. Topics without a training
    document are left out, as in the paper.
    """
    corpus = load_corpus("rcv1", version="subsets", subset=subset)
    counts = counts_of_weights(corpus.X)
    names = (*corpus.label_names, MARKETS)
    labels = indicator([(*row, MARKETS) if _PARTS_OF_IT.intersection(row) else row for row in corpus.labels], names)
    train = np.array([part == "train" for part in corpus.split or ()])
    kept = labels[train].any(axis=0)
    topics = tuple(name for name, keep in zip(names, kept, strict=True) if keep)
    labels = labels[:, kept]
    return Collection(counts[train], counts[~train], labels[train], labels[~train], topics)


def counts_of_weights(X: Any) -> Any:
    """Word counts from cosine-normalised weights x_ij = (1 + ln tf_ij) idf_j / c_i, as RCV1-v2 is distributed.

    Many words of a document occur in it once, and many occurrences of a word are single ones. In log x_ij = log(1 + ln
    tf_ij) + log idf_j − log c_i a low quantile over a document (less log idf) is therefore −log c_i, and one over a
    word (less −log c) is log idf_j. A few rounds of both, from idf_j = ln(N/n_j), find them; rare words keep the idf of
    their document frequency. What is left is 1 + ln tf, rounded to the nearest count.
    """
    X = sparse.csr_matrix(X)
    n_docs, n_words = X.shape
    docs = np.repeat(np.arange(n_docs), np.diff(X.indptr))
    n_with_word = np.bincount(X.indices, minlength=n_words)
    log_x = np.log(X.data)
    log_idf = np.log(np.log((n_docs + 1.0) / np.maximum(n_with_word, 1)))
    common = n_with_word >= _COMMON
    for _ in range(4):
        level = _quantile(_OF_DOCUMENT, log_x - log_idf[X.indices], docs, n_docs)
        log_idf = np.where(common, _quantile(_OF_WORD, log_x - level[docs], X.indices, n_words), log_idf)
    weight = np.exp(log_x - level[docs] - log_idf[X.indices])
    counts = np.maximum(1.0, np.rint(np.exp(weight - 1.0)))
    return sparse.csr_matrix((counts, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def _quantile(share: float, values: FloatArray, groups: AnyArray, n_groups: int) -> FloatArray:
    """The value of each group that this share of them lies below, 0 for a group without any."""
    ranked = values[np.lexsort((values, groups))]
    sizes = np.bincount(groups, minlength=n_groups)
    place = np.cumsum(sizes) - sizes + np.floor(share * sizes).astype(np.int64)
    return np.where(sizes > 0, ranked[np.minimum(place, len(ranked) - 1)], 0.0)

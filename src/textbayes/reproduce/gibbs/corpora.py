"""The documents, how they are divided, and the words of a division."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, IntArray
from textbayes.reproduce.gibbs.published import DOMAINS, N_OF_DOMAIN, N_WORDS
from textbayes.select import scores
from textbayes.select.rules import select_per_label

_PAPER_DOCUMENTS = tuple((name, 0) for name in DOMAINS)


class Documents(NamedTuple):
    """TF-IDF weights (n_docs, n_words) in CSR, the domain of each document by number, and the words."""

    X: Any
    domain: IntArray
    words: AnyArray


class Split(NamedTuple):
    """Documents by number, positives first in both parts."""

    train: IntArray
    test: IntArray


def longest(lengths: IntArray, k: int = N_OF_DOMAIN, left_out: int = 0) -> IntArray:
    """The k longest documents of a domain, in the order of the corpus; of equally long ones the first.

    ``left_out`` that are longer still are passed over.

    >>> longest(np.array([5, 9, 7, 9, 1]), 2)
    array([1, 3])
    """
    if len(lengths) < left_out + k:
        raise InputError(
            f"a domain has {len(lengths)} documents, the protocol needs {left_out + k}; is the corpus complete?"
        )
    return np.sort(np.argsort(-lengths, kind="stable")[left_out : left_out + k])


def documents(of: Sequence[tuple[str, int]] = _PAPER_DOCUMENTS) -> Documents:
    """The 60 longest modules of each domain, after those left out.

    Words are those of two modules or more, weighed (1 + ln tf)·ln((N + 1)/(n_i + 1)).
    The paper's documents have more than 3,000 words each; the longest modules come closest. As there, the matrix is
    made of all documents before they are divided: the idf sees the words of test documents, never their domains.
    """
    from textbayes.data import load_corpus
    from textbayes.text import TermWeighting, TextVectorizer

    corpus = load_corpus("openstax", extra=True)
    domain = np.array([labels[0] for labels in corpus.labels])
    rows = []
    for name, left_out in of:
        of_domain = np.flatnonzero(domain == name)
        lengths = np.array([len(corpus.texts[row].split()) for row in of_domain])
        rows.append(of_domain[longest(lengths, left_out=left_out)])
    vectorizer = TextVectorizer(min_df=2)
    counts = vectorizer.fit_transform([corpus.texts[row] for row in np.concatenate(rows)])
    X = TermWeighting("tfidf").fit_transform(counts)
    return Documents(X, np.repeat(np.arange(len(of)), N_OF_DOMAIN), np.asarray(vectorizer.get_feature_names_out()))


def random_split(domain: IntArray, positive: int, resampling: int) -> Split:
    """Half of a domain's documents and half of the others for training, the rest for testing.

    Each domain has divisions of its own, as in the paper; the same resampling is the same division on every call.
    """
    rng = np.random.default_rng([resampling, positive])
    inside = rng.permutation(np.flatnonzero(domain == positive))
    outside = rng.permutation(np.flatnonzero(domain != positive))
    if not len(inside) or len(inside) % 2 or not len(outside) or len(outside) % 2:
        raise InputError(
            f"{len(inside)} documents of the domain and {len(outside)} others are given; even numbers are needed to "
            "divide both in two"
        )
    n_in, n_out = len(inside) // 2, len(outside) // 2
    return Split(np.concatenate([inside[:n_in], outside[:n_out]]), np.concatenate([inside[n_in:], outside[n_out:]]))


def choose_words(X: Any, y: BoolArray, k: int = N_WORDS) -> IntArray:
    """The k words of largest Welch's \\|t\\| among training documents, in the order of the columns."""
    return np.flatnonzero(select_per_label(scores.get("t_test")(X, y), k=k)[0])

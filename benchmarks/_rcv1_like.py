"""A corpus like RCV1-v2, made by seed: 804,414 documents, 47,236 words, 76 non-zeros a document, 103 labels.

All statistics come from the public samples (``load_corpus("rcv1", version="subsets")``) at run time. A document takes
the labels and the length of a sampled document. Its words are draws from three places: the words of all documents,
those of one of its labels, and those of the sampled document; repeated draws are counts. Weights are (1 + ln tf) ·
ln(N/n) at length one, as RCV1's are.

The samples lack two labels that are restored here: MCAT is the union of M11 to M14, and M143 is what of M14 is neither
M141 nor M142. Label sets are drawn with weights such that the four top categories are as frequent as in RCV1-v2 (Lewis
et al. 2004); the others follow. Documents are made in blocks, each by a seed of its own, and go straight to shards:
memory does not depend on their number, and the first documents are the same whatever the number.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.data import load_corpus
from textbayes.scale.shards import Shards

N_DOCS, N_WORDS, MEAN_WORDS = 804_414, 47_236, 76.0
TOP = {"CCAT": 381_327, "ECAT": 119_920, "GCAT": 239_267, "MCAT": 204_820}  # of 804,414
BLOCK = 20_000
FROM_ALL, FROM_LABEL = 0.35, 0.45  # of the draws; the others are of the sampled document


class Rcv1Like:
    """The generator; the same seed makes the same documents."""

    def __init__(self, seed: int = 0) -> None:
        corpus = load_corpus("rcv1", version="subsets")
        rows = [set(labels) for labels in corpus.labels]
        for labels in rows:
            if labels & {"M11", "M12", "M13", "M14"}:
                labels.add("MCAT")
            if "M14" in labels and not labels & {"M141", "M142"}:
                labels.add("M143")
        self.seed = seed
        self.labels = tuple(sorted(set().union(*rows)))
        number = {label: k for k, label in enumerate(self.labels)}
        places = [(i, number[label]) for i, labels in enumerate(rows) for label in labels]
        ones = np.ones(len(places), dtype=np.float64)
        self.Y = sparse.csr_matrix((ones, np.array(places).T), shape=(len(rows), len(self.labels)))
        self.X = corpus.X.tocsr()
        self.has = sparse.csr_matrix((np.ones(self.X.nnz), self.X.indices, self.X.indptr), shape=self.X.shape)
        self.share = _raked(self.Y, self.labels)
        frequency = np.asarray(self.has.sum(axis=0)).ravel()
        self.rate = _smoothed(frequency)
        self.idf = np.log(len(rows) / np.maximum(frequency, 0.5))

    @cached_property
    def label_rates(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each label its words and cumulative rates."""
        by_label = (self.Y.T @ self.has).tocsr()
        found = []
        for k in range(len(self.labels)):
            row = by_label[k]
            found.append((row.indices, np.cumsum(row.data) / row.data.sum()))
        return found

    @cached_property
    def draws_per_word(self) -> float:
        """Draws for each word of the sampled document that give 76 different ones on average."""
        low, high = 0.5, 3.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            counts, _ = self._block(np.random.default_rng(12345), 10_000, middle)
            low, high = (middle, high) if counts.nnz / counts.shape[0] < MEAN_WORDS else (low, middle)
        return 0.5 * (low + high)

    def blocks(self, n_docs: int = N_DOCS) -> Iterator[tuple[Any, Any]]:
        """Weights (CSR) and labels (CSR of ones) of some thousand documents at a time."""
        for first in range(0, n_docs, BLOCK):
            rng = np.random.default_rng([self.seed, first])
            counts, labels = self._block(rng, BLOCK, self.draws_per_word)
            yield (part[: n_docs - first] for part in (self._weights(counts), labels))

    def _block(self, rng: np.random.Generator, size: int, draws_per_word: float) -> tuple[Any, Any]:
        template = rng.choice(len(self.share), size, p=self.share)
        lengths = np.diff(self.X.indptr)[template]
        n_draws = np.maximum(rng.poisson(draws_per_word * lengths), 3)
        document = np.repeat(np.arange(size), n_draws)
        words = np.empty(len(document), dtype=np.int64)
        source = rng.random(len(document))
        at_large = source < FROM_ALL
        words[at_large] = np.searchsorted(np.cumsum(self.rate), rng.random(at_large.sum()) * (1 - 1e-12))
        of_label = (source >= FROM_ALL) & (source < FROM_ALL + FROM_LABEL)
        chosen = _one_of(self.Y.indptr, self.Y.indices, template[document[of_label]], rng)
        drawn = np.empty(len(chosen), dtype=np.int64)
        order = np.argsort(chosen, kind="stable")
        ends = np.searchsorted(chosen[order], np.arange(len(self.labels) + 1))
        for k, (own, cumulative) in enumerate(self.label_rates):
            mine = order[ends[k] : ends[k + 1]]
            drawn[mine] = own[np.searchsorted(cumulative, rng.random(len(mine)) * (1 - 1e-12))]
        words[of_label] = drawn
        of_template = source >= FROM_ALL + FROM_LABEL
        words[of_template] = _one_of(self.X.indptr, self.X.indices, template[document[of_template]], rng)
        counts = sparse.csr_matrix((np.ones(len(words)), (document, words)), shape=(size, N_WORDS))
        counts.sum_duplicates()
        return counts, self.Y[template]

    def _weights(self, counts: Any) -> Any:
        weights = counts.copy()
        weights.data = (1.0 + np.log(counts.data)) * self.idf[counts.indices]
        lengths = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1)).ravel())
        weights.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(weights.indptr))
        return weights


def write(folder: Path, n_docs: int = N_DOCS, seed: int = 0) -> Shards:
    """Write the corpus as shards, if it is not there yet; what an earlier run has finished is kept."""
    shards = Shards(folder)
    about = {"documents": n_docs, "seed": seed, "words": N_WORDS}
    if shards.is_complete and about.items() <= shards.about.items():
        return shards
    generator = Rcv1Like(seed)
    for number, (weights, labels) in enumerate(generator.blocks(n_docs)):
        arrays = {"indptr": weights.indptr, "indices": weights.indices, "data": weights.data}
        shards.write(number, arrays | {"label_indptr": labels.indptr, "label_indices": labels.indices})
    shards.complete(about | {"labels": list(generator.labels)})
    return shards


def _one_of(indptr: np.ndarray, indices: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One of the columns of each row, at random."""
    sizes = np.diff(indptr)[rows]
    return indices[indptr[rows] + (rng.random(len(rows)) * sizes).astype(np.int64)]


def _smoothed(frequency: np.ndarray) -> np.ndarray:
    """Shares of all words in the draws; those in no sampled document share what Good and Turing expect of them."""
    rate = frequency / frequency.sum()
    unseen = frequency == 0
    mass = (frequency == 1).sum() / frequency.sum()
    rate = (1.0 - mass) * rate if unseen.any() else rate
    rate[unseen] = mass / max(unseen.sum(), 1)
    return rate / rate.sum()


def _raked(Y: Any, labels: tuple[str, ...]) -> np.ndarray:
    """Shares of the sampled documents with which the top categories are as frequent as in RCV1-v2."""
    share = np.full(Y.shape[0], 1.0 / Y.shape[0])
    for _ in range(100):
        for label, count in TOP.items():
            has = np.asarray(Y[:, labels.index(label)].todense()).ravel() > 0
            wanted = count / N_DOCS
            now = share[has].sum()
            share *= np.where(has, wanted / now, (1.0 - wanted) / (1.0 - now))
    return share / share.sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=N_DOCS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    shards = write(given.folder, given.documents, given.seed)
    print(f"{shards.about['documents']:,} documents, {shards.nbytes() / 2**30:.2f} GiB in {shards.folder}")


if __name__ == "__main__":
    main()

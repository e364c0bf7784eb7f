"""Large generated corpora in PyTorch: the same documents on a graphics card and on a CPU.

Every random number is a hash of a seed and a counter (SplitMix64), so that it does not depend on the device or on the
order in which documents are made. Needs torch and NumPy alone.

``rcv1`` makes the corpus of ``_rcv1_like.py`` (804,414 documents, 47,236 words, 103 labels) from its statistics, which
``statistics`` writes to a file where the public samples are. ``abstracts`` needs no data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from textbayes.inference._all_labels import DocumentMatrix

BLOCK = 40_000
_GOLDEN, _FIRST, _SECOND = -7046029254386353131, -4658895280553007687, -7723592293110705685  # SplitMix64's, signed


class Made(NamedTuple):
    """A matrix on the device, and its labels (n_docs, n_labels) as booleans there."""

    X: DocumentMatrix
    labels: Any


def statistics(path: Path) -> None:
    """Write what the generator needs to know of the public samples of RCV1."""
    from _rcv1_like import Rcv1Like

    like = Rcv1Like()
    own = [words for words, _ in like.label_rates]
    np.savez_compressed(
        path, indptr=like.X.indptr.astype(np.int32), indices=like.X.indices.astype(np.int32),
        labels_indptr=like.Y.indptr.astype(np.int32), labels_indices=like.Y.indices.astype(np.int16),
        n_labels=len(like.labels), share=like.share, rate=like.rate, idf=like.idf,
        own_indptr=np.cumsum([0, *map(len, own)]), own_indices=np.concatenate(own).astype(np.int32),
        own_rates=np.concatenate([rates.astype(np.float32) for _, rates in like.label_rates]),
        draws_per_word=like.draws_per_word,
    )  # fmt: skip


def rcv1(path: Path, n_docs: int, device: Any, seed: int = 0) -> Made:
    """The generated RCV1: each document has labels and length of a sampled one, and words of three places."""
    with np.load(path) as given:
        known = {name: given[name] for name in given.files}
    own_ends = known["own_rates"].astype(np.float64)
    for first, last in zip(known["own_indptr"][:-1], known["own_indptr"][1:], strict=True):
        own_ends[first:last] /= own_ends[last - 1]
    own_ends += np.repeat(np.arange(known["n_labels"]), np.diff(known["own_indptr"]))
    arrays = {name: torch.as_tensor(known[name].astype(np.int64), device=device) for name in (
        "indptr", "indices", "labels_indptr", "labels_indices", "own_indices")}  # fmt: skip
    rate, own = (torch.as_tensor(one, device=device) for one in (np.cumsum(known["rate"]), own_ends))
    idf, n_words, lengths = known["idf"], len(known["idf"]), np.diff(known["indptr"])
    of = np.zeros((len(lengths), int(known["n_labels"])), dtype=np.bool_)
    of[np.repeat(np.arange(len(of)), np.diff(known["labels_indptr"])), known["labels_indices"]] = True

    def words(template: Any, document: Any, number: Any) -> Any:
        source, place, which = (uniform(seed + stream, number) for stream in (1, 2, 3))
        mine = template[document]
        at_large = torch.searchsorted(rate, place * (1 - 1e-12)).clamp(max=n_words - 1)
        label = _one_of(arrays["labels_indptr"], arrays["labels_indices"], mine, which)
        of_label = arrays["own_indices"][torch.searchsorted(own, label + place * (1 - 1e-9)).clamp(max=len(own) - 1)]
        of_template = _one_of(arrays["indptr"], arrays["indices"], mine, place)
        return torch.where(source < 0.35, at_large, torch.where(source < 0.80, of_label, of_template))

    rng = np.random.default_rng(seed)
    template = rng.choice(len(lengths), n_docs, p=known["share"] / known["share"].sum())
    n_draws = np.maximum(rng.poisson(float(known["draws_per_word"]) * lengths[template]), 3)
    X = _matrix(template, n_draws, words, idf, device)
    return Made(X, torch.as_tensor(of[template], device=device))


def abstracts(n_docs: int, n_words: int, length: int, n_labels: int, device: Any, seed: int = 0) -> Made:
    """Abstracts of one to three topics: half of the words are of a topic's 3,000, by Zipf's law as all are."""
    rng = np.random.default_rng(seed)
    popularity = np.cumsum(1.0 / np.arange(2.0, n_labels + 2.0))
    template = np.arange(n_docs)
    topics = np.searchsorted(popularity / popularity[-1], rng.random((n_docs, 3))).clip(max=n_labels - 1)
    topics = np.where(rng.random((n_docs, 3)) < [1.0, 0.5, 0.2], topics, topics[:, :1])
    vocabulary = torch.as_tensor(rng.integers(100, n_words, (n_labels, 3_000)), device=device)
    rate, own = (
        torch.as_tensor(np.cumsum(r) / r.sum(), device=device)
        for r in (1.0 / (np.arange(n_words) + 10.0), 1.0 / (np.arange(3_000) + 10.0))
    )
    on_device = torch.as_tensor(topics, device=device)

    def words(template: Any, document: Any, number: Any) -> Any:
        source, place, which = (uniform(seed + stream, number) for stream in (1, 2, 3))
        topic = on_device[template[document]].gather(1, (which * 3).long()[:, None])[:, 0]
        of_topic = vocabulary[topic, torch.searchsorted(own, place * (1 - 1e-12)).clamp(max=2_999)]
        at_large = torch.searchsorted(rate, place * (1 - 1e-12)).clamp(max=n_words - 1)
        return torch.where(source < 0.5, at_large, of_topic)

    X = _matrix(template, np.maximum(rng.poisson(length, n_docs), 5), words, np.full(n_words, np.nan), device)
    labels = np.zeros((n_docs, n_labels), dtype=np.bool_)
    labels[np.arange(n_docs)[:, None], topics] = True
    flipped = rng.random(labels.shape) < 0.002
    return Made(X, torch.as_tensor(labels ^ flipped, device=device))


def uniform(stream: int, number: Any) -> Any:
    """Numbers from 0 to 1, one for each counter, by SplitMix64: alike on every device."""
    z = number * _GOLDEN + (stream + 1) * 1_000_003_000_001
    z = (z ^ _shifted(z, 30)) * _FIRST
    z = (z ^ _shifted(z, 27)) * _SECOND
    return _shifted(z ^ _shifted(z, 31), 11).double() * 2.0**-53


def _shifted(z: Any, bits: int) -> Any:
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _one_of(indptr: Any, indices: Any, rows: Any, u: Any) -> Any:
    sizes = indptr[rows + 1] - indptr[rows]
    return indices[(indptr[rows] + (u * sizes).long()).clamp(max=len(indices) - 1)]


def _matrix(template: Any, n_draws: Any, words: Any, idf: Any, device: Any) -> DocumentMatrix:
    """Draws as counts, (1 + ln tf)·idf at length one; idf that are not known are of these documents."""
    n_docs, n_words, parts, first_draw = len(template), len(idf), [], 0
    for first in range(0, n_docs, BLOCK):
        draws = torch.as_tensor(n_draws[first : first + BLOCK], device=device)
        document = torch.repeat_interleave(torch.arange(len(draws), device=device), draws)
        number = first_draw + torch.arange(len(document), device=device)
        first_draw += len(document)
        chosen = words(torch.as_tensor(template[first : first + BLOCK], device=device), document, number)
        key, counts = torch.unique(document * n_words + chosen, return_counts=True)
        parts.append((key + first * n_words, counts))
    key, counts = (torch.cat(part) for part in zip(*parts, strict=True))
    row, word = key // n_words, key % n_words
    if np.isnan(idf).any():
        has = torch.bincount(word, minlength=n_words).clamp(min=1).double()
        idf = torch.log(n_docs / has)
    values = (1.0 + torch.log(counts.double())) * torch.as_tensor(idf, device=device)[word]
    squares = torch.cumsum(torch.nn.functional.pad(values * values, (1, 0)), 0)
    sizes = torch.bincount(row, minlength=n_docs)
    ends = torch.cumsum(sizes, 0)
    norm = torch.sqrt(squares[ends] - squares[ends - sizes]).clamp(min=1e-12)
    values = values / norm[row]
    order = torch.argsort(word, stable=True)
    indptr = torch.nn.functional.pad(torch.cumsum(torch.bincount(word, minlength=n_words), 0), (1, 0))
    return DocumentMatrix.of_columns(indptr, row[order], values[order], n_docs)

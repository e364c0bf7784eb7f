"""Documents as shards of word counts: texts are read once, in chunks, and never held.

Pass one counts all terms of a chunk and numbers them as they come (``raw``); each shard keeps the terms that were new
in it, so that a run that was killed goes on where it stopped. Then the vocabulary is cut (``min_df`` and the like) and
pass two, over counts, gives terms their final columns (``counts``). The result is what
``TextVectorizer.fit_transform`` makes of all texts in memory.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.progress import Progress, silent
from textbayes.core.state import from_state, to_state
from textbayes.core.types import MISSING_LABEL, AnyArray, Document, FloatArray, IntArray
from textbayes.scale.shards import Shards, new_mapped
from textbayes.text import TextVectorizer
from textbayes.text.copies import N_BINS, Sketches, text_fingerprints, text_sketches
from textbayes.text.packed import Packed, StringIndex, pack, take, unpack

CHUNK = 1 << 23  # characters of the texts of a shard, some thousand documents

Choose = Callable[[Iterator[Document]], tuple[IntArray, Sequence[tuple[str, ...]]]]


class CountedShard(NamedTuple):
    """Counts (CSR of int32) and lengths of the documents of a shard, and the number of the first."""

    first: int
    counts: Any
    lengths: FloatArray


class TextShards:
    """Counts of the words of documents, in files.

    Parameters
    ----------
    folder : Path
        Where :meth:`build` has put them.

    Attributes
    ----------
    vectorizer : TextVectorizer
        Fitted to the texts.
    n_docs, n_features : int
    """

    def __init__(self, folder: Path) -> None:
        self.counts, vocabulary = Shards(folder / "counts"), Shards(folder / "vocabulary")
        for shards in (self.counts, vocabulary):
            shards.check()
        arrays = {name: np.array(array) for name, array in vocabulary.read(0).items()}
        self.vectorizer = from_state(TextVectorizer, vocabulary.about, arrays, "the vectorizer of the shards")
        self.n_docs, self.n_features = (int(self.counts.about[name]) for name in ("documents", "words"))

    @classmethod
    def build(
        cls,
        documents: Iterable[Document],
        vectorizer: TextVectorizer,
        folder: Path,
        choose: Choose | None = None,
        progress: Progress | None = None,
        chunk: int = CHUNK,
    ) -> TextShards:
        """Count the words of documents that come one by one; shards that an earlier run has finished stay.

        Parameters
        ----------
        documents : iterable of Document
            The same as in the run before, where one was interrupted; not read where all shards are there.
        vectorizer : TextVectorizer
            Not fitted.
        folder : Path
        choose : function, optional
            Given the documents without their texts, it returns the numbers of those to keep, in order, and their
            labels; others are as if they were not there.
        progress : Progress, optional
        chunk : int
            Characters of the texts of a shard.
        """
        counts, report = Shards(folder / "counts"), progress or silent
        if not counts.is_complete:
            raw = Shards(folder / "raw")
            terms = _count(documents, vectorizer, raw, report, chunk)
            ends = np.cumsum([0, *(len(shard["lengths"]) for shard in raw)])
            rows, labels = (np.arange(ends[-1]), None) if choose is None else choose(_documents(raw))
            cuts = np.searchsorted(rows, ends)
            own = [rows[first:last] - start for (first, last), start in zip(pairwise(cuts), ends, strict=False)]
            column_of_term, n_words = _vocabulary(raw, own, terms, vectorizer, Shards(folder / "vocabulary"))
            for number, (shard, own_rows) in enumerate(zip(raw, own, strict=True)):
                report("sorting words", number, len(own))
                own_labels = None if labels is None else labels[cuts[number] : cuts[number + 1]]
                counts.write(number, _final(shard, own_rows, own_labels, column_of_term, n_words))
            counts.complete({"documents": len(rows), "words": n_words})
            report("sorting words", len(own), len(own))
        shutil.rmtree(folder / "raw", ignore_errors=True)
        return cls(folder)

    def __iter__(self) -> Iterator[CountedShard]:
        """The documents, a shard at a time."""
        first = 0
        for shard in self.counts:
            yield CountedShard(first, _matrix(shard, self.n_features), np.array(shard["lengths"]))
            first += len(shard["lengths"])

    def documents(self) -> Iterator[Document]:
        """The documents without their texts."""
        return _documents(self.counts)

    def fingerprints(self) -> AnyArray:
        """Fingerprints of all texts, as ``text_fingerprints`` has them."""
        return np.unique(np.concatenate([shard["fingerprints"] for shard in self.counts]))

    def sketches(self, folder: Path) -> Sketches:
        """Sketches of all texts, to find copies among them, the larger part of them in a file of this folder."""
        words = np.concatenate([shard["sketch_words"] for shard in self.counts])
        bins = new_mapped(folder / "sketches.bin", (self.n_docs, N_BINS), np.uint8)
        np.concatenate([shard["sketch_bins"] for shard in self.counts], out=bins)
        return Sketches(words, bins)


def _count(
    documents: Iterable[Document], vectorizer: TextVectorizer, raw: Shards, report: Progress, chunk: int
) -> Packed:
    """Pass one: shards of all terms, and the terms by number."""
    index, n_docs, finished = StringIndex(), 0, raw.n_finished()
    for number, part in enumerate(_chunks(documents, chunk)):
        if number >= finished:
            raw.write(number, _counted(part, vectorizer, index))
        else:
            shard = raw.read(number)
            index.add(Packed(np.array(shard["new_terms"]), np.array(shard["new_ends"])))
        n_docs += len(part)
        report("reading words", n_docs, None)
    if not n_docs:
        raise InputError("no document was given; a vocabulary needs at least one with words in it")
    return index.strings()


def _chunks(documents: Iterable[Document], chunk: int) -> Iterator[list[Document]]:
    part: list[Document] = []
    size = 0
    for document in documents:
        part.append(document)
        size += len(document.text)
        if size >= chunk:
            yield part
            part, size = [], 0
    if part:
        yield part


def _counted(part: list[Document], vectorizer: TextVectorizer, index: StringIndex) -> dict[str, AnyArray]:
    """One shard of pass one."""
    texts = [document.text for document in part]
    terms, counts = vectorizer.count_terms(texts)
    sketches, before = text_sketches(texts, vectorizer), len(index)
    numbers = index.add(terms)
    new, ids = index.strings(before), pack(document.id for document in part)
    fields = pack(json.dumps(dict(document.fields)) for document in part)
    return {
        "indptr": counts.indptr, "indices": numbers[counts.indices].astype(np.int32),
        "data": counts.data.astype(np.int32), "new_terms": new.data, "new_ends": new.offsets,
        "lengths": vectorizer.document_lengths(texts), "fingerprints": text_fingerprints(texts, unique=False),
        "sketch_words": sketches.words, "sketch_bins": sketches.bins,
        "ids": ids.data, "id_ends": ids.offsets, "fields": fields.data, "field_ends": fields.offsets,
        **_packed_labels([None if document.lacks_label else document.labels for document in part]),
    }  # fmt: skip


def _packed_labels(labels: Sequence[tuple[str, ...] | None]) -> dict[str, AnyArray]:
    packed = pack(map(json.dumps, labels))
    return {"labels": packed.data, "label_ends": packed.offsets}


def _documents(shards: Shards) -> Iterator[Document]:
    """The documents of shards without their texts; equal labels are one object."""
    known: dict[str, tuple[str, ...]] = {"null": MISSING_LABEL}
    for shard in shards:
        columns = (("ids", "id_ends"), ("labels", "label_ends"), ("fields", "field_ends"))
        ids, labels, fields = (unpack(Packed(shard[data], shard[ends])) for data, ends in columns)
        for id_, own, field in zip(ids, labels, fields, strict=True):
            if own not in known:
                known[own] = tuple(json.loads(own))
            yield Document(id_, "", known[own], *([] if field == "{}" else [json.loads(field)]))


def _vocabulary(
    raw: Shards, rows: list[IntArray], terms: Packed, vectorizer: TextVectorizer, target: Shards
) -> tuple[AnyArray, int]:
    """Fit and store the vectorizer; the column of each term, −1 for those left out, and the number of columns."""
    documents, occurrences = (np.zeros(terms.n_strings, dtype=np.int64) for _ in range(2))
    for shard, own_rows in zip(raw, rows, strict=True):
        counts = _matrix(shard, terms.n_strings)[own_rows]
        documents += np.bincount(counts.indices, minlength=terms.n_strings)
        occurrences += np.bincount(counts.indices, counts.data, minlength=terms.n_strings).astype(np.int64)
    there = np.flatnonzero(documents)  # others are of documents that were left out
    column_of_term = np.full(terms.n_strings, -1, dtype=np.int32)
    column_of_term[there] = vectorizer.fit_terms(
        take(terms, there), sum(map(len, rows)), documents[there], occurrences[there]
    )
    meta, arrays = to_state(vectorizer)
    target.write(0, arrays)
    target.complete(meta)
    return column_of_term, vectorizer.fitted()[1].terms.n_strings


def _matrix(shard: dict[str, AnyArray], n_columns: int) -> Any:
    arrays = shard["data"], shard["indices"], shard["indptr"]
    return sparse.csr_matrix(arrays, shape=(len(shard["indptr"]) - 1, n_columns), copy=False)


def _final(
    shard: dict[str, AnyArray],
    rows: IntArray,
    labels: Sequence[tuple[str, ...]] | None,
    column_of_term: AnyArray,
    n_words: int,
) -> dict[str, AnyArray]:
    """Some documents of a shard with the final columns, in order, terms that were left out gone."""
    counts = _matrix(shard, len(column_of_term))[rows]
    columns = column_of_term[counts.indices]
    is_column = columns >= 0
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(is_column)])[counts.indptr]
    matrix = sparse.csr_matrix((counts.data[is_column], columns[is_column], ends), shape=(len(rows), n_words))
    matrix.sort_indices()
    ids, fields = (take(Packed(shard[f"{name}s"], shard[f"{name}_ends"]), rows) for name in ("id", "field"))
    own = take(Packed(shard["labels"], shard["label_ends"]), rows)
    stored_labels = {"labels": own.data, "label_ends": own.offsets} if labels is None else _packed_labels(labels)
    return {
        "indptr": matrix.indptr, "indices": matrix.indices, "data": matrix.data,
        "lengths": shard["lengths"][rows], "fingerprints": shard["fingerprints"][rows],
        "sketch_words": shard["sketch_words"][rows], "sketch_bins": shard["sketch_bins"][rows],
        "ids": ids.data, "id_ends": ids.offsets, "fields": fields.data, "field_ends": fields.offsets, **stored_labels,
    }  # fmt: skip

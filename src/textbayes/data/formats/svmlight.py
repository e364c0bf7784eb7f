"""svmlight / LIBSVM files: a matrix of any numbers, or counts of words that are read as texts.

>>> import io
>>> X, labels = read_svmlight(io.BytesIO(b"2,7 1:0.5 4:1\\n3 2:1\\n"))
>>> X.shape, labels
((2, 4), [('2', '7'), ('3',)])
>>> [(row.text, row.labels) for row in read_counts(io.BytesIO(b"2,7 1:2 4:1\\n3 2:1\\n"))]
[('f1 f1 f4', ('2', '7')), ('f2', ('3',))]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal

import numpy as np

from textbayes.core.errors import InputError, MalformedFileError, NotSupportedError
from textbayes.core.validation import check_choice, check_finite
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.streams import DAMAGE, Source, damaged, layout_of, limits_of, open_input

NAME = "svmlight"
WORD = r"[^ \0]+"  # the pattern that finds the words of a row again, whatever they are called
_ROWS = 1_000  # read at a time
_ROW = re.compile(rb"[-+]?[\d.]+(?:,[-+]?[\d.]+)*(?: +\d+:[-+\d.eE]+){2,} *(?:#.*)?\r?$", re.MULTILINE)
_TO_TYPE = (
    "in Python:",
    "  from textbayes import BayesLinearClassifier, save_model",
    "  from textbayes.data import read_svmlight",
    "  X, labels = read_svmlight({path!r})",
    "  save_model(BayesLinearClassifier().fit(X, [row[0] for row in labels]), 'model.tb')",
)


def read_svmlight(
    source: Source, n_features: int | None = None, zero_based: bool | Literal["auto"] = "auto"
) -> tuple[Any, list[tuple[str, ...]]]:
    """Matrix in CSR form and the labels of each row, from lines of ``label,label index:value index:value …``.

    Parameters
    ----------
    source : path, ``"-"`` or stream
        gzip, xz and bzip2 are seen by their first bytes.
    n_features : int, optional
        Columns of the matrix; the largest index found, if not given. Give it where two files must agree.
    zero_based : bool or "auto"
        Whether the first column has index 0; ``"auto"`` says no unless an index 0 occurs.
    """
    check_choice("zero_based", zero_based, (True, False, "auto"))
    with open_input(source) as stream:
        X, labels = _load(_CountedLines(stream, stream.label), zero_based)
        if not labels:
            raise MalformedFileError(stream.label, "no rows: a row is 'label,label index:value …'")
        if n_features is not None:
            if X.shape[1] > n_features:
                cause = f"column {X.shape[1]} was found where n_features={n_features}; raise n_features"
                raise MalformedFileError(stream.label, cause)
            X.resize((X.shape[0], n_features))
    return X, labels


def read_counts(source: Source, *, vocabulary: str | None = None, zero_based: bool = False) -> Iterator[Record]:
    """Read rows of counts as texts, in which every word stands as often as it was counted.

    Parameters
    ----------
    source : path, ``"-"`` or stream
    vocabulary : path, optional
        A word on each line, in the order of the indices. Without it index 12 is the word ``f12``.
    zero_based : bool
        Whether the first word of the vocabulary has index 0, and not 1.
    """
    words = None if vocabulary is None else _words_of(vocabulary)
    layout_of(source).add(format=NAME)
    with open_input(source) as stream:
        rest, number, label = iter(stream), 0, stream.label
        while True:
            lines = _CountedLines(islice(rest, _ROWS), label, number)
            X, labels = _load(lines, zero_based=True)
            if lines.number == number:
                break
            number = lines.number
            if not ((X.data >= 0.0) & (X.data == np.round(X.data))).all():
                raise not_counts(label)
            names = {k: _name(k, words, 0 if zero_based else 1, label) for k in np.unique(X.indices).tolist()}
            for row, own in enumerate(labels):
                entries = slice(X.indptr[row], X.indptr[row + 1])
                counted = [(names[k], int(n)) for k, n in zip(X.indices[entries], X.data[entries], strict=True)]
                limits_of(source).check_record(sum((len(word) + 1) * n for word, n in counted), label, number, "row")
                yield Record(" ".join(word for word, n in counted for _ in range(n)), own)
        if not number:
            raise MalformedFileError(label, "no rows: a row is 'label,label index:count …'")


def not_counts(label: str, why: str = "whose values are no counts, which commands do not read") -> NotSupportedError:
    """The refusal of vectors, with what to type instead."""
    error = NotSupportedError(f"{label} holds vectors (svmlight) {why}")
    for line in _TO_TYPE:
        error.add_note(line.format(path=label))
    return error


def _words_of(path: str) -> list[str]:
    with open_input(path) as stream:
        words = [line.decode("utf-8", "replace").strip() for line in stream]
    first: dict[str, int] = {}
    for number, word in enumerate(words, start=1):
        if len(word.split()) != 1 or "\0" in word or first.setdefault(word, number) != number:
            cause = f"{word!r} is no word of a vocabulary: give one on each line, without spaces, and none twice"
            raise MalformedFileError(path, cause, number)
    return words


def _name(index: int, words: list[str] | None, first: int, label: str) -> str:
    if words is None:
        return f"f{index}"
    if not first <= index < first + len(words):
        cause = f"index {index} has no word in the vocabulary, which has {len(words):,} from index {first} on"
        raise MalformedFileError(label, f"{cause}; give the vocabulary of this file, or the reader option zero_based")
    return words[index - first]


def _load(lines: _CountedLines, zero_based: bool | Literal["auto"]) -> tuple[Any, list[tuple[str, ...]]]:
    from sklearn.datasets import load_svmlight_file  # costs a second to import: only when used

    try:
        X, rows = load_svmlight_file(lines, multilabel=True, zero_based=zero_based)
        check_finite(X, "the matrix")
    except (ValueError, OverflowError) as error:
        if isinstance(error, MalformedFileError):
            raise
        if isinstance(error, InputError):
            raise MalformedFileError(lines.label, str(error)) from error
        cause = f"not svmlight ({error}): a row is 'label,label index:value …', indices rising, all numbers"
        raise MalformedFileError(lines.label, cause, lines.number) from error
    except DAMAGE as error:
        raise damaged(lines.label, error, lines.number + 1) from error
    return X, [tuple(f"{label:.15g}" for label in row) for row in rows]


class _CountedLines:
    """Lines as scikit-learn's loader takes them, remembering how far it got."""

    def __init__(self, lines: Iterable[bytes], label: str, number: int = 0) -> None:
        self._lines, self.label, self.number = lines, label, number

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.number += 1
            if b"\0" in line:
                cause = "NUL bytes: this is binary data, not svmlight; give a text file"
                raise MalformedFileError(self.label, cause, self.number)
            yield line

    def read(self) -> bytes:  # the loader takes only objects with this method
        return b"".join(self._lines)


def _is_svmlight(head: bytes) -> bool:
    return _ROW.match(head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")) is not None


FORMATS.register("svmlight")(
    Format(
        NAME,
        "counts of words, 'label,label index:count …' (libsvm)",
        read_counts,
        (".svm", ".svmlight", ".libsvm"),
        _is_svmlight,
    )
)

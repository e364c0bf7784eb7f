"""svmlight / LIBSVM files: vectors, not texts, so they give a matrix.

>>> import io
>>> X, labels = read_svmlight(io.BytesIO(b"2,7 1:0.5 4:1\\n3 2:1\\n"))
>>> X.shape, labels
((2, 4), [('2', '7'), ('3',)])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.validation import check_choice, check_finite
from textbayes.data.streams import DAMAGE, Input, Source, damaged, open_input


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
    from sklearn.datasets import load_svmlight_file  # costs a second to import: only when used

    check_choice("zero_based", zero_based, (True, False, "auto"))
    with open_input(source) as stream:
        lines = _CountedLines(stream)
        try:
            X, rows = load_svmlight_file(lines, multilabel=True, zero_based=zero_based)
        except (ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            cause = f"not svmlight ({error}): a row is 'label,label index:value …', indices rising, all numbers"
            raise MalformedFileError(stream.label, cause, lines.number) from error
        except DAMAGE as error:
            raise damaged(stream.label, error, lines.number + 1) from error
        if not rows:
            raise MalformedFileError(stream.label, "no rows: a row is 'label,label index:value …'")
        try:
            check_finite(X, "the matrix")
        except InputError as error:
            raise MalformedFileError(stream.label, str(error)) from error
        if n_features is not None:
            if X.shape[1] > n_features:
                cause = f"column {X.shape[1]} was found where n_features={n_features}; raise n_features"
                raise MalformedFileError(stream.label, cause)
            X.resize((X.shape[0], n_features))
    return X, [tuple(f"{label:.15g}" for label in row) for row in rows]


class _CountedLines:
    """Lines as scikit-learn's loader takes them, remembering how far it got."""

    def __init__(self, stream: Input) -> None:
        self._stream, self.number = stream, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._stream:
            self.number += 1
            if b"\0" in line:
                cause = "NUL bytes: this is binary data, not svmlight; give a text file"
                raise MalformedFileError(self._stream.label, cause, self.number)
            yield line

    def read(self) -> bytes:  # the loader takes only objects with this method
        return self._stream.read()

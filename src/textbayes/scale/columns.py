"""A matrix by columns in files, made from its rows a block at a time: what the solvers read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.errors import NotSupportedError
from textbayes.scale.shards import new_mapped

_MOST = 2**31 - 1  # non-zeros that 32-bit numbers of scipy and the kernels can count


def columns_on_disk(blocks: Callable[[], Iterable[Any]], n_features: int, folder: Path) -> Any:
    """CSC matrix of the rows that ``blocks()`` goes through, its arrays in files under ``folder``.

    Two passes: one counts the non-zeros of each column, one puts them into their places (a counting sort by column), so
    that no more than a block is in memory.

    Parameters
    ----------
    blocks : function that returns an iterable of CSR matrices (n_rows, n_features)
        Rows in order; it is called twice.
    n_features : int
    folder : Path
    """
    sizes, n_rows = np.zeros(n_features, dtype=np.int64), 0
    for block in blocks():
        sizes += np.bincount(block.indices, minlength=n_features)
        n_rows += block.shape[0]
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    if indptr[-1] > _MOST:
        raise NotSupportedError(
            f"the documents have {indptr[-1]:,} words in all, and one machine takes {_MOST:,}; raise --min-df, take "
            "fewer documents, or use a cluster (--cluster)"
        )
    indices = new_mapped(folder / "indices.bin", (int(indptr[-1]),), np.int32)
    data = new_mapped(folder / "data.bin", (int(indptr[-1]),), np.float64)
    cursors, first = indptr[:-1].copy(), 0
    for block in blocks():
        columns = block.tocsc()
        counts = np.diff(columns.indptr)
        places = np.repeat(cursors - columns.indptr[:-1], counts) + np.arange(columns.nnz)
        indices[places] = columns.indices + first
        data[places] = columns.data
        cursors += counts
        first += block.shape[0]
    matrix = sparse.csc_matrix((data, indices, indptr.astype(np.int32)), shape=(n_rows, n_features), copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix

"""Blocks of columns, one for each view of the same texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse


def side_by_side(blocks: Sequence[Any]) -> sparse.csr_matrix:
    """Matrices of the same documents as one, a block of columns each."""
    return blocks[0] if len(blocks) == 1 else sparse.csr_matrix(sparse.hstack(blocks, format="csr"))

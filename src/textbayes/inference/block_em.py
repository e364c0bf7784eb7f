"""MAP by EM on sub-vectors of the weights in turn, for more words than one system can hold."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import IntArray
from textbayes.inference import inferences
from textbayes.inference._em import BaseEm

_MATRICES = 3  # of the system's size are alive at once: the Gram matrix, its scaled copy and a factor


@inferences.register("block_em")
class BlockEm(BaseEm):
    """``em`` with the words in blocks: an EM step moves one block and the intercept while the other words stay.

    Each step is an EM step of the problem in which the other weights are known, so no step lowers the log-posterior,
    and a system has as many rows as its block has words. Where one row per document fits into memory there is one
    block, and this is ``em``.

    Parameters
    ----------
    tol, max_iter, n_jobs, start, plain
        As in ``em``.
    memory : int, optional
        Bytes that the systems of one label may take, by default 64 MiB; they decide how many words a block has.

    References
    ----------
    Meng & Rubin (1993), Maximum likelihood estimation via the ECM algorithm: a general framework, Biometrika 80.
    """

    name = "block_em"
    default_memory: ClassVar[int] = 2**26

    def __init__(
        self,
        tol: float = 1e-4,
        max_iter: int = 100,
        n_jobs: int = 1,
        start: str | None = None,
        plain: bool = False,
        memory: int | None = None,
    ) -> None:
        super().__init__(tol, max_iter, n_jobs, start, plain)
        self.memory = memory
        if memory is not None and memory < 1024:
            raise InputError(f"memory={memory} holds no block of words; pass at least 1024 bytes")

    def blocks(self, columns: IntArray, n_docs: int) -> list[IntArray]:
        memory = self.default_memory if self.memory is None else self.memory
        rows = int(np.sqrt(memory / (8 * _MATRICES)))
        n_blocks = 1 if n_docs <= rows else -(-len(columns) // rows)
        return np.array_split(columns, max(n_blocks, 1))

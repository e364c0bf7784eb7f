"""Sparse online Gaussian processes with 300 basis documents through 10,000 documents, beside NumPy.

Four large Reuters categories, their 300 words (−2 ln λ > 12.13, ltc weights) and the paper's three kernels with jitter
1e-4; the 9,603 training documents, and as many of them again as make 10,000. Our processes share both cores.
NumPy's side is ``ReferenceGP`` on dense rows, timed on the documents after the basis has filled up, on one category;
its predictions there are compared with ours.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from _common import close, fastest
from bench_online_speed import reuters_problem
from references.gaussian_process import ReferenceGP
from textbayes.models.online import PAPER_PROBIT, RBF, Bank, GaussianProcess, Polynomial

BAR = 20.0
N_DOCS, BUDGET, JITTER, TOLERANCE = 10_000, 300, 1e-4, 1e-4
WARM, TIMED = 1_500, 500  # documents that fill NumPy's basis, and that are timed


def rbf(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    squared = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2.0 * A @ B.T
    return np.exp(-0.5 * np.maximum(squared, 0.0))


KERNELS: dict[str, tuple[Any, Any]] = {
    "GP-1": (Polynomial(1), lambda A, B: A @ B.T + 1.0),
    "GP-2": (Polynomial(2), lambda A, B: (A @ B.T + 1.0) ** 2),
    "GP-R1": (RBF(), rbf),
}


def numpy_time(kernel: Any, dense: np.ndarray, y: np.ndarray) -> tuple[float, ReferenceGP, np.ndarray]:
    """Seconds a document, the process and ln⟨p⟩ of every document."""
    process = ReferenceGP.start(kernel, dense.shape[1], BUDGET, TOLERANCE, JITTER)
    log_prob = [process.learn(dense[i], y[i], i, PAPER_PROBIT) for i in range(WARM)]
    start = time.perf_counter()
    log_prob += [process.learn(dense[i], y[i], i, PAPER_PROBIT) for i in range(WARM, WARM + TIMED)]
    return (time.perf_counter() - start) / TIMED, process, np.array(log_prob)


def main() -> None:
    X, Y, words = reuters_problem()
    order = np.arange(N_DOCS) % X.shape[0]
    stream, outcomes = sparse.csr_matrix(X[order]), Y[order]
    labels = [label for label in np.argsort(-(Y > 0.0).sum(axis=0)) if len(words[label]) == BUDGET][:4]
    ratios = []
    for name, (ours, theirs) in KERNELS.items():
        bank = Bank([GaussianProcess.start(words[k], ours, BUDGET, TOLERANCE, JITTER) for k in labels], n_jobs=2)
        bank.learn(stream[:20], outcomes[:20, labels], PAPER_PROBIT)
        our_time, (learnt, _) = fastest(lambda bank=bank: bank.learn(stream, outcomes[:, labels], PAPER_PROBIT), 2)
        ours_each = our_time / N_DOCS / len(labels)
        label = labels[0]
        dense = X[: WARM + TIMED, words[label]].toarray()
        theirs_each, process, log_prob = numpy_time(theirs, dense, Y[:, label])
        _, info = bank[0].learn(X[: WARM + TIMED], Y[: WARM + TIMED, label], PAPER_PROBIT)
        gap = np.abs(info.log_prob[:, 0] - log_prob).max()
        sizes = [one.n_basis for one in learnt]
        print(
            f"{name:6} µs a document: NumPy {1e6 * theirs_each:7.0f} with {len(process.numbers)} basis documents, "
            f"ours {1e6 * ours_each:6.1f} with {min(sizes)}–{max(sizes)}; ln p differs by {gap:.0e}"
        )
        ratios.append(theirs_each / ours_each if gap < 1e-6 else 0.0)
    figures = ", ".join(f"{name} {ratio:.0f}x" for name, ratio in zip(KERNELS, ratios, strict=True))
    close("gp speed", min(ratios) >= BAR, f"{figures} the NumPy transcription (bar {BAR:g}x)")


if __name__ == "__main__":
    main()

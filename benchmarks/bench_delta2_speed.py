"""Δ² of 47,236 words for 100 categories beside our own χ² of presence, in one run.

The matrix is RCV1-shaped: the documents, words and topics of the public RCV1-v2 samples, with counts drawn for the
non-zeros (the samples hold weights; 1 + a geometric number). Bars are for the analytic variants, one set of p-values
for every word and category each; the exact ones and what is sampled are shown beside them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from _common import close, fastest
from textbayes.data import load_corpus
from textbayes.lexical.delta2 import delta2_test
from textbayes.select import scores

BAR = 3.0
ANALYTIC = [(model, "chi2") for model in ("poisson", "negative_binomial")]
EXACT = [(model, "exact") for model in ("poisson", "negative_binomial")]


def rcv1_counts() -> tuple[Any, Any]:
    """Counts (23,149 × 47,236) and the indicator of the 100 largest topics."""
    corpus = load_corpus("rcv1", version="subsets")
    Y, _ = corpus.encode()
    X = corpus.X[:23_149].tocsr()
    counts = np.random.default_rng(0).geometric(0.7, X.nnz).astype(np.float64)
    largest = np.argsort(-Y.sum(axis=0), kind="stable")[:100]
    return sparse.csr_matrix((counts, X.indices, X.indptr), shape=X.shape), Y[:23_149, largest]


def main() -> None:
    X, Y = rcv1_counts()
    print(f"matrix {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} non-zeros, {Y.shape[1]} categories")
    chi2, _ = fastest(lambda: scores.get("chi2")(X, Y), 5)
    print(f"{'χ² of presence':32} {chi2:6.2f} s")
    ratios = {}
    for model, method in ANALYTIC + EXACT:
        delta2_test(X[:200], Y[:200], model=model, method=method)  # loads compiled code
        seconds, _ = fastest(lambda model=model, method=method: delta2_test(X, Y, model=model, method=method), 5)
        ratios[model, method] = seconds / chi2
        print(f"Δ², {model}, {method:10} {seconds:6.2f} s  {seconds / chi2:.2f}x", flush=True)
    told = ", ".join(f"{model} {ratios[model, method]:.2f}x" for model, method in ANALYTIC)
    exact = ", ".join(f"{model} {ratios[model, method]:.2f}x" for model, method in EXACT)
    passed = all(ratios[variant] <= BAR for variant in ANALYTIC)
    close("delta2_speed", passed, f"analytic Δ² in {told} the time of χ² (bar {BAR:g}x); exact {exact}")


if __name__ == "__main__":
    main()

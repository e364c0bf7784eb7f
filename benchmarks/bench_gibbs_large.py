"""A large problem: 2,000 OpenStax modules, 20,000 words, Laplace probit, on two cores; memory and time.

The figure is the time for 1,000 effective draws of the predictive probabilities of the worst of 100 documents: that of
a run of 400 iterations after warm-up, scaled. The peak memory is that of the process, corpus and word counts included.
"""

from __future__ import annotations

import resource
import time

import numpy as np
from scipy import sparse

from _common import close
from textbayes.data import load_corpus
from textbayes.inference import Problem
from textbayes.inference.gibbs import Gibbs
from textbayes.links import make_link
from textbayes.posterior.draws import effective_sample_size
from textbayes.priors import make_prior
from textbayes.text import TermWeighting, TextVectorizer

N_DOCS, N_WORDS, N_DRAWS, WARMUP = 2_000, 20_000, 400, 100
MOST_GIB, MOST_MINUTES = 4.0, 10.0


def problem() -> Problem:
    corpus = load_corpus("openstax")
    rows = np.sort(np.random.default_rng(0).choice(len(corpus.texts), N_DOCS, replace=False))
    counts = TextVectorizer().fit_transform([corpus.texts[row] for row in rows])
    common = np.sort(np.argsort(-np.bincount(counts.indices, minlength=counts.shape[1]), kind="stable")[:N_WORDS])
    X = sparse.csc_matrix(TermWeighting("tfidf").fit_transform(counts[:, common]))
    X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape)
    y = np.array([1.0 if corpus.labels[row][0] == "psychology" else -1.0 for row in rows])
    return Problem(
        X, y[:, None], make_link("probit"), make_prior("laplace", np.sqrt(5.0)), make_prior("gaussian", 10.0)
    )


def main() -> None:
    given = problem()
    print(f"{given.X.shape[0]} documents, {given.X.shape[1]} words, {given.X.nnz} non-zeros")
    times = []
    for n in (4, N_DRAWS):
        start = time.perf_counter()
        posterior = Gibbs(chains=2, n_jobs=2, warmup=WARMUP, target_ess=1e9, max_draws=n).run(given)
        times.append(time.perf_counter() - start)
    seconds = times[1] - times[0]
    documents = given.X.tocsr()[np.linspace(0, N_DOCS - 1, 100).astype(int)]
    one = posterior.draws.labels[0]
    eta = one.predictors(documents).reshape(100, 2, -1)
    probabilities = np.moveaxis(given.link.probability(eta), 0, 2)
    worst = effective_sample_size(probabilities).min()
    minutes = seconds * 1000.0 / worst / 60.0
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    each = 1000.0 * seconds / N_DRAWS
    print(f"{each:.0f} ms an iteration of two chains, worst effective sample size {worst:.0f} of {2 * N_DRAWS}")
    figures = (
        f"{minutes:.1f} minutes for 1,000 effective draws (bar {MOST_MINUTES:g}), {gib:.1f} GiB (bar {MOST_GIB:g})"
    )
    close("gibbs large", minutes <= MOST_MINUTES and gib <= MOST_GIB, figures)


if __name__ == "__main__":
    main()

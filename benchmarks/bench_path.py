"""A scale by 5-fold cross-validation over 10 values, beside LogisticRegressionCV and skglm with warm starts.

Reuters, one binary problem per category, the same Cs, folds, loss (log-loss) and problem: the intercept is penalised
like a weight, as liblinear does. scikit-learn needs two training documents of a category, so that no fold is without
one; its categories are spread over two processes, which is faster than its own n_jobs. Both end with a fit on all
documents at the value chosen. Pass a number to take that many categories, spread over their sizes.

LogisticRegressionCV with liblinear begins every fit from nothing. skglm's ProxNewton goes along the values of C from
the weights of the one before, as ours does: the same folds, loss and choice, an intercept without penalty on both
sides, one core each, and the loosest tolerance whose training objectives of fold 1 add up to ours within 1e-3. It has
six of the categories, spread over their sizes.

liblinear stops short of the optimum where the prior is wide, which regularises by accident: a few categories get a
lower held-out loss there, and another C, than the optimum has. Where the two choices differ, liblinear is therefore run
again to a tight tolerance (not timed), and the choice is held against that.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import log_expit
from skglm.datafits import Logistic
from skglm.penalties import L1
from skglm.solvers import ProxNewton
from skglm.utils.jit_compilation import compiled_clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import threadpool_limits

from _common import close, reuters_matrix
from textbayes.core.folds import stratified_folds
from textbayes.inference import Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.links import make_link
from textbayes.models.weights import as_columns
from textbayes.priors import make_prior
from textbayes.tune import regularisation_path, search_scale
from textbayes.tune.path import at_scale

CS = np.logspace(-4, 4, 10)
FOLDS = 5
BAR, BAR_WARM = 8.0, 2.0
N_WARM, WARM_TOLS, WITHIN = 6, (1e-4, 1e-5, 1e-6), 1e-3

COMPILED = compiled_clone(Logistic())


def theirs(
    X: Any, y: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]], tol: float = 1e-4, max_iter: int = 100
) -> tuple[Any, ...]:
    """Held-out losses by C, the first fold's weights by C (intercept last), the place of the C chosen, CPU seconds."""
    start = time.process_time()
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = LogisticRegressionCV(
        Cs=CS, l1_ratios=[1.0], solver="liblinear", scoring="neg_log_loss", cv=splits, use_legacy_attributes=False,
        tol=tol, max_iter=max_iter,
    ).fit(X, y)  # fmt: skip
    weights = np.asarray(model.coefs_paths_).reshape(FOLDS, len(CS), -1)[0]
    loss = -np.asarray(model.scores_).reshape(FOLDS, len(CS)).mean(axis=0)
    chosen = int(np.argmin(np.abs(np.log(CS) - np.log(np.ravel(model.C_)[0]))))
    return loss, weights, chosen, time.process_time() - start


def objective(X: Any, y: np.ndarray, weights: np.ndarray, free: bool = False) -> np.ndarray:
    """liblinear's, of each C: Σ log(1 + exp(−margin)) + (|w|₁ + |b|)/C, without |b| if the intercept is free."""
    margins = np.where(y, 1.0, -1.0)[:, None] * (X @ weights[:, :-1].T + weights[:, -1])
    return -log_expit(margins).sum(axis=0) + np.abs(weights[:, :-1] if free else weights).sum(axis=1) / CS


def warm_path(X: Any, y: np.ndarray, tol: float) -> np.ndarray:
    """skglm's weights by C, intercept last, each fit from those of the C before."""
    columns, sign, solver = X.tocsc(), np.where(y, 1.0, -1.0), ProxNewton(tol=tol, max_iter=50, warm_start=True)
    found, w, Xw = [], None, None
    for C in CS:
        w = solver.solve(columns, sign, COMPILED, compiled_clone(L1(1.0 / (C * X.shape[0]))), w, Xw)[0]
        Xw = columns @ w[:-1] + w[-1]
        found.append(w.copy())
    return np.array(found)


def warm_choice(X: Any, y: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]], tol: float) -> np.ndarray:
    """skglm's search and its fit on all documents; the weights of fold 1 by C."""
    paths = [warm_path(X[train], y[train], tol) for train, _ in splits]
    loss = np.zeros(len(CS))
    for weights, (_, test) in zip(paths, splits, strict=True):
        margins = np.where(y[test], 1.0, -1.0)[:, None] * (X[test] @ weights[:, :-1].T + weights[:, -1])
        loss -= log_expit(margins).mean(axis=0)
    warm_path(X, y, tol)[loss.argmin()]
    return paths[0]


def beside_warm_starts(X: Any, Y: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Times of skglm's CPU time that ours takes, both on one core, with free intercepts."""
    prior, train = make_prior("laplace", 1.0), splits[0][0]
    problem = Problem(as_columns(X), np.where(Y, 1.0, -1.0), make_link("logit"), prior, prior.rescaled(np.inf))
    start = time.process_time()
    found = ours(problem, splits, 1, False)
    our_cpu = time.process_time() - start
    part = problem._replace(X=as_columns(X[train]), y=np.ascontiguousarray(problem.y[train]))
    path = regularisation_path(part, CS, n_jobs=1, guide=found.path)
    best = sum(fit.objective for fits in path.solutions for fit in fits)
    for tol in WARM_TOLS:
        start = time.process_time()
        paths = [warm_choice(X, y, splits, tol) for y in Y.T]
        their_cpu = time.process_time() - start
        reached = [objective(X[train], y[train], w, free=True).sum() for y, w in zip(Y.T, paths, strict=True)]
        total = float(np.sum(reached))
        print(f"{Y.shape[1]} categories, one core: textbayes {our_cpu:.1f} s, skglm with warm starts", end=" ")
        print(f"{their_cpu:.1f} s at tol {tol:g}; objectives of fold 1 {best:.4f} and {total:.4f}", flush=True)
        if total <= best * (1.0 + WITHIN):
            break
    return their_cpu / our_cpu


def ours(
    problem: Problem, splits: list[tuple[np.ndarray, np.ndarray]], n_jobs: int = 2, tie_intercept: bool = True
) -> Any:
    """The search, and then the fits on all documents at the values chosen."""
    found = search_scale(problem, CS, splits, n_jobs=n_jobs, tie_intercept=tie_intercept)
    start = found.path.posterior(found.point)
    for point in np.unique(found.point):
        labels = np.flatnonzero(found.point == point)
        alike = problem._replace(y=np.ascontiguousarray(problem.y[:, labels]))
        from_path = start._replace(mean=start.mean[labels], intercept=start.intercept[labels])
        scaled = at_scale(alike, np.full(len(labels), CS[point]), tie_intercept)
        Coordinate(1e-4, 100, n_jobs).run(scaled, from_path)
    return found


def main() -> None:
    X, Y = reuters_matrix()
    counts = Y.sum(axis=0)
    order = np.argsort(-counts, kind="stable")[: (counts >= 2).sum()]
    if len(sys.argv) > 1:
        order = order[np.unique(np.linspace(0, len(order) - 1, int(sys.argv[1])).astype(int))]
    Y = Y[:, order]
    print(f"matrix {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} non-zeros; {Y.shape[1]} of {len(counts)} categories")
    fold = stratified_folds(Y, FOLDS, 0)
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(FOLDS)]
    prior = make_prior("laplace", 1.0)
    problem = Problem(as_columns(X), np.where(Y, 1.0, -1.0), make_link("logit"), prior, prior.rescaled(1.0))
    small = problem._replace(X=as_columns(X[:500]), y=problem.y[:500, :3])
    search_scale(small, CS[3:6], 2, tie_intercept=True)  # compiles, or finds what was compiled
    start, start_cpu = time.perf_counter(), time.process_time()
    found = ours(problem, splits)
    our_time, our_cpu = time.perf_counter() - start, time.process_time() - start_cpu
    with Parallel(n_jobs=2) as pool:
        pool(delayed(theirs)(X[:500], Y[:500, 0], [(np.arange(400), np.arange(400, 500))] * FOLDS) for _ in range(2))
        start = time.perf_counter()
        results = pool(delayed(theirs)(X, Y[:, k], splits) for k in range(Y.shape[1]))
        their_time = time.perf_counter() - start
    their_loss, their_point = (np.array([result[k] for result in results]) for k in (0, 2))
    train = splits[0][0]
    their_objective = np.array([objective(X[train], Y[train, k], result[1]) for k, result in enumerate(results)])
    part = problem._replace(X=as_columns(X[train]), y=np.ascontiguousarray(problem.y[train]))
    path = regularisation_path(part, CS, n_jobs=2, guide=found.path, tie_intercept=True)
    our_objective = np.array([[fit.objective for fit in fits] for fits in path.solutions])
    print("        C   held-out log-loss, sum    training objective of fold 1, sum")
    print("            textbayes  liblinear      textbayes      liblinear")
    for s, C in enumerate(CS):
        print(
            f"{C:9.3g}  {found.loss[s].sum():10.5f} {their_loss[:, s].sum():10.5f} "
            f"{our_objective[s].sum():14.4f} {their_objective[:, s].sum():14.4f}"
        )
    labels = np.arange(Y.shape[1])
    best, their_best = found.loss[found.point, labels], their_loss[labels, their_point]
    same, better = found.point == their_point, best < their_best
    print(f"same C for {same.sum()} of {len(labels)} categories; a lower loss at another for {better[~same].sum()}")
    print(f"held-out log-loss at the choice, sum over categories: {best.sum():.5f} and {their_best.sum():.5f}")
    their_cpu = sum(result[3] for result in results)
    print(f"textbayes {our_time:.1f} s ({our_cpu:.1f} s of CPU time), ", end="")
    print(f"LogisticRegressionCV {their_time:.1f} s ({their_cpu:.1f} s of CPU time)")
    apart = np.flatnonzero(~same & ~better)
    if len(apart):
        tight = Parallel(n_jobs=2)(delayed(theirs)(X, Y[:, k], splits, 1e-6, 10_000) for k in apart)
        for k, result in zip(apart, tight, strict=True):
            chosen = f"C = {CS[found.point[k]]:.3g} with loss {best[k]:.6f}"
            stopped = f"{CS[their_point[k]]:.3g} with {their_best[k]:.6f}"
            converged = f"{CS[result[2]]:.3g} with {result[0][result[2]]:.6f}"
            print(f"{counts[order[k]]} documents: {chosen}; liblinear {stopped}, converged {converged}")
        apart = [k for k, r in zip(apart, tight, strict=True) if found.point[k] != r[2] and best[k] >= r[0][r[2]]]
    ratio = their_time / our_time
    some = np.unique(np.linspace(0, Y.shape[1] - 1, N_WARM).astype(int))
    with threadpool_limits(1):
        warm_path(X[:500], Y[:500, 0], 0.1)  # loads compiled code
        warm = beside_warm_starts(X, Y[:, some], splits)
    figures = (
        f"{ratio:.1f}x LogisticRegressionCV on two cores (bar {BAR:g}x), {len(apart)} categories with a worse choice; "
        f"{warm:.1f}x skglm with warm starts on one core (bar {BAR_WARM:g}x)"
    )
    close("path", ratio >= BAR and warm >= BAR_WARM and not len(apart), figures)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "Passing in a compiled", UserWarning)  # skglm 0.5 wants to compile every time
    main()

"""How many words a model needs: held-out F1 and log-loss along the path of a Laplace prior's scale."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from textbayes.core.cross_validation import Folds, out_of_fold
from textbayes.core.errors import InputError
from textbayes.core.labels import encode_labels, normalise_classes
from textbayes.core.machine import n_threads
from textbayes.core.progress import Progress, silent
from textbayes.core.types import BoolArray, FloatArray, Matrix
from textbayes.evaluate import evaluate
from textbayes.inference import Problem
from textbayes.links import make_link
from textbayes.models.weights import as_columns
from textbayes.priors import make_prior
from textbayes.tune.path import regularisation_path
from textbayes.tune.search import f1_of_decisions, factor_grid


class SparsityPoint(NamedTuple):
    """One scale of the prior: words of its fit to all documents, and measures of documents held out.

    ``words`` have a weight for some label; ``standard_error`` is that of ``macro_f1``; ``micro_f1`` is the accuracy
    where each document has one label.
    """

    scale: float
    words: int
    words_per_label: float
    macro_f1: float
    standard_error: float
    micro_f1: float
    log_loss: float


class SparsityPath(NamedTuple):
    """Points from the sparsest model on, the place of the best F1, and that of the model chosen.

    Chosen is the sparsest model whose macro F1 is within a standard error of the best.
    """

    points: list[SparsityPoint]
    best: int
    chosen: int
    n_docs: int
    n_folds: int

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each point, with its ``mark``: "best", "chosen", both or neither."""
        marks = (("best", self.best), ("chosen", self.chosen))
        return [
            {**point._asdict(), "mark": ", ".join(name for name, place in marks if place == number)}
            for number, point in enumerate(self.points)
        ]


def sparsity_path(
    X: Matrix | ArrayLike,
    labels: Any,
    *,
    weighting: Any = None,
    n_points: int = 12,
    cv: Any = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> SparsityPath:
    """Held-out F1 and log-loss of logistic regressions with a Laplace prior, from few words to many.

    All labels share one scale at each point, from the widest that leaves all words out to 2,000 times that of the label
    in the middle. Where each document has one label the likelier class is decided, else every label that is likelier
    than not.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Counts of words if there is a ``weighting``, else what the regressions read.
    labels : sequence of labels, of lists of labels, or array (n_docs, n_labels)
    weighting : TermWeighting, optional
        Not fitted: weights of words are learnt again in each fold.
    n_points : int
        Scales to try.
    cv : int, array of fold numbers, splitter or Folds
    random_state : int
        Of the folds.
    n_jobs : int or None
        Threads.
    progress : function of (what, done, total), optional

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), Classification and regression trees, section 3.4.3 (one standard error).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 30))
    >>> found = sparsity_path(X, X[:, 0] - X[:, 1] + 0.5 * rng.logistic(size=300) > 0.0)
    >>> found.points[found.chosen].words < found.points[-1].words
    True
    """
    if n_points < 2:
        raise InputError(f"n_points={n_points!r} is no path; pass 2 points or more")
    indicator, space = encode_labels(labels)
    matrix = sparse.csr_matrix(X)
    if matrix.shape[0] != len(indicator):
        raise InputError(f"X has {matrix.shape[0]:,} documents and labels {len(indicator):,}; pass one for each")
    folds = Folds.of(cv, indicator, random_state)
    link, prior, jobs = make_link("logit"), make_prior("laplace", 1.0), n_threads(n_jobs)

    def read(train: BoolArray) -> tuple[Any, Problem]:
        """What weighs words as some documents have them, and the problem of these."""
        own = None if weighting is None else clone(weighting).fit(matrix[train])
        X = as_columns(matrix[train] if own is None else own.transform(matrix[train]))
        y = np.ascontiguousarray(np.where(indicator[train], 1.0, -1.0))
        return own, Problem(X, y, link, prior, prior.rescaled(np.inf))

    whole = read(np.ones(len(indicator), dtype=np.bool_))[1]
    factors = factor_grid(whole, n_points, per_label=False)
    path = regularisation_path(whole, factors, n_jobs=jobs)

    def held_out(_: None, k: int) -> FloatArray:
        train, test = folds.split(k)
        own, problem = read(train)
        rows = matrix[test] if own is None else own.transform(matrix[test])
        return regularisation_path(problem, factors, n_jobs=jobs, guide=path).linear_predictor(rows)

    [(_, eta)] = out_of_fold(held_out, folds, report=progress, in_turn=True)
    truth = indicator[folds.held_out]
    points = []
    for number, scores in enumerate(eta):
        proba, decided = link.probability(scores), scores > 0.0
        if space.kind == "multiclass":
            proba = normalise_classes(link.log_prob(scores, np.ones_like(scores)))
            decided = np.eye(space.n_columns, dtype=np.bool_)[scores.argmax(axis=1)]
        found = evaluate(truth, proba, decided, space.class_names, kind=space.kind)
        pair = [np.hstack([~one, one]) if space.kind == "binary" else one for one in (decided, truth)]
        error = f1_of_decisions(pair[0], pair[1], np.ones(len(truth))).common_error
        sizes = [fit.columns for fit in path.solutions[number]]
        used = len(np.unique(np.concatenate(sizes)))
        each = float(np.mean([len(columns) for columns in sizes]))
        points.append(
            SparsityPoint(
                float(factors[number, 0]), used, each, found["macro_f1"], error, found["micro_f1"],
                found["log_loss"],
            )
        )  # fmt: skip
    f1 = np.array([point.macro_f1 for point in points])
    best = int(f1.argmax())
    chosen = int((f1 >= f1[best] - points[best].standard_error).argmax())
    return SparsityPath(points, best, chosen, len(truth), folds.n)

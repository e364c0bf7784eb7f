"""MAP of all labels at once in PyTorch, on a graphics card where there is one: for many documents times many labels."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from textbayes.core.codec import Choice, Fields, Null, Whole
from textbayes.core.errors import InputError, MissingExtraError, NotSupportedError
from textbayes.core.lazy import LazyModule
from textbayes.core.machine import DEVICES, on_card
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference import inferences
from textbayes.inference._all_labels import LINKS, DocumentMatrix, Fitted, Labels, NewtonOfLabels
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem
from textbayes.links.base import BaseLink
from textbayes.priors.base import BasePrior

torch: Any = LazyModule("torch")

_NONZERO = 24  # bytes: its index and its value, by rows and by columns
_ROW, _COLUMN = 100, 250  # bytes of a label's document and word, with what a step needs for the time being
_OF_MATRIX = 0.4  # of the memory
_ON_CPU = 4 << 30


@inferences.register("gpu")
class Gpu(BaseInference):
    """Proximal Newton with conjugate gradients for logit and probit links and log-concave priors, all labels at once.

    It ends by the optimality conditions that ``coordinate`` ends by, in double precision, and so finds its optimum to
    the tolerance. Needs PyTorch (``textbayes[gpu]``). A card is worth it from some million documents × labels on.

    Parameters
    ----------
    tol, max_iter :
        As in ``BaseInference``.
    n_jobs : int
        Not used: PyTorch has threads of its own.
    device : {"auto", "cpu", "cuda"}
        "auto" takes a card if there is one.
    memory : int or None
        Bytes to use on the device: labels are fitted in groups that fit, and a matrix that is larger is read in blocks
        of rows. None takes what is free on a card, and 4 GiB of a CPU's.
    """

    name = "gpu"
    fields: ClassVar[Fields] = {"device": Choice(*DEVICES), "memory": Whole(1 << 10, 1 << 50) | Null()}
    requires_link = ("log_concave",)
    requires_prior = ("exact_local",)

    def __init__(
        self, tol: float = 1e-4, max_iter: int = 100, n_jobs: int = 1, device: str = "auto", memory: int | None = None
    ) -> None:
        super().__init__(tol, max_iter, n_jobs)
        self.device, self.memory = device, memory

    @classmethod
    def check(cls, link: BaseLink, prior: BasePrior) -> None:
        super().check(link, prior)
        if link.name not in LINKS:
            raise NotSupportedError(
                f"inference 'gpu' knows the links {' and '.join(LINKS)}; link {link.name!r} is another: use inference "
                "'coordinate'"
            )

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        if importlib.util.find_spec("torch") is None:
            raise MissingExtraError("torch", "gpu", "inference 'gpu'")
        device = torch.device("cuda" if on_card(self.device) else "cpu")
        memory = self.memory or _free(device)
        matrix = problem.X
        if _kinked(problem.intercept_prior):
            matrix = sparse.csc_matrix(sparse.hstack([matrix, np.ones((matrix.shape[0], 1))]))
        record = None if self.trace is None else self.record
        for share in (1, 2, 4, 8):  # others may use the card too
            with contextlib.suppress(torch.cuda.OutOfMemoryError):
                X = DocumentMatrix.of(matrix, device, int(_OF_MATRIX * memory / share) // _NONZERO)
                return fit_labels(X, problem, start, self.tol, self.max_iter, memory // share, record)
            torch.cuda.empty_cache()
        raise InputError(
            f"the card has too little memory free for a matrix of {matrix.shape[0]:,} documents; end what else "
            "uses it, or fit on the CPU (device='cpu')"
        )


def fit_labels(
    X: DocumentMatrix,
    problem: Problem,
    start: Posterior | None,
    tol: float,
    max_iter: int,
    memory: int,
    record: Callable[[int, FloatArray, float], None] | None = None,
) -> Posterior:
    """Fit a problem whose matrix lies in X, in groups of labels that the memory has room for.

    Parameters
    ----------
    X : DocumentMatrix
        With a last column of ones where the intercept's prior has a kink.
    problem : Problem
        Its own matrix is not read.
    start : Posterior or None
    tol, max_iter, memory : as for ``Gpu``
    record : function of (label, weights, intercept), optional
    """
    n_labels = problem.y.shape[1]
    n_words = X.n_words - _kinked(problem.intercept_prior)
    most = int((1.0 - _OF_MATRIX) * memory) // (_ROW * X.n_docs + _COLUMN * X.n_words)
    n_groups = min(n_labels, -(-n_labels // max(most, 1)))
    mean, intercept, rest = np.empty((n_labels, n_words)), np.empty(n_labels), np.empty((3, n_labels))
    for group in np.array_split(np.arange(n_labels), n_groups):
        fitted = _fit_group(X, problem, start, group, tol, max_iter, record)
        mean[group], intercept[group], rest[:, group] = fitted.w, fitted.b, fitted[2:]
    objective, violation, n_iter = rest
    return Posterior(mean, intercept, None, FitInfo(objective, violation, n_iter.astype(np.int64), violation <= tol))


def _fit_group(
    X: DocumentMatrix,
    problem: Problem,
    start: Posterior | None,
    group: IntArray,
    tol: float,
    max_iter: int,
    record: Any,
) -> Fitted:
    k, prior, own, kinked = len(group), problem.prior, problem.intercept_prior, _kinked(problem.intercept_prior)
    n_words = X.n_words - kinked
    center, l1, l2 = _penalties(prior, group, n_words)
    of_intercept = np.zeros((3, k)) if own is None else np.concatenate([*_penalties(own, group, 1, by_label=True)])
    w = np.broadcast_to(center, (n_words, k)) if start is None else start.mean[group].T
    b = of_intercept[0] if start is None else start.intercept[group]
    pinned = None if problem.words is None else ~problem.words[group].T
    if kinked:  # the intercept is the last of the words
        center, l1, l2 = (
            np.vstack([np.broadcast_to(part, (n_words, k)), last])
            for part, last in zip((center, l1, l2), of_intercept, strict=True)
        )
        w = np.vstack([w, b])
        pinned = None if pinned is None else np.vstack([pinned, np.zeros((1, k), np.bool_)])
        b, of_intercept = np.zeros(k), np.zeros((3, k))
    weight = None if problem.sample_weight is None else np.asarray(problem.sample_weight, dtype=np.float64)

    def put(values: Any) -> Any:
        return None if values is None else torch.as_tensor(np.require(values, requirements=["C", "W"]), device=X.device)

    labels = Labels(
        problem.link.name, put(problem.y[:, group]), put(weight), put(center), put(l1), put(l2), put(pinned),
        own is not None and not kinked, put(of_intercept[0]), put(of_intercept[2]), put(w), put(b - of_intercept[0]),
        start is None,
    )  # fmt: skip

    def tell(ids: Any, w: Any, intercept: Any) -> None:
        steps = zip(group[ids.cpu().numpy()], w.T.cpu().numpy(), intercept.tolist(), strict=True)
        for label, weights, b in steps:
            record(int(label), *((weights[:-1], float(weights[-1])) if kinked else (weights, b)))

    fitted = NewtonOfLabels(X, labels, tol, max_iter).run(None if record is None else tell)
    return fitted._replace(w=fitted.w[:, :-1], b=fitted.w[:, -1]) if kinked else fitted


def _penalties(prior: BasePrior, group: IntArray, n_words: int, by_label: bool = False) -> list[FloatArray]:
    """Center, l1 and l2 of the words (n_words, k) of a group of labels, or (n_words, 1) where they are all alike."""
    by_label = by_label or any(value.ndim == 2 for value in vars(prior).values())
    each = [prior.for_label(label, n_words).local(np.zeros(n_words)) for label in (group if by_label else group[:1])]
    return [np.stack(part, axis=1) for part in zip(*each, strict=True)]


def _kinked(prior: BasePrior | None) -> bool:
    """Whether the prior of an intercept has a kink, as one of a Laplace prior has unless it is free."""
    return prior is not None and bool((prior.local(np.zeros_like(prior.scale)).l1 > 0.0).any())


def _free(device: Any) -> int:
    return int(0.9 * torch.cuda.mem_get_info()[0]) if device.type == "cuda" else _ON_CPU

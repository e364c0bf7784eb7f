"""The problem every inference solves and the posterior it returns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textbayes.core.codec import Fields, Number, Whole
from textbayes.core.errors import NotSupportedError
from textbayes.core.parameters import Parameters
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.links.base import BaseLink
from textbayes.priors.base import BasePrior

if TYPE_CHECKING:
    from textbayes.posterior.draws import Draws


class Problem(NamedTuple):
    """Problem of k binary regressions on the same documents: X (n, p) in CSC with int32 indices, y (n, k) of −1 and +1.

    ``intercept_prior``, with hyperparameters that are numbers or (k, 1), is None where there is no intercept; its scale
    is inf where the intercept is free. ``words`` (k, p), where given, says which words a label may use; the others stay
    at their prior mean.
    """

    X: Any
    y: FloatArray
    link: BaseLink
    prior: BasePrior
    intercept_prior: BasePrior | None
    sample_weight: FloatArray | None = None
    words: BoolArray | None = None

    def intercept_prior_of(self, label: int) -> BasePrior | None:
        """The prior of one label's intercept, with hyperparameters of shape (1,)."""
        return None if self.intercept_prior is None else self.intercept_prior.for_label(label, 1)


class FitInfo(NamedTuple):
    """Outcome of a fit, one value per label.

    ``violation`` is the largest distance of a partial derivative of the objective from its optimality condition,
    relative to the largest one at the start, or to less where steps of single words would still gain much (of ``dual``:
    √(duality gap/objective)); ``objective`` is −log likelihood − log prior up to the prior's constant.
    """

    objective: FloatArray
    violation: FloatArray
    n_iter: IntArray
    converged: BoolArray


class Posterior(NamedTuple):
    """The posterior of the weights of k labels.

    Attributes
    ----------
    mean : array (k, p)
        Means where the inference samples, else the mode.
    intercept : array (k,)
        The same of the intercepts.
    var : array (k, p) or None
        Variances; None at a mode.
    info : FitInfo
    draws : Draws or None
        What an inference that samples has drawn.
    """

    mean: FloatArray
    intercept: FloatArray
    var: FloatArray | None
    info: FitInfo
    draws: Draws | None = None


class Step(NamedTuple):
    """Weights of a label after a step; see ``BaseInference.trace``."""

    label: int
    w: FloatArray
    b: float


class BaseInference(Parameters, ABC):
    """Settings in the constructor, ``run`` as a pure function of the problem.

    ``requires_link`` and ``requires_prior`` name the class attributes that must be true of what it is combined with.

    Parameters
    ----------
    tol : float
        Largest optimality violation left, relative to the start's.
    max_iter : int
        Rounds per label.
    n_jobs : int
        Threads; the kernels release the interpreter lock.

    Attributes
    ----------
    trace : list of Step or None
        Set it to a list to be given the weights of every label at its start and after every step.
    """

    name: ClassVar[str]
    fields: ClassVar[Fields] = {
        "tol": Number(above=0.0),
        "max_iter": Whole(1, 10**9),
        "n_jobs": Whole(-1024, 1024),
    }
    requires_link: ClassVar[tuple[str, ...]] = ()
    requires_prior: ClassVar[tuple[str, ...]] = ()
    keeps_signs: ClassVar[bool] = False  # can hold a weight to the sign that its prior demands
    label_replicates: int = 1  # how many times each label is taken, see ``Gibbs``
    samples: ClassVar[bool] = False  # draws the posterior: its ``mean`` is the mean, not the mode

    def __init__(self, tol: float = 1e-4, max_iter: int = 100, n_jobs: int = 1) -> None:
        self.tol, self.max_iter, self.n_jobs = tol, max_iter, n_jobs
        self.trace: list[Step] | None = None

    @classmethod
    def check(cls, link: BaseLink, prior: BasePrior) -> None:
        """Refuse a combination of link and prior that does not exist, naming the lack."""
        for part, kind, wanted in ((link, "link", cls.requires_link), (prior, "prior", cls.requires_prior)):
            for attribute in wanted:
                if not getattr(part, attribute, False):
                    raise NotSupportedError(
                        f"inference {cls.name!r} needs a {kind} that is {attribute.replace('_', '-')}; "
                        f"{kind} {part.name!r} is not: choose another {kind} or another inference"
                    )

        if prior.signed and not cls.keeps_signs:
            raise NotSupportedError(
                f"inference {cls.name!r} cannot hold weights to a sign, as this prior asks; use inference 'coordinate'"
            )

    def intercept_scale(self, link: BaseLink, prior: BasePrior) -> float:
        """Default scale of the intercept's prior: inf leaves it free.

        An inference gives it a prior where a free intercept need not have a posterior under the words' ``prior``.
        """
        return math.inf

    def record(self, label: int, w: FloatArray, b: float) -> None:
        """Add a step to the trace, if there is one."""
        if self.trace is not None:
            self.trace.append(Step(label, w.copy(), b))

    @abstractmethod
    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        """Fit all labels of the problem, from ``start`` where one is given.

        Parameters
        ----------
        problem : Problem
            Documents, labels, link and priors.
        start : Posterior, optional
            Weights and intercepts to start from.
        """


def label_replicates_of(inference: str | BaseInference) -> int:
    """Number of times an inference takes each label; once unless a sampler has another setting."""
    return inference.label_replicates if isinstance(inference, BaseInference) else 1

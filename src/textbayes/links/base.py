"""Base of all links; a new link defines three methods and overrides what it knows exactly."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import FloatArray, IntArray
from textbayes.links._latent import Latent, SolvedSlack
from textbayes.links._quadrature import integrate


class Derivatives(NamedTuple):
    """log p(y | eta) and its first two derivatives in eta, the second with its sign turned (≥ 0 if log-concave)."""

    log_prob: FloatArray
    score: FloatArray
    hessian: FloatArray


class Likelihood(NamedTuple):
    """The log-likelihood of weighted documents, and per document its first two derivatives in eta, signs as above."""

    total: float
    score: FloatArray
    hessian: FloatArray


class Expectation(NamedTuple):
    """What EM asks of the documents: E[λ(z − eta) | y], the score, and the weight E[λ | y]."""

    score: FloatArray
    weight: FloatArray


class Moments(NamedTuple):
    """log ∫ p(y | u) N(u; mean, var) du and its first and second derivative in ``mean``."""

    log_z: FloatArray
    d1: FloatArray
    d2: FloatArray


class BaseLink(ABC):
    """p(y | eta) for y ∈ {−1, +1}, elementwise on arrays.

    ``curvature`` majorises: log p(y | u) ≥ log p(y | eta) + score·(u − eta) − ½ curvature·(u − eta)² for every u, so a
    step on the quadratic never overshoots. ``hessian`` is the exact −∂² log p / ∂eta² (Newton).

    A link with parameters names them in ``parameters``, takes them by name in its constructor, keeps them as attributes
    and never changes them; links of one class and equal parameters are equal. ``examples`` are parameters that the
    contract tests try besides the defaults.

    ``em_majorises`` is true where the M-step with ``expectation`` is exact, so that its full length never overshoots.

    What a Gibbs sampler must know of a link it says itself: ``latent`` makes the variables that are drawn along with
    the weights, ``counts_in_latent`` says whether one draw serves a document that counts several times, ``tail_index``
    is α where the rarer tail of p falls like \\|eta\\|^−α (inf where it falls faster), and ``least_probability`` what
    p(y | eta) never falls below.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    log_concave: bool
    em_majorises: bool = True
    counts_in_latent: ClassVar[bool] = False

    def params(self) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self.parameters}

    @property
    def spec(self) -> str:
        """Name and parameters as ``make_link`` reads them, the way model files keep a link."""
        given = [
            f"{key}={value.spec if isinstance(value, BaseLink) else value}" for key, value in self.params().items()
        ]
        return ":".join([self.name, ",".join(given)] if given else [self.name])

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.params().items())
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, BaseLink) and self.params() == other.params()

    def __hash__(self) -> int:
        return hash((type(self), *self.params().values()))

    def for_label(self, label: int) -> BaseLink:
        """Link of one label: this one, unless labels have links of their own."""
        return self

    def check_labels(self, n_labels: int) -> None:  # noqa: B027
        """Refuse another number of labels than there are links, where labels have links of their own."""

    @abstractmethod
    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Log-probability log p(y | eta).

        Parameters
        ----------
        eta : array
            Linear predictors.
        y : array
            Outcomes, −1 or +1.
        """

    @abstractmethod
    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Score ∂ log p(y | eta) / ∂eta."""

    @abstractmethod
    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Curvature that majorises −log p everywhere."""

    @abstractmethod
    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Second derivative −∂² log p(y | eta) / ∂eta²."""

    def derivatives(self, eta: FloatArray, y: FloatArray) -> Derivatives:
        """Derivatives log p, score and hessian at once; override where they share work."""
        return Derivatives(self.log_prob(eta, y), self.score(eta, y), self.hessian(eta, y))

    def likelihood(self, eta: FloatArray, y: FloatArray, weight: FloatArray | None) -> Likelihood:
        """Log-likelihood Σ weight·log p(y | eta) with its score and hessian per document, as every step of a fit needs.

        Parameters
        ----------
        eta, y : arrays (n_docs,)
            Linear predictors, and outcomes −1 or +1.
        weight : array (n_docs,) or None
            How much each document counts.
        """
        log_prob, score, hessian = self.derivatives(eta, y)
        if weight is None:
            return Likelihood(float(log_prob.sum()), score, hessian)
        return Likelihood(float(weight @ log_prob), weight * score, weight * hessian)

    def expectation(self, eta: FloatArray, y: FloatArray) -> Expectation:
        """E-step of EM: the score, and E[λ | y] where the link is a normal scale mixture with precisions λ.

        The score is E[λ(z − eta) | y] (Fisher's identity). Links whose ``curvature`` is the weight of EM (probit: 1;
        logit: the mean of a Pólya–Gamma variable) need not override it.
        """
        return Expectation(self.score(eta, y), self.curvature(eta, y))

    def probability(self, eta: FloatArray) -> FloatArray:
        """p(y = +1 | eta)."""
        return np.exp(self.log_prob(eta, np.ones_like(eta)))

    def class_probability(self, eta: FloatArray) -> FloatArray:
        """Probability of each of several classes that exclude each other, from a predictor of each.

        The class is the one whose predictor plus noise of its own is highest. The links that have it are those of
        ``BayesMultinomialClassifier``; of others it is refused.

        Parameters
        ----------
        eta : array (..., n_classes)
        """
        raise NotSupportedError(
            f"link {self.name!r} has no form for classes that exclude each other; use 'logit' or 'probit'"
        )

    def log_odds(self, eta: FloatArray) -> FloatArray:
        """log p(+1 | eta) − log p(−1 | eta): the scale on which explanations add up."""
        ones = np.ones_like(eta)
        return self.log_prob(eta, ones) - self.log_prob(eta, -ones)

    def moments(self, mean: FloatArray, var: FloatArray, y: FloatArray) -> Moments:
        """Log-evidence log ∫ p(y | u) N(u; mean, var) du and its derivatives in ``mean``; override by a closed form.

        What an outcome says of a Gaussian predictor u: given y, its mean is ``mean + var·d1`` and its variance
        ``var + var²·d2`` (Opper 1998, A Bayesian approach to on-line learning). The arrays are broadcast; ``var = 0``
        gives log_prob, score and −hessian. For |mean| up to 1e3 and var up to 1e4 errors are below 1e-8 of
        1 + |log_z|, of |d1| + 1e-4/√var and of |d2| + 1e-4/var, whatever the link.

        Parameters
        ----------
        mean, var : arrays
            Of the Gaussian predictor u.
        y : array
            Outcomes, −1 or +1.
        """
        return Moments(*integrate(self, mean, var, y))

    def predictive(self, mean: FloatArray, var: FloatArray) -> FloatArray:
        """Predictive probability p(y = +1) where eta is not known but N(mean, var).

        Parameters
        ----------
        mean, var : arrays
            Of the linear predictor.
        """
        return np.exp(self.moments(mean, var, np.ones_like(mean)).log_z)

    @property
    def tail_index(self) -> float:
        """α where p(y | eta) falls like \\|eta\\|^−α on the wrong side; inf where it falls faster."""
        return math.inf

    @property
    def least_probability(self) -> float:
        """Lower bound of p(y | eta) over all eta."""
        return 0.0

    def latent(self, y: FloatArray, counts: IntArray | None = None) -> Latent:
        """Latent variables for a Gibbs sampler; override where draws are known that do not solve for the slack.

        Parameters
        ----------
        y : array (n_docs,) of −1 and +1
        counts : array of int (n_docs,), optional
            How many times each document counts; only for links with ``counts_in_latent``.
        """
        return SolvedSlack(y, self)

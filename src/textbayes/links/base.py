"""Base of all links, of several labels side by side, and of the latent variables of a Gibbs sampler.

A new link defines three methods and overrides what it knows exactly. Given latent variables of the documents, a Gibbs
sampler can draw the weights. Each link offers two complementary ways, which the sampler alternates (interweaving):

``responses``  normal responses z ~ N(eta, 1/omega), given which the weights are those of a linear regression;
``slack``      how far y·eta may fall before an outcome that is drawn along with it would no longer be y: with u uniform
               on (0, p(y | eta)), the weights are those of the prior where p(y_i | eta_i) ≥ u_i for all documents.

The first moves weights well where documents say much, the second where they say little, as when classes are separable.
A link without normal responses has the second alone, which is a sampler too; ``SolvedSlack`` finds it for any link.

References: Damien, Wakefield & Walker (1999), JRSS B 61 (slack); Yu & Meng (2011), JCGS 20 (interweaving); the files of
the links name those of their own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import FloatArray, IntArray
from textbayes.links._quadrature import integrate

LEAST_PRECISION = 1e-100  # of a Student-t response, far below what is ever drawn
_MOST_DOUBLINGS, _MOST_STEPS = 60, 100
_CLOSE = 1e-10  # an error of log p that no draw would show


class Latent(ABC):
    """The latent variables of one label's documents.

    Attributes
    ----------
    normal : bool
        Whether there are normal responses.
    y : array (n_docs,)
        Outcomes, −1 or +1; may be replaced.
    """

    normal: bool = True

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        self.y, self._link = y, link

    @property
    def signs(self) -> FloatArray:
        """The outcomes that the last responses or slack were drawn for: ``y``, unless the link doubts it."""
        return self.y

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """omega (one value where it is the same for all) and omega·(z − eta)."""
        raise NotSupportedError(f"link {self._link.name!r} has no normal responses; its weights are drawn within slack")

    @abstractmethod
    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Distance that each sign·eta may fall, ≥ 0."""

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """log p(y | eta), given all that ``state`` keeps: what is drawn anew in each iteration is integrated out."""
        return self._link.log_prob(eta, y)

    def log_likelihood(self, eta: FloatArray) -> float:
        """The same of all documents together."""
        return float(self.log_prob(eta, self.y).sum())

    def outcomes(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """New outcomes given predictors and all that ``state`` keeps, as joint tests of the sampler need them."""
        return np.where(np.log(rng.random(len(eta))) < self.log_prob(eta, np.ones(len(eta))), 1.0, -1.0)

    def state(self) -> dict[str, FloatArray]:
        """Arrays that are needed to go on from here."""
        return {}

    def restore(self, arrays: dict[str, FloatArray]) -> None:  # noqa: B027  # most links have nothing to keep
        """Take up a state."""


class SolvedSlack(Latent):
    """Slack found by solving log p(y | margin − slack) = log p(y | margin) + log u.

    For a link that nothing else is known of; all that is asked is that p(y | eta) rises with y·eta. Where it never
    falls as low as u, the document holds nothing back: its slack is infinite.
    """

    normal = False

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        target = self._link.log_prob(eta, self.y) - rng.standard_exponential(len(eta))
        enough, too_little = np.ones(len(eta)), np.zeros(len(eta))
        for _ in range(_MOST_DOUBLINGS):
            short = self._after(eta, enough) > target
            if not short.any():
                break
            too_little[short] = enough[short]
            enough[short] *= 2.0
        unbounded = self._after(eta, enough) > target
        at = 0.5 * (enough + too_little)
        for _ in range(_MOST_STEPS):  # Newton's steps where they stay between what is known, halving elsewhere
            gap = self._after(eta, at) - target
            if (np.abs(gap[~unbounded]) < _CLOSE).all():
                break
            too_little, enough = np.where(gap > 0.0, at, too_little), np.where(gap > 0.0, enough, at)
            slope = self.y * self._link.score(eta - self.y * at, self.y)
            step = at + gap / np.maximum(slope, 1e-300)
            at = np.where((step > too_little) & (step < enough), step, 0.5 * (enough + too_little))
        return np.where(unbounded, np.inf, at)

    def _after(self, eta: FloatArray, slack: FloatArray) -> FloatArray:
        return self._link.log_prob(eta - self.y * slack, self.y)


class PrecisionLatent(Latent):
    """A latent normal variable with a precision omega of its own for every document, stored between draws."""

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        super().__init__(y, link)
        self.omega = np.ones(len(y))

    def _draw_omega(self, degrees: float, square: FloatArray, rng: np.random.Generator) -> None:
        """omega ~ Gamma((ν + 1)/2, (ν + square)/2): a Student-t variable is a normal one of such a precision."""
        drawn = rng.standard_gamma(0.5 * (degrees + 1.0), len(square)) / (0.5 * (degrees + square))
        self.omega = np.maximum(drawn, LEAST_PRECISION)

    def state(self) -> dict[str, FloatArray]:
        return {"omega": self.omega.copy()}

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        self.omega = arrays["omega"].copy()


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


class ByLabel(BaseLink):
    """Links of several labels: the last axis of every array is the labels, and each column has the link of its own.

    A fit goes label by label and asks ``for_label``; predictions are made of all columns at once. Written as the links
    with a semicolon between them, ``logit;probit;student_t:df=2``.

    Parameters
    ----------
    links : sequence of links
        One for every label.

    Examples
    --------
    >>> import numpy as np
    >>> from textbayes.links import make_link
    >>> make_link("logit;probit").probability(np.array([[1.0, 1.0]])).round(3)
    array([[0.731, 0.841]])
    """

    name = "by_label"
    parameters = ("links",)

    def __init__(self, links: Sequence[BaseLink]) -> None:
        self.links = tuple(links)
        if not self.links or any(isinstance(link, ByLabel) for link in self.links):
            raise InputError("links by label are empty or nested; name one link for every label, as in 'logit;probit'")
        self.log_concave = all(link.log_concave for link in self.links)
        self.em_majorises = all(link.em_majorises for link in self.links)
        columns: dict[BaseLink, list[int]] = {}
        for label, link in enumerate(self.links):
            columns.setdefault(link, []).append(label)
        self._columns: dict[BaseLink, IntArray] = {link: np.array(labels) for link, labels in columns.items()}

    @property
    def spec(self) -> str:
        return ";".join(link.spec for link in self.links)

    def for_label(self, label: int) -> BaseLink:
        return self.links[label]

    def check_labels(self, n_labels: int) -> None:
        if n_labels != len(self.links):
            raise InputError(f"{len(self.links)} links are given for {n_labels} labels; name one for each, or one link")

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("log_prob", eta, y)[0]

    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("score", eta, y)[0]

    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("curvature", eta, y)[0]

    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._each("hessian", eta, y)[0]

    def derivatives(self, eta: FloatArray, y: FloatArray) -> Derivatives:
        return Derivatives(*self._each("derivatives", eta, y))

    def expectation(self, eta: FloatArray, y: FloatArray) -> Expectation:
        return Expectation(*self._each("expectation", eta, y))

    def probability(self, eta: FloatArray) -> FloatArray:
        return self._each("probability", eta)[0]

    def log_odds(self, eta: FloatArray) -> FloatArray:
        return self._each("log_odds", eta)[0]

    def moments(self, mean: FloatArray, var: FloatArray, y: FloatArray) -> Moments:
        return Moments(*self._each("moments", mean, var, y))

    @property
    def tail_index(self) -> float:
        return min(link.tail_index for link in self.links)

    @property
    def least_probability(self) -> float:
        return max(link.least_probability for link in self.links)

    def _each(self, method: str, *arrays: FloatArray) -> list[FloatArray]:
        """What a method of each link gives for its own columns, put together."""
        given = np.broadcast_arrays(*arrays)
        shape = given[0].shape
        if not shape or shape[-1] != len(self.links):
            raise InputError(f"an array of shape {shape} is given to {len(self.links)} links; its last axis is labels")
        out: list[FloatArray] = []
        for link, columns in self._columns.items():
            found = getattr(link, method)(*(array[..., columns].ravel() for array in given))  # kernels read vectors
            parts = found if isinstance(found, tuple) else (found,)
            out = out or [np.empty(shape) for _ in parts]
            for whole, part in zip(out, parts, strict=True):
                whole[..., columns] = part.reshape(*shape[:-1], len(columns))
        return out

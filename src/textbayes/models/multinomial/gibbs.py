"""The whole posterior of a softmax or a multinomial probit by Gibbs sampling, class by class.

Given the other classes a class has a logistic regression with an offset, so that the chains of the linear models draw
its weights as they are, all priors that they take included (Polson, Scott & Windle 2013, JASA 108, supplement S6.3).
With the probit link a document is of the class whose z_c ~ N(eta_c, 1) is highest (Albert & Chib 1993, section 4).
Given the z of the other classes, a class has a probit regression, with the highest of these as its offset; then its own
z is drawn, a normal variable cut there.
Adding a number to a word's weights in all classes changes no probability; class by class such a sum moves slowly where
the documents say much. So after each pass over the classes it is drawn itself, from the prior that is left of it
(generalised Gibbs, Liu & Sabatti 2000, Biometrika 87). Of free intercepts nothing is left: their sum is held at 0.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from textbayes.core.errors import NotSupportedError
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem
from textbayes.inference.gibbs import Gibbs
from textbayes.inference.gibbs.block import Design, JointDraw
from textbayes.inference.gibbs.chain import Chain, TargetPosterior, check_prior, check_proper
from textbayes.inference.gibbs.running import SamplingRun
from textbayes.inference.gibbs.sampler import counted
from textbayes.kernels.multinomial import rest_of
from textbayes.links._student import normal_slack
from textbayes.links.base import BaseLink
from textbayes.posterior.draws import Draws, LabelDraws
from textbayes.priors.base import BasePrior


def draw_shifts(offsets: FloatArray, l1: FloatArray, l2: FloatArray, rng: np.random.Generator) -> FloatArray:
    """t of each column with density ∝ exp(−Σ_c [l1_c |offset_c + t| + ½ l2_c (offset_c + t)²]); arrays (n_classes, n).

    0 for a column whose density is flat, and for one of both kinds of penalty, which has no simple form and moves class
    by class alone.
    """
    shifts = np.zeros(offsets.shape[1])
    kinked, bent = (l1 > 0.0).any(axis=0), (l2 > 0.0).any(axis=0)
    normal = bent & ~kinked
    precision = l2[:, normal].sum(axis=0)
    mean = -(l2[:, normal] * offsets[:, normal]).sum(axis=0) / precision
    shifts[normal] = mean + rng.standard_normal(len(mean)) / np.sqrt(precision)
    laplace = kinked & ~bent
    shifts[laplace] = draw_laplace_shifts(offsets[:, laplace], l1[:, laplace], rng)
    return shifts


def draw_laplace_shifts(offsets: FloatArray, l1: FloatArray, rng: np.random.Generator) -> FloatArray:
    """t of each column with density ∝ exp(−Σ_c l1_c |offset_c + t|), by inversion.

    Between the numbers −offset_c in order the density is exponential, with slope Σ l1 of those above less Σ l1 of those
    below: a piece is drawn by its mass, and then a place in it.
    """
    order = np.argsort(-offsets, axis=0)
    breaks, rates = np.take_along_axis(-offsets, order, axis=0), np.take_along_axis(l1, order, axis=0)
    below = np.cumsum(rates, axis=0)
    total = below[-1]
    slopes = np.vstack([total, total - 2.0 * below])  # of the log-density, piece by piece
    widths = np.diff(breaks, axis=0)
    heights = np.vstack([np.zeros_like(total), np.cumsum(slopes[1:-1] * widths, axis=0)])  # of it at the breaks
    heights -= heights.max(axis=0)
    # A piece is taken from its higher end, from which the density falls at the rate |slope|.
    left = np.vstack([heights[:1], heights])  # the first piece has its right end alone
    right = np.vstack([heights, heights[-1:]])
    fall = np.abs(slopes)
    width = np.vstack([np.full_like(total, np.inf), widths, np.full_like(total, np.inf)])
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(fall > 0.0, -np.expm1(-fall * width) / np.where(fall > 0.0, fall, 1.0), width)
    mass = np.cumsum(np.exp(np.maximum(left, right)) * size, axis=0)
    piece = (mass < rng.random(len(total)) * mass[-1]).sum(axis=0)
    columns = np.arange(len(total))
    rate, within, u = fall[piece, columns], width[piece, columns], rng.random(len(total))
    with np.errstate(invalid="ignore"):
        share = -np.expm1(-rate * within)
        distance = np.where(rate > 0.0, -np.log1p(-u * share) / np.where(rate > 0.0, rate, 1.0), u * within)
    rising = slopes[piece, columns] > 0.0
    start = np.where(
        rising, breaks[np.minimum(piece, len(breaks) - 1), columns], breaks[np.maximum(piece - 1, 0), columns]
    )
    return np.where(rising, start - distance, start + distance)


class SoftmaxTarget(NamedTuple):
    """The posterior of all classes: the target of each given the others, on one design."""

    classes: list[TargetPosterior]

    @property
    def design(self) -> Design:
        return self.classes[0].design

    @property
    def y(self) -> FloatArray:
        return self.classes[0].y

    @property
    def sampled_scale(self) -> bool:
        return False


class SoftmaxChain:
    """A Markov chain whose stationary distribution is the posterior of all classes' weights.

    An iteration is one of each class's chain, given the classes as the ones before it left them, and a draw of what is
    common to all classes.
    """

    def __init__(
        self, target: SoftmaxTarget, seed: np.random.SeedSequence, method: str, start: list[FloatArray] | None
    ) -> None:
        *seeds, own = seed.spawn(len(target.classes) + 1)
        self._rng = np.random.Generator(np.random.PCG64DXSM(own))
        joint = JointDraw(target.design, method if method in ("words", "documents") else None)
        starts = [None] * len(seeds) if start is None else start
        self._chains = [
            Chain(of_class, one, method, at, joint=joint)
            for of_class, one, at in zip(target.classes, seeds, starts, strict=True)
        ]
        self._design = target.design
        self._free = target.classes[0].intercept_prior is not None and all(
            of_class.intercept_prior is not None and bool(np.isinf(of_class.intercept_prior.scale).all())
            for of_class in target.classes
        )
        self._eta = np.stack([chain.eta for chain in self._chains], axis=1)

    @property
    def n_columns(self) -> int:
        """Weights of a draw: those of the first class, its intercept last, then those of the second."""
        return len(self._chains) * self._design.n_columns

    def advance(self, n_iterations: int, thin: int = 1) -> tuple[AnyArray, FloatArray]:
        """Weights after every ``thin``-th of the next iterations, (n, n_columns) float32, and scales of 1."""
        drawn = np.empty((n_iterations // thin, self.n_columns), dtype=np.float32)
        for k in range(n_iterations):
            self.step()
            if (k + 1) % thin == 0:
                with np.errstate(over="ignore"):  # infinite then, which a run refuses
                    drawn[k // thin] = np.concatenate([chain.weights for chain in self._chains])
        return drawn, np.ones(len(drawn))

    def step(self) -> None:
        """Make one iteration of the chain."""
        for c, chain in enumerate(self._chains):
            rest = self._rest_of(c)
            chain.continue_at(-rest, self._eta[:, c] - rest)
            chain.step()
            self._eta[:, c] = chain.eta + rest
            self._draw_latent(c, rest)
        self._draw_common()

    def _rest_of(self, c: int) -> FloatArray:
        """What a class's predictor must come up to, given the other classes."""
        rest = np.empty(len(self._eta))
        rest_of(self._eta, c, rest)
        return rest

    def _draw_latent(self, c: int, rest: FloatArray) -> None:
        """Draw the latent variables of a class that are stored beside its weights; a softmax has none."""

    def _draw_common(self) -> FloatArray:
        """Draw what is added to a word's weights in all classes; free intercepts are centred."""
        offsets = np.stack([chain.offset for chain in self._chains])
        l1, l2 = (np.stack([getattr(chain.scales, name) for chain in self._chains]) for name in ("l1", "l2"))
        shifts = draw_shifts(offsets, l1, l2, self._rng)
        if self._free:
            shifts[-1] = -np.mean([chain.weights[-1] for chain in self._chains])
        for chain in self._chains:
            chain.offset[:] += shifts
        common = self._design.times(shifts)[:, None]
        self._eta += common
        return common

    def state(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """State of the chain, all that is needed to go on as if nothing had happened: JSON and arrays."""
        metas, arrays = [], {"eta": self._eta.copy()}
        for c, chain in enumerate(self._chains):
            meta, parts = chain.state()
            metas.append(meta)
            arrays |= {f"class{c}.{name}": part for name, part in parts.items()}
        return {"classes": metas, "random": self._rng.bit_generator.state}, arrays

    def restore(self, meta: dict[str, Any], arrays: dict[str, FloatArray]) -> None:
        """Take up the state of a chain of the same target."""
        for c, chain in enumerate(self._chains):
            chain.restore(meta["classes"][c], part_of(arrays, f"class{c}"))
        self._eta, self._rng.bit_generator.state = arrays["eta"].copy(), meta["random"]


class ProbitChain(SoftmaxChain):
    """The same of a multinomial probit: the normal variables of all classes are stored between the classes' turns."""

    def __init__(
        self, target: SoftmaxTarget, seed: np.random.SeedSequence, method: str, start: list[FloatArray] | None
    ) -> None:
        super().__init__(target, seed, method, start)
        self._signs = np.stack([of_class.y for of_class in target.classes], axis=1)
        self._z = np.where(self._signs > 0.0, self._eta.max(axis=1, keepdims=True) + 1.0, self._eta)

    def _rest_of(self, c: int) -> FloatArray:
        return np.asarray(np.delete(self._z, c, axis=1).max(axis=1))

    def _draw_latent(self, c: int, rest: FloatArray) -> None:
        sign = self._signs[:, c]
        self._z[:, c] = rest + sign * normal_slack(sign * (self._eta[:, c] - rest), np.ones(len(rest)), self._rng)

    def _draw_common(self) -> FloatArray:
        common = super()._draw_common()
        self._z += common
        return common

    def state(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        meta, arrays = super().state()
        return meta, arrays | {"z": self._z.copy()}

    def restore(self, meta: dict[str, Any], arrays: dict[str, FloatArray]) -> None:
        super().restore(meta, arrays)
        self._z = arrays["z"].copy()


class SoftmaxGibbs(BaseInference):
    """Draws of all classes together, with the settings of a ``Gibbs``; progress is that of label 0."""

    name = "gibbs"
    samples = True

    def __init__(self, settings: Gibbs) -> None:
        super().__init__(settings.tol, settings.max_iter, settings.n_jobs)
        self._settings = settings
        for name, given in (
            ("sample_scale", settings.sample_scale), ("factors", settings.factors is not None),
            ("label_replicates", settings.label_replicates > 1),
        ):  # fmt: skip
            if given:
                raise NotSupportedError(
                    f"{name} of inference 'gibbs' is not for a softmax; leave it at its default, or use "
                    "BayesLinearClassifier"
                )

    @classmethod
    def check(cls, link: BaseLink, prior: BasePrior) -> None:
        super().check(link, prior)
        check_prior(prior)

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        """Draw until the settings' target is met."""
        settings = self._settings
        check_proper(problem.link, problem.prior, problem.intercept_prior, False)
        problem, counts = counted(problem, 1)
        n_classes, n_features = problem.y.shape[1], problem.X.shape[1]
        design = Design.of(problem.X, problem.intercept_prior is not None)
        target = SoftmaxTarget(
            [
                TargetPosterior(
                    design, np.ascontiguousarray(problem.y[:, c]), problem.link,
                    problem.prior.for_label(c, n_features), problem.intercept_prior_of(c), False, counts=counts,
                )
                for c in range(n_classes)
            ]
        )  # fmt: skip
        at = None
        if start is not None:
            at = [np.append(start.mean[c], start.intercept[c])[: design.n_columns] for c in range(n_classes)]
        seeds = np.random.SeedSequence([settings.random_state, 0]).spawn(settings.plan.chains)
        # One BLAS thread: results of two need not be the same to the last bit.
        with threadpool_limits(1), ThreadPoolExecutor(max_workers=self.n_jobs) as pool:
            chain = ProbitChain if problem.link.name == "probit" else SoftmaxChain
            run = SamplingRun(target, seeds, settings.plan, settings.method, at, chain)  # type: ignore[arg-type]
            settings.finish(run, 0, " ".join(map(settings.fingerprint, target.classes)), pool, together=True)
        draws = _split(run.draws()[0], problem)
        mean, intercept = draws.mean(), draws.intercept()
        eta = np.asarray(problem.X @ mean.T) + intercept
        own = problem.link.class_probability(eta)[problem.y > 0.0]
        likelihood = float(np.sum(np.log(np.maximum(own, 1e-300)) * (1.0 if counts is None else counts)))
        info = FitInfo(
            np.array([float(problem.prior.penalty(mean).sum()) - likelihood]),
            np.array([run.max_r_hat - 1.0]),
            np.array([settings.plan.warmup + settings.plan.thin * run.n_draws]),
            np.array([run.converged]),
        )
        return Posterior(mean, intercept, draws.variance(), info, draws)


def _split(weights: AnyArray, problem: Problem) -> Draws:
    """Draws of all classes together, (n_chains, n_draws, n_columns), class by class."""
    n_classes, n_features = problem.y.shape[1], problem.X.shape[1]
    n_chains, n_draws, _ = weights.shape
    by_class = weights.reshape(n_chains, n_draws, n_classes, -1)
    columns, ones = np.arange(n_features), np.ones((n_chains, n_draws))
    labels = []
    for c in range(n_classes):
        intercept = by_class[:, :, c, n_features:].astype(np.float64).sum(axis=2)  # of one, or none
        words = np.ascontiguousarray(by_class[:, :, c, :n_features])
        labels.append(LabelDraws(columns, np.zeros(n_features), words, intercept, ones))
    return Draws(labels, n_features)

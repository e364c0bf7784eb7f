"""One chain for one label: its state, what an iteration does, and how it is saved.

What a prior is given its precisions, and how these are drawn, it says itself (``BasePrior.conditional``).

A global scale g, where it is sampled, multiplies all words' scales and is half-Cauchy: the scales that are given are
its median. It is drawn twice in turn, given the weights and given the weights divided by it (interweaving, Yu & Meng
2011), which moves it well whether the documents say much or little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.inference.gibbs.block import Design, JointDraw
from textbayes.kernels.gibbs import (
    laplace_variances,
    sweep_given_responses,
    sweep_scales_within_slack,
    sweep_within_slack,
)
from textbayes.links.base import BaseLink
from textbayes.priors import priors
from textbayes.priors.base import BasePrior, Mixing

INTERCEPT_SCALE = 10  # of an intercept that cannot be free: wide beside the log-odds of any label
_HEAVIEST = 1.0  # tail index up to which a prior is too heavy for an intercept that is free
_SLICE_STEP, _MOST_STEPS = 1.0, 50


def check_prior(prior: BasePrior) -> None:
    """Refuse a prior whose posterior cannot be sampled here, or is none."""
    for family in _families(prior):
        if family.conditional() is None:
            reason = "has no form to sample by" if family.proper else "is improper, and so may be its posterior"
            others = (family for name in priors.names() for family in _families(priors.get(name)()))
            names = sorted({other.name for other in others if other.conditional() is not None})
            raise NotSupportedError(
                f"inference 'gibbs' cannot take prior {family.name!r}, which {reason}: use one of {', '.join(names)}"
            )


def check_proper(link: BaseLink, prior: BasePrior, intercept: BasePrior | None, sampled: bool) -> None:
    """Refuse a free word, and a free intercept that need not have a posterior.

    Parameters
    ----------
    link : BaseLink
    prior : BasePrior
        That of the words.
    intercept : BasePrior or None
        None leaves the intercept free.
    sampled : bool
        The global scale is sampled.
    """
    if np.isinf(prior.scale).any():
        raise NotSupportedError(
            "inference 'gibbs' needs a prior on every word, and some scales are infinite: a posterior need not exist "
            "then; pass large scales such as 100 instead, or use inference 'coordinate'"
        )
    if intercept is None or not np.isinf(intercept.scale).any():
        return
    reason = why_improper(link, prior, sampled)
    if reason is not None:
        raise NotSupportedError(f"{reason}; give the intercept a prior too, such as intercept_scale={INTERCEPT_SCALE}")


def why_improper(link: BaseLink, prior: BasePrior, sampled: bool) -> str | None:
    """Reason why a free intercept need not have a posterior under this link and prior; None where it has one.

    An intercept can go to infinity if weights follow that undo it: with tails of w^−1 or heavier (Cauchy, horseshoe, or
    any family with a half-Cauchy global scale) the prior mass of such weights falls too slowly to be integrated.
    """
    if link.least_probability > 0.0:
        return "a free intercept has no posterior where labels are noisy, as no outcome then is impossible"
    if sampled or prior.tail_index <= _HEAVIEST:
        what = "a sampled global scale" if sampled else f"prior {prior.name!r}"
        return f"a free intercept with {what} need not have a posterior: its tails are too heavy"
    return None


class Scales:
    """The penalties of one label's columns, those of the words first and that of the intercept, if any, last.

    Factors that words share, if any, come between them, are standard normal, and count as words in ``n_words``.

    Attributes
    ----------
    mean, l1, l2 : arrays (n_columns,)
        The present penalty; l1 and l2 are 0 for a free intercept.
    precision : array (n_columns,)
        q of the mixtures, 1 elsewhere; whoever changes it calls ``draw_local`` next.
    degrees : array (n_columns,)
        Of the mixing, see ``Mixing``; 0 where there is none.
    mixed : array of int
        Columns whose precisions a kernel can move together with their weights.
    global_scale : float
        1 unless it is sampled.
    """

    def __init__(
        self, prior: BasePrior, intercept: BasePrior | None, n_words: int, sampled: bool, n_factors: int = 0
    ) -> None:
        self.n_words, self.sampled, self.global_scale = n_words + n_factors, sampled, 1.0
        columns = self.n_words + (intercept is not None)
        self.mean, self._l1, self._l2 = np.zeros(columns), np.zeros(columns), np.zeros(columns)
        self.degrees, self.precision = np.zeros(columns), np.ones(columns)
        self._l2[n_words : self.n_words] = 1.0
        self._mixings: list[tuple[AnyArray, Mixing]] = []
        parts = [(np.flatnonzero(where), family) for where, family in prior.by_family((n_words,))]
        if intercept is not None:
            for _, family in intercept.by_family((1,)):
                self.mean[self.n_words] = family.mean.item()
                if np.isfinite(family.scale).all():  # a free intercept is free whatever its family
                    parts.append((np.array([self.n_words]), family))
        # In this order precisions are drawn: changed, the same seed would give other draws.
        for kind in sorted({type(family) for _, family in parts}, key=lambda kind: kind.name, reverse=True):
            self._fill(*_joined([(where, family) for where, family in parts if type(family) is kind]))
        self.mixed = np.flatnonzero(self.degrees > 0.0)
        self._update()

    def _fill(self, columns: AnyArray, family: BasePrior) -> None:
        """Take the penalties of a family of priors on its columns, and the mixing of its precisions."""
        form = family.conditional()
        assert form is not None, family.name  # else ``check_prior`` has refused it
        self.mean[columns], self._l1[columns], self._l2[columns] = family.mean, form.l1, form.l2
        if form.mixing is not None:
            self.degrees[columns] = form.mixing.degrees
            self._mixings.append((columns, form.mixing))

    def _update(self) -> None:
        scale = np.ones(len(self.mean))
        scale[: self.n_words] = self.global_scale
        self.l1, self.l2 = self._l1 / scale, self._l2 * self.precision / scale**2

    def draw_local(self, offset: FloatArray, rng: np.random.Generator) -> None:
        """Draw the precisions of the mixtures given the offsets w − mean."""
        for columns, mixing in self._mixings:
            square = offset[columns] ** 2 * self._l2[columns]
            square[columns < self.n_words] /= self.global_scale**2
            self.precision[columns] = mixing.draw(square, self.precision[columns], rng)
        self._update()

    def draw_global(
        self,
        offset: FloatArray,
        log_likelihood: Callable[[float], float],
        rng: np.random.Generator,
    ) -> float:
        """Draw the global scale given the weights, then given weights/scale; returns the factor for the offsets.

        ``log_likelihood`` is that of all documents when the words' offsets are multiplied by its argument.
        """
        words = slice(0, self.n_words)
        absolute = float(self._l1[words] @ np.abs(offset[words]))
        square = float((self._l2 * self.precision)[words] @ offset[words] ** 2)

        def given_weights(log_scale: float) -> float:
            scale = np.exp(log_scale)
            return float(-self.n_words * log_scale - absolute / scale - 0.5 * square / scale**2) + _half_cauchy(scale)

        first = slice_draw(given_weights, float(np.log(self.global_scale)), rng)

        def given_ratios(log_scale: float) -> float:
            return log_likelihood(float(np.exp(log_scale - first))) + _half_cauchy(float(np.exp(log_scale)))

        second = slice_draw(given_ratios, first, rng)
        self.global_scale = float(np.exp(second))
        self._update()
        return float(np.exp(second - first))

    def variances(self, offset: FloatArray, rng: np.random.Generator) -> FloatArray:
        """A variance for every column given which its weight is normal: the Laplace part has its own drawn here."""
        precision = self.l2
        if self.l1.any():
            drawn = np.empty(len(offset))
            laplace_variances(offset, self.l1, rng.standard_normal(len(offset)), rng.random(len(offset)), drawn)
            precision = precision + 1.0 / np.maximum(drawn, 1e-300)
        return np.divide(1.0, precision, out=np.full(len(offset), np.inf), where=precision > 0.0)

    def state(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        return {"global_scale": self.global_scale}, {"precision": self.precision.copy()}

    def restore(self, meta: dict[str, Any], arrays: dict[str, FloatArray]) -> None:
        self.global_scale, self.precision = float(meta["global_scale"]), arrays["precision"].copy()
        self._update()


def slice_draw(log_density: Callable[[float], float], at: float, rng: np.random.Generator) -> float:
    """Draw by slice sampling: a step on the line by stepping out and shrinking (Neal 2003, Annals of Statistics).

    Parameters
    ----------
    log_density : function of a number
    at : float
        The present value.
    rng : Generator
    """
    level = log_density(at) - rng.standard_exponential()
    low = at - _SLICE_STEP * rng.random()
    high = low + _SLICE_STEP
    left = int(rng.integers(_MOST_STEPS))
    for _ in range(left):
        if log_density(low) <= level:
            break
        low -= _SLICE_STEP
    for _ in range(_MOST_STEPS - 1 - left):
        if log_density(high) <= level:
            break
        high += _SLICE_STEP
    while True:
        new = low + (high - low) * rng.random()
        if log_density(new) >= level or high - low < 1e-12:
            return new if high - low >= 1e-12 else at
        low, high = (new, high) if new < at else (low, new)


def _half_cauchy(scale: float) -> float:
    """log of the half-Cauchy density of g as one of log g, up to a constant."""
    return float(np.log(scale) - np.log1p(scale**2))


def _families(prior: BasePrior) -> list[BasePrior]:
    shape = np.broadcast_shapes(*(value.shape for value in vars(prior).values()))
    return [family for _, family in prior.by_family(shape)]


def _joined(parts: list[tuple[AnyArray, BasePrior]]) -> tuple[AnyArray, BasePrior]:
    """Priors of one family on several columns as one on all of them, so that their precisions are drawn together."""
    columns = np.concatenate([where for where, _ in parts])
    values = {
        name: np.concatenate([np.broadcast_to(vars(family)[name], where.shape) for where, family in parts])
        for name in vars(parts[0][1])
    }
    return columns, type(parts[0][1])(**values)


_REFRESH = 50  # iterations after which predictors are computed anew: rounding adds up
METHODS = ("auto", "sweeps", "words", "documents")


class TargetPosterior(NamedTuple):
    """The posterior of one label: documents, and the prior of its words.

    ``loadings`` (n_words, k), where given, adds loadings·f to the weights, f ~ N(0, I) (see ``factors.py``). ``counts``
    (n_docs,), where given, says how many times each document counts; only for links with ``counts_in_latent``.
    ``base`` (n_docs,), where given, is what other words, whose weights are not drawn, add to the predictors.
    """

    design: Design
    y: FloatArray
    link: BaseLink
    prior: BasePrior
    intercept_prior: BasePrior | None
    sampled_scale: bool
    loadings: FloatArray | None = None
    counts: IntArray | None = None
    base: FloatArray | None = None


class Chain:
    """A Markov chain whose stationary distribution is the posterior of a label's weights.

    An iteration is a sweep given responses, a sweep within slack and the scales of the prior (see ``BaseLink.latent``
    and ``Penalties``), and now and then, by ``method="auto"``, a joint draw of all weights in place of the first sweep
    (``block.py``). "sweeps" has no joint draws; "words" and "documents" have nothing else, in that form.
    ``joint_period`` says how rarely joint draws are made in place of what their cost suggests; ``joint`` is that of the
    same design, where chains share it.
    """

    def __init__(
        self,
        target: TargetPosterior,
        seed: np.random.SeedSequence,
        method: str,
        start: FloatArray | None,
        *,
        joint_period: int | None = None,
        joint: JointDraw | None = None,
    ) -> None:
        self._target, self._method = target, method
        self._rng = np.random.Generator(np.random.PCG64DXSM(seed))
        n_words = target.design.n_columns - (target.intercept_prior is not None)
        self._n_words, self._loadings = n_words, target.loadings
        design = self._design = target.design
        n_factors = 0
        if target.loadings is not None:
            design = self._design = target.design.with_factors(target.loadings, n_words)
            n_factors = target.loadings.shape[1]
        self._scales = Scales(target.prior, target.intercept_prior, n_words, target.sampled_scale, n_factors)
        self._latent = target.link.latent(target.y, target.counts)
        self._joint = joint or JointDraw(design, method if method in ("words", "documents") else None)
        self._joint_period = self._joint.period if joint_period is None else joint_period
        self._of_means = design.times(self._scales.mean)
        self._base = self._of_means + (0.0 if target.base is None else target.base)
        self.n_done = 0
        # Starts apart from each other, so that chains that agree have forgotten them.
        spread = np.zeros(design.n_columns)
        spread[:n_words] = 0.5 * np.minimum(target.prior.scale, 1.0)
        self._offset: FloatArray = spread * self._rng.standard_normal(design.n_columns)
        if start is not None:
            self._offset[self._own] += start - self._scales.mean[self._own]
        self._eta = self._computed_eta()

    @property
    def _own(self) -> AnyArray:
        """The columns of words and intercept, without those of factors."""
        columns = np.arange(self._design.n_columns)
        return np.delete(columns, slice(self._n_words, self._scales.n_words))

    @property
    def weights(self) -> FloatArray:
        """The present weights, the intercept's last."""
        weights = self._scales.mean + self._offset
        if self._loadings is None:
            return weights
        common = self._loadings @ weights[self._n_words : self._scales.n_words]
        weights[: self._n_words] += common
        return np.delete(weights, slice(self._n_words, self._scales.n_words))

    @property
    def global_scale(self) -> float:
        return self._scales.global_scale

    @property
    def scales(self) -> Scales:
        """The prior as it is seen at present."""
        return self._scales

    @property
    def offset(self) -> FloatArray:
        """The present weights less their prior means; to be changed together with the arguments of ``continue_at``."""
        return self._offset

    def continue_at(self, base: FloatArray, eta: FloatArray) -> None:
        """Go on with ``base`` in place of the target's, which makes the predictors ``eta``."""
        self._base, self._eta = self._of_means + base, eta

    @property
    def eta(self) -> FloatArray:
        """The present predictors."""
        return self._eta

    @property
    def n_columns(self) -> int:
        """Weights of a draw."""
        return self._target.design.n_columns

    def move_to(self, weights: FloatArray, precision: FloatArray, global_scale: float) -> None:
        """Go on from these weights, the intercept's last, and what the prior had when they were drawn from it."""
        self._offset = weights - self._scales.mean
        self._eta = self._computed_eta()
        self._scales.restore({"global_scale": global_scale}, {"precision": precision})

    def redraw_outcomes(self, rng: np.random.Generator) -> None:
        """Go on with outcomes drawn from the likelihood at the present state, as joint tests of the sampler do."""
        self._latent.y = self._latent.outcomes(self._computed_eta(), rng)

    def advance(self, n_iterations: int, thin: int = 1) -> tuple[AnyArray, FloatArray]:
        """Advance the chain and return the weights after every ``thin``-th iteration, and the global scales.

        Parameters
        ----------
        n_iterations : int
        thin : int

        Returns
        -------
        tuple of arrays
            Weights (n, n_columns) in float32, and global scales (n,).
        """
        n_kept = n_iterations // thin
        drawn = np.empty((n_kept, self._target.design.n_columns), dtype=np.float32)
        scales = np.empty(n_kept)
        for k in range(n_iterations):
            self.step()
            if (k + 1) % thin == 0:
                with np.errstate(over="ignore"):  # infinite then, which a run refuses
                    drawn[k // thin], scales[k // thin] = self.weights, self.global_scale
        return drawn, scales

    def step(self) -> None:
        """Make one iteration of the chain."""
        rng, scales, offset = self._rng, self._scales, self._offset
        self.n_done += 1
        if self.n_done % _REFRESH == 0:
            self._eta = self._computed_eta()
        if self._latent.normal:
            self._draw_given_responses()
        if self._method in ("auto", "sweeps") or not self._latent.normal:
            self._draw_within_slack()
        scales.draw_local(offset, rng)
        if scales.sampled:
            self._draw_global()

    def _draw_given_responses(self) -> None:
        rng, scales, offset = self._rng, self._scales, self._offset
        omega, pull = self._latent.responses(self._eta, rng)
        if self._joint_turn() and self._joint.is_accurate(omega, scales.l1, scales.l2):
            variance = scales.variances(offset, rng)
            offset[:] = self._joint.draw(omega, pull, offset, variance, rng)
            self._eta = self._computed_eta()
        else:
            before = pull.copy()
            collapse = self._target.intercept_prior is not None and scales.l1[-1] == 0.0
            self._sweep(sweep_given_responses, omega, pull, bool(collapse))
            self._eta = self._eta + (before - pull) / omega

    def _draw_within_slack(self) -> None:
        slack = self._latent.slack(self._eta, self._rng)
        before = slack.copy()
        signs = self._latent.signs
        self._sweep(sweep_within_slack, signs, slack)
        if len(self._scales.mixed) > 0:
            self._draw_scales_within(signs, slack)
        if np.isinf(before).any():  # of which the difference says nothing
            self._eta = self._computed_eta()
        else:
            self._eta = self._eta + signs * (slack - before)

    def _draw_scales_within(self, signs: FloatArray, slack: FloatArray) -> None:
        design, scales = self._design, self._scales
        levels, uniforms = self._rng.random((2, len(scales.mixed)))
        sweep_scales_within_slack(
            design.indptr, design.indices, design.data, signs, slack, self._offset, scales.degrees, scales.precision,
            scales.mixed, levels, uniforms,
        )  # fmt: skip

    def _joint_turn(self) -> bool:
        if self._method in ("words", "documents"):
            return True
        return self._method == "auto" and self._joint_period > 0 and self.n_done % self._joint_period == 0

    def _sweep(self, sweep: Any, of_documents: FloatArray, drawn: FloatArray, *more: bool) -> None:
        design, scales = self._design, self._scales
        uniforms = self._rng.random((2, len(self._offset)))
        sweep(
            design.indptr, design.indices, design.data, of_documents, drawn, self._offset, scales.l1, scales.l2,
            uniforms[0], uniforms[1], *more,
        )  # fmt: skip

    def _draw_global(self) -> None:
        words = slice(0, self._scales.n_words)
        only_words = self._offset.copy()
        only_words[self._scales.n_words :] = 0.0
        of_words = self._design.times(only_words)
        rest = self._eta - of_words

        def log_likelihood(factor: float) -> float:
            return self._latent.log_likelihood(rest + factor * of_words)

        factor = self._scales.draw_global(self._offset, log_likelihood, self._rng)
        self._offset[words] *= factor
        self._eta = rest + factor * of_words

    def _computed_eta(self) -> FloatArray:
        return self._base + self._design.times(self._offset)

    # -- state ----------------------------------------------------------------------------------------------------
    def state(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """State of the chain, all that is needed to go on as if nothing had happened: JSON and arrays."""
        meta, arrays = self._scales.state()
        arrays |= under("latent", self._latent.state())
        arrays |= {"offset": self._offset.copy(), "eta": self._eta.copy()}
        return meta | {"n_done": self.n_done, "random": self._rng.bit_generator.state}, arrays

    def restore(self, meta: dict[str, Any], arrays: dict[str, FloatArray]) -> None:
        """Take up the state of a chain of the same target."""
        self._scales.restore(meta, arrays)
        self._latent.restore(part_of(arrays, "latent"))
        self._offset, self._eta, self.n_done = arrays["offset"].copy(), arrays["eta"].copy(), int(meta["n_done"])
        self._rng.bit_generator.state = meta["random"]

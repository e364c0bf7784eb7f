"""One chain for one label: its state, what an iteration does, and how it is kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.inference.gibbs.block import Design, JointDraw
from textbayes.inference.gibbs.scales import Scales
from textbayes.kernels.gibbs.sweeps import sweep_given_responses, sweep_scales_within_slack, sweep_within_slack
from textbayes.links.base import BaseLink
from textbayes.priors.base import BasePrior

_REFRESH = 50  # iterations after which predictors are computed anew: rounding adds up
METHODS = ("auto", "sweeps", "words", "documents")


class Target(NamedTuple):
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
    and ``scales.py``), and now and then, by ``method="auto"``, a joint draw of all weights in place of the first sweep
    (``block.py``). "sweeps" has no joint draws; "words" and "documents" have nothing else, in that form.
    ``joint_period`` says how rarely joint draws are made in place of what their cost suggests; ``joint`` is that of the
    same design, where chains share it.
    """

    def __init__(
        self,
        target: Target,
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
        """The present weights less their prior means; to be changed with what ``continue_at`` is told."""
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
        kept = np.empty((n_kept, self._target.design.n_columns), dtype=np.float32)
        scales = np.empty(n_kept)
        for k in range(n_iterations):
            self.step()
            if (k + 1) % thin == 0:
                with np.errstate(over="ignore"):  # infinite then, which a run refuses
                    kept[k // thin], scales[k // thin] = self.weights, self.global_scale
        return kept, scales

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

    def _sweep(self, sweep: Any, of_documents: FloatArray, kept: FloatArray, *more: bool) -> None:
        design, scales = self._design, self._scales
        uniforms = self._rng.random((2, len(self._offset)))
        sweep(
            design.indptr, design.indices, design.data, of_documents, kept, self._offset, scales.l1, scales.l2,
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

"""Chains in step: warm-up, rounds of draws, diagnostics after each, an end at a target, and a state to resume from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from textbayes.core.errors import InputError
from textbayes.core.executor import executor_in_use, spread
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference.gibbs.chain import Chain, TargetPosterior
from textbayes.posterior.diagnostics import bulk_effective_sample_size, split_r_hat

_MOST_WORDS, _MOST_DOCS = 500, 200  # watched for the diagnostics, evenly spaced
_GROWTH = 1.5  # rounds get longer by this, so that diagnostics cost a bounded share of the time


class SamplingPlan(NamedTuple):
    """Lengths of a run and its stopping rule: see ``Gibbs``."""

    chains: int
    warmup: int
    max_draws: int
    thin: int
    target_ess: float
    max_r_hat: float


class SamplingProgress(NamedTuple):
    """Progress of a label after a round: figures for a display, and all that is needed to go on from there.

    ``state`` is JSON and arrays; it goes back in as ``Gibbs(resume=…)``. ``together`` says that all labels are drawn at
    once, as those of a softmax, under the number 0.
    """

    label: int
    n_draws: int
    min_ess: float
    max_r_hat: float
    finished: bool
    state: Callable[[], tuple[dict[str, Any], dict[str, AnyArray]]]
    together: bool = False


class SamplingRun:
    """The chains of one label and what they have drawn.

    ``chain`` makes one from a target, a seed, a method and a start: that of the linear models by default.
    Chains are seeded each for itself and advance by the same rounds whoever computes them, so the draws depend on the
    seed and on nothing else.
    """

    def __init__(
        self,
        target: TargetPosterior,
        seeds: list[np.random.SeedSequence],
        plan: SamplingPlan,
        method: str,
        start: Any,
        chain: Callable[..., Any] = Chain,
    ) -> None:
        self._plan, self._target = plan, target
        self._chains = [chain(target, seed, method, start) for seed in seeds]
        self._weights: list[list[AnyArray]] = [[] for _ in seeds]
        self._scales: list[list[FloatArray]] = [[] for _ in seeds]
        self.n_draws, self.min_ess, self.max_r_hat = 0, 0.0, np.inf
        self._warm = False
        n_columns = self._chains[0].n_columns
        self._words = np.unique(np.linspace(0, n_columns - 1, min(n_columns, _MOST_WORDS)).astype(int))
        self._docs = np.unique(np.linspace(0, len(target.y) - 1, min(len(target.y), _MOST_DOCS)).astype(int))

    @property
    def finished(self) -> bool:
        reached = self.min_ess >= self._plan.target_ess and self.max_r_hat <= self._plan.max_r_hat
        return reached or self.n_draws >= self._plan.max_draws

    @property
    def converged(self) -> bool:
        return self.max_r_hat <= self._plan.max_r_hat and self.min_ess >= self._plan.target_ess

    def round(self, pool: ThreadPoolExecutor) -> None:
        """Warm up if that has not been done, draw some more, and see how it stands."""
        plan = self._plan
        if not self._warm:
            list(self._advanced(plan.warmup, max(plan.warmup, 1), pool))
            self._warm = True
        # A minimum before int: the target may be infinite, which asks for all the draws there may be.
        first = max(100.0, plan.target_ess / plan.chains) if self.n_draws == 0 else (_GROWTH - 1.0) * self.n_draws
        n_new = max(1, int(min(first, plan.max_draws - self.n_draws)))
        for k, (weights, scales) in enumerate(self._advanced(n_new * plan.thin, plan.thin, pool)):
            if not np.isfinite(weights).all():
                raise InputError(
                    "some weights outgrew single precision while they were drawn: the prior's means or scales are too "
                    "large for these documents; use smaller ones, a prior with lighter tails, or sample_scale=False"
                )
            self._weights[k].append(weights)
            self._scales[k].append(scales)
        self.n_draws += n_new
        self._diagnose()

    def _advanced(
        self, n_iterations: int, thin: int, pool: ThreadPoolExecutor
    ) -> Iterator[tuple[AnyArray, FloatArray]]:
        """Weights and scales that chains draw, on threads or by the executor in use, whose workers keep the target."""
        if executor_in_use() is None:
            yield from pool.map(lambda chain: chain.advance(n_iterations, thin), self._chains)
            return
        states = [(k, chain.state()) for k, chain in enumerate(self._chains)]
        for chain, (state, drawn) in zip(
            self._chains, spread(_advance, states, self._chains, n_iterations, thin), strict=True
        ):
            chain.restore(*state)
            yield drawn

    def draws(self) -> tuple[AnyArray, FloatArray]:
        """All that was drawn so far: weights (n_chains, n_draws, n_columns) and global scales (n_chains, n_draws)."""
        for parts in (self._weights, self._scales):
            parts[:] = [[np.concatenate(part)] for part in parts]
        return np.stack([part[0] for part in self._weights]), np.stack([part[0] for part in self._scales])

    def _diagnose(self) -> None:
        weights, scales = self.draws()
        if weights.shape[1] < 4:
            return
        watched = [weights[:, :, self._words].astype(np.float64), self._predictors(weights)]
        if self._target.sampled_scale:
            watched.append(np.log(scales)[:, :, None])
        together = np.concatenate(watched, axis=2)
        self.min_ess = float(bulk_effective_sample_size(together).min())
        self.max_r_hat = float(split_r_hat(together).max())

    def _predictors(self, weights: AnyArray) -> FloatArray:
        design = self._target.design
        chosen = np.zeros((len(self._docs), design.n_columns), dtype=np.float32)
        place = np.full(design.n_docs, -1)
        place[self._docs] = np.arange(len(self._docs))
        columns = np.repeat(np.arange(design.n_columns), np.diff(design.indptr))
        here = place[design.indices] >= 0
        chosen[place[design.indices[here]], columns[here]] = design.data[here]
        by_class = weights.reshape(*weights.shape[:2], -1, design.n_columns)  # one, unless they are drawn together
        return np.asarray(by_class @ chosen.T, dtype=np.float64).reshape(*weights.shape[:2], -1)

    # -- state ----------------------------------------------------------------------------------------------------
    def state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """JSON and arrays to go on from."""
        weights, scales = self.draws()
        arrays: dict[str, AnyArray] = {"weights": weights, "scales": scales}
        metas = []
        for k, chain in enumerate(self._chains):
            meta, parts = chain.state()
            metas.append(meta)
            arrays |= {f"chain{k}.{name}": part for name, part in parts.items()}
        described = {
            "chains": metas,
            "min_ess": self.min_ess,
            "max_r_hat": self.max_r_hat,
            "plan": self._plan._asdict(),
        }
        return described, arrays

    def restore(self, meta: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """Take up a state of the same problem; a plan may ask for more draws than it did, and for nothing else."""
        earlier = {name: value for name, value in meta["plan"].items() if name in ("chains", "warmup", "thin")}
        asked = {name: value for name, value in self._plan._asdict().items() if name in earlier}
        if earlier != asked or arrays["weights"].shape[2] != self._chains[0].n_columns:
            raise InputError(
                f"this run has {asked} and {self._chains[0].n_columns} columns, the one to resume {earlier} and "
                f"{arrays['weights'].shape[2]}; resume with the settings and documents it was begun with"
            )
        for k, chain in enumerate(self._chains):
            chain.restore(meta["chains"][k], part_of(arrays, f"chain{k}"))
        self._weights = [[part] for part in arrays["weights"]]
        self._scales = [[part] for part in arrays["scales"]]
        self.n_draws = arrays["weights"].shape[1]
        self.min_ess, self.max_r_hat, self._warm = meta["min_ess"], meta["max_r_hat"], True


def _advance(item: tuple[int, Any], chains: list[Any], n_iterations: int, thin: int) -> tuple[Any, Any]:
    """State and draws of the chain of that number, which goes on from a state, in a worker."""
    number, state = item
    chain = chains[number]
    chain.restore(*state)
    with threadpool_limits(1):
        drawn = chain.advance(n_iterations, thin)
    return chain.state(), drawn

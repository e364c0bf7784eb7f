"""Sampling of the models of a training: one run for each fold and model, followed and resumed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from textbayes.core.threads import n_threads
from textbayes.core.types import AnyArray
from textbayes.inference import make_inference, samples

_SHARE_IN_FOLDS, _LEAST_IN_FOLDS, _R_HAT_IN_FOLDS = 0.25, 100.0, 1.05

if TYPE_CHECKING:
    from textbayes.inference.gibbs.running import SamplingProgress
    from textbayes.inference.gibbs.sampler import Gibbs, State
    from textbayes.models.base import FitOptions


class SamplingCallback:
    """Callback that follows sampling, and may know how far it went before; this one does nothing.

    A stage is the sampling of one member on the texts of one fold, or on all of them: "fold 2 of 5", "all texts".
    ``textbayes.store.checkpoint.RunFolder`` keeps stages in files, so that a run can be interrupted.
    """

    def begin(self, labels: Sequence[str], mark: str) -> None:
        """Called before the first stage, with the labels in the order of their numbers and a digest of the training."""

    def progress(self, stage: str, at: SamplingProgress) -> None:
        """Called when a label of a stage has been sampled some more."""

    def resume(self, stage: str) -> Mapping[int, State] | None:
        """States of a stage's labels to go on from."""
        return None

    def recall(self, fold: str) -> AnyArray | None:
        """Result of a fold that was finished before, None if there is none."""
        return None

    def finish(self, fold: str, result: AnyArray) -> None:
        """Called when a fold is finished, with its result; its stages are not needed any more."""


@contextmanager
def watched(member: Any, options: FitOptions, again: str = "") -> Iterator[None]:
    """Let a model that samples report its progress, and resume, while it is fitted.

    All but the last fit, that of all texts, are for probabilities alone, which take fewer draws: a quarter of the
    effective sample size asked for, and 100 at least, at an R-hat of at most 1.05.

    Parameters
    ----------
    member : BayesLinearClassifier or BayesMultinomialClassifier
        Its inference is another one meanwhile.
    options : FitOptions
    again : str
        Added to the name of the stage.
    """
    asked = member.inference
    if samples(asked):
        stage = f"{options.stage}, {again}" if again else options.stage
        member.set_params(inference=_followed(member, options.watch, stage, options.last))
    try:
        yield
    finally:
        member.set_params(inference=asked)


def sampling_settings(member: Any) -> Any:
    """Settings that decide which draws are made, but not how many; of an inference that makes none its name."""
    sampler: Any = make_inference(member.inference, member.tol, member.max_iter, 1)
    if not sampler.samples:
        return sampler.name
    return [sampler.chains, sampler.warmup, sampler.thin, sampler.plain_settings]


def _followed(member: Any, watch: SamplingCallback, stage: str, last: bool) -> Gibbs:
    sampler: Any = make_inference(member.inference, member.tol, member.max_iter, 1)
    asked: Callable[[SamplingProgress], None] | None = sampler.progress
    sampler = copy.copy(sampler)
    sampler.n_jobs, sampler.resume = n_threads(member.n_jobs), watch.resume(stage)

    if not last:
        enough = min(sampler.target_ess, max(_LEAST_IN_FOLDS, _SHARE_IN_FOLDS * sampler.target_ess))
        sampler.set_params(target_ess=enough, max_r_hat=max(sampler.max_r_hat, _R_HAT_IN_FOLDS))

    def progress(at: SamplingProgress) -> None:
        watch.progress(stage, at)
        if asked is not None:
            asked(at)

    sampler.progress = progress
    return sampler

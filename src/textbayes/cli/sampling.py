"""Options of training by sampling: how long, how many chains, where to keep an unfinished run."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from textbayes._version import __version__
from textbayes.cli.settings import note

if TYPE_CHECKING:
    from textbayes.cli.labelled import Labelled
    from textbayes.models.linear.classifier import BayesLinearClassifier
    from textbayes.store.checkpoint import RunFolder

_OF_SAMPLER = ("max_draws", "chains", "warmup", "target_ess", "factors", "label_replicates")
_NAMES = (*_OF_SAMPLER, "keep_draws", "plug_in", "checkpoint")


@dataclass(frozen=True)
class SamplingChoices:
    """What the user said of sampling; None where nothing was said."""

    max_draws: int | None
    chains: int | None
    warmup: int | None
    target_ess: float | None
    factors: int | None
    label_replicates: int | None
    keep_draws: int | None
    plug_in: bool
    checkpoint: str | None

    def check(self, samples: bool) -> None:
        """Refuse what is meant for the sampler where the inference does not sample."""
        given = [name for name in _NAMES if getattr(self, name) is not None and getattr(self, name) is not False]
        if given and not samples:
            option = {"max_draws": "draws"}.get(given[0], given[0]).replace("_", "-")
            raise click.UsageError(f"--{option} is a setting of the sampler; give --inference gibbs as well.")

    def classifiers(self, members: Sequence[BayesLinearClassifier], random_state: int) -> list[BayesLinearClassifier]:
        """The members, whose inference is the name of a sampler, with these settings."""
        from textbayes.inference import inferences
        from textbayes.links import make_link
        from textbayes.priors import make_prior

        given = {name: getattr(self, name) for name in _OF_SAMPLER if getattr(self, name) is not None}
        sampled = []
        for member in members:
            sampler: Any = inferences.get(member.inference)
            sampler.check(make_link(member.link), make_prior(member.prior, 1.0))
            sampled.append(member.set_params(inference=sampler(random_state=random_state, **given)))
        return sampled

    def settings(self) -> dict[str, Any]:
        """Settings of the categorizer."""
        kept = {} if self.keep_draws is None else {"keep_draws": self.keep_draws}
        return {"average": not self.plug_in, **kept}

    def run_folder(self, given: Labelled, deciding: Mapping[str, Any]) -> RunFolder | None:
        """Where the run is kept, if anywhere; refused if it was begun with other texts, labels or settings."""
        if self.checkpoint is None:
            return None
        from textbayes.store.checkpoint import RunFolder

        settings = {**deciding, "chains": self.chains, "warmup": self.warmup, "factors": self.factors}
        settings |= {"label_replicates": self.label_replicates, "plug-in": self.plug_in}
        about = {name: json.dumps(value, default=str) for name, value in settings.items()}
        about |= {"texts": _digest(given.texts), "labels": _digest(given.labels), "version of textbayes": __version__}
        folder = RunFolder(self.checkpoint, about)
        if folder.resumed:
            note(f"going on with the run in {self.checkpoint}")
        return folder


def _digest(rows: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()


def sampling_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--draws``, ``--chains`` and so on; the command is given them as ``sampling``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        sampling = SamplingChoices(**{name: given.pop(name) for name in _NAMES})
        return function(*args, sampling=sampling, **given)

    for add in reversed(_OPTIONS):
        command = add(command)
    return command


_OPTIONS = (
    click.option(
        "--draws", "max_draws", type=click.IntRange(min=4), help="With gibbs: draws of each chain at most; 10,000."
    ),
    click.option("--chains", type=click.IntRange(min=1), help="With gibbs: chains; 4 if not given."),
    click.option("--warmup", type=click.IntRange(min=0), help="With gibbs: iterations thrown away first; 200."),
    click.option(
        "--target-ess",
        type=click.FloatRange(min=0, min_open=True),
        help="With gibbs: stop at this effective sample size; 400 if not given.",
    ),
    click.option(
        "--factors",
        type=click.IntRange(min=1),
        help="With gibbs: weights of words that go together in texts go together a priori, by so many factors; try 20.",
    ),
    click.option(
        "--label-replicates",
        type=click.IntRange(min=1),
        help="With gibbs and link logit: labels are beyond doubt, as if each had been given so many times; try 3.",
    ),
    click.option(
        "--keep-draws", type=click.IntRange(min=1), help="With gibbs: draws of each label in the model file; 1,000."
    ),
    click.option(
        "--plug-in", is_flag=True, help="With gibbs: probabilities at the posterior mean, not averaged over draws."
    ),
    click.option(
        "--checkpoint",
        metavar="FOLDER",
        help="With gibbs: keep the run here; interrupted, the same command goes on with it.",
    ),
)

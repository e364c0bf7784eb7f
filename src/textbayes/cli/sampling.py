"""Options of training by sampling: how long, how many chains, where to keep an unfinished run."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes._version import __version__
from textbayes.cli.options import COUNT
from textbayes.cli.settings import note
from textbayes.cli.sources import signature_defaults
from textbayes.core.errors import InputError

if TYPE_CHECKING:
    from textbayes.cli.labelled import Labelled
    from textbayes.store.checkpoint import RunFolder

_OF_SAMPLER = ("max_draws", "chains", "warmup", "target_ess", "factors", "label_replicates", "sample_scale")
_NAMES = (*_OF_SAMPLER, "keep_draws", "plug_in", "checkpoint")


@dataclass(frozen=True)
class SamplingChoices:
    """Options on sampling; None where one is left out."""

    max_draws: int | None
    chains: int | None
    warmup: int | None
    target_ess: float | None
    factors: int | None
    label_replicates: int | None
    sample_scale: bool
    keep_draws: int | None
    plug_in: bool
    checkpoint: str | None

    def check(self, samples: bool) -> None:
        """Refuse what is meant for the sampler where the inference does not sample."""
        given = [name for name in _NAMES if getattr(self, name) is not None and getattr(self, name) is not False]
        if given and not samples:
            option = {"max_draws": "draws"}.get(given[0], given[0]).replace("_", "-")
            raise click.UsageError(
                f"--{option} is a setting of the sampler; give --inference gibbs as well, or "
                "--model linear:inference=gibbs."
            )

    def classifiers(self, members: Any, random_state: int) -> list[Any]:
        """The members, given as models or their names, with these settings where their inference samples."""
        from textbayes.inference import inferences
        from textbayes.kinds import kind_of, make_model
        from textbayes.links import make_link
        from textbayes.priors import make_prior

        given = {name: value for name in _OF_SAMPLER if (value := getattr(self, name)) not in (None, False)}
        sampled = []
        for member in map(make_model, [members] if isinstance(members, str) else members):
            if kind_of(member).samples(member):
                sampler: Any = inferences.get(member.inference)
                sampler.check(make_link(member.link), make_prior(member.prior, 1.0))
                member.set_params(inference=sampler(random_state=random_state, **given))
            sampled.append(member)
        return sampled

    def settings(self) -> dict[str, Any]:
        """Settings of the categorizer."""
        kept = {} if self.keep_draws is None else {"keep_draws": self.keep_draws}
        return {"average": not self.plug_in, **kept}

    def run_folder(self, given: Labelled, deciding: Mapping[str, Any]) -> RunFolder | None:
        """Folder of the sampling run, if one is kept; refused if it was begun with other texts, labels or settings."""
        if self.checkpoint is None:
            return None
        from textbayes.store.checkpoint import RunFolder
        from textbayes.store.lock import replacing

        # Until the command ends: two that sample into one folder would mix their states.
        click.get_current_context().with_resource(replacing(self.checkpoint, self._refuse_another, needed=False))
        settings = {**deciding, "chains": self.chains, "warmup": self.warmup, "factors": self.factors}
        settings |= {"label_replicates": self.label_replicates, "plug-in": self.plug_in}
        settings |= {"sample-scale": True} if self.sample_scale else {}
        about = {name: json.dumps(value, default=str) for name, value in settings.items()}
        about |= {"texts": _digest(given.texts), "labels": _digest(given.labels), "version of textbayes": __version__}
        folder = RunFolder(self.checkpoint, about)
        if folder.resumed:
            note(f"going on with the run in {self.checkpoint}")
        return folder

    def _refuse_another(self) -> None:
        raise InputError(
            f"another process is sampling into {self.checkpoint}; wait for it to end, or name another folder with "
            "--checkpoint"
        )


def _digest(rows: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()


def sampling_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--draws``, ``--chains`` and so on; the command is given them as ``sampling``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        sampling = SamplingChoices(**{name: given.pop(name) for name in _NAMES})
        return function(*args, sampling=sampling, **given)

    return cloup.option_group("Sampling, with --inference gibbs", *_OPTIONS)(command)


_GIBBS = signature_defaults("textbayes.inference.gibbs.sampler:Gibbs")
_KEPT = signature_defaults("textbayes.categorizer.estimator:TextCategorizer")["keep_draws"]
_OPTIONS = (
    click.option(
        "--draws",
        "max_draws",
        type=click.IntRange(min=4),
        help=f"Draws of each chain at most; {_GIBBS['max_draws']:,}.",
    ),
    click.option("--chains", type=COUNT, help=f"Chains; {_GIBBS['chains']} if not given."),
    click.option("--warmup", type=click.IntRange(min=0), help=f"Iterations thrown away first; {_GIBBS['warmup']}."),
    click.option(
        "--target-ess",
        type=click.FloatRange(min=0, min_open=True),
        help=f"Stop at this effective sample size; {_GIBBS['target_ess']:g} if not given.",
    ),
    click.option(
        "--factors",
        type=COUNT,
        help="Weights of words that go together in texts go together a priori, by so many factors; try 20.",
    ),
    click.option(
        "--label-replicates",
        type=COUNT,
        help="With link logit: count each label as if it had been given so many times; try 3.",
    ),
    click.option(
        "--sample-scale",
        is_flag=True,
        help="Sample the scale of the words' prior too, half-Cauchy with median --scale: a prior on λ = 1/scale².",
    ),
    click.option("--keep-draws", type=COUNT, help=f"Draws of each label in the model file; {_KEPT:,}."),
    click.option("--plug-in", is_flag=True, help="Probabilities at the posterior mean, not averaged over draws."),
    click.option(
        "--checkpoint", metavar="FOLDER", help="Keep the run here; interrupted, the same command goes on with it."
    ),
)

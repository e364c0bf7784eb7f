"""Options of ``train`` that say what a model is: link, prior and inference, and how a posterior is sampled."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes import knowledge, links, tune
from textbayes._version import __version__
from textbayes.cli.options import (
    COUNT,
    ClassWeight,
    FloatRange,
    LinkSpec,
    ModelSpec,
    NameOption,
    PriorWeight,
    RegistryName,
    ScaleSpec,
    mirrored,
    signature_defaults,
)
from textbayes.cli.terminal import note
from textbayes.core.errors import InputError
from textbayes.core.parameters import name_and_parameters
from textbayes.store.lock import replacing

if TYPE_CHECKING:
    from textbayes.cli.labels import LabelledTexts
    from textbayes.store.checkpoint import RunFolder

SEARCHES: dict[str, dict[str, str]] = {
    "cv": {"method": "cv"},
    "one_se": {"method": "cv", "rule": "one_se"},
    "evidence": {"method": "evidence"},
    "norm": {"method": "norm"},
}


@dataclass(frozen=True)
class ModelChoices:
    """Options on the model; those left out are as in ``TextCategorizer()``."""

    models: tuple[str, ...]
    family: str | None
    scale: float | str | None
    link: str | None
    scoring: str | None
    validation: float | None
    inference: str | None
    prior: str | None
    prior_weight: float | str
    calibrate: bool | str
    class_weight: dict[str, float] | str | None
    intervals: bool

    @property
    def samples(self) -> bool:
        """Whether the inference named, or that of a model named, draws from the posterior."""
        if self.models:
            return any(member.samples for member in map(_make_model, self.models))
        if self.inference is None:
            return False
        from textbayes.inference import samples

        return samples(self.inference)

    def settings(self) -> dict[str, Any]:
        """Settings of the categorizer itself; a prior file is read, and refused, at once."""
        settings = {name: getattr(self, name) for name in ("calibrate", "class_weight", "intervals")}
        if self.prior is None:
            return settings

        return settings | {"prior": knowledge.WordPriors.read(self.prior), "prior_weight": self.prior_weight}

    def members(self) -> Any:
        """The models named; or the default members, or that of the family named, with the options given; else None."""
        if self.models:
            return self.models[0] if len(self.models) == 1 else list(self.models)
        search: dict[str, Any] | None = SEARCHES.get(self.scale) if isinstance(self.scale, str) else None
        scale = None if search else self.scale
        if links.is_searched(self.link) and search is None:  # which finds the scale along with the link
            search = SEARCHES["cv"] if scale is None else SEARCHES["cv"] | {"scales": [scale]}
            scale = None
        if search is not None:
            chosen = {"scoring": self.scoring, "cv": self.validation}
            search = search | {name: value for name, value in chosen.items() if value is not None}
        given = {name: value for name, value in {"scale": scale, "link": self.link}.items() if value is not None}
        if self.family is None and self.inference is None and search is None and not given:
            return None
        from textbayes.categorizer.presets import default_models

        # Links of two members would not be the same; one member, and its weights stay what they are.
        family = "laplace" if links.is_searched(self.link) and self.family is None else self.family
        members = [member.set_params(**given) for member in default_models(family, self.inference)]
        if search is None:
            return members
        same = ("link", "prior", "inference", "tol")
        return [tune.BayesLinearClassifierCV(**{name: getattr(m, name) for name in same}, **search) for m in members]


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--family``, ``--scale``, ``--link`` and so on; the command is given them as ``choices``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        given["calibrate"] = given.pop("calibrate_by") or given["calibrate"]
        choices = ModelChoices(**{one.name: given.pop(one.name) for one in fields(ModelChoices)})
        linear = [name for name in ("family", "scale", "link", "inference") if getattr(choices, name) is not None]
        if choices.models and linear:
            raise click.UsageError(
                f"--{linear[0]} is of linear models and --model names another; write, for example, "
                "--model linear:prior=laplace,scale=2."
            )
        searched = links.is_searched(choices.link)
        if searched and choices.samples:
            raise click.UsageError(
                f"--inference {choices.inference} has one link for all labels, and --link auto finds one for each; "
                "name a link."
            )
        if searched and choices.scale in ("evidence", "norm"):
            raise click.UsageError(
                f"--link auto compares links on held-out texts, and --scale {choices.scale} has none; use --scale cv "
                "or one_se."
            )
        told = [name for name in ("scoring", "validation") if getattr(choices, name) is not None]
        if told and not searched and choices.scale not in ("cv", "one_se"):
            raise click.UsageError(
                f"--{told[0]} says how a scale or a link is chosen on held-out texts; give --scale cv, --scale one_se "
                "or --link auto as well."
            )
        if isinstance(choices.scale, float) and choices.family is None and not choices.samples:
            raise click.UsageError("--scale is that of a prior; name its family with --family as well.")
        return function(*args, choices=choices, **given)

    return cloup.option_group("Model", *_OPTIONS)(command)


_OPTIONS = (
    click.option(
        "--model",
        "models",
        cls=NameOption,
        type=ModelSpec(),
        multiple=True,
        help="Type of model, with parameters of its estimator; several form an ensemble. Chosen by the texts if not "
        "given.",
    ),
    click.option(
        "--family",
        cls=NameOption,
        type=RegistryName("textbayes.priors:priors"),
        help="Family of the words' priors, instead of an ensemble; laplace with gibbs.",
    ),
    click.option("--prior", metavar="FILE", help="Prior knowledge about words: CSV or YAML, see `textbayes prior`."),
    mirrored(
        "textbayes.categorizer.estimator:TextCategorizer",
        "--prior-weight",
        "prior_weight",
        type=PriorWeight(),
        help="How far to follow --prior, from 0 to 1; auto chooses for each label by cross-validation.",
    ),
    click.option(
        "--scale",
        type=ScaleSpec(),
        help="Scale b of the family (penalty |w|/b, or variance b²), or how to find one for each label: cv "
        "(cross-validation), one_se (the sparsest within a standard error of that), evidence (marginal likelihood), "
        "norm (BBR's rule).",
    ),
    click.option(
        "--link",
        cls=NameOption,
        type=LinkSpec(auto=True),
        help="Link; logit if not given. auto finds one for each label, and its scale, by cross-validation among ten "
        "links; 'auto:df=[1,8],skew=[0.5,1,2]' among skewed Student-t links of these.",
    ),
    click.option(
        "--scoring",
        type=click.Choice(["log_loss", "f1"]),
        help="What --scale cv, --scale one_se and --link auto are chosen by: log_loss if not given, or F1 at "
        "probability ½.",
    ),
    click.option(
        "--validation",
        type=FloatRange(0.0, 1.0, min_open=True, max_open=True),
        metavar="SHARE",
        help="Choose these on so many of the texts, held out once, and not by cross-validation: 0.33.",
    ),
    click.option(
        "--calibrate",
        is_flag=True,
        help="With one classifier (--family): fit its probabilities to held-out texts by one factor; those of an "
        "ensemble always are.",
    ),
    click.option(
        "--calibrate-by",
        type=click.Choice(["beta", "isotonic"]),
        help="Map probabilities, label by label, by a curve fitted to held-out texts: beta (300 texts or more) or "
        "isotonic (1,000 or more).",
    ),
    click.option(
        "--class-weight",
        type=ClassWeight(),
        help="How much texts count by their label, where each has one: balanced, or grain=2,money=1.",
    ),
    click.option(
        "--intervals",
        is_flag=True,
        help="Keep standard errors of the weights, for words --intervals; classify --intervals then also holds what "
        "models of other texts would give, by ten more fits.",
    ),
    click.option(
        "--inference",
        cls=NameOption,
        type=RegistryName("textbayes.inference:inferences", make="textbayes.inference:make_inference"),
        help="How the posterior is found, with parameters after a colon (em:plain=true); chosen to suit the prior "
        "if not given. gibbs samples the whole of it.",
    ),
)
_OF_SAMPLER = ("max_draws", "chains", "warmup", "target_ess", "factors", "label_replicates", "sample_scale")
_SAMPLING_NAMES = (*_OF_SAMPLER, "keep_draws", "plug_in", "checkpoint")


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
        given = [
            name for name in _SAMPLING_NAMES if getattr(self, name) is not None and getattr(self, name) is not False
        ]
        if given and not samples:
            option = {"max_draws": "draws"}.get(given[0], given[0]).replace("_", "-")
            raise click.UsageError(
                f"--{option} is a setting of the sampler; give --inference gibbs as well, or "
                "--model linear:inference=gibbs."
            )

    def classifiers(self, members: Any, random_state: int) -> list[Any]:
        """The members, given as models or their names, with these settings where their inference samples."""
        from textbayes.inference import inferences
        from textbayes.links import make_link
        from textbayes.priors import make_prior

        given = {name: value for name in _OF_SAMPLER if (value := getattr(self, name)) not in (None, False)}
        sampled = []
        for member in map(_make_model, [members] if isinstance(members, str) else members):
            if member.samples:
                name, own = name_and_parameters(member.inference)
                sampler: Any = inferences.get(name)
                sampler.check(make_link(member.link), make_prior(member.prior, 1.0))
                member.set_params(inference=sampler(**{"random_state": random_state} | own | given))
            sampled.append(member)
        return sampled

    def settings(self) -> dict[str, Any]:
        """Settings of the categorizer."""
        draws = {} if self.keep_draws is None else {"keep_draws": self.keep_draws}
        return {"posterior_predictive": not self.plug_in, **draws}

    def run_folder(self, given: LabelledTexts, deciding: Mapping[str, Any]) -> RunFolder | None:
        """Folder of the sampling run, if there is one; refused if it was begun with other texts, labels or settings."""
        if self.checkpoint is None:
            return None
        from textbayes.store.checkpoint import RunFolder

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
        sampling = SamplingChoices(**{name: given.pop(name) for name in _SAMPLING_NAMES})
        return function(*args, sampling=sampling, **given)

    return cloup.option_group("Sampling, with --inference gibbs", *_SAMPLING_OPTIONS)(command)


_GIBBS = signature_defaults("textbayes.inference.gibbs.sampler:Gibbs")
_KEPT = signature_defaults("textbayes.categorizer.estimator:TextCategorizer")["keep_draws"]
_SAMPLING_OPTIONS = (
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
        type=FloatRange(min=0, min_open=True),
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


def _make_model(name: str) -> Any:
    """The estimator of a model's name; imported on use, since the options of a command must cost nothing."""
    from textbayes.categorizer.model_types import make_model

    return make_model(name)

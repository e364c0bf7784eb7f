"""Options that say what a model is: its link, its prior and how the posterior is found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.options import mirrored
from textbayes.cli.parameters import ClassWeight, LinkSpec, ModelSpec, NameOption, PriorWeight, RegistryName, ScaleSpec

if TYPE_CHECKING:
    pass

SEARCHES: dict[str, dict[str, str]] = {
    "cv": {"method": "cv"},
    "one_se": {"method": "cv", "rule": "one_se"},
    "evidence": {"method": "evidence"},
    "norm": {"method": "norm"},
}
_NAMES = (
    "models",
    "family",
    "scale",
    "link",
    "inference",
    "prior",
    "prior_weight",
    "calibrate",
    "class_weight",
    "intervals",
)


@dataclass(frozen=True)
class ModelChoices:
    """Options on the model; those left out are as in ``TextCategorizer()``."""

    models: tuple[str, ...]
    family: str | None
    scale: float | str | None
    link: str | None
    inference: str | None
    prior: str | None
    prior_weight: float | str
    calibrate: bool
    class_weight: dict[str, float] | str | None
    intervals: bool

    @property
    def samples(self) -> bool:
        """Whether the inference named, or that of a kind named, draws from the posterior."""
        if self.models:
            from textbayes.kinds import kind_of, make_model

            return any(kind_of(member).samples(member) for member in map(make_model, self.models))
        if self.inference is None:
            return False
        from textbayes.inference import samples

        return samples(self.inference)

    def settings(self) -> dict[str, Any]:
        """Settings of the categorizer itself; a prior file is read, and refused, at once."""
        settings = {name: getattr(self, name) for name in ("calibrate", "class_weight", "intervals")}
        if self.prior is None:
            return settings
        from textbayes.knowledge import WordPriors

        return settings | {"prior": WordPriors.read(self.prior), "prior_weight": self.prior_weight}

    def members(self) -> Any:
        """The kinds named; or the default members, or the one of the family named, changed as told; else None."""
        if self.models:
            return self.models[0] if len(self.models) == 1 else list(self.models)
        search: dict[str, Any] | None = SEARCHES.get(self.scale) if isinstance(self.scale, str) else None
        scale = None if search else self.scale
        if self.link == "auto" and search is None:  # which finds the scale along with the link
            search = SEARCHES["cv"] if scale is None else SEARCHES["cv"] | {"scales": [scale]}
            scale = None
        given = {name: value for name, value in {"scale": scale, "link": self.link}.items() if value is not None}
        if self.family is None and self.inference is None and search is None and not given:
            return None
        from textbayes.categorizer.presets import default_models
        from textbayes.tune import BayesLinearClassifierCV

        # Links of two members would not be the same; one member, and its weights stay what they are.
        family = "laplace" if self.link == "auto" and self.family is None else self.family
        members = [member.set_params(**given) for member in default_models(family, self.inference)]
        if search is None:
            return members
        kept = ("link", "prior", "inference", "tol")
        return [BayesLinearClassifierCV(**{name: getattr(m, name) for name in kept}, **search) for m in members]


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--family``, ``--scale``, ``--link`` and so on; the command is given them as ``choices``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        choices = ModelChoices(**{name: given.pop(name) for name in _NAMES})
        linear = [name for name in ("family", "scale", "link", "inference") if getattr(choices, name) is not None]
        if choices.models and linear:
            raise click.UsageError(
                f"--{linear[0]} is of linear models and --model names the kind; write, for example, "
                "--model linear:prior=laplace,scale=2."
            )
        if choices.link == "auto" and choices.samples:
            raise click.UsageError(
                f"--inference {choices.inference} has one link for all labels, and --link auto finds one for each; "
                "name a link."
            )
        if choices.link == "auto" and choices.scale in ("evidence", "norm"):
            raise click.UsageError(
                f"--link auto compares links on held-out texts, and --scale {choices.scale} has none; use --scale cv "
                "or one_se."
            )
        if isinstance(choices.scale, float) and choices.family is None:
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
        help="Kind of model, with parameters of its estimator; several are pooled. Chosen by the texts if not given.",
    ),
    click.option(
        "--family",
        cls=NameOption,
        type=RegistryName("textbayes.priors:priors"),
        help="Family of the words' priors, instead of a pool of two; laplace with gibbs.",
    ),
    click.option("--prior", metavar="FILE", help="What is known of words: CSV or YAML, see `textbayes prior`."),
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
        "links.",
    ),
    click.option(
        "--calibrate",
        is_flag=True,
        help="With one classifier (--family): fit its probabilities to held-out texts by one factor; a pool always is.",
    ),
    click.option(
        "--class-weight",
        type=ClassWeight(),
        help="How much texts count by their label, where each has one: balanced, or grain=2,money=1.",
    ),
    click.option("--intervals", is_flag=True, help="Keep standard errors of the weights, for words --intervals."),
    click.option(
        "--inference",
        cls=NameOption,
        type=RegistryName("textbayes.inference:inferences"),
        help="How the posterior is found; chosen to suit the prior if not given. gibbs samples the whole of it.",
    ),
)

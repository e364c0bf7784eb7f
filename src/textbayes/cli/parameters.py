"""Kinds of option values: names from a registry, decision rules, n-gram ranges, document frequencies, settings."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.errors import as_options
from textbayes.cli.sources import registered_names
from textbayes.core.errors import InputError
from textbayes.core.registry import Registry
from textbayes.core.specs import key_value

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # takes no type argument before click 8.5


class Checked(_ParamType):
    """A string that a function of the library accepts: refused before the work begins, as wrong usage."""

    name = "name"

    def __init__(self, check: Callable[[str], object]) -> None:
        self._check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            self._check(value)
        except InputError as error:
            self.fail(as_options(str(error), None if ctx is None else ctx.command), param, ctx)
        return value


class RegistryName(Checked):
    """The name of a member of a registry, such as ``textbayes.priors:priors``; ``package`` holds the members."""

    def __init__(self, registry: str, package: str | None = None) -> None:
        super().__init__(lambda name: self.registry().get(name))
        self._registry = registry
        self.package = package or registry.partition(":")[0]

    def registry(self) -> Registry[Any]:
        module, _, name = self._registry.partition(":")
        found: Registry[Any] = getattr(importlib.import_module(module), name)
        return found

    def names(self) -> list[str]:
        return registered_names(self.package)


class LinkSpec(RegistryName):
    """A link and its parameters: ``logit``, ``student_t:df=4``, ``flip:rate=0.01,base=probit``."""

    name = "link"

    def __init__(self) -> None:
        super().__init__("textbayes.links:links")
        self._check = _make_link

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "NAME[:PARAMETER=VALUE,…]"


class ModelSpec(RegistryName):
    """A kind of model and parameters of its estimator: ``counts:model=poisson``, ``online:covariance=full``."""

    name = "model"

    def __init__(self) -> None:
        super().__init__("textbayes.kinds:kinds")
        self._check = _make_model

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "KIND[:PARAMETER=VALUE,…]"

    def names(self) -> list[str]:
        return [name for name in super().names() if name not in ("base", "clusters", "sampling", "settings")]


def _make_model(spec: str) -> object:
    from textbayes.kinds import make_model

    return make_model(spec)


def _make_link(spec: str) -> object:
    from textbayes.links import make_link

    return make_link(spec)


class RuleSpec(RegistryName):
    """A decision rule and its parameters: ``max_f1``, ``fixed:threshold=0.3``, ``max_f1:fbr=0.3,fallback=never``."""

    name = "rule"

    def __init__(self) -> None:
        super().__init__("textbayes.decide:rules")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from textbayes.decide import check_rule, make_rule

        if value == "auto" or not isinstance(value, str):
            return value
        try:
            rule = make_rule(value)
            check_rule(rule)
        except (TypeError, ValueError) as error:  # InputError is a ValueError
            self.fail(str(error), param, ctx)
        return rule

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "NAME[:PARAMETER=VALUE,…]"

    def names(self) -> list[str]:
        return ["auto", *super().names()]


class NameOption(click.Option):
    """An option whose help ends with the names there are."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        text = self.help
        if isinstance(self.type, RegistryName):
            self.help = f"{text} One of {', '.join(self.type.names())}."
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = text


class NgramRange(_ParamType):
    """Range of n-grams, ``1`` or ``1-2``: the shortest and the longest."""

    name = "n-m"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", value) if isinstance(value, str) else None
        if found is None:
            self.fail(f"{value!r} is not a range of n-grams; write 1, 2 or 1-2", param, ctx)
        shortest, longest = int(found[1]), int(found[2] or found[1])
        if not 1 <= shortest <= longest:
            self.fail(f"{value!r} goes from {shortest} to {longest}; write 1-2 for words and pairs", param, ctx)
        return shortest, longest


class DocumentFrequency(_ParamType):
    """A number of documents, or with a point or a per-cent sign a share of them: ``3``, ``0.01``, ``1%``."""

    name = "number|share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            number = float(value.removesuffix("%")) / 100 if value.endswith("%") else json.loads(value)
        except ValueError:
            number = None
        if isinstance(number, bool) or not isinstance(number, int | float):
            self.fail(f"{value!r} is neither a number of documents, such as 3, nor a share, such as 0.01", param, ctx)
        if number < (1 if isinstance(number, int) else 0) or (isinstance(number, float) and number > 1):
            self.fail(f"{value!r} is out of range: a number is 1 or more, a share lies in 0.0 to 1.0", param, ctx)
        return number


class PriorWeight(_ParamType):
    """Weight of prior knowledge: ``auto``, or a number from 0 to 1."""

    name = "auto|0..1"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            return value
        return click.FloatRange(0.0, 1.0).convert(value, param, ctx)


class ClassWeight(_ParamType):
    """Weights of classes: ``balanced``, or a weight for each label: ``grain=2,money=0.5``."""

    name = "balanced|LABEL=WEIGHT,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "balanced" or not isinstance(value, str):
            return value
        weights = {}
        for part in value.split(","):
            label, _, weight = part.rpartition("=")  # a label may hold a = of its own
            if not label:
                self.fail(f"{part!r} is not LABEL=WEIGHT; write balanced, or for each label grain=2", param, ctx)
            number: Any = weight
            weights[label.strip()] = click.FloatRange(min=0.0).convert(number, param, ctx)
        return weights


class ScaleSpec(_ParamType):
    """A positive number, or the name of a way to find one."""

    name = "number|cv|one_se|evidence|norm"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("cv", "one_se", "evidence", "norm"):
            return value
        return click.FloatRange(min=0.0, min_open=True).convert(value, param, ctx)


class KeyValue(_ParamType):
    """Pair ``KEY=VALUE``; the value is read as JSON where it is, else as a string."""

    name = "key=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return key_value(value) if isinstance(value, str) else value
        except InputError as error:
            self.fail(str(error), param, ctx)

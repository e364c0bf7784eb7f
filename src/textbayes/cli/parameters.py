"""Types of option values, and the names and defaults of the library that help shows without importing it."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import textbayes
from textbayes import decide
from textbayes.cli.errors import as_options
from textbayes.core.errors import InputError
from textbayes.core.parameters import key_value
from textbayes.core.registry import Registry


def registered_names(package: str) -> list[str]:
    """Return the names that the modules of a package register, and those of installed plug-ins.

    >>> "laplace" in registered_names("textbayes.priors")
    True
    """
    files = [*_path(package).rglob("*.py"), *_path(package).parent.glob(f"{_path(package).name}.py")]
    sources = (path.read_text(encoding="utf-8") for path in files)
    found = {name for source in sources for name in re.findall(r'^@?\w+\.register\("(\w+)"\)', source, re.MULTILINE)}
    found |= {entry.name for entry in entry_points(group=f"textbayes.{package.rpartition('.')[2]}")}
    return sorted(found)


@functools.cache
def signature_defaults(target: str) -> Mapping[str, Any]:
    """Return the defaults of the parameters of a class or function that has plain values for them.

    Parameters
    ----------
    target : str
        Module and name, such as ``textbayes.categorizer.estimator:TextCategorizer``; a class has an ``__init__`` of
        its own, or is a dataclass.

    >>> signature_defaults("textbayes.models.clusters.estimator:SoftClusters")["n_init"]
    2
    """
    module, _, name = target.partition(":")
    tree = ast.parse(_path(module).with_suffix(".py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if getattr(node, "name", None) == name)
    return {key: ast.literal_eval(value) for key, value in _defaults(found) if isinstance(value, ast.Constant)}


def _defaults(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                yield part.target.id, part.value
            elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
                yield from _defaults(part)
    elif isinstance(node, ast.FunctionDef):
        positional = [*node.args.posonlyargs, *node.args.args][::-1]
        for argument, value in [
            *zip(positional, node.args.defaults[::-1], strict=False),
            *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
        ]:
            yield argument.arg, value


def _path(module: str) -> Path:
    return Path(textbayes.__file__).parent.joinpath(*module.split(".")[1:])


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # takes no type argument before click 8.5


def imported(address: str, none: str | None = None) -> Callable[[str], Any]:
    """A function of the library, such as ``textbayes.links:make_link``, imported when called; ``none`` means None."""
    return lambda value: _found(address)(None if value == none else value)


def _found(address: str) -> Any:
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


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
    """The name of a member of a registry, such as ``textbayes.priors:priors``; ``package`` holds the members.

    With ``make``, the address of a function, it may have parameters after it.
    """

    def __init__(self, registry: str, package: str | None = None, make: str | None = None) -> None:
        super().__init__(imported(make) if make else lambda name: self.registry().get(name))
        self._registry, self._make = registry, make
        self.package = package or registry.partition(":")[0]

    def registry(self) -> Registry[Any]:
        found: Registry[Any] = _found(self._registry)
        return found

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str | None:
        return f"{'MODEL' if self.name == 'model' else 'NAME'}[:PARAMETER=VALUE,…]" if self._make else None

    def names(self) -> list[str]:
        return registered_names(self.package)


class LinkSpec(RegistryName):
    """A link and its parameters: ``logit``, ``student_t:df=4``, ``flip:rate=0.01,base=probit``; with ``auto`` that too.

    ``auto`` is the link that held-out texts find for each label.
    """

    name = "link"

    def __init__(self, auto: bool = False) -> None:
        super().__init__("textbayes.links:links", make="textbayes.links:make_link")
        self._auto = auto

    def names(self) -> list[str]:
        return [*(["auto"] if self._auto else []), *super().names()]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if self._auto and value == "auto" else super().convert(value, param, ctx)


UNTRAINED = ("clusters",)  # models whose ``trains`` is False; help names the others without importing them


class ModelSpec(RegistryName):
    """A model and parameters of its estimator: ``counts:model=poisson``, ``online:covariance=full``."""

    name = "model"

    def __init__(self) -> None:
        super().__init__("textbayes.models:model_types", make="textbayes.categorizer.model_types:make_trained")

    def names(self) -> list[str]:
        return [name for name in self.registry().known_names() if name not in UNTRAINED]


class RuleSpec(RegistryName):
    """A decision rule and its parameters: ``max_f1``, ``fixed:threshold=0.3``, ``max_f1:fbr=0.3,fallback=never``."""

    name = "rule"

    def __init__(self) -> None:
        super().__init__("textbayes.decide:rules", make="textbayes.decide:make_rule")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto" or not isinstance(value, str):
            return value
        try:
            rule = decide.make_rule(value)
            rule.check_params(2)
        except (TypeError, ValueError) as error:  # InputError is a ValueError
            self.fail(str(error), param, ctx)
        return rule

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
        weights: dict[str, Any] = {}
        for part in value.split(","):
            label, _, weight = part.rpartition("=")  # a label may hold a = of its own
            if not label:
                self.fail(f"{part!r} is not LABEL=WEIGHT; write balanced, or for each label grain=2", param, ctx)
            number: Any = weight
            found = click.FloatRange(min=0.0).convert(number, param, ctx)
            if weights.setdefault(label.strip(), found) != found:
                self.fail(f"label {label.strip()!r} has two weights; give it one", param, ctx)
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

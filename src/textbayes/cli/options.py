"""Types of option values, options that several commands have, and names and defaults that help shows unimported."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import cloup

import textbayes
from textbayes import decide, links, text
from textbayes.cli.errors import as_options
from textbayes.cli.terminal import MOST_USED
from textbayes.core.errors import InputError, did_you_mean
from textbayes.core.parameters import key_value
from textbayes.core.registry import Registry
from textbayes.data.formats import svmlight
from textbayes.text.linear_pattern import check_can_be_kept

if TYPE_CHECKING:
    from textbayes.text import TextVectorizer


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

    ``auto`` is the link that held-out texts find for each label, ``auto:df=[1,8],skew=[0.5,2]`` among these.
    """

    name = "link"

    def __init__(self, auto: bool = False) -> None:
        super().__init__("textbayes.links:links", make="textbayes.links:make_link")
        self._auto = auto

    def names(self) -> list[str]:
        return [*(["auto"] if self._auto else []), *super().names()]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not (self._auto and links.is_searched(value)):
            return super().convert(value, param, ctx)
        from textbayes.tune import candidate_links

        try:
            candidate_links(value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return value


UNTRAINED = ("clusters", "encoder")  # models whose ``trains`` is False; help names the others without importing them


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


class FloatRange(click.FloatRange):
    """Numbers within bounds; not a number is within none, which click lets pass."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        given = click.FLOAT.convert(value, param, ctx)
        if self.max == 1 and 10 <= given <= 100:  # a percentage
            self.fail(f"{value} is not a number from 0 to 1; did you mean {given / 100:g}?", param, ctx)
        found = super().convert(value, param, ctx)
        if found != found:
            self.fail(f"{value!r} is not a number.", param, ctx)
        return found


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
        return FloatRange(0.0, 1.0).convert(value, param, ctx)


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
            found = FloatRange(min=0.0).convert(number, param, ctx)
            if weights.setdefault(label.strip(), found) != found:
                self.fail(f"label {label.strip()!r} has two weights; give it one", param, ctx)
        return weights


class ScaleSpec(_ParamType):
    """A positive number, or the name of a way to find one."""

    name = "number|cv|one_se|evidence|norm"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("cv", "one_se", "evidence", "norm"):
            return value
        return FloatRange(min=0.0, min_open=True).convert(value, param, ctx)


class CountOrCv(_ParamType):
    """A number of words, or ``cv`` to have it found by cross-validation."""

    name = "number|cv"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "cv" else COUNT.convert(value, param, ctx)


class KeyValue(_ParamType):
    """Pair ``KEY=VALUE``; the value is read as JSON where it is, else as a string."""

    name = "key=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return key_value(value) if isinstance(value, str) else value
        except InputError as error:
            self.fail(str(error), param, ctx)


F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]
SEED = click.IntRange(min=0)
COUNT = click.IntRange(min=1)
SHARE = FloatRange(0, 1, min_open=True, max_open=True)


def option(*names: str, choices: Sequence[str] | None = None, **settings: Any) -> Callable[[F], F]:
    """An option of click whose help says its default; ``choices`` are the values that it takes."""
    if choices is not None:
        settings["type"] = click.Choice(choices)
    return click.option(*names, show_default=settings.get("default") is not None, **settings)


strict_option = click.option("--strict", is_flag=True, help="Refuse labels that are not in the training set.")
jobs_option = click.option("--jobs", "n_jobs", type=COUNT, help="Threads over labels; all cores if not given.")
fdr_option = click.option(
    "--fdr", type=FloatRange(0, 1, min_open=True), help="Only words with a q-value of at most this."
)
fdr_method_option = option("--fdr-method", choices=["bh", "storey"], default="bh", help="Of q-values.")
download_option = click.option("--download", is_flag=True, help="Fetch the corpus where no copy is found.")


def most_used(*names: str) -> Callable[[F], F]:
    """Bring options to the top of the help of a command, from whichever group they were written in.

    ``--help`` then shows these alone, and ``--help-all`` the others too.

    Parameters
    ----------
    *names : str
        Names of the parameters, such as ``target`` for ``-o``; the decorator comes right after that of the command.
    """

    def decorate(function: F) -> F:
        group = cloup.OptionGroup(MOST_USED)
        options: list[Any] = function.__click_params__  # type: ignore[attr-defined]  # the last is the first in help
        missing = set(names) - {option.name for option in options}
        assert not missing, f"there are no options {missing}"
        for option in options:
            if option.name in names:
                option.group = group
        options.sort(key=lambda option: names[::-1].index(option.name) if option.name in names else -1)
        return function

    return decorate


def seed_option(what: str, name: str = "seed") -> Callable[[F], F]:
    """Option ``--seed``; the help says of what it is the seed."""
    return option("--seed", name, type=SEED, default=0, help=what)


EMBEDDINGS = option(
    "--embeddings",
    default="off",
    metavar="auto|off|NAME",
    help="Sentence vectors beside words, which take seconds for each hundred records: NAME is a sentence-transformers "
    "model or its folder, auto the packaged one if textbayes[embeddings] is installed.",
)


def top_option(what: str, default: int | None = None) -> Callable[[F], F]:
    """Option ``--top``: how many of what are listed."""
    return click.option("--top", type=COUNT, default=default, show_default=default is not None, metavar="N", help=what)


def label_option(what: str = "This label only; may be given several times.") -> Callable[[F], F]:
    """Option ``--label``, any number of times, given to the command as ``labels``."""
    return click.option("--label", "labels", multiple=True, metavar="LABEL", help=what)


def check_labels(asked: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a value of ``--label`` that is none of the labels there are."""
    for label in asked:
        if label not in names:
            hint = did_you_mean(label, list(names))
            raise InputError(f"label {label!r} is not known; choose one of {', '.join(names)}{hint}")


def level_option(what: str) -> Callable[[F], F]:
    """Option ``--level``: the probability of an interval."""
    return option("--level", type=SHARE, default=0.95, help=what)


def mirrored(target: str, option: str, parameter: str, **settings: Any) -> Callable[[F], F]:
    """An option that is a parameter of a class or function of the library, and has its default."""
    default = signature_defaults(target)[parameter]
    return click.option(option, parameter, default=default, show_default=True, **settings)


_VECTORIZER = ("analyzer", "token_pattern", "stemmer", "stop_words", "ngram_range", "min_df", "max_df")


@dataclass(frozen=True)
class TextChoices:
    """Options on words; those left out are as in ``TextCategorizer()``."""

    changes: tuple[tuple[str, Any], ...]
    weighting: str | None

    def vectorizer(self, language: text.Language | None = None) -> TextVectorizer:
        """The default one for texts of a language, English if none is given, with what was chosen."""
        from textbayes.categorizer.presets import default_vectorizer

        vectorizer: TextVectorizer = default_vectorizer(language).set_params(**dict(self.changes))
        return vectorizer

    def of_counted_words(self) -> TextChoices:
        """The same for words that were counted before, as they stand; what was chosen still wins."""
        kept = {"token_pattern": svmlight.WORD, "lowercase": False, "stemmer": None, "stop_words": None}
        return replace(self, changes=tuple((kept | dict(self.changes)).items()))

    def term_weighting(self) -> text.TermWeighting:
        from textbayes.categorizer.presets import default_weighting

        return default_weighting() if self.weighting is None else text.TermWeighting(self.weighting)

    def check_can_be_kept(self) -> None:
        """Refuse, before any text is read, a token pattern that no model file may carry."""
        pattern = dict(self.changes).get("token_pattern")
        if pattern is not None:
            check_can_be_kept(pattern)


def text_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--stemmer``, ``--stop-words`` and so on; the command is given them as ``text``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        chosen = {name: given.pop(name) for name in _VECTORIZER}
        changes = {name: value for name, value in chosen.items() if value is not None}
        changes |= {name: None for name in ("stemmer", "stop_words") if changes.get(name) == "none"}
        if chosen["analyzer"] in ("char", "char_wb"):  # the defaults are for words
            changes = {"stemmer": None, "stop_words": None, **changes}
        return function(*args, text=TextChoices(tuple(changes.items()), given.pop("weighting")), **given)

    return cloup.option_group("Words", *_OPTIONS)(command)


stemmer_option = click.option(
    "--stemmer",
    type=Checked(imported("textbayes.text.languages:check_stemmer", none="none")),
    metavar="NAME|none",
    help="porter, or a Snowball language such as german or de; porter if not given (train: as the texts' language is).",
)
stop_words_option = click.option(
    "--stop-words",
    type=Checked(imported("textbayes.text:load_stop_words", none="none")),
    metavar="LANGUAGE|smart|none|FILE",
    help="Words to leave out: a language such as german or de; english if not given (train: the texts' language).",
)
_OPTIONS = [
    option(
        "--analyzer",
        choices=["word", "mixed", "char", "char_wb"],
        help="Read words; words, and characters of scripts without spaces such as Chinese or Thai (mixed); characters; "
        "or characters inside words.",
    ),
    click.option(
        "--token-pattern",
        type=Checked(imported("textbayes.text.tokenize:parse_pattern")),
        metavar="words|all|tweets|REGEX",
        help=r"What a word is: two letters or more (words, if not given); also digits, !, ? and emoji (all); also "
        r"#tags, @names and don't (tweets); or a pattern such as \w+ or [a-z]{3,}.",
    ),
    stemmer_option,
    stop_words_option,
    click.option("--ngrams", "ngram_range", type=NgramRange(), help="Words (1), pairs (2) or both (1-2)."),
    click.option("--min-df", type=DocumentFrequency(), help="Leave out words in fewer documents; 2 if not given."),
    click.option("--max-df", type=DocumentFrequency(), help="Leave out words in more documents."),
    option(
        "--weighting",
        choices=["raw", "binary", "log", "ltc", "tfidf", "tfidf1"],
        help="Weight of a word in a document, before the cosine norm; tfidf1 if not given.",
    ),
]

"""Options that several commands have, each written once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
import cloup

from textbayes import text
from textbayes.cli.parameters import Checked, DocumentFrequency, NgramRange, imported, signature_defaults
from textbayes.cli.terminal import MOST_USED
from textbayes.core.errors import InputError
from textbayes.core.wording import did_you_mean
from textbayes.text.linear_pattern import check_can_be_kept

if TYPE_CHECKING:
    from textbayes.text import TextVectorizer

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]
SEED = click.IntRange(min=0)
COUNT = click.IntRange(min=1)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


def option(*names: str, choices: Sequence[str] | None = None, **settings: Any) -> Callable[[F], F]:
    """An option of click whose help says its default; ``choices`` are the values that it takes."""
    if choices is not None:
        settings["type"] = click.Choice(choices)
    return click.option(*names, show_default=settings.get("default") is not None, **settings)


strict_option = click.option("--strict", is_flag=True, help="Refuse labels that the model has not seen in training.")
jobs_option = click.option("--jobs", "n_jobs", type=COUNT, help="Threads over labels; all cores if not given.")
fdr_option = click.option(
    "--fdr", type=click.FloatRange(0, 1, min_open=True), help="Only words with a q-value of at most this."
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


def level_option(what: str, default: float | None = None) -> Callable[[F], F]:
    """Option ``--level``: the probability of an interval."""
    return click.option("--level", type=SHARE, default=default, show_default=default is not None, help=what)


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

    def vectorizer(self) -> TextVectorizer:
        from textbayes.categorizer.presets import default_vectorizer

        vectorizer: TextVectorizer = default_vectorizer().set_params(**dict(self.changes))
        return vectorizer

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
    help="porter (the default), or a Snowball language such as german or de.",
)
stop_words_option = click.option(
    "--stop-words",
    type=Checked(imported("textbayes.text:load_stop_words", none="none")),
    metavar="LANGUAGE|smart|none|FILE",
    help="Words to leave out: a language such as german or de; english if not given.",
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

"""Groups of options in the help of a command, and options that several commands have, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import cloup

from textbayes.cli.sources import signature_defaults

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]

MOST_USED = "Most used"  # the group of options that a short help shows
SEED = click.IntRange(min=0)
COUNT = click.IntRange(min=1)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)

strict_option = click.option("--strict", is_flag=True, help="Refuse labels that the model has not seen in training.")
jobs_option = click.option("--jobs", "n_jobs", type=COUNT, help="Threads over labels; all cores if not given.")
fdr_option = click.option(
    "--fdr", type=click.FloatRange(0, 1, min_open=True), help="Only words with a q-value of at most this."
)
fdr_method_option = click.option(
    "--fdr-method", type=click.Choice(["bh", "storey"]), default="bh", show_default=True, help="Of q-values."
)
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
    return click.option("--seed", name, type=SEED, default=0, show_default=True, help=what)


def top_option(what: str, default: int | None = None) -> Callable[[F], F]:
    """Option ``--top``: how many of what are listed."""
    return click.option("--top", type=COUNT, default=default, show_default=default is not None, metavar="N", help=what)


def label_option(what: str = "This label only; may be given several times.") -> Callable[[F], F]:
    """Option ``--label``, any number of times, given to the command as ``labels``."""
    return click.option("--label", "labels", multiple=True, metavar="LABEL", help=what)


def level_option(what: str, default: float | None = None) -> Callable[[F], F]:
    """Option ``--level``: the probability of an interval."""
    return click.option("--level", type=SHARE, default=default, show_default=default is not None, help=what)


def mirrored(target: str, option: str, parameter: str, **settings: Any) -> Callable[[F], F]:
    """An option that is a parameter of a class or function of the library, and has its default."""
    default = signature_defaults(target)[parameter]
    return click.option(option, parameter, default=default, show_default=True, **settings)

"""Verbosity of a run: ``--quiet`` and ``--debug``, valid before and after the name of a command; notes on stderr."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from textbayes.cli.terminal import echo

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Settings:
    """Settings of the whole run, whichever command it is."""

    quiet: bool = False
    debug: bool = False


def settings() -> Settings:
    """The settings of the run at hand."""
    context = click.get_current_context(silent=True)
    return Settings() if context is None else context.find_root().ensure_object(Settings)


def common_options(function: F) -> F:
    """Add the options ``--quiet`` and ``--debug`` to a command."""
    for name, text in (("debug", "Show the traceback of an error."), ("quiet", "No progress and no notes on stderr.")):
        option = click.option(f"--{name}", is_flag=True, expose_value=False, is_eager=True, callback=_set, help=text)
        function = option(function)
    return function


def note(message: str) -> None:
    """Say on stderr what was chosen or found, unless the user wants quiet."""
    if not settings().quiet:
        echo(f"textbayes: {' '.join(message.split())}", err=True)


def warn(message: str) -> None:
    """Say on stderr what the user must know, quiet or not."""
    echo(f"textbayes: warning: {' '.join(message.split())}", err=True)


def _set(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and parameter.name:
        setattr(context.find_root().ensure_object(Settings), parameter.name, True)
        if parameter.name == "quiet":
            logging.getLogger("textbayes").setLevel(logging.ERROR)  # what the library has to say by itself

"""Help in two lengths: ``--help`` shows the options most used and a few examples, ``--help-all`` everything."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import click
from click import _textwrap

from textbayes.cli.options import MOST_USED
from textbayes.cli.terminal import echo

_MOST_EXAMPLES = 5
_ALL = "help_all"
# click would break lines within --cv-only; it offers no other way to have words left whole.
_textwrap.TextWrapper.wordsep_re = textwrap.TextWrapper.wordsep_simple_re


def shorten_help(command: click.Command) -> click.Command:
    """The command, and those below it, with ``--help-all``; ``--help`` is short where some options are most used.

    Parameters
    ----------
    command : click.Command
        Changed in place; what was changed before is left alone.
    """
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        shorten_help(below)
    if any(parameter.name == _ALL for parameter in command.params):  # done before
        return command
    number = sum(isinstance(parameter, click.Option) for parameter in command.params)
    is_long = bool(_most_used(command))
    shows_all = click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        hidden=not is_long,  # the same as --help then
        help=f"Show all {number} options and exit.",
    )
    command.params.append(shows_all)
    if not is_long:
        return command

    def format_help(ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_short(command, shows_all, ctx, formatter)

    command.format_help = format_help  # type: ignore[method-assign]
    return command


def full_help(command: click.Command, ctx: click.Context) -> str:
    """All that there is to say of a command."""
    formatter = ctx.make_formatter()
    type(command).format_help(command, ctx, formatter)
    return formatter.getvalue().rstrip("\n")


def _show_all(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        echo(full_help(ctx.command, ctx))
        ctx.exit()


def _most_used(command: click.Command) -> list[click.Parameter]:
    return [one for one in command.params if getattr(getattr(one, "group", None), "title", None) == MOST_USED]


def _write_short(
    command: click.Command, shows_all: click.Option, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    command.format_usage(ctx, formatter)
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(paragraphs[0])
    examples = [one for one in paragraphs if one.startswith("\b\n")]
    if examples:
        lines = examples[0].split("\n")[1:]
        with formatter.section("Examples"):
            formatter.write_text("\b\n" + "\n".join(_whole(lines)[:_MOST_EXAMPLES]))
    own: Any = command.get_help_option(ctx)
    for title, options in ((f"{MOST_USED} options", _most_used(command)), ("More", [shows_all, own])):
        with formatter.section(title):
            formatter.write_dl([record for one in options if (record := one.get_help_record(ctx)) is not None])


def _whole(lines: list[str]) -> list[str]:
    """Lines, with those that go on by a backslash in one piece."""
    found: list[str] = []
    for line in lines:
        if found and found[-1].endswith("\\"):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found

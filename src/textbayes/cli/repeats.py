"""An option of one value that is given twice: click takes the last without a word, this refuses two that differ."""

from __future__ import annotations

from typing import Any

import click


def refuse_repeats(command: click.Command) -> click.Command:
    """The command, and those below it, which now refuse an option given with two values; the same value twice is fine.

    Options that take several values, and those that count, are left alone.
    """
    if "make_parser" in vars(command):  # done before
        return command
    make_parser: Any = command.make_parser

    def make_guarded(ctx: click.Context) -> Any:
        parser = make_parser(ctx)
        given: dict[str, tuple[str, Any]] = {}  # the option as it was first written, and its value
        for name, option in {**parser._short_opt, **parser._long_opt}.items():
            if option.action in ("store", "store_const"):
                option.process = _guarded(option, option.process, name, given, ctx)
        return parser

    command.make_parser = make_guarded  # type: ignore[method-assign]
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        refuse_repeats(below)
    return command


def _guarded(option: Any, process: Any, name: str, given: dict[str, tuple[str, Any]], ctx: click.Context) -> Any:
    flag = option.action == "store_const"

    def guarded(value: Any, state: Any) -> None:
        told = option.const if flag else value
        first, before = given.setdefault(option.dest, (name, told))
        if before != told:
            if flag:
                raise click.UsageError(f"{first} and {name} were both given; choose one of them.", ctx)
            values = f"{_shown(before)} and {_shown(told)}"
            raise click.UsageError(f"{name} was given twice, with {values}; give it once.", ctx)
        process(value, state)

    return guarded


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"

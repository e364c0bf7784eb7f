"""Keyword options of a reader or a corpus, read off its signature, so that a wrong one is refused by name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args, get_type_hints

from textbayes.core.errors import InputError


def option_defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a function and their defaults; of ``**options: Unpack[…]`` all, by None.

    >>> def read(path, *, encoding="utf-8"): ...
    >>> option_defaults(read)
    {'encoding': 'utf-8'}
    """
    parameters = inspect.signature(function).parameters.values()
    shared: dict[str, Any] = {}
    for rest in (p.name for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD):
        (options,) = get_args(get_type_hints(function)[rest])
        shared = dict.fromkeys(options.__annotations__)
    return shared | {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def check_options(what: str, function: Callable[..., Any], given: Iterable[str]) -> None:
    """Refuse options a function does not take; ``what`` names its owner in the message."""
    known: Mapping[str, Any] = option_defaults(function)
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            listed = f"its options are {', '.join(known)}" if known else "it takes no options"
            raise InputError(f"{what} has no option {name!r}: {listed}{hint}")

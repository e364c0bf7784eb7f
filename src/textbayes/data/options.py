"""Options of a function that a user gives by name: which there are, and whether the values given can be theirs."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from textbayes.core.errors import InputError

_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", NoneType: "null"}


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
    """Refuse options a function does not take, and of a mapping values that are not of their types.

    ``what`` names the owner of the options in the message.
    """
    known: Mapping[str, Any] = option_defaults(function)
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            listed = f"its options are {', '.join(known)}" if known else "it takes no options"
            raise InputError(f"{what} has no option {name!r}: {listed}{hint}")
    types = _types(function)
    for name, value in given.items() if isinstance(given, Mapping) else ():
        if name in types and not _fits(value, types[name]):
            need = _described(types[name])
            meant = isinstance(value, int | float) and "a text" in need  # what looked like a number on the command line
            hint = f'; write {name}="{value}" for the text' if meant else ""
            raise InputError(f"{what} has {name}={repr(value)[:60]}, which must be {need}{hint}")


def _types(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of all options, as the function's annotations have them."""
    hints = get_type_hints(function)
    rest = [p.name for p in inspect.signature(function).parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    for name in rest:
        (options,) = get_args(hints.pop(name))
        hints |= get_type_hints(options)
    return hints


def _fits(value: Any, wanted: Any) -> bool:
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin is None:
        if wanted is float:
            return isinstance(value, int | float) and not isinstance(value, bool)
        if wanted is int:
            return isinstance(value, int) and not isinstance(value, bool)
        return not isinstance(wanted, type) or isinstance(value, wanted)
    if isinstance(origin, type) and issubclass(origin, Collection):
        several = isinstance(value, Collection) and not isinstance(value, str | Mapping)
        return several and all(_fits(item, inner[0]) for item in value)
    return any(_fits(value, one) for one in inner)  # one of several types


def _described(wanted: Any) -> str:
    inner = [one for one in get_args(wanted) if one is not NoneType]
    if get_origin(wanted) is not None and issubclass(_as_type(get_origin(wanted)), Collection):
        return 'a list of texts, such as ["id", "text"]'
    return _NAMES.get(wanted, "of another kind") if not inner else " or ".join(dict.fromkeys(map(_described, inner)))


def _as_type(origin: Any) -> type:
    return origin if isinstance(origin, type) else object

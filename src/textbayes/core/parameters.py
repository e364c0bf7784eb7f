"""Parameters by name: of objects that are no scikit-learn estimators, of functions, and in strings of commands."""

from __future__ import annotations

import copy
import difflib
import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from types import NoneType
from typing import Any, Self, TypeVar, get_args, get_origin, get_type_hints

from textbayes.core.errors import InputError


class Parameters:
    """Base of objects whose constructor stores its arguments: they are listed, changed and copied by name.

    ``sklearn.base.clone`` and ``set_params(rule__threshold=…)`` of an estimator that holds one work as they do with
    scikit-learn's own objects. scikit-learn itself is not imported, which takes longer than scoring some hundred texts.
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` those of parameters that have some as well."""
        found = {name: getattr(self, name) for name in self._get_param_names()}
        nested = {
            f"{name}__{key}": own
            for name, value in found.items()
            if deep and isinstance(value, Parameters)
            for key, own in value.get_params().items()
        }
        return found | nested

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``rule__threshold=0.3`` changes one of the parameter ``rule``."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has: {', '.join(known)}")
        for name in sorted(params, key=lambda one: "__" in one):  # whole parameters before their own
            part, _, rest = name.partition("__")
            if rest:
                getattr(self, part).set_params(**{rest: params[name]})
            else:
                setattr(self, part, params[name])
        return self

    def fresh(self) -> Self:
        """A copy with the same parameters, and nothing of what was learnt."""
        given = self.get_params(deep=False)
        return type(self)(**{k: v.fresh() if isinstance(v, Parameters) else copy.deepcopy(v) for k, v in given.items()})

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = self.get_params(deep=False).items()
        changed = [f"{name}={value!r}" for name, value in given if repr(value) != repr(defaults[name].default)]
        return f"{type(self).__name__}({', '.join(changed)})"


V = TypeVar("V")


def name_and_parameters(spec: str) -> tuple[str, dict[str, Any]]:
    """The name before the colon and the settings after it.

    >>> name_and_parameters("max_f1:fbr=0.3,fallback=never")
    ('max_f1', {'fbr': 0.3, 'fallback': 'never'})
    """
    name, _, given = spec.partition(":")
    return name, settings_of(key_value(part) for part in _split(given) if part)


def settings_of(pairs: Iterable[tuple[str, V]]) -> dict[str, V]:
    """Settings by name; one that is given twice, and not the same, is refused.

    >>> settings_of([("fbr", 0.3), ("fallback", "never")])
    {'fbr': 0.3, 'fallback': 'never'}
    """
    found: dict[str, V] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            raise InputError(f"{name} is given twice, as {found[name]!r} and as {value!r}; give it once")
    return found


def _split(given: str) -> list[str]:
    """The settings between commas; commas within brackets or quotes belong to a value.

    >>> _split('beta=[2,1],link="flip:rate=0.1,base=probit"')
    ['beta=[2,1]', 'link="flip:rate=0.1,base=probit"']
    """
    parts, depth, quoted = [""], 0, False
    for character in given:
        quoted ^= character == '"'
        depth += (character in "[{") - (character in "]}") if not quoted else 0
        if character == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def key_value(text: str) -> tuple[str, Any]:
    """Name and value of a setting; the value is read as JSON where it is, else as a string.

    >>> key_value("fbr=0.3"), key_value("fallback=never")
    (('fbr', 0.3), ('fallback', 'never'))
    """
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise InputError(f"{text!r} is not a setting; write NAME=VALUE")
    try:
        return key.strip(), json.loads(value)
    except ValueError:
        return key.strip(), value


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

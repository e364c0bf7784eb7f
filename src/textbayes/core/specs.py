"""Names with parameters in one string, as the command line and Python both take them: ``max_f1:fbr=0.3``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from textbayes.core.errors import InputError

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

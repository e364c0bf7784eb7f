"""JSON from a file that may claim anything: bounded in length, depth and number, each key once, no huge numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from textbayes.core.errors import ModelFileError

MOST_BYTES = 32 << 20
_MOST_VALUES = 4_000_000  # in so many bytes; in more, more
_DEEPEST = 32
_MOST_DIGITS = 40  # the state of a random generator has 128 bits


def read_json(content: bytes, what: str, largest: int = MOST_BYTES) -> Any:
    """Read a JSON value; anything that is not plain JSON of a sensible size is refused."""
    if len(content) > largest:
        raise ModelFileError(f"{what} has more than {largest >> 20} MiB; was the file altered?")
    most = max(1, largest // MOST_BYTES) * _MOST_VALUES
    if content.count(b",") + content.count(b"[") + content.count(b"{") > most:
        raise ModelFileError(f"{what} has more than {most:,} values; was the file altered?")
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=_each_once, parse_int=_whole)
    except RecursionError:
        raise ModelFileError(f"{what} is nested more than {_DEEPEST} deep; was the file altered?") from None
    except ValueError as error:
        raise ModelFileError(f"{what} cannot be read ({error}); was the file altered?") from error
    _check_depth(value, what)
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _check_depth(value: Any, what: str) -> None:
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise ModelFileError(f"{what} is nested more than {_DEEPEST} deep; was the file altered?")


def _inside(value: Any) -> Iterable[Any]:
    """Values that a value holds; none in numbers and texts."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()

"""States of models as JSON and named arrays: the parts that every kind of state has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

A = TypeVar("A")


def under(name: str, arrays: Mapping[str, A]) -> dict[str, A]:
    """Arrays of a part of a state under the name of the part.

    >>> under("words", {"mean": 1})
    {'words.mean': 1}
    """
    return {f"{name}.{key}": array for key, array in arrays.items()}


def part_of(arrays: Mapping[str, A], name: str) -> dict[str, A]:
    """Arrays of the part of a state that :func:`under` put there.

    >>> part_of({"words.mean": 1, "sizes": 2}, "words")
    {'mean': 1}
    """
    start = f"{name}."
    return {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}

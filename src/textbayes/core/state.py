"""States of models as JSON and named arrays: the parts that every kind of state has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

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


def plain(value: Any) -> Any:
    """A parameter as JSON has it: numbers, texts and lists.

    >>> plain((np.float64(0.5), "a")), plain(np.arange(2))
    ([0.5, 'a'], [0, 1])
    """
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value

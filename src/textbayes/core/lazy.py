"""Names and modules that are imported on first use, so that importing a package costs milliseconds."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def on_first_use(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package (PEP 562) whose names come from ``modules`` (name → module)."""

    def get(name: str) -> Any:
        if name in modules:
            return getattr(importlib.import_module(modules[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        listed: list[str] = importlib.import_module(package).__all__
        return listed

    return get, names


class LazyModule:
    """A module that is imported when a name of it is first used: kernels, since numba takes half a second to import.

    >>> math = LazyModule("math")
    >>> math.sqrt(4.0)
    2.0
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copies and pickles ask for
            raise AttributeError(name)
        value = getattr(importlib.import_module(self._name), name)
        vars(self)[name] = value  # found at once from now on
        return value

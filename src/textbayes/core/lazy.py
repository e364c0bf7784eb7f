"""Names and modules that are imported on first use, so that importing a package costs milliseconds."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def on_first_use(
    package: str, modules: Mapping[str, Sequence[str]], own: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` (PEP 562) and ``__all__`` of a package whose public names are in other modules.

    Parameters
    ----------
    package : str
    modules : mapping of str to sequence of str
        The names that come from each module, which is imported when one of them is first used.
    own : sequence of str
        Public names that the package has already.
    """
    module_of = {name: module for module, names in modules.items() for name in names}
    public = sorted([*module_of, *own], key=lambda name: (not name.isupper(), name))

    def get(name: str) -> Any:
        if name in module_of:
            return getattr(importlib.import_module(module_of[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: public, public


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

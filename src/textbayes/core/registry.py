"""Find the members of a folder by name, so that adding a file is all it takes to add a member."""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import pkgutil
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from textbayes.core.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Members of one kind, collected from the modules of a package and from installed plug-ins.

    A module registers its member with ``@registry.register("name")``. The package's modules are imported on the
    first look-up, and so are third-party members under the entry-point group ``textbayes.<package>``.

    Parameters
    ----------
    kind : str
        What a member is, in error messages.
    package : str
    modules : mapping of str to str, optional
        The module that registers each member, where they are not the modules of the package.
    """

    def __init__(self, kind: str, package: str, modules: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self._package = package
        self._named_modules = modules
        self._members: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        def add(member: T) -> T:
            if name in self._members:
                raise InputError(f"{self.kind} {name!r} is registered twice; choose another name for one of them")
            self._members[name] = member
            return member

        return add

    def get(self, name: str) -> T:
        """The member of that name; an unknown name is refused with the names there are."""
        self._load_module(name)
        if name not in self._members:
            self._load()
        if name not in self._members:
            plain, parameters = str(name).partition(":")[::2]
            if parameters and plain in self._members:
                made_by = getattr(self._members[plain], "__name__", plain)
                raise InputError(
                    f"{self.kind} {plain!r} takes no parameters after its name; in Python pass an object, {made_by}(…)"
                )
            close = difflib.get_close_matches(str(name), self._members, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InputError(f"unknown {self.kind} {name!r}: choose one of {', '.join(self.names())}{hint}")
        return self._members[name]

    def names(self) -> list[str]:
        self._load()
        return sorted(self._members)

    def _load_module(self, name: str) -> None:
        """Import the module that is called like the member, if there is one, and no other: most are called so."""
        unknown = not self._loaded and name not in self._members and str(name).isidentifier()
        if unknown and name in (modules := self._modules()):
            importlib.import_module(modules[name])

    def _load(self) -> None:
        if self._loaded:
            return
        for name, module in self._modules().items():
            if not name.startswith("_"):
                importlib.import_module(module)
        for entry in self._plug_ins():
            if entry.name not in self._members:
                self._members[entry.name] = entry.load()
        self._loaded = True

    def known_names(self) -> list[str]:
        """Names of the members, of a registry whose modules are listed: nothing is imported."""
        return sorted({*(self._named_modules or ()), *self._members, *(entry.name for entry in self._plug_ins())})

    def _plug_ins(self) -> importlib.metadata.EntryPoints:
        return importlib.metadata.entry_points(group=f"textbayes.{self._package.rpartition('.')[2]}")

    def _modules(self) -> Mapping[str, str]:
        """Modules of the package by name; none where it is a single module, which registers its members itself."""
        if self._named_modules is not None:
            return self._named_modules
        path = getattr(importlib.import_module(self._package), "__path__", [])
        return {module.name: f"{self._package}.{module.name}" for module in pkgutil.iter_modules(path)}

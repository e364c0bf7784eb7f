"""States of objects as JSON and named arrays, by fields declared beside each class: type, shape and range.

A class lists the parameters of its constructor by name, ``fields = {"l1_ratio": Hyper(least=0.0, most=1.0)}``, and
what a fit sets in ``learnt``, ``learnt = {"idf_": Array(np.float64, ("n_features",))}``, which may be a property, where
it depends on parameters. Subclasses add to both. A parameter without a line has the field of its default
(``fields_of``), so that a new class with parameters of its own is saved and loaded without a declaration; a field None
is not kept. :func:`to_state` writes an object. :func:`from_state` makes it again by its constructor, or by
``of_state`` if the class has it, and sets what was learnt. What fields say together is checked by the constructor, or
by ``check_state`` if the class has it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from textbayes.core.array_fields import Array
from textbayes.core.codec import (
    Arrays,
    Field,
    Fields,
    Flag,
    Null,
    Number,
    Sizes,
    State,
    Text,
    Whole,
    read_values,
    restoring,
    written,
)
from textbayes.core.registry import Registry
from textbayes.core.types import AnyArray

A = TypeVar("A")
T = TypeVar("T")


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


class Part(Field):
    """An object with fields of its own: of one class, or of those of a registry, by name. Its sizes are its own.

    Without ``fitted`` its parameters alone.
    """

    def __init__(self, of: type | Registry[Any], fitted: bool = True) -> None:
        self.of, self.fitted = of, fitted

    def takes(self, value: Any) -> bool:
        if isinstance(self.of, type):
            return isinstance(value, self.of)
        name = getattr(value, "name", None)
        return isinstance(name, str) and name in self.of.names() and self.of.get(name) is type(value)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, dict)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        meta, own = to_state(value, place, self.fitted)
        arrays |= own
        return meta if isinstance(self.of, type) else {"name": value.name, "fields": meta}

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if isinstance(self.of, type):
            return _made(self.of, saved, place, arrays, dict(sizes), fitted=self.fitted)
        name, meta = saved.get("name"), saved.get("fields")
        if set(saved) != {"name", "fields"} or not isinstance(meta, dict) or not isinstance(name, str):
            raise ValueError(f"the name of a {self.of.kind} and its fields are needed")
        return _made(self.of.get(name), meta, place, arrays, dict(sizes), fitted=self.fitted)


def with_fields(fields: Fields) -> Callable[[type[T]], type[T]]:
    """Declare the fields of a class that can have no class variable, such as a ``NamedTuple``."""

    def declare(cls: type[T]) -> type[T]:
        setattr(cls, "fields", fields)  # noqa: B010  # mypy knows no such attribute
        return cls

    return declare


def fields_of(cls: type) -> dict[str, Field]:
    """Fields of a class: those declared by it and its bases, and those of undeclared parameters by their defaults.

    ``undeclared``, where the class has it, is the field of every parameter without a line.
    """
    declared: dict[str, Field | None] = {}
    for base in reversed(cls.__mro__):
        declared |= vars(base).get("fields", {})
    for name, parameter in inspect.signature(getattr(cls, "of_state", cls)).parameters.items():
        if name not in declared and parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            declared[name] = getattr(cls, "undeclared", None) or _of_default(parameter.default)
    return {name: field for name, field in declared.items() if field is not None}


def to_state(value: Any, place: str = "", fitted: bool = True) -> State:
    """The fields of an object as JSON, and arrays under their places; what cannot be kept is refused by name.

    Without ``fitted`` its parameters alone.
    """
    fields = fields_of(type(value))
    open_field = _open_field(type(value))
    if open_field is not None:
        fields |= {name: open_field for name in vars(value) if name not in fields}
    values = {name: getattr(value, name) for name in fields}
    if fitted:
        fields |= (learnt := _learnt_by(value))
        values |= {name: getattr(value, name, None) for name in learnt}
    return written(values, fields, place)


def from_state(
    cls: type,
    meta: Any,
    arrays: Arrays,
    what: str,
    place: str = "",
    *,
    fitted: bool = True,
    given: Mapping[str, Any] | None = None,
    **sizes: int,
) -> Any:
    """The object that :func:`to_state` described, made by its constructor.

    Parameters
    ----------
    cls : type
    meta, arrays : the state
    what : str
        The name of the object in an error message.
    place : str
        Where in the arrays its own are.
    fitted : bool
        Whether the state has what was learnt too.
    given : mapping, optional
        Arguments of the constructor that the state does not have.
    sizes : lengths of arrays that are known
    """
    with restoring(what, place):
        return _made(cls, meta, place, arrays, dict(sizes), given, fitted)


def _learnt_by(value: Any) -> dict[str, Field]:
    """Fields of what a fit sets: those that the class of an object and its bases declare."""
    declared: dict[str, Field | None] = {}
    for base in reversed(type(value).__mro__):
        own = vars(base).get("learnt", {})
        declared |= own.__get__(value) if isinstance(own, property) else own
    return {name: field for name, field in declared.items() if field is not None}


def _made(
    cls: type,
    meta: Any,
    place: str,
    arrays: Arrays,
    sizes: Sizes,
    given: Mapping[str, Any] | None = None,
    fitted: bool = True,
) -> Any:
    fields, open_field = fields_of(cls), _open_field(cls)
    make, learnt = getattr(cls, "of_state", cls), {}
    if open_field is not None and isinstance(meta, dict):
        below = [name.removeprefix(f"{place}.").partition(".")[0] for name in arrays if name.startswith(f"{place}.")]
        fields |= {name: open_field for name in (*meta, *below) if name not in fields}
    if isinstance(meta, dict) and fitted and hasattr(cls, "learnt"):
        learnt = {name: value for name, value in meta.items() if name not in fields}
        meta = {name: value for name, value in meta.items() if name in fields}
    made = make(**read_values(fields, meta, place, arrays, sizes), **(given or {}))
    if fitted:
        for name, value in read_values(_learnt_by(made), learnt, place, arrays, sizes).items():
            setattr(made, name, value)
    if hasattr(made, "check_state"):
        made.check_state()
    return made


def _open_field(cls: type) -> Field | None:
    """The field of names that a constructor takes without listing them."""
    kinds = {parameter.kind for parameter in inspect.signature(getattr(cls, "of_state", cls)).parameters.values()}
    field: Field | None = getattr(cls, "undeclared", None)
    return field if inspect.Parameter.VAR_KEYWORD in kinds else None


def _of_default(default: Any) -> Field:
    """The field of a parameter with that default."""
    plain: tuple[tuple[type, Field], ...] = (
        (bool, Flag()),
        (int, Whole()),
        (float, Number(infinite=True)),
        (str, Text()),
    )
    for kind, field in plain:
        if isinstance(default, kind):
            return field | Null()
    return Flag() | Number(infinite=True) | Text() | Null() | Array(np.float64, (...,))

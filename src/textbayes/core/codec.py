"""States of objects as JSON and named arrays, by fields declared beside each class: type, shape and range.

A class lists its fields by name, ``fields = {"l1_ratio": Hyper(least=0.0, most=1.0)}``; subclasses add theirs. A
parameter of the constructor without a line has the field of its default (``fields_of``), so that a new class with
parameters of its own is saved and loaded without a declaration; a field None is not kept. :func:`to_state` writes an
object, :func:`from_state` makes it again by its constructor. What a file says is checked here, field by field, before
anything uses it; what fields say together is checked by the constructor, or by ``check_state`` if the class has it.

An array is not named in the JSON: it lies under its place, ``model.prior.scale``.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.registry import Registry
from textbayes.core.saved_arrays import LARGEST, saved_array, saved_csr
from textbayes.core.types import AnyArray

Arrays = Mapping[str, AnyArray]
Sizes = dict[str, int]  # lengths of arrays by name: those that are given, and those that were read before
Length = int | str | Callable[[Sizes], int] | None
T = TypeVar("T")
State = tuple[dict[str, Any], dict[str, AnyArray]]

Fields = Mapping[str, "Field | None"]

TINY = float(np.nextafter(0.0, 1.0))  # the least number above 0
_ABSENT: Any = object()  # what the JSON says of a field that is an array
_WHOLE = 2**53
_LONGEST_SHOWN = 60


class Field(ABC):
    """How one value is written, and what a file may say of it. ``a | b`` is a value of either."""

    def __or__(self, other: Field) -> Field:
        return _OneOf(self, other)

    @abstractmethod
    def takes(self, value: Any) -> bool:
        """Whether a value of an object is of this kind."""

    @abstractmethod
    def is_meant(self, saved: Any) -> bool:
        """Whether what the JSON says is of this kind; its range is looked at by ``read``."""

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        """The value as JSON; arrays go beside it."""
        return value.item() if isinstance(value, np.ndarray | np.generic) else value

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        """The value; a ValueError says what is needed."""
        return saved


class Null(Field):
    """None."""

    def takes(self, value: Any) -> bool:
        return value is None

    def is_meant(self, saved: Any) -> bool:
        return saved is None


class Flag(Field):
    """True or False."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, bool)


class Number(Field):
    """A number in a range; ``above`` and ``below`` leave out the end, ``infinite`` lets in ±inf."""

    def __init__(
        self,
        least: float = -np.inf,
        most: float = np.inf,
        *,
        above: float = -np.inf,
        below: float = np.inf,
        infinite: bool = False,
    ) -> None:
        self.least, self.most, self.above, self.below, self.infinite = least, most, above, below, infinite

    def takes(self, value: Any) -> bool:
        return (
            _scalar(value) and value.dtype.kind in "iuf"
            if isinstance(value, np.ndarray | np.generic)
            else (isinstance(value, int | float) and not isinstance(value, bool))
        )

    def is_meant(self, saved: Any) -> bool:
        return type(saved) in (int, float)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        self.check(np.asarray(saved, dtype=np.float64))
        return saved

    def check(self, values: AnyArray) -> None:
        """Refuse values outside of the range, and NaN."""
        inside = (values >= self.least) & (values <= self.most)
        if self.above > -np.inf:
            inside &= values > self.above
        if self.below < np.inf:
            inside &= values < self.below
        if not inside.all() or not (self.infinite or np.isfinite(values).all()):
            raise ValueError(f"it must be {self._range()}")

    def _range(self) -> str:
        ends = [f"above {self.above:g}"] if self.above > -np.inf else []
        ends += [f"{self.least:g} or more"] if self.least > -np.inf else []
        ends += [f"below {self.below:g}"] if self.below < np.inf else []
        ends += [f"{self.most:g} or less"] if self.most < np.inf else []
        return " and ".join(["a number" if self.infinite else "a finite number", *ends])


class Whole(Number):
    """A whole number in a range; later arrays may have it as a length, by the field's name."""

    def __init__(self, least: int = -_WHOLE, most: int = _WHOLE) -> None:
        super().__init__(least, most)

    def takes(self, value: Any) -> bool:
        return super().takes(value) and isinstance(np.asarray(value).item(), int)

    def is_meant(self, saved: Any) -> bool:
        return type(saved) is int

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if not self.least <= saved <= self.most:
            raise ValueError(f"it must be a whole number from {self.least:.0f} to {self.most:.0f}")
        sizes[place.rpartition(".")[2]] = saved
        return saved


class Text(Field):
    """A text, not longer than so many characters."""

    def __init__(self, longest: int = 10_000) -> None:
        self.longest = longest

    def takes(self, value: Any) -> bool:
        return isinstance(value, str)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, str)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return str(value)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if len(saved) > self.longest:
            raise ValueError(f"it must have {self.longest} characters or fewer")
        try:
            saved.encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair is no character") from None
        return saved


class Choice(Field):
    """One of some values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def takes(self, value: Any) -> bool:
        return any(type(value) is type(one) and value == one for one in self.values)

    def is_meant(self, saved: Any) -> bool:
        return self.takes(saved)


class Described(Field):
    """A description in JSON that the class it is of checks by itself."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, dict)


class Pairs(Field):
    """A mapping, as a list of pairs: JSON's keys are texts, and these may be numbers."""

    def __init__(self, key: Field, value: Field) -> None:
        self.key, self.value = key, value

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            self.key.takes(name) and self.value.takes(one) for name, one in value.items()
        )

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, list) and all(isinstance(one, list) and len(one) == 2 for one in saved)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return [
            [self.key.write(name, place, arrays), self.value.write(one, place, arrays)] for name, one in value.items()
        ]

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        return {
            _read(self.key, name, place, arrays, sizes): _read(self.value, one, place, arrays, sizes)
            for name, one in saved
        }


class List(Field):
    """Several values of one kind, as a list or a tuple."""

    def __init__(self, item: Field, least: int = 0, most: int = 10**7, make: Callable[[Any], Any] = list) -> None:
        self.item, self.least, self.most, self.make = item, least, most, make

    def takes(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and all(self.item.takes(one) for one in value)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, list)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return [self.item.write(one, f"{place}.{k}", arrays) for k, one in enumerate(value)]

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if not self.least <= len(saved) <= self.most:
            raise ValueError(f"it must have {self.least} to {self.most} items")
        return self.make(_read(self.item, one, f"{place}.{k}", arrays, sizes) for k, one in enumerate(saved))


class Array(Field):
    """An array of a type, a shape and a range.

    A length is a number, the name of a size, a function of the sizes, or None where any will do. A name that is not
    known yet is the length that this array has. A shape that begins with ``...`` may have further axes before the
    others. The ends of the range may be functions of the sizes. Without ``copy`` the object has the file's own array,
    for large ones that are never changed.
    """

    def __init__(
        self,
        dtype: Any,
        shape: tuple[Any, ...],
        least: float | Callable[[Sizes], float] = -LARGEST,
        most: float | Callable[[Sizes], float] = LARGEST,
        copy: bool = True,
    ) -> None:
        self.dtype, self.shape, self.least, self.most, self.copy = np.dtype(dtype), shape, least, most, copy

    def takes(self, value: Any) -> bool:
        return (
            isinstance(value, np.ndarray) and value.dtype == self.dtype and value.ndim == len(self._shape(value.ndim))
        )

    def is_meant(self, saved: Any) -> bool:
        return saved is _ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        arrays[place] = value
        return _ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        named = self._shape(np.ndim(arrays.get(place, 0)))
        shape = tuple(_length(one, sizes) for one in named)
        least, most = (end(sizes) if callable(end) else end for end in (self.least, self.most))
        array = saved_array(arrays, place, self.dtype, shape, least=least, most=most)
        for name, length in zip(named, array.shape, strict=True):
            if isinstance(name, str) and sizes.setdefault(name, length) != length:
                raise ModelFileError(f"the model's {place} is not square; was the file altered?")
        return np.array(array) if self.copy else array

    def _shape(self, ndim: int) -> tuple[Length, ...]:
        """Lengths of the axes of an array with so many, those that are left open among them."""
        if not self.shape or self.shape[0] is not Ellipsis:
            return self.shape
        last = self.shape[1:]
        return (None,) * max(ndim - len(last), 0) + last


class Csr(Field):
    """A sparse matrix in CSR."""

    def __init__(self, shape: tuple[Length, Length], least: float = -LARGEST, in_order: bool = True) -> None:
        self.shape, self.least, self.in_order = shape, least, in_order

    def takes(self, value: Any) -> bool:
        return getattr(value, "format", None) == "csr"

    def is_meant(self, saved: Any) -> bool:
        return saved is _ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        arrays |= {f"{place}.{part}": getattr(value, part) for part in ("data", "indices", "indptr")}
        return _ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        n_rows, n_columns = (_length(one, sizes) for one in self.shape)
        if n_rows is None:
            n_rows = max(len(arrays.get(f"{place}.indptr", ())) - 1, 0)
        return saved_csr(arrays, place, (n_rows, int(n_columns or 0)), least=self.least, in_order=self.in_order)


class Hyper(Number):
    """A hyperparameter: a number, a value for each word (n_features,), or a row for each label (n_labels, …)."""

    def takes(self, value: Any) -> bool:
        if isinstance(value, np.ndarray):
            return value.dtype.kind in "biuf" and value.ndim <= 2
        return super().takes(value)

    def is_meant(self, saved: Any) -> bool:
        return saved is _ABSENT or super().is_meant(saved)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        if np.ndim(value) == 0:
            return super().write(value, place, arrays)
        arrays[place] = np.asarray(value, dtype=np.float64)
        return _ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if saved is not _ABSENT:
            return super().read(saved, place, arrays, sizes)
        array = arrays.get(place)
        if array is None:
            raise ValueError("is missing")
        if array.dtype != np.float64 or not 1 <= array.ndim <= 2:
            raise ValueError("is no number, and no array of one or two dimensions")
        self.check(array)
        return np.array(array)


class Part(Field):
    """An object with fields of its own: of one class, or of those of a registry, by name. Its sizes are its own."""

    def __init__(self, of: type | Registry[Any]) -> None:
        self.of = of

    def takes(self, value: Any) -> bool:
        if isinstance(self.of, type):
            return isinstance(value, self.of)
        name = getattr(value, "name", None)
        return isinstance(name, str) and name in self.of.names() and self.of.get(name) is type(value)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, dict)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        meta, own = to_state(value, place)
        arrays |= own
        return meta if isinstance(self.of, type) else {"name": value.name, "fields": meta}

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if isinstance(self.of, type):
            return _made(self.of, saved, place, arrays, dict(sizes))
        name, meta = saved.get("name"), saved.get("fields")
        if set(saved) != {"name", "fields"} or not isinstance(meta, dict) or name not in self.of.names():
            raise ValueError(f"the name of a {self.of.kind} and its fields are needed")
        return _made(self.of.get(name), meta, place, arrays, dict(sizes))


class _OneOf(Field):
    """A value of one of several kinds."""

    def __init__(self, *parts: Field) -> None:
        self.parts: tuple[Field, ...] = ()
        for part in parts:
            self.parts += part.parts if isinstance(part, _OneOf) else (part,)

    def takes(self, value: Any) -> bool:
        return any(part.takes(value) for part in self.parts)

    def is_meant(self, saved: Any) -> bool:
        return any(part.is_meant(saved) for part in self.parts)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return next(part for part in self.parts if part.takes(value)).write(value, place, arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        return next(part for part in self.parts if part.is_meant(saved)).read(saved, place, arrays, sizes)


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
    for name, parameter in inspect.signature(cls).parameters.items():
        if name not in declared and parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            declared[name] = getattr(cls, "undeclared", None) or _of_default(parameter.default)
    return {name: field for name, field in declared.items() if field is not None}


def to_state(value: Any, place: str = "") -> State:
    """The fields of an object as JSON, and arrays under their places; what cannot be kept is refused by name."""
    fields = fields_of(type(value))
    open_field = _open_field(type(value))
    if open_field is not None:
        fields |= {name: open_field for name in vars(value) if name not in fields}
    return written({name: getattr(value, name) for name in fields}, fields, place)


def from_state(
    cls: type,
    meta: Any,
    arrays: Arrays,
    what: str,
    place: str = "",
    *,
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
    given : mapping, optional
        Arguments of the constructor that the state does not have.
    sizes : lengths of arrays that are known
    """
    with restoring(what):
        return _made(cls, meta, place, arrays, dict(sizes), given)


def written(values: Mapping[str, Any], fields: Mapping[str, Field], place: str = "") -> State:
    """Values by name as JSON and arrays, by their fields."""
    meta: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for name, field in fields.items():
        if not field.takes(values[name]):
            shown = f"{type(values[name]).__name__}" if not np.isscalar(values[name]) else repr(values[name])
            raise InputError(f"{name} is a {shown}, which a model file cannot keep; use another value")
        saved = field.write(values[name], _joined(place, name), arrays)
        if saved is not _ABSENT:
            meta[name] = saved
    return meta, arrays


def read(fields: Mapping[str, Field], meta: Any, arrays: Arrays, what: str, place: str = "", **sizes: int) -> Any:
    """Values by name that :func:`written` described; a missing, unknown or wrong one is refused."""
    with restoring(what):
        return _values(fields, meta, place, arrays, dict(sizes))


@contextmanager
def restoring(what: str) -> Iterator[None]:
    """Errors of what is made from a file as a sentence that says so."""
    try:
        yield
    except ModelFileError:
        raise
    except (InputError, ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{what} cannot be used ({error}); was the file altered?") from error


def _made(
    cls: type, meta: Any, place: str, arrays: Arrays, sizes: Sizes, given: Mapping[str, Any] | None = None
) -> Any:
    fields, open_field = fields_of(cls), _open_field(cls)
    if open_field is not None and isinstance(meta, dict):
        below = [name.removeprefix(f"{place}.").partition(".")[0] for name in arrays if name.startswith(f"{place}.")]
        fields |= {name: open_field for name in (*meta, *below) if name not in fields}
    made = cls(**_values(fields, meta, place, arrays, sizes), **(given or {}))
    if hasattr(made, "check_state"):
        made.check_state()
    return made


def _values(fields: Mapping[str, Field], meta: Any, place: str, arrays: Arrays, sizes: Sizes) -> dict[str, Any]:
    if not isinstance(meta, dict):
        raise ValueError(f"{place or 'it'} is not described")
    unknown = sorted(set(meta) - set(fields))
    if unknown:
        raise ValueError(f"{unknown[0][:_LONGEST_SHOWN]!r} is not known to this version of textbayes")
    # Whole numbers come first: they are lengths of arrays.
    order = sorted(fields, key=lambda name: not isinstance(fields[name], Whole))
    found = {name: _read(fields[name], meta.get(name, _ABSENT), _joined(place, name), arrays, sizes) for name in order}
    return {name: found[name] for name in fields}


def _read(field: Field, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
    name = place.rpartition(".")[2]
    if not field.is_meant(saved):
        raise ValueError(f"its {name} is missing" if saved is _ABSENT else f"its {name} cannot be {_shown(saved)}")
    try:
        return field.read(saved, place, arrays, sizes)
    except ValueError as error:
        if isinstance(saved, dict | list):  # the sentence names a part of it
            raise
        if saved is _ABSENT:
            raise ValueError(f"its {name} {error}") from None
        raise ValueError(f"its {name} is {_shown(saved)}: {error}") from None


def _open_field(cls: type) -> Field | None:
    """The field of names that a constructor takes without listing them."""
    kinds = {parameter.kind for parameter in inspect.signature(cls).parameters.values()}
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


def _length(one: Length, sizes: Sizes) -> int | None:
    if callable(one):
        return one(sizes)
    return sizes.get(one) if isinstance(one, str) else one


def _joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _scalar(value: Any) -> bool:
    return np.ndim(value) == 0


def _shown(value: Any) -> str:
    shown = ascii(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"

"""Kinds of field: how one value of an object is written as JSON and arrays, and what a file may say of it.

What a file says is checked here, field by field, before anything uses it. An array is not named in the JSON: it lies
under its place, ``model.prior.scale``. See ``textbayes.core.state`` for the objects that have fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import AnyArray

sparse = LazyModule("scipy.sparse")  # most of what is read has none

Arrays = Mapping[str, AnyArray]
Sizes = dict[str, int]  # lengths of arrays by name: those that are given, and those that were read before
Length = int | str | Callable[[Sizes], int] | None
T = TypeVar("T")
State = tuple[dict[str, Any], dict[str, AnyArray]]

Fields = Mapping[str, "Field | None"]

TINY = float(np.nextafter(0.0, 1.0))  # the least number above 0
ABSENT: Any = object()  # what the JSON says of a field that is an array
_WHOLE = 2**53
_LONGEST_SHOWN = 60


class Field(ABC):
    """How one value is written, and what a file may say of it. ``a | b`` is a value of either."""

    def __or__(self, other: Field) -> Field:
        return _OneOf(self, other)

    def where(self, check: Callable[[Any], None]) -> Field:
        """This field, whose values a function refuses by a ValueError."""
        return _Checked(self, check)

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

    def are_plain(self, values: Collection[Any]) -> bool:
        """Whether many values stand in JSON as they are, each in its range: they are not looked at one by one then."""
        return False


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

    def are_plain(self, values: Collection[Any]) -> bool:
        return set(map(type, values)) <= {bool}


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

    def are_plain(self, values: Collection[Any]) -> bool:
        return set(map(type, values)) <= {int} and (
            not values or (min(values) >= self.least and max(values) <= self.most)
        )


class Text(Field):
    """A text of so many characters; without ``unicode`` half of a surrogate pair is one too, as in names of files."""

    def __init__(self, longest: int = 2**24, least: int = 0, unicode: bool = True) -> None:
        self.longest, self.least, self.unicode = longest, least, unicode

    def takes(self, value: Any) -> bool:
        return isinstance(value, str)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, str)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return str(value)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if not self.least <= len(saved) <= self.longest:
            least = f"{self.least} to " if self.least else ""
            raise ValueError(f"it must have {least}{self.longest} characters{'' if least else ' or fewer'}")
        if self.unicode and not _is_unicode(saved):
            raise ValueError("half of a surrogate pair is no character")
        return saved

    def are_plain(self, values: Collection[Any]) -> bool:
        if not set(map(type, values)) <= {str}:
            return False
        lengths = list(map(len, values)) or [self.least]
        fits = self.least <= min(lengths) and max(lengths) <= self.longest
        return fits and (not self.unicode or _is_unicode("".join(values)))


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


class Unread(Field):
    """What there may be and who reads has no use for; it is read as None."""

    def takes(self, value: Any) -> bool:
        return False

    def is_meant(self, saved: Any) -> bool:
        return True

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        return None


class Record(Field):
    """Values by name, each with its field; those of ``optional`` may be left out. Its sizes are its own."""

    def __init__(self, fields: Mapping[str, Field], optional: Collection[str] = ()) -> None:
        self.fields, self.optional = fields, optional

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and set(self.fields) - set(self.optional) <= set(value) <= set(self.fields)

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, dict)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        meta, own = written(value, {name: field for name, field in self.fields.items() if name in value}, place)
        arrays |= own
        return meta

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        left_out = set(self.optional) - set(saved)
        fields = {name: field for name, field in self.fields.items() if name not in left_out}
        return read_values(fields, saved, place, arrays, dict(sizes))


class Row(Field):
    """So many values, each with its field, as a list."""

    def __init__(self, *items: Field) -> None:
        self.items = items

    def takes(self, value: Any) -> bool:
        return (
            isinstance(value, list | tuple)
            and len(value) == len(self.items)
            and all(item.takes(one) for item, one in zip(self.items, value, strict=True))
        )

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, list) and len(saved) == len(self.items)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return [item.write(one, place, arrays) for item, one in zip(self.items, value, strict=True)]

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        numbered = enumerate(zip(self.items, saved, strict=True))
        return [read_one(item, one, f"{place}.{k}", arrays, sizes) for k, (item, one) in numbered]

    def are_plain(self, values: Collection[Any]) -> bool:
        if not all(isinstance(row, list) and len(row) == len(self.items) for row in values):
            return False
        return all(item.are_plain(column) for item, column in zip(self.items, zip(*values, strict=True), strict=False))


class Named(Field):
    """A mapping of any texts to values of one kind; ``unicode`` as of a ``Text``."""

    def __init__(self, value: Field, unicode: bool = True) -> None:
        self.value, self.unicode = value, unicode

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            isinstance(name, str) and self.value.takes(one) for name, one in value.items()
        )

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, dict)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        if self.value.are_plain(value.values()):
            return dict(value)
        return {name: self.value.write(one, f"{place}.{name}", arrays) for name, one in value.items()}

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if self.unicode and not _is_unicode("".join(saved)):
            raise ValueError("a name has half of a surrogate pair, which is no character")
        if self.value.are_plain(saved.values()):
            return saved
        return {name: read_one(self.value, one, f"{place}.{name}", arrays, sizes) for name, one in saved.items()}


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
            read_one(self.key, name, place, arrays, sizes): read_one(self.value, one, place, arrays, sizes)
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
        if self.item.are_plain(value):
            return list(value)
        return [self.item.write(one, f"{place}.{k}", arrays) for k, one in enumerate(value)]

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if not self.least <= len(saved) <= self.most:
            raise ValueError(f"it must have {self.least} to {self.most} items")
        if self.item.are_plain(saved):
            return self.make(saved)
        return self.make(read_one(self.item, one, f"{place}.{k}", arrays, sizes) for k, one in enumerate(saved))


class _Checked(Field):
    """A field whose values are checked once more."""

    def __init__(self, field: Field, check: Callable[[Any], None]) -> None:
        self.field, self.check = field, check

    def takes(self, value: Any) -> bool:
        return self.field.takes(value)

    def is_meant(self, saved: Any) -> bool:
        return self.field.is_meant(saved)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return self.field.write(value, place, arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        value = self.field.read(saved, place, arrays, sizes)
        self.check(value)
        return value


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

    def are_plain(self, values: Collection[Any]) -> bool:
        return any(part.are_plain(values) for part in self.parts)


def sorted_and_distinct(values: Any) -> None:
    """Refuse values that do not go up."""
    if any(not before < after for before, after in pairwise(values)):
        raise ValueError("they must be distinct and in sorted order")


def written(values: Mapping[str, Any], fields: Mapping[str, Field], place: str = "") -> State:
    """Values by name as JSON and arrays, by their fields."""
    meta: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for name, field in fields.items():
        if not field.takes(values[name]):
            shown = f"{type(values[name]).__name__}" if not np.isscalar(values[name]) else repr(values[name])
            raise InputError(f"{name} is a {shown}, which a model file cannot keep; use another value")
        saved = field.write(values[name], joined(place, name), arrays)
        if saved is not ABSENT:
            meta[name] = saved
    return meta, arrays


def read(fields: Mapping[str, Field], meta: Any, arrays: Arrays, what: str, place: str = "", **sizes: int) -> Any:
    """Values by name that :func:`written` described; a missing, unknown or wrong one is refused."""
    with restoring(what, place):
        return read_values(fields, meta, place, arrays, dict(sizes))


@contextmanager
def restoring(what: str, place: str = "") -> Iterator[None]:
    """Errors of what is made from a file, with its arrays at a place, as a sentence that says so."""
    try:
        yield
    except ModelFileError:
        raise
    except (InputError, ArithmeticError, KeyError, TypeError, ValueError) as error:
        reason = str(error).replace(f"its {place}.", "its ") if place else str(error)
        raise ModelFileError(f"{what} cannot be used ({reason}); was the file altered?") from error


def read_values(fields: Mapping[str, Field], meta: Any, place: str, arrays: Arrays, sizes: Sizes) -> dict[str, Any]:
    if not isinstance(meta, dict):
        raise ValueError(f"{place or 'it'} is not described")
    unknown = sorted(set(meta) - set(fields))
    if unknown:
        name = ascii(joined(place, unknown[0]))[1:-1]
        raise ValueError(f"its {name[-_LONGEST_SHOWN:]} is not known to this version of textbayes")
    # Whole numbers come first: they are lengths of arrays.
    order = sorted(fields, key=lambda name: not isinstance(fields[name], Whole))
    found = {name: read_one(fields[name], meta.get(name, ABSENT), joined(place, name), arrays, sizes) for name in order}
    return {name: found[name] for name in fields}


def read_one(field: Field, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
    if not field.is_meant(saved):
        raise ValueError(f"its {place} is missing" if saved is ABSENT else f"its {place} cannot be {_shown(saved)}")
    try:
        return field.read(saved, place, arrays, sizes)
    except ValueError as error:
        if str(error).startswith("its "):  # the sentence names a part of it
            raise
        if saved is ABSENT:
            raise ValueError(f"its {place} {error}") from None
        if isinstance(saved, dict | list):
            raise ValueError(f"its {place}: {error}") from None
        raise ValueError(f"its {place} is {_shown(saved)}: {error}") from None


def joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _scalar(value: Any) -> bool:
    return np.ndim(value) == 0


def _shown(value: Any) -> str:
    shown = ascii(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"

"""A prior whose family may differ from word to word."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.codec import Arrays, Field, Fields, Sizes
from textbayes.core.errors import InputError
from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.core.validation import as_numbers
from textbayes.priors import priors
from textbayes.priors.base import BasePrior

_DEFAULT = "laplace"


class _OfFamilies:
    """A property of all the families that occur; asked of the class itself, that of the default family."""

    def __init__(self, combine: Callable[[Iterable[bool]], bool]) -> None:
        self._combine = combine

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, prior: ByWord | None, owner: type) -> bool:
        families = (_DEFAULT,) if prior is None else prior.families
        return self._combine(bool(getattr(priors.get(family), self._name)) for family in families)


class Families(Field):
    """The family of every word by number, with the names that the numbers stand for: names may be added later."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "i"

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, dict)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        if not np.ndim(value):
            return {"names": priors.names(), "number": int(value)}
        arrays[place] = value.astype(np.int64)
        return {"names": priors.names()}

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        names = saved.get("names")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise ValueError("the names of families are needed")
        numbers = saved.get("number", arrays.get(place))
        if not set(saved) <= {"names", "number"} or (not isinstance(numbers, np.ndarray) and type(numbers) is not int):
            raise ValueError("the family of every word is needed")
        numbers = np.asarray(numbers)
        if numbers.dtype != np.int64 or not 0 <= numbers.min(initial=0) <= numbers.max(initial=0) < len(names):
            raise ValueError("the prior has families that there are not")
        return np.array(names)[numbers]


@priors.register("by_word")
class ByWord(BasePrior):
    """Every word has the prior that ``family`` names for it: some words sparse, some smooth, each around its own mean.

    ``family`` is a name or an array of names with the shapes of ``scale``: a value for all words, for each word, or a
    row for each label; it is stored as numbers, places in the sorted names of all priors. Further hyperparameters go by
    the name that the families give them, such as ``degrees`` or ``l1_ratio``, and reach the families that have them.
    What the prior is as a whole follows from the families in it: it is smooth or log-concave if all of them are, and
    has a pole if one of them has.

    >>> import numpy as np
    >>> prior = ByWord(scale=0.5, family=["laplace", "gaussian"])
    >>> prior.families, prior.penalty(np.array([2.0, 2.0]))
    (('gaussian', 'laplace'), array([4., 8.]))
    """

    __slots__ = ("families",)  # not a hyperparameter, hence not among ``vars``

    name = "by_word"
    fields: ClassVar[Fields] = {"family": Families()}
    proper: ClassVar[bool] = _OfFamilies(all)  # type: ignore[assignment]  # a descriptor: mypy sees its own type
    smooth: ClassVar[bool] = _OfFamilies(all)  # type: ignore[assignment]
    log_concave: ClassVar[bool] = _OfFamilies(all)  # type: ignore[assignment]
    pole: ClassVar[bool] = _OfFamilies(any)  # type: ignore[assignment]
    exact_local: ClassVar[bool] = _OfFamilies(all)  # type: ignore[assignment]

    def __init__(
        self, scale: ArrayLike = 1.0, mean: ArrayLike = 0.0, family: Any = _DEFAULT, sign: ArrayLike = 0, **further: Any
    ) -> None:
        super().__init__(scale, mean, sign)
        self.family = _numbers(family)
        self.families = tuple(priors.names()[number] for number in np.flatnonzero(np.bincount(self.family.ravel())))
        if self.name in self.families:
            raise InputError("the family of a word cannot be by_word itself; name another prior")
        known = set().union(*(_further(name) for name in self.families))
        for name, value in further.items():
            if name not in known:
                raise InputError(f"{name!r} is a hyperparameter of none of the families {', '.join(self.families)}")
            setattr(self, name, as_numbers(value, name))
        if further:
            for _ in self.by_family(self._shape()):
                pass  # values that a family does not allow are refused here, not in the middle of a fit

    def neg_log(self, w: FloatArray) -> FloatArray:
        return self._gathered(w, "neg_log")

    def penalty(self, w: FloatArray) -> FloatArray:
        return self._gathered(w, "penalty")

    def variance(self, w: FloatArray) -> FloatArray:
        return self._gathered(w, "variance")

    def local(self, w: FloatArray) -> LocalPenalty:
        shape = np.shape(w)
        parts = LocalPenalty(np.empty(shape), np.empty(shape), np.empty(shape))
        for where, member in self.by_family(shape):
            for part, of_member in zip(parts, member.local(np.asarray(w)[where]), strict=True):
                part[where] = of_member
        return parts

    def for_label(self, label: int, n_features: int) -> BasePrior:
        """Prior of one label, which may have fewer families than all labels together."""
        return type(self)(**vars(super().for_label(label, n_features)))

    def _gathered(self, w: FloatArray, method: str) -> FloatArray:
        """Values of a method of the families for their own words, put together."""
        values = np.empty(np.broadcast_shapes(np.shape(w), self._shape()))
        w = np.broadcast_to(w, values.shape)
        for where, member in self.by_family(values.shape):
            values[where] = getattr(member, method)(w[where])
        return values

    def by_family(self, shape: tuple[int, ...]) -> Iterator[tuple[BoolArray, BasePrior]]:
        values = {name: np.broadcast_to(value, shape) for name, value in vars(self).items() if name != "family"}
        family = np.broadcast_to(self.family, shape)
        for name in self.families:
            where = family == priors.names().index(name)
            accepted = {"scale", "mean", "sign"} | _further(name)
            yield where, priors.get(name)(**{key: value[where] for key, value in values.items() if key in accepted})

    @property
    def tail_index(self) -> float:
        return min(member.tail_index for _, member in self.by_family(self._shape()))

    def _shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(*(value.shape for value in vars(self).values()))


@cache
def _further(family: str) -> frozenset[str]:
    """Hyperparameters of a family beside scale, mean and sign."""
    return frozenset(inspect.signature(priors.get(family).__init__).parameters) - {"self", "scale", "mean", "sign"}


def _numbers(family: Any) -> AnyArray:
    """Names of priors, or their places among the sorted names, as places."""
    given, names = np.asarray(family), priors.names()
    if given.dtype.kind in "iu":
        if given.size and not (given.min() >= 0 and given.max() < len(names)):
            raise InputError(f"family numbers lie between 0 and {len(names) - 1}; pass names such as 'laplace'")
        return given.astype(np.int16)
    distinct, place = np.unique(given.astype(np.str_), return_inverse=True)
    known = [names.index(priors.get(str(name)).name) for name in distinct]
    return np.array(known, dtype=np.int16)[place].reshape(given.shape)

"""Fits that change an estimator when all is done, or not at all."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Decorate ``fit`` so that it leaves the estimator as it was if it fails or is interrupted.

    The method works on a shallow copy, whose attributes the estimator takes over in one step at the end. What was
    fitted before must be replaced, not changed in place.

    >>> class Mean:
    ...     @all_or_nothing
    ...     def fit(self, numbers):
    ...         self.n_ = len(numbers)
    ...         self.mean_ = sum(numbers) / self.n_
    ...         return self
    >>> vars(Mean().fit([1, 2]))
    {'n_': 2, 'mean_': 1.5}
    """

    @functools.wraps(method)
    def fit(self: Any, *args: Any, **given: Any) -> Any:
        trial = object.__new__(type(self))  # copy.copy would ask scikit-learn for a state to pickle, on every call
        vars(trial).update(vars(self))
        result = method(trial, *args, **given)
        vars(self).update(vars(trial))
        return self if result is trial else result

    return cast(Method, fit)

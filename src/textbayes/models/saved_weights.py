"""Fields of weights, their errors and draws in a file; no more is imported than scoring needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.array_fields import Array, Dense
from textbayes.core.codec import Arrays, Described, Field, Null, Number, Sizes, Text, Unread, read
from textbayes.core.state import Part
from textbayes.core.types import AnyArray
from textbayes.links import BaseLink, make_link

_WHAT = "the model's weights"
_LONGEST_LINK = 200  # characters: links in links would nest without end
_LONGEST_LINKS = 2**24  # of many labels each may have its own


class LinkField(Text):
    """A link by its specification, or those of all labels with semicolons between them."""

    def __init__(self) -> None:
        super().__init__(_LONGEST_LINKS)

    def takes(self, value: Any) -> bool:
        return isinstance(value, str | BaseLink)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return value.spec if isinstance(value, BaseLink) else value

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if any(len(link) > _LONGEST_LINK for link in saved.split(";")):
            raise ValueError(f"a link is longer than {_LONGEST_LINK} characters")
        return super().read(saved, place, arrays, sizes)


class _FittedLink(LinkField):
    """The link of so many labels, as an object."""

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        link = make_link(super().read(saved, place, arrays, sizes))
        link.check_labels(sizes["n_rows"])
        return link


class _DrawsField(Described):
    """Draws, whose class loads numba, which is slow."""

    def takes(self, value: Any) -> bool:
        return self._part().takes(value)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return self._part().write(value, place, arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        draws = self._part().read(saved, place, arrays, sizes)
        if (len(draws.labels), draws.n_features) != (sizes["n_rows"], sizes["n_features"]):
            raise ValueError("draws are of other labels or words than the weights")
        return draws

    def _part(self) -> Part:
        from textbayes.posterior.draws import Draws

        return Part(Draws)


WEIGHTS: dict[str, Field] = {  # what classifiers with a weight for every word learn
    "link_": _FittedLink(),
    "held_scale_": Number(above=0.0, most=1e100),
    "coef_": Dense(("n_rows", "n_features")),
    "intercept_": Array(np.float64, ("n_rows",)),
    "standard_errors_": Null() | Dense(("n_rows", "n_features"), nan_is_zero=True),
    "mean_shifts_": Null() | Dense(("n_rows", "n_features")),
    "intercept_errors_": Null() | Array(np.float64, ("n_rows",), least=0.0),
    "draws_": Null() | _DrawsField(),
}
_FOR_SCORES: dict[str, Field] = WEIGHTS | {
    **dict.fromkeys(("standard_errors_", "mean_shifts_", "intercept_errors_"), Unread()),
    "draws_": Null() | Described(),
}


def read_weights(meta: Any, arrays: Mapping[str, AnyArray], n_rows: int, n_features: int) -> dict[str, Any]:
    """All that a file says of weights, by the names of attributes."""
    found: dict[str, Any] = read(WEIGHTS, meta, arrays, _WHAT, n_rows=n_rows, n_features=n_features)
    return found


def read_for_scores(meta: Any, arrays: Mapping[str, AnyArray], n_rows: int, n_features: int) -> dict[str, Any]:
    """As :func:`read_weights`, without what scores do not need; of draws only whether there are any."""
    found: dict[str, Any] = read(_FOR_SCORES, meta, arrays, _WHAT, n_rows=n_rows, n_features=n_features)
    return found

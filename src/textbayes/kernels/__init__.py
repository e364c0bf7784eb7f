"""Compiled loops. Kernels take arrays and scalars, never objects or functions, so that their cache always hits.

The first use of a feature on a machine compiles its kernels, which takes seconds; a user who waits sees what is
compiled and about how long it takes. ``textbayes compile`` does all of it at once. ``_cache`` says where it is stored.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from numba.core import event

from textbayes.kernels import _cache  # noqa: F401  before any kernel is imported: it names their folder

logger = logging.getLogger("textbayes")


class Feature(NamedTuple):
    """Kernels that are compiled together, by the first words of their modules' names."""

    name: str
    seconds: int  # about how long compiling takes on one free core; `textbayes compile` prints the figures
    modules: tuple[str, ...]


FEATURES = (
    Feature("reading words", 10, ("text.", "linear.columns")),
    Feature("linear models", 12, ("linear.", "sparse")),
    Feature("multinomial models", 8, ("multinomial",)),
    Feature("expected F1", 6, ("expected_f",)),
    Feature("sampling", 8, ("gibbs",)),
    Feature("online learning", 30, ("online.",)),
    Feature("filters", 12, ("online.filter_scores",)),
    Feature("screening", 6, ("linear.gram_dual",)),
    Feature("count models", 25, ("counts.",)),
    Feature("clusters", 6, ("counts.clusters",)),
    Feature("keyness", 2, ("counts.delta2_",)),
)


class _Announce(event.Listener):
    """Says at the first compilation for a feature what the wait is for; a kernel found in the cache says nothing.

    A warning of the logger ``textbayes``, so that it is seen by default and can be turned off.
    """

    def __init__(self) -> None:
        self._said: set[str] = set()
        self.compiled = 0

    def on_start(self, event: Any) -> None:
        function = getattr(event.data["dispatcher"], "py_func", None)
        module = getattr(function, "__module__", None) or ""  # made-up functions of other libraries have none
        if not module.startswith(f"{__name__}."):
            return
        self.compiled += 1
        feature = feature_of(module.removeprefix(f"{__name__}."))
        if feature.name not in self._said:
            self._said.add(feature.name)
            logger.warning(
                "textbayes: compiling for %s, once on this machine: about %d s\n"
                "(`textbayes compile` does it for all features)",
                feature.name,
                feature.seconds,
            )

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


def feature_of(module: str) -> Feature:
    """The feature that a module of this package belongs to, such as ``text.tokens``: that of the longest beginning."""
    begins = [(name, feature) for feature in FEATURES for name in feature.modules if module.startswith(name)]
    return max(begins, key=lambda one: len(one[0]))[1]


def n_compiled() -> int:
    """How many kernels this process has compiled, those found in the cache not counted."""
    return _announce.compiled


_announce = _Announce()
event.register("numba:compile", _announce)  # type: ignore[no-untyped-call]

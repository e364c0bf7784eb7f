"""Compiled loops. Kernels take arrays and scalars, never objects or functions, so that their cache always hits.

The first use of a feature on a machine compiles its kernels, which takes seconds; a user who waits is told what is
compiled and about how long it takes. ``textbayes compile`` does all of it at once.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from numba.core import event

logger = logging.getLogger("textbayes")


class Feature(NamedTuple):
    """Kernels that are compiled together, by the first words of their files' names."""

    name: str
    seconds: int  # about how long compiling takes on one free core; `textbayes compile` prints the figures
    files: tuple[str, ...]


FEATURES = (
    Feature("reading words", 15, ("tokens", "ngrams", "columns")),
    Feature("linear models", 15, ("coordinate", "gram", "sparse", "logit", "tails", "trust_region")),
    Feature("expected F1", 6, ("expected_f",)),
    Feature("sampling", 8, ("gibbs_",)),
    Feature("online learning", 30, ("online_", "gp")),
    Feature("filters", 12, ("filter_scores",)),
    Feature("count models", 25, ("counts_",)),
    Feature("clusters", 6, ("clusters_",)),
    Feature("keyness", 2, ("delta2_",)),
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
                "textbayes: compiling the kernels for %s on this machine, once, about %d s "
                "(`textbayes compile` does it for all features)",
                feature.name,
                feature.seconds,
            )

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


def feature_of(file: str) -> Feature:
    """The feature that a file of this folder belongs to."""
    return next(feature for feature in FEATURES if file.startswith(feature.files))


def n_compiled() -> int:
    """How many kernels this process has compiled, those found in the cache not counted."""
    return _announce.compiled


_announce = _Announce()
event.register("numba:compile", _announce)  # type: ignore[no-untyped-call]

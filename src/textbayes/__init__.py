"""Bayesian text categorisation: sparse, explainable, well-calibrated classifiers that say how sure they are."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from textbayes._version import __version__

if TYPE_CHECKING:
    from textbayes.core.errors import TextBayesError

# Public name → module that defines it. Loaded on first use, so that `import textbayes` costs milliseconds.
_PUBLIC = {
    "TextBayesError": "textbayes.core.errors",
}

__all__ = ["TextBayesError", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'textbayes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

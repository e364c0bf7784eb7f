"""Kinds of models behind ``TextCategorizer``: linear, multinomial, counts, online, gp; one file each.

``kinds.names()`` lists them. A kind fits its estimator to documents, and what comes of it scores, explains, learns on
and is saved like every other (``core.protocols.FittedModel``). A new file that registers itself is found by name, by
``train --model`` and by the contract tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.kinds._registry import kind_of, kinds, make_model, make_trained
    from textbayes.kinds.base import FitOptions, Fitted, Kind

__all__ = ["FitOptions", "Fitted", "Kind", "kind_of", "kinds", "make_model", "make_trained"]

_PLACES = dict.fromkeys(__all__, "textbayes.kinds._registry")
_PLACES |= dict.fromkeys(("FitOptions", "Fitted", "Kind"), "textbayes.kinds.base")
__getattr__, __dir__ = on_first_use(__name__, _PLACES)

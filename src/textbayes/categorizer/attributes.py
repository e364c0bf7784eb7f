"""Attributes of a fitted model that a ``TextCategorizer`` shows as its own."""

from __future__ import annotations

from typing import Any

from textbayes.core.types import FloatArray
from textbayes.kinds.linear import FittedLinear
from textbayes.kinds.weights import FittedWeights
from textbayes.links import BaseLink, make_link


class FittedAttributes:
    """Weights, link, draws and calibration of ``model_``, as far as its kind has them."""

    model_: Any

    @property
    def coef_(self) -> FloatArray:
        return self._weights().coef

    @property
    def intercept_(self) -> FloatArray:
        return self._weights().intercept

    @property
    def link_(self) -> BaseLink:
        fitted = self._weights()
        return fitted.link if isinstance(fitted, FittedLinear) else make_link("logit")

    @property
    def draws_(self) -> Any:
        return getattr(self._fitted(), "draws", None)

    @property
    def standard_errors_(self) -> FloatArray | None:
        fitted = self._fitted()
        return fitted.errors if isinstance(fitted, FittedLinear) else fitted.words().errors

    @property
    def calibration_(self) -> float:
        return float(getattr(self._fitted(), "calibration", 1.0))

    @property
    def sharpness_(self) -> float:
        return float(getattr(self._fitted(), "sharpness", 1.0))

    def _fitted(self) -> Any:
        if "model_" not in vars(self):
            raise AttributeError("this TextCategorizer is not fitted; call fit first")
        return self.model_

    def _weights(self) -> FittedWeights:
        fitted = self._fitted()
        if not isinstance(fitted, FittedWeights):
            raise AttributeError(f"a model of kind {fitted.kind!r} has no such weights; see top_words and explain")
        return fitted

"""Attributes of a fitted model that a ``TextCategorizer`` shows as its own."""

from __future__ import annotations

from typing import Any

from textbayes.core.types import FloatArray
from textbayes.kinds.linear import FittedLinear
from textbayes.links import BaseLink


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
        return self._weights().link

    @property
    def draws_(self) -> Any:
        linear = self._fitted().linear
        return None if linear is None else linear.draws

    @property
    def standard_errors_(self) -> FloatArray | None:
        errors: FloatArray | None = self._fitted().words().errors
        return errors

    @property
    def calibration_(self) -> float:
        return float(self._fitted().calibration)

    @property
    def inverse_temperature_(self) -> float:
        return float(self._fitted().inverse_temperature)

    def _fitted(self) -> Any:
        if "model_" not in vars(self):
            raise AttributeError("this TextCategorizer is not fitted; call fit first")
        return self.model_

    def _weights(self) -> FittedLinear:
        fitted = self._fitted().linear
        if fitted is None:
            raise AttributeError("this model is not linear and has no such weights; see top_words and explain")
        return fitted

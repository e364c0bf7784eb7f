"""Attributes of a fitted model that a ``TextCategorizer`` shows as its own."""

from __future__ import annotations

from typing import Any

from textbayes.core.types import FloatArray
from textbayes.links import BaseLink
from textbayes.models.linear.model import LinearModel


class FittedAttributes:
    """Weights, link, draws and calibration of ``model_``, as far as it has them."""

    model_: Any

    @property
    def coef_(self) -> FloatArray:
        return self._weights().coef_

    @property
    def intercept_(self) -> FloatArray:
        return self._weights().intercept_

    @property
    def link_(self) -> BaseLink:
        return self._weights().link_

    @property
    def draws_(self) -> Any:
        linear = self._fitted().linear
        return None if linear is None else linear.draws_

    @property
    def standard_errors_(self) -> FloatArray | None:
        errors: FloatArray | None = self._fitted().word_weights().errors
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

    def _weights(self) -> LinearModel:
        fitted = self._fitted().linear
        if fitted is None:
            raise AttributeError("this model is not linear and has no such weights; see top_words and explain")
        return fitted

"""What every prior shares: hyperparameters that are scalars or one value per word (and per label)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import FloatArray


class BasePrior(ABC):
    """An independent prior on each weight, centred at ``mean`` with width ``scale``.

    Both are a scalar, an array (n_features,), or an array (n_labels, n_features) or (n_labels, 1) that gives each
    label its own. ``scale = inf`` leaves a word unpenalised.
    """

    name: ClassVar[str]
    proper: ClassVar[bool]
    smooth: ClassVar[bool]  # differentiable everywhere: no kink that could hold a weight at the mean

    def __init__(self, scale: Any = 1.0, mean: Any = 0.0) -> None:
        self.scale = np.asarray(scale, dtype=np.float64)
        self.mean = np.asarray(mean, dtype=np.float64)
        if np.isnan(self.scale).any() or (self.scale <= 0).any():
            raise InputError(
                "a prior scale must be a positive number (inf for no penalty); some are zero, negative or NaN"
            )
        if not np.isfinite(self.mean).all():
            raise InputError("a prior mean must be finite; some are NaN or infinite")

    @abstractmethod
    def neg_log(self, w: FloatArray) -> FloatArray:
        """−log p(w), elementwise; an unpenalised word contributes 0."""

    @abstractmethod
    def neg_grad(self, w: FloatArray) -> FloatArray:
        """−d log p(w) / dw, elementwise (0 at a kink)."""

    @abstractmethod
    def local(self, w: FloatArray) -> LocalPenalty:
        """The penalty a kernel sees at ``w``, arrays of the shape of ``w``."""

    def for_label(self, label: int, n_features: int) -> BasePrior:
        """The prior of one label, with hyperparameters of shape (n_features,)."""
        return type(self)(**{name: _row(value, name, label, n_features) for name, value in vars(self).items()})


def _row(value: FloatArray, name: str, label: int, n_features: int) -> FloatArray:
    row = value[label] if value.ndim == 2 else value
    try:
        return np.broadcast_to(row, (n_features,))
    except ValueError:
        raise InputError(
            f"prior {name} has shape {value.shape}; pass a number, one value per word ({n_features},) "
            f"or one row per label (n_labels, {n_features})"
        ) from None

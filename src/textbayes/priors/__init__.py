"""Priors: what is believed of each weight before the data. One file each; a new file is picked up by name."""

from __future__ import annotations

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.registry import Registry
from textbayes.core.types import FloatArray
from textbayes.priors.base import BasePrior

priors: Registry[type[BasePrior]] = Registry("prior", "textbayes.priors")


def make_prior(
    prior: str | BasePrior, scale: FloatArray | float, mean: FloatArray | float = 0.0, sign: FloatArray | float = 0.0
) -> BasePrior:
    """The prior of that name with the given hyperparameters, or the object itself, which brings its own."""
    if isinstance(prior, BasePrior):
        if np.any(scale != 1.0) or np.any(mean != 0.0) or np.any(sign != 0.0):
            raise InputError("a prior object brings its own scale, mean and sign; leave these at their defaults")
        return prior
    return priors.get(prior)(scale=scale, mean=mean, sign=sign)


__all__ = ["BasePrior", "make_prior", "priors"]

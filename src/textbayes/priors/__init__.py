"""Priors: what is believed of each weight before the data. One file each; a new file is picked up by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.lazy import on_first_use
from textbayes.core.registry import Registry
from textbayes.core.types import FloatArray
from textbayes.priors.base import BasePrior as BasePrior

if TYPE_CHECKING:
    from textbayes.priors.by_word import ByWord as ByWord
    from textbayes.priors.elastic_net import ElasticNet as ElasticNet
    from textbayes.priors.gaussian import Gaussian as Gaussian
    from textbayes.priors.horseshoe import Horseshoe as Horseshoe
    from textbayes.priors.jeffreys import Jeffreys as Jeffreys
    from textbayes.priors.laplace import Laplace as Laplace
    from textbayes.priors.student_t import StudentT as StudentT

priors: Registry[type[BasePrior]] = Registry("prior", "textbayes.priors")


def make_prior(
    prior: str | BasePrior, scale: FloatArray | float, mean: FloatArray | float = 0.0, sign: FloatArray | float = 0.0
) -> BasePrior:
    """Make the prior of that name with the given hyperparameters; an object is returned as it is, with its own.

    Parameters
    ----------
    prior : str or BasePrior
    scale, mean : float or array
        Width and centre, one value or one for each word (and label).
    sign : 1, −1, 0 or array of these
        1 holds a weight at zero or above, −1 at zero or below.
    """
    if isinstance(prior, BasePrior):
        if np.any(scale != 1.0) or np.any(mean != 0.0) or np.any(sign != 0.0):
            raise InputError("a prior object brings its own scale, mean and sign; leave these at their defaults")
        return prior
    return priors.get(prior)(scale=scale, mean=mean, sign=sign)


__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.priors.by_word": ("ByWord",),
        "textbayes.priors.elastic_net": ("ElasticNet",),
        "textbayes.priors.gaussian": ("Gaussian",),
        "textbayes.priors.horseshoe": ("Horseshoe",),
        "textbayes.priors.jeffreys": ("Jeffreys",),
        "textbayes.priors.laplace": ("Laplace",),
        "textbayes.priors.student_t": ("StudentT",),
    },
    own=("BasePrior", "make_prior", "priors"),
)

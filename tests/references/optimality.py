"""Quantities of links, priors and inferences that tests compare with, and that no fit needs by themselves."""

from __future__ import annotations

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.inference import inferences
from textbayes.inference.coordinate import Coordinate
from textbayes.links import make_link
from textbayes.priors import make_prior
from textbayes.tune.path import at_scale, check_factors


def slope_of(prior, w):
    """−d log p(w) / dw, which the local penalty has at the point where it touches (0 at a kink)."""
    center, l1, l2 = prior.local(w)
    offset = w - center
    return l1 * np.sign(offset) + l2 * offset


def working_response(link, eta, y):
    """Working response z and weight omega of the common objective ½ Σ omega (z − eta)², majorising at eta."""
    omega = link.curvature(eta, y)
    return eta + link.score(eta, y) / omega, omega


def supported(link, prior, inference):
    """Whether the combination exists."""
    try:
        inferences.get(inference).check(make_link(link), make_prior(prior, 1.0))
    except NotSupportedError:
        return False
    return True


def cold_fits(problem, factors, tol=1e-8):
    """The points of a path fitted one by one, each from the prior means and to a tight tolerance."""
    rows = check_factors(factors, problem.y.shape[1])
    return [Coordinate(tol, 1000).run(at_scale(problem, row, False)) for row in rows]

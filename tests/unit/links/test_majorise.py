"""The sharp curvature: above what majorisation needs everywhere, and hardly more than that."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from textbayes.links.logit import Logit
from textbayes.links.skew_t import SkewT, sharp_curvature
from textbayes.links.student_t import StudentT

DF = [0.5, 1.0, 2.0, 4.0, 8.0, 30.0, 100.0, 1e4, np.inf]


def _margins(rng, n, end, unit):
    """Random margins of every size up to ``end``, of either sign, so that none lies on the table's grid."""
    return unit * np.sinh(rng.uniform(-1.0, 1.0, n) * np.arcsinh(end / unit))


def _needed(link, m, u, y):
    """The largest curvature that the targets ``u`` ask for at each margin ``m``, less what rounding may add to it."""
    at_m, at_u = (link.log_prob(y * place, np.full_like(place, y)) for place in (m, u))
    slope = y * link.score(y * m, np.full_like(m, y))
    gap = u - m[:, None]
    terms = at_m[:, None], slope[:, None] * gap, -at_u
    rounding = 1e-15 * sum(np.abs(term) for term in terms)
    return (2.0 * (sum(terms) - rounding) / gap**2).max(axis=1)


@pytest.mark.parametrize("y", [1.0, -1.0])
@pytest.mark.parametrize("skew", [0.01, 0.1, 0.5, 0.7, 1.0, 1.2, 2.0, 10.0, 1000.0])
@pytest.mark.parametrize("df", DF)
def test_majorises_between_and_beyond_the_points_of_its_table(df, skew, y):
    rng = np.random.default_rng(0)
    link, unit = SkewT(df, skew), min(skew, 1.0 / skew)
    m, u = _margins(rng, 300, 1e5, unit), _margins(rng, 1500, 1e9, unit)
    curvature = link.curvature(y * m, np.full_like(m, y))
    needed = np.maximum(_needed(link, m, u, y), link.hessian(y * m, np.full_like(m, y)))
    assert (curvature >= needed * (1.0 - 1e-9)).all()
    # Sharp where enough of the random targets come close to the worst one; the middle of many says so.
    assert np.median(curvature / needed) < 1.05


@pytest.mark.parametrize("df", DF)
def test_is_never_above_the_weight_of_em(df):
    """E[λ | y] = T_{ν+2}(m √((ν+2)/ν)) / T_ν(m) (Eyheramendy & Madigan, eq. 6) majorises too, being that of an EM."""
    m = np.linspace(-20.0, 20.0, 161)
    weight = 1.0 if np.isinf(df) else stats.t.cdf(m * np.sqrt((df + 2.0) / df), df + 2.0) / stats.t.cdf(m, df)
    for y in (1.0, -1.0):
        assert (StudentT(df).curvature(y * m, np.full_like(m, y)) <= 1.01 * weight).all()


def test_finds_the_sharp_bound_of_the_logit():
    """Jaakkola & Jordan's bound is known to be the sharp one (de Leeuw & Lange 2009)."""
    m = np.linspace(-30.0, 30.0, 1001)
    for y in (np.ones_like(m), -np.ones_like(m)):
        ratio = sharp_curvature(Logit(), 1.0)(y * m, y) / Logit().curvature(y * m, y)
        assert ratio.min() >= 1.0
        assert ratio.max() < 1.012


def test_never_exceeds_a_bound_that_is_known():
    m = np.linspace(-5.0, 5.0, 101)
    assert sharp_curvature(Logit(), 1.0, ceiling=0.25)(m, np.ones_like(m)).max() <= 0.25

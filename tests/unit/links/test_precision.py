"""Each link against 60-digit arithmetic, far into the tails."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from textbayes.links import make_link

mpmath.mp.dps = 60
MARGINS = [-1e4, -500.0, -40.0, -15.1, -14.9, -6.0, -1.0, -1e-3, 0.0, 0.5, 3.0, 9.0, 30.0]


def _logit(m):
    log_p = -mpmath.log1p(mpmath.exp(-m))
    p = 1 / (1 + mpmath.exp(-m))
    return log_p, 1 - p, p * (1 - p)


def _probit(m):
    cdf = mpmath.erfc(-m / mpmath.sqrt(2)) / 2
    ratio = mpmath.npdf(m) / cdf
    log_cdf = mpmath.log1p(-mpmath.erfc(m / mpmath.sqrt(2)) / 2) if m > 0 else mpmath.log(cdf)
    return log_cdf, ratio, ratio * (ratio + m)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize(("name", "exact"), [("logit", _logit), ("probit", _probit)])
@pytest.mark.parametrize("y", [1.0, -1.0])
def test_matches_high_precision(name, exact, margin, y):
    link = make_link(name)
    eta, sign = np.array([y * margin]), np.array([y])
    log_prob, slope, hessian = exact(mpmath.mpf(margin))
    np.testing.assert_allclose(link.log_prob(eta, sign)[0], float(log_prob), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(link.score(eta, sign)[0], y * float(slope), rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(link.hessian(eta, sign)[0], float(hessian), rtol=1e-9, atol=1e-300)

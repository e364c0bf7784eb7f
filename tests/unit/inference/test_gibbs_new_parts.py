"""A prior and a link that no file of the package knows are sampled by what they say of themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from textbayes.core.errors import NotSupportedError
from textbayes.core.protocols import LocalPenalty
from textbayes.inference.gibbs import Gibbs
from textbayes.links.base import BaseLink, Latent
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.posterior.diagnostics import effective_sample_size
from textbayes.priors.base import BasePrior, Conditional, Mixing

NARROW = 25.0  # precision of the narrow component, that of the wide one being 1
X = np.array([[2.0], [1.0], [0.5], [-0.2], [0.3], [-1.0], [1.5]])
Y = np.array([1, 1, 0, 0, 1, 0, 1])
GRID = np.linspace(-12.0, 12.0, 48_001)


class EitherNormal(Mixing):
    def draw(self, square, precision, rng):
        log_odds = 0.5 * np.log(NARROW) - 0.5 * (NARROW - 1.0) * square  # of q = 25 against q = 1, a priori even
        return np.where(rng.random(len(square)) < special.expit(log_odds), NARROW, 1.0)


class TwoNormals(BasePrior):
    """½ N(mean, scale²) + ½ N(mean, scale²/25): words matter or hardly do."""

    name = "two_normals"
    proper, smooth, log_concave = True, True, False

    def neg_log(self, w):
        u = (w - self.mean) / self.scale
        narrow = 0.5 * np.log(NARROW) - 0.5 * NARROW * u**2
        return -np.logaddexp(-0.5 * u**2, narrow) + np.log(2.0 * np.sqrt(2.0 * np.pi) * self.scale)

    def local(self, w):
        u = (w - self.mean) / self.scale
        share = special.expit(0.5 * np.log(NARROW) - 0.5 * (NARROW - 1.0) * u**2)
        l2 = (1.0 + (NARROW - 1.0) * share) / self.scale**2
        return LocalPenalty(np.broadcast_to(self.mean, np.shape(w)), np.zeros(np.shape(w)), l2)


class SampledTwoNormals(TwoNormals):
    def conditional(self):
        return Conditional(0.0, self.scale**-2.0, EitherNormal())


class WideProbit(BaseLink):
    """Φ(y·eta/2): a probit whose latent response has the standard deviation 2."""

    name = "wide_probit"
    log_concave = True

    def log_prob(self, eta, y):
        return special.log_ndtr(0.5 * y * eta)

    def score(self, eta, y):
        m = 0.5 * y * eta
        return 0.5 * y * np.exp(-0.5 * m * m - special.log_ndtr(m)) / np.sqrt(2.0 * np.pi)

    def curvature(self, eta, y):
        return np.full_like(eta, 0.25)

    def hessian(self, eta, y):
        r = np.abs(self.score(eta, y))
        return r * (r + 0.25 * y * eta)


class SampledWideProbit(WideProbit):
    drawn = 0

    def latent(self, y, counts=None):
        return WideLatent(y, self)


class WideLatent(Latent):
    def responses(self, eta, rng):
        SampledWideProbit.drawn += 1
        return np.full(1, 0.25), 0.25 * (self.y * self.slack(eta, rng) - eta)

    def slack(self, eta, rng):
        """z − 0 for z ~ N(eta, 2²) of the sign of y, by inversion from the nearer side."""
        low = special.ndtr(-0.5 * self.y * eta)
        u = low + (1.0 - low) * rng.random(len(eta))
        return self.y * eta + 2.0 * special.ndtri(u)


def test_a_new_prior_is_sampled_by_the_mixing_it_declares():
    agrees_with_integration("probit", SampledTwoNormals(scale=1.5, mean=0.2))


@pytest.mark.parametrize("link", [SampledWideProbit(), WideProbit()])
def test_a_new_link_is_sampled_by_its_latent_variable_or_by_solving(link):
    before = SampledWideProbit.drawn
    agrees_with_integration(link, "gaussian")
    assert (SampledWideProbit.drawn > before) == isinstance(link, SampledWideProbit)


def agrees_with_integration(link, prior):
    """Posterior mean, mean square and mass near 0 of one weight against sums over a fine grid."""
    sampler = Gibbs(chains=2, target_ess=1e9, max_r_hat=99.0, max_draws=4000, method="sweeps")
    given = BayesLinearClassifier(link, prior, inference=sampler, fit_intercept=False)
    with pytest.warns(UserWarning, match="less well"):  # the target is out of reach: all draws are taken
        model = given.fit(X, Y)
    drawn = model.draws_.labels[0].weights[:, :, 0].astype(np.float64)
    problem = model._problem(X, Y[:, None], None, None)
    log_p = -problem.prior.neg_log(GRID)
    for x, y in zip(X[:, 0], problem.y[:, 0], strict=True):
        log_p = log_p + problem.link.log_prob(x * GRID, np.full(len(GRID), y))
    p = np.exp(log_p - log_p.max())
    for function in (np.asarray, np.square, lambda w: np.where(np.abs(w) < 0.3, 1.0, 0.0)):
        values = function(drawn)
        wanted = float((p * function(GRID)).sum() / p.sum())
        error = values.std() / np.sqrt(float(effective_sample_size(values[:, :, None])[0]))
        assert abs(values.mean() - wanted) < 4.0 * error


def test_a_prior_that_declares_nothing_is_refused_with_those_that_do():
    with pytest.raises(NotSupportedError, match="'two_normals', which has no form to sample by: use one of "):
        BayesLinearClassifier(prior=TwoNormals(), inference="gibbs").fit(X, Y)

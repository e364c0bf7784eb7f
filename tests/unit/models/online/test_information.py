"""Information gain against its definition: densities integrated over the weights, in one to three dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from references.online import learn_document
from textbayes.core.errors import InputError
from textbayes.models.online import (
    PAPER_FLIP,
    PAPER_PROBIT,
    FullPosterior,
    OnlineLikelihood,
    expected_information_gain,
    information_gain,
)

LIKELIHOODS = {
    "probit": PAPER_PROBIT,
    "flip": PAPER_FLIP,
    "soft flip": OnlineLikelihood("flip:rate=0.05,base=probit", 0.5),
    "logit": OnlineLikelihood("logit", 0.4),
    "skew": OnlineLikelihood("skew_t:df=5,skew=2"),
}


def problem(dim, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(dim, dim))
    return rng.normal(size=dim), root @ root.T / dim + 0.2 * np.eye(dim), rng.normal(size=dim)


def grid(mean, cov, x):
    """Points over the weights, with volume elements; the first axis lies along the document, where a threshold is.

    w = mean + R u, R a root of the covariance turned so that x'w = x'mean + |R'x| u_1. Along u_1 the composite
    Gauss–Legendre rule has a break at the threshold; the other axes are smooth, and the trapezoidal rule is exact.
    """
    root = np.linalg.cholesky(cov)
    direction = root.T @ x
    length = np.linalg.norm(direction)
    basis = np.linalg.qr(np.column_stack([direction, np.eye(len(x))]))[0][:, : len(x)]
    basis[:, 0] = direction / length
    threshold = -(x @ mean) / length
    breaks = np.unique(np.concatenate([np.linspace(-11.0, 11.0, 45), [threshold]]))
    nodes, weights = np.polynomial.legendre.leggauss(14)
    half = np.diff(breaks)[:, None] / 2.0
    axes, volumes = [(breaks[:-1, None] + half * (1.0 + nodes)).ravel()], [(half * weights).ravel()]
    for _ in x[1:]:
        axes.append(np.linspace(-9.0, 9.0, 37))
        volumes.append(np.full(37, 0.5))
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    volume = np.ones(1)
    for part in volumes:
        volume = np.multiply.outer(volume, part).ravel()
    return mean + points @ (root @ basis).T, volume * np.abs(np.linalg.det(root))


def log_density(w, mean, cov):
    scaled = np.linalg.solve(np.linalg.cholesky(cov), (w - mean).T)
    return -0.5 * (scaled**2).sum(axis=0) - 0.5 * len(mean) * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(cov)[1]


def log_likelihood(w, x, y, likelihood):
    h = w @ x
    if likelihood.noise == 0.0:
        return np.log(np.where(y * h > 0.0, 1.0 - likelihood.link.rate, likelihood.link.rate))
    return likelihood.link.log_prob(h / likelihood.noise, np.full(len(h), y))


def integrals(mean, cov, x, y, likelihood):
    """The three gains by integration over the weights; logarithms to base 2 throughout."""
    w, volume = grid(mean, cov, x)
    before, likely = log_density(w, mean, cov), log_likelihood(w, x, y, likelihood)
    z = (volume * np.exp(before + likely)).sum()
    exact_mean = (volume * np.exp(before + likely) / z) @ w
    centred = w - exact_mean
    exact_cov = (centred.T * (volume * np.exp(before + likely) / z)) @ centred
    # What the algorithm calls the posterior is the Gaussian with the exact posterior's moments.
    new_mean, new_cov, log_z = learn_document(mean, cov, x, y, likelihood)
    np.testing.assert_allclose(new_mean, exact_mean, atol=1e-7)
    np.testing.assert_allclose(new_cov, exact_cov, atol=1e-7)
    np.testing.assert_allclose(np.exp(log_z), z, atol=1e-9)
    after = log_density(w, exact_mean, exact_cov)
    exact = volume * np.exp(before + likely) / z
    return {
        "gaussian": (volume * np.exp(after) * (after - before)).sum() / np.log(2),
        "exact": (exact * (likely - np.log(z))).sum() / np.log(2),
        "paper": (volume * np.exp(after) * (likely - np.log(z))).sum() / np.log(2),
    }


@pytest.mark.parametrize("name", LIKELIHOODS)
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_equals_its_definition(dim, name):
    likelihood = LIKELIHOODS[name]
    mean, cov, x = problem(dim)
    predictor = x @ mean, x @ cov @ x
    totals = dict.fromkeys(("gaussian", "exact", "paper"), 0.0)
    for y in (-1.0, 1.0):
        z = np.exp(likelihood.moments(*predictor, y).log_z)
        for method, wanted in integrals(mean, cov, x, y, likelihood).items():
            assert information_gain(*predictor, y, likelihood, method) == pytest.approx(wanted, abs=1e-6)
            totals[method] += z * wanted
    for method, wanted in totals.items():
        assert expected_information_gain(*predictor, likelihood, method) == pytest.approx(wanted, abs=1e-6)


def test_the_printed_formula_for_flipped_labels():
    """§ 4.2, with a trial update of the posterior."""
    mean, cov, x = problem(3, seed=2)
    kappa = 0.1
    for y in (-1.0, 1.0):
        new_mean, new_cov, log_z = learn_document(mean, cov, x, y, PAPER_FLIP)
        right = special.ndtr(y * (x @ new_mean) / np.sqrt(x @ new_cov @ x))
        printed = np.log2(kappa) + right * np.log2((1 - kappa) / kappa) - log_z / np.log(2)
        assert information_gain(x @ mean, x @ cov @ x, y, PAPER_FLIP, "paper") == pytest.approx(printed, abs=1e-12)


def test_mutual_information_of_a_noisy_threshold():
    """The exact gain is H(y) − H(y | w), and y given w is a coin of fixed entropy."""

    def entropy(p):
        return -p * np.log2(p) - (1 - p) * np.log2(1 - p)

    mean, var = np.array([-2.0, 0.0, 0.4, 3.0]), np.array([0.5, 1.0, 2.0, 1.0])
    wanted = entropy(PAPER_FLIP.predictive(mean, var)) - entropy(0.1)
    np.testing.assert_allclose(expected_information_gain(mean, var, PAPER_FLIP, "exact"), wanted, atol=1e-12)


@pytest.mark.parametrize("name", ["probit", "flip", "soft flip"])
def test_compiled_and_plain_agree(name):
    likelihood = LIKELIHOODS[name]
    rng = np.random.default_rng(0)
    mean, var = rng.normal(0.0, 3.0, (40, 5)), 10.0 ** rng.uniform(-5, 2, (40, 5))
    plain = sum(
        np.exp(likelihood.moments(mean, var, np.full_like(mean, y)).log_z) * information_gain(mean, var, y, likelihood)
        for y in (-1.0, 1.0)
    )
    np.testing.assert_allclose(expected_information_gain(mean, var, likelihood), plain, rtol=1e-8, atol=1e-13)


def test_gain_of_a_document_needs_no_trial_update():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 6)), rng.choice([-1.0, 1.0], 30)
    posterior, _ = FullPosterior.start(range(6)).learn(X, y, PAPER_PROBIT)
    gains = expected_information_gain(*posterior.predict(X), PAPER_PROBIT)[:, 0]
    for x, gain in zip(X[:5], gains, strict=False):
        total = 0.0
        for outcome in (-1.0, 1.0):
            new, info = posterior.learn(x[None], [outcome], PAPER_PROBIT)
            precision, moved = np.linalg.inv(posterior.cov), new.mean - posterior.mean
            ratio = np.linalg.slogdet(new.cov)[1] - np.linalg.slogdet(posterior.cov)[1]
            distance = 0.5 * (np.trace(precision @ new.cov) - 7 + moved @ precision @ moved - ratio) / np.log(2)
            total += np.exp(info.log_prob[0, 0]) * distance
        assert gain == pytest.approx(total, abs=1e-10)


def test_no_uncertainty_no_gain():
    for method in ("gaussian", "exact", "paper"):
        for likelihood in (PAPER_PROBIT, PAPER_FLIP):
            np.testing.assert_allclose(expected_information_gain([0.0], [0.0], likelihood, method), 0.0, atol=1e-12)
    assert expected_information_gain(1e6, 1.0, PAPER_PROBIT) == pytest.approx(0.0, abs=1e-12)


def test_a_great_surprise():
    """Gaussian algebra where p(y|h) is, in the tail, the exponential of a parabola."""
    mean, var, noise = -1000.0, 1.0, 0.5
    gaussian = information_gain(mean, var, 1.0, PAPER_PROBIT)
    for method in ("exact", "paper"):
        assert information_gain(mean, var, 1.0, PAPER_PROBIT, method) == pytest.approx(gaussian, rel=1e-4)
    kept = noise**2 / (noise**2 + var)
    moved = -mean * (1.0 - kept)
    assert gaussian == pytest.approx(0.5 * (kept - 1.0 + moved**2 / var - np.log(kept)) / np.log(2), rel=1e-4)


def test_unknown_methods_are_refused():
    with pytest.raises(InputError, match="method='guess'"):
        information_gain(0.0, 1.0, 1.0, PAPER_PROBIT, "guess")

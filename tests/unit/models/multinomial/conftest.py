"""A softmax regression written plainly: its objective, gradient and an independent solver, for tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp, softmax


def make_data(n_docs=60, n_features=6, n_classes=4, seed=0, density=0.6):
    """Documents with about ``density`` of their words and classes that depend on these; every class occurs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_docs, n_features)) * (rng.random((n_docs, n_features)) < density)
    eta = X @ rng.standard_normal((n_features, n_classes)) * 1.5 + rng.standard_normal(n_classes) * 0.5
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def loss(coef, intercept, X, y, weight=None):
    """−Σ weight·log p(y | x)."""
    eta = X @ coef.T + intercept
    log_p = eta[np.arange(len(y)), y] - logsumexp(eta, axis=1)
    return -np.sum(log_p if weight is None else weight * log_p)


def gradient(coef, intercept, X, y, weight=None):
    """∂ loss/∂coef and ∂ loss/∂intercept."""
    residual = softmax(X @ coef.T + intercept, axis=1) - np.eye(len(intercept))[y]
    if weight is not None:
        residual = residual * weight[:, None]
    return residual.T @ X, residual.sum(axis=0)


def fista(X, y, n_classes, l1, n_steps=200_000, tol=1e-13):
    """The L1 mode with free intercepts by accelerated proximal gradient, restarted whenever it goes uphill."""
    step = 2.0 / (np.linalg.norm(np.hstack([X, np.ones((len(X), 1))]), 2) ** 2)  # curvature of a softmax is ≤ ½
    coef, intercept = np.zeros((n_classes, X.shape[1])), np.zeros(n_classes)
    ahead, ahead_b, momentum = coef, intercept, 1.0
    for _ in range(n_steps):
        slope, slope_b = gradient(ahead, ahead_b, X, y)
        moved = ahead - step * slope
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * l1, 0.0)
        new_b = ahead_b - step * slope_b
        if np.sum((ahead - new) * (new - coef)) + np.sum((ahead_b - new_b) * (new_b - intercept)) > 0.0:
            momentum = 1.0  # O'Donoghue & Candès (2015)
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        share = (momentum - 1.0) / next_momentum
        change = max(np.abs(new - coef).max(), np.abs(new_b - intercept).max())
        ahead, ahead_b, momentum = new + share * (new - coef), new_b + share * (new_b - intercept), next_momentum
        coef, intercept = new, new_b
        if change < tol:
            break
    return coef, intercept


@pytest.fixture(scope="session")
def plain():
    """The functions above."""
    return SimpleNamespace(make_data=make_data, loss=loss, gradient=gradient, fista=fista)

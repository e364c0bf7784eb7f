"""The F1 interval against a plain bootstrap over documents."""

import numpy as np
import pytest
from sklearn.metrics import fbeta_score

from textbayes.core.errors import InputError
from textbayes.decide import f1_interval


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(8)
    Y = rng.random((150, 2)) < [0.4, 0.1]
    return np.clip(0.5 * Y + 0.5 * rng.random(Y.shape), 0, 1), Y


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_agrees_with_resampling_documents(problem, beta):
    proba, Y = problem
    interval = f1_interval(proba, Y, [0.5, 0.4], beta=beta, n_resamples=4000, random_state=1)
    rng = np.random.default_rng(2)
    yes = proba > [0.5, 0.4]
    for label in range(2):
        rows = rng.integers(150, size=(4000, 150))
        y, d = Y[rows, label], yes[rows, label]
        hits = (1 + beta**2) * (y & d).sum(axis=1)
        plain = hits / (hits + beta**2 * (y & ~d).sum(axis=1) + (~y & d).sum(axis=1))
        assert interval.f[label] == pytest.approx(fbeta_score(Y[:, label], yes[:, label], beta=beta))
        assert interval.low[label] == pytest.approx(np.quantile(plain, 0.025), abs=0.012)
        assert interval.high[label] == pytest.approx(np.quantile(plain, 0.975), abs=0.012)


def test_same_seed_same_interval_and_higher_level_wider(problem):
    proba, Y = problem
    first, second = f1_interval(proba, Y, 0.5, random_state=3), f1_interval(proba, Y, 0.5, random_state=3)
    assert (first.low == second.low).all()
    wide = f1_interval(proba, Y, 0.5, level=0.99, random_state=3)
    assert (wide.low <= first.low).all()
    assert (wide.high >= first.high).all()


def test_nothing_against_nothing_is_certain():
    interval = f1_interval([0.1, 0.2], [0, 0], 0.5)
    assert (interval.f[0], interval.low[0], interval.high[0]) == (1.0, 1.0, 1.0)


def test_bad_input_is_refused(problem):
    proba, Y = problem
    with pytest.raises(InputError, match="same documents and labels"):
        f1_interval(proba, Y[:, :1], 0.5)
    with pytest.raises(InputError, match="level=95"):
        f1_interval(proba, Y, 0.5, level=95)

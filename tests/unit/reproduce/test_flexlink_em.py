"""The paper's EM as printed (Eyheramendy & Madigan 2007), as it is reproduced: where it stops, and what is decided."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.links import make_link
from textbayes.reproduce.flexlink import simulated, systems
from textbayes.reproduce.flexlink.systems import derived_rate, printed_em, walk


@pytest.mark.parametrize("skew", [1.0, 0.5])
def test_printed_em_ends_on_its_way_to_the_mode(skew):
    """With 30 degrees of freedom there is one mode; EM from least squares stops below it and above its start."""
    data, rate = simulated.data_set(2, 1), derived_rate(0.1)

    def log_posterior(fit):
        eta = data.X @ fit.posterior.mean[0] + fit.posterior.intercept[0]
        link = make_link(f"skew_t:df=30,skew={skew}")
        return link.log_prob(eta, np.where(data.y, 1.0, -1.0)).sum() - rate * np.abs(fit.posterior.mean).sum()

    (stopped,), (mode,) = (over(data.X, data.y[:, None], skew, (30.0,), (0.1,)) for over in (printed_em, walk))
    H = np.column_stack([data.X, np.ones(len(data.y))])
    beta = np.linalg.solve(H.T @ H + 1e-6 * np.eye(11), H.T @ data.y)[None]
    start = stopped._replace(posterior=stopped.posterior._replace(mean=beta[:, :-1], intercept=beta[:, -1]))
    assert log_posterior(start) < log_posterior(stopped) < log_posterior(mode)
    assert 1 < stopped.posterior.info.n_iter[0] < 500


def test_a_tighter_stop_runs_on_from_the_looser_one():
    data = simulated.data_set(2, 1)
    steps, objectives = [], []
    for stop in (0.02, 0.005, 0.001):
        (fit,) = printed_em(data.X, data.y[:, None], 1.0, (8.0,), (0.1,), stop=stop)
        steps.append(int(fit.posterior.info.n_iter[0]))
        objectives.append(float(fit.posterior.info.objective[0]))
    assert steps == sorted(set(steps))
    assert objectives == sorted(objectives, reverse=True)


@pytest.fixture(scope="module")
def documents() -> systems.TopicDocuments:
    """120 documents of ten overlapping categories, each with a word of its own, and six words of none."""
    rng = np.random.default_rng(1)
    Y = rng.random((120, len(systems.TOPICS))) < 0.25
    counts = rng.poisson(0.2, (120, 16))
    counts[:, : Y.shape[1]] += rng.poisson(3.0, Y.shape) * Y
    return systems.TopicDocuments(sparse.csr_matrix(counts, dtype=np.float64), Y)


GRID = systems.Grid((2.0, 8.0, 30.0), (0.1,), (1.0, 2.0))
READING_MODE = systems.FlexlinkReading()


def test_decisions_are_those_of_em_at_the_points_chosen(documents):
    reading = systems.FlexlinkReading(choice="own", fits="printed_em")
    splits = systems.Splits(documents, 1, GRID)
    (outcome,), split = splits.outcome(reading), splits.splits[1]
    fitted = np.concatenate([split.train, split.validation])
    X, Y = documents
    words = systems.choose_words(X[fitted], Y[fitted], "own")
    for method, points in outcome.chosen.items():
        for label, point in enumerate(points):
            (fit,) = printed_em(
                X[fitted], Y[fitted][:, [label]], point.skew, (point.df,), (point.gamma,), words[[label]]
            )
            assert np.array_equal(fit.decide(X[split.test])[:, 0], outcome.decided[method][:, label])


def test_em_runs_on_with_parameters_held(documents):
    """With the same stop decisions are the same; the later it is, the more of them are those of the mode."""
    splits, points = systems.Splits(documents, 1, GRID), [systems.Point(30.0, 0.1, 1.0)] * len(systems.TOPICS)
    decided = [
        splits.decide(splits.splits[1], {"Probit": points}, reading)["Probit"]
        for reading in (
            *(systems.FlexlinkReading(fits="printed_em", stop=stop) for stop in (0.1, 0.1, 1e-3)),
            READING_MODE,
        )
    ]
    assert np.array_equal(decided[0], decided[1])
    early, late = (np.mean(one != decided[3]) for one in decided[1:3])
    assert late < early

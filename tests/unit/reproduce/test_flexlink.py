"""The reproduction of Eyheramendy & Madigan (2007): designs, protocol, measures, tables of the right shape."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import integrate, optimize, sparse, special, stats
from sklearn.linear_model import ElasticNet
from sklearn.metrics import mutual_info_score

from textbayes.evaluate import contingency, f_measure, paired_bootstrap, precision, recall
from textbayes.links import make_link
from textbayes.reproduce import papers
from textbayes.reproduce.flexlink import simulated, systems, tables
from textbayes.reproduce.flexlink.systems import above_half, as_columns, derived_rate, printed_rate, walk
from textbayes.reproduce.results import Figure, mean_interval

TOPICS = len(systems.TOPICS)
N_DOCS = 160


# -- the simulated designs --------------------------------------------------------------------------------------------
def test_example_1_has_the_printed_probabilities_and_no_dependence():
    X, y = simulated.example_1(np.random.default_rng(0), 200_000)
    wanted = [0.3] * 3 + [0.5] * 5 + [0.8] * 2
    np.testing.assert_allclose(X.mean(axis=0), wanted, atol=5 * 0.5 / np.sqrt(len(y)))
    assert y.mean() == pytest.approx(0.6, abs=5 * 0.5 / np.sqrt(len(y)))
    correlation = np.corrcoef(np.column_stack([X, y]).T) - np.eye(11)
    assert np.abs(correlation).max() < 5 / np.sqrt(len(y))


def test_example_2_has_the_printed_correlations():
    X, y = simulated.example_2(np.random.default_rng(0), 200_000)
    normal = np.full((11, 11), 0.01)
    for names, value in (((0, 1, 2, 3, 4), 0.8), ((5, 6, 7), 0.3), ((8, 9, 10), 0.4)):
        for i in names:
            for j in names:
                normal[i, j] = value if i != j else 1.0
    # Signs of normal variables of correlation ρ are correlated by (2/π) arcsin ρ.
    wanted = 2 / np.pi * np.arcsin(normal)
    np.testing.assert_allclose(np.corrcoef(np.column_stack([y, X]).T), wanted, atol=5 / np.sqrt(len(y)))
    np.testing.assert_allclose(X.mean(axis=0), 0.5, atol=5 * 0.5 / np.sqrt(len(y)))


@pytest.mark.parametrize("example", [1, 2])
def test_data_sets_repeat_and_differ(example):
    first, again, other = (simulated.data_set(example, number) for number in (1, 1, 2))
    assert first.X.shape == (100, 10)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first.X, other.X)


# -- the methods on simulated data ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("link", "cdf"), [("probit", special.ndtr), ("logit", special.expit)])
def test_glm_is_maximum_likelihood(link, cdf):
    data = simulated.data_set(1, 3)
    design = np.column_stack([np.ones(100), data.X])
    sign = np.where(data.y, 1.0, -1.0)

    def loss(beta):
        return -np.log(np.maximum(cdf(sign * (design @ beta)), 1e-300)).sum()

    beta = optimize.minimize(loss, np.zeros(11), method="BFGS", options={"gtol": 1e-6}).x
    assert simulated.glm(data, link).seen == np.mean((design @ beta > 0) != data.y)


def test_glm_of_separated_classes_ends_and_separates_them():
    data = simulated.data_set(2, 1)
    separated = data._replace(y=data.X[:, 0] > 0.5)
    assert simulated.glm(separated, "probit").seen == 0.0
    assert simulated.glm(separated, "logit").seen == 0.0


@pytest.mark.parametrize("ridge", [0.01, 1.0, 10.0])
def test_elastic_net_path_is_that_of_its_criterion(ridge):
    data = simulated.data_set(2, 4)
    X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    penalties, path = simulated.elastic_net_path(X, y, ridge)
    assert (path[0] == 0).all()
    assert len(path) > 5
    n = len(y)
    for lasso, weights in list(zip(penalties, path, strict=True))[1:-1]:
        # ‖y − Xβ‖² + λ₂‖β‖² + λ₁‖β‖₁ in scikit-learn's terms; Zou & Hastie multiply the solution by 1 + λ₂.
        first, second = lasso / (2 * n), ridge / n
        model = ElasticNet(
            first + second, l1_ratio=first / (first + second), fit_intercept=False, tol=1e-12, max_iter=100_000
        )
        np.testing.assert_allclose(weights, (1 + ridge) * model.fit(X, y).coef_, atol=1e-6)


def test_best_models_are_the_best_tried_and_stars_mark_ties():
    data = simulated.data_set(2, 2)
    dfs, gammas, skews = (1.0, 8.0, 30.0), (0.1, 10.0), (0.5, 1.0)
    result = simulated.outcome(data, dfs, gammas, skews)
    rates = {}
    for skew in skews:
        for fit in walk(data.X, data.y[:, None], skew, dfs, gammas):
            rates[fit.df, skew, fit.gamma] = float(np.mean((fit.probability(data.X)[:, 0] > 0.5) != data.y))
    assert result.fst.rates.seen == min(rates.values())
    assert result.best_probit.rates.seen == min(value for key, value in rates.items() if key[0] == 30.0)
    assert result.best_logit.rates.seen == min(value for key, value in rates.items() if key[0] == 8.0)
    best = [key for key, value in rates.items() if value == result.fst.rates.seen]
    for place, found in enumerate((result.fst.df, result.fst.skew, result.fst.gamma)):
        values = {key[place] for key in best}
        assert found == (values.pop() if len(values) == 1 else None)
    assert 0 <= result.fst.zeros <= 10
    assert 0 <= result.enet.zeros <= 10


# -- the walk over the grid -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rate", [printed_rate, derived_rate])
@pytest.mark.parametrize("skew", [0.5, 1.0, 2.0])
def test_walk_ends_at_stationary_points_of_the_penalised_likelihood(skew, rate):
    data = simulated.data_set(2, 5)
    signs = np.where(data.y, 1.0, -1.0)
    visited = []
    for fit in walk(data.X, data.y[:, None], skew, (1.0, 30.0), (0.1, 2.0), rate=rate):
        visited.append((fit.df, fit.gamma))
        link = make_link(f"skew_t:df={fit.df},skew={skew}")
        score = link.score(data.X @ fit.posterior.mean[0] + fit.posterior.intercept[0], signs)
        gradient, weights, level = data.X.T @ score, fit.posterior.mean[0], rate(fit.gamma)
        held = weights == 0.0
        assert (np.abs(gradient[held]) <= level * 1.02).all()
        np.testing.assert_allclose(gradient[~held], level * np.sign(weights[~held]), atol=0.02)
        assert abs(score.sum()) < 0.02
    assert visited == [(30.0, 2.0), (30.0, 0.1), (1.0, 2.0), (1.0, 0.1)]


def test_walk_keeps_the_better_of_two_starts():
    rng = np.random.default_rng(3)
    X = (rng.random((150, 12)) < 0.4).astype(float)
    y = rng.random((150, 3)) < 0.4
    found = {(fit.df, fit.gamma): fit.posterior.info.objective for fit in walk(X, y, 1.0, (1.0, 30.0), (0.01, 0.1))}
    # Alone, a walk over γ starts at the next larger γ only.
    alone = {(fit.df, fit.gamma): fit.posterior.info.objective for fit in walk(X, y, 1.0, (1.0,), (0.01, 0.1))}
    assert (found[1.0, 0.1] <= alone[1.0, 0.1] + 0.05).all()


def test_walk_keeps_a_label_to_its_words_and_may_leave_out_the_intercept():
    data = simulated.data_set(2, 6)
    words = np.arange(10)[None, :] < 3
    for fit in walk(data.X, data.y[:, None], 1.0, (8.0,), (0.1,), words, intercept=False):
        assert (fit.posterior.mean[0, 3:] == 0).all()
        assert fit.posterior.intercept[0] == 0.0
        # A document without any word has p = ½, which is not above ½.
        assert not fit.decide(sparse.csr_matrix((1, 10))).any()


def test_probabilities_of_one_half_up_to_rounding_are_not_above_it():
    assert above_half(np.array([0.5, 0.5 + 1e-15, 0.500001])).tolist() == [False, False, True]


def test_the_derived_rate_is_that_of_the_mixture():
    gamma, beta = 0.7, 1.3

    def mixture(tau):
        return stats.norm.pdf(beta, scale=np.sqrt(tau)) * gamma / 2 * np.exp(-gamma * tau / 2)

    laplace = derived_rate(gamma) / 2 * np.exp(-derived_rate(gamma) * beta)
    assert integrate.quad(mixture, 0, np.inf)[0] == pytest.approx(laplace, rel=1e-6)


# -- the protocol on texts --------------------------------------------------------------------------------------------
def test_splits_are_half_a_quarter_and_a_quarter():
    split = systems.random_split(1, 9035)
    assert [len(part) for part in split] == [4517, 2260, 2258]
    assert np.array_equal(np.sort(np.concatenate(split)), np.arange(9035))
    assert not np.array_equal(split.test, systems.random_split(2, 9035).test)


@pytest.fixture(scope="module")
def small() -> systems.TopicDocuments:
    """160 documents of 16 words in ten overlapping categories, each with a word of its own."""
    rng = np.random.default_rng(0)
    Y = rng.random((N_DOCS, TOPICS)) < 0.25
    counts = rng.poisson(0.2, (N_DOCS, 16))
    counts[:, :TOPICS] += rng.poisson(3.0, Y.shape) * Y
    return systems.TopicDocuments(sparse.csr_matrix(counts, dtype=np.float64), Y)


def test_words_are_chosen_by_information_gain(small):
    present = small.X.toarray() > 0
    gain = np.array([[mutual_info_score(present[:, w], small.Y[:, c]) for w in range(16)] for c in range(TOPICS)])
    own, total, best = (systems.choose_words(small.X, small.Y, choice, 5) for choice in ("own", "sum", "max"))
    for c in range(TOPICS):
        assert set(np.flatnonzero(own[c])) == set(np.argsort(-gain[c])[:5])
        assert set(np.flatnonzero(total[c])) == set(np.argsort(-gain.sum(axis=0))[:5])
        assert set(np.flatnonzero(best[c])) == set(np.argsort(-gain.max(axis=0))[:5])


GRID = systems.Grid((2.0, 8.0, 30.0), (0.1, 1.0), (1.0, 2.0))


@pytest.fixture(scope="module")
def outcomes(small) -> list[systems.SplitOutcome]:
    return systems.Splits(small, 2, GRID).outcome(systems.FlexlinkReading())


def test_a_split_decides_its_test_documents_with_points_of_the_grid(small, outcomes):
    for i, outcome in enumerate(outcomes):
        split = systems.random_split(i + 1, N_DOCS)
        assert np.array_equal(outcome.truth, small.Y[split.test])
        for method, allowed in systems.METHODS.items():
            assert outcome.decided[method].shape == outcome.truth.shape
            assert all(point in GRID.points and allowed(point) for point in outcome.chosen[method])
            f1 = f_measure(contingency(outcome.truth, outcome.decided[method]), "micro")
            # Each category has a word of its own, Poisson(3.2) against Poisson(0.2): the best rule has F1 0.88.
            assert f1 > 0.7


def test_the_point_chosen_is_the_one_of_highest_validation_f1(small, outcomes):
    split = systems.random_split(1, N_DOCS)
    words = systems.choose_words(small.X[split.train], small.Y[split.train], "sum")
    found = {}
    for skew in GRID.skews:
        for fit in walk(small.X[split.train], small.Y[split.train], skew, GRID.dfs, GRID.gammas, words):
            decided = fit.probability(small.X[split.validation]) > 0.5
            point = systems.Point(fit.df, fit.gamma, skew)
            found[point] = f_measure(contingency(small.Y[split.validation], decided))
    for c, point in enumerate(outcomes[0].chosen["FST"]):
        best = max(values[c] for values in found.values())
        assert found[point][c] == best
        assert point == next(p for p in GRID.points if found[p][c] == best)


@pytest.mark.parametrize(
    "reading",
    [
        systems.FlexlinkReading(choice="own", rate="printed"),
        systems.FlexlinkReading(invert=True, intercept=False),
        systems.FlexlinkReading(rule="highest"),
    ],
)
def test_other_readings_run(small, reading):
    (outcome,) = systems.Splits(small, 1, GRID).outcome(reading)
    assert outcome.decided["FST"].shape == outcome.truth.shape
    if reading.rule == "highest":
        assert (outcome.decided["FST"].sum(axis=1) >= 1).all()


def test_an_inverted_grid_is_the_grid_of_inverse_skews(small):
    (inverted,) = systems.Splits(small, 1, GRID).outcome(systems.FlexlinkReading(invert=True))
    (straight,) = systems.Splits(small, 1, GRID._replace(skews=(1.0, 0.5))).outcome(systems.FlexlinkReading())
    assert np.array_equal(inverted.decided["FST"], straight.decided["FST"])


# -- measures ---------------------------------------------------------------------------------------------------------
def test_printed_macro_f1_is_the_harmonic_mean_of_the_macro_averages(outcomes):
    table = contingency(outcomes[0].truth, outcomes[0].decided["FST"])
    r, p = float(recall(table, "macro")), float(precision(table, "macro"))
    assert float(tables.printed_macro_f1(table)) == pytest.approx(2 / (1 / r + 1 / p))
    nothing = contingency(outcomes[0].truth, np.zeros_like(outcomes[0].truth))
    assert float(tables.printed_macro_f1(nothing)) == 0.0


def test_intervals_are_students_and_wider_where_splits_overlap():
    values = [0.2, 0.5, 0.4, 0.9]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    found = mean_interval(values)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    wider = mean_interval(values, overlap=1 / 3)
    assert (wider.high - wider.mean) / (found.high - found.mean) == pytest.approx(np.sqrt((1 / 4 + 1 / 3) * 4))
    assert np.isnan(mean_interval([0.3]).low)


def test_resampling_documents_of_one_split_is_the_paired_bootstrap(outcomes):
    first, decided = outcomes[0], outcomes[0].decided
    found = tables.difference_over_documents([first], N_DOCS, "FST", "Probit", tables.usual_macro_f1, 500)
    assert found.mean == pytest.approx(
        float(f_measure(contingency(first.truth, decided["FST"]), "macro"))
        - float(f_measure(contingency(first.truth, decided["Probit"]), "macro"))
    )
    direct = paired_bootstrap(first.truth, decided["FST"], decided["Probit"], "macro_f1", n_resamples=4000)
    # The pool is 4 times the test set: drawing from it draws the test documents a Poisson number of times.
    assert found.high - found.low == pytest.approx(direct.high - direct.low, rel=0.35, abs=0.01)


# -- tables and figures -----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def simulated_outcomes() -> dict[int, list[simulated.DataSetOutcome]]:
    grid = (1.0, 8.0, 30.0), (0.1, 10.0), (1.0, 1.2)
    return {e: [simulated.outcome(simulated.data_set(e, i), *grid) for i in (1, 2)] for e in (1, 2)}


def test_tables_of_the_examples_have_the_paper_s_shape(simulated_outcomes):
    one, two = simulated_outcomes.values()
    made = [
        *(simulated.rates_table("1", one), simulated.links_table(one)),
        *(simulated.rates_table("3", two), simulated.zeros_table(two)),
    ]
    assert [table.number for table in made] == ["1", "2", "3", "4"]
    shapes = [(11, 7), (11, 6), (11, 7), (2, 10)]
    for table, shape in zip(made, shapes, strict=True):
        assert (len(table.rows), len(table.columns)) == shape
        assert np.shape(table.published) == np.shape(table.ours) == shape
    for table in made:
        printed = systems.PUBLISHED[f"table {table.number}"]
        assert table.published[: len(printed)] == printed
    first = made[0]
    assert first.ours[0][:3] == (
        simulated_outcomes[1][0].probit.seen,
        simulated_outcomes[1][0].logit.seen,
        simulated_outcomes[1][0].fst.rates.seen,
    )
    assert first.ours[2] == (None,) * 7  # not run
    assert first.published[-1][0] == pytest.approx(0.353)
    assert first.published[-1][3:6] == (None, None, None)


def test_tables_of_reuters_have_the_paper_s_shape(outcomes):
    chosen = tables.chosen_table(outcomes)
    assert np.shape(chosen.published) == np.shape(chosen.ours) == (10, 3)
    assert chosen.published[chosen.rows.index("wheat")] == (1.0, 0.1, 0.5)  # ν, γ, δ as printed
    assert chosen.published[chosen.rows.index("interest")] == (8.0, 0.01, 1.0)
    assert [row[:3] for row in chosen.ours] == [(p.df, p.gamma, p.skew) for p in outcomes[0].chosen["FST"]]
    for name in tables.MEASURES:
        table = tables.measure_table(name, outcomes)
        assert np.shape(table.published) == np.shape(table.ours) == (7, 6)
        assert table.ours[2] == (None,) * 6
        assert table.number == {"F1": "6", "recall": "7", "precision": "8"}[name]
        assert table.published == systems.PUBLISHED[f"table {table.number}"]
        for i, outcome in enumerate(outcomes):
            of_fst = contingency(outcome.truth, outcome.decided["FST"])
            micro = {"F1": f_measure, "recall": recall, "precision": precision}[name](of_fst, "micro")
            assert table.ours[i][table.columns.index("FST micro")] == micro
        values = np.array(table.ours[:2])
        np.testing.assert_allclose(table.ours[5], values.mean(axis=0))
        np.testing.assert_allclose(table.ours[6], values.std(axis=0, ddof=1))
    assert tables.measure_table("F1", outcomes, "a").number == "6a"
    one = tables.measure_table("F1", outcomes[:1])
    assert one.ours[6] == (None,) * 6  # no spread of a single split


def test_means_over_splits_have_intervals_where_there_are_several():
    # By hand: Student's quantile for one degree of freedom is 12.706, and s²(1/2 + 1/3) the variance of the mean.
    half = 12.7062 * 0.01 * np.sqrt(2.0) * np.sqrt(0.5 + 1.0 / 3.0)
    (note,) = tables.mean_notes(["FST micro"], [(0.81,), (0.83,)], [[0.70], [0.72]])
    assert f"FST micro published 0.820 ({0.82 - half:.3f} to {0.82 + half:.3f})" in note
    assert f"ours 0.710 ({0.71 - half:.3f} to {0.71 + half:.3f})" in note
    (single,) = tables.mean_notes(["FST micro"], [(0.81,), (0.83,)], [[0.70]])
    assert "interval" not in single


def test_differences_are_paired_by_split(outcomes):
    found = tables.difference_over_splits(outcomes, "FST", "Probit", tables.usual_macro_f1)
    gains = [
        float(f_measure(contingency(o.truth, o.decided["FST"]), "macro"))
        - float(f_measure(contingency(o.truth, o.decided["Probit"]), "macro"))
        for o in outcomes
    ]
    assert found.mean == pytest.approx(np.mean(gains))


@pytest.mark.parametrize("number", sorted(tables.FIGURES))
def test_figures_are_drawn(number):
    pytest.importorskip("matplotlib")
    (figure,) = papers.get("flexlink").run([number], True)
    assert isinstance(figure, Figure)
    assert figure.name.lower() == number
    assert ElementTree.fromstring(figure.svg).tag.endswith("svg")


@pytest.mark.parametrize("skew", [0.5, 1.0, 2.0])
def test_the_density_drawn_is_that_of_the_link(skew):
    link, x = make_link(f"skew_t:df=8,skew={skew}"), np.array([-2.0, -0.3, 0.4, 3.0])
    slope = (link.probability(x + 1e-5) - link.probability(x - 1e-5)) / 2e-5
    np.testing.assert_allclose(tables.skew_density(x, 8.0, skew), slope, rtol=1e-6)


def test_the_paper_names_what_it_can_do_and_needs():
    paper = papers.get("flexlink")
    assert {f"table {i}" for i in range(1, 9)} < set(paper.numbers)
    assert paper.corpora_for(["table 1", "figure 2"]) == ()
    assert paper.corpora_for(["table 6"]) == ("reuters21578",)


def test_columns_are_those_the_inferences_take():
    X = as_columns(sparse.csr_matrix(np.eye(3, dtype=np.int64)))
    assert (X.format, X.dtype, X.indices.dtype) == ("csc", np.float64, np.int32)

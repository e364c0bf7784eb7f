"""The reproduction of Madahian & Faghihi (2014): protocol, machine, measures, tables of the right shape."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import integrate, sparse, special, stats
from sklearn.metrics import recall_score
from sklearn.preprocessing import binarize
from sklearn.svm import SVC

from textbayes.core.errors import InputError
from textbayes.priors.gaussian import Gaussian
from textbayes.reproduce import papers
from textbayes.reproduce.gibbs import sampling, systems, tables
from textbayes.reproduce.results import Figure, Table

pytest.importorskip("polyagamma", reason="our own model, beside the paper's, has the logit link")

N_WORDS = 90


@pytest.fixture(scope="module")
def documents() -> systems.DomainDocuments:
    """600 short documents of ten domains: each has five words of its own beside common ones."""
    rng = np.random.default_rng(0)
    domain = np.repeat(np.arange(10), 60)
    rate = np.full((600, N_WORDS), 0.1)
    for d in range(10):
        rate[domain == d, 5 * d : 5 * d + 5] = 0.5
    X = sparse.csr_matrix(rng.poisson(rate).astype(float))
    X = sparse.csr_matrix(X.multiply(1.0 / np.maximum(sparse.linalg.norm(X, axis=1), 1.0)[:, None]))
    return systems.DomainDocuments(X, domain, np.array([f"w{j:02}" for j in range(N_WORDS)]))


def one_domain(documents, positive, resampling, draws, beside=True) -> systems.DivisionOutcome:
    """One unit, with the other readings or without them, and with our own model."""
    extent = systems.Extent(resampling + 1 if beside else 0, resampling + 1)
    return systems.Resamplings(documents, resampling + 1, draws).fit(extent, (resampling, positive))


# -- documents --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("positive", [0, 7])
def test_a_division_is_30_and_270_twice_and_leaves_nothing_out(documents, positive):
    split = systems.random_split(documents.domain, positive, 3)
    assert np.array_equal(np.sort(np.concatenate(split)), np.arange(600))
    for part in split:
        assert len(part) == 300
        assert np.count_nonzero(documents.domain[part] == positive) == 30
    again, other = (systems.random_split(documents.domain, positive, number) for number in (3, 4))
    assert np.array_equal(split.train, again.train)
    assert not np.array_equal(split.train, other.train)


def test_divisions_of_other_sizes_are_refused(documents):
    with pytest.raises(InputError, match="59 documents of the domain and 540 others"):
        systems.random_split(documents.domain[1:], 0, 0)
    with pytest.raises(InputError, match="needs 60"):
        systems.longest(np.arange(59))
    with pytest.raises(InputError, match="needs 120"):
        systems.longest(np.arange(119), left_out=60)


def test_words_are_those_of_the_largest_welch_statistic(documents):
    split = systems.random_split(documents.domain, 2, 0)
    X, y = documents.X[split.train], documents.domain[split.train] == 2
    t = np.abs(stats.ttest_ind(X[y].toarray(), X[~y].toarray(), equal_var=False).statistic)
    assert np.array_equal(systems.choose_words(X, y, 12), np.sort(np.argsort(-t)[:12]))


# -- the model --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("theta", [0.3, 2.0, 7.0])
def test_the_prior_is_the_papers_mixture(theta):
    # θ | η ~ N(0, η), η ~ Exp(λ/2), integrated over η.
    rate = sampling.LAMBDA / 2.0
    density, _ = integrate.quad(lambda eta: stats.norm.pdf(theta, 0, eta**0.5) * rate * np.exp(-rate * eta), 0, np.inf)
    scale = float(np.ravel(sampling.PAPER.prior.scale)[0])
    assert density == pytest.approx(stats.laplace.pdf(theta, scale=scale), rel=1e-6)


def test_draws_are_as_many_as_asked_and_the_same_every_time(documents):
    y = documents.domain == 1
    first, again = (sampling.sample(documents.X, y, 5, 40) for _ in range(2))
    assert first.n_draws == 40
    assert np.array_equal(first.mean, again.mean)
    assert first.posterior.info.n_iter[0] == 30  # 20 of each chain after 10, the paper's share
    assert not np.array_equal(first.mean, sampling.sample(documents.X, y, 6, 40).mean)


def test_a_model_with_an_intercept_uses_it_in_both_kinds_of_probability(documents):
    X, y = documents.X[::4], documents.domain[::4] == 1
    fit = sampling.sample(X, y, 0, 40, sampling.SampledModel(Gaussian(5.0), Gaussian(10.0)))
    drawn = fit.draws.labels[0]
    eta = X.toarray() @ drawn.flat.T.astype(float) + drawn.intercept.reshape(-1)
    assert drawn.intercept.std() > 0.0
    np.testing.assert_allclose(fit.plug_in(X), special.ndtr(eta.mean(axis=1)), atol=1e-5)
    np.testing.assert_allclose(fit.averaged(X), special.ndtr(eta).mean(axis=1), atol=1e-5)


def test_our_own_model_gives_every_word_the_same_say_and_the_predictor_its_spread(documents):
    X = binarize(documents.X[::3])
    np.testing.assert_allclose(sampling.column_spread(X), X.toarray().std(axis=0, ddof=1), rtol=1e-12)
    prior = sampling.even_prior(X, 4.0)
    drawn = prior.scale * np.random.default_rng(0).standard_normal((20_000, X.shape[1]))
    eta = X.toarray() @ drawn.T
    between = eta.var(axis=0, ddof=1).mean()  # of the documents about their mean, over draws of the prior
    assert between == pytest.approx(16.0, rel=0.05)
    constant = sparse.csr_matrix(np.ones((50, 3)))
    # A word of every document is no division by zero.
    assert np.isfinite(sampling.even_prior(constant, 4.0).scale).all()


def test_our_own_model_keeps_the_top_words_and_fits_them_with_judges(documents):
    split = systems.random_split(documents.domain, 6, 0)
    X, y = binarize(documents.X[split.train]), documents.domain[split.train] == 6
    top, fit = sampling.fit_presence_model(X, y, 3, 200)
    assert len(set(top)) == 80
    assert set(range(30, 35)) <= set(top)  # the words of that domain
    assert fit.mean.shape == (80,)
    test = binarize(documents.X[split.test])[:, top]
    truth = documents.domain[split.test] == 6
    assert fit.averaged(test)[truth].mean() > fit.averaged(test)[~truth].mean() + 0.2
    drawn = fit.draws.labels[0]
    eta = (test @ drawn.flat.T.astype(float) + drawn.intercept.reshape(-1)) / sampling.JUDGES  # of one of them
    yes, no = (special.expit(side * eta) ** sampling.JUDGES for side in (1.0, -1.0))
    np.testing.assert_allclose(fit.averaged(test), (yes / (yes + no)).mean(axis=1), atol=1e-5)
    found = one_domain(documents, 6, 0, draws=40, beside=False)
    assert set(found.decided) == {
        systems.SPBM,
        systems.SVM,
        systems.OURS,
        "ours, averaged",
        "all words",
        "all words, averaged",
    }
    for method in (systems.OURS, "ours, averaged"):
        assert np.array_equal(found.decided[method][1], found.probability[method] > sampling.THRESHOLD)


def test_a_long_chain_is_one_with_a_third_of_it_thrown_away(documents):
    split = systems.random_split(documents.domain, 0, 0)
    X, y = documents.X[split.train][:, :30], documents.domain[split.train] == 0
    fit = sampling.sample(X, y, 1, draws=80, chains=1)
    assert fit.draws.labels[0].intercept.shape == (1, 80)
    assert fit.posterior.info.n_iter[0] == 120


def test_by_default_chains_run_until_they_are_worth_enough(documents):
    fit = sampling.sample(documents.X[::4], documents.domain[::4] == 1, 0)
    assert fit.ess >= sampling.TARGET_ESS
    assert fit.r_hat <= sampling.MAX_R_HAT


def test_one_domain_decides_by_the_means_of_its_top_words(documents):
    found = one_domain(documents, 4, 1, draws=60)
    split = systems.random_split(documents.domain, 4, 1)
    y = documents.domain[split.train] == 4
    words = systems.choose_words(documents.X[split.train], y)
    train, test = (documents.X[part][:, words] for part in split)
    mean = sampling.sample(train, y, 14, 60).mean
    top = np.argsort(-np.abs(mean))[:80]
    probability = special.ndtr(test[:, top] @ mean[top])
    np.testing.assert_allclose(found.probability[systems.SPBM], probability, rtol=1e-12)
    assert np.array_equal(found.decided[systems.SPBM][1], probability > 0.5)
    np.testing.assert_allclose(found.probability["all words"], special.ndtr(test @ mean), rtol=1e-12)
    assert set(tables.READINGS) == set(found.decided) == set(found.probability)
    assert np.array_equal(found.truth[1], documents.domain[split.test] == 4)
    # With all words of the posterior averaging is over whole draws, as the model itself does it.
    drawn = sampling.sample(train, y, 14, 60).draws.probability(test, sampling.PROBIT)[:, 0]
    np.testing.assert_allclose(found.probability["all words, averaged"], drawn, atol=1e-6)


def test_without_the_other_readings_the_main_ones_are_the_same(documents):
    whole, main = (one_domain(documents, 4, 1, 40, beside) for beside in (True, False))
    assert set(main.decided) < set(whole.decided)
    for name, pair in main.decided.items():
        assert all(np.array_equal(a, b) for a, b in zip(pair, whole.decided[name], strict=True))


# -- the machine ------------------------------------------------------------------------------------------------------
def test_the_machine_is_svc_on_scaled_columns_with_the_automatic_sigma(documents):
    split = systems.random_split(documents.domain, 3, 0)
    X, y = documents.X[np.concatenate(split)], documents.domain[split.train] == 3
    found = systems.machine(X, y, "rbf", np.random.default_rng(1))
    dense = X.toarray()
    scaled = (dense - dense[:300].mean(axis=0)) / dense[:300].std(axis=0, ddof=1)
    first, second = np.random.default_rng(1).integers(300, size=(2, 150))
    distance = ((scaled[first] - scaled[second]) ** 2).sum(axis=1)
    sigma = np.mean(1.0 / np.quantile(distance[distance > 1e-9], [0.9, 0.1]))
    expected = SVC(C=1.0, kernel="rbf", gamma=sigma).fit(scaled[:300], y).decision_function(scaled)
    np.testing.assert_allclose(np.append(found.train, found.test), expected, atol=2e-3)  # LIBSVM's own tolerance
    linear = systems.machine(X, y, "linear", np.random.default_rng(1))
    expected = SVC(C=1.0, kernel="linear").fit(scaled[:300], y).decision_function(scaled)
    np.testing.assert_allclose(np.append(linear.train, linear.test), expected, atol=2e-3)


def test_a_constant_column_leaves_all_columns_unscaled(documents):
    X = documents.X.copy().tolil()
    X[:300, 0] = 0.1  # constant among the training documents, not among the others
    X = X.tocsr()
    K = systems.kernel_matrix(X, 300, "linear", np.random.default_rng(0))
    np.testing.assert_allclose(K, (X @ X.T).toarray())


def test_platt_finds_the_sigmoid_it_was_drawn_from():
    rng = np.random.default_rng(0)
    decision = rng.normal(size=40_000)
    y = rng.random(40_000) < special.expit(2.0 * decision - 1.0)
    at = np.array([-1.0, 0.0, 1.5])
    np.testing.assert_allclose(systems.platt_scaling(decision, y)(at), special.expit(2.0 * at - 1.0), atol=0.01)


def test_platt_smooths_where_the_classes_are_apart():
    decision = np.array([-2.0, -1.0, 1.0, 2.0])
    probability = systems.platt_scaling(decision, decision > 0)(decision)
    assert ((probability > 0.0) & (probability < 1.0)).all()
    assert (np.diff(probability) > 0).all()
    # A fit of two parameters keeps the sum of its targets: (2 + 1)/(2 + 2) and 1/(2 + 2), two of each.
    assert probability.sum() == pytest.approx(2.0, abs=1e-6)


# -- measures and tables ----------------------------------------------------------------------------------------------
def made_up(seed: int, n_resamplings: int = 4, n_domains: int = 10) -> list[list[systems.DivisionOutcome]]:
    rng = np.random.default_rng(seed)

    def one(domain: int) -> systems.DivisionOutcome:
        truth = np.arange(40) < 10
        probability = {name: np.clip(0.6 * truth + 0.3 * rng.random(40), 0, 1) for name in tables.READINGS}
        decided = {name: (truth ^ (rng.random(40) < 0.1), truth ^ (rng.random(40) < 0.2)) for name in tables.READINGS}
        by_chain = [truth ^ (rng.random(40) < 0.2) for _ in range(2)]
        return systems.DivisionOutcome((truth, truth), decided, probability, by_chain, 150.0 + domain, 1.02, 400)

    return [[one(domain) for domain in range(n_domains)] for _ in range(n_resamplings)]


def test_rates_are_recalls_of_both_classes():
    found = made_up(0)
    values = systems.rates(found, systems.SVM, 1)
    one = found[2][5]
    truth, decided = one.truth[1], one.decided[systems.SVM][1]
    assert values.shape == (4, 10, 2)
    assert values[2, 5, 0] == recall_score(truth, decided)
    assert values[2, 5, 1] == recall_score(truth, decided, pos_label=False)


@pytest.mark.parametrize("part", [0, 1])
def test_tables_1_and_2_hold_means_and_standard_errors_beside_the_published(part):
    found = made_up(1)
    table = tables.rates_table(found, part)
    assert table.number == str(part + 1)
    assert len(table.rows) == len(table.ours) == len(table.published) == 8
    assert {len(row) for row in (*table.ours, *table.published, table.columns)} == {11}
    values = systems.rates(found, systems.SPBM, part)[:, :, 1]
    place = table.rows.index("SPBM specificity")
    np.testing.assert_allclose(table.ours[place][:10], values.mean(axis=0))
    np.testing.assert_allclose(table.ours[place + 1][:10], stats.sem(values, axis=0))
    assert table.ours[place + 1][10] == pytest.approx(stats.sem(values.mean(axis=1)))
    assert table.published[place][:10] == tables.published_figures("gibbs")[f"table {part + 1}"][1]
    assert table.published[place + 1] == (None,) * 11


def test_one_resampling_has_no_standard_error():
    table = tables.rates_table(made_up(2, 1), 1)
    assert "over 1 resampling, test" in table.caption
    assert table.ours[1] == (None,) * 11
    assert "Monte Carlo" not in " ".join(table.notes)


def test_the_samplers_share_is_found_again():
    # Chains that differ by noise of known size: rates of 40 documents, each decision flipped with probability 0.2.
    found = made_up(3, 60)
    sampler, total = systems.monte_carlo(found)
    spread = systems.rates(found, systems.SPBM, 1).mean(axis=1).std(axis=0, ddof=1) / np.sqrt(60)
    np.testing.assert_allclose(total, spread, rtol=5 / np.sqrt(2 * 59))  # the same error, by the spread of the means
    of_positive, of_negative = 0.2 * 0.8 / 10, 0.2 * 0.8 / 30  # variances of one chain's rates
    expected = np.sqrt(np.array([of_positive, of_negative]) / 2.0 / 600)
    np.testing.assert_allclose(sampler, expected, rtol=5 * np.sqrt(0.5 / 600))  # an sd from 600 gaps
    assert "400 in the median" in tables.sampling_notes(found)[0]


def test_losses_pool_the_domains_of_a_resampling():
    found = made_up(4)
    row = found[1]
    truth = np.concatenate([one.truth[1] for one in row])
    p = np.concatenate([one.probability["refit"] for one in row])
    value = systems.losses(found, "refit", systems.LOSSES["log-loss"])[1]
    assert value == pytest.approx(-np.log(np.clip(np.where(truth, p, 1 - p), 1e-15, None)).mean())


def test_tables_of_other_readings_leave_out_resamplings_without_them():
    found = made_up(5, 3)
    found[2] = [one._replace(decided={k: one.decided[k] for k in (systems.SPBM, systems.SVM)}) for one in found[2]]
    table = tables.readings_table(found)
    assert "2 resamplings" in table.caption
    values = systems.rates(found[:2], "refit", 1).mean(axis=1)
    place = list(tables.READINGS).index("refit")
    np.testing.assert_allclose(table.ours[place][2], values[:, 0].mean())
    np.testing.assert_allclose(table.ours[place][5], stats.sem(values[:, 1]))
    assert "2 resamplings" in tables.losses_table(found).caption


def test_the_figure_is_a_drawing_and_names_words():
    mean = np.linspace(-1.0, 2.0, 120)
    figure = tables.draw_means(mean, np.array([f"word{j}" for j in range(120)]), "mathematics")
    assert ElementTree.fromstring(figure.svg).tag.endswith("svg")
    assert "Strongest for: word119" in figure.notes[1]
    assert "positive weights" in figure.notes[0]


# -- the paper --------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_paper_is_listed_and_runs_through(documents, monkeypatch):
    paper = papers.get("gibbs")
    assert paper.corpora_for(paper.numbers) == ("openstax",)
    monkeypatch.setattr(systems, "documents", lambda: documents)
    results = list(paper.with_chains(16, 24).run(paper.numbers, True))
    assert [result.name.lower() for result in results] == list(paper.numbers)
    assert isinstance(results[0], Figure)
    assert all(isinstance(result, Table) for result in results[1:])
    assert results[3].rows[-1] == "SPBM, one chain of the iterations asked for"
    only = list(paper.with_chains(16).run(("table 2b",), True))
    assert [result.number for result in only] == ["2b"]
    assert "3 resamplings." in only[0].caption


def test_too_few_draws_are_refused():
    with pytest.raises(InputError, match="draws=3"):
        papers.get("gibbs").with_chains(3)

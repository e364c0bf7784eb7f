"""The choice of a link: parameters that are found again in simulated data, and a report that says what it should."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from textbayes import BayesLinearClassifier
from textbayes.categorizer.model_types import make_model
from textbayes.core.errors import InputError
from textbayes.inference import Problem
from textbayes.links import make_link
from textbayes.models.weights import as_columns
from textbayes.priors import make_prior
from textbayes.tune import (
    BayesLinearClassifierCV,
    LinkReport,
    candidate_links,
    factor_grid,
    link_report,
    search_link,
    search_scale,
    skew_t_links,
)
from textbayes.tune.links import AUTO_LINKS, default_families


def drawn(link, n_docs=1500, seed=0, size=3.0):
    """Documents of three words with labels from that link."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_docs, 3))
    eta = X @ np.array([size, -0.5 * size, 0.0])
    return X, rng.random(n_docs) < make_link(link).probability(eta)


def problem_of(X, y):
    prior = make_prior("laplace", 1.0)
    return Problem(as_columns(X), np.where(y, 1.0, -1.0)[:, None], make_link("logit"), prior, prior.rescaled(np.inf))


@pytest.mark.parametrize("link", ["skew_t:df=inf,skew=0.25", "skew_t:df=inf,skew=4"])
def test_the_skew_that_labels_were_drawn_with_is_found(link):
    X, y = drawn(link, n_docs=3000)
    links = skew_t_links([np.inf], [0.25, 1.0, 4.0])
    found = search_link(problem_of(X, y), links, scales=4, cv=3)
    assert make_link(found.chosen()[0][0]) == make_link(link)
    assert found.chosen()[0][1] == found.factor[found.best[0], 0]


def test_heavy_tails_are_found_where_labels_are_wrong_far_out():
    X, y = drawn("student_t:df=1", n_docs=3000, size=6.0)
    found = search_link(problem_of(X, y), ["probit", "student_t:df=1"], scales=4, cv=3)
    assert found.best.tolist() == [1]


def test_each_link_is_judged_as_by_a_search_of_its_own():
    X, y = drawn("logit", n_docs=300)
    problem, factors, fold = problem_of(X, y), [0.05, 0.5, 5.0], np.arange(300) % 3
    found = search_link(problem, ["logit", "probit"], factors, fold, "f1")
    for place, link in enumerate(("logit", "probit")):
        alone = search_scale(problem._replace(link=make_link(link)), factors, fold, "f1")
        assert found.loss[place, 0] == alone.loss.min()
        assert found.factor[place, 0] == alone.factor[0]


def test_documents_of_no_weight_fold_as_if_they_were_not_there():
    X, y = drawn("logit", n_docs=200)
    weight = (np.arange(200) % 3 > 0).astype(float)
    links, factors = ["logit", "probit"], [0.1, 1.0]
    weighted = search_link(problem_of(X, y)._replace(sample_weight=weight), links, factors, tol=1e-7)
    without = search_link(problem_of(X[weight > 0], y[weight > 0]), links, factors, tol=1e-7)
    np.testing.assert_allclose(weighted.loss, without.loss, rtol=1e-5)


@pytest.mark.parametrize("scoring", ["log_loss", "f1"])
def test_the_choice_is_that_of_separate_fits_at_every_point_of_the_grid(scoring):
    """ν, γ and δ by what a validation set says, as Eyheramendy & Madigan do: one label often has the same F1."""
    X, y = drawn("skew_t:df=4,skew=2", n_docs=240)
    Y = np.column_stack([y, np.random.default_rng(1).random(240) < 0.1])
    train, validation = np.arange(160), np.arange(160, 240)
    dfs, skews, scales = [2.0, 8.0, 30.0], [0.5, 1.0, 2.0], [0.03, 0.3, 3.0]
    problem = problem_of(X, y)._replace(y=np.where(Y, 1.0, -1.0))
    asked = {"cv": [(train, validation)], "scoring": scoring, "tol": 1e-8, "max_iter": 2000}
    found = search_link(problem, skew_t_links(dfs, skews), scales, **asked)
    of_model = BayesLinearClassifierCV(
        "auto:df=[2,8,30],skew=[0.5,1,2]", scales=scales, cv=[(train, validation)], scoring=scoring,
        search_tol=1e-8, tol=1e-9, max_iter=2000,
    ).fit(X, Y.astype(int))  # fmt: skip
    for label in (0, 1):
        figures = {}
        for link in skew_t_links(dfs, skews):
            for scale in scales:
                fit = BayesLinearClassifier(link, scale=scale, tol=1e-9, max_iter=2000).fit(X[train], Y[train, label])
                p = fit.predict_proba(X[validation])[:, 1]
                loss = metrics.log_loss(Y[validation, label], p)
                f1 = metrics.f1_score(Y[validation, label], p > 0.5, zero_division=0)
                figures[make_link(link).spec, scale] = (1.0 - f1 if scoring == "f1" else 0.0, loss)
        best = min(figures, key=figures.get)
        assert found.chosen()[label] == best
        assert (make_link(of_model.link_).for_label(label).spec, of_model.scale_[label]) == best
    whole = BayesLinearClassifier(of_model.link_, scale=of_model.scale_[:, None], tol=1e-9, max_iter=2000).fit(X, Y)
    np.testing.assert_allclose(of_model.coef_, whole.coef_, atol=1e-6)  # of training and validation documents


def test_links_to_choose_among_are_told_by_a_grid():
    assert candidate_links("auto") == AUTO_LINKS
    assert candidate_links("auto:df=8") == [f"skew_t:df=8.0,skew={skew}" for skew in (0.5, 1.0, 2.0)]
    assert len(candidate_links('auto:df=[1,"inf"],skew=[0.1,2]')) == 4
    for link, said in (("auto:nu=1", "no parameter 'nu'"), ("auto:df=[x]", "give numbers"), ("auto:skew=-1", "skew")):
        with pytest.raises(InputError, match=said):
            candidate_links(link)
        with pytest.raises(InputError, match=said):
            make_model(f'linear:link="{link}"').fit(np.eye(4), [0, 1, 0, 1])


def test_what_search_refuses():
    X, y = drawn("logit", n_docs=60)
    with pytest.raises(InputError, match="no links were given"):
        search_link(problem_of(X, y), [])


# -- the report -------------------------------------------------------------------------------------------------------
SMALL = {
    "logit": ["logit"],
    "probit": ["probit"],
    "student_t": ["student_t:df=1", "student_t:df=inf"],
    "skew_t": ["student_t:df=inf", "skew_t:df=inf,skew=0.2", "skew_t:df=inf,skew=5"],
}


@pytest.fixture(scope="module")
def skewed_report() -> LinkReport:
    X, y = drawn("skew_t:df=inf,skew=5", n_docs=1500)
    return link_report(X, np.stack([y, ~y], axis=1), SMALL, scales=4, cv=3, label_names=["yes", "no"])


def test_asymmetry_pays_where_it_is_there(skewed_report):
    verdicts = dict(zip([c.question for c in skewed_report.comparisons], skewed_report.verdicts(), strict=True))
    assert verdicts["Asymmetry"].startswith("Asymmetry: significantly better. skew_t against student_t")
    asymmetry = skewed_report.comparisons[1]
    assert asymmetry.n_better == 2
    assert asymmetry.total_gain == pytest.approx(asymmetry.gain.sum())
    assert [make_link(spec).skew for spec in skewed_report.links[3]] == [5.0, 0.2]  # the label turned round mirrors it


def test_the_report_holds_its_figures(skewed_report):
    text = skewed_report.to_text()
    for name in ("logit", "probit", "student_t", "skew_t", "yes", "no", "Asymmetry: significantly better"):
        assert name in text
    assert f"{skewed_report.log_loss[0, 0]:.5f}" in text
    gain = skewed_report.comparisons[2].gain
    np.testing.assert_allclose(gain, skewed_report.log_loss[0] - skewed_report.log_loss[3])
    assert ((skewed_report.f1 > 0.5) & (skewed_report.f1 <= 1.0)).all()


def test_nothing_pays_where_the_probit_is_the_truth():
    X, y = drawn("probit", n_docs=800, size=1.0)
    report = link_report(X, y, SMALL, scales=4, cv=3)
    for comparison in report.comparisons[:2]:
        assert comparison.n_better == 0
        assert " pay" not in comparison.verdict()


def test_equal_links_make_no_difference():
    X, y = drawn("logit", n_docs=200)
    report = link_report(X, y, {"student_t": ["student_t:df=inf"], "probit": ["probit"]}, scales=3, cv=2)
    (comparison,) = report.comparisons
    assert (comparison.total_gain, comparison.total_p_value) == (0.0, 1.0)
    assert "Heavy tails: no significant difference" in comparison.verdict()


def losses_by_hand(X, Y, specs, fold):
    """−log p(y) of each document at the link and scale that are best on the other folds, by separate fits."""
    losses = []
    for spec in specs:
        link, prior = make_link(spec), make_prior("laplace", 1.0)
        y = np.where(Y, 1.0, -1.0)
        grid = factor_grid(Problem(as_columns(X), y, link, prior, prior.rescaled(np.inf)), 3)
        for row in grid:
            eta = np.empty(Y.shape)
            for f in np.unique(fold):
                model = BayesLinearClassifier(link, scale=row[:, None], tol=1e-9, max_iter=1000)
                model.fit(X[fold != f], Y[fold != f].astype(int))
                eta[fold == f] = model.linear_predictor(X[fold == f])
            losses.append(-link.log_prob(eta, y))
    found = np.empty(Y.shape)
    for f in np.unique(fold):
        best = np.array([loss[fold != f].mean(axis=0) for loss in losses]).argmin(axis=0)
        for label in range(Y.shape[1]):
            found[fold == f, label] = losses[best[label]][fold == f, label]
    return found


def test_a_fold_is_judged_by_the_choice_of_the_others_and_families_by_paired_tests():
    """A family with more links to choose from gains nothing from the choice alone; P values are adjusted (Holm)."""
    X, first = drawn("skew_t:df=inf,skew=5", n_docs=300)
    Y = np.stack([first, X[:, 1] + np.random.default_rng(1).logistic(size=300) > 0.0, ~first], axis=1)
    fold = np.arange(300) % 3
    families = {"probit": ["probit"], "student_t": ["logit", "student_t:df=1", "student_t:df=8"]}
    report = link_report(X, Y, families, scales=3, cv=fold, tol=1e-7, max_iter=1000)
    by_hand = [losses_by_hand(X, Y, links, fold) for links in families.values()]
    np.testing.assert_allclose(report.log_loss, [loss.mean(axis=0) for loss in by_hand], rtol=1e-5)
    (comparison,) = report.comparisons
    p_values = stats.ttest_rel(*by_hand).pvalue
    order = np.argsort(p_values)
    adjusted = np.minimum(np.maximum.accumulate(p_values[order] * [3, 2, 1]), 1.0)
    np.testing.assert_allclose(comparison.p_value[order], adjusted, rtol=1e-3)
    together = stats.ttest_rel(*(loss.sum(axis=1) for loss in by_hand)).pvalue
    assert comparison.total_p_value == pytest.approx(together, rel=1e-3)


def test_default_families_nest():
    families = default_families([2.0, np.inf], [0.5, 1.0])
    assert families["student_t"] == ["student_t:df=2.0", "student_t:df=inf"]
    assert "skew_t:df=2.0,skew=1.0" in families["skew_t"]
    x = np.array([-1.0, 0.3])
    np.testing.assert_allclose(make_link(families["student_t"][1]).probability(x), [NormalDist().cdf(v) for v in x])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"families": {"logit": []}}, "must name one link or more each"),
        ({"label_names": ["a", "b"]}, "2 label names were given for 1 labels"),
        ({"families": {"x": ["nothing"]}}, "unknown link 'nothing'"),
    ],
)
def test_what_the_report_refuses(settings, message):
    X, y = drawn("logit", n_docs=40)
    with pytest.raises(InputError, match=message):
        link_report(X, y, **settings)


def test_lengths_that_differ():
    with pytest.raises(InputError, match="X and Y differ in length"):
        link_report(np.ones((4, 2)), [0, 1, 0])


def test_a_model_by_name_takes_link_and_scale_by_f1():
    X, y = drawn("skew_t:df=2,skew=2", 200)
    model = make_model("linear:link=auto,scoring=f1,scales=3,cv=2,tol=0.001").fit(X, y)
    found = search_link(problem_of(X, y), AUTO_LINKS, scales=3, cv=2, scoring="f1")
    np.testing.assert_array_equal(model.search_.loss, found.loss)
    assert model.link_.spec == found.chosen()[0][0]
    by_loss = search_link(problem_of(X, y), AUTO_LINKS, scales=3, cv=2)
    assert not np.array_equal(found.loss, by_loss.loss)

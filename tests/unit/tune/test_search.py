"""Cross-validation along paths: against scikit-learn, against losses computed by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import KFold

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError
from textbayes.core.folds import stratified_folds
from textbayes.links import make_link
from textbayes.tune import BayesLinearClassifierCV, factor_grid, search_scale
from textbayes.tune.search import choose, f1_losses, log_losses

CS = np.geomspace(0.03, 3.0, 6)  # beyond, scikit-learn's log-loss clips probabilities of 0 that cost us more


def test_same_losses_and_choice_as_scikit_learn(texts, make_problem):
    """liblinear penalises the intercept like a weight: so do we here."""
    X, Y = texts
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    found = search_scale(
        make_problem(intercept=1.0), CS, splits, tol=1e-7, max_iter=1000, tie_intercept=True, errors="folds"
    )
    for label in range(3):
        theirs = LogisticRegressionCV(
            Cs=CS, l1_ratios=[1.0], solver="liblinear", scoring="neg_log_loss", cv=splits, tol=1e-8, max_iter=10_000,
            use_legacy_attributes=False,
        ).fit(X, Y[:, label])  # fmt: skip
        scores = -np.asarray(theirs.scores_).reshape(4, len(CS))
        np.testing.assert_allclose(found.loss[:, label], scores.mean(axis=0), rtol=1e-5)  # folds of equal size
        np.testing.assert_allclose(found.standard_error[:, label], scores.std(axis=0, ddof=1) / 2.0, rtol=1e-4)
        assert found.factor[label] == pytest.approx(float(theirs.C_))


@pytest.mark.parametrize("scoring", ["log_loss", "f1"])
def test_losses_are_those_of_separate_fits(texts, make_problem, scoring):
    X, Y = texts
    fold = stratified_folds(Y, 3, 1)
    found = search_scale(make_problem(), CS, fold, scoring, tol=1e-8, max_iter=1000)
    proba = np.empty((len(CS), *Y.shape))
    for f in range(3):
        for point, scale in enumerate(CS):
            model = BayesLinearClassifier(scale=scale, tol=1e-9).fit(X[fold != f], Y[fold != f])
            proba[point, fold == f] = model.predict_proba(X[fold == f])
    for point in range(len(CS)):
        for label in range(3):
            y, p = Y[:, label], proba[point, :, label]
            by_hand = log_loss(y, p) if scoring == "log_loss" else 1.0 - f1_score(y, p > 0.5, zero_division=0)
            assert found.loss[point, label] == pytest.approx(by_hand, rel=1e-5)
    together = found.loss.sum(axis=1) if scoring == "log_loss" else found.loss.mean(axis=1)
    np.testing.assert_allclose(found.common_loss, together)
    at_choice = make_link("logit").probability(found.held_out)
    for label in range(3):
        np.testing.assert_allclose(at_choice[:, label], proba[found.point[label], :, label], atol=1e-5)
    np.testing.assert_array_equal(found.fold, fold)


@pytest.mark.parametrize("measure", [log_losses, f1_losses], ids=["log-loss", "f1"])
def test_standard_errors_match_a_simulation(measure):
    """Many samples of documents from one population: the spread of their losses is what the errors should say."""
    rng = np.random.default_rng(0)
    link = make_link("logit")
    losses, errors, common, common_errors = [], [], [], []
    for _ in range(1500):
        shared = rng.normal(0.0, 1.0, (300, 1))  # labels of one document hang together
        eta = np.array([0.5, -1.0]) + shared + rng.normal(0.0, 1.0, (300, 2))
        y = np.where(eta + 0.5 * shared + rng.logistic(size=(300, 2)) > 0.0, 1.0, -1.0)
        result = measure(eta, y, link, np.ones(300))
        losses.append(result.loss)
        errors.append(result.error)
        common.append(result.common_loss)
        common_errors.append(result.common_error)
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(losses, axis=0), rtol=0.06)
    assert np.mean(common_errors) == pytest.approx(np.std(common), rel=0.06)


@pytest.mark.parametrize("measure", [log_losses, f1_losses], ids=["log-loss", "f1"])
def test_weights_count_documents(measure):
    """Whole weights are repetitions for the loss; for the error a repeated document is still one."""
    rng = np.random.default_rng(1)
    eta, y = rng.normal(size=(50, 2)), np.where(rng.random((50, 2)) < 0.4, 1.0, -1.0)
    weight = rng.integers(0, 3, 50).astype(float)
    rows = np.repeat(np.arange(50), weight.astype(int))
    link = make_link("logit")
    weighted, repeated = measure(eta, y, link, weight), measure(eta[rows], y[rows], link, np.ones(len(rows)))
    np.testing.assert_allclose(weighted.loss, repeated.loss)
    assert (weighted.error >= repeated.error - 1e-12).all()


def test_one_standard_error_takes_the_narrowest_that_is_not_clearly_worse():
    loss = np.array([[5.0, 1.0], [2.05, 0.9], [2.0, 0.8], [2.2, 0.95]])
    error = np.full((4, 2), 0.1)
    assert choose(loss, error, "best").tolist() == [2, 2]
    assert choose(loss, error, "one_se").tolist() == [1, 1]
    assert choose(loss[:, [0]], np.zeros((4, 1)), "one_se").tolist() == [2]


def test_one_point_for_all_labels(make_problem):
    problem = make_problem()
    factors = factor_grid(problem, 6, per_label=False)
    found = search_scale(problem, factors, per_label=False)
    assert (found.point == found.common_loss.argmin()).all()
    one_se = search_scale(problem, factors, per_label=False, rule="one_se")
    best = found.common_loss.argmin()
    allowed = found.common_loss <= found.common_loss[best] + found.common_standard_error[best]
    assert (one_se.point == allowed.argmax()).all()


def test_a_validation_set_is_one_split(texts, make_problem):
    X, Y = texts
    train, validation = np.arange(160), np.arange(160, 240)
    found = search_scale(make_problem(), CS, [(train, validation)], tol=1e-8, max_iter=1000)
    assert np.isnan(found.held_out[train]).all()
    assert (found.fold[train] == -1).all()
    model = BayesLinearClassifier(scale=CS[3], tol=1e-9).fit(X[train], Y[train])
    by_hand = log_loss(Y[validation, 0], model.predict_proba(X[validation])[:, 0])
    assert found.loss[3, 0] == pytest.approx(by_hand, rel=1e-5)


def test_documents_of_no_weight_fold_as_if_they_were_not_there(texts, make_problem):
    X, _ = texts
    weight = (np.random.default_rng(2).random(240) < 0.7).astype(float)
    weighted = search_scale(make_problem(weight=weight), CS, tol=1e-8, max_iter=1000)
    kept = weight > 0.0
    problem = make_problem()
    from textbayes.models.weights import as_columns

    without = problem._replace(X=as_columns(X[kept]), y=np.ascontiguousarray(problem.y[kept]))
    np.testing.assert_allclose(weighted.loss, search_scale(without, CS, tol=1e-8, max_iter=1000).loss, rtol=1e-5)
    assert np.isnan(weighted.held_out[~kept]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cv": 1}, "pass 2 folds or more"),
        ({"cv": np.zeros(3, dtype=int)}, "holds 3 fold numbers for 240 documents"),
        ({"cv": [(np.arange(100), np.arange(50)), (np.arange(100), np.arange(40, 90))]}, "overlap"),
        ({"scoring": "accuracy"}, "scoring='accuracy' is not known"),
        ({"rule": "two_se"}, "rule='two_se' is not known"),
        ({"errors": "words"}, "errors='words' is not known"),
        ({"cv": [(np.arange(100), np.arange(100, 240))], "errors": "folds"}, "need two folds or more"),
    ],
)
def test_what_is_refused(make_problem, settings, message):
    with pytest.raises(InputError, match=message):
        search_scale(make_problem(), CS, **settings)


@pytest.mark.parametrize("link", ["logit", "auto"])
def test_copies_in_one_group_do_not_widen_the_prior(link):
    """Noise that is there four times: with copies on both sides of a fold it looks as if words told everything."""
    rng = np.random.default_rng(2)
    rows = np.tile(np.arange(40), 4)
    X, y = rng.normal(size=(40, 30))[rows], (rng.permutation(40) % 2)[rows]
    settings = {"prior": "gaussian", "link": link, "scales": 6}
    grouped = BayesLinearClassifierCV(**settings).fit(X, y, groups=rows)
    assert not hasattr(grouped, "_groups")
    assert grouped.scale_[0] < BayesLinearClassifierCV(**settings).fit(X, y).scale_[0] / 2

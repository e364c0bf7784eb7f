"""A prior with a family for each word: it is each family on its own words, and fits find its optimum."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import optimize, sparse

from references.optimality import slope_of
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.inference import inferences
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior, priors
from textbayes.priors.by_word import ByWord
from textbayes.priors.elastic_net import ElasticNet
from textbayes.priors.student_t import StudentT

FAMILIES = [name for name in priors.names() if name != "by_word"]
SCALE = np.linspace(0.3, 2.0, len(FAMILIES))
MEAN = np.linspace(-1.0, 1.0, len(FAMILIES))


@pytest.mark.parametrize("part", ["neg_log", "penalty", "variance"])
def test_every_word_has_its_own_family(part):
    prior = ByWord(SCALE, MEAN, FAMILIES)
    for w in (np.full(len(FAMILIES), 0.37), MEAN, np.full(len(FAMILIES), -40.0)):
        alone = [getattr(make_prior(name, s, m), part)(w[j : j + 1])[0] for j, (name, s, m) in _words()]
        np.testing.assert_array_equal(getattr(prior, part)(w), [float(value) for value in alone])


def test_local_penalty_is_that_of_each_family():
    w = np.full(len(FAMILIES), 0.37)
    together = ByWord(SCALE, MEAN, FAMILIES).local(w)
    for j, (name, scale, mean) in _words():
        for part, alone in zip(together, make_prior(name, scale, mean).local(w[:1]), strict=True):
            assert part[j] == alone[0]


def _words():
    return enumerate(zip(FAMILIES, SCALE, MEAN, strict=True))


@pytest.mark.parametrize(
    ("families", "expected"),
    [
        (["gaussian"], {"smooth", "proper", "log_concave", "exact_local"}),
        (["gaussian", "laplace"], {"proper", "log_concave", "exact_local"}),
        (["gaussian", "student_t"], {"smooth", "proper"}),
        (["laplace", "jeffreys"], {"pole"}),
        (["horseshoe", "gaussian"], {"proper", "pole"}),
    ],
)
def test_what_it_is_follows_from_its_families(families, expected):
    prior = ByWord(family=families)
    properties = ("smooth", "proper", "log_concave", "exact_local", "pole")
    assert {name for name in properties if getattr(prior, name)} == expected
    assert prior.families == tuple(sorted(families))


def test_newton_refuses_a_kink_and_takes_smooth_families():
    inferences.get("newton").check(make_link("logit"), ByWord(family=["gaussian", "student_t"]))
    with pytest.raises(NotSupportedError, match="smooth"):
        inferences.get("newton").check(make_link("logit"), ByWord(family=["gaussian", "laplace"]))


def test_further_hyperparameters_reach_the_families_that_have_them():
    w = np.array([0.7, 0.7, 0.7])
    prior = ByWord(0.5, 0.1, ["student_t", "elastic_net", "laplace"], degrees=2.5, l1_ratio=[0.3, 0.4, 0.6])
    expected = [StudentT(0.5, 0.1, 2.5), ElasticNet(0.5, 0.1, 0.4), make_prior("laplace", 0.5, 0.1)]
    np.testing.assert_allclose(prior.neg_log(w), [float(one.neg_log(w[:1])[0]) for one in expected], rtol=1e-15)


def test_labels_words_and_copies_keep_the_families():
    prior = ByWord(np.ones((2, 3)), 0.0, [["laplace"] * 3, ["gaussian", "laplace", "student_t"]], degrees=3.0)
    second = prior.for_label(1, 3)
    assert second.families == ("gaussian", "laplace", "student_t")
    assert second.take(np.array([2, 0])).families == ("gaussian", "student_t")
    w = np.array([0.5, 0.5, 0.5])
    for same in (copy.deepcopy(second), pickle.loads(pickle.dumps(second))):
        np.testing.assert_array_equal(same.neg_log(w), second.neg_log(w))
    assert slope_of(prior.rescaled(2.0), np.array([3.0]))[0] == 0.5  # a Laplace intercept: 1/scale


def test_shows_itself():
    assert repr(ByWord(family=["laplace", "gaussian"])).startswith(
        "ByWord(scale=1, mean=0, sign=0, family=<array (2,)>"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"family": ["laplace", "lapace"]}, "unknown prior 'lapace'.*did you mean 'laplace'"),
        ({"family": "by_word"}, "by_word itself"),
        ({"family": [99]}, "family numbers"),
        ({"family": ["laplace"], "degrees": 3.0}, "'degrees' is a hyperparameter of none"),
        ({"family": ["student_t"], "degrees": -1.0}, "degrees must be positive"),
        ({"family": ["laplace"], "scale": -1.0}, "positive"),
    ],
)
def test_bad_hyperparameters_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        ByWord(**arguments)


def test_a_fit_is_the_optimum_of_both_families():
    """w = v⁺ − v⁻, both ≥ 0, for the Laplace words: no kink for L-BFGS-B. Written without the prior's own methods."""
    rng = np.random.default_rng(0)
    X = sparse.random(90, 12, density=0.4, random_state=1, format="csr").toarray()
    y = X @ rng.normal(0, 2, 12) + rng.logistic(size=90) > 0.3
    family = np.array(["laplace", "gaussian"] * 6)
    scale, mean = rng.uniform(0.3, 2.0, 12), rng.normal(0, 0.5, 12)
    prior = ByWord(scale, mean, family)
    models = [
        BayesLinearClassifier(prior=prior, inference=name, tol=1e-9, max_iter=500).fit(X, y)
        for name in ("coordinate", "clg", "em")
    ]
    sparse_words, signs = family == "laplace", np.where(y, 1.0, -1.0)

    def objective(v):
        offset = v[:12] - v[12:24]
        eta = X @ (mean + offset) + v[24]
        penalty = (v[:12] + v[12:24])[sparse_words] @ (1.0 / scale[sparse_words])
        return np.logaddexp(0, -signs * eta).sum() + penalty + 0.5 * ((offset / scale)[~sparse_words] ** 2).sum()

    bounds = [(0, None) if j % 12 % 2 == 0 else (None, None) for j in range(12)]
    bounds += [(0, None) if j % 2 == 0 else (0, 0) for j in range(12)] + [(None, None)]
    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-8}
    best = optimize.minimize(objective, np.zeros(25), bounds=bounds, method="L-BFGS-B", options=options).fun
    for model in models:
        assert model.fit_info_.objective[0] == pytest.approx(best, rel=1e-6)
    assert (models[0].coef_[0][sparse_words] == mean[sparse_words]).any()
    assert (models[0].coef_[0][~sparse_words] != mean[~sparse_words]).all()

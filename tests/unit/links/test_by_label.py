"""A link for every label: the columns are those of the links, and fits are those of each label by itself."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.links import make_link
from textbayes.models.online.likelihood import OnlineLikelihood

SPECS = ["logit", "skew_t:df=2.0,skew=2.0", "probit", "logit"]
LINKS = [make_link(spec) for spec in SPECS]
BOTH = make_link(";".join(SPECS))
rng = np.random.default_rng(0)
ETA, VAR = rng.normal(0.0, 2.0, (7, 4)), rng.gamma(1.0, 1.0, (7, 4))
Y = np.where(rng.random((7, 4)) < 0.5, 1.0, -1.0)


def test_is_kept_as_a_string():
    assert BOTH.spec == ";".join(SPECS)
    assert make_link(BOTH.spec) == BOTH
    assert hash(make_link(BOTH.spec)) == hash(BOTH)
    assert make_link("probit;logit") != make_link("logit;probit")


@pytest.mark.parametrize(
    ("method", "arrays"),
    [
        *((name, (ETA, Y)) for name in ("log_prob", "score", "curvature", "hessian", "derivatives", "expectation")),
        *((name, (ETA,)) for name in ("probability", "log_odds")),
        *((("moments", (ETA, VAR, Y))), ("predictive", (ETA, VAR))),
    ],
)
def test_every_column_is_that_of_its_link(method, arrays):
    found = getattr(BOTH, method)(*arrays)
    for k, link in enumerate(LINKS):
        own = getattr(link, method)(*(np.ascontiguousarray(array[:, k]) for array in arrays))
        for whole, part in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, own)), strict=True):
            np.testing.assert_allclose(whole[:, k], part, rtol=1e-12)


def test_one_row_and_stacks_of_rows():
    np.testing.assert_allclose(BOTH.log_odds(ETA[0]), BOTH.log_odds(ETA)[0])
    np.testing.assert_allclose(BOTH.log_odds(np.stack([ETA, ETA]))[1], BOTH.log_odds(ETA))
    with pytest.raises(InputError, match="last axis is labels"):
        BOTH.probability(ETA[:, :3])


@pytest.mark.parametrize("inference", ["coordinate", "newton", "em", "block_em"])
def test_labels_are_fitted_each_with_its_link(inference):
    X = rng.normal(size=(80, 5))
    labels = (X[:, :2] + rng.logistic(size=(80, 2)) > 0).astype(int)
    link = "probit;student_t:df=8" if inference != "newton" else "probit;logit"
    settings = {"prior": "gaussian" if inference == "newton" else "laplace", "tol": 1e-6, "max_iter": 500}
    both = BayesLinearClassifier(link, inference=inference, intervals=True, **settings).fit(X, labels)
    for k, own in enumerate(link.split(";")):
        alone = BayesLinearClassifier(own, inference=inference, intervals=True, **settings).fit(X, labels[:, k])
        np.testing.assert_allclose(both.coef_[k], alone.coef_[0], atol=1e-5)
        np.testing.assert_allclose(both.standard_errors_[k], alone.standard_errors_[0], rtol=1e-3)
        np.testing.assert_allclose(both.predict_proba(X)[:, k], alone.predict_proba(X)[:, 1], atol=1e-5)
        np.testing.assert_allclose(both.predictive_proba(X)[:, k], alone.predictive_proba(X)[:, 1], atol=1e-4)


def test_what_cannot_be_is_refused():
    X, labels = rng.normal(size=(20, 2)), rng.integers(0, 2, (20, 3))
    with pytest.raises(InputError, match="2 links are given for 3 labels"):
        BayesLinearClassifier("probit;logit").fit(X, labels)
    with pytest.raises(NotSupportedError, match="one link"):
        BayesLinearClassifier("probit;logit;logit", inference="gibbs").fit(X, labels)
    with pytest.raises(InputError, match="unknown link 'nothing'"):
        make_link("logit;nothing")


def test_online_models_have_one_link():
    with pytest.raises(InputError, match="is of several labels"):
        OnlineLikelihood("probit;logit")

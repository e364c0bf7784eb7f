"""Epistemic and aleatoric parts: against adaptive integration and simulation, of every model that has a posterior."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, sparse, special, stats

from textbayes import BayesLinearClassifier, BayesMultinomialClassifier, TextCategorizer
from textbayes.core.errors import NotSupportedError
from textbayes.inference.gibbs import Gibbs
from textbayes.links import make_link
from textbayes.posterior.intervals import entropy_bits, gaussian_uncertainty

TEXTS = ["wheat and corn prices rise", "corn harvest falls", "bank raises rates", "the bank cuts its rates"] * 5
LABELS = ["grain", "grain", "money", "money"] * 5
# What is computed of the draws is right for any of them: few are enough.
FEW = Gibbs(chains=2, warmup=20, max_draws=50, target_ess=1.0, max_r_hat=99.0)


def bits(p):
    return stats.entropy([p, 1.0 - p], base=2)


@pytest.mark.parametrize("name", ["logit", "probit", "student_t:df=4", "flip:rate=0.1,base=logit"])
@pytest.mark.parametrize(("mean", "var"), [(0.0, 0.0), (0.7, 0.01), (-2.0, 4.0), (1.0, 400.0), (30.0, 2_500.0)])
def test_parts_are_the_integrals(name, mean, var):
    link = make_link(name)
    at = np.array([[mean]]), np.array([[var]])
    found = gaussian_uncertainty(*at, link.probability, link.predictive(*at))
    sd = np.sqrt(var)

    def of(z, function):
        return stats.norm.pdf(z) * function(link.probability(np.array([mean + sd * z]))[0])

    splits = np.unique(np.clip([-9.0, *((np.array([-8.0, -2.0, 0.0, 2.0, 8.0]) - mean) / max(sd, 1e-9)), 9.0], -9, 9))
    parts = [
        sum(integrate.quad(of, a, b, args=(f,), limit=400, epsabs=1e-11)[0] for a, b in pairwise(splits))
        for f in (lambda p: p, bits)
    ]
    assert found.aleatoric[0, 0] == pytest.approx(parts[1], abs=2e-6)
    assert found.total[0, 0] == pytest.approx(bits(min(parts[0], 1.0)), abs=2e-6)
    assert found.epistemic[0, 0] == pytest.approx(max(bits(min(parts[0], 1.0)) - parts[1], 0.0), abs=4e-6)


def test_epistemic_is_the_mutual_information_of_label_and_predictor():
    """Counted: the predictor in 400 bins, and labels drawn by it."""
    rng, n = np.random.default_rng(0), 2_000_000
    u = rng.normal(0.5, 2.0, n)
    y = rng.random(n) < special.expit(u)
    place = np.digitize(u, np.linspace(-8.0, 9.0, 399))
    table = np.stack([np.bincount(place[y == one], minlength=400) for one in (False, True)]) / n
    expected = stats.entropy(table.ravel(), np.outer(table.sum(axis=1), table.sum(axis=0)).ravel(), base=2)
    at = np.array([[0.5]]), np.array([[4.0]])
    found = gaussian_uncertainty(*at, special.expit, make_link("logit").predictive(*at))
    assert found.epistemic[0, 0] == pytest.approx(expected, abs=1e-3)


def test_many_documents_are_computed_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    mean, var = rng.normal(size=(50, 3)), rng.random((50, 3)) * 30
    whole = gaussian_uncertainty(mean, var, special.expit, mean * 0 + 0.5).aleatoric
    monkeypatch.setattr("textbayes.posterior.intervals._AT_ONCE", 1_000)
    np.testing.assert_allclose(gaussian_uncertainty(mean, var, special.expit, mean * 0 + 0.5).aleatoric, whole)


def test_laplace_approximation_knows_less_of_strange_documents_and_more_with_more_texts():
    rng = np.random.default_rng(0)

    def fitted(n):
        X = rng.normal(size=(n, 4)) * [1.0, 1.0, 1.0, 0.01]
        y = X[:, 0] + rng.logistic(size=n) > 0.0
        return BayesLinearClassifier(prior="gaussian", scale=3.0, inference="newton", intervals=True).fit(X, y)

    few, many = fitted(100), fitted(10_000)
    usual, strange = np.array([[0.3, 0.0, 0.0, 0.0]]), np.array([[0.3, 0.0, 0.0, 2.0]])
    assert few.predict_uncertainty(strange).epistemic > 5.0 * few.predict_uncertainty(usual).epistemic
    assert many.predict_uncertainty(usual).epistemic < 0.05 * few.predict_uncertainty(usual).epistemic
    total = few.predict_uncertainty(strange).total[:, 0]
    np.testing.assert_allclose(total, entropy_bits(few.predictive_proba(strange)[:, 1]))


@pytest.mark.parametrize(
    "model",
    [
        BayesLinearClassifier(inference=FEW),
        BayesMultinomialClassifier(inference=FEW),
        "online",
        "online:covariance=full",
        "gp:kernel=rbf,budget=20",
    ],
    ids=["linear", "multinomial", "online", "online, full covariance", "gp"],
)
@pytest.mark.parametrize("labels", [LABELS, [*LABELS[:-5], *["oil"] * 5]])
def test_every_model_with_a_posterior(model, labels):
    fitted = TextCategorizer(model=model, cv=2).fit(TEXTS, labels)
    new = [*TEXTS[:3], "nothing known", "corn bank"]
    found = fitted.predict_uncertainty(new)
    assert found.total.shape == (5, fitted.label_space_.n_columns)
    assert ((found.epistemic >= 0.0) & (found.aleatoric > 0.0) & (found.total <= 1.0 + 1e-12)).all()
    np.testing.assert_allclose(found.epistemic + found.aleatoric, found.total, atol=1e-9)
    if fitted.label_space_.kind == "binary":
        np.testing.assert_allclose(found.total[:, 0], entropy_bits(fitted.predict_proba(new)[:, 1]), atol=1e-6)


def test_draws_are_averaged():
    fitted = TextCategorizer(model=BayesLinearClassifier(inference=FEW), cv=2).fit(TEXTS, LABELS)
    X = sparse.csr_matrix(fitted.features(["corn bank"]).weights)
    [one] = fitted.draws_.labels
    p = special.expit(one.predictors(X))[0]
    found = fitted.predict_uncertainty(["corn bank"])
    assert found.aleatoric[0, 0] == pytest.approx(np.mean([bits(each) for each in p]))
    assert found.total[0, 0] == pytest.approx(bits(p.mean()))


def test_models_without_a_posterior_are_refused():
    fitted = TextCategorizer(model="counts").fit(TEXTS, LABELS)
    with pytest.raises(NotSupportedError, match="has no posterior"):
        fitted.predict_uncertainty(["corn"])

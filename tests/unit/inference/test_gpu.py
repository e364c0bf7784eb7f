"""Inference ``gpu`` finds the optimum of ``coordinate`` and ``newton``, on every device."""

from __future__ import annotations

import importlib.util
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from textbayes.categorizer import TextCategorizer, prepare
from textbayes.categorizer.plan import Member
from textbayes.core import machine as devices
from textbayes.core.errors import InputError, MissingExtraError, NotSupportedError
from textbayes.inference import Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.gpu import Gpu
from textbayes.inference.newton import Newton
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior

HAS_TORCH = importlib.util.find_spec("torch") is not None
with_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
PRIORS = ("gaussian", "laplace", "elastic_net")


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    if not HAS_TORCH:
        pytest.skip("torch is not installed")
    if request.param == "cuda" and not devices.cuda_is_there():
        pytest.skip("there is no graphics card that PyTorch can use")
    return request.param


@pytest.fixture(scope="module")
def corpus():
    """300 documents of 120 words, with 5 labels of which one has a single document."""
    rng = np.random.default_rng(3)
    X = sparse.random(300, 120, density=0.08, random_state=4, format="csc", data_rvs=lambda n: rng.gamma(2.0, 0.3, n))
    X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)
    W = rng.normal(0.0, 3.0, (120, 5)) * (rng.random((120, 5)) < 0.2)
    y = np.where(X @ W + rng.logistic(size=(300, 5)) > [0.0, 0.5, 1.0, 2.0, 90.0], 1.0, -1.0)
    y[7, 4] = 1.0
    return X, y


def _problem(corpus, link="logit", prior="laplace", per_word=False, weighted=False, offset=False, intercept=np.inf):
    X, y = corpus
    rng = np.random.default_rng(5)
    scale = rng.choice([0.3, 3.0], (5, 120)) if per_word else 2.0
    mean = rng.normal(0.0, 0.3, 120) if offset else 0.0
    weight = rng.choice([0.0, 0.5, 2.0], 300, p=[0.1, 0.5, 0.4]) if weighted else None
    if weight is not None:
        weight[7] = 1.0
    given = make_prior(prior, scale, mean)
    own = None if intercept is None else given.rescaled(intercept, 0.4 if offset and np.isfinite(intercept) else 0.0)
    return Problem(X, y, make_link(link), given, own, weight)


def _objective(problem, posterior, label):
    eta = problem.X @ posterior.mean[label] + posterior.intercept[label]
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    prior, own = problem.prior.for_label(label, 120), problem.intercept_prior_of(label)
    value = prior.penalty(posterior.mean[label]).sum()
    value += 0.0 if own is None else own.penalty(posterior.intercept[label : label + 1]).sum()
    return value - (weight * problem.link.log_prob(eta, problem.y[:, label])).sum()


def _most_violated(problem, posterior, label):
    """The largest distance of a partial derivative from its optimality condition, of the largest at the prior means."""
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    prior, y = problem.prior.for_label(label, 120), problem.y[:, label]

    def slopes(w, b):
        return problem.X.T @ (weight * problem.link.score(problem.X @ w + b, y))

    w = posterior.mean[label]
    center, l1, l2 = prior.local(w)
    smooth = slopes(w, posterior.intercept[label]) - l2 * (w - center)
    away = np.abs(smooth - l1 * np.sign(w - center))
    violation = np.where(w == center, np.maximum(np.abs(smooth) - l1, 0.0), away)
    return violation.max() / np.abs(slopes(center, posterior.intercept[label])).max()


@pytest.mark.parametrize(
    ("link", "prior", "per_word", "weighted", "offset"),
    list(product(("logit", "probit"), PRIORS, (False, True), (False, True), (False, True))),
)
def test_finds_the_optimum_of_coordinate(link, prior, per_word, weighted, offset, device, corpus):
    problem = _problem(corpus, link, prior, per_word, weighted, offset)
    ours = Gpu(1e-7, 300, device=device).run(problem)
    other = Coordinate(1e-8, 500).run(problem)
    assert ours.info.converged.all()
    np.testing.assert_allclose(ours.info.objective, other.info.objective, rtol=1e-7)
    np.testing.assert_allclose(ours.mean, other.mean, atol=2e-3 * np.abs(other.mean).max())
    for label in range(5):
        assert ours.info.objective[label] == pytest.approx(_objective(problem, ours, label), rel=1e-10)
        assert _most_violated(problem, ours, label) < 1e-5


def test_finds_the_optimum_of_newton(device, corpus):
    problem = _problem(corpus, prior="gaussian", per_word=True, weighted=True)
    ours, other = Gpu(1e-9, 300, device=device).run(problem), Newton(1e-9, 300).run(problem)
    np.testing.assert_allclose(ours.mean, other.mean, atol=1e-6)
    np.testing.assert_allclose(ours.intercept, other.intercept, atol=1e-6)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("intercept", [None, 0.7])
def test_intercepts_without_and_with_a_prior(prior, intercept, device, corpus):
    problem = _problem(corpus, prior=prior, offset=True, intercept=intercept)
    ours, other = Gpu(1e-8, 300, device=device).run(problem), Coordinate(1e-9, 500).run(problem)
    np.testing.assert_allclose(ours.info.objective, other.info.objective, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept, other.intercept, atol=1e-3)
    assert intercept is not None or not ours.intercept.any()


@pytest.mark.parametrize("memory", [1 << 12, 1 << 17, 1 << 20])
def test_blocks_of_rows_and_groups_of_labels_give_the_same(memory, device, corpus):
    problem = _problem(corpus, per_word=True, weighted=True)
    whole, parts = (Gpu(1e-8, 300, device=device, memory=m).run(problem) for m in (None, memory))
    np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-5)
    np.testing.assert_allclose(parts.info.objective, whole.info.objective, rtol=1e-10)


@with_torch
def test_a_small_memory_means_several_blocks(corpus):
    import torch

    from textbayes.inference._all_labels import DocumentMatrix

    X, _ = corpus
    split = DocumentMatrix.of(X, torch.device("cpu"), 500)
    assert len(split.blocks) > 3
    V, R = np.random.default_rng(0).normal(size=(120, 3)), np.random.default_rng(1).normal(size=(300, 3))
    np.testing.assert_allclose(split.times(torch.as_tensor(V)).numpy(), X @ V, atol=1e-12)
    np.testing.assert_allclose(split.transpose_times(torch.as_tensor(R)).numpy(), X.T @ R, atol=1e-12)
    squared = split.transpose_times(torch.as_tensor(R), squared=True).numpy()
    np.testing.assert_allclose(squared, X.multiply(X).T @ R, atol=1e-12)


def test_a_start_near_the_optimum_takes_fewer_steps(device, corpus):
    problem = _problem(corpus)
    cold = Gpu(1e-7, 300, device=device).run(problem)
    wider = problem._replace(prior=make_prior("laplace", 2.1))
    warm, again = (Gpu(1e-7, 300, device=device).run(wider, start) for start in (cold, None))
    assert warm.info.n_iter.sum() < again.info.n_iter.sum()
    np.testing.assert_allclose(warm.info.objective, again.info.objective, rtol=1e-7)


def test_a_looser_tolerance_takes_fewer_steps_and_says_what_is_left(device, corpus):
    problem = _problem(corpus)
    loose, tight = (Gpu(tol, 300, device=device).run(problem) for tol in (1e-2, 1e-8))
    assert loose.info.n_iter.sum() < tight.info.n_iter.sum()
    assert (loose.info.objective >= tight.info.objective * (1.0 - 1e-12)).all()
    cut = Gpu(1e-8, 2, device=device).run(problem)
    assert not cut.info.converged.any()
    assert (cut.info.n_iter == 2).all()


@with_torch
def test_random_numbers_of_the_benchmark_are_uniform():
    """They are a hash of a counter: no device has a say in them."""
    import sys
    from pathlib import Path

    import torch

    sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
    from _on_card import uniform

    drawn = uniform(4, torch.arange(200_000)).numpy()
    assert np.abs(np.histogram(drawn, 20, (0.0, 1.0))[0] / 10_000 - 1.0).max() < 0.05
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01


def test_what_it_does_not_know_is_refused():
    with pytest.raises(NotSupportedError, match="exact-local"):
        Gpu.check(make_link("logit"), make_prior("jeffreys", 1.0))
    with pytest.raises(NotSupportedError, match="use inference 'coordinate'"):
        Gpu.check(make_link("logit"), make_prior("laplace", 1.0, sign=1))
    with pytest.raises(NotSupportedError, match="log-concave"):
        Gpu.check(make_link("student_t"), make_prior("laplace", 1.0))


def test_without_torch_the_extra_is_named(monkeypatch, corpus):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"textbayes\[gpu\]"):
        Gpu().run(_problem(corpus))
    with pytest.raises(MissingExtraError, match=r"textbayes\[gpu\]"):
        devices.on_card("cuda")
    devices.cuda_is_there.cache_clear()
    assert not devices.on_card("auto")
    devices.cuda_is_there.cache_clear()


def test_a_card_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(devices, "cuda_is_there", lambda: False)
    with pytest.raises(InputError, match="device='cpu'"):
        devices.on_card("cuda")
    with pytest.raises(InputError, match="choose one of 'auto', 'cpu', 'cuda'"):
        devices.on_card("gpu")


@with_torch
@pytest.mark.parametrize("settings", [{}, {"preset": "linear"}], ids=["auto", "linear"])
def test_a_training_fits_its_regressions_there_and_says_the_same(settings, monkeypatch):
    """As if there were a card; where there is none, PyTorch fits on the CPU."""
    texts = [
        f"{a} {b} prices" for a in ("wheat", "corn", "bank", "rates") for b in ("rise", "fall", "hold", "move")
    ] * 3
    labels = ["grain" if "wheat" in text or "corn" in text else "money" for text in texts]
    plain = TextCategorizer(device="cpu", embeddings="off", cv=2, **settings).fit(texts, labels)
    monkeypatch.setattr(prepare, "on_card", lambda device: device != "cpu")
    monkeypatch.setattr(prepare, "_MUCH_TO_FIT", 0)
    run, fits = Gpu.run, []
    monkeypatch.setattr(Gpu, "run", lambda self, *given: fits.append(self) or run(self, *given))
    there = TextCategorizer(embeddings="off", cv=2, **settings).fit(texts, labels)
    assert fits
    np.testing.assert_allclose(there.predict_proba(texts), plain.predict_proba(texts), atol=0.02)
    assert there.predict(texts).tolist() == plain.predict(texts).tolist()


def test_members_go_on_the_card_where_they_can():
    dual = Member("a", (0,), BayesLinearClassifier(prior="gaussian", inference="dual", tol=1e-2), {"tol": 1e-1})
    on_card = dual.on_card()
    assert on_card.estimator.inference == "gpu"
    assert on_card.estimator.tol == pytest.approx(1e-3)
    assert on_card.for_folds().estimator.tol == pytest.approx(1e-2)
    for kept in ({"prior": "jeffreys"}, {"sign": 1}, {"inference": "em", "prior": "laplace"}, {"link": "student_t"}):
        member = Member("b", (0,), BayesLinearClassifier(**kept))
        assert member.on_card() is member

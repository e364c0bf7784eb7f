"""The sampler as an inference: seeds and threads, stopping, resuming, draws and what is read off them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.state import from_state, to_state
from textbayes.inference import Problem, make_inference
from textbayes.inference.em import BlockEm
from textbayes.inference.gibbs import Draws, Gibbs, LabelDraws
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.store.checkpoint import Checkpoint

needs_polyagamma = pytest.mark.skipif(importlib.util.find_spec("polyagamma") is None, reason="needs polyagamma")
SHORT = {"chains": 2, "warmup": 20, "max_draws": 60, "target_ess": 1e9, "random_state": 3}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = sparse.random(40, 12, density=0.4, random_state=1, format="csc")
    Y = np.stack([X @ rng.normal(0, 2, 12) + rng.normal(size=40) > 0, rng.random(40) < 0.3], axis=1)
    prior = make_prior("laplace", 1.0)
    return Problem(X, np.where(Y, 1.0, -1.0), make_link("probit"), prior, make_prior("laplace", np.inf))


def test_same_seed_same_draws_whatever_the_threads(problem):
    one, two, other = (
        Gibbs(**SHORT | {"random_state": seed, "n_jobs": jobs}).run(problem) for seed, jobs in ((3, 1), (3, 2), (4, 2))
    )
    for label in range(2):
        np.testing.assert_array_equal(one.draws.labels[label].weights, two.draws.labels[label].weights)
        np.testing.assert_array_equal(one.draws.labels[label].intercept, two.draws.labels[label].intercept)
        assert (one.draws.labels[label].weights != other.draws.labels[label].weights).all()
    chains = one.draws.labels[0].weights
    assert (chains[0] != chains[1]).all()
    assert (one.draws.labels[0].weights != one.draws.labels[1].weights).all()


@pytest.mark.filterwarnings("ignore:the sampled scale")  # words separate the first label
@pytest.mark.parametrize(
    ("link", "prior", "more"),
    [
        ("student_t:df=4", "horseshoe", {"sample_scale": True}),
        ("flip:rate=0.05,base=probit", "student_t", {"method": "sweeps"}),
        ("skew_t:df=4,skew=2", "elastic_net", {}),
        ("probit", "gaussian", {"method": "documents"}),
        ("probit", "laplace", {"method": "words", "factors": np.full((12, 1), 0.5)}),
        pytest.param("logit", "laplace", {}, marks=needs_polyagamma),
        pytest.param("logit", "laplace", {"label_replicates": 9}, marks=needs_polyagamma),
    ],
)
def test_threads_do_not_matter_to_any_sampler(problem, link, prior, more):
    given = problem._replace(
        link=make_link(link), prior=make_prior(prior, 1.0), intercept_prior=make_prior("gaussian", 3.0)
    )
    one, two = (Gibbs(**SHORT | more, n_jobs=jobs).run(given).draws.labels for jobs in (1, 2))
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first.weights, second.weights)
        np.testing.assert_array_equal(first.global_scale, second.global_scale)


def test_another_process_with_more_threads_of_linear_algebra_draws_the_same():
    """Joint draws factor a matrix that two threads would factor otherwise."""
    code = (
        "import hashlib, sys, numpy as np; from scipy import sparse\n"
        "from textbayes.inference import Problem; from textbayes.inference.gibbs import Gibbs\n"
        "from textbayes.links import make_link; from textbayes.priors import make_prior\n"
        "X = sparse.random(200, 300, density=0.2, random_state=1, format='csc')\n"
        "y = np.random.default_rng(0).choice([-1.0, 1.0], (200, 1))\n"
        "given = Problem(X, y, make_link('probit'), make_prior('laplace', 1.0), make_prior('gaussian', 2.0))\n"
        "draws = Gibbs(n_jobs=int(sys.argv[1]), chains=2, warmup=2, max_draws=6, method='documents').run(given).draws\n"
        "print(hashlib.sha256(draws.labels[0].weights.tobytes()).hexdigest())"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code, threads],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True, text=True, check=True,
        ).stdout
        for threads in ("1", "2")
    ]  # fmt: skip
    assert len(found[0].strip()) == 64
    assert found[0] == found[1]


def test_posterior_is_that_of_its_draws(problem):
    posterior = Gibbs(**SHORT).run(problem)
    flat = posterior.draws.labels[1].weights.reshape(-1, 12).astype(np.float64)
    np.testing.assert_allclose(posterior.mean[1], flat.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(posterior.var[1], flat.var(axis=0), atol=1e-12)
    assert posterior.intercept[1] == pytest.approx(posterior.draws.labels[1].intercept.mean())
    np.testing.assert_array_equal(posterior.info.n_iter, 20 + 60)
    assert not posterior.info.converged.any()


def test_draws_are_a_field_of_the_posterior(problem):
    posterior = Gibbs(**SHORT | {"max_draws": 4, "warmup": 0}).run(problem)
    assert posterior._fields[-1] == "draws"
    assert posterior._replace(var=None).draws is posterior.draws  # copies keep them
    modes = make_inference("coordinate", 1e-4, 100, 1).run(problem)
    assert modes.draws is None


def test_stops_at_the_target_and_says_whether_it_was_reached(problem):
    seen = []
    posterior = Gibbs(chains=2, target_ess=150, max_r_hat=1.05, random_state=1, progress=seen.append).run(problem)
    assert posterior.info.converged.all()
    last = {one.label: one for one in seen}
    for label in range(2):
        assert last[label].finished
        assert last[label].min_ess >= 150
        assert last[label].n_draws == posterior.draws.labels[label].weights.shape[1]
    rounds = [one.n_draws for one in seen if one.label == 0]
    assert rounds == sorted(rounds)


def test_a_target_without_end_takes_all_draws_there_may_be(problem):
    posterior = Gibbs(**SHORT | {"target_ess": np.inf}).run(problem)
    assert posterior.draws.labels[0].intercept.shape == (2, 60)
    assert not posterior.info.converged.any()


@pytest.mark.parametrize("method", ["auto", "words", "documents"])
def test_scales_too_wide_for_a_linear_system_are_swept(problem, method):
    wide = problem._replace(prior=make_prior("gaussian", 1e25), y=problem.y[:, :1])
    draws = Gibbs(**SHORT | {"method": method}).run(wide).draws
    assert np.isfinite(draws.labels[0].weights).all()
    ends = draws.probability_interval(wide.X, wide.link)
    assert all(np.isfinite(end).all() for end in (draws.probability(wide.X, wide.link), *ends))


def test_weights_beyond_single_precision_are_refused(problem):
    with pytest.raises(InputError, match="outgrew single precision"):
        Gibbs(**SHORT).run(problem._replace(prior=make_prior("gaussian", 1.0, 1e39)))


def test_a_sampled_scale_that_documents_do_not_bound_is_told_of():
    """Two words that separate the classes: P(scale > g) falls like 1/g, and no weight has a mean."""
    y = np.arange(20) % 2 == 0
    X = np.stack([y, ~y], axis=1).astype(float)
    model = BayesLinearClassifier(
        "probit", "gaussian", intercept_scale=1.0,
        inference=Gibbs(chains=2, max_draws=3000, target_ess=1e9, max_r_hat=100.0, sample_scale=True),
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X, y)
    assert any("no upper bound" in str(one.message) for one in told)
    assert np.isfinite(model.predict_proba(X)).all()


def test_thinning_keeps_every_so_many(problem):
    every = Gibbs(**SHORT).run(problem).draws.labels[0].weights
    third = Gibbs(**SHORT | {"thin": 3, "max_draws": 20}).run(problem).draws.labels[0].weights
    np.testing.assert_array_equal(third, every[:, 2::3])


def test_an_interrupted_run_resumes_as_if_it_had_not_been(problem, tmp_path):
    class Stop(Exception):
        pass

    path = tmp_path / "run.state"
    keep = Checkpoint(path)

    def stop_at_second_label(progress):
        keep(progress)
        if progress.label == 1:
            raise Stop

    settings = {"chains": 2, "warmup": 20, "max_draws": 400, "target_ess": 150, "max_r_hat": 1.5, "random_state": 3}
    with pytest.raises(Stop):
        Gibbs(**settings | {"max_draws": 100}, progress=stop_at_second_label).run(problem)
    again = Checkpoint(path)
    assert sorted(again.states()) == [0, 1]
    resumed = Gibbs(**settings, progress=again, resume=again.states()).run(problem)
    whole = Gibbs(**settings).run(problem)
    for label in range(2):
        np.testing.assert_array_equal(resumed.draws.labels[label].weights, whole.draws.labels[label].weights)
    assert [file.name for file in tmp_path.iterdir()] == ["run.state"]


def test_a_run_is_not_resumed_with_other_documents_or_settings(problem, tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.state")
    Gibbs(**SHORT, progress=checkpoint).run(problem)
    states = Checkpoint(tmp_path / "run.state").states()
    for changed in (problem._replace(y=-problem.y), problem._replace(prior=make_prior("laplace", 2.0))):
        with pytest.raises(InputError, match="other documents, settings or seed"):
            Gibbs(**SHORT, resume=states).run(changed)
    with pytest.raises(InputError, match="settings and documents it was begun with"):
        Gibbs(**SHORT | {"chains": 3}, resume=states).run(problem)


def test_a_file_that_is_no_run_is_refused(tmp_path):
    path = tmp_path / "something"
    path.write_bytes(b"not a run")
    with pytest.raises(ModelFileError, match="delete it to start anew"):
        Checkpoint(path)


def test_weights_are_repetitions(problem):
    counts = np.random.default_rng(2).integers(0, 3, 40).astype(float)
    counts[:2] = 1.0
    rows = np.repeat(np.arange(40), counts.astype(int))
    weighted = Gibbs(**SHORT).run(problem._replace(sample_weight=counts))
    repeated = Gibbs(**SHORT).run(problem._replace(X=problem.X.tocsr()[rows].tocsc(), y=problem.y[rows]))
    np.testing.assert_array_equal(weighted.mean, repeated.mean)
    with pytest.raises(NotSupportedError, match="not whole numbers"):
        Gibbs(**SHORT).run(problem._replace(sample_weight=counts + 0.5))


def test_words_restrict_a_label_to_its_own(problem):
    words = np.random.default_rng(3).random((2, 12)) < 0.5
    prior = make_prior("laplace", 1.0, np.full(12, 0.25))
    posterior = Gibbs(**SHORT).run(problem._replace(words=words, prior=prior))
    np.testing.assert_array_equal(posterior.mean[~words], 0.25)
    np.testing.assert_array_equal(posterior.var[~words], 0.0)
    assert (posterior.var[words] > 0.0).all()
    eta = posterior.draws.labels[0].predictors(problem.X.tocsr())
    full = np.full((eta.shape[1], 12), 0.25)
    full[:, words[0]] = posterior.draws.labels[0].flat
    np.testing.assert_allclose(eta, problem.X @ full.T + posterior.draws.labels[0].intercept.reshape(-1), atol=1e-5)


def test_a_label_without_positives_has_a_small_probability(problem):
    posterior = Gibbs(**SHORT).run(problem._replace(y=np.column_stack([problem.y[:, 0], -np.ones(40)])))
    np.testing.assert_array_equal(posterior.mean[1], 0.0)
    np.testing.assert_allclose(posterior.draws.probability(problem.X, problem.link)[:, 1], 0.5 / 41, rtol=1e-6)
    assert posterior.info.converged[1]


@pytest.mark.parametrize(("df", "has_posterior"), [(1.0, False), (4.0, True)])
def test_a_single_positive_that_a_heavy_tail_forgives_leaves_no_posterior(problem, df, has_posterior):
    """The likelihood of a free intercept b falls like b^(−df·positives), which must be integrable."""
    y = -np.ones((40, 1))
    y[3] = 1.0
    posterior = Gibbs(**SHORT).run(problem._replace(y=y, link=make_link(f"student_t:df={df}")))
    assert (posterior.var[0] > 0.0).all() == has_posterior
    assert np.isfinite(posterior.intercept[0])


def test_improper_posteriors_are_refused_before_anything_is_drawn(problem):
    flat = make_prior("laplace", np.where(np.arange(12) == 3, np.inf, 1.0))
    for changed in (
        {"prior": flat},
        {"prior": make_prior("gaussian", np.inf)},
        {"prior": make_prior("jeffreys", 1.0)},
        {"prior": make_prior("horseshoe", 1.0)},
        {"link": make_link("flip")},
    ):
        with pytest.raises(NotSupportedError):
            Gibbs(**SHORT).run(problem._replace(**changed))
    with pytest.raises(NotSupportedError, match="global scale"):
        Gibbs(**SHORT, sample_scale=True).run(problem)


def test_a_start_is_where_the_chains_begin(problem):
    start = Gibbs(**SHORT).run(problem)
    far = start._replace(mean=start.mean + 50.0)
    first = Gibbs(**SHORT | {"warmup": 0, "max_draws": 4}).run(problem, start)
    second = Gibbs(**SHORT | {"warmup": 0, "max_draws": 4}).run(problem, far)
    assert np.abs(second.mean).mean() > np.abs(first.mean).mean()


def _draws():
    weights = np.array([[[1.0, -2.0], [3.0, -1.0]], [[2.0, 0.05], [-1.0, -0.05]]], dtype=np.float32)
    label = LabelDraws(np.array([0, 2]), np.array([0.0, 0.3, 0.0]), weights, np.zeros((2, 2)), np.ones((2, 2)))
    return Draws([label], 3)


def test_summaries_of_draws_by_hand():
    draws = _draws()
    np.testing.assert_allclose(draws.mean(), [[1.25, 0.3, -0.75]])
    np.testing.assert_allclose(draws.sign_probability(), [[0.75, 1.0, 0.25]])
    np.testing.assert_allclose(draws.inclusion_probability(0.1), [[1.0, 1.0, 0.5]])
    low, high = draws.interval(0.5)
    np.testing.assert_allclose(low, [[0.5, 0.3, -1.25]])
    np.testing.assert_allclose(high, [[2.25, 0.3, -0.025]], rtol=1e-6)
    assert draws.ranking(0).tolist() == [0, 2, 1]
    assert draws.ranking(0, "sign").tolist() == [1, 0, 2]
    assert draws.ranking(0, "inclusion").tolist() == [0, 1, 2]
    assert repr(draws) == "Draws(1 labels, 2 chains of 2 draws, 3 words)"


def test_probabilities_are_averaged_over_draws():
    draws, link = _draws(), make_link("probit")
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    weights = draws.labels[0].flat.astype(np.float64)
    eta = np.stack([weights[:, 0], weights[:, 1] + 0.3])
    np.testing.assert_allclose(draws.probability(X, link)[:, 0], link.probability(eta).mean(axis=1), rtol=1e-6)
    low, high = draws.probability_interval(X, link, 0.5)
    np.testing.assert_allclose(low[:, 0], link.probability(np.quantile(eta, 0.25, axis=1)), rtol=1e-6)
    np.testing.assert_allclose(high[:, 0], link.probability(np.quantile(eta, 0.75, axis=1)), rtol=1e-6)


def test_state_of_draws_comes_back_and_damage_is_seen():
    draws = _draws()
    meta, arrays = to_state(draws)
    back = from_state(Draws, meta, arrays, "the draws")
    np.testing.assert_array_equal(back.mean(), draws.mean())
    for name, bad in (
        ("labels.0.columns", np.array([0, 7])),
        ("labels.0.weights", np.full((2, 2, 2), np.nan, np.float32)),
    ):
        with pytest.raises(ModelFileError, match=f"{name} has values"):
            from_state(Draws, meta, arrays | {name: bad}, "the draws")
    with pytest.raises(ModelFileError, match="its labels is missing"):
        from_state(Draws, {"n_features": 3}, arrays, "the draws")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: _draws().interval(1.0), "level=1.0"),
        (lambda: _draws().inclusion_probability(-1.0), "size=-1.0"),
        (lambda: _draws().ranking(0, "luck"), "by='luck'"),
        (lambda: _draws().probability(np.ones((2, 2)), make_link("probit")), "X has 2 words"),
        (lambda: Gibbs(chains=0), "chains=0"),
        (lambda: Gibbs(chains=2.0), "chains=2.0"),
        (lambda: Gibbs(random_state=-1), "random_state=-1"),
        (lambda: Gibbs(max_r_hat=1.0), "max_r_hat=1.0"),
        (lambda: Gibbs(method="magic"), "method='magic'"),
    ],
)
def test_what_cannot_be_used_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_signs_are_refused():
    with pytest.raises(NotSupportedError, match="use inference 'coordinate'"):
        Gibbs.check(make_link("probit"), make_prior("laplace", 1.0, 0.0, 1))
    with pytest.raises(NotSupportedError, match="improper"):
        Gibbs.check(make_link("probit"), make_prior("jeffreys", 1.0))


def test_inside_the_classifier(problem):
    """The estimator takes the object today; its posterior mean predicts what the documents say."""
    X, y = problem.X, problem.y[:, 0] > 0.0
    model = BayesLinearClassifier(
        "probit", "laplace", inference=Gibbs(chains=2, target_ess=100, max_r_hat=1.1, random_state=5)
    )
    model.fit(X, y)
    mode = BayesLinearClassifier("probit", "laplace").fit(X, y)
    agree = (model.predict(X) == mode.predict(X)).mean()
    assert agree > 0.9
    assert np.corrcoef(model.linear_predictor(X)[:, 0], mode.linear_predictor(X)[:, 0])[0, 1] > 0.95


def test_parameters_by_name_as_scikit_learn_has_them():
    sampler = Gibbs(random_state=3, target_ess=50)
    assert repr(sampler) == "Gibbs(random_state=3, target_ess=50)"
    assert sampler.get_params()["max_draws"] == 10_000
    copied = clone(sampler)
    assert copied is not sampler
    assert copied.get_params() == sampler.get_params()
    model = BayesLinearClassifier("probit", inference=sampler).set_params(inference__chains=2)
    assert model.get_params()["inference__chains"] == sampler.plan.chains == 2
    with pytest.raises(InputError, match="chains=0 is not usable"):
        sampler.set_params(chains=0)
    with pytest.raises(InputError, match="Gibbs has no parameter 'draws'"):
        sampler.set_params(draws=3)
    assert repr(BlockEm(memory=4096)) == "BlockEm(memory=4096)"

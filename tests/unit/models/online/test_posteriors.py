"""Full, diagonal and low-rank posteriors against the printed algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.models.online import (
    PAPER_FLIP,
    PAPER_LOGIT,
    PAPER_PROBIT,
    Bank,
    DiagonalPosterior,
    FullPosterior,
    LowRankPosterior,
    OnlineLikelihood,
)

LIKELIHOODS = {
    "probit": PAPER_PROBIT,
    "logit as probit": PAPER_LOGIT,
    "flip": PAPER_FLIP,
    "soft flip": OnlineLikelihood("flip:rate=0.05,base=probit", 0.5),
    "logit": OnlineLikelihood("logit", 0.7),
    "student": OnlineLikelihood("student_t:df=4"),
}
SMOOTH = ("probit", "logit as probit", "logit")  # log-concave: the posterior only ever narrows


def start(kind, n_words, **prior):
    if kind == "full":
        return FullPosterior.start(range(n_words), **prior)
    if kind == "diagonal":
        return DiagonalPosterior.start(n_words, **prior)
    return LowRankPosterior.start(range(n_words), rank=400, **prior)


def spread(posterior):
    return posterior.var[:, 0] if isinstance(posterior, DiagonalPosterior) else posterior.cov


def centre(posterior):
    return posterior.mean[:, 0] if isinstance(posterior, DiagonalPosterior) else posterior.mean


# Where label noise widens the posterior a low-rank one moves its mean only: it is compared where that cannot happen.
PAIRS = [(kind, name) for kind in ("full", "diagonal", "low-rank") for name in LIKELIHOODS]
PAIRS = [(kind, name) for kind, name in PAIRS if kind != "low-rank" or name in SMOOTH]


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_equals_the_printed_algorithm(documents, by_reference, kind, name):
    X, y = documents()
    likelihood = LIKELIHOODS[name]
    posterior, info = start(kind, 15, variance=1.3, bias_variance=0.6).learn(X, y, likelihood, passes=3)
    wanted = by_reference(X, y[:, 0], likelihood, 3, 1.3, 0.6, diagonal=kind == "diagonal")
    found = centre(posterior), spread(posterior), info.log_evidence[:, 0], info.log_prob[:, 0]
    for ours, exact in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, exact, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("kind", "name"), [pair for pair in PAIRS if pair[1] in ("probit", "flip", "logit")])
def test_drift_before_each_document(documents, by_reference, kind, name):
    X, y = documents(30, 6)
    likelihood = LIKELIHOODS[name]
    posterior, _ = start(kind, 6, variance=1.3, bias_variance=0.6).learn(X, y, likelihood, forgetting_factor=0.9)
    wanted = by_reference(X, y[:, 0], likelihood, 1, 1.3, 0.6, 0.9, kind == "diagonal")
    np.testing.assert_allclose(centre(posterior), wanted[0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(spread(posterior), wanted[1], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["full", "diagonal", "low-rank"])
def test_a_prior_does_not_drift_and_all_is_forgotten_in_the_end(documents, kind):
    X, y = documents()
    prior = start(kind, 15, variance=1.3, bias_variance=0.6, mean=0.2)
    same = prior.drift(0.5)
    learnt, _ = prior.learn(X, y, PAPER_PROBIT)
    forgotten = learnt.drift(1e-9)
    for other in (same, forgotten):
        np.testing.assert_allclose(centre(other), centre(prior), atol=1e-8)
        np.testing.assert_allclose(spread(other), spread(prior), atol=1e-8)
    assert not np.allclose(centre(learnt), centre(prior), atol=0.1)


@pytest.mark.parametrize("kind", ["full", "diagonal", "low-rank"])
def test_the_original_is_left_alone_unless_in_place(documents, kind):
    X, y = documents()
    prior = start(kind, 15)
    before = prior.predict(X)
    learnt, _ = prior.learn(X, y, PAPER_PROBIT)
    np.testing.assert_array_equal(prior.predict(X), before)
    same, _ = prior.learn(X, y, PAPER_PROBIT, in_place=True)
    assert same is prior
    np.testing.assert_array_equal(prior.predict(X), learnt.predict(X))


@pytest.mark.parametrize("kind", ["full", "diagonal", "low-rank"])
def test_one_call_or_many_are_the_same(documents, kind):
    X, y = documents()
    together, info = start(kind, 15).learn(X, y, PAPER_PROBIT)
    alone, log_prob = start(kind, 15), []
    for i in range(X.shape[0]):
        alone, one = alone.learn(X[i], y[i], PAPER_PROBIT)
        log_prob.append(one.log_prob[0])
    np.testing.assert_allclose(centre(alone), centre(together), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(spread(alone), spread(together), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(log_prob, info.log_prob, rtol=1e-9, atol=1e-12)


def test_prediction_is_that_of_the_weights(documents):
    X, y = documents()
    dense = np.hstack([np.ones((60, 1)), X.toarray()])
    for kind in ("full", "diagonal", "low-rank"):
        posterior, _ = start(kind, 15).learn(X, y, PAPER_PROBIT)
        cov = np.diag(spread(posterior)) if kind == "diagonal" else spread(posterior)
        mean, var = posterior.predict(X)
        np.testing.assert_allclose(mean[:, 0], dense @ centre(posterior), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(var[:, 0], np.einsum("ij,jk,ik->i", dense, cov, dense), rtol=1e-9)


def test_words_that_join_later_were_there_all_along(documents):
    """A word that no document has had so far is still at its prior: growing is the same as having known it."""
    X, y = documents(40, 10)
    X = X.tolil()
    X[:20, 6:] = 0.0
    X = X.tocsr()
    y = y[:, 0]
    for known, grown in [
        (FullPosterior.start(range(10)), FullPosterior.start(range(6))),
        (LowRankPosterior.start(range(10), 50), LowRankPosterior.start(range(6), 50)),
    ]:
        known, _ = known.learn(X, y, PAPER_PROBIT)
        grown, _ = grown.learn(X[:20], y[:20], PAPER_PROBIT)
        grown = grown.grow([3, 6, 7, 8, 9])  # 3 is known already
        np.testing.assert_array_equal(grown.words, range(10))
        grown, _ = grown.learn(X[20:], y[20:], PAPER_PROBIT)
        np.testing.assert_allclose(grown.mean, known.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(grown.cov, known.cov, rtol=1e-9, atol=1e-12)
    known, _ = DiagonalPosterior.start(10).learn(X, y, PAPER_PROBIT)
    grown, _ = DiagonalPosterior.start(6).learn(X[:20, :6], y[:20], PAPER_PROBIT)
    grown, _ = grown.grow(10).learn(X[20:], y[20:], PAPER_PROBIT)
    np.testing.assert_allclose(grown.mean, known.mean, rtol=1e-9, atol=1e-12)


def test_words_in_any_order_and_a_prior_for_each(documents):
    X, y = documents()
    words, variance, mean = [7, 2, 11], np.array([0.5, 1.0, 2.0]), np.array([0.3, 0.0, -0.4])
    ours, _ = FullPosterior.start(words, variance, mean=mean).learn(X, y, PAPER_PROBIT)
    other, _ = FullPosterior.start(range(3), variance, mean=mean).learn(X[:, words], y, PAPER_PROBIT)
    np.testing.assert_allclose(ours.mean, other.mean, rtol=1e-10)
    mask = np.zeros(15, dtype=bool)
    mask[words] = True
    np.testing.assert_array_equal(FullPosterior.start(mask).words, sorted(words))


def test_no_variance_no_learning(documents):
    X, y = documents()
    full, _ = FullPosterior.start(range(15), bias_variance=0.0).learn(X, y, PAPER_PROBIT)
    assert full.mean[0] == 0.0
    variance = np.ones((15, 2))
    variance[3, 1] = 0.0
    diagonal, _ = DiagonalPosterior.start(15, 2, variance).learn(X, np.hstack([y, y]), PAPER_PROBIT)
    assert diagonal.mean[4, 1] == 0.0
    assert diagonal.mean[4, 0] != 0.0


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_many_labels_are_each_like_one(documents, link):
    X, y = documents(n_labels=5)
    likelihood = OnlineLikelihood(link)
    together, info = DiagonalPosterior.start(15, 5).learn(X, y, likelihood, passes=2)
    words = [np.arange(k, 15) for k in range(5)]
    bank, bank_info = Bank([FullPosterior.start(own) for own in words]).learn(X, y, likelihood, passes=2)
    mean, var = bank.predict(X)
    for k in range(5):
        one, one_info = DiagonalPosterior.start(15).learn(X, y[:, k], likelihood, passes=2)
        np.testing.assert_allclose(together.mean[:, k], one.mean[:, 0], rtol=1e-12)
        np.testing.assert_allclose(info.log_evidence[:, k], one_info.log_evidence[:, 0])
        single, single_info = FullPosterior.start(words[k]).learn(X, y[:, k], likelihood, passes=2)
        np.testing.assert_array_equal(bank[k].cov, single.cov)
        np.testing.assert_array_equal(bank_info.log_evidence[:, k], single_info.log_evidence[:, 0])
        np.testing.assert_array_equal(np.transpose([mean[:, k], var[:, k]]), np.hstack(single.predict(X)))
    assert len(list(bank)) == bank.n_labels == len(bank) == 5


def test_threads_change_nothing(documents):
    X, y = documents(n_labels=7)
    first, one = DiagonalPosterior.start(15, 7).learn(X, y, PAPER_PROBIT, passes=2, forgetting_factor=0.99)
    for n_jobs in (2, 3, 16):
        second, two = DiagonalPosterior.start(15, 7).learn(X, y, PAPER_PROBIT, 2, 0.99, n_jobs=n_jobs)
        np.testing.assert_array_equal(first.mean, second.mean)
        np.testing.assert_array_equal(first.var, second.var)
        np.testing.assert_array_equal(one.log_prob, two.log_prob)
    singles = [FullPosterior.start(range(k + 1)) for k in range(7)]
    banks = [Bank(singles, n_jobs).learn(X, y, PAPER_PROBIT, passes=2)[0] for n_jobs in (1, 2, 5)]
    for other in banks[1:]:
        np.testing.assert_array_equal(np.concatenate(other.predict(X)), np.concatenate(banks[0].predict(X)))


def test_a_bank_works_in_place(documents):
    X, y = documents(n_labels=2)
    bank = Bank([LowRankPosterior.start(range(15), 4), LowRankPosterior.start(range(5), 4)])
    other, _ = bank.learn(X, y, PAPER_PROBIT)
    same, _ = bank.learn(X, y, PAPER_PROBIT, in_place=True)
    assert same is bank
    np.testing.assert_array_equal(same.predict(X).mean, other.predict(X).mean)


@pytest.mark.parametrize("name", ["probit", "flip", "logit"])
@pytest.mark.parametrize("kind", ["full", "diagonal", "low-rank"])
def test_all_documents_on_one_side_empty_ones_and_huge_weights(kind, name):
    likelihood = LIKELIHOODS[name]
    X = sparse.csr_matrix(np.vstack([np.eye(4), np.zeros((3, 4)), 1e6 * np.ones((2, 4))]))
    for side in (-1.0, 1.0):
        posterior, info = start(kind, 4).learn(X, np.full(9, side), likelihood, passes=20)
        assert np.isfinite(centre(posterior)).all()
        assert np.isfinite(info.log_evidence).all()
        mean, var = posterior.predict(X)
        assert (var >= 0.0).all()
        assert (likelihood.predictive(mean, var) * side > 0.5 * side).all()
    contrary, _ = posterior.learn(X[-2:], [-1.0, -1.0], likelihood)
    assert np.isfinite(centre(contrary)).all()
    assert (np.linalg.eigvalsh(contrary.cov) > 0.0).all() if kind != "diagonal" else (contrary.var > 0.0).all()


def test_nothing_to_learn(documents):
    X, y = documents()
    prior = FullPosterior.start(range(15))
    for part, outcomes in [(X[:0], y[:0]), (X, np.zeros_like(y))]:
        learnt, info = prior.learn(part, outcomes, PAPER_PROBIT)
        np.testing.assert_array_equal(learnt.mean, prior.mean)
        assert info.log_evidence.tolist() == [[0.0]]


def distance(exact, mean, cov):
    """Kullback–Leibler distance of N(mean, cov) from the exact posterior."""
    precision, moved = np.linalg.inv(cov), mean - exact.mean
    scale = np.linalg.slogdet(cov)[1] - np.linalg.slogdet(exact.cov)[1]
    return 0.5 * (np.trace(precision @ exact.cov) - len(mean) + moved @ precision @ moved + scale)


def test_low_rank_lies_between_diagonal_and_full():
    rng = np.random.default_rng(0)
    X = sparse.random(200, 30, density=0.3, random_state=rng, format="csr")
    y = np.where(X @ rng.normal(0.0, 2.0, 30) - 0.5 + rng.normal(0.0, 1.6, 200) > 0.0, 1.0, -1.0)
    full, _ = FullPosterior.start(range(30)).learn(X, y, PAPER_LOGIT)
    diagonal, _ = DiagonalPosterior.start(30).learn(X, y, PAPER_LOGIT)
    distances = [distance(full, diagonal.mean[:, 0], np.diag(diagonal.var[:, 0]))]
    for rank in (1, 8, 24, 31):
        low, _ = LowRankPosterior.start(range(30), rank).learn(X, y, PAPER_LOGIT)
        assert low.n_columns <= 2 * rank
        distances.append(distance(full, low.mean, low.cov))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-10  # as many directions as weights: nothing is lost


def test_compression_keeps_the_diagonal_of_the_precision():
    rng = np.random.default_rng(0)
    low = LowRankPosterior.start(range(9), 3)
    learnt, _ = low.learn(rng.normal(size=(6, 9)), rng.choice([-1.0, 1.0], 6), PAPER_PROBIT)
    before, mean = np.linalg.inv(learnt.cov), learnt.mean
    assert learnt.n_columns == 6
    learnt._compress_if_full()
    assert learnt.n_columns == 3
    np.testing.assert_allclose(np.diag(np.linalg.inv(learnt.cov)), np.diag(before))
    np.testing.assert_allclose(learnt.mean, mean)
    root = learnt.root[:3, :3]
    factor = learnt.factor[:, :3]
    np.testing.assert_allclose(root @ root.T, np.eye(3) + factor.T @ (factor / learnt.diagonal[:, None]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, X, y: p.learn(X, y[:5], PAPER_PROBIT), "one outcome per document and label"),
        (lambda p, X, y: p.learn(X, y > 0, PAPER_PROBIT), "given as booleans"),
        (lambda p, X, y: p.learn(X, 2 * y, PAPER_PROBIT), "other than −1, 0 and \\+1"),
        (lambda p, X, y: p.learn(X, y, PAPER_PROBIT, passes=0), "passes=0"),
        (lambda p, X, y: p.learn(X, y, PAPER_PROBIT, forgetting_factor=1.1), "forgetting_factor=1.1"),
        (lambda p, X, y: p.learn(X[:, :4], y, PAPER_PROBIT), "uses column 14"),
        (lambda p, X, y: p.learn(np.where(X.toarray() > 0.5, np.nan, 0.0), y, PAPER_PROBIT), "NaN"),
        (lambda p, X, y: p.grow([-1]), "counted from 0"),
        (lambda p, X, y: p.grow([1, 1]), "more than once"),
        (lambda p, X, y: p.grow(["corn"]), "column numbers"),
        (lambda p, X, y: p.drift(0.0), "forgetting_factor=0.0"),
        (lambda p, X, y: FullPosterior.start([1], variance=-1.0), "not negative"),
        (lambda p, X, y: FullPosterior.start([1], mean=np.inf), "must be finite"),
        (lambda p, X, y: DiagonalPosterior.start(3, variance=np.nan), "not negative"),
        (lambda p, X, y: DiagonalPosterior.start(3).learn(X, y, PAPER_PROBIT), "grow the posterior first"),
        (lambda p, X, y: DiagonalPosterior.start(3).grow(2), "none can be lost"),
        (lambda p, X, y: LowRankPosterior.start([1], rank=0), "rank=0"),
        (lambda p, X, y: LowRankPosterior.start([1], bias_variance=0.0), "must be positive"),
        (lambda p, X, y: Bank([]), "at least one"),
        (lambda p, X, y: Bank([DiagonalPosterior.start(3, 2)]), "one label each"),
        (lambda p, X, y: OnlineLikelihood("probit", -1.0), "noise=-1.0"),
        (lambda p, X, y: OnlineLikelihood("logit", 0.0), "noise=0"),
    ],
)
def test_refusals(documents, call, message):
    X, y = documents()
    with pytest.raises(InputError, match=message):
        call(FullPosterior.start(range(15)), X, y)

"""The Gibbs sampler checked like an instrument, for every link × prior pair that it offers.

Simulation-based calibration: weights from the prior, outcomes from the weights, a posterior from the outcomes, 200
times; the rank of the true weight among 39 thinned draws must be uniform (χ² of 20 bins). Geweke's joint test: chains
that begin at draws of the prior and draw outcomes and weights in turn must keep the prior. 40 of them are independent
of each other, so that the t-test of their means (of bounded functions) needs no autocorrelation to be estimated. Looked
at is the smallest p-value of each kind times the number of tests (Bonferroni), which must be above 1 %. The share of
true weights within central 95 % intervals, ranks 1 to 38, is that of all pairs together.

Documents look like short texts: words in a third of them, weights of TF-IDF size, 25 documents, 6 words, an intercept.
Joint draws of all weights and sweeps take turns, so that both are tested. Pairs with "+ scale" have a sampled global
scale as well. ``--only probit/gaussian`` tests that pair alone (may be repeated); ``--seed`` does it all anew.

References: Talts, Betancourt, Simpson, Vehtari & Gelman (2018), Validating Bayesian inference algorithms with
simulation-based calibration; Geweke (2004), Getting it right, JASA 99, 799–804.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, stats

from _common import close
from textbayes.inference.gibbs.block import Design
from textbayes.inference.gibbs.chain import Chain, TargetPosterior
from textbayes.links import links, make_link
from textbayes.priors import make_prior

LEVEL, COVERAGE = 0.01, (0.93, 0.97)
N_DATA_SETS, N_RANKED, WARMUP, BINS = 200, 39, 60, 20
THIN, THIN_SLACK = 5, 15  # links without normal responses take more iterations, and shorter ones
N_CHAINS, N_SETTLE, N_JOINT = 40, 20, 180
N_DOCS, N_WORDS, SCALE, MEAN = 25, 6, 0.8, 0.2
PRIORS = ("gaussian", "laplace", "elastic_net", "student_t", "horseshoe")
# Parameters that make a link differ from the others; a link that is not named here is tested as it comes.
SPECS = {"flip": "flip:rate=0.1,base=probit", "skew_t": "skew_t:df=4,skew=2", "student_t": "student_t:df=3"}


class Pair(NamedTuple):
    """A link, a prior, and whether the global scale is sampled."""

    link: str
    prior: str
    sampled: bool = False

    @property
    def name(self) -> str:
        return f"{self.link}/{self.prior}{'+scale' if self.sampled else ''}"


class Outcome(NamedTuple):
    """p-values of one pair, and how many true weights were inside their intervals."""

    name: str
    calibration: np.ndarray
    joint: np.ndarray
    inside: float


def documents(rng: np.random.Generator) -> sparse.csc_matrix:
    X = sparse.random(
        N_DOCS, N_WORDS, density=0.35, random_state=rng, format="csc", data_rvs=lambda n: rng.gamma(2.0, 0.6, n)
    )
    return sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape)


class Truth(NamedTuple):
    """Draws of the prior: weights, the intercept's last, and the scales they were drawn with."""

    weights: np.ndarray
    precision: np.ndarray
    global_scale: np.ndarray


def from_prior(prior: Any, n: int, sampled: bool, rng: np.random.Generator) -> Truth:
    """Weights of the words and a standard normal intercept, by the definition of each family."""
    shape, precision = (n, N_WORDS), np.ones((n, N_WORDS + 1))
    if prior.name in ("student_t", "horseshoe"):
        degrees = float(np.asarray(getattr(prior, "degrees", np.inf)))
        horseshoe = prior.name == "horseshoe"
        mixing = rng.standard_cauchy(shape) ** -2.0 if horseshoe else rng.gamma(0.5 * degrees, 2.0 / degrees, shape)
        precision[:, :N_WORDS] = mixing
        standard = rng.standard_normal(shape) / np.sqrt(mixing)
    elif prior.name == "gaussian":
        standard = rng.standard_normal(shape)
    elif prior.name == "laplace":
        standard = rng.laplace(size=shape)
    else:  # elastic_net, by inversion on a fine grid
        grid = np.linspace(-15.0, 15.0, 100_001)
        ratio = float(prior.l1_ratio)
        cdf = np.cumsum(np.exp(-ratio * np.abs(grid) - 0.5 * (1.0 - ratio) * grid**2))
        standard = np.interp(rng.random(shape), cdf / cdf[-1], grid)
    scale = np.abs(rng.standard_cauchy(n)) if sampled else np.ones(n)
    weights = np.column_stack([MEAN + SCALE * scale[:, None] * standard, rng.standard_normal(n)])
    return Truth(weights, precision, scale)


class Model:
    """Link and prior of a pair, and chains of their posteriors."""

    def __init__(self, pair: Pair) -> None:
        self.link, self.prior = make_link(SPECS.get(pair.link, pair.link)), make_prior(pair.prior, SCALE, MEAN)
        self.sampled = pair.sampled

    def prior_draws(self, n: int, rng: np.random.Generator) -> Truth:
        return from_prior(self.prior, n, self.sampled, rng)

    def chain(self, X: Any, y: np.ndarray, seed: list[int]) -> Chain:
        prior = self.prior.for_label(0, N_WORDS)
        target = TargetPosterior(Design.of(X, True), y, self.link, prior, make_prior("gaussian", 1.0), self.sampled)
        return Chain(target, np.random.SeedSequence(seed), "auto", None, joint_period=2)

    @property
    def thin(self) -> int:
        return THIN_SLACK if self.link.name == "skew_t" else THIN

    def calibration(self, seed: list[int]) -> tuple[np.ndarray, float]:
        """p-values of the ranks of two weights, the intercept and a predictor; share of weights inside intervals."""
        rng = np.random.default_rng(seed)
        ranks = np.empty((N_DATA_SETS, N_WORDS + 2))
        for k, true in enumerate(self.prior_draws(N_DATA_SETS, rng).weights):
            X = documents(rng)
            probability = self.link.probability(X @ true[:-1] + true[-1])
            chain = self.chain(X, np.where(rng.random(N_DOCS) < probability, 1.0, -1.0), [*seed, k])
            chain.advance(WARMUP)
            drawn, _ = chain.advance(N_RANKED * self.thin, self.thin)
            row = np.append(X[0].toarray()[0], 1.0)
            ranks[k] = np.append((drawn < true.astype(np.float32)).sum(axis=0), (drawn @ row < true @ row).sum())
        binned = (ranks[:, [0, 1, -2, -1]] * BINS // (N_RANKED + 1)).astype(int)
        counts = [np.bincount(column, minlength=BINS) for column in binned.T]
        inside = ((ranks[:, :N_WORDS] > 0) & (ranks[:, :N_WORDS] < N_RANKED)).mean()
        return np.array([stats.chisquare(count).pvalue for count in counts]), float(inside)

    def joint(self, seed: list[int]) -> np.ndarray:
        """p-values of bounded functions of weights: of the prior, and of chains of outcomes and weights in turn."""
        rng = np.random.default_rng([*seed, 1])
        means = []
        for k, (weights, *scales) in enumerate(zip(*self.prior_draws(N_CHAINS, rng), strict=True)):
            X = documents(rng)
            chain = self.chain(X, np.ones(N_DOCS), [*seed, 1, k])
            chain.move_to(weights, *scales)
            drawn = np.empty((N_JOINT, N_WORDS + 1))
            for step in range(-N_SETTLE, N_JOINT):  # precisions of responses have their distribution only then
                chain.redraw_outcomes(rng)
                chain.step()
                if step >= 0:
                    drawn[step] = chain.weights
            means.append(functions(drawn).mean(axis=0))
        wanted = functions(self.prior_draws(200_000, rng).weights)
        spread = np.var(means, axis=0, ddof=1) / N_CHAINS + wanted.var(axis=0) / len(wanted)
        t = (np.mean(means, axis=0) - wanted.mean(axis=0)) / np.sqrt(spread)
        return 2.0 * stats.t.sf(np.abs(t), N_CHAINS - 1)


def functions(w: np.ndarray) -> np.ndarray:
    squashed = np.tanh(w)
    pairs = squashed[:, :1] * squashed[:, 1:3]
    return np.column_stack([squashed, squashed[:, [0, 1, 2, -1]] ** 2, pairs, np.abs(w[:, :3] - MEAN) < 0.2])


def test(pair: Pair, seed: int) -> Outcome:
    model = Model(pair)
    seeds = [seed, links.names().index(pair.link), PRIORS.index(pair.prior), int(pair.sampled)]
    p_values, inside = model.calibration(seeds)
    return Outcome(pair.name, p_values, model.joint(seeds), inside)


def offered() -> Iterable[Pair]:
    without = importlib.util.find_spec("polyagamma") is None
    if without:
        print("polyagamma is not installed: the logit is not among the links of this run")
    for link in links.names():
        if link != "logit" or not without:
            yield from (Pair(link, prior) for prior in PRIORS)
    yield from (Pair("probit", prior, True) for prior in PRIORS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="LINK/PRIOR", help="test this pair alone")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    pairs = [pair for pair in offered() if arguments.only is None or pair.name in arguments.only]
    if not pairs:
        parser.error(f"no pair is called {arguments.only}; they are {', '.join(pair.name for pair in offered())}")
    done = []
    with ProcessPoolExecutor(2) as pool:
        for future in as_completed([pool.submit(test, pair, arguments.seed) for pair in pairs]):
            done.append(one := future.result())
            print(
                f"{one.name:24} smallest p-value: calibration {one.calibration.min():.4f} of {len(one.calibration)}, "
                f"joint {one.joint.min():.4f} of {len(one.joint)}; 95 % intervals hold {100 * one.inside:.1f} %",
                flush=True,
            )
    worst = [min(1.0, min(part.min() for part in parts) * sum(len(part) for part in parts))
             for parts in ([one.calibration for one in done], [one.joint for one in done])]  # fmt: skip
    inside = float(np.mean([one.inside for one in done]))
    passed = min(worst) >= LEVEL and COVERAGE[0] <= inside <= COVERAGE[1]
    figures = (
        f"{len(done)} pairs, adjusted p-values calibration {worst[0]:.2f}, joint {worst[1]:.2f} (bar {LEVEL:g}); "
        f"95 % intervals hold {100 * inside:.1f} % (bar 93–97 %)"
    )
    close("gibbs correct", passed, figures)


if __name__ == "__main__":
    main()

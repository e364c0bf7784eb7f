"""The inference: targets from a problem, chains for every label, and the posterior that they make; its edge cases."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from textbayes.core.array_fields import Hyper
from textbayes.core.codec import Choice, Fields, Null, Number, Whole
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.core.validation import check_choice, check_whole
from textbayes.inference import inferences
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem
from textbayes.inference.gibbs.block import Design
from textbayes.inference.gibbs.chain import (
    INTERCEPT_SCALE,
    METHODS,
    TargetPosterior,
    check_prior,
    check_proper,
    why_improper,
)
from textbayes.inference.gibbs.factors import loadings_of, own_part
from textbayes.inference.gibbs.running import SamplingPlan, SamplingProgress, SamplingRun
from textbayes.links.base import BaseLink
from textbayes.posterior.draws import Draws, LabelDraws
from textbayes.priors.base import BasePrior

_MOST_COUNTS = 1e6  # beyond it the Pólya–Gamma draws of the package lose their digits, and at 10⁹ they never return
_UNBOUNDED = 100.0  # largest global scale over the median: hundreds of draws of a half-Cauchy tail get there, no others


def constant_draws(
    link: BaseLink, y: FloatArray, counts: IntArray | None, elsewhere: FloatArray, chains: int
) -> LabelDraws:
    """Draws that are all alike, of a label that has no posterior; its words are at the means ``elsewhere``."""
    times = np.ones(len(y)) if counts is None else counts
    share = (times[y > 0.0].sum() + 0.5) / (times.sum() + 1.0)
    low, high = -1e4, 1e4
    for _ in range(100):  # where the link has this probability
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(link.probability(np.array([middle]))[0]) < share else (low, middle)
    shape = (chains, 1)
    nothing = np.zeros((*shape, 0), dtype=np.float32)
    return LabelDraws(np.zeros(0, np.int64), elsewhere, nothing, np.full(shape, low), np.ones(shape))


def warn_if_unbounded(scales: FloatArray, label: int) -> None:
    """Say so where documents do not bound the global scale from above: its tail then is the half-Cauchy's, 1/g."""
    largest, usual = float(scales.max()), float(np.median(scales))
    if largest > _UNBOUNDED * usual:
        warnings.warn(
            f"the sampled scale of label {label} is {usual:.2g} at its median and up to {largest:.2g}: it "
            "seems that words tell these documents apart without error, which leaves it no upper bound, and weights no "
            "mean; read medians and intervals, or fix the scale (sample_scale=False)",
            ConvergenceWarning,
            stacklevel=4,
        )


def one_sided(y: FloatArray) -> bool:
    """Whether all documents are on one side."""
    return bool((y > 0.0).all() or (y < 0.0).all())


def too_few(link: BaseLink, y: FloatArray) -> bool:
    """Whether outliers are forgiven so much that a free intercept has no posterior: its tail is b^(−α·documents)."""
    fewest = min(np.count_nonzero(y > 0.0), np.count_nonzero(y < 0.0))
    return bool(fewest * link.tail_index <= 1.0)


def check_replicates(problem: Problem, label_replicates: int) -> None:
    """Refuse what has no meaning for labels that are taken several times."""
    if not problem.link.counts_in_latent:
        raise NotSupportedError(
            f"label_replicates={label_replicates} with link {problem.link.name!r} is not supported: the log-odds of a "
            "label that is given several times are a multiple of those of one with the link 'logit' alone; use that, "
            "or label_replicates=1"
        )
    if np.any(problem.prior.mean) or (problem.intercept_prior is not None and np.any(problem.intercept_prior.mean)):
        raise NotSupportedError(
            f"label_replicates={label_replicates} with prior means other than 0 is not supported: what is known of "
            "labels is not known of each replicate; use a prior without means (no prior file), or label_replicates=1"
        )


def whole_counts(weight: FloatArray | None, label_replicates: int) -> IntArray | None:
    """Number of times each document counts, as its weight says; None where all count once."""
    heaviest = 1.0 if weight is None else float(weight.max(initial=1.0))
    if label_replicates > _MOST_COUNTS / heaviest:
        raise InputError(
            f"a document has the sample weight {heaviest:g}, for each of label_replicates={label_replicates}; the "
            f"sampler takes {_MOST_COUNTS:,.0f} in all at most, so make them fewer"
        )
    if weight is None or bool((weight == 1.0).all()):
        return None
    counts = np.rint(weight)
    if not np.array_equal(counts, weight):
        raise NotSupportedError(
            "inference 'gibbs' takes documents once, several times or not at all, and some sample weights are not "
            "whole numbers; round them, or use inference 'coordinate'"
        )
    return counts.astype(np.int64)


State = tuple[dict[str, Any], dict[str, AnyArray]]


@inferences.register("gibbs")
class Gibbs(BaseInference):
    """Draws of the whole posterior instead of its mode, by Gibbs sampling with interwoven sweeps over the words.

    Every link (probit, logit and student_t mix best, having normal responses); priors gaussian, laplace, elastic_net,
    student_t and horseshoe, or several by word, with any means and scales. ``mean`` of the posterior is the posterior
    mean; ``Posterior.draws`` has the rest. The same ``random_state`` gives the same draws whatever ``n_jobs`` is.

    Parameters
    ----------
    tol, max_iter
        Of no meaning here; every inference takes them.
    n_jobs : int
        Threads over chains.
    chains : int
    warmup : int
        Iterations of every chain that are thrown away first.
    target_ess : float
        Draw until every weight and predictor watched has so large an effective sample size, and ``max_r_hat`` holds.
    max_r_hat : float
        Largest split R-hat (rank-normalised) of a run that has converged.
    max_draws : int
        Draws stored of every chain at most.
    thin : int
        Keep one iteration in so many.
    random_state : int
        The same one gives the same draws.
    sample_scale : bool
        Multiply all words' scales by a global one that is half-Cauchy and sampled as well.
    method : {"auto", "sweeps", "words", "documents"}
        How weights are drawn, see ``Chain``.
    factors : int or array (n_features, k), optional
        A prior covariance between words: loadings on k factors that they share, or k itself, and the loadings are those
        that ``cooccurrence_factors`` finds in the documents fitted.
    label_replicates : int
        Every label is taken for one that so many independent judges agree on, see Notes; for the logit link.
    progress : callable, optional
        Called with a ``SamplingProgress`` after every round of draws: a display, or a checkpoint
        (``store.checkpoint``).
    resume : mapping of label to state, optional
        States that ``SamplingProgress`` offered; runs go on from there as if they had never stopped.

    Notes
    -----
    An iteration costs O(non-zeros) per chain; memory is 4 bytes per weight, draw, chain and label. A label whose
    documents are all on one side, with a free intercept, has no posterior: as in every inference half a document is
    added to either side and its words stay at their prior means, in all draws alike.

    Under priors with tails as heavy as the horseshoe's, a word that separates the classes all by itself has a posterior
    without a mean (Ghosh, Li & Mitra 2018, Bayesian Analysis 13); intervals exist all the same. Where any of several
    words could separate them, such a posterior has a mode for each, between which chains rarely go: R-hat and effective
    sample sizes say so (``benchmarks/bench_gibbs_speed.py`` prints how slow that is beside a Laplace prior).

    With ``factors`` the weights of words that go together in documents go together a priori; see ``factors.py``.

    With ``label_replicates`` S > 1, labels are beyond doubt: S judges who decide independently, each by the log-odds
    eta, said the same, which has the likelihood σ(y·eta)^S. Where they agree on a new document, its label has the log-
    odds S·eta: draws are of S times the weights, so that they are log-odds of labels as ever. The prior is that of
    one judge's weights, and its means must be 0: what is known of labels is not known of one judge. Where words are
    many and documents few, plain likelihoods make averaged probabilities too cautious, as if every document fitted
    might have got the other label; this makes up for it. That a new document will be agreed on is not taken for news of
    the weights.

    References
    ----------
    Albert & Chib (1993), JASA 88; Hans (2009), Biometrika 96; Damien, Wakefield & Walker (1999), JRSS B 61; Yu & Meng
    (2011), JCGS 20; Bhattacharya, Chakraborty & Mallick (2016), Biometrika 103; Aitchison (2021), A statistical theory
    of cold posteriors in deep neural networks, ICLR (replicates).

    Examples
    --------
    >>> import numpy as np
    >>> from textbayes import BayesLinearClassifier
    >>> X = np.array([[0.0, 1.0], [0.2, 1.0], [1.0, 0.0], [1.0, 0.3]])
    >>> model = BayesLinearClassifier("probit", prior="laplace", inference=Gibbs(random_state=1))
    >>> bool(model.fit(X, [0, 0, 1, 1]).coef_[0, 0] > 0.0)
    True
    """

    name = "gibbs"
    fields: ClassVar[Fields] = {
        "chains": Whole(1, 10_000),
        "warmup": Whole(0, 10**9),
        "target_ess": Number(above=0.0, infinite=True),
        "max_r_hat": Number(above=1.0, infinite=True),
        "max_draws": Whole(4, 10**9),
        "thin": Whole(1, 10**9),
        "random_state": Whole(0, 2**63 - 1),
        "method": Choice(*METHODS),
        "factors": Whole(1) | Hyper() | Null(),
        "label_replicates": Whole(1, 10**9),
        "progress": None,  # of one run
        "resume": None,
    }
    samples = True

    def __init__(
        self,
        tol: float = 1e-4,
        max_iter: int = 100,
        n_jobs: int = 1,
        *,
        chains: int = 4,
        warmup: int = 200,
        target_ess: float = 400.0,
        max_r_hat: float = 1.01,
        max_draws: int = 10_000,
        thin: int = 1,
        random_state: int = 0,
        sample_scale: bool = False,
        method: str = "auto",
        factors: FloatArray | int | None = None,
        label_replicates: int = 1,
        progress: Callable[[SamplingProgress], None] | None = None,
        resume: Mapping[int, State] | None = None,
    ) -> None:
        super().__init__(tol, max_iter, n_jobs)
        self.chains, self.warmup, self.max_draws, self.thin = chains, warmup, max_draws, thin
        self.target_ess, self.max_r_hat = target_ess, max_r_hat
        self.random_state, self.sample_scale, self.method = random_state, sample_scale, method
        self.factors, self.label_replicates = factors, label_replicates
        self.progress, self.resume = progress, resume
        self._check_settings()

    def set_params(self, **params: Any) -> Self:
        """Change parameters; values that cannot be used are refused."""
        changed = super().set_params(**params)
        self._check_settings()
        return changed

    def _check_settings(self) -> None:
        least = {"chains": 1, "warmup": 0, "max_draws": 4, "thin": 1, "label_replicates": 1, "random_state": 0}
        for name, value in least.items():
            check_whole(name, getattr(self, name), value)
        if not self.target_ess > 0.0:
            raise InputError(f"target_ess={self.target_ess!r} is not usable; pass a positive number, such as 400")
        if not self.max_r_hat > 1.0:
            raise InputError(f"max_r_hat={self.max_r_hat!r} is not usable; pass a number above 1, such as 1.01")
        check_choice("method", self.method, METHODS)

    @property
    def plan(self) -> SamplingPlan:
        """Lengths of a run and its stopping rule."""
        return SamplingPlan(*(getattr(self, name) for name in SamplingPlan._fields))

    @property
    def plain_settings(self) -> dict[str, Any]:
        """Settings beside the plan that decide the draws, as numbers and words that can be written down."""
        factors = self.factors if self.factors is None else np.asarray(self.factors).tolist()
        return {
            "random_state": self.random_state, "sample_scale": self.sample_scale, "method": self.method,
            "factors": factors, "label_replicates": self.label_replicates,
        }  # fmt: skip

    @classmethod
    def check(cls, link: BaseLink, prior: BasePrior) -> None:
        super().check(link, prior)
        if link.for_label(0) is not link:
            raise NotSupportedError(
                f"inference {cls.name!r} draws all labels with one link, and each has its own; name one link (--link), "
                "or use inference 'coordinate'"
            )
        check_prior(prior)

    def intercept_scale(self, link: BaseLink, prior: BasePrior) -> float:
        return np.inf if why_improper(link, prior, self.sample_scale) is None else float(INTERCEPT_SCALE)

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        self.check(problem.link, problem.prior)
        check_proper(problem.link, problem.prior, problem.intercept_prior, self.sample_scale)
        if self.label_replicates > 1:
            check_replicates(problem, self.label_replicates)
        problem, counts = counted(problem, self.label_replicates)
        labels, ends = [], []
        # One BLAS thread: results of two need not be the same to the last bit.
        with threadpool_limits(1), ThreadPoolExecutor(max_workers=self.n_jobs) as pool:
            for label in range(problem.y.shape[1]):
                drawn, end = self._label(problem, counts, label, start, pool)
                labels.append(drawn)
                ends.append(end)
        draws = Draws(labels, problem.X.shape[1])
        columns = [np.array(column) for column in zip(*ends, strict=True)]
        info = FitInfo(columns[0], columns[1], columns[2].astype(np.int64), columns[3].astype(np.bool_))
        return Posterior(draws.mean(), draws.intercept(), draws.variance(), info, draws)

    def _label(
        self, problem: Problem, counts: IntArray | None, label: int, start: Posterior | None, pool: ThreadPoolExecutor
    ) -> tuple[LabelDraws, tuple[float, float, int, bool]]:
        X, y = problem.X, np.ascontiguousarray(problem.y[:, label])
        n_features = X.shape[1]
        prior = problem.prior.for_label(label, n_features)
        elsewhere = np.array(np.broadcast_to(prior.mean, (n_features,)))
        columns: IntArray = np.arange(n_features) if problem.words is None else np.flatnonzero(problem.words[label])
        of_intercept = problem.intercept_prior_of(label)
        free = of_intercept is not None and bool(np.isinf(of_intercept.scale).any())
        if free and (one_sided(y) or too_few(problem.link, y)):
            return constant_draws(problem.link, y, counts, elsewhere, self.plan.chains), (0.0, 0.0, 0, True)
        of_words = None if self.factors is None else loadings_of(self.factors, X, columns, counts)
        if self.label_replicates > 1:
            counts = self.label_replicates * (np.ones(len(y), dtype=np.int64) if counts is None else counts)
        base = None
        if problem.words is not None:
            base = np.asarray(X @ np.where(problem.words[label], 0.0, prior.mean))
            prior = prior.take(columns)
        loadings, own = None, prior
        if of_words is not None:
            loadings, own = prior.scale[:, None] * of_words, own_part(prior, of_words)
        target = TargetPosterior(
            Design.of(X if problem.words is None else X[:, columns], of_intercept is not None),
            y, problem.link, own, of_intercept, self.sample_scale, loadings, counts, base,
        )  # fmt: skip
        at = None
        if start is not None:
            at = np.append(start.mean[label][columns], start.intercept[label])[: target.design.n_columns]
            at = at / self.label_replicates
        seeds = np.random.SeedSequence([self.random_state, label]).spawn(self.plan.chains)
        run = SamplingRun(target, seeds, self.plan, self.method, at)
        self.finish(run, label, self.fingerprint(target), pool)
        weights, scales = run.draws()
        if self.sample_scale:
            warn_if_unbounded(scales, label)
        with_intercept = problem.intercept_prior is not None
        n_words = len(columns)
        mean = weights.mean(axis=(0, 1), dtype=np.float64)
        log_prob = target.link.log_prob(target.design.times(mean) + (0.0 if base is None else base), y)
        objective = float(
            prior.penalty(mean[:n_words]).sum() - (log_prob if counts is None else counts * log_prob).sum()
        )
        weights = weights if self.label_replicates == 1 else self.label_replicates * weights
        intercept = weights[:, :, n_words].astype(np.float64) if with_intercept else np.zeros(weights.shape[:2])
        drawn = LabelDraws(columns, elsewhere, np.ascontiguousarray(weights[:, :, :n_words]), intercept, scales)
        n_iter = self.plan.warmup + self.plan.thin * run.n_draws
        return drawn, (objective, run.max_r_hat - 1.0, n_iter, run.converged)

    def finish(
        self, run: SamplingRun, label: int, fingerprint: str, pool: ThreadPoolExecutor, together: bool = False
    ) -> None:
        """Go on from where the run was left, if it is to be resumed, and draw until it is finished."""
        if self.resume is not None and label in self.resume:
            meta, arrays = self.resume[label]
            if meta["fingerprint"] != fingerprint:
                raise InputError(
                    f"the run to resume for label {label} was one of other documents, settings or seed; start anew, or "
                    "pass what it was begun with"
                )
            run.restore(meta, arrays)
        while not run.finished:
            run.round(pool)
            if self.progress is not None:
                stands = run.n_draws, run.min_ess, run.max_r_hat, run.finished
                self.progress(SamplingProgress(label, *stands, _state(run, fingerprint), together))

    def fingerprint(self, target: TargetPosterior) -> str:
        """Of all that decides what is drawn."""
        digest = hashlib.sha256(f"{self.random_state} {self.method} {self.sample_scale} {target.link.spec}".encode())
        of_intercept = target.intercept_prior
        priors = [target.prior] if of_intercept is None else [target.prior, of_intercept]
        values = [value for prior in priors for value in vars(prior).values()]
        values += [given for given in (target.loadings, target.counts, target.base) if given is not None]
        for array in (*target.design[:3], target.y, *values):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(" ".join(prior.name for prior in priors).encode())
        return digest.hexdigest()


def counted(problem: Problem, label_replicates: int) -> tuple[Problem, IntArray | None]:
    """Repeat documents as often as their weights say, or count them where the link takes counts."""
    counts = whole_counts(problem.sample_weight, label_replicates)
    if counts is None:
        return problem, None
    takes_counts = problem.link.counts_in_latent
    rows = np.repeat(np.arange(len(counts)), np.minimum(counts, 1) if takes_counts else counts)
    X = sparse.csc_matrix(problem.X.tocsr()[rows])
    return problem._replace(X=X, y=problem.y[rows], sample_weight=None), counts[rows] if takes_counts else None


def _state(run: SamplingRun, mark: str) -> Callable[[], State]:
    def get() -> State:
        meta, arrays = run.state()
        return meta | {"fingerprint": mark}, arrays

    return get

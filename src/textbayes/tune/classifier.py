"""BayesLinearClassifier that finds the scale of its prior, and the link of every label."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from textbayes.core.array_fields import Hyper
from textbayes.core.codec import Choice, Fields, List, Null, Number, Whole
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.machine import n_threads
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.core.validation import check_choice, check_positive
from textbayes.inference import Posterior, Problem
from textbayes.links import BaseLink, make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import BasePrior, make_prior
from textbayes.tune.path import scaled
from textbayes.tune.search import Errors, Rule, Scoring, factor_grid, norm_scale, search_scale


class BayesLinearClassifierCV(BayesLinearClassifier):
    """``BayesLinearClassifier`` with the scale of its prior chosen by the data, then fitted to all documents.

    Parameters
    ----------
    link : str or link
        As in ``BayesLinearClassifier``, or ``"auto"``: for each label the link, with its scale, of lowest held-out loss
        among logit, probit, Student-t and skewed Student-t links (``textbayes.tune.search_link``); by ``method="cv"``.
        ``"auto:df=[1,8],skew=[0.5,1,2]"`` is among skewed Student-t links of these degrees of freedom and skews.
    prior, mean, sign, inference, fit_intercept, intercept_scale, intercept_mean, intervals :
    tol, max_iter, n_jobs :
        As in ``BayesLinearClassifier``; ``tol`` is that of the last fit. Where ``prior`` is an object, scales are
        multiples of its own.
    scales : int or array
        How many scales to try, from the widest that holds every weight at its prior mean (see
        ``textbayes.tune.factor_grid``), or the scales themselves: (n_scales,) or (n_scales, n_labels), growing.
    method : "cv", "evidence" or "norm"
        ``"cv"`` cross-validates along a path of warm-started fits. ``"evidence"`` maximises the marginal likelihood in
        Laplace's approximation; no folds. ``"norm"`` takes BBR's default, from the lengths of the documents alone.
    cv : int, share, array of fold numbers, splitter or iterable of (train, test)
        For ``method="cv"``. An int makes folds with the positives of every label spread evenly; a share between 0 and 1
        of the documents is a validation set, drawn in the same way.
    scoring : "log_loss" or "f1"
        What the folds are judged by; F1 at probability ½, and of equal F1 the log-loss.
    rule : "best" or "one_se"
        The best scale, or the narrowest within one standard error of it: fewer words, and hardly worse.
    per_label : bool
        A scale for each label, or one for all.
    errors : "documents" or "folds"
        What standard errors are over.
    search_tol : float
        Tolerance of the fits along the path, see ``textbayes.tune.regularisation_path``.
    random_state : int or None
        Of the folds.

    Attributes
    ----------
    scale_ : array (n_columns,)
        The scale chosen for each label.
    link_ : link
        That of the labels; with ``link="auto"`` one for each.
    search_ : ScaleSearch, EvidenceSearch, LinkSearch or None
        What it was chosen from: grid, losses with standard errors or log evidence, held-out linear predictors.

    and those of ``BayesLinearClassifier``.

    Notes
    -----
    A value for each label fits labels of different sizes, but is chosen on its few positives where a label is rare.

    Each label's loss is its own, against all others. Where classes exclude each other and only their normalised
    probabilities count, a grid search by their log-loss finds wider scales, which are better for these.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 20))
    >>> y = X[:, 0] + rng.logistic(size=200) > 0
    >>> model = BayesLinearClassifierCV(rule="one_se").fit(X, y)
    >>> model.search_.loss.shape, np.flatnonzero(model.coef_[0]).tolist()
    ((10, 1), [0])
    """

    scale = 1.0  # what the parent knows as a parameter, and is found
    word_scales = shared_scale = None

    fields: ClassVar[Fields] = {
        "scale": None,
        "warm_start": None,
        "word_scales": None,
        "shared_scale": None,
        "scales": Whole(1, 10_000) | Hyper(above=0.0) | List(Number(above=0.0), least=1),
        "method": Choice("cv", "evidence", "norm"),
        "cv": Whole(2, 2**31) | Hyper() | List(Whole(), least=1),
        "scoring": Choice("log_loss", "f1"),
        "rule": Choice("best", "one_se"),
        "errors": Choice("documents", "folds"),
        "search_tol": Number(above=0.0),
        "random_state": Whole(0, 2**63 - 1) | Null(),
    }

    def __init__(
        self,
        link: str | BaseLink = "logit",
        prior: str | BasePrior = "laplace",
        scales: Any = 10,
        method: Literal["cv", "evidence", "norm"] = "cv",
        cv: Any = 5,
        scoring: Scoring = "log_loss",
        rule: Rule = "best",
        per_label: bool = True,
        errors: Errors = "documents",
        mean: float | AnyArray = 0.0,
        sign: int | AnyArray = 0,
        inference: Any = "coordinate",
        fit_intercept: bool = True,
        intercept_scale: float | str | AnyArray = "auto",
        intercept_mean: float | AnyArray = 0.0,
        tol: float = 1e-4,
        search_tol: float = 1e-2,
        max_iter: int = 100,
        n_jobs: int | None = None,
        intervals: bool = False,
        random_state: int | None = 0,
        class_weight: str | dict[Any, float] | None = None,
    ) -> None:
        self.link = link
        self.prior = prior
        self.scales = scales
        self.method = method
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.per_label = per_label
        self.errors = errors
        self.mean = mean
        self.sign = sign
        self.inference = inference
        self.fit_intercept = fit_intercept
        self.intercept_scale = intercept_scale
        self.intercept_mean = intercept_mean
        self.tol = tol
        self.search_tol = search_tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.intervals = intervals
        self.random_state = random_state
        self.class_weight = class_weight

    @all_or_nothing
    def fit(
        self,
        X: Matrix | ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        words: ArrayLike | None = None,
        groups: Iterable[Hashable] | None = None,
    ) -> Self:
        """Find the scale and fit, as :meth:`BayesLinearClassifier.fit` does.

        Parameters
        ----------
        X, y, sample_weight, words
            As for ``BayesLinearClassifier``.
        groups : sequence of n_docs values, optional
            Documents of one group (an author, copies of one text) share a fold.
        """
        self._groups = groups
        super().fit(X, y, sample_weight, words)
        del self._groups
        return self

    def _problem(self, X: Any, indicator: AnyArray, weight: FloatArray | None, words: Any) -> Problem:
        self.link_ = make_link("logit" if self._searches_link() else self.link)
        return super()._problem(X, indicator, weight, words)

    def _link(self) -> BaseLink:
        return self.link_

    @classmethod
    def from_name(cls, **parameters: Any) -> Self:
        """A classifier that looks for links and scales for texts of length one; a ``scale`` is the only one tried."""
        fixed = {"scales": [parameters.pop("scale")]} if "scale" in parameters else {}
        return super(BayesLinearClassifier, cls).from_name(**({"tol": 1e-3} | fixed | parameters))

    def check_shapes(self, n_columns: int, n_features: int) -> None:
        """Refuse parameters that cannot be fitted to so many columns and features."""
        if isinstance(self.cv, np.ndarray):
            self.set_params(cv=self.cv.astype(np.int64))  # the fold of every document
        super().check_shapes(n_columns, n_features)

    def _scale_description(self) -> str:
        return f", its scale found by {self.method}"

    def _begin(self, problem: Problem) -> tuple[Problem, Posterior | None]:
        """The problem at the links and scales that the search finds, and the weights that it found there."""
        self.search_, self.scale_, start = self._search(problem)
        return problem._replace(link=self.link_, prior=scaled(problem.prior, self.scale_)), start

    def _search(self, problem: Problem) -> tuple[Any, FloatArray, Posterior | None]:
        n_labels, jobs = problem.y.shape[1], n_threads(self.n_jobs)
        if self._searches_link():
            from textbayes.tune.links import candidate_links, search_link

            links = search_link(
                problem, candidate_links(str(self.link)), self.scales, self.cv, self.scoring, self.rule,
                self.random_state, per_label=self.per_label, errors=self.errors, inference=self.inference,
                tol=self.search_tol, max_iter=self.max_iter, n_jobs=jobs, groups=self._groups,
            )  # fmt: skip
            self.link_ = make_link(";".join(link for link, _ in links.chosen()))
            return links, np.array([factor for _, factor in links.chosen()]), None
        if self.method == "norm":
            if not isinstance(self.prior, str):
                raise NotSupportedError("method='norm' gives the scale itself; name the prior instead of passing one")
            return None, np.full(n_labels, norm_scale(problem.X, self.prior, problem.sample_weight)), None
        factors = self.scales
        if np.ndim(factors) == 0:
            factors = factor_grid(problem, int(factors), self.per_label)
        if self.method == "evidence":
            from textbayes.tune.evidence import search_evidence

            found = search_evidence(problem, factors, inference=self.inference, max_iter=self.max_iter, n_jobs=jobs)
            return found, found.factor, found.path.posterior(found.log_evidence.argmax(axis=0))
        search = search_scale(
            problem, factors, self.cv, self.scoring, self.rule, self.per_label, self.errors, self.inference,
            self.search_tol, self.max_iter, jobs, self.random_state, groups=self._groups,
        )  # fmt: skip
        return search, search.factor, search.path.posterior(search.point)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self._searches_link():
            from textbayes.tune.links import candidate_links

            candidate_links(str(self.link))
        check_choice("method", self.method, ("cv", "evidence", "norm"))
        if self._searches_link() and self.method != "cv":
            raise NotSupportedError(
                f"link='auto' compares links on held-out documents and method={self.method!r} has none; use method='cv'"
            )
        check_positive("search_tol", self.search_tol, "1e-2")
        if np.ndim(self.scales) == 0 and not (isinstance(self.scales, numbers.Integral) and int(self.scales) >= 1):
            raise InputError(f"scales={self.scales!r} is not usable; pass how many to try, or an array of them")


def finalised(
    classifier: BayesLinearClassifier, X: Matrix | ArrayLike, y: Any, sample_weight: ArrayLike | None = None
) -> BayesLinearClassifier:
    """Make a plain classifier, not fitted, with the scales that the search finds on X and y; others are only copied.

    For a cross-validation around it: the scale is looked for once, not in every fold.

    Parameters
    ----------
    classifier : BayesLinearClassifier
    X : array or sparse matrix (n_docs, n_features)
    y : labels, as for ``BayesLinearClassifier.fit``
    sample_weight : array (n_docs,), optional
        How much each document counts.
    """
    if not isinstance(classifier, BayesLinearClassifierCV):
        copy: BayesLinearClassifier = clone(classifier)
        return copy
    found = clone(classifier).set_params(intervals=False).fit(X, y, sample_weight)
    shared = set(BayesLinearClassifier().get_params(deep=False)) & set(classifier.get_params(deep=False))
    plain = BayesLinearClassifier(**{name: getattr(classifier, name) for name in shared})
    plain.set_params(link=found.link_)
    if isinstance(classifier.prior, str):
        return plain.set_params(scale=found.scale_[:, None])
    prior = make_prior(classifier.prior, 1.0)
    return plain.set_params(prior=scaled(prior, found.scale_), mean=0.0, sign=0)

"""Base of all decision rules: the registry, the checks, the fields of their states, and every way to cut a ranking.

A rule is fitted on probabilities (n_docs, n_labels) and the true indicator Y of the same shape, and then decides. All
thresholds are strict: label j is given to a document when p_j > threshold_j. Two values therefore need no infinity:
``NEVER`` = 1 (no probability exceeds it) and ``ALWAYS`` = −1. :class:`Cuts` has the counts behind all rules that tune a
threshold on labelled probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from textbayes.core.array_fields import Array, Hyper
from textbayes.core.codec import Fields, List, Number, Whole
from textbayes.core.errors import InputError, did_you_mean
from textbayes.core.fitting import all_or_nothing
from textbayes.core.parameters import Parameters, name_and_parameters
from textbayes.core.registry import Registry
from textbayes.core.statistics import wilson_bound
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import (
    as_numbers,
    check_choice,
    check_indicator,
    check_probabilities,
    check_same_length,
    is_number,
)

NEVER = 1.0
ALWAYS = -1.0

Scale = Literal["probability", "logit"]

OF_LABELS = Array(np.float64, ("n_labels_",))  # what a rule has learnt of each label
PER_LABEL = Hyper() | List(Number())  # a parameter: a number, or one for each label


class Rule(Parameters):
    """Base of the decision rules: subclasses write ``_fit`` and ``decide`` and register under their ``name``."""

    name: ClassVar[str]
    learnt: ClassVar[Fields] = {"n_labels_": Whole(1)}  # what ``fit`` sets and a model file keeps
    has_thresholds: bool = False  # whether ``fit`` sets ``thresholds_``

    thresholds_: FloatArray  # of rules that have one threshold for each label
    counts_positives: ClassVar[bool] = False  # how many documents have a label matters to ``fit``, not which

    @property
    def needs_probabilities(self) -> bool:
        """Whether the rule believes the probabilities, so that scores of another scale will not do."""
        return False

    @property
    def learns(self) -> bool:
        """Whether ``fit`` looks at the data; if not, no out-of-fold probabilities are needed."""
        return True

    @all_or_nothing
    def fit(self, proba: ArrayLike, Y: Matrix | ArrayLike | None = None) -> Self:
        """Learn from probabilities and the true labels; rules that learn nothing accept ``Y=None``.

        Parameters
        ----------
        proba : array (n_docs, n_labels)
        Y : boolean array (n_docs, n_labels), optional
        """
        proba = check_probabilities(proba)
        if not proba.size:
            raise InputError(f"proba is empty, of shape {proba.shape}; rule {self.name!r} needs at least one document")
        if Y is not None:
            Y = check_indicator(Y)
            check_same_length(proba, "proba", Y, "Y")
            if Y.shape != proba.shape:
                raise InputError(f"proba has {proba.shape[1]} labels but Y has {Y.shape[1]}; pass the same columns")
        self.check_params(proba.shape[1])
        self._fit(proba, Y)
        self.n_labels_ = proba.shape[1]
        return self

    def decide(self, proba: ArrayLike) -> BoolArray:
        """The decisions, True where a document is given a label."""
        raise NotImplementedError

    def threshold_of(self, label: int) -> float | None:
        """The probability above which a label is given, by its column; None where no such number decides."""
        thresholds: FloatArray | None = getattr(self, "thresholds_", None)
        return None if thresholds is None else float(thresholds[label])

    def reason(self, label: int, mirrored: bool = False) -> str:
        """Reason a label is given for, in a few words: "threshold 0.31"; ``mirrored`` is the other of two classes."""
        threshold = self.threshold_of(label)
        if threshold is None:
            return f"decided by rule {self.name}"
        if threshold in (ALWAYS, NEVER):
            return "never given, whatever the probability" if (threshold == NEVER) != mirrored else "always given"
        return f"threshold {1.0 - threshold if mirrored else threshold:.3g}"

    def check_params(self, n_labels: int) -> None:
        """Refuse parameters that cannot be used with so many labels, before the rule is fitted."""

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        raise NotImplementedError

    def _check_decide(self, proba: ArrayLike) -> FloatArray:
        proba = check_probabilities(proba)
        n_labels = getattr(self, "n_labels_", None)
        if n_labels is None and self.learns:
            raise InputError(f"rule {self.name!r} has not been fitted; call fit(proba, Y) first")
        if n_labels not in (None, proba.shape[1]):
            raise InputError(f"proba has {proba.shape[1]} labels but the rule was fitted on {n_labels}")
        return proba

    def _need_labels(self, Y: BoolArray | None) -> BoolArray:
        if Y is None:
            raise InputError(f"rule {self.name!r} learns from true labels; call fit(proba, Y) with Y")
        return Y

    def check_labels(self, n_labels: int) -> None:
        """Refuse to decide on another number of labels than the rule was fitted on."""
        if self.n_labels_ != n_labels:
            raise InputError(f"rule {self.name!r} was fitted on {self.n_labels_} labels, not {n_labels}")

    def check_state(self) -> None:
        """Refuse parameters of a file that cannot be used with the labels that the rule was fitted on."""
        if hasattr(self, "n_labels_"):
            self.check_params(self.n_labels_)
            if self.has_thresholds and self.thresholds_ is None:
                raise InputError(f"rule {self.name!r} lacks its thresholds")


rules: Registry[type[Rule]] = Registry("decision rule", "textbayes.decide")


class ThresholdRule(Rule):
    """A rule that ends in one threshold per label, ``thresholds_``; p > threshold is a yes."""

    learnt: ClassVar[Fields] = {"thresholds_": OF_LABELS}
    has_thresholds = True

    def decide(self, proba: ArrayLike) -> BoolArray:
        """True where p > threshold."""
        proba = self._check_decide(proba)
        return proba > self.thresholds_

    @all_or_nothing
    def fit_folds(self, folds: Sequence[tuple[Any, Any]], scale: Scale = "probability") -> Self:
        """Fit on each fold's (proba, Y) alone and average the thresholds, as SCutFBR does (Lewis et al. 2004).

        The mean is taken of probabilities or of log-odds (``scale``). A fold without a positive of a label says
        nothing of where its positives lie and is left out of that label's mean; if none has any, the highest threshold
        is taken. One fold that says "never" makes the mean infinite, hence "never".

        Parameters
        ----------
        folds : sequence of (proba, Y)
            Of the held-out documents of each fold.
        scale : {"probability", "logit"}
        """
        check_choice("scale", scale, ("probability", "logit"))
        if not folds:
            raise InputError("no folds were given; pass a list of (proba, Y), one per fold")
        fitted = [self.fresh().fit(proba, Y) for proba, Y in folds]
        if len({rule.n_labels_ for rule in fitted}) > 1:
            raise InputError("the folds differ in their number of labels; pass the same columns in each")
        thresholds = np.array([rule.thresholds_ for rule in fitted])
        informative = np.array([check_indicator(Y).any(axis=0) for _, Y in folds])
        values = logit(np.clip(thresholds, 1e-12, 1.0)) if scale == "logit" else np.maximum(thresholds, 0.0)
        values[thresholds >= NEVER] = np.inf
        n_used = informative.sum(axis=0)
        mean = np.where(informative, values, 0.0).sum(axis=0) / np.maximum(n_used, 1)
        mean = np.where(n_used > 0, mean, values.max(axis=0))
        self.thresholds_ = np.where(np.isinf(mean), NEVER, expit(mean) if scale == "logit" else mean)
        self.n_labels_ = len(self.thresholds_)
        return self


def make_rule(rule: str | Rule, **params: Any) -> Rule:
    """Make a rule from its name and parameters, which may follow a colon, or an unfitted copy of one given.

    Parameters
    ----------
    rule : str or Rule
        Such as ``"max_f1"`` or ``"fixed:threshold=0.3"``.
    **params
        Parameters of the rule.

    Examples
    --------
    >>> make_rule("max_f1", fbr=0.3)
    MaxF1(fbr=0.3)
    >>> make_rule("fixed:threshold=0.3")
    FixedThreshold(threshold=0.3)
    """
    if isinstance(rule, Rule):
        return rule.fresh().set_params(**params)
    if not isinstance(rule, str):
        raise InputError(f"rule={rule!r} is neither the name of a decision rule nor a rule; names: {rules.names()}")
    name, written = name_and_parameters(rule)
    rule_class = rules.get(name)
    unknown = (written.keys() | params.keys()) - set(rule_class._get_param_names())
    if unknown:
        known, first = rule_class._get_param_names(), sorted(unknown)[0]
        listed = ", ".join(known) or "none"
        hint = did_you_mean(first, known)
        raise InputError(f"decision rule {name!r} has no parameter {first!r}; it has: {listed}{hint}")
    return rule_class(**{**written, **params})


def per_label(value: Any, n_labels: int, name: str) -> FloatArray:
    """A scalar or one value per label, as an array of length n_labels."""
    array = as_numbers(value, name)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n_labels):
        raise InputError(f"{name} has shape {array.shape}; pass one number or {n_labels}, one per label")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite; use 1 to assign a label never and −1 to assign it always")
    return np.broadcast_to(array, (n_labels,)).copy()


def check_fraction(value: float, name: str) -> None:
    """Refuse what is not a number in [0, 1]."""
    if not (is_number(value) and 0.0 <= value <= 1.0):
        raise InputError(f"{name}={value!r} must lie in [0, 1]")


class Cuts(NamedTuple):
    """Per label (row) the outcome of saying yes to its k best documents, k = 0 … n_docs (column).

    ``scores`` (n_labels, n_docs) run from high to low; ``tp`` (n_labels, n_docs + 1) counts the positives among the k
    best; ``possible`` is False inside a run of equal scores, where no threshold can cut.
    """

    scores: FloatArray
    tp: FloatArray
    possible: BoolArray

    @property
    def n_docs(self) -> int:
        return self.scores.shape[1]

    @property
    def accepted(self) -> FloatArray:
        """k, broadcast against ``tp``."""
        return np.arange(self.n_docs + 1, dtype=np.float64)[None, :]

    @property
    def positives(self) -> FloatArray:
        """Number of positives per label, as a column."""
        return self.tp[:, -1:]

    def best(self, objective: FloatArray) -> IntArray:
        """The k of the highest objective per label; of equal ones the smallest k, the strictest threshold."""
        return np.where(self.possible, objective, -np.inf).argmax(axis=1)

    def at(self, values: AnyArray, k: IntArray) -> AnyArray:
        """values[label, k[label]] for each label."""
        return values[np.arange(len(k)), k]

    def thresholds(self, k: IntArray, scale: Scale = "probability") -> FloatArray:
        """Thresholds that accept exactly the k best: half-way to the next score, or to the end of the scale."""
        padded = np.pad(self.scores, ((0, 0), (1, 1)), constant_values=((0, 0), (1.0, 0.0)))
        last_in, first_out = self.at(padded, k), self.at(padded, k + 1)
        if scale == "logit":
            ends = np.clip([last_in, first_out], 1e-15, 1 - 1e-15)
            middle = expit(logit(ends).mean(axis=0))
        else:
            middle = (last_in + first_out) / 2
        # Between neighbouring floats the middle rounds to one of them: keep first_out ≤ threshold < last_in.
        inside = (middle >= first_out) & (middle < last_in)
        threshold = np.where(inside, middle, first_out)
        return np.where((k > 0) & (threshold >= last_in), ALWAYS, threshold)


def make_cuts(proba: FloatArray, Y: BoolArray) -> Cuts:
    """All cuts of all labels at once: O(n_labels · n_docs log n_docs)."""
    by_label = np.ascontiguousarray(proba.T)
    order = np.argsort(-by_label, axis=1)
    scores = np.take_along_axis(by_label, order, axis=1)
    n_labels, n_docs = scores.shape
    tp = np.zeros((n_labels, n_docs + 1))
    np.cumsum(np.take_along_axis(Y.T, order, axis=1), axis=1, out=tp[:, 1:])
    possible = np.ones((n_labels, n_docs + 1), dtype=np.bool_)
    possible[:, 1:-1] = scores[:, 1:] < scores[:, :-1]
    return Cuts(scores, tp, possible)


def f_measure_of_cuts(cuts: Cuts, beta: float = 1.0, smoothing: float = 0.0) -> FloatArray:
    """F_β = (1+β²) TP / ((1+β²) TP + β² FN + FP) of every cut, ``smoothing`` added above and below; 0/0 is 1."""
    hits = (1 + beta**2) * cuts.tp
    errors = beta**2 * (cuts.positives - cuts.tp) + (cuts.accepted - cuts.tp)
    below = hits + errors + smoothing
    return np.divide(hits + smoothing, below, out=np.ones_like(below), where=below > 0)


def lower_share(successes: FloatArray, trials: FloatArray, confidence: float | None) -> FloatArray:
    """successes / trials, or its one-sided Wilson (1927) lower bound at that confidence; NaN for 0 trials."""
    return wilson_bound(successes, trials, 0.0 if confidence is None else -float(ndtri(confidence)))

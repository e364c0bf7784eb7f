"""What the online posteriors share: how they learn, labels with words of their own, several labels at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from scipy import sparse

from textbayes.core.array_fields import Array
from textbayes.core.codec import Sizes
from textbayes.core.errors import InputError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray, IntArray
from textbayes.core.validation import canonical, check_finite
from textbayes.models.online.likelihood import ClosedForm, OnlineLikelihood

rows_kernels = LazyModule("textbayes.kernels.online.document")


class WordRows(NamedTuple):
    """CSR arrays for the kernels: columns counted from 1, since position 0 is the bias of every document."""

    indptr: IntArray
    indices: Any
    data: FloatArray

    @property
    def n_docs(self) -> int:
        return len(self.indptr) - 1

    def one(self, i: int) -> WordRows:
        """One document as rows of its own."""
        words, values = self.document(i)
        return WordRows(np.array([0, len(words)]), words, values)

    def document(self, i: int) -> tuple[Any, FloatArray]:
        """Positions and values of one document."""
        start, stop = self.indptr[i], self.indptr[i + 1]
        return self.indices[start:stop], self.data[start:stop]


class LinearPredictor(NamedTuple):
    """Mean and variance of x'w, arrays (n_docs, n_labels)."""

    mean: FloatArray
    var: FloatArray


class LearnInfo(NamedTuple):
    """How the learning went.

    ``log_evidence`` (n_passes, n_labels) is Σ_t ln⟨p(y_t | x_t)⟩ with each document judged before it is learnt: in the
    first pass the log-evidence of the model. ``log_prob`` (n_docs, n_labels) holds its terms in the last pass, 0 where
    there was no judgement.
    """

    log_evidence: FloatArray
    log_prob: FloatArray


class OnlinePosterior(ABC):
    """A Gaussian over the weights of one label or many, that learns documents one after the other.

    ``learn`` returns a new posterior and leaves this one as it is, unless asked to work in place.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]  # every posterior is a dataclass of arrays and settings

    if TYPE_CHECKING:  # a field in some, computed in others

        @property
        def mean(self) -> FloatArray:
            """Means of the weights; of a Gaussian process its coefficients on the basis."""

    @property
    def n_labels(self) -> int:
        return 1

    @property
    @abstractmethod
    def n_weights(self) -> int:
        """Weights per label, the bias among them."""

    @abstractmethod
    def copy(self) -> Self:
        """One that shares no array with this one."""

    @abstractmethod
    def predict(self, X: Any) -> LinearPredictor:
        """The linear predictor of each document: what ``OnlineLikelihood.predictive`` turns into probabilities."""

    def drift(self, forgetting_factor: float) -> Self:
        """Let the weights drift towards the prior: w − prior mean shrinks by ``forgetting_factor`` and gains variance.

        The prior itself stays as it is, so a word that is never met again is forgotten in the end, not more.
        """
        check_forgetting_factor(forgetting_factor)
        state = self.copy()
        state._drift_in_place(forgetting_factor)
        return state

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """The documents as the methods below take them: ``WordRows``, or something else that has ``n_docs``."""

    @abstractmethod
    def _learn_compiled(
        self, rows: Any, y: FloatArray, closed: ClosedForm, forgetting_factor: float, log_prob: FloatArray, n_jobs: int
    ) -> None:
        """One pass in place, ``y`` and ``log_prob`` (n_docs, n_labels)."""

    @abstractmethod
    def _predict_one(self, rows: Any, i: int) -> tuple[FloatArray, FloatArray, Any]:
        """Mean and variance (n_labels,) of one document's predictor, and what ``_update_one`` needs to know."""

    @abstractmethod
    def _update_one(self, rows: Any, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        """Learn that document in place, given the derivatives of its ln Z."""

    def learn(
        self,
        X: Any,
        y: Any,
        likelihood: OnlineLikelihood,
        passes: int = 1,
        forgetting_factor: float = 1.0,
        in_place: bool = False,
        n_jobs: int = 1,
    ) -> tuple[Self, LearnInfo]:
        """Learn the documents in their order, ``passes`` times over.

        Parameters
        ----------
        X : sparse or dense (n_docs, n_features)
        y : (n_docs,) or (n_docs, n_labels) of −1, +1, and 0 where there is no judgement
        likelihood : OnlineLikelihood
        passes : int
            As in the paper a later pass learns the documents as if they were new: the posterior narrows each time.
            ``propagate`` learns each document once however often it is visited.
        forgetting_factor : float in (0, 1]
            Factor by which w − prior mean shrinks before each document (see ``drift``); 1 forgets nothing.
        in_place : bool
            Change this posterior instead of a copy, for streams of single documents.
        n_jobs : int
            Threads that share the labels; the result does not depend on it.
        """
        if passes < 1:
            raise InputError(f"passes={passes} is given; pass 1 or more")
        check_forgetting_factor(forgetting_factor)
        rows = self._rows(X)
        outcomes = check_outcomes(y, rows.n_docs, self.n_labels)
        state = self if in_place else self.copy()
        evidence, log_prob = np.empty((passes, self.n_labels)), np.zeros(outcomes.shape)
        closed = likelihood.closed_form
        for number in range(passes):
            if closed is None:
                state._learn_general(rows, outcomes, likelihood, forgetting_factor, log_prob)
            else:
                state._learn_compiled(rows, outcomes, closed, forgetting_factor, log_prob, n_jobs)
            evidence[number] = log_prob.sum(axis=0)
        state._finalise(rows)
        return state, LearnInfo(evidence, log_prob)

    def _learn_general(
        self, rows: Any, y: FloatArray, likelihood: OnlineLikelihood, forgetting_factor: float, log_prob: FloatArray
    ) -> None:
        """One pass in place for any link: each document asks the link for its moments, for all labels at once."""
        for i in range(rows.n_docs):
            if forgetting_factor < 1.0:
                self._drift_in_place(forgetting_factor)
            mean, var, memo = self._predict_one(rows, i)
            judged = y[i] != 0.0
            log_z, d1, d2 = likelihood.moments(mean, var, np.where(judged, y[i], 1.0))
            log_prob[i] = np.where(judged, log_z, 0.0)
            self._update_one(rows, i, memo, np.where(judged, d1, 0.0), np.where(judged, d2, 0.0))

    @abstractmethod
    def _drift_in_place(self, forgetting_factor: float) -> None: ...

    def _finalise(self, rows: Any) -> None:  # noqa: B027
        """Called when all passes are done."""


def canonical_rows(X: Any, finite: bool = True) -> Any:
    """X as CSR with sorted, distinct columns and finite values; what came in is not changed.

    ``finite=False`` leaves the values to be looked at by the caller.
    """
    if sparse.issparse(X) and X.format == "csr" and X.dtype == np.float64:
        rows = X  # single documents pass here in a stream: spare what they do not need
    else:
        rows = sparse.csr_matrix(X if sparse.issparse(X) else np.atleast_2d(np.asarray(X, dtype=np.float64)))
        rows = rows.astype(np.float64)
    rows = canonical(rows)
    if finite:
        check_finite(rows, "X")
    return rows


def check_outcomes(y: Any, n_docs: int, n_labels: int) -> FloatArray:
    """Outcomes as a float array (n_docs, n_labels) of −1, 0 and +1."""
    outcomes = np.asarray(y.toarray() if sparse.issparse(y) else y)
    if outcomes.dtype == np.bool_:
        raise InputError("y is given as booleans; pass −1 and +1, and 0 for documents that were not judged")
    outcomes = np.ascontiguousarray(outcomes, dtype=np.float64)
    if outcomes.ndim == 1 and n_labels == 1:
        outcomes = outcomes[:, None]
    if outcomes.shape != (n_docs, n_labels):
        raise InputError(f"y has shape {outcomes.shape}; pass one outcome per document and label: {(n_docs, n_labels)}")
    if not ((outcomes == 0.0) | (np.abs(outcomes) == 1.0)).all():
        raise InputError("y has values other than −1, 0 and +1; 0 stands for a document that was not judged")
    return outcomes


def check_forgetting_factor(factor: float) -> None:
    """Refuse a factor that is not above 0 and at most 1."""
    if not 0.0 < factor <= 1.0:
        raise InputError(
            f"forgetting_factor={factor!r} is not usable; pass a number above 0 and at most 1, which forgets nothing"
        )


P = TypeVar("P", bound=OnlinePosterior)
R = TypeVar("R")


class Bank(Generic[P]):
    """Posteriors of single labels side by side: ``learn`` and ``predict`` as for one, with a column per label.

    Each label has its own words, such as the 300 that tell most of it. Labels are independent of each other, so the
    result does not depend on the number of threads.

    Parameters
    ----------
    posteriors : sequence of FullPosterior or LowRankPosterior
    n_jobs : int
        Threads.

    Examples
    --------
    >>> from textbayes.models.online import FullPosterior, PAPER_PROBIT
    >>> bank = Bank([FullPosterior.start([0]), FullPosterior.start([0, 1])])
    >>> bank, info = bank.learn(np.eye(2), np.array([[1, -1], [-1, 1]]), PAPER_PROBIT)
    >>> PAPER_PROBIT.predictive(*bank.predict(np.eye(2))) > 0.5
    array([[ True, False],
           [False,  True]])
    """

    def __init__(self, posteriors: Sequence[P], n_jobs: int = 1) -> None:
        self.posteriors = tuple(posteriors)
        self.n_jobs = n_jobs
        if not self.posteriors or any(one.n_labels != 1 for one in self.posteriors):
            raise InputError("a bank needs posteriors of one label each, at least one of them")

    @property
    def n_labels(self) -> int:
        return len(self.posteriors)

    def __len__(self) -> int:
        return len(self.posteriors)

    def __iter__(self) -> Iterator[P]:
        return iter(self.posteriors)

    def __getitem__(self, label: int) -> P:
        return self.posteriors[label]

    def predict(self, X: Any) -> LinearPredictor:
        """Mean and variance of the linear predictors, (n_docs, n_labels)."""
        rows = canonical_rows(X)
        parts = self._each(lambda label: self.posteriors[label].predict(rows))
        return LinearPredictor(*(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True)))

    def learn(
        self,
        X: Any,
        y: Any,
        likelihood: OnlineLikelihood,
        passes: int = 1,
        forgetting_factor: float = 1.0,
        in_place: bool = False,
    ) -> tuple[Self, LearnInfo]:
        """Learn the documents for every label; y (n_docs, n_labels) of −1, +1 and 0 for no judgement."""
        rows = canonical_rows(X)
        outcomes = check_outcomes(y, rows.shape[0], self.n_labels)

        def learn(label: int) -> tuple[P, LearnInfo]:
            column = np.ascontiguousarray(outcomes[:, label])
            return self.posteriors[label].learn(rows, column, likelihood, passes, forgetting_factor, in_place)

        learnt, infos = zip(*self._each(learn), strict=True)
        info = LearnInfo(*(np.concatenate(columns, axis=1) for columns in zip(*infos, strict=True)))
        return (self if in_place else type(self)(learnt, self.n_jobs)), info

    def _each(self, function: Callable[[int], R]) -> list[R]:
        """Results per label; the largest first, so that no thread is left with them at the end."""
        if self.n_jobs == 1:
            return [function(label) for label in range(self.n_labels)]
        order = np.argsort([-one.n_weights for one in self.posteriors], kind="stable")
        with ThreadPoolExecutor(max_workers=self.n_jobs) as pool:
            done = dict(zip(order, pool.map(function, order), strict=True))
        return [done[label] for label in range(self.n_labels)]


def saved_words() -> Array:
    """The field of the words of a posterior, which its other fields come after."""
    return Array(np.int64, ("n_words",), least=0, most=lambda sizes: sizes["n_features"] - 1)


def with_bias(sizes: Sizes) -> int:
    """Number of the weights of a posterior with words, the bias among them, when its state is read."""
    return 1 + sizes["n_words"]


def check_words(words: Any) -> IntArray:
    """Columns of X, distinct, in the order given; a boolean mask stands for the columns where it is true."""
    array = np.asarray(words)
    if array.dtype == np.bool_:
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"words is an array of {array.dtype} and shape {array.shape}; pass a list of column numbers")
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        raise InputError(f"words holds {array.min()}; columns are counted from 0")
    if len(np.unique(array)) < len(array):
        raise InputError("words holds a column more than once; pass each one time")
    return array


def new_words(words: Any, known: IntArray) -> IntArray:
    """Those of ``words`` that are not known yet."""
    words = check_words(words)
    return words[~np.isin(words, known)]


def diagonal_prior(n_words: int, mean: Any, variance: Any, bias_variance: float) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the bias, first, and of the words."""
    means, variances = np.zeros(1 + n_words), np.empty(1 + n_words)
    means[1:], variances[0], variances[1:] = mean, bias_variance, variance
    if not (np.isfinite(means).all() and np.isfinite(variances).all() and (variances >= 0.0).all()):
        raise InputError("prior means must be finite, and variances finite and not negative; some are not")
    return means, variances


def restricted(X: Any, words: IntArray) -> WordRows:
    """The documents as far as they have these words, the first of which gets position 1."""
    if isinstance(X, WordRows):
        return X
    rows = canonical_rows(X)
    if len(words) and words.max() >= rows.shape[1]:
        raise InputError(f"X has {rows.shape[1]} columns, but the posterior uses column {words.max()}")
    position = np.full(rows.shape[1], -1, dtype=np.int32)
    position[words] = np.arange(1, len(words) + 1)
    return WordRows(*rows_kernels.restrict_rows(rows.indptr.astype(np.int64), rows.indices, rows.data, position))


class WordsPosterior(OnlinePosterior):
    """A posterior of one label over the bias (position 0) and the weights of ``words`` (positions 1, 2, …)."""

    words: IntArray

    def check_state(self) -> None:
        """Refuse a state whose parts do not belong together."""
        check_words(self.words)

    def predict(self, X: Any) -> LinearPredictor:
        mean, var = self._predict_rows(self._rows(X))
        return LinearPredictor(mean[:, None], var[:, None])

    @abstractmethod
    def _predict_rows(self, rows: WordRows) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the predictor, each (n_docs,)."""

    @abstractmethod
    def _learn_rows(self, rows: WordRows, y: FloatArray, closed: ClosedForm, log_prob: FloatArray) -> None:
        """One pass in place without drift, ``y`` and ``log_prob`` (n_docs,)."""

    def _rows(self, X: Any) -> WordRows:
        return restricted(X, self.words)

    def _learn_compiled(
        self,
        rows: WordRows,
        y: FloatArray,
        closed: ClosedForm,
        forgetting_factor: float,
        log_prob: FloatArray,
        n_jobs: int,
    ) -> None:
        log_z = np.empty(rows.n_docs)
        steps = [(rows, y[:, 0], log_z)]
        if forgetting_factor < 1.0:  # all weights change before each document: no update can be put off
            steps = [(rows.one(i), y[i], log_z[i : i + 1]) for i in range(rows.n_docs)]
        for part, outcomes, out in steps:
            if forgetting_factor < 1.0:
                self._drift_in_place(forgetting_factor)
            self._learn_rows(part, outcomes, closed, out)
        log_prob[:, 0] = log_z

"""What the online posteriors share: the course of learning, and the checks of what comes in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray
from textbayes.core.validation import check_finite
from textbayes.models.online.likelihood import ClosedForm, OnlineLikelihood


class Rows(NamedTuple):
    """CSR arrays for the kernels: columns counted from 1, since position 0 is the bias of every document."""

    indptr: IntArray
    indices: Any
    data: FloatArray

    @property
    def n_docs(self) -> int:
        return len(self.indptr) - 1

    def one(self, i: int) -> Rows:
        """One document as rows of its own."""
        words, values = self.document(i)
        return Rows(np.array([0, len(words)]), words, values)

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

    def drift(self, retention: float) -> Self:
        """Let the weights drift towards the prior: w − prior mean shrinks by ``retention`` and gains variance.

        The prior itself stays as it is, so a word that is never met again is forgotten in the end, not more.
        """
        check_retention(retention)
        state = self.copy()
        state._drift_in_place(retention)
        return state

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """The documents as the methods below take them: ``Rows``, or something else that has ``n_docs``."""

    @abstractmethod
    def _learn_compiled(
        self, rows: Any, y: FloatArray, closed: ClosedForm, retention: float, log_prob: FloatArray, n_jobs: int
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
        retention: float = 1.0,
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
        retention : float in (0, 1]
            Factor by which w − prior mean shrinks before each document (see ``drift``); 1 forgets nothing.
        in_place : bool
            Change this posterior instead of a copy, for streams of single documents.
        n_jobs : int
            Threads that share the labels; the result does not depend on it.
        """
        if passes < 1:
            raise InputError(f"passes={passes} is given; pass 1 or more")
        check_retention(retention)
        rows = self._rows(X)
        outcomes = check_outcomes(y, rows.n_docs, self.n_labels)
        state = self if in_place else self.copy()
        evidence, log_prob = np.empty((passes, self.n_labels)), np.zeros(outcomes.shape)
        closed = likelihood.closed_form
        for number in range(passes):
            if closed is None:
                state._learn_general(rows, outcomes, likelihood, retention, log_prob)
            else:
                state._learn_compiled(rows, outcomes, closed, retention, log_prob, n_jobs)
            evidence[number] = log_prob.sum(axis=0)
        state._settle(rows)
        return state, LearnInfo(evidence, log_prob)

    def _learn_general(
        self, rows: Any, y: FloatArray, likelihood: OnlineLikelihood, retention: float, log_prob: FloatArray
    ) -> None:
        """One pass in place for any link: each document asks the link for its moments, for all labels at once."""
        for i in range(rows.n_docs):
            if retention < 1.0:
                self._drift_in_place(retention)
            mean, var, memo = self._predict_one(rows, i)
            judged = y[i] != 0.0
            log_z, d1, d2 = likelihood.moments(mean, var, np.where(judged, y[i], 1.0))
            log_prob[i] = np.where(judged, log_z, 0.0)
            self._update_one(rows, i, memo, np.where(judged, d1, 0.0), np.where(judged, d2, 0.0))

    @abstractmethod
    def _drift_in_place(self, retention: float) -> None: ...

    def _settle(self, rows: Any) -> None:  # noqa: B027
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
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
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


def check_retention(retention: float) -> None:
    if not 0.0 < retention <= 1.0:
        raise InputError(f"retention={retention!r} is not usable; pass a number above 0 and at most 1, which keeps all")

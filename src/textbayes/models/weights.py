"""Base of the classifiers with a weight for every word: checked documents, stored weights, warm starts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from textbayes.core.array_fields import Hyper
from textbayes.core.codec import Arrays, Choice, Fields, Flag, List, Null, Number, Pairs, State, Text, Whole, written
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace, document_weights
from textbayes.core.state import Part
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.core.validation import (
    as_numbers,
    canonical,
    check_positive,
    check_same_length,
    check_whole,
    refuse_texts,
    writable,
)
from textbayes.inference import inferences, samples
from textbayes.inference.base import FitInfo, Posterior
from textbayes.links import BaseLink
from textbayes.models.base import TextModel, sampling_settings
from textbayes.models.saved_weights import WEIGHTS, LinkField, read_weights
from textbayes.posterior.intervals import centred_interval
from textbayes.priors import BasePrior, make_prior, priors
from textbayes.priors.by_word import ByWord

if TYPE_CHECKING:
    from textbayes.posterior.draws import Draws


_NUMBER = Number(infinite=True)
_HYPER = Hyper(infinite=True) | List(_NUMBER, least=1) | List(List(_NUMBER, least=1), least=1)
_CLASS = Text() | Flag() | Number()


class WeightsClassifier(TextModel, ClassifierMixin, BaseEstimator):
    """What the linear and the softmax classifier share: eta = X wᵀ + b, and all around the search for w and b."""

    # How parameters are saved; what each of the two has beyond these is declared beside it.
    fields: ClassVar[Fields] = {
        "link": LinkField(),
        "prior": Text() | Part(priors),
        "scale": _HYPER,
        "mean": _HYPER,
        "sign": _HYPER,
        "inference": Text() | Part(inferences),
        "fit_intercept": Flag(),
        "intercept_scale": Choice("auto") | _HYPER,
        "intercept_mean": _HYPER,
        "tol": Number(above=0.0),
        "max_iter": Whole(1, 10**9),
        "n_jobs": Whole(-1024, 1024) | Null(),
        "warm_start": Flag(),
        "intervals": Flag(),
        "class_weight": Choice("balanced") | Pairs(_CLASS, Number(0.0, 1e100)) | Null(),
    }

    prior: str | BasePrior
    sign: int | AnyArray
    inference: Any
    tol: float
    class_weight: str | dict[Any, float] | None
    n_features_in_: int
    label_space_: LabelSpace
    classes_: AnyArray
    coef_: FloatArray
    intercept_: FloatArray
    fit_info_: FitInfo
    n_iter_: int
    link_: BaseLink
    draws_: Draws | None
    standard_errors_: FloatArray | None = None
    intercept_errors_: FloatArray | None = None
    mean_shifts_: FloatArray | None = None
    held_scale_: float = 1.0

    @property
    def samples(self) -> bool:
        """Whether a fit draws from the posterior."""
        return samples(self.inference)

    def sampling_settings(self) -> Any:
        """Settings that decide which draws are made, but not how many; of an inference that makes none its name."""
        return sampling_settings(self)

    @property
    def has_posterior(self) -> bool:
        """Whether there are draws to take intervals of probabilities from."""
        return self.draws_ is not None

    def linear_predictor(self, X: Matrix | ArrayLike) -> FloatArray:
        """eta = X wᵀ + b, (n_docs, n_columns)."""
        return np.asarray(self._checked(X) @ self.coef_.T) + self.intercept_

    def weight_intervals(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible intervals of the weights, each like ``coef_``.

        Of a sampled model they are quantiles of its draws; else those of a Gaussian around the mode, which needs
        ``intervals=True``, and NaN for a word that is held at its prior mean.

        Parameters
        ----------
        level : float
            The probability that an interval holds.
        """
        check_is_fitted(self)
        if self.draws_ is not None:
            return self.draws_.interval(level)
        if self.standard_errors_ is None:
            raise InputError("this model was fitted without intervals; fit it with intervals=True")
        approximation = getattr(self, "approximation_", None)
        shifts = None if approximation is None else approximation.mean_shifts()[0]
        return centred_interval(self.coef_, self.standard_errors_, shifts, level)

    def _checked(self, X: Matrix | ArrayLike) -> Any:
        check_is_fitted(self)
        refuse_texts(X)
        return writable(validate_data(self, X, accept_sparse=["csr", "csc"], dtype=np.float64, reset=False))

    def _documents(
        self, X: Matrix | ArrayLike, indicator: AnyArray, space: LabelSpace, sample_weight: ArrayLike | None
    ) -> tuple[Any, FloatArray | None]:
        """Documents to learn from, by columns, and how much each counts; None where all count alike."""
        refuse_texts(X)
        X = writable(validate_data(self, X, accept_sparse=["csc", "csr"], dtype=np.float64))
        check_same_length(X, "X", indicator, "y")
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        return as_columns(X), document_weights(self.class_weight, indicator, space, weight)

    def _previous(self, n_columns: int, n_features: int) -> Posterior | None:
        """The weights of the fit before, to start from, where they are of that shape."""
        coef = getattr(self, "coef_", None)
        if coef is None or coef.shape != (n_columns, n_features):
            return None
        return Posterior(coef, self.intercept_, None, self.fit_info_)

    def _keep(self, posterior: Posterior, space: LabelSpace) -> None:
        """Take over what was found."""
        self.label_space_, self.classes_ = space, space.classes
        # Laid out word by word, so that scoring reads one run of memory per word for all columns.
        self.coef_ = np.ascontiguousarray(posterior.mean.T).T
        self.intercept_, self.fit_info_ = posterior.intercept, posterior.info
        self.n_iter_ = int(posterior.info.n_iter.max())
        self.draws_ = posterior.draws

    def _posterior_as_prior(self) -> dict[str, Any]:
        """Parameters of a further fit whose prior is this posterior: N(weight, error²), word by word."""
        if self.standard_errors_ is None or self.intercept_errors_ is None:
            raise NotSupportedError(
                "this model has no standard errors of its weights, so it cannot be updated: train again with old and "
                "new texts together, or train a model with intervals (textbayes train --intervals) and update that"
            )
        held = np.isnan(self.standard_errors_)
        family = np.where(held, "laplace", "gaussian")
        prior = ByWord(scale=np.where(held, self.held_scale_, self.standard_errors_), mean=self.coef_, family=family)
        # An intercept that is all but certain keeps a little room, so that the prior is a density.
        spread = np.maximum(self.intercept_errors_, 1e-6)
        return {"prior": prior, "intercept_mean": self.intercept_, "intercept_scale": spread, "intervals": True}

    def _typical_scale(self) -> float:
        """A typical scale of the words' prior."""
        scale = np.asarray(make_prior(self.prior, getattr(self, "scale", 1.0), self.mean, self.sign).scale)
        finite = scale[np.isfinite(scale)]
        return float(np.median(finite)) if finite.size else 1.0

    def _check_prior_shape(self, n_rows: int, n_features: int) -> BasePrior:
        """The prior, refused where it is of other rows or words than these."""
        prior = make_prior(self.prior, getattr(self, "scale", 1.0), self.mean, self.sign)
        for name, value in vars(prior).items():
            if value.shape not in ((), (n_features,), (n_rows, n_features), (n_rows, 1)):
                raise InputError(f"prior {name} has shape {value.shape} for {n_rows} labels and {n_features} words")
        return prior

    def _warn_if_unfinished(self) -> None:
        """Warn of fits that stopped early, and of posteriors that were sampled too little."""
        converged, worst = self.fit_info_.converged, float(self.fit_info_.violation.max())
        if converged.all():
            return
        which = f"{np.count_nonzero(~converged)} of {len(converged)}"
        if self.draws_ is not None:
            message = (
                f"{which} posteriors were sampled less well than asked for, R-hat up to {1.0 + worst:.2f}; draw more "
                "(max_draws; on the command line --draws) or use a prior with lighter tails"
            )
        else:
            message = (
                f"{which} fits stopped at a relative violation of up to {worst:.1e}, above tol={self.tol:g}; raise "
                "max_iter or tol, or use a smaller scale"
            )
        warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def to_state(self) -> State:
        """Weights, errors and draws as a JSON-able description and arrays."""
        return written({name: getattr(self, name) for name in WEIGHTS}, WEIGHTS)

    def _restore(self, meta: Any, arrays: Arrays, space: LabelSpace, n_rows: int, n_features: int) -> None:
        """Take over the weights of a file, of that shape."""
        for name, value in read_weights(meta, arrays, n_rows, n_features).items():
            setattr(self, name, value)
        self.label_space_, self.classes_, self.n_features_in_ = space, space.classes, n_features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_effort(tol: Any, max_iter: Any) -> None:
    """Refuse a tolerance that is not positive and a number of iterations that is none."""
    check_positive("tol", tol, "1e-4")
    check_whole("max_iter", max_iter)


def per_label(value: Any, name: str, n_labels: int) -> FloatArray:
    """A number, or one for each label as a column."""
    given = as_numbers(value, name)
    if given.shape not in ((), (n_labels,)):
        raise InputError(f"{name} has shape {given.shape}; pass a number or one per label: ({n_labels},)")
    return given[:, None] if given.ndim else given


def as_labels(y: Any) -> Any:
    """Labels for ``encode_labels``: a vector, a column (with its warning), lists or an indicator matrix."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None; pass one label per document")
    if not sparse.issparse(y):
        y = (
            y
            if isinstance(y, (list, tuple)) and any(isinstance(row, (list, tuple, set)) for row in y)
            else np.asarray(y)
        )
    if isinstance(y, np.ndarray) and (y.ndim == 1 or y.shape[1:] == (1,)) and not _holds_collections(y):
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
            check_classification_targets(y)
    return y


def _holds_collections(y: AnyArray) -> bool:
    return y.dtype == object and any(isinstance(label, (list, tuple, set, frozenset)) for label in y.ravel())


def as_columns(X: Any) -> Any:
    """CSC with sorted, distinct int32 indices, whatever came in; what came in is not changed."""
    columns = canonical(sparse.csc_matrix(X))
    arrays = (columns.data, columns.indices.astype(np.int32, copy=False), columns.indptr.astype(np.int64))
    return sparse.csc_matrix(arrays, shape=columns.shape, copy=False)

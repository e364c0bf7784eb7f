"""Base of the kinds of models: probabilities made of scores, and refusals of what a kind cannot do."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np
from sklearn.base import clone

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, FittedModel, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.wording import did_you_mean
from textbayes.kinds.sampling import SamplingCallback
from textbayes.knowledge import MatchedPriors


@dataclass(frozen=True)
class FitOptions:
    """Options for fitting one model of a training, beyond its own settings.

    Parameters
    ----------
    weight : array (n_docs,) or None
        How much each document counts.
    words : boolean array (n_columns, n_features) or None
        The words that each label may use.
    intervals : bool
        Keep standard errors of the weights.
    refit_k, refit_by : int or None; str
        Fit again with so many words of each label, ranked by this.
    stage, last : str; bool
        What is fitted, for progress; and whether it is the model that is kept.
    watch : SamplingCallback
        Is told how sampling goes.
    groups : array (n_docs,) or None
        Documents of one group share a fold, where the model cross-validates.
    """

    weight: FloatArray | None = None
    words: BoolArray | None = None
    intervals: bool = False
    refit_k: int | None = None
    refit_by: str = "mean"
    stage: str = "all texts"
    last: bool = True
    watch: SamplingCallback = field(default_factory=SamplingCallback)
    groups: IntArray | None = None


class Fitted(ABC):
    """A fitted model of some kind; see :class:`~textbayes.core.protocols.FittedModel`."""

    kind: ClassVar[str]
    is_softmax: bool = False
    reads: Literal["weights", "counts"] = "weights"
    uses_lengths: bool = False

    @property
    def has_posterior(self) -> bool:
        """Whether the model has a posterior of its own to take intervals of probabilities from."""
        return False

    def __init__(self, space: LabelSpace) -> None:
        self.space = space

    @abstractmethod
    def scores(self, features: Features, average: bool = True) -> FloatArray:
        """Log-odds of every column (n_docs, n_columns); averaged over the posterior where there is one.

        Parameters
        ----------
        features : Features
        average : bool
            Average over the posterior rather than score at its mean.
        """

    @abstractmethod
    def contributions(self, document: Features) -> Contributions:
        """The parts that words have in the scores of one document."""

    @abstractmethod
    def words(self) -> WordWeights:
        """Weights of single words."""

    @abstractmethod
    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A JSON-able description and named arrays."""

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """Model after more documents.

        Parameters
        ----------
        features : Features
        indicator : boolean array (n_docs, n_columns)
        weight : array (n_docs,), optional
            How much each document counts.
        """
        self._refuse("learn on", "train it again with all texts")

    def probability_interval(self, features: Features, level: float) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each label's own probability, where the model :attr:`has_posterior`."""
        self._refuse("give credible intervals of probabilities", "use a model that samples, or --model online")

    def known_words(self) -> BoolArray:
        """Mask of the features that say something of some label, (n_features,)."""
        return np.asarray((self.words().weights != 0.0).any(axis=0))

    def word_totals(self, features: Features) -> FloatArray:
        """Sum of each word's contributions to the scores of these documents, (n_columns, n_features).

        Weights times the sums of what they multiply: exact where scores are linear in the words.
        """
        matrix = features.counts if self.reads == "counts" else features.weights
        return np.asarray(self.words().weights * np.asarray(matrix.sum(axis=0)).ravel())

    def _refuse(self, what: str, instead: str) -> NoReturn:
        raise NotSupportedError(f"a model of kind {self.kind!r} cannot {what}; {instead}")


class Kind(ABC):
    """A kind of model: one file that registers one of these (``textbayes.kinds.kinds``) adds it everywhere.

    Attributes
    ----------
    name : str
    chooses_words, refits : bool
        Whether labels can have words of their own, and be fitted again with the best of them.
    uses_lengths : bool
        Whether the lengths of documents matter, which cost a reading of the texts; its fitted models say so too.
    weighs_prior_by_label : bool
        Whether each label can choose by itself how far to follow a prior file, by fits of a linear regression.
    trains : bool
        Whether it learns from labels, so that ``train --model`` can name it.
    """

    name: ClassVar[str]
    chooses_words: ClassVar[bool] = False
    refits: ClassVar[bool] = False
    uses_lengths: ClassVar[bool] = False
    reads: ClassVar[str] = "weights"
    weighs_prior_by_label: ClassVar[bool] = False
    trains: ClassVar[bool] = True

    @property
    @abstractmethod
    def estimator_class(self) -> type:
        """The scikit-learn estimator whose parameters are the settings of this kind."""

    @abstractmethod
    def fit(
        self, estimator: Any, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions
    ) -> FittedModel:
        """Fit a copy of the estimator to documents and labels (n_docs, n_columns).

        Parameters
        ----------
        estimator : estimator of this kind
            It is not changed.
        features : Features
        indicator : boolean array (n_docs, n_columns)
        space : LabelSpace
        options : FitOptions
        """

    @abstractmethod
    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedModel:
        """Restore the fitted model of a file, everything checked that it could claim.

        Parameters
        ----------
        meta, arrays : mappings
            As ``to_state`` gave them.
        space : LabelSpace
        n_features : int
            Words of the model they must be for.
        """

    def make(self, **parameters: Any) -> Any:
        """An estimator of this kind, not fitted."""
        return self._made(self.estimator_class, parameters)

    def _made(self, estimator_class: type, parameters: Mapping[str, Any]) -> Any:
        known = list(inspect.signature(estimator_class).parameters)
        unknown = [name for name in parameters if name not in known]
        if unknown:
            raise InputError(
                f"model {self.name!r} has no parameter {unknown[0]!r}; it has: {', '.join(known)}"
                f"{did_you_mean(unknown[0], known)}"
            )
        return estimator_class(**parameters)

    def owns(self, estimator: Any) -> bool:
        """Whether an estimator is of this kind."""
        return isinstance(estimator, self.estimator_class)

    def samples(self, estimator: Any) -> bool:
        """Whether a fit draws from the posterior."""
        return False

    def sampling_settings(self, estimator: Any) -> Any:
        """Settings that decide which draws are made, but not how many; None where there are no draws."""
        return None

    def is_softmax(self, estimator: Any, space: LabelSpace) -> bool:
        """Whether scores of exclusive classes are those of one distribution over them."""
        return False

    def informed(self, estimator: Any, matched: MatchedPriors, features: Features, weight: FloatArray) -> Any:
        """Copy of the estimator that knows what a prior file says, label by label as far as ``weight``.

        Parameters
        ----------
        estimator : estimator of this kind
        matched : MatchedPriors
        features : Features
            The training texts.
        weight : array (n_columns,)
            How far each label follows the file, from 0 to 1.
        """
        raise NotSupportedError(
            f"a prior file cannot be used with a model of kind {self.name!r}; leave it out, or use another kind"
        )

    def check(self, estimator: Any, select: str | None, refit_k: int | None, refit_by: str) -> None:
        """Refuse what this kind cannot do, before the long work begins.

        Parameters
        ----------
        estimator : estimator of this kind
        select, refit_k, refit_by
            As for ``TextCategorizer``.
        """
        if select is not None and not self.chooses_words:
            raise NotSupportedError(
                f"a model of kind {self.name!r} uses all words; leave out the choice of words (select), or choose a "
                "linear model"
            )
        if refit_k is not None and not self.refits:
            raise NotSupportedError(f"a model of kind {self.name!r} is not fitted twice; leave out refit_k")

    @property
    def saved_classes(self) -> tuple[type, ...]:
        """The estimators that a model file can hold."""
        return (self.estimator_class,)

    def checked_parameters(self, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters of an estimator as a file has them: names, numbers and arrays, under names that it knows."""
        known, checked = inspect.signature(self.estimator_class).parameters, dict(parameters)
        for key, value in parameters.items():
            if key in known and key in ("prior", "inference") and isinstance(value, dict):
                continue  # given as an object: checked where it is made
            plain = isinstance(value, str | int | float | bool | None)
            array = isinstance(value, dict) and set(value) == {"array"} and isinstance(value["array"], str)
            numbers = isinstance(value, list) and all(type(one) in (int, float) for one in value)
            if key not in known or not (plain or array or numbers):
                raise InputError(f"{key} is not a parameter of {name}, or has no value that it could have")
        return checked

    def check_restored(self, estimator: Any, n_columns: int, n_features: int) -> None:  # noqa: B027
        """Refuse settings of a file that could not be fitted to so many columns and features."""

    def describe(self, estimator: Any) -> str:
        """The model in a word or two, for a list of several."""
        return self.name

    def describe_settings(self, estimator: Any) -> str:
        """The model with the settings that are not the default, for people."""
        defaults = self.estimator_class().get_params(deep=False)
        given = estimator.get_params(deep=False)
        changed = [name for name in given if name != "n_jobs" and repr(given[name]) != repr(defaults[name])]
        return ", ".join([self.name, *(f"{name} {given[name]}" for name in changed)])


def labels_for(indicator: BoolArray, space: LabelSpace) -> Any:
    """Labels as estimators take them: classes of documents that have one each, else the indicator matrix."""
    if space.kind == "binary":
        return space.classes[indicator[:, 0].astype(int)]
    if space.kind == "multiclass":
        return space.classes[indicator.argmax(axis=1)]
    return indicator.astype(np.int64)


def fresh(estimator: Any, **changes: Any) -> Any:
    """An unfitted copy with some parameters changed."""
    return clone(estimator).set_params(**changes)


def shared_parts(document: Any, weights: FloatArray, base: FloatArray, total: FloatArray) -> Contributions:
    """Parts x_j w_kj of one document's words, stretched label by label so that they add up to ``total`` − ``base``.

    A link other than the logit, or an average over the posterior, is not linear in the words: the mean slope between
    the base and the score shares it out.

    Parameters
    ----------
    document : sparse matrix (1, n_features)
    weights : array (n_columns, n_features)
    base, total : arrays (n_columns,)
    """
    columns = document.indices
    parts = document.data * weights[:, columns]
    read, wanted = parts.sum(axis=1), total - base
    stretch = np.divide(wanted, read, out=np.ones_like(wanted), where=read != 0.0)
    # Where words cancel out, what is left over belongs to the base.
    far = ~np.isfinite(stretch) | (np.abs(stretch) > _MOST_STRETCH) | (stretch < 0.0)
    stretch = np.where(far, 1.0, stretch)
    parts = parts * stretch[:, None]
    return Contributions(total - parts.sum(axis=1), columns, parts)


_MOST_STRETCH = 100.0

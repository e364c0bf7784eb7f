"""What a categorizer asks of every model, before and after its fit; what a model cannot do it refuses in a sentence."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self

import numpy as np
from sklearn.base import clone

from textbayes.core.errors import InputError, NotSupportedError, did_you_mean
from textbayes.core.labels import LabelSpace
from textbayes.core.machine import n_threads
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.state import from_state, to_state
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.inference import make_inference, samples
from textbayes.knowledge.match import MatchedPriors
from textbayes.posterior.intervals import Uncertainty

if TYPE_CHECKING:
    from textbayes.inference.gibbs.running import SamplingProgress
    from textbayes.inference.gibbs.sampler import Gibbs, State


_MOST_STRETCH = 100.0


class SamplingCallback:
    """Callback that follows sampling and other long fits, and may know how far it went before; this one does nothing.

    A stage is the sampling of one member on the texts of one fold, or on all of them: "fold 2 of 5", "all texts".
    ``textbayes.store.checkpoint.RunFolder`` keeps stages in files, so that a run can be interrupted.
    """

    def begin(self, labels: Sequence[str], mark: str) -> None:
        """Called before the first stage, with the labels in the order of their numbers and a digest of the training."""

    def progress(self, stage: str, at: SamplingProgress) -> None:
        """Called when a label of a stage has been sampled some more."""

    def step(self, what: str, done: int, total: int | None) -> None:
        """Called after each step of a fit that takes many and draws nothing."""

    def resume(self, stage: str) -> Mapping[int, State] | None:
        """States of a stage's labels to go on from."""
        return None

    def recall(self, fold: str) -> AnyArray | None:
        """Result of a fold that was finished before, None if there is none."""
        return None

    def finish(self, fold: str, result: AnyArray) -> None:
        """Called when a fold is finished, with its result; its stages are not needed any more."""


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
    refit : bool
        Whether it is a second fit; else the weights of these words stay, and the others are 0.
    stage, last : str; bool
        What is fitted, for progress; and whether it is the final model.
    watch : SamplingCallback
        Follows the sampling.
    groups : array (n_docs,) or None
        Documents of one group share a fold, where the model cross-validates.
    """

    weight: FloatArray | None = None
    words: BoolArray | None = None
    intervals: bool = False
    refit_k: int | None = None
    refit_by: str = "mean"
    refit: bool = True
    stage: str = "all texts"
    last: bool = True
    watch: SamplingCallback = field(default_factory=SamplingCallback)
    groups: IntArray | None = None


class TextModel:
    """Base of the estimators that a ``TextCategorizer`` can use: scikit-learn's methods, and these.

    A class that inherits from it and is registered (``textbayes.models.model_types``) is a model type: it can be named
    in ``train --model``, saved, explained and combined with others. ``fit_features``, ``scores``, ``contributions``,
    ``word_weights`` are needed, and what the fit sets is declared in ``learnt``, by which a model file keeps it (arrays
    have the lengths ``n_columns``, ``n_classes`` and ``n_features``); what is not overridden of the rest is refused.

    Attributes
    ----------
    model_type : str
        Its name among the model types.
    reads : {"weights", "counts"}
        What of the features the weights of words multiply.
    uses_lengths : bool
        Whether the lengths of documents matter, which cost a reading of the texts.
    softmax : bool
        Whether scores of exclusive classes are logarithms of one distribution over them, up to a constant of the
        document, and not log-odds of each class against the others.
    chooses_words, refits : bool
        Whether labels can have words of their own, and be fitted again with the best of them.
    weighs_prior_by_label : bool
        Whether each label can choose by itself how far to follow a prior file, by fits of a linear regression.
    gives_intervals : bool
        Whether it is not in vain to ask for intervals of its weights.
    trains : bool
        Whether it learns from labels, so that ``train --model`` can name it.
    label_space_ : LabelSpace
        The labels, after the fit.
    """

    model_type: ClassVar[str]
    reads: ClassVar[Literal["weights", "counts"]] = "weights"
    uses_lengths: ClassVar[bool] = False
    softmax: ClassVar[bool] = False
    chooses_words: ClassVar[bool] = False
    refits: ClassVar[bool] = False
    weighs_prior_by_label: ClassVar[bool] = False
    gives_intervals: ClassVar[bool] = True
    trains: ClassVar[bool] = True

    label_space_: LabelSpace
    classes_: AnyArray
    prior_knowledge: Any = None  # what a prior file says of words, where a model's parameters cannot hold it

    # -- before the fit ------------------------------------------------------------------------------------------------
    @classmethod
    def from_name(cls, **parameters: Any) -> Self:
        """An estimator with these parameters; others as they suit texts."""
        cls._check_names(parameters, list(inspect.signature(cls).parameters))
        return cls(**parameters)

    @classmethod
    def _check_names(cls, given: Iterable[str], known: Sequence[str]) -> None:
        """Refuse parameters that are not among the known ones."""
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InputError(
                f"model {cls.model_type!r} has no parameter {unknown[0]!r}; it has: {', '.join(known)}"
                f"{did_you_mean(unknown[0], known)}"
            )

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy, given documents and labels as a categorizer has them; this one stays as it is.

        Parameters
        ----------
        features : Features
        indicator : boolean array (n_docs, n_columns)
        space : LabelSpace
            Of the columns.
        options : FitOptions, optional
        """
        self._refuse("be trained", "choose another model")

    def with_prior(self, matched: MatchedPriors, features: Features, weight: FloatArray) -> Self:
        """Copy, not fitted, that knows what a prior file says, label by label as far as ``weight``.

        Parameters
        ----------
        matched : MatchedPriors
        features : Features
            The training texts.
        weight : array (n_columns,)
            How far each label follows the file, from 0 to 1.
        """
        raise NotSupportedError(
            f"a prior file cannot be used with a model of type {self.model_type!r}; leave it out, or use another model"
        )

    def unfitted(self, **changes: Any) -> Self:
        """Copy that is not fitted, with some parameters changed; what a prior file says is retained."""
        fresh: Self = clone(self).set_params(**changes)
        if self.prior_knowledge is not None:
            fresh.prior_knowledge = self.prior_knowledge
        return fresh

    def with_labels(self, space: LabelSpace) -> Self:
        """The same, fitted to the columns of these labels."""
        self.label_space_, self.classes_ = space, space.classes
        return self

    def is_softmax_of(self, space: LabelSpace) -> bool:
        """Whether scores of these labels are those of one distribution over them."""
        return self.softmax and space.kind == "multiclass"

    @property
    def samples(self) -> bool:
        """Whether a fit draws from the posterior."""
        return False

    def sampling_settings(self) -> Any:
        """Settings that decide which draws are made, but not how many; None where there are no draws."""
        return None

    def check_options(self, select: str | None, refit_k: int | None, refit_by: str) -> None:
        """Refuse what the model cannot do, before the long work begins.

        Parameters
        ----------
        select, refit_k, refit_by
            As for ``TextCategorizer``.
        """
        if select is not None and not self.chooses_words:
            raise NotSupportedError(
                f"a model of type {self.model_type!r} uses all words; leave out the choice of words (select), or "
                "choose a linear model"
            )
        if refit_k is not None and not self.refits:
            raise NotSupportedError(f"a model of type {self.model_type!r} is not fitted twice; leave out refit_k")

    def check_shapes(self, n_columns: int, n_features: int) -> None:
        """Refuse parameters, such as those of a file, that cannot be fitted to so many columns and features."""

    def description(self) -> str:
        """The model in a word or two, for a list of several."""
        return self.model_type

    def settings_description(self) -> str:
        """The model with the settings that are not the default, for people."""
        given: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        defaults = {name: one.default for name, one in inspect.signature(type(self)).parameters.items()}
        changed = [name for name in given if name != "n_jobs" and repr(given[name]) != repr(defaults[name])]
        return ", ".join([self.model_type, *(f"{name} {given[name]}" for name in changed)])

    # -- after the fit -------------------------------------------------------------------------------------------------
    @property
    def is_softmax(self) -> bool:
        """Whether scores are those of one distribution over the classes."""
        return self.is_softmax_of(self.label_space_)

    @property
    def has_posterior(self) -> bool:
        """Whether the model has a posterior of its own to take intervals of probabilities from."""
        return False

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Log-odds of every column (n_docs, n_columns); averaged over the posterior where there is one.

        Parameters
        ----------
        features : Features
        posterior_predictive : bool
            Average over the posterior rather than score at its mean.
        """
        raise NotImplementedError

    def contributions(self, document: Features) -> Contributions:
        """The parts that words have in the scores of one document."""
        raise NotImplementedError

    def word_weights(self) -> WordWeights:
        """Weights of single words."""
        raise NotImplementedError

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The model as a JSON-able description and named arrays: its parameters, and what ``learnt`` says."""
        return to_state(self)

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> Self:
        """Restore the fitted model of a file, everything checked that it could claim.

        Parameters
        ----------
        meta, arrays : mappings
            As ``to_state`` gave them.
        space : LabelSpace
        n_features : int
            Words of the model they must be for.
        """
        model: Self = from_state(
            cls, meta, arrays, f"the model of type {cls.model_type!r}",
            n_columns=space.n_columns, n_classes=len(space.classes), n_features=n_features,
        )  # fmt: skip
        model.label_space_ = space
        return model

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """Model after more documents; this one stays as it is.

        Parameters
        ----------
        features : Features
        indicator : boolean array (n_docs, n_columns)
        weight : array (n_docs,), optional
            How much each document counts.
        """
        self._refuse("be updated", "train it again with all texts")

    def probability_interval(
        self, features: Features, level: float, inverse_temperature: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each probability, where the model :attr:`has_posterior`."""
        self._refuse("give credible intervals of probabilities", "use a model that samples, or --model online")

    def uncertainty(self, features: Features) -> Uncertainty:
        """The parts of the uncertainty of each label's own yes or no, where the model :attr:`has_posterior`."""
        self._refuse("tell parts of its uncertainty", "use a model that samples, or --model online")

    def known_words(self) -> BoolArray:
        """Mask of the features that say something of some label, (n_features,)."""
        return np.asarray((self.word_weights().weights != 0.0).any(axis=0))

    def word_totals(self, features: Features) -> FloatArray:
        """Sum of each word's contributions to the scores of these documents, (n_columns, n_features).

        Weights times the sums of what they multiply: exact where scores are linear in the words.
        """
        matrix = features.counts if self.reads == "counts" else features.weights
        return np.asarray(self.word_weights().weights * np.asarray(matrix.sum(axis=0)).ravel())

    def _refuse(self, what: str, instead: str) -> NoReturn:
        raise NotSupportedError(f"a model of type {self.model_type!r} cannot {what}; {instead}")


def labels_for(indicator: BoolArray, space: LabelSpace) -> Any:
    """Labels as estimators take them: classes of documents that have one each, else the indicator matrix."""
    if space.kind == "multilabel":
        return indicator.astype(np.int64)
    return space.classes[class_codes(indicator, space)]


def class_codes(indicator: BoolArray, space: LabelSpace) -> IntArray:
    """The number of each document's class, of classes that exclude each other."""
    return indicator[:, 0].astype(np.int64) if space.kind == "binary" else indicator.argmax(axis=1)


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


_SHARE_IN_FOLDS, _LEAST_IN_FOLDS, _R_HAT_IN_FOLDS = 0.25, 100.0, 1.05


@contextmanager
def watched(member: Any, options: FitOptions, again: str = "") -> Iterator[None]:
    """Let a model that samples report its progress, and resume, while it is fitted.

    All but the last fit, that of all texts, are for probabilities alone, which take fewer draws: a quarter of the
    effective sample size asked for, and 100 at least, at an R-hat of at most 1.05.

    Parameters
    ----------
    member : BayesLinearClassifier or BayesMultinomialClassifier
        Its inference is another one meanwhile.
    options : FitOptions
    again : str
        Added to the name of the stage.
    """
    asked = member.inference
    if samples(asked):
        stage = f"{options.stage}, {again}" if again else options.stage
        member.set_params(inference=_followed(member, options.watch, stage, options.last))
    try:
        yield
    finally:
        member.set_params(inference=asked)


def sampling_settings(member: Any) -> Any:
    """Settings that decide which draws are made, but not how many; of an inference that makes none its name."""
    sampler: Any = make_inference(member.inference, member.tol, member.max_iter, 1)
    if not sampler.samples:
        return sampler.name
    return [sampler.chains, sampler.warmup, sampler.thin, sampler.plain_settings]


def _followed(member: Any, watch: SamplingCallback, stage: str, last: bool) -> Gibbs:
    sampler: Any = make_inference(member.inference, member.tol, member.max_iter, 1)
    asked: Callable[[SamplingProgress], None] | None = sampler.progress
    sampler = copy.copy(sampler)
    sampler.n_jobs, sampler.resume = n_threads(member.n_jobs), watch.resume(stage)

    if not last:
        enough = min(sampler.target_ess, max(_LEAST_IN_FOLDS, _SHARE_IN_FOLDS * sampler.target_ess))
        sampler.set_params(target_ess=enough, max_r_hat=max(sampler.max_r_hat, _R_HAT_IN_FOLDS))

    def progress(at: SamplingProgress) -> None:
        watch.progress(stage, at)
        if asked is not None:
            asked(at)

    sampler.progress = progress
    return sampler

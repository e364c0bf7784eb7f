"""A classifier of documents by count models, with scikit-learn's conventions and exact learning in parts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from textbayes.core.codec import Fields, Text
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.folds import group_codes
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.state import Part
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix
from textbayes.models import model_types
from textbayes.models.counts.base import BaseCountModel
from textbayes.models.counts.families import count_models
from textbayes.models.counts.inputs import (
    checked_counts,
    checked_lengths,
    choose_beta,
    encode_classes,
    log_class_prior,
    made_model,
    one_label_each,
    weighted_indicator,
)
from textbayes.models.counts.text_model import PARAMETERS, CountsModel


@model_types.register("counts")
class BayesCountClassifier(CountsModel, ClassifierMixin, BaseEstimator):
    """Generative classifier of word counts, p(c | x) ∝ p(c) p(x | c), with a choice of count models.

    Parameters
    ----------
    model : str or count model
        ``"dirichlet_negative_binomial"``, ``"dirichlet_poisson"``, ``"negative_binomial"``, ``"poisson"``,
        ``"multinomial"``, ``"bernoulli"``, ``"complement"``, or an object of ``models.counts.families``, which
        brings its settings.
    beta : None, "auto", "cv", "evidence" or tuple
        The constants of the Dirichlet models: ``"auto"`` from the amount of text, ``"cv"`` those of the least held-out
        log-loss, ``"evidence"`` those of the highest marginal likelihood, or numbers; the paper's are (2, 1). None is
        what a model object brings, and ``"auto"`` otherwise. Other models have none.
    prediction : {"mode", "mean", "integrated"}
        At the mode of the parameters, at their posterior means, or averaged over draws from the posterior; the last two
        are of the Dirichlet models and sample them.
    class_prior : {"counts", "uniform"} or array (n_classes,)
        p(c): the shares of the training documents, equal, or given.
    cv : int
        Folds of ``beta="cv"``.
    random_state : int
        Seed of folds and draws.
    n_jobs : int or None
        Threads for draws; the result does not depend on it.

    Attributes
    ----------
    classes_ : array of the labels
    model_ : the count model used, with its settings
    estimate_ : its parameters, arrays (n_classes, n_features)
    statistics_ : what it remembers of the documents, which adds up exactly
    class_log_prior_ : array (n_classes,)
    class_count_ : array (n_classes,), the weight of the documents of each class

    Notes
    -----
    ``lengths`` are thousands of words (``TextVectorizer.document_lengths``) and count every word of a document, those
    outside of the vocabulary too. Where they are not given, the sum of a row stands for it. A document of length 0 says
    nothing: it has the class prior's probabilities, and when learnt it counts for the class prior alone.

    References
    ----------
    Airoldi, Cohen & Fienberg (2005), Bayesian methods for frequent terms in text: models of contagion and the Δ²
    statistic.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 0, 1], [2, 1, 0], [0, 2, 2], [1, 4, 1]])
    >>> model = BayesCountClassifier("poisson").fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[2, 0, 1], [0, 3, 0]]).tolist()
    ['a', 'b']
    """

    fields: ClassVar[Fields] = PARAMETERS | {"model": Text() | Part(count_models)}

    def __init__(
        self,
        model: Any = "dirichlet_negative_binomial",
        beta: Any = None,
        prediction: str = "mode",
        class_prior: Any = "counts",
        cv: int = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.beta = beta
        self.prediction = prediction
        self.class_prior = class_prior
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(
        self,
        X: Matrix | ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
        groups: Iterable[Hashable] | None = None,
    ) -> Self:
        """Learn counts X (n_docs, n_features), sparse or dense, of documents with one label each.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        y : sequence of n_docs labels
        sample_weight : array (n_docs,), optional
            How much each document counts.
        lengths : array (n_docs,), optional
            Thousands of words of each document; the sums of the rows unless given.
        groups : sequence of n_docs values, optional
            With ``beta="cv"`` documents of one group (an author, copies of one text) share a fold.
        """
        return self.fit_classes(X, y, None, sample_weight, lengths, groups)

    @all_or_nothing
    def fit_classes(
        self,
        X: Matrix | ArrayLike,
        y: Any,
        classes: Any,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
        groups: Iterable[Hashable] | None = None,
    ) -> Self:
        """As :meth:`fit`, with classes that there may be no document of.

        Parameters
        ----------
        X, y, sample_weight, lengths, groups
            As for :meth:`fit`.
        classes : sequence of labels or None
            All classes, in the order of the results; None for those of the labels.
        """
        X = checked_counts(self, X, reset=True)
        codes, space = encode_classes(one_label_each(X, y), None if classes is None else list(classes))
        return self._finalise(*self._sums(X, codes, sample_weight, lengths, space, True, groups))

    @all_or_nothing
    def partial_fit(
        self,
        X: Matrix | ArrayLike,
        y: Any,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> Self:
        """Learn more documents; the result is that of learning all at once.

        The first call names all ``classes`` that there will be.

        Parameters
        ----------
        X, y, sample_weight, lengths
            As for :meth:`fit`.
        classes : sequence of labels, optional
            All classes there will be; needed by the first call.
        """
        first = not hasattr(self, "statistics_")
        X = checked_counts(self, X, reset=first)
        labels = one_label_each(X, y)
        if first:
            self._refuse_search()
            if classes is None:
                raise InputError("classes must be passed on the first call to partial_fit: all labels there will be")
            names = sorted(dict.fromkeys(np.asarray(classes).tolist()))
            codes, space = encode_classes(labels, names)
        else:
            codes, space = encode_classes(labels, self.classes_.tolist())
            if classes is not None and sorted(np.asarray(classes).tolist()) != sorted(space.classes.tolist()):
                raise InputError(
                    f"classes={list(classes)!r} are given, but {space.classes.tolist()} were given in the first call"
                )
            if self.statistics_ is None:
                raise NotSupportedError(
                    "this model was saved without its statistics, so it cannot be updated; train it again"
                )
        return self._finalise(*self._sums(X, codes, sample_weight, lengths, space, first))

    def gather(
        self,
        X: Matrix | ArrayLike,
        y: Any,
        classes: Any,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> None:
        """Add documents to the statistics and estimate nothing yet; after the last ones call :meth:`finalise`.

        Parameters
        ----------
        X, y, classes, sample_weight, lengths
            As for :meth:`fit_classes`.
        """
        first = not hasattr(self, "statistics_")
        X = checked_counts(self, X, reset=first)
        codes, space = encode_classes(one_label_each(X, y), list(classes))
        self._refuse_search()
        self.statistics_, self.class_count_ = self._sums(X, codes, sample_weight, lengths, space, first)

    def begin(self, classes: Any, n_features: int) -> Self:
        """Begin with no document, of whatever classes; :meth:`gather` adds some.

        Parameters
        ----------
        classes : sequence of labels
            All classes, in the order of the results.
        n_features : int
        """
        self._refuse_search()
        space = encode_classes(np.asarray(classes), list(classes))[1]
        self.label_space_, self.classes_, self.n_features_in_ = space, space.classes, n_features
        self.model_: BaseCountModel[Any, Any] = self._made_model()
        self.statistics_ = self.model_.empty(len(space.classes), n_features)
        self.class_count_ = np.zeros(len(space.classes))
        return self

    def gathered(self, other: BayesCountClassifier) -> Self:
        """The documents gathered by this one and another that began alike; nothing is estimated."""
        self.statistics_ = self.model_.combine(self.statistics_, other.statistics_)
        self.class_count_ = self.class_count_ + other.class_count_
        return self

    def finalise(self) -> Self:
        """Estimate everything that follows from the documents gathered."""
        return self._finalise(self.statistics_, self.class_count_)

    def combine(self, other: BayesCountClassifier) -> BayesCountClassifier:
        """The classifier of the documents of both, as if it had learnt them all at once."""
        check_is_fitted(self)
        if not isinstance(other, BayesCountClassifier):
            raise InputError(f"combine was given {type(other).__name__}; pass another fitted BayesCountClassifier")
        check_is_fitted(other)
        if self.statistics_ is None or other.statistics_ is None:
            raise NotSupportedError("a model that was stored without its statistics cannot be combined; fit both")
        if self.classes_.tolist() != other.classes_.tolist():
            raise InputError(f"the classes differ: {self.classes_.tolist()} and {other.classes_.tolist()}")
        if repr(self.model_) != repr(other.model_) or repr(self.class_prior) != repr(other.class_prior):
            raise InputError(
                f"the models differ: {self.model_!r} and {other.model_!r}; combine models of the same settings "
                "(constants found by beta='cv' are rarely the same: pass them as numbers)"
            )
        both: BayesCountClassifier = clone(self)
        both.label_space_, both.classes_, both.n_features_in_ = self.label_space_, self.classes_, self.n_features_in_
        both.model_ = self.model_
        return both._finalise(
            self.model_.combine(self.statistics_, other.statistics_), self.class_count_ + other.class_count_
        )

    def predict_joint_log_proba(self, X: Matrix | ArrayLike, lengths: ArrayLike | None = None) -> FloatArray:
        """Joint log-probability ln p(c) + ln p(x | c) up to a constant of the document, (n_docs, n_classes).

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        lengths : array (n_docs,), optional
            Thousands of words of each document; the sums of the rows unless given.
        """
        check_is_fitted(self, "estimate_")
        X = checked_counts(self, X, reset=False)
        omega = checked_lengths(X, lengths)
        scores = np.zeros((X.shape[0], len(self.classes_)))
        nonempty = omega > 0.0
        scores[nonempty] = self.model_.class_scores(X[nonempty], omega[nonempty], self.estimate_)
        return np.asarray(scores + self.class_log_prior_)

    def predict_log_proba(self, X: Matrix | ArrayLike, lengths: ArrayLike | None = None) -> FloatArray:
        """Log-probabilities ln p(c | x), logarithms of ``predict_proba``; arguments as there."""
        return np.asarray(special.log_softmax(self.predict_joint_log_proba(X, lengths), axis=1))

    def predict_proba(self, X: Matrix | ArrayLike, lengths: ArrayLike | None = None) -> FloatArray:
        """Probabilities p(c | x), one column per class; rows add up to one.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        lengths : array (n_docs,), optional
            Thousands of words of each document; the sums of the rows unless given.
        """
        return normalise_classes(self.predict_joint_log_proba(X, lengths))

    def predict(self, X: Matrix | ArrayLike, lengths: ArrayLike | None = None) -> AnyArray:
        """Likeliest class of each document.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        lengths : array (n_docs,), optional
            Thousands of words of each document; the sums of the rows unless given.
        """
        joint = self.predict_joint_log_proba(X, lengths)
        return np.asarray(self.classes_[joint.argmax(axis=1)])

    def decision_function(self, X: Matrix | ArrayLike, lengths: ArrayLike | None = None) -> FloatArray:
        """Log-probabilities ln p(c | x) of every class; for two classes a vector of the log-odds of the second.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features)
            Counts of words.
        lengths : array (n_docs,), optional
            Thousands of words of each document; the sums of the rows unless given.
        """
        log_proba = self.predict_log_proba(X, lengths)
        return log_proba[:, 1] - log_proba[:, 0] if len(self.classes_) == 2 else log_proba

    def description(self) -> str:
        """The name of the count model."""
        return self.model if isinstance(self.model, str) else str(self.model.name)

    def check_shapes(self, n_columns: int, n_features: int) -> None:
        """Refuse parameters that cannot be used."""
        self.check_settings()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on the checks' data, which are no counts
        return tags

    def _refuse_search(self) -> None:
        if isinstance(self.beta, str) and self.beta == "cv":
            raise NotSupportedError("beta='cv' needs all documents at once; call fit, or use beta='auto' or numbers")

    def _sums(
        self,
        X: Any,
        codes: IntArray,
        sample_weight: Any,
        lengths: Any,
        space: LabelSpace,
        first: bool,
        groups: Iterable[Hashable] | None = None,
    ) -> tuple[Any, FloatArray]:
        """Statistics and numbers of documents by class, those learnt before included."""
        model = self._made_model() if first else self.model_
        omega = checked_lengths(X, lengths)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        n_classes = len(space.classes)
        Y = weighted_indicator(codes, weight, n_classes)
        count = np.asarray(Y.sum(axis=0)).ravel()
        if first and not count.any():
            raise InputError("sample_weight is 0 for every document, which leaves nothing to learn; give some a weight")
        if first and not X.nnz:
            raise InputError("no document has a word: all counts are 0; a count model needs at least one with words")
        nonempty = omega > 0.0  # an empty document counts for the shares of the classes and says nothing of words
        X, Y, omega = X[nonempty], Y[nonempty], omega[nonempty]
        if first and isinstance(self.beta, str) and self.beta == "cv":
            model = choose_beta(
                model, X, Y, omega, log_class_prior(self.class_prior, count), self.cv, self.random_state,
                None if groups is None else group_codes(groups, len(nonempty))[nonempty],
            )  # fmt: skip
        self.label_space_, self.classes_ = space, space.classes
        self.model_ = model
        stats = model.statistics(X, Y, omega)
        if not first:
            stats, count = model.combine(self.statistics_, stats), self.class_count_ + count
        return stats, count

    def _finalise(self, stats: Any, count: FloatArray) -> Self:
        """Everything that follows from the statistics."""
        self.statistics_, self.class_count_ = stats, count
        self.class_log_prior_ = log_class_prior(self.class_prior, count)
        # Laid out as a file has it, so that sums are added up in the same order after loading.
        found = self.model_.estimate(stats)
        self.estimate_ = type(found)(*(None if part is None else np.ascontiguousarray(part) for part in found))
        return self

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, before any document is learnt."""
        self._made_model()

    def _made_model(self) -> BaseCountModel[Any, Any]:
        return made_model(self.model, self.beta, self.prediction, self.random_state, self.n_jobs)

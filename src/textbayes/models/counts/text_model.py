"""What count classifiers answer a categorizer with: of several labels each has a classifier of its own.

The last part makes arrays and JSON of a fitted ``BayesCountClassifier``, and back, with what a file could claim
checked.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from textbayes.core.array_fields import Array, Hyper
from textbayes.core.codec import Choice, Field, Flag, List, Null, Number, Text, Whole, read, restoring, written
from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.state import Part, part_of, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.knowledge.informative_prior import count_priors
from textbayes.knowledge.match import MatchedPriors
from textbayes.models.base import FitOptions, TextModel, labels_for
from textbayes.models.counts import make_count_model
from textbayes.models.counts.base import CountSums, DocumentStore
from textbayes.models.counts.families import count_models

if TYPE_CHECKING:
    from textbayes.models.counts.classifier import BayesCountClassifier

_REST, _LABEL = "no", "yes"  # of one label against all others


class CountsModel(TextModel):
    """Which class would write a document with these counts; labels that may go together are decided one by one.

    Attributes
    ----------
    by_label_ : list of BayesCountClassifier
        For labels that may go together: one for each, with the classes "no" and "yes".
    typical_length_ : float
        Thousands of words of a typical document, for which the log-ratios of words are.
    words_ : boolean array (n_classifiers, n_features) or None
        The words that each classifier uses, where some were chosen; exclusive classes share those of any of them.
    """

    model_type = "counts"
    reads = "counts"
    uses_lengths = True
    softmax = True
    chooses_words = True

    words_: BoolArray | None = None
    by_label_: list[BayesCountClassifier]
    typical_length_: float
    n_features_in_: int
    classes_: AnyArray

    @classmethod
    def from_name(cls, **parameters: Any) -> Self:
        """A classifier with these parameters; those of its count model are given beside its own."""
        model = parameters.get("model", signature(cls).parameters["model"].default)
        own = {name: value for name, value in parameters.items() if name in signature(cls).parameters}
        settings = {name: value for name, value in parameters.items() if name not in own}
        cls._check_names(settings, [*signature(cls).parameters, *(one.name for one in fields(make_count_model(model)))])
        return cls(**own | {"model": make_count_model(model, **settings)}) if settings else super().from_name(**own)

    @property
    def classifiers(self) -> list[BayesCountClassifier]:
        """The classifier of all classes, or those of the labels."""
        one: Any = self
        return self.by_label_ if self.label_space_.kind == "multilabel" else [one]

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy; parameters as for ``TextModel``."""
        options = options or FitOptions()
        words = None if options.words is None else _words_of_classifiers(options.words, space)
        learnt = []
        for number, labels in enumerate(labels_by_classifier(indicator, space)):
            one = self._classifier(number, space, words)
            one.fit_classes(
                _some_words(features.counts, words, number), labels, class_names(space), sample_weight=options.weight,
                lengths=features.lengths, groups=options.groups,
            )  # fmt: skip
            learnt.append(one)
        mean = float(features.lengths.mean()) if features.n_docs else 0.0
        return self.of_classifiers(learnt, space, mean, words)

    def fit_parts(self, parts: Iterable[tuple[Features, BoolArray, Any]], space: LabelSpace) -> Self:
        """The model that :meth:`fit_features` makes of all documents, from documents that come in parts.

        Parameters
        ----------
        parts : iterable of (Features, indicator, weights or None)
        space : LabelSpace
        """
        n_classifiers = space.n_columns if space.kind == "multilabel" else 1
        learnt = [self._classifier(number, space) for number in range(n_classifiers)]
        lengths = []
        for features, indicator, weight in parts:
            lengths.append(features.lengths)
            for one, labels in zip(learnt, labels_by_classifier(indicator, space), strict=True):
                one.gather(features.counts, labels, class_names(space), sample_weight=weight, lengths=features.lengths)
            if isinstance(learnt[0].statistics_, DocumentStore):
                raise NotSupportedError(
                    f"count model {self.description()!r} keeps all documents in memory; use counts:model=poisson, or "
                    "train in memory (without --out-of-core)"
                )
        for one in learnt:
            one.finalise()
        return self.of_classifiers(learnt, space, float(np.concatenate(lengths).mean()))

    def of_classifiers(
        self, learnt: list[BayesCountClassifier], space: LabelSpace, length: float, words: BoolArray | None = None
    ) -> Self:
        """A model of fitted classifiers, one or one for each label; ``length`` is that of a typical document."""
        first: Any = learnt[0]
        made: Self = self.unfitted() if space.kind == "multilabel" else first
        if space.kind == "multilabel":
            made.by_label_, made.n_features_in_ = learnt, first.n_features_in_
        made.with_labels(space).typical_length_ = max(length, 1e-3)
        made.words_ = words
        return made

    def _classifier(self, number: int, space: LabelSpace, words: BoolArray | None = None) -> BayesCountClassifier:
        """A classifier to be fitted, which knows what a prior file says."""
        one: Any = self.unfitted()
        if self.prior_knowledge is None:
            return one
        model = make_count_model(one.model)
        known = {field.name for field in fields(model)}
        log_ratios, pseudo_counts, rates = (_some_words(known, words, number) for known in self.prior_knowledge)
        ratios = _rows_of_classes(log_ratios, 0.0, number, space)
        worth = _rows_of_classes(pseudo_counts, 1.0, number, space)
        changes: dict[str, Any] = {}
        if "rate_means" in known:
            changes["rate_means"] = rates * np.exp(ratios)
            if "pseudo_counts" in known:
                changes["pseudo_counts"] = worth
        elif model.name == "complement":
            raise NotSupportedError(
                "the complement model scores a class by the other classes and cannot use prior weights of words; use "
                "counts:model=multinomial, or another"
            )
        else:
            changes["pseudo_counts"] = worth * np.exp(ratios)
        beta = "auto" if one.beta is None and "beta" in known else one.beta
        return one.set_params(model=replace(model, **changes), beta=beta)

    def with_prior(self, matched: MatchedPriors, features: Features, weight: FloatArray) -> Self:
        """Copy, not fitted, that knows what a table says; parameters as for ``TextModel``."""
        after = self.unfitted()
        after.prior_knowledge = count_priors(matched, features.counts, features.lengths, weight)
        return after

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Joint log-probabilities of the classes; of two classes, and of each label, log-odds."""
        if self.is_softmax:
            counts = _some_words(features.counts, self.words_, 0)
            return self.classifiers[0].predict_joint_log_proba(counts, features.lengths)
        columns = [
            one.decision_function(_some_words(features.counts, self.words_, number), features.lengths)
            for number, one in enumerate(self.classifiers)
        ]
        return np.stack(columns, axis=1)

    def contributions(self, document: Features) -> Contributions:
        """Contribution of each word: the score with its count less that without it, in a document of this length."""
        columns = document.counts.indices.astype(np.int64)
        length = float(document.lengths[0])
        parts = self._of_single_words(columns, np.asarray(document.counts.data, dtype=np.float64), length)
        total = self.scores(document)[0]
        if not length > 0.0:
            return Contributions(total, columns[:0], parts[:, :0])
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def word_weights(self) -> WordWeights:
        """Log-ratios of a word that occurs once: for the label against the others, as often as they are."""
        n_features = self._n_features
        parts = self._of_single_words(np.arange(n_features), np.ones(n_features), self.typical_length_)
        if self.is_softmax:
            shares = np.exp(self.classifiers[0].class_log_prior_)
            others = (shares @ parts - shares[:, None] * parts) / np.maximum(1.0 - shares, 1e-12)[:, None]
            parts = parts - others
        return WordWeights(parts, None, "log-ratio of one occurrence")

    def known_words(self) -> BoolArray:
        """All words that are used: those that a document lacks count too."""
        every = np.ones(self.n_features_in_, dtype=np.bool_)
        return every if self.words_ is None else np.logical_or.reduce(self.words_)

    @property
    def _n_features(self) -> int:
        """Words of the vocabulary; a classifier knows those that it uses alone."""
        return self.n_features_in_ if self.words_ is None else self.words_.shape[1]

    def _of_single_words(self, columns: IntArray, values: FloatArray, length: float) -> FloatArray:
        """Contribution of each word by itself to every score, (n_columns, n_words); models add up over the words."""
        if not length > 0.0 or not len(columns):
            return np.zeros((self.label_space_.n_columns, len(columns)))
        n_words = len(columns)
        # The last row is a document of the same length without any known word.
        indptr = np.append(np.arange(n_words + 1), n_words)
        single = sparse.csr_matrix((values, columns, indptr), shape=(n_words + 1, self._n_features))
        lengths = np.full(n_words + 1, length)
        scores = [
            one.model_.class_scores(_some_words(single, self.words_, number), lengths, one.estimate_)
            for number, one in enumerate(self.classifiers)
        ]
        parts = [(one[:-1] - one[-1]).T for one in scores]
        return parts[0] if self.is_softmax else np.stack([one[1] - one[0] for one in parts])

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """Exactly the model of all documents, the earlier ones and these."""
        learnt, space, labels = [], self.label_space_, labels_by_classifier(indicator, self.label_space_)
        for number, one in enumerate(self.classifiers):
            counts = _some_words(features.counts, self.words_, number)
            learnt.append(
                copy.copy(one).partial_fit(counts, labels[number], sample_weight=weight, lengths=features.lengths)
            )
        return self.of_classifiers(learnt, space, self.typical_length_, self.words_)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Estimates and statistics of all classifiers as a JSON-able description and arrays."""
        described: list[dict[str, Any]] = []
        arrays: dict[str, AnyArray] = {}
        for number, one in enumerate(self.classifiers):
            meta, own = state_of_classifier(one, statistics=True)
            described.append(meta)
            arrays |= under(str(number), own)
        if self.words_ is not None:
            arrays["words"] = self.words_
        return {"length": self.typical_length_, "classifiers": described}, arrays

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> Self:
        """The model of a file; parameters as for ``TextModel``."""
        described, length = meta.get("classifiers"), meta.get("length")
        n = space.n_columns if space.kind == "multilabel" else 1
        if set(meta) != {"classifiers", "length"} or not isinstance(described, list) or len(described) != n:
            raise ModelFileError("the model's count models are not those of its labels; was the file altered?")
        if type(length) is not float or not 0.0 < length < 1e9:
            raise ModelFileError(f"the model's texts have a length of {length!r:.40}; was the file altered?")
        names, learnt, words = list(class_names(space)), [], arrays.get("words")
        if words is not None and (words.dtype != np.bool_ or words.shape != (n, n_features)):
            raise ModelFileError("the model's chosen words are not those of its labels; was the file altered?")
        for number, one in enumerate(described):
            check_saved_classifier(one, names, n_features if words is None else int(words[number].sum()))
            learnt.append(restore_classifier(cls, one, part_of(arrays, str(number))))
        return cls().of_classifiers(learnt, space, length, words)


def _words_of_classifiers(words: BoolArray, space: LabelSpace) -> BoolArray:
    """The words that each classifier uses, from those chosen for each label, (n_classifiers, n_features)."""
    found = np.logical_or.reduce(words, axis=0, keepdims=True) if space.kind == "multiclass" else words
    empty = ~np.logical_or.reduce(found, axis=1)
    if empty.any():
        name = space.column_names[int(empty.argmax())]
        raise InputError(
            f"no word is chosen for label {name!r}, and a count model needs one at least; lower the least score "
            "(select_threshold), or give only a number of words (select_k)"
        )
    return found


def _some_words(matrix: Any, words: BoolArray | None, number: int) -> Any:
    """The columns of the words that a classifier uses."""
    return matrix if words is None else matrix[:, np.flatnonzero(words[number])]


def labels_by_classifier(indicator: BoolArray, space: LabelSpace) -> list[Any]:
    """Labels of each classifier: one of all classes, or yes and no for each label."""
    if space.kind != "multilabel":
        return [labels_for(indicator, space)]
    return [np.where(column, _LABEL, _REST) for column in indicator.T]


def class_names(space: LabelSpace) -> list[Any]:
    """Classes of each classifier."""
    return [_REST, _LABEL] if space.kind == "multilabel" else space.classes.tolist()


def _rows_of_classes(rows: FloatArray, other: float, number: int, space: LabelSpace) -> FloatArray:
    """A row for each class of classifier ``number``; of two classes a prior file says nothing of the first."""
    if space.kind == "multiclass":
        return rows
    return np.stack([np.broadcast_to(other, rows[number].shape), rows[number]])


PARAMETERS: dict[str, Field] = {
    "beta": Choice("auto", "cv", "evidence") | Hyper() | List(Number(), make=tuple) | Null(),
    "prediction": Choice("mode", "mean", "integrated"),
    "class_prior": Choice("counts", "uniform") | Hyper(0.0, 1.0) | List(Number(0.0, 1.0), make=tuple),
    "cv": Whole(2) | Null(),
    "random_state": Whole(0, 2**63 - 1) | Null(),
    "n_jobs": Whole(-1024, 1024) | Null(),
}


def state_of_classifier(classifier: Any, statistics: bool) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A JSON-able description and named arrays."""
    kept = classifier.statistics_ if statistics else None
    values = {name: getattr(classifier, name) for name in PARAMETERS} | {
        "model": classifier.model_,
        "n_features": classifier.n_features_in_,
        "classes": classifier.classes_.tolist(),
        "class_log_prior": classifier.class_log_prior_,
        "class_count": classifier.class_count_,
        "estimate": classifier.estimate_,
        "sums": kept if isinstance(kept, CountSums) else None,
        "documents": kept if isinstance(kept, DocumentStore) else None,
    }
    return written(values, _fields(type(classifier.model_)))


def check_saved_classifier(meta: Any, classes: list[Any], n_features: int) -> None:
    """Refuse the state of a classifier in a file that is not one of these classes and so many words."""
    if not isinstance(meta, dict) or meta.get("classes") != classes or meta.get("n_features") != n_features:
        raise ModelFileError("the model's count model is of other words or labels; was the file altered?")


def restore_classifier(cls: type, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Any:
    """The classifier described; what does not fit together is refused, since a file can claim anything."""
    what = "the count classifier"
    with restoring(what):
        model_class, n_classes = count_models.get(meta["model"]["name"]), len(meta["classes"])
        found = read(_fields(model_class), meta, arrays, what, n_classes=n_classes)
        classifier = cls(model=found["model"], **{name: found[name] for name in PARAMETERS})
        classes = found["classes"]
        text = all(isinstance(name, str) for name in classes)
        names = np.array(classes, dtype=object if text else None)
        classifier.label_space_ = LabelSpace(names, "binary" if n_classes == 2 else "multiclass")
        classifier.classes_, classifier.n_features_in_ = classifier.label_space_.classes, found["n_features"]
        classifier.model_, classifier.estimate_ = found["model"], found["estimate"]
        classifier.class_log_prior_, classifier.class_count_ = found["class_log_prior"], found["class_count"]
        classifier.statistics_ = found["documents"] if found["sums"] is None else found["sums"]
        _check_statistics(classifier.statistics_, n_classes, found["n_features"])
        return classifier


def _fields(model_class: Any) -> dict[str, Field]:
    of_classifier: dict[str, Field] = {
        "model": Part(count_models),
        "n_features": Whole(1),
        "classes": List(Text() | Flag() | Number(), least=2),
        "class_log_prior": Array(np.float64, ("n_classes",)),
        "class_count": Array(np.float64, ("n_classes",), least=0.0),
        "estimate": Part(model_class.estimate_class),
        "sums": Part(CountSums) | Null(),
        "documents": Part(DocumentStore) | Null(),
    }
    return PARAMETERS | of_classifier


def _check_statistics(stats: CountSums | DocumentStore | None, n_classes: int, n_features: int) -> None:
    """Refuse sums of other classes or words; what a model does not need is empty."""
    if isinstance(stats, DocumentStore) and stats.n_classes != n_classes:
        raise ValueError("its documents are of other classes")
    if isinstance(stats, CountSums):
        by_name = {"counts": (n_classes, n_features), "with_word": (n_features,)}
        for name, array in stats._asdict().items():
            if array.size and array.shape not in (by_name.get(name, (n_classes,)), (n_classes, n_features)):
                raise ValueError(f"its {name} are of other classes or words")

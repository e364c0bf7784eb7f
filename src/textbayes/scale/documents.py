"""Training on documents that are distributed over workers: each keeps its partitions, and only sums travel.

Vocabulary and document frequencies are sums over partitions; count models combine their statistics exactly; linear
models are brought to the optimum of all documents by gradients of the parts. Folds, ensemble, rule and figures are
those of ``categorizer``, so the model is an ordinary one. Of the documents nothing comes back but labels, held-out
scores, fingerprints and the sketches by which copies are found.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.knowledge import Knowledge
from textbayes.categorizer.label_tree import encode_with_tree
from textbayes.categorizer.plan import Member
from textbayes.categorizer.prepare import make_weighting, members_of, named_plan, target_of, weighed
from textbayes.categorizer.presets import default_vectorizer
from textbayes.categorizer.reading import text_lengths
from textbayes.categorizer.settings import check_settings, rule_for
from textbayes.categorizer.sources import Group, Read, Target
from textbayes.categorizer.train import TrainingData, train
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.executor import Executor, using
from textbayes.core.labels import LabelSpace
from textbayes.core.progress import Progress, silent
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, Document, FloatArray, IntArray
from textbayes.models.base import SamplingCallback, TextModel
from textbayes.models.counts.classifier import BayesCountClassifier
from textbayes.models.counts.text_model import class_names, labels_by_classifier
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.weights import as_columns
from textbayes.scale.linear import WorkerDocuments, check_in_parts, fit_in_parts
from textbayes.scale.out_of_core import check_settings_apart
from textbayes.scale.partitions import Partition
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.copies import Sketches, find_copies, joined_sketches, text_fingerprints, text_sketches
from textbayes.text.packed import Packed, StringIndex

_ONE_PLACE = "or train on files that are read here (a name without a pattern)"


class PartitionCounts(NamedTuple):
    """What a worker keeps of a partition: counts, lengths, and fingerprints and sketches of its documents."""

    counts: Any
    lengths: FloatArray
    fingerprints: Any
    sketches: Sketches


class Terms(NamedTuple):
    """Distinct terms of some texts, the number of these, and how many have each term and how often."""

    terms: Packed
    n_docs: int
    documents: IntArray
    occurrences: IntArray


class PartitionedDocuments:
    """Documents of partitions, read by workers.

    Parameters
    ----------
    executor : Executor
    partitions : sequence of Partition
        See ``make_partitions``.
    """

    def __init__(self, executor: Executor, partitions: Sequence[Partition]) -> None:
        self.executor = executor
        self._texts = executor.keep(_read, partitions)
        self._labelled = list(executor.map(_without_text, self._texts))

    def labelled(self) -> list[Document]:
        """All documents in order, without their texts; ids are their numbers from 0 on."""
        both = (one for part in self._labelled for one in part)
        return [one._replace(id=str(number)) for number, one in enumerate(both)]

    def vocabulary(self, vectorizer: TextVectorizer, rows: BoolArray) -> TextVectorizer:
        """A vectorizer fitted to some of the documents, as if their texts were in one place.

        Parameters
        ----------
        vectorizer : TextVectorizer
        rows : boolean array (n_docs,)
        """
        vectorizer = clone(vectorizer).set_output(transform="default")
        vectorizer._warn_if_slow()
        vectorizer._check_parameters()
        found = self.executor.map_reduce(_terms, _both_terms, self._with(rows), vectorizer)
        vectorizer.fit_terms(found.terms, found.n_docs, found.documents, found.occurrences)
        return vectorizer

    def counted(self, vectorizer: TextVectorizer, rows: BoolArray, lengths: bool) -> list[Any]:
        """``PartitionCounts`` of some documents of each partition, kept by the workers.

        Parameters
        ----------
        vectorizer : fitted TextVectorizer
        rows : boolean array (n_docs,)
        lengths : bool
            Whether lengths are asked for.
        """
        return self.executor.keep(_counted, self._with(rows), vectorizer, lengths)

    def forget_texts(self) -> None:
        """Let workers forget the texts, once they are counted; where one dies its partitions are read again."""
        self._texts = []

    def split(self, rows: AnyArray) -> list[AnyArray]:
        """An array of all documents, partition by partition."""
        return np.split(rows, np.cumsum([len(part) for part in self._labelled])[:-1])

    def _with(self, rows: BoolArray) -> list[tuple[Any, AnyArray]]:
        return list(zip(self._texts, self.split(rows), strict=True))


class WorkerSource:
    """Documents that are with the workers of an executor.

    Parameters
    ----------
    executor : Executor
    parts : sequence
        What stands for the ``PartitionCounts`` of each partition.
    sizes : sequence of int
        Their numbers of documents.
    vectorizer : TextVectorizer
        Fitted.
    weighting : TermWeighting
        Not fitted.
    """

    def __init__(
        self, executor: Executor, parts: Sequence[Any], sizes: Sequence[int], vectorizer: TextVectorizer,
        weighting: TermWeighting,
    ) -> None:  # fmt: skip
        self._executor, self._parts, self._weighting = executor, parts, weighting
        self._ends, self._vectorizer = np.cumsum(sizes)[:-1], vectorizer
        self._fitted_before: dict[int, BayesLinearClassifier] = {}

    @property
    def vectorizer(self) -> Any:
        return self._vectorizer

    @property
    def n_words(self) -> int:
        return len(self._vectorizer.vocabulary_)

    def fit(
        self, members: Sequence[Member], rows: BoolArray, target: Target, stage: str, watch: SamplingCallback,
        knowledge: Knowledge | None = None, weightings: list[TermWeighting] | None = None,
    ) -> Group:  # fmt: skip
        mine = self._split(rows)
        frequency = self._executor.map_reduce(_frequency, np.add, list(zip(self._parts, mine, strict=True)))
        weighting = clone(self._weighting).fit_frequencies(frequency, int(rows.sum()))
        weights = [None] * len(mine) if target.weight is None else self._split(target.weight)
        asked = list(zip(self._parts, mine, self._split(target.indicator), weights, strict=True))
        if isinstance(members[0].estimator, BayesCountClassifier):
            models = [self._fit_counts(member.estimator, asked, target.space) for member in members]
            return Group((0,), [weighting], models)
        documents = self._executor.keep(_documents, asked, weighting)
        fitted: list[TextModel] = []
        for number, member in enumerate(members):
            start = self._fitted_before.get(number)  # of another fold: most documents are the same
            one = fit_in_parts(self._executor, documents, member.estimator, target.space, self.n_words, start)
            self._fitted_before[number] = one
            fitted.append(copy.copy(one).with_labels(target.space))
        return Group((0,), [weighting], fitted)

    def scores(self, group: Group, rows: BoolArray, read: Read) -> FloatArray:
        asked = list(zip(self._parts, self._split(rows), strict=True))
        return np.concatenate(list(self._executor.map(_scored, asked, group, read)), axis=1)

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> AnyArray:
        return np.empty(shape, dtype)

    def columns(self, views: Sequence[int]) -> IntArray | None:
        return None

    def all_weightings(self) -> list[TermWeighting]:
        raise NotSupportedError(f"several views are not read by workers; {_ONE_PLACE}")

    def everything(self, group: Group) -> Features:
        return Features(None, None, np.zeros(0))  # models of one type are combined without a look at the documents

    def reader(self, weightings: list[TermWeighting]) -> tuple[Any, Any]:
        return self.vectorizer, weightings[0]

    def _split(self, array: AnyArray) -> list[AnyArray]:
        return np.split(array, self._ends)

    def _fit_counts(self, estimator: BayesCountClassifier, asked: list[Any], space: LabelSpace) -> BayesCountClassifier:
        n = space.n_columns if space.kind == "multilabel" else 1
        begun = [estimator.unfitted().begin(class_names(space), self.n_words) for _ in range(n)]
        learnt, total, n_docs = self._executor.map_reduce(_gathered, _both_gathered, asked, begun, space)
        return estimator.of_classifiers([one.finalise() for one in learnt], space, total / max(n_docs, 1))


def fit_documents(
    model: TextCategorizer, documents: PartitionedDocuments, labels: Any, rows: BoolArray | None = None,
    progress: Progress | None = None,
) -> TextCategorizer:  # fmt: skip
    """Train a categorizer on documents that are distributed over workers; it is then an ordinary one.

    Parameters
    ----------
    model : TextCategorizer
        Not fitted, with ``preset="linear"`` or a model.
    documents : PartitionedDocuments
        Their texts are forgotten once they are counted.
    labels : sequence of labels, of lists of labels, or array
        Of the documents that ``rows`` has.
    rows : boolean array (n_docs,), optional
        The documents to learn from; all unless given.
    progress : Progress, optional
    """
    check_partitioned(model)
    check_settings(model)
    report = progress or silent
    indicator, space, tree = encode_with_tree(labels, model.label_tree)
    rows = np.ones(len(documents.labelled()), dtype=np.bool_) if rows is None else rows
    if int(rows.sum()) != len(indicator):
        raise InputError(
            f"{len(indicator)} documents have labels, {int(rows.sum())} are to be learnt; pass one for each"
        )
    rule = rule_for(model.rule, space)
    used_rows, indicator, weight, _ = weighed([""] * len(indicator), indicator, space, None, model.class_weight)
    if len(used_rows) < int(rows.sum()):
        raise InputError(f"class_weight gives documents no weight; leave these out of the input, {_ONE_PLACE}")
    report("reading words", 0, 2)
    vectorizer = documents.vocabulary(model.vectorizer or default_vectorizer(), rows)
    report("reading words", 1, 2)
    uses_lengths = any(member.uses_lengths for member in members_of(model))
    parts = documents.counted(vectorizer, rows, uses_lengths)
    fingerprints = documents.executor.map_reduce(_fingerprints, _union, parts)
    copies = find_copies(joined_sketches(list(documents.executor.map(_sketches, parts))))
    data = TrainingData(used_rows, indicator, space, weight, None, copies, label_tree=tree)
    documents.forget_texts()
    report("reading words", 2, 2)
    sizes = [int(part.sum()) for part in documents.split(rows)]
    source = WorkerSource(documents.executor, parts, sizes, vectorizer, make_weighting(model.weighting))
    with using(None):  # folds are led from here, whoever is asked to spread other work
        trained = train(named_plan(model, space), source, target_of(model, data), report)
    return model._take_over(trained, rule, data, fingerprints)


def check_partitioned(model: TextCategorizer) -> None:
    """Refuse, before anything is read, settings that need all documents in one place."""
    check_settings_apart(model, "all documents in one place", "on partitions", _ONE_PLACE, check_in_parts)
    if model.vectorizer is not None and not isinstance(model.vectorizer, TextVectorizer):
        raise NotSupportedError(f"{type(model.vectorizer).__name__} has no vocabulary to share; {_ONE_PLACE}")


# -- what workers do --------------------------------------------------------------------------------------------------
def _read(partition: Partition) -> list[Document]:
    return list(partition.documents())


def _without_text(documents: list[Document]) -> list[Document]:
    return [one._replace(text="") for one in documents]


def _texts(asked: tuple[list[Document], BoolArray]) -> list[str]:
    return [one.text for one, wanted in zip(*asked, strict=True) if wanted]


def _terms(asked: tuple[list[Document], BoolArray], vectorizer: TextVectorizer) -> Terms:
    terms, counts = vectorizer.count_terms(_texts(asked))
    n_terms = terms.n_strings
    return Terms(
        terms, counts.shape[0], np.bincount(counts.indices, minlength=n_terms),
        np.bincount(counts.indices, counts.data, minlength=n_terms).astype(np.int64),
    )  # fmt: skip


def _both_terms(one: Terms, other: Terms) -> Terms:
    index = StringIndex()
    places = [index.add(one.terms), index.add(other.terms)]
    terms = index.strings()
    sums = []
    for name in ("documents", "occurrences"):
        total = np.zeros(terms.n_strings, dtype=np.int64)
        for place, part in zip(places, (one, other), strict=True):
            total[place] += getattr(part, name)
        sums.append(total)
    return Terms(terms, one.n_docs + other.n_docs, *sums)


def _counted(asked: tuple[list[Document], BoolArray], vectorizer: TextVectorizer, lengths: bool) -> PartitionCounts:
    texts = _texts(asked)
    counts, sketches = vectorizer.transform(texts), text_sketches(texts, vectorizer)
    return PartitionCounts(counts, text_lengths(texts, counts, vectorizer, lengths), text_fingerprints(texts), sketches)


def _sketches(part: PartitionCounts) -> Sketches:
    return part.sketches


def _fingerprints(part: PartitionCounts) -> Any:
    return part.fingerprints


def _union(one: AnyArray, other: AnyArray) -> AnyArray:
    return np.union1d(one, other)


def _frequency(asked: tuple[PartitionCounts, BoolArray]) -> IntArray:
    part, rows = asked
    return np.bincount(part.counts[rows].indices, minlength=part.counts.shape[1])


def _documents(
    asked: tuple[PartitionCounts, BoolArray, BoolArray, FloatArray | None], weighting: TermWeighting
) -> WorkerDocuments:
    part, rows, indicator, weight = asked
    X = as_columns(weighting.transform(part.counts[rows]))
    return WorkerDocuments(X, np.where(indicator[rows], 1.0, -1.0), None if weight is None else weight[rows])


def _gathered(
    asked: tuple[PartitionCounts, BoolArray, BoolArray, FloatArray | None],
    begun: list[BayesCountClassifier],
    space: Any,
) -> tuple[list[BayesCountClassifier], float, int]:
    part, rows, indicator, weight = asked
    learnt = [copy.copy(one) for one in begun]
    if rows.any():
        for one, labels in zip(learnt, labels_by_classifier(indicator[rows], space), strict=True):
            own = None if weight is None else weight[rows]
            one.gather(part.counts[rows], labels, one.classes_, sample_weight=own, lengths=part.lengths[rows])
    return learnt, float(part.lengths[rows].sum()), int(rows.sum())


def _both_gathered(one: Any, other: Any) -> tuple[list[BayesCountClassifier], float, int]:
    both = [copy.copy(left).gathered(right) for left, right in zip(one[0], other[0], strict=True)]
    return both, one[1] + other[1], one[2] + other[2]


def _scored(asked: tuple[PartitionCounts, BoolArray], group: Group, read: Read) -> FloatArray:
    part, rows = asked
    if not rows.any():  # a small partition may have no document in a fold
        return np.empty((len(group.models), 0, group.models[0].label_space_.n_columns))
    counts, (weighting,) = part.counts[rows], group.weightings
    features = Features(counts, weighting.transform(counts), part.lengths[rows])
    return np.stack([read(model, features) for model in group.models])

"""Where the documents of a training are: fits of members to some of them, and scores of others.

:class:`TextSource` has them in memory. ``textbayes.scale`` has sources whose documents are in files or with workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.categorizer.knowledge import Knowledge
from textbayes.categorizer.plan import Member
from textbayes.core.cross_validation import Folds
from textbayes.core.folds import joined_groups
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.decide import LabelTree
from textbayes.lexical import takes_counts
from textbayes.models.base import FitOptions, SamplingCallback, TextModel
from textbayes.select import scores, select_per_label
from textbayes.text import TermWeighting
from textbayes.text.sentences import WordlessVectorizer
from textbayes.text.views import TextViews, View, ViewsWeighting, side_by_side

Read = Callable[[TextModel, Features], FloatArray]
"""What a fitted member says of documents, (n_docs, n_columns)."""


BY_CV = "cv"  # the number of words of each label is found by cross-validation


class FitSettings(NamedTuple):
    """Settings of the fits of a training, as for ``TextCategorizer``."""

    select: str | None = None
    select_k: int | str | None = None
    select_threshold: float | None = None
    refit_k: int | None = None
    refit_by: str = "mean"
    refit: bool = True
    intervals: bool = False
    keep_draws: int = 1_000
    n_jobs: int | None = None
    random_state: int = 0
    posterior_predictive: bool = True
    calibrate: bool | str = False
    pool: str = "shared"


@dataclass(frozen=True)
class Target:
    """Labels of a training and what is the same in all of its fits; it reaches each worker once.

    Parameters
    ----------
    indicator : boolean array (n_docs, n_columns)
    space : LabelSpace
    weight : array (n_docs,) or None
        How much each document counts.
    folds : Folds
    groups, copies : arrays (n_docs,) or None
        Documents of one group share a fold; the place of the first document that each is a copy of.
    settings : FitSettings
    label_tree : LabelTree or None
        That of the labels.
    """

    indicator: BoolArray
    space: LabelSpace
    weight: FloatArray | None
    folds: Folds
    groups: IntArray | None = None
    copies: IntArray | None = None
    settings: FitSettings = field(default_factory=FitSettings)
    label_tree: LabelTree | None = None

    def options(self, features: Features, rows: BoolArray, stage: str, watch: SamplingCallback) -> FitOptions:
        """Options of a fit to some documents, with the words that each label may use."""
        settings, words, last = self.settings, None, bool(rows.all())
        if settings.select is not None:
            function, labels = scores.get(settings.select), self.indicator[rows]
            if takes_counts(function):
                result = function(features.counts, labels, lengths=features.lengths)  # type: ignore[call-arg]
            else:
                result = function(features.weights, labels)
            assert not isinstance(settings.select_k, str), "with_top_k has found a number by now"
            words = select_per_label(result, k=settings.select_k, threshold=settings.select_threshold)
        return FitOptions(
            self.weight_of(rows), words, settings.intervals and last, settings.refit_k, settings.refit_by,
            settings.refit, stage=stage, last=last, watch=watch, groups=self.together(rows),
        )  # fmt: skip

    def together(self, rows: BoolArray) -> IntArray | None:
        """For folds inside a fit: numbers of what shares a fold among some texts; None where every text is alone."""
        together = self.copies
        if self.groups is not None:
            together = joined_groups(self.groups, self.copies, self.folds.n_cut)
        if together is None or len(np.unique(together[rows])) < 2:  # nothing to tell from another
            return None
        return together[rows]

    def weight_of(self, rows: BoolArray) -> FloatArray | None:
        """How much some of the documents count."""
        return None if self.weight is None else self.weight[rows]


class Group(NamedTuple):
    """Members fitted to the same documents, and the weighting of words that they were given."""

    views: tuple[int, ...]
    weightings: list[TermWeighting]
    models: Sequence[TextModel]


class Source(Protocol):
    """Documents of a training."""

    @property
    def vectorizer(self) -> Any:
        """The fitted vectorizer of all views."""
        ...

    @property
    def n_words(self) -> int:
        """Columns that stand for words, which come first."""
        ...

    def fit(
        self, members: Sequence[Member], rows: BoolArray, target: Target, stage: str, watch: SamplingCallback,
        knowledge: Knowledge | None = None, weightings: list[TermWeighting] | None = None,
    ) -> Group:  # fmt: skip
        """Members, which read the same views, fitted to some of the documents.

        Words are weighed by these documents alone, unless weightings of all views are given.
        """
        ...

    def scores(self, group: Group, rows: BoolArray, read: Read) -> FloatArray:
        """What fitted members say of some of the documents, (n_members, n_rows, n_columns)."""
        ...

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> AnyArray:
        """An array for numbers of all documents, to be filled in."""
        ...

    def columns(self, views: Sequence[int]) -> IntArray | None:
        """The columns of some views among those of all; None for all of them."""
        ...

    def all_weightings(self) -> list[TermWeighting]:
        """The weighting of each view, fitted to all documents."""
        ...

    def everything(self, group: Group) -> Features:
        """All documents in all views; empty where they are not in memory."""
        ...

    def reader(self, weightings: list[TermWeighting]) -> tuple[Any, Any]:
        """The fitted vectorizer and weighting of all views, with which a categorizer reads texts."""
        ...


class TextSource:
    """Documents in memory: counts of the words of each view, and lengths.

    Parameters
    ----------
    views : list of View
    vectorizers : list of fitted vectorizers
    blocks : list of CSR matrix
        Counts of the words of each view.
    lengths : array (n_docs,)
        Thousands of words of each document.
    settled : dict, optional
        Weightings, by the numbers of their views, that were learnt from other texts and stay as they are.
    unlabelled : list of CSR matrix, optional
        Counts, like ``blocks``, of some texts without labels that weights of words are of too.
    """

    def __init__(
        self,
        views: list[View],
        vectorizers: list[Any],
        blocks: list[Any],
        lengths: FloatArray,
        settled: Mapping[int, TermWeighting] | None = None,
        unlabelled: list[Any] | None = None,
    ) -> None:
        self.views, self.vectorizers, self.blocks, self.lengths = views, vectorizers, blocks, lengths
        self.settled, self.unlabelled = dict(settled or {}), unlabelled
        self.bounds = np.cumsum([0, *(block.shape[1] for block in blocks)])

    @property
    def vectorizer(self) -> Any:
        return self.vectorizers[0] if len(self.blocks) == 1 else TextViews.of_fitted(self.views, self.vectorizers)

    @property
    def n_words(self) -> int:
        vectors = [isinstance(one, WordlessVectorizer) for one in self.vectorizers]
        return int(self.bounds[vectors.index(True) if any(vectors) else -1])

    @property
    def all_views(self) -> tuple[int, ...]:
        """The numbers of all views."""
        return tuple(range(len(self.blocks)))

    def fit(
        self, members: Sequence[Member], rows: BoolArray, target: Target, stage: str, watch: SamplingCallback,
        knowledge: Knowledge | None = None, weightings: list[TermWeighting] | None = None,
    ) -> Group:  # fmt: skip
        views = members[0].views
        own = self.weightings(views, rows) if weightings is None else [weightings[v] for v in views]
        features = self.features(views, own, rows, counts=any(member.estimator.reads == "counts" for member in members))
        options, indicator = target.options(features, rows, stage, watch), target.indicator[rows]
        models = []
        for number, member in enumerate(members, start=1):
            name = stage if len(members) == 1 else f"{stage}, model {number}"
            own_options = replace(options, stage=name)
            models.append(member.fit(features, indicator, target.space, own_options, knowledge))
        return Group(views, own, models)

    def scores(self, group: Group, rows: BoolArray, read: Read) -> FloatArray:
        counts = any(model.reads == "counts" for model in group.models)
        features = self.features(group.views, group.weightings, rows, counts)
        return np.stack([read(model, features) for model in group.models])

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> AnyArray:
        return np.empty(shape, dtype)

    def weightings(self, views: Sequence[int], rows: BoolArray) -> list[TermWeighting]:
        """The weighting of each view, fitted to some of the documents."""
        return [
            self.settled[v] if v in self.settled else clone(self.views[v].weighting).fit(_rows(self.blocks[v], rows))
            for v in views
        ]

    def features(
        self, views: Sequence[int], weightings: Sequence[TermWeighting], rows: BoolArray, counts: bool = True
    ) -> Features:
        """Some of the documents in some views, side by side.

        Parameters
        ----------
        views : sequence of int
        weightings : sequence of TermWeighting
            Of these views, fitted.
        rows : boolean array (n_docs,)
        counts : bool
            Whether counts are needed; those of several views take time to put side by side.
        """
        blocks = [_rows(self.blocks[v], rows) for v in views]
        factors = [self.views[v].factor for v in views]
        weights = [
            weighting.transform(block) if factor == 1.0 else factor * weighting.transform(block)
            for factor, weighting, block in zip(factors, weightings, blocks, strict=True)
        ]
        lengths = self.lengths if rows.all() else self.lengths[rows]
        return Features(side_by_side(blocks) if counts or len(blocks) == 1 else None, side_by_side(weights), lengths)

    def columns(self, views: Sequence[int]) -> IntArray | None:
        """The columns of some views among those of all; None for all of them."""
        if tuple(views) == self.all_views:
            return None
        return np.concatenate([np.arange(self.bounds[v], self.bounds[v + 1]) for v in views])

    def without_view(self, v: int) -> TextSource:
        """The same documents without one of the views; the numbers of later ones are one less."""

        def others(parts: list[Any]) -> list[Any]:
            return parts[:v] + parts[v + 1 :]

        settled = {w - (w > v): one for w, one in self.settled.items() if w != v}
        unlabelled = None if self.unlabelled is None or not settled else others(self.unlabelled)
        return TextSource(
            others(self.views), others(self.vectorizers), others(self.blocks), self.lengths, settled, unlabelled
        )

    def all_weightings(self) -> list[TermWeighting]:
        return self.weightings(self.all_views, np.ones(len(self.lengths), dtype=np.bool_))

    def everything(self, group: Group) -> Features:
        rows = np.ones(len(self.lengths), dtype=np.bool_)
        counts = any(model.reads == "counts" for model in group.models)
        return self.features(self.all_views, group.weightings, rows, counts)

    def some_texts(self, group: Group, features: Features) -> Any:
        """Weights of words in documents, ``features`` of all, and in those without labels where there are any."""
        words = features.weights[:, : self.n_words]
        if self.unlabelled is None:
            return words
        both = zip(self.unlabelled, self.views, group.weightings, strict=False)  # behind words others follow
        blocks = [view.factor * weighting.transform(block) for block, view, weighting in both]
        return sparse.vstack([words, side_by_side(blocks)[:, : self.n_words]], format="csr")

    def reader(self, weightings: list[TermWeighting]) -> tuple[Any, Any]:
        if len(weightings) == 1:
            return self.vectorizer, weightings[0]
        factors = [view.factor for view in self.views]
        return self.vectorizer, ViewsWeighting.of_fitted(weightings, factors, self.bounds)


def _rows(matrix: Any, rows: BoolArray) -> Any:
    return matrix if rows.all() else matrix[rows]

"""A ``TextCategorizer`` trained from shards: the steps of a training in memory, with the matrix in files.

Folds, weights of words, members, ensemble and rule are those of ``categorizer``. What differs is where the matrix is:
each fit writes the weights of its documents by columns into files (``columns_on_disk``) and reads them from there;
count models are given the shards one by one; held-out documents are scored block by block. So the model is the same,
and neither texts nor matrix are ever in memory.

Linear models of many labels are fitted to a matrix in files a few labels at a time. The solvers are those of matrices
in memory and see the same numbers, so that weights are the same to the bit. What they keep for every document (the
predictor and its derivatives) is kept for the labels of one group only, and copies of the matrix that are larger than
``limited_working_memory`` allows are files: memory hardly grows with the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.knowledge import Knowledge
from textbayes.categorizer.label_tree import encode_with_tree
from textbayes.categorizer.plan import Member
from textbayes.categorizer.prepare import make_weighting, members_of, named_plan, target_of, uses_auto, weighed
from textbayes.categorizer.presets import default_vectorizer
from textbayes.categorizer.settings import check_settings, rule_for
from textbayes.categorizer.sources import Group, Read, Target
from textbayes.categorizer.train import TrainingData, train
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.folds import group_codes
from textbayes.core.machine import limited_working_memory, n_threads
from textbayes.core.progress import Progress, silent
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_same_length
from textbayes.inference import samples
from textbayes.models.base import SamplingCallback, TextModel
from textbayes.models.counts.classifier import BayesCountClassifier
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.scale.shards import columns_on_disk, new_mapped
from textbayes.scale.text_shards import CountedShard, TextShards
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.copies import find_copies
from textbayes.tune import BayesLinearClassifierCV

_IN_MEMORY = "or train in memory (without --out-of-core)"


class ShardSource:
    """Documents in shards: each fit reads them from files.

    Parameters
    ----------
    shards : TextShards
    weighting : TermWeighting
        Not fitted.
    scratch : Path
        A folder for the matrices of single fits.
    """

    def __init__(self, shards: TextShards, weighting: TermWeighting, scratch: Path) -> None:
        self._shards, self._weighting, self._scratch = shards, weighting, scratch

    @property
    def vectorizer(self) -> Any:
        return self._shards.vectorizer

    @property
    def n_words(self) -> int:
        return int(self._shards.n_features)

    def fit(
        self, members: Sequence[Member], rows: BoolArray, target: Target, stage: str, watch: SamplingCallback,
        knowledge: Knowledge | None = None, weightings: list[TermWeighting] | None = None,
    ) -> Group:  # fmt: skip
        frequency = np.zeros(self._shards.n_features, dtype=np.int64)
        for part, _ in self._parts(rows):
            frequency += np.bincount(part.counts.indices, minlength=len(frequency))
        weighting = clone(self._weighting).fit_frequencies(frequency, int(rows.sum()))
        if isinstance(members[0].estimator, BayesCountClassifier):
            models = [self._fit_counts(member, rows, target) for member in members]
        else:
            models = self._fit_linear(members, rows, target, weighting)
        return Group((0,), [weighting], models)

    def scores(self, group: Group, rows: BoolArray, read: Read) -> FloatArray:
        (weighting,), found = group.weightings, []
        for part, _ in self._parts(rows):
            features = Features(part.counts, weighting.transform(part.counts), part.lengths)
            found.append(np.stack([read(model, features) for model in group.models]))
        return np.concatenate(found, axis=1)

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> AnyArray:
        with NamedTemporaryFile(dir=self._scratch, suffix=".bin", delete=False) as file:
            return new_mapped(Path(file.name), shape, dtype)

    def columns(self, views: Sequence[int]) -> IntArray | None:
        return None

    def all_weightings(self) -> list[TermWeighting]:
        raise NotSupportedError(f"several views are not read out of core; {_IN_MEMORY}")

    def everything(self, group: Group) -> Features:
        return Features(None, None, np.zeros(0))  # models of one type are combined without a look at the documents

    def reader(self, weightings: list[TermWeighting]) -> tuple[Any, Any]:
        return self.vectorizer, weightings[0]

    def _parts(self, rows: BoolArray) -> Iterator[tuple[CountedShard, BoolArray]]:
        """Counts and lengths of some documents, a shard at a time, and which of all they are."""
        for first, counts, lengths in self._shards:
            mine = np.zeros(len(rows), dtype=np.bool_)
            mine[first : first + len(lengths)] = rows[first : first + len(lengths)]
            own = mine[first : first + len(lengths)]
            if own.all():
                yield CountedShard(first, counts, lengths), mine
            elif own.any():
                yield CountedShard(first, counts[own], lengths[own]), mine

    def _fit_counts(self, member: Member, rows: BoolArray, target: Target) -> TextModel:
        assert isinstance(member.estimator, BayesCountClassifier)
        parts = (
            (Features(part.counts, part.counts, part.lengths), target.indicator[mine], target.weight_of(mine))
            for part, mine in self._parts(rows)
        )
        return member.estimator.fit_parts(parts, target.space)

    def _fit_linear(
        self, members: Sequence[Member], rows: BoolArray, target: Target, weighting: TermWeighting
    ) -> list[TextModel]:
        with TemporaryDirectory(dir=self._scratch) as name:
            folder = Path(name)
            X = columns_on_disk(
                lambda: (weighting.transform(part.counts) for part, _ in self._parts(rows)),
                self._shards.n_features,
                folder,
            )
            weight = target.weight_of(rows)
            indicator = new_mapped(folder / "labels.bin", (X.shape[0], target.indicator.shape[1]), np.bool_)
            np.compress(rows, target.indicator, axis=0, out=indicator)
            return [
                fit_in_groups(member.estimator, X, indicator, weight, folder=folder).with_labels(target.space)
                for member in members
            ]


def fit_out_of_core(
    model: TextCategorizer,
    shards: TextShards,
    labels: Any,
    scratch: Path,
    progress: Progress | None = None,
    groups: Any = None,
) -> TextCategorizer:
    """Train a categorizer on documents in shards; the result is that of its ``fit`` on their texts.

    Parameters
    ----------
    model : TextCategorizer
        Not fitted, with the vectorizer that the shards were made with.
    shards : TextShards
    labels : sequence of labels, of lists of labels, or array (n_docs, n_labels)
    scratch : Path
        A folder with room for the matrix: 12 bytes for each word of each document.
    progress : Progress, optional
    groups : sequence of n_docs values, optional
        Documents of one group share a fold.
    """
    check_supported(model)
    check_settings(model)
    indicator, space, tree = encode_with_tree(labels, model.label_tree)
    check_same_length(np.empty(shards.n_docs), "texts", indicator, "labels")
    rule = rule_for(model.rule, space)
    grouped = None if groups is None else group_codes(groups, shards.n_docs)
    used_rows, indicator, weight, grouped = weighed(
        [""] * shards.n_docs, indicator, space, None, model.class_weight, grouped
    )
    if len(used_rows) < shards.n_docs:
        raise InputError(f"class_weight gives documents no weight; leave these out of the input, {_IN_MEMORY}")
    report = progress or silent
    copies = find_copies(shards.sketches(scratch))
    data = TrainingData(used_rows, indicator, space, weight, grouped, copies, label_tree=tree)
    source = ShardSource(shards, make_weighting(model.weighting), scratch)
    trained = train(named_plan(model, space), source, target_of(model, data), report)
    return model._take_over(trained, rule, data, shards.fingerprints())


def vectorizer_of(model: TextCategorizer) -> TextVectorizer:
    """The vectorizer, not fitted, that a categorizer's texts are read with out of core."""
    if model.vectorizer is None:
        return default_vectorizer()
    if not isinstance(model.vectorizer, TextVectorizer):
        raise NotSupportedError(
            f"{type(model.vectorizer).__name__} is not read out of core; use a TextVectorizer, {_IN_MEMORY}"
        )
    return clone(model.vectorizer).set_output(transform="default")


def check_supported(model: TextCategorizer) -> None:
    """Refuse, before anything is read, settings that need the whole matrix in memory."""
    check_settings_apart(model, "the whole matrix in memory", "out of core together", _IN_MEMORY, check_out_of_core)
    vectorizer_of(model)


def check_settings_apart(
    model: TextCategorizer, need: str, where: str, way: str, check: Callable[[BayesLinearClassifier], None]
) -> None:
    """Refuse settings and models that cannot be trained on documents that are apart: in files, or with workers.

    Parameters
    ----------
    model : TextCategorizer
    need, where, way : str
        For the messages: what the settings need, where models would be trained, and what to do.
    check : function
        Refuses linear models that cannot be trained so.
    """
    if uses_auto(model):
        raise NotSupportedError(f"automatic training needs {need}; use preset='linear', or name a model, {way}")
    for name in ("select", "prior", "refit_k", "intervals"):
        if getattr(model, name):
            raise NotSupportedError(f"{name} needs {need}; leave it out, {way}")
    members = members_of(model)
    types = {member.model_type for member in members}
    if len(types) > 1 or not types <= {"linear", "counts"}:
        names = ", ".join(member.model_type for member in members)
        raise NotSupportedError(
            f"models of type {names} are not trained {where}; use linear models, or count models, {way}"
        )
    for member in members:
        if isinstance(member, BayesLinearClassifier):
            check(member)


MEMORY = 1 << 30  # bytes for what a fit keeps of documents, and as many for copies that save time
_PER_DOCUMENT = 120  # bytes that a label takes for each document while it is fitted
_MOST_LABELS = 32
_BY_LABEL = ("scale", "mean", "sign", "intercept_scale", "intercept_mean")
_INFERENCES = ("coordinate", "newton")


def check_out_of_core(estimator: Any) -> None:
    """Refuse a linear model that cannot be fitted without the whole matrix in memory."""
    name = estimator.inference if isinstance(estimator.inference, str) else estimator.inference.name
    way = "train in memory (without --out-of-core)"
    if samples(estimator.inference) or name not in _INFERENCES:
        raise NotSupportedError(
            f"inference {name!r} keeps the matrix in memory; use inference 'coordinate' or 'newton', or {way}"
        )
    if isinstance(estimator, BayesLinearClassifierCV):
        raise NotSupportedError(f"a search for scales keeps the matrix in memory; give a scale, or {way}")
    for setting in ("intervals", "word_scales", "shared_scale", "warm_start"):
        if getattr(estimator, setting):
            raise NotSupportedError(f"{setting} needs the matrix in memory; leave it out, or {way}")


def fit_in_groups(
    estimator: BayesLinearClassifier,
    X: Any,
    indicator: BoolArray,
    sample_weight: FloatArray | None = None,
    memory: int = MEMORY,
    report: Progress | None = None,
    folder: Path | None = None,
) -> BayesLinearClassifier:
    """A fitted copy of a linear classifier, one regression for each column of the indicator.

    Parameters
    ----------
    estimator : BayesLinearClassifier
    X : CSC matrix (n_docs, n_features) of float64
        In memory or in files (``columns_on_disk``).
    indicator : boolean array (n_docs, n_columns)
        In memory or mapped from a file.
    sample_weight : array (n_docs,), optional
    memory : int
        Bytes for what is kept of the documents, and as many for copies that save time.
    report : Progress, optional
    folder : Path, optional
        Where copies that take more are files; that of temporary files if not given.
    """
    check_out_of_core(estimator)
    n_docs, n_columns = indicator.shape
    n_jobs = n_threads(estimator.n_jobs)
    group = int(np.clip(memory // (_PER_DOCUMENT * n_docs), min(n_jobs, n_columns), _MOST_LABELS))
    n_groups = -(-n_columns // group)
    ends = [n_columns * k // n_groups for k in range(n_groups + 1)]
    fitted: list[BayesLinearClassifier] = []
    report = report or silent
    for first, last in pairwise(ends):
        report("labels", first, n_columns)
        own = clone(estimator).set_params(**_settings_of(estimator, slice(first, last), n_columns))
        labels = sparse.csr_matrix(indicator[:, first:last])  # not a vector, whatever their number
        with limited_working_memory(memory // n_jobs, folder):  # of each group, whose threads have files of their own
            fitted.append(own.fit(X, labels, sample_weight=sample_weight))
    report("labels", n_columns, n_columns)
    return _joined(fitted, estimator)


def _settings_of(estimator: BayesLinearClassifier, labels: slice, n_columns: int) -> dict[str, Any]:
    """Hyperparameters of some labels, where there is a row for each."""
    found = {}
    for name in _BY_LABEL:
        value = getattr(estimator, name)
        if isinstance(value, np.ndarray) and _one_per_label(value, name, n_columns):
            found[name] = value[labels]
    if not isinstance(estimator.prior, str):
        raise NotSupportedError("a prior given as an object is not taken out of core; name it, such as prior='laplace'")
    return found


def _one_per_label(value: AnyArray, name: str, n_columns: int) -> bool:
    rows = 1 if name.startswith("intercept") else 2
    return value.ndim == rows and len(value) == n_columns


def _joined(fitted: list[BayesLinearClassifier], estimator: BayesLinearClassifier) -> BayesLinearClassifier:
    """One classifier of the labels of several; its classes are the numbers of the columns."""
    whole: BayesLinearClassifier = clone(estimator)
    info = [one.fit_info_ for one in fitted]
    whole.fit_info_ = type(info[0])(*(np.concatenate(parts) for parts in zip(*info, strict=True)))
    coef = np.concatenate([one.coef_ for one in fitted])
    whole.coef_ = np.ascontiguousarray(coef.T).T  # word by word, as a fit leaves it
    whole.intercept_ = np.concatenate([one.intercept_ for one in fitted])
    whole.label_space_ = fitted[0].label_space_._replace(classes=np.arange(len(coef)))
    whole.classes_, whole.n_features_in_ = whole.label_space_.classes, fitted[0].n_features_in_
    whole.n_iter_ = max(one.n_iter_ for one in fitted)
    whole.link_, whole.held_scale_ = fitted[0].link_, whole._typical_scale()
    whole.draws_ = whole.approximation_ = whole.standard_errors_ = None
    return whole

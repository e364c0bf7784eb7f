"""From the parameters of a categorizer and its texts to a training: inputs, plan, documents, labels and folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_sample_weight

from textbayes.categorizer.encoders import chosen_encoder, encoder_members, with_tokens
from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.categorizer.knowledge import keep_named_words, match_knowledge, read_prior, words_known
from textbayes.categorizer.model_types import make_model
from textbayes.categorizer.plan import (
    Member,
    Plan,
    auto_plan,
    folds_for,
    folds_held_out,
    lexicon_members,
    match_views,
    widen_views,
)
from textbayes.categorizer.presets import default_models, default_vectorizer, default_weighting
from textbayes.categorizer.reading import (
    language_of,
    plain_words,
    read_views,
    sentence_model,
    text_lengths,
    with_sentences,
)
from textbayes.categorizer.sources import FitSettings, Target, TextSource
from textbayes.categorizer.stackers import stacker_for
from textbayes.categorizer.train import PriorFile, TrainingData
from textbayes.categorizer.unlabelled import read_unlabelled, unlabelled_members
from textbayes.core.cross_validation import Folds
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace, document_weights
from textbayes.core.machine import on_card
from textbayes.core.progress import Progress
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.knowledge import WordPriors
from textbayes.knowledge.rows import AGAINST, FOR
from textbayes.text import TermWeighting
from textbayes.text.base import BaseTextVectorizer
from textbayes.text.batches import check_texts
from textbayes.text.copies import Copies, find_copies, text_sketches
from textbayes.text.sentences import name_of
from textbayes.text.views import TextViews, View

if TYPE_CHECKING:
    from textbayes.categorizer.estimator import TextCategorizer

_MUCH_TO_FIT = 200_000  # texts × labels: with fewer, a CPU is done before a card is ready


class Prepared(NamedTuple):
    """What a training is given: arguments of ``train``, and the prior table as it was read."""

    plan: Plan
    source: TextSource
    target: Target
    prior: PriorFile | None = None
    table: WordPriors | None = None
    too_long: Mapping[str, str] = {}  # models that were not tried, by parameter


def prepare(model: TextCategorizer, data: TrainingData, report: Progress) -> Prepared:
    """Read the texts, and plan the training that the parameters of a categorizer ask for.

    Parameters
    ----------
    model : TextCategorizer
        Its parameters are read and nothing is changed.
    data : TrainingData
    report : Progress
    """
    ready = _automatic(model, data, report) if uses_auto(model) else _named(model, data, report)
    enough = model.device == "cuda" or data.indicator.size >= _MUCH_TO_FIT
    if enough and on_card(model.device):
        ready = ready._replace(plan=replace(ready.plan, members=[one.on_card() for one in ready.plan.members]))
    return ready


def _automatic(model: TextCategorizer, data: TrainingData, report: Progress) -> Prepared:
    report("reading words", 0, 1)
    table = None if model.prior is None else read_prior(model.prior)
    own = model.vectorizer
    if own is not None and table is not None:
        keep_named_words(table, own := clone(own))
    views, blocks = read_views(data.texts, own)
    report("reading words", 1, 1)
    n_texts, few = len(data.texts), len(data.texts) < ENOUGH_TEXTS
    # What is "for" or "against" is a member that held-out texts weigh; numbers, or a weight, are a prior of the others.
    numeric = table is not None and (model.prior_weight != "auto" or not _only_directions(table))
    views_with_prior = widen_views(table, data.texts, views, blocks) if numeric and table is not None else []
    names, prior = lexicon_members(
        data.texts, views, blocks, data.space, new_words=few, table=None if numeric else table
    )
    read = [view.name for view in views.views]
    more = read_unlabelled(views, data.unlabelled, model.budget)
    learning: list[Member] = []
    settled: dict[int, TermWeighting] = {}
    unlabelled = None
    if more is not None:
        v = len(read)
        views = TextViews.of_fitted([*views.views, more.view], [*views.vectorizers_, more.vectorizer])
        blocks.append(more.vectorizer.transform(data.texts))
        settled, unlabelled = {v: more.weighting}, views.blocks(more.sample)
        learning = unlabelled_members(v, more.texts, data.space)
    network, too_long = sentence_model(model.embeddings, model.budget, model.vectorizer is not None, data.texts)
    sentences = None
    if network is not None and not too_long:
        sentences = len(views.views)
        views, blocks = with_sentences(views, blocks, data.texts, network, report)
    encoder, encoders = chosen_encoder(model, data.texts), []
    if encoder.n_networks:
        views, blocks = with_tokens(views, blocks, data.texts, encoder.given, report)
        encoders = encoder_members(views, encoder, n_texts, model.random_state, model.device)
    plan = auto_plan(read, data.space, n_texts, model.budget, names, prior, sentences, learning, encoders)
    used = any(member.estimator.uses_lengths for member in plan.members)
    lengths = text_lengths(data.texts, blocks[0], views, used)
    source = TextSource(views.views, views.vectorizers_, blocks, lengths, settled, unlabelled)
    grouped = few and data.groups is not None  # which may be fewer than folds
    n_folds = model.cv if grouped else folds_for(n_texts, model.cv, model.budget)
    folds = Folds.stratified(data.indicator, n_folds, model.random_state, data.groups, data.firsts)
    folds = folds.holding_out(folds_held_out(n_texts, folds.n_cut, model.budget))
    untried = {"embeddings": network if too_long else None, "encoder": None if encoder.n_networks else encoder.given}
    named = {name: name_of(one) for name, one in untried.items() if one is not None}
    prior_file = None
    if numeric and table is not None:
        matched = match_views(table, views, views_with_prior, data.space)
        prior_file = PriorFile(table, matched[0], model.prior_weight, matched)
    return Prepared(plan, source, target_of(model, data, folds), prior_file, table, named)


def _named(model: TextCategorizer, data: TrainingData, report: Progress) -> Prepared:
    plan = named_plan(model, data.space)
    report("reading words", 0, 1)
    own = model.vectorizer
    vectorizer: Any = default_vectorizer(language_of(data.texts)) if own is None else clone(own)
    vectorizer.set_output(transform="default")  # whatever a vectorizer that was given does for others
    table = None if model.prior is None else read_prior(model.prior)
    if table is not None:
        keep_named_words(table, vectorizer)
    counts = vectorizer.fit_transform(data.texts)
    if table is not None and (missing := words_known(table, vectorizer)):
        # No training text has them, but later ones may: their weights stay at the prior mean.
        counts = vectorizer.add_terms(missing).transform(data.texts)
    report("reading words", 1, 1)
    used = any(member.estimator.uses_lengths for member in plan.members)
    lengths = text_lengths(data.texts, counts, vectorizer, used)
    views = [View("words", vectorizer, make_weighting(model.weighting))]
    prior = None
    if table is not None:
        prior = PriorFile(table, match_knowledge(table, vectorizer, data.space), model.prior_weight)
    target = target_of(model, data)
    return Prepared(plan, TextSource(views, [vectorizer], [counts], lengths), target, prior, table)


def named_plan(model: TextCategorizer, space: LabelSpace) -> Plan:
    """The plan of models that are named, or of the linear preset: one view, members fitted together.

    Parameters
    ----------
    model : TextCategorizer
    space : LabelSpace
    """
    estimators = members_of(model)
    for one in estimators:
        one.check_options(model.select, model.refit_k, model.refit_by)
        if model.intervals and not one.gives_intervals:
            raise NotSupportedError(
                f"a model of type {one.model_type!r} has no posterior to take intervals from; leave out --intervals "
                "(intervals=True), or use --model linear"
            )
    stacker = stacker_for(estimators, space, model.posterior_predictive, model.calibrate, model.pool)
    names = [one.description() for one in estimators]
    members = [Member(name, (0,), clone(one)) for name, one in zip(names, estimators, strict=True)]
    return Plan(members, stacker, together=True)


def target_of(model: TextCategorizer, data: TrainingData, folds: Folds | None = None) -> Target:
    """Labels, folds and settings of a training.

    Parameters
    ----------
    model : TextCategorizer
    data : TrainingData
    folds : Folds, optional
        Those of ``cv`` unless given.
    """
    if folds is None:
        folds = Folds.stratified(data.indicator, model.cv, model.random_state, data.groups, data.firsts)
    settings = FitSettings(**{name: getattr(model, name) for name in FitSettings._fields})
    return Target(data.indicator, data.space, data.weight, folds, data.groups, data.firsts, settings, data.label_tree)


def uses_auto(model: TextCategorizer) -> bool:
    """Whether a categorizer's training is automatic: no model is given, and no other preset."""
    return model.preset == "auto" and model.model is None


def _only_directions(table: WordPriors) -> bool:
    """Whether a table says no more of words than that they speak for labels, or against them."""
    return all(row[2] in (FOR, AGAINST) and row[3:6] == (None, None, None) for row in table)


def copies_among(model: TextCategorizer, texts: Sequence[str]) -> Copies:
    """The texts that are copies of others, as the words are read that a categorizer learns from.

    Parameters
    ----------
    model : TextCategorizer
    texts : sequence of str
    """
    vectorizer: Any = model.vectorizer
    if not isinstance(vectorizer, BaseTextVectorizer):
        vectorizer = plain_words() if uses_auto(model) else default_vectorizer()
    return find_copies(text_sketches(texts, vectorizer))


def members_of(model: TextCategorizer) -> list[Any]:
    """The estimators that a categorizer's ``model`` stands for: the default ones, one, or several to be combined."""
    given = default_models() if model.model is None else model.model
    members = [make_model(one) for one in (given if isinstance(given, list | tuple) else [given])]
    if not members:
        raise InputError("model=[] is empty; pass a model, its name, or a list of some")
    if any(getattr(member, "class_weight", None) is not None for member in members):
        raise InputError("a model has a class_weight of its own; give it to the TextCategorizer instead")
    return members


def make_weighting(weighting: TermWeighting | str | None) -> TermWeighting:
    """The weighting as given, by name, or the default one; not fitted."""
    if weighting is None:
        return default_weighting()
    return TermWeighting(weighting) if isinstance(weighting, str) else clone(weighting).set_output(transform="default")


def as_texts(texts: Iterable[str], name: str = "texts") -> list[str]:
    """The texts as a list; one text by itself is refused, a table of one column is that column."""
    if isinstance(texts, (str, bytes)) or texts is None:
        raise InputError(
            f"{name} is {_shortened(texts)} where a list of texts is needed; wrap one text in a list: [text]"
        )
    return list(check_texts(texts))


def weighed(
    texts: list[str],
    indicator: BoolArray,
    space: LabelSpace,
    sample_weight: Any,
    class_weight: Any,
    groups: IntArray | None = None,
) -> tuple[list[str], BoolArray, FloatArray | None, IntArray | None]:
    """Texts, labels, weights and groups without those of weight 0, which are as if they were not there.

    Parameters
    ----------
    texts : list of str
    indicator : boolean array (n_texts, n_columns)
    space : LabelSpace
    sample_weight : array (n_texts,) or None
    class_weight : dict, "balanced" or None
        Further factors by class.
    groups : array (n_texts,) or None
    """
    own = None
    if sample_weight is not None:
        own = _check_sample_weight(sample_weight, indicator, ensure_non_negative=True)
    weight = document_weights(class_weight, indicator, space, own)
    if weight is None:
        return texts, indicator, None, groups
    kept = np.flatnonzero(weight)
    if not len(kept) or (indicator.shape[1] == 1 and len(np.unique(indicator[kept, 0])) < 2):
        raise InputError("the weights leave texts of fewer than two classes; give texts of two at least a weight")
    return [texts[i] for i in kept], indicator[kept], weight[kept], None if groups is None else groups[kept]


def _shortened(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"

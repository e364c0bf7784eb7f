"""The ``auto`` preset: views of the words, members and their pool are chosen by the training texts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # scikit-learn brings it

from textbayes.categorizer.auto.meaning import chosen_model, with_sentences
from textbayes.categorizer.auto.plan import (
    ENOUGH_TEXTS,
    folds_for,
    folds_held_out,
    make_plan,
    plain_words,
    read_views,
)
from textbayes.categorizer.auto.told import told_members
from textbayes.categorizer.auto.training import AutoTraining
from textbayes.categorizer.knowledge import read_prior
from textbayes.categorizer.presets import default_vectorizer
from textbayes.categorizer.trained import Trained, TrainingData
from textbayes.core.folds import stratified_folds
from textbayes.core.progress import Progress
from textbayes.knowledge import WordPriors
from textbayes.knowledge.rows import AGAINST, FOR
from textbayes.text import TextVectorizer
from textbayes.text.base import BaseTextVectorizer
from textbayes.text.copies import Copies, find_copies, text_sketches
from textbayes.text.sentence_models import name_of


def uses_auto(settings: Any) -> bool:
    """Whether a categorizer's training is automatic: no model is given, and nothing that needs one view of words.

    Parameters
    ----------
    settings : TextCategorizer
    """
    return settings.preset == "auto" and settings.model is None and not needs_one_view(settings)


def copies_among(settings: Any, texts: Sequence[str]) -> Copies:
    """The texts that are copies of others, as the words are read that a categorizer learns from.

    Parameters
    ----------
    settings : TextCategorizer
    texts : sequence of str
    """
    vectorizer = settings.vectorizer
    if not isinstance(vectorizer, BaseTextVectorizer):
        vectorizer = plain_words() if uses_auto(settings) else default_vectorizer()
    return find_copies(text_sketches(texts, vectorizer))


def needs_one_view(settings: Any) -> list[str]:
    """The parameters of a categorizer that ask for what only the linear preset, with one view of words, can do.

    Parameters
    ----------
    settings : TextCategorizer
    """
    asked = [name for name in ("weighting", "select", "refit_k") if getattr(settings, name) is not None]
    if settings.prior is not None and (settings.prior_weight != "auto" or not _only_directions(settings.prior)):
        asked.append("prior")
    asked += [name for name in ("intervals", "calibrate") if getattr(settings, name)]
    hashed = settings.vectorizer is not None and not isinstance(settings.vectorizer, TextVectorizer)
    return [*asked, "vectorizer"] if hashed else asked


def _only_directions(prior: WordPriors | str | Path) -> bool:
    """Whether a table says no more of words than that they speak for labels, or against them."""
    return all(row[2] in (FOR, AGAINST) and row[3:6] == (None, None, None) for row in read_prior(prior))


def train_auto(settings: Any, data: TrainingData, report: Progress, keep_partial: bool = False) -> Trained:
    """Train on what the texts say is best for them.

    Parameters
    ----------
    settings : TextCategorizer
        Its parameters are read and nothing is changed.
    data : TrainingData
    report : Progress
    keep_partial : bool
        See :class:`AutoTraining`.
    """
    report("reading words", 0, 1)
    views, blocks = read_views(data.texts, settings.vectorizer)
    report("reading words", 1, 1)
    table = None if settings.prior is None else read_prior(settings.prior)
    few = len(data.texts) < ENOUGH_TEXTS
    names, told = told_members(data.texts, views, blocks, data.space, new_words=few, table=table)
    read = [view.name for view in views.views]
    model, too_long = chosen_model(settings, data.texts)
    meaning = None
    if model is not None and not too_long:
        meaning = len(read)
        views, blocks = with_sentences(views, blocks, data.texts, model, report)
    plan = make_plan(read, data.space, len(data.texts), settings.budget, names, told, meaning)
    grouped = few and data.groups is not None  # which may be fewer than folds
    n_folds = settings.cv if grouped else folds_for(len(data.texts), settings.cv, settings.budget)
    n_folds = min(n_folds, len(data.texts))
    fold = stratified_folds(data.indicator, n_folds, settings.random_state, data.groups, data.firsts)
    n_folds = int(fold.max()) + 1  # groups, or different texts, may be fewer
    fold[fold >= folds_held_out(len(data.texts), n_folds, settings.budget)] = -1
    training = AutoTraining(
        plan, views, blocks, data.indicator, data.space, fold, data.weight, settings.n_jobs, report, keep_partial
    )
    with threadpool_limits(1, "blas"):  # products are small: its threads wait for each other longer than they work
        trained = training.run(n_folds)
    if table is not None and trained.prior_weight is None:  # it says nothing of these words and labels
        trained = replace(trained, prior_weight=np.zeros(data.space.n_columns))
    if trained.choice is not None and too_long and model is not None:
        losses = {"log_loss": None, "log_loss_without": None}
        trained.choice["embeddings"] = {"model": name_of(model), "outcome": "too long", **losses}
    return replace(trained, prior_table=table)

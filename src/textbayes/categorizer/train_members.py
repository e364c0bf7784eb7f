"""Training of a ``TextCategorizer`` whose members are given, or those of a preset: one view of words for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.knowledge import read_prior, words_known
from textbayes.categorizer.pool import make_pooling, row_blocks
from textbayes.categorizer.pooled import pooled_model
from textbayes.categorizer.presets import default_vectorizer
from textbayes.categorizer.trained import Trained, TrainingData
from textbayes.categorizer.training import Training, members_of
from textbayes.core.progress import Progress
from textbayes.core.types import FloatArray
from textbayes.kinds import kind_of
from textbayes.kinds.sampling import SamplingCallback
from textbayes.knowledge import WordPriors
from textbayes.text import TextVectorizer


def train_members(
    settings: Any, data: TrainingData, report: Progress, sampling: SamplingCallback | None = None
) -> Trained:
    """Fit members fold by fold, pool them by what they say of texts they did not see, and fit them to all texts.

    Parameters
    ----------
    settings : TextCategorizer
        Its parameters are read and nothing is changed.
    data : TrainingData
    report : Progress
    sampling : SamplingCallback, optional
    """
    texts, indicator, space, weight = data[:4]
    report("reading words", 0, 1)
    vectorizer = default_vectorizer() if settings.vectorizer is None else clone(settings.vectorizer)
    vectorizer.set_output(transform="default")  # whatever a vectorizer that was given does for others
    counts = vectorizer.fit_transform(texts)
    table = None if settings.prior is None else read_prior(settings.prior)
    if table is not None and (missing := words_known(table, vectorizer)):
        # No training text has them, but later ones may: their weights stay at the prior mean.
        counts = vectorizer.add_terms(missing).transform(texts)
    report("reading words", 1, 1)
    watch = sampling or SamplingCallback()
    used = any(kind_of(member).uses_lengths for member in members_of(settings))
    lengths = text_lengths(texts, counts, vectorizer, used)
    training = Training(settings, counts, lengths, indicator, space, report, watch, weight, data.groups, data.firsts)
    return train_with(training, settings, data, vectorizer, report, sampling, table)


def train_with(
    training: Training,
    settings: Any,
    data: TrainingData,
    vectorizer: Any,
    report: Progress,
    sampling: SamplingCallback | None = None,
    table: WordPriors | None = None,
) -> Trained:
    """Fit members as :func:`train_members` does, words having been counted.

    Parameters
    ----------
    training : Training
    settings, data, report, sampling
        As for :func:`train_members`; texts are not looked at.
    vectorizer : the fitted vectorizer
    table : WordPriors, optional
        The prior file, as it was read.
    """
    _, indicator, space, weight = data[:4]
    members = training.members()
    if sampling is not None:
        sampling.begin(space.column_names, training.fingerprint(members, table))
    pooling = make_pooling(members, space, settings.average, weight, settings.calibrate)
    knowledge = None if table is None else training.knowledge(table, members, vectorizer, pooling)
    held_out, learnable = training.out_of_fold(members, pooling, knowledge)
    pool = pooling.fit(held_out, indicator, learnable)
    if knowledge is not None and settings.prior_weight == "auto" and knowledge.weight.any():
        # Weights were chosen label by label with one member; what counts is the pool, and labels side by side.
        without, _ = training.out_of_fold(members, pooling, None, "without the prior, ")
        pool_without = pooling.fit(without, indicator, learnable)
        losses = [
            pooling.loss(scores, weights, indicator, learnable)
            for scores, weights in ((held_out, pool), (without, pool_without))
        ]
        if losses[0] >= losses[1]:
            knowledge, held_out, pool = knowledge.with_zero_weight(), without, pool_without
    sharpness = pooling.sharpness(held_out, pool, indicator, learnable)
    calibration = pooling.calibration(held_out, pool, indicator, learnable)
    proba = training.room(indicator.shape)
    for rows in row_blocks(indicator.shape):
        proba[rows] = pooling.probabilities(calibration * held_out[:, rows], pool, sharpness)
    report("fitting all texts", 0, 1)
    weighting, fitted, features = training.all_texts(members, knowledge)
    prior: dict[str, Any] = {"prior_table": table}
    if knowledge is not None:
        terms = vectorizer.get_feature_names_out()
        prior["prior_weight"] = knowledge.weight
        prior["prior_audit"] = knowledge.audit(fitted[0], members[0], features, indicator, terms, space, weight)
        prior["prior_advice"] = knowledge.advice(features.counts, space)
    report("fitting all texts", 1, 1)
    model = pooled_model(pooling, fitted, pool, sharpness, calibration, settings.keep_draws, features)
    return Trained(vectorizer, weighting, model, pool, proba, learnable, **prior)


def text_lengths(texts: list[str], counts: Any, vectorizer: Any, used: bool) -> FloatArray:
    """Lengths of texts in thousands of words; the sums of their counts where no model asks, or words are hashed.

    Parameters
    ----------
    texts : list of str
    counts : CSR matrix (n_docs, n_features)
    vectorizer : fitted vectorizer
    used : bool
        Whether a model asks for them.
    """
    if used and isinstance(vectorizer, TextVectorizer):
        return vectorizer.document_lengths(texts)
    return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel() / 1000.0

"""The topics of a screening as a model that can be saved: the same words and weights, probabilities recalibrated."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, special

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.assemble import assembled
from textbayes.core.labels import LabelSpace
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.screen.collection import Collection
from textbayes.screen.remaining import calibration_line
from textbayes.screen.screening import Screening
from textbayes.screen.topic import RELEVANT
from textbayes.text.sentences import VectorWeighting
from textbayes.text.views import TextViews, View, ViewsWeighting


def export_model(screening: Screening) -> TextCategorizer:
    """A multi-label ``TextCategorizer`` whose labels are the topics, for ``classify``, ``words``, ``explain`` and more.

    Its log-odds are the screening's predictors, calibrated on what was read: they rank texts as the screening does. A
    text is relevant from the threshold on that gives the best F1 among the records, if unread ones count as irrelevant.

    Parameters
    ----------
    screening : Screening

    Examples
    --------
    >>> from textbayes.screen import Collection
    >>> records = Collection.read(["a", "b", "c"], ["tea leaves", "iron ore", "tea pots"], ["relevant"])
    >>> screening = Screening(records)
    >>> screening.apply(screening.judgement("a", "relevant"))
    >>> screening.apply(screening.judgement("b", "irrelevant"))
    >>> p = export_model(screening).predict_proba(["more tea", "more ore"])[:, 0]
    >>> bool(p[0] > p[1])
    True
    """
    records = screening.collection
    vectorizer, weighting = _reading(records)
    topics = sorted(screening.topics.values(), key=lambda topic: topic.name)
    coef, intercept, proba = [], [], []
    for topic in topics:
        level, slope = calibration_line(topic.left_out())
        weights, own = topic.weights()
        if records.sentences is not None:
            more, level_of_mean = records.of_sentence_vectors(topic.vector_weights())
            weights, own = np.append(weights, more), own + level_of_mean
        proba.append(special.expit(level + slope * topic.predictors))
        coef.append(slope * weights)
        intercept.append(level + slope * own)
    space = LabelSpace(np.array([topic.name for topic in topics], dtype=object), "multilabel")
    fitted = BayesLinearClassifier.of_weights(space, "logit", np.array(coef), np.array(intercept))
    answers = np.column_stack([topic.answers == RELEVANT for topic in topics])
    return assembled(
        BayesLinearClassifier(prior="gaussian", scale=1.0, intercept_scale=1.0),
        fitted,
        vectorizer,
        weighting,
        "max_f1" if answers.any(axis=0).all() else "fixed:threshold=0.5",
        np.column_stack(proba),
        answers,
        np.array([topic.n_relevant for topic in topics]),
        None,  # texts are in the folder, not in the model
    )


def _reading(records: Collection) -> tuple[Any, Any]:
    """The vectorizer of a screening's words, and of sentence vectors beside them, and its weighting."""
    words, weights = records.vectorizer, records.weighting
    if records.sentences is None:
        return words, weights
    vectors = VectorWeighting().fit(sparse.csr_matrix(records.sentences.rows))
    views = [View("words", words, weights), View("embedding", records.sentences.vectorizer, VectorWeighting())]
    made = TextViews.of_fitted(views, [words, records.sentences.vectorizer])
    return made, ViewsWeighting.of_fitted([weights, vectors], [1.0, 1.0], made.bounds_)

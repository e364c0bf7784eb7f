"""The topics of a screening as a model that can be saved: the same words and weights, probabilities recalibrated."""

from __future__ import annotations

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.assemble import assembled
from textbayes.core.labels import LabelSpace
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.screen.remaining import State, recalibration
from textbayes.screen.screening import Screening


def export_model(screening: Screening) -> TextCategorizer:
    """A multi-label ``TextCategorizer`` whose labels are the topics, for ``classify``, ``words``, ``explain`` and more.

    Its log-odds are the screening's predictors, recalibrated on what was read: they rank texts as the screening does.

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
    topics = sorted(screening.topics.values(), key=lambda topic: topic.name)
    coef, intercept = [], []
    for topic in topics:
        level, slope = recalibration(State.of(topic))
        weights, own = topic.weights()
        coef.append(slope * weights)
        intercept.append(level + slope * own)
    space = LabelSpace(np.array([topic.name for topic in topics], dtype=object), "multilabel")
    fitted = BayesLinearClassifier.of_weights(space, "logit", np.array(coef), np.array(intercept))
    nothing = np.zeros((1, len(topics)))
    return assembled(
        BayesLinearClassifier(prior="gaussian", scale=1.0, intercept_scale=1.0),
        fitted,
        screening.collection.vectorizer,
        screening.collection.weighting,
        "fixed:threshold=0.5",
        nothing,
        nothing > 0.0,
        np.array([topic.n_relevant for topic in topics]),
        None,  # texts are in the folder, not in the model
    )

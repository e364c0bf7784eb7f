"""The texts that were decided wrongly, the surest mistakes first, each with the words that led there."""

from __future__ import annotations

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.core.types import FloatArray
from textbayes.display.escapes import snippet
from textbayes.evaluate.measures import mistake_sureness
from textbayes.report.examples import Judged
from textbayes.report.records import Word, WrongText

_MOST_WORDS = 5  # for each label in question
_MOST_LABELS = 4  # in question, of one text
_HEADLINE = 160  # characters


def wrong_texts(model: TextCategorizer, judged: Judged, most: int) -> list[WrongText]:
    """Texts decided wrongly, up to ``most`` of them, the surest mistakes first.

    Parameters
    ----------
    model : TextCategorizer
    judged : Judged
    most : int
    """
    wrong = np.flatnonzero(~judged.right())
    exclusive = model.label_space_.kind != "multilabel"
    sureness = mistake_sureness(judged.truth, judged.decisions, judged.proba, exclusive)
    order = wrong[np.argsort(-sureness[wrong].max(axis=1, initial=-1.0), kind="stable")][:most]  # each text's worst
    return [_explained(model, judged, int(i), sureness[i]) for i in order]


def _explained(model: TextCategorizer, judged: Judged, i: int, sureness: FloatArray) -> WrongText:
    text, proba = judged.texts[i], judged.proba[i]
    names = [str(name) for name in model.classes_]
    mistaken = np.flatnonzero(judged.decisions[i] != judged.truth[i])
    columns = mistaken[np.argsort(-sureness[mistaken], kind="stable")][:_MOST_LABELS]  # the surest first
    words = []
    for told in model.explain(text, [names[j] for j in columns]):
        speaking = [part for part in told.contributions if part.log_odds > 0.0][:_MOST_WORDS]
        words.append([Word(*part) for part in speaking])
    return WrongText(
        id=judged.ids[i],
        headline=snippet(text, _HEADLINE),
        truth=judged.true_labels(i, names),
        decided=[names[j] for j in np.flatnonzero(judged.decisions[i])],
        labels=[(names[j], float(proba[j])) for j in columns],
        words=words,
    )

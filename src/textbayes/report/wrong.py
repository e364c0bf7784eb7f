"""The texts that were decided wrongly, the surest mistakes first, each with the words that led there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.core.types import FloatArray
from textbayes.report.examples import Judged
from textbayes.report.records import Word, WrongText
from textbayes.report.surface import common_forms, headline, shown

_MOST_WORDS = 5  # for each label in question
_MOST_LABELS = 4  # in question, of one text
_HEADLINE = 160  # characters


def wrong_texts(model: TextCategorizer, judged: Judged, forms: Mapping[str, str], most: int) -> list[WrongText]:
    """Texts decided wrongly, up to ``most`` of them, the surest mistakes first.

    Parameters
    ----------
    model : TextCategorizer
    judged : Judged
    forms : stem → its most frequent form
    most : int
    """
    wrong = np.flatnonzero(~judged.right())
    order = wrong[np.argsort(-_surest_mistake(judged)[wrong], kind="stable")][:most]
    return [_explained(model, judged, int(i), forms) for i in order]


def _surest_mistake(judged: Judged) -> FloatArray:
    """Confidence of each text's worst mistake: the probability given to what is not so."""
    said = np.where(judged.truth, 1.0 - judged.proba, judged.proba)
    return np.where(judged.truth != judged.decisions, said, 0.0).max(axis=1)


def _explained(model: TextCategorizer, judged: Judged, i: int, forms: Mapping[str, str]) -> WrongText:
    text, proba = judged.texts[i], judged.proba[i]
    names = [str(name) for name in model.classes_]
    mistaken = np.flatnonzero(judged.decisions[i] != judged.truth[i])
    columns = mistaken[np.argsort(~judged.decisions[i, mistaken], kind="stable")][:_MOST_LABELS]  # given, then missed
    forms = {**forms, **common_forms([text], model.vectorizer_)}
    words = []
    for told in model.explain(text, [names[j] for j in columns]):
        speaking = [part for part in told.contributions if part.log_odds > 0.0][:_MOST_WORDS]
        words.append([Word(p.word, shown(p.word, forms), p.log_odds, p.occurrences) for p in speaking])
    return WrongText(
        id=judged.ids[i],
        headline=headline(text, _HEADLINE),
        truth=judged.true_labels(i, names),
        decided=[names[j] for j in np.flatnonzero(judged.decisions[i])],
        labels=[(names[j], float(proba[j])) for j in columns],
        words=words,
    )

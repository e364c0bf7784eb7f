"""The words behind the labels, ranked by what they did on the texts of the report and not by weight alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.merged import MergedWords
from textbayes.report.records import LabelWords, StrongWord

_LEADING = 12  # labels, those with most texts
_MOST_LABELS = 300
_FOR, _AGAINST = 10, 5  # words
_LEVEL = 0.95
_MOST_INTERVALS = 2_000  # words of a label that are looked up


def strongest_words(model: TextCategorizer, texts: Sequence[str], support: Mapping[str, int]) -> list[LabelWords]:
    """Strongest words of the labels with most texts, in the order of the labels.

    What a word adds to a label's log-odds in one text is what ``explain`` says; here it is summed over all texts.

    Parameters
    ----------
    model : TextCategorizer
    texts : sequence of str
    support : label → number of texts
    """
    features = model.features(texts)
    all_weights, all_totals = model.model_.words().weights, model.model_.word_totals(features)
    having = features.counts != 0
    words = MergedWords.of(model, np.asarray(having.sum(axis=0), dtype=np.float64).ravel(), model.surface_)
    n_texts = words.texts_with(having)
    ranked = sorted(support, key=lambda label: -support[label])
    leading, kept = set(ranked[:_LEADING]), set(ranked[:_MOST_LABELS])
    found = []
    for label in support:
        if label in kept:
            column, sign = _column(model, label)
            weights, totals = words.weight(sign * all_weights[column]), words.added(sign * all_totals[column])
            ends = _intervals(model, label) if label in leading else {}
            order = np.argsort(-totals, kind="stable")
            most, least = ([j for j in places if totals[j]] for places in (order[:_FOR], order[::-1][:_AGAINST]))
            told = {
                j: StrongWord(
                    words.forms[j], float(weights[j]), int(n_texts[j]), float(totals[j]),
                    *ends.get(words.column_name(j), (None, None)),
                )
                for j in (*most, *least)
            }  # fmt: skip
            speaking_for = [told[j] for j in most if totals[j] > 0.0]
            speaking_against = [told[j] for j in least if totals[j] < 0.0]
            found.append(LabelWords(label, speaking_for, speaking_against, label in leading))
    return found


def _column(model: TextCategorizer, label: str) -> tuple[int, float]:
    """The column of a label and the sign of its weights: the first of two classes mirrors the second."""
    names = model.label_space_.column_names
    return (names.index(label), 1.0) if label in names else (0, -1.0)


def _intervals(model: TextCategorizer, label: str) -> dict[str, tuple[float | None, float | None]]:
    """The ends of the interval of each weight, where the model knows them."""
    if model.standard_errors_ is None:
        return {}
    rows = model.word_intervals(label, level=_LEVEL, k=_MOST_INTERVALS)
    return {one.word: (one.low, one.high) for one in rows if not np.isnan(one.low)}

"""Three texts to look at, a sure and right one, a doubtful one and a wrong one, with the reasons for each decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from textbayes.categorizer import Assessment, TextCategorizer
from textbayes.core.types import BoolArray, FloatArray
from textbayes.explain import Explanation
from textbayes.report.records import Example, Reason, Word
from textbayes.report.surface import common_forms, highlight, shown

SURE = "right and sure"
DOUBTFUL = "right, the least sure"
WRONG = "wrong, the surest"

_MOST_CHARACTERS = 1_500  # of a text, on the page
_MOST_WORDS = 8  # of a reason, by name
_MOST_PROBABILITIES = 5


class Judged(NamedTuple):
    """Texts with their names, what is true of them and what the model thinks, one row or item each."""

    ids: Sequence[str]
    texts: Sequence[str]
    truth: BoolArray
    assessment: Assessment


def confidence(assessment: Assessment, kind: str) -> FloatArray:
    """How sure each text's decision is: the top probability, or that of the least sure yes or no."""
    proba, decisions = assessment
    if kind == "multiclass":
        return proba.max(axis=1)
    return np.where(decisions, proba, 1.0 - proba).min(axis=1)


def choose(judged: Judged, kind: str) -> list[tuple[str, int]]:
    """Which texts to show, and as what.

    Of the surest tenth of the right ones the shortest, which is quickest to read; the least sure right one; and the
    surest wrong one, from which most is to be learnt.
    """
    sure = confidence(judged.assessment, kind)
    is_right = (judged.assessment.decisions == judged.truth).all(axis=1)
    right, wrong = np.flatnonzero(is_right), np.flatnonzero(~is_right)
    if kind == "multilabel" and judged.truth[right].any():
        right = right[judged.truth[right].any(axis=1)]  # an empty text without labels is right, and dull
    chosen = []
    if len(right):
        surest = right[np.argsort(-sure[right], kind="stable")][: max(1, len(right) // 10)]
        chosen.append((SURE, min(surest.tolist(), key=lambda i: len(judged.texts[i]))))
        doubtful = int(right[sure[right].argmin()])
        if doubtful != chosen[0][1]:
            chosen.append((DOUBTFUL, doubtful))
    if len(wrong):
        chosen.append((WRONG, int(wrong[sure[wrong].argmax()])))
    return chosen


def make_examples(model: TextCategorizer, judged: Judged, forms: Mapping[str, str]) -> list[Example]:
    """The chosen texts, explained."""
    return [_example(model, judged, what, i, forms) for what, i in choose(judged, model.label_space_.kind)]


def _example(model: TextCategorizer, judged: Judged, what: str, i: int, forms: Mapping[str, str]) -> Example:
    space = model.label_space_
    text, truth = judged.texts[i], judged.truth[i]
    proba, decisions = judged.assessment.proba[i], judged.assessment.decisions[i]
    names = space.column_names
    columns = _columns_to_explain(space.kind, proba, decisions, truth, what)
    explanations = model.explain(text, [names[j] for j in columns])
    values = {part.word: part.log_odds / part.occurrences for part in explanations[0].contributions}
    order = np.argsort(-proba, kind="stable")[:_MOST_PROBABILITIES]
    headline = " ".join(text[:200].split())
    n_shown = _cut(text)
    forms = {**forms, **common_forms([text], model.vectorizer_)}  # the form in this text, where it has one
    return Example(
        kind=what,
        id=judged.ids[i],
        headline=headline if len(headline) <= 60 else headline[:60].rsplit(" ", 1)[0] + " …",
        truth=list(space.decode(truth[None])[0]),
        decided=list(space.decode(decisions[None])[0]),
        probabilities=[(names[j], float(proba[j])) for j in order],
        reasons=[_reason(explanation, forms) for explanation in explanations],
        fragments=highlight(text, model.vectorizer_, values, n_shown),
        n_shown=n_shown,
        n_characters=len(text),
    )


def _columns_to_explain(kind: str, proba: FloatArray, decisions: BoolArray, truth: BoolArray, what: str) -> list[int]:
    """The label decided on and, where that is the question, the one it competed with; two at most."""
    order = np.argsort(-proba, kind="stable")
    if kind == "multiclass":
        first = int(order[decisions[order]][0]) if decisions.any() else int(order[0])
        if what == SURE:
            return [first]
        rivals = order[(truth if what == WRONG else ~truth)[order]]
        return [first, *(int(j) for j in rivals if j != first)][:2]
    mistaken = order[(decisions != truth)[order]]
    given = order[decisions[order]]
    return list(dict.fromkeys(int(j) for j in [*mistaken, *given, order[0]]))[:2]


def _cut(text: str) -> int:
    """How many characters to show: all of a text that is hardly too long, else up to the end of a word."""
    if len(text) <= 1.2 * _MOST_CHARACTERS:
        return len(text)
    space = max(text.rfind(blank, 0, _MOST_CHARACTERS) for blank in (" ", "\n"))
    return space if space > 0 else _MOST_CHARACTERS


def _reason(explanation: Explanation, forms: Mapping[str, str]) -> Reason:
    parts = explanation.contributions
    rest = parts[_MOST_WORDS:]
    return Reason(
        label=explanation.label,
        decision=explanation.decision,
        base=explanation.base,
        words=[Word(p.word, shown(p.word, forms), p.log_odds, p.occurrences) for p in parts[:_MOST_WORDS]],
        others_for=_together([p.log_odds for p in rest if p.log_odds > 0.0], "for"),
        others_against=_together([p.log_odds for p in rest if p.log_odds < 0.0], "against"),
        log_odds=explanation.log_odds,
        own_probability=float(1.0 / (1.0 + np.exp(-np.clip(explanation.log_odds, -700.0, 700.0)))),
        probability=explanation.probability,
    )


def _together(values: list[float], side: str) -> Word | None:
    """Words too many to name, as one; ``occurrences`` counts the words."""
    if not values:
        return None
    name = f"{len(values)} other word{'s' if len(values) > 1 else ''} {side} it"
    return Word("", name, float(sum(values)), len(values))

"""Three texts to look at, a sure and right one, a doubtful one and a wrong one, with the reasons for each decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.explain import Explanation
from textbayes.core.types import BoolArray, FloatArray
from textbayes.display.escapes import snippet
from textbayes.report.confusions import UNKNOWN
from textbayes.report.records import Example, Reason, Word
from textbayes.report.surface import highlight

SURE = "correct, certain"
DOUBTFUL = "correct, least certain"
WRONG = "wrong, most certain"

_MOST_CHARACTERS = 1_500  # of a text, on the page
_MOST_WORDS = 8  # of a reason, by name
_MOST_PROBABILITIES = 5


class Judged(NamedTuple):
    """Texts with their names, what is true of them and what the model thinks: a row each, a column for every class."""

    ids: Sequence[str]
    texts: Sequence[str]
    truth: BoolArray
    proba: FloatArray
    decisions: BoolArray
    kind: str

    def right(self) -> BoolArray:
        """Whether all labels of each text are right; not those of a text whose one label the model does not know."""
        found: BoolArray = (self.decisions == self.truth).all(axis=1)
        return found if self.kind == "multilabel" else found & self.truth.any(axis=1)

    def true_labels(self, i: int, names: Sequence[str]) -> list[str]:
        """The labels of a text; one that excludes the others and is not among the model's is called unknown."""
        found = [names[j] for j in np.flatnonzero(self.truth[i]).tolist()]
        return found if found or self.kind == "multilabel" else [UNKNOWN]


def confidence(judged: Judged) -> FloatArray:
    """Confidence of each text's decision: the top probability, or that of the least sure yes or no."""
    if judged.kind == "multiclass":
        return judged.proba.max(axis=1)
    return np.where(judged.decisions, judged.proba, 1.0 - judged.proba).min(axis=1)


def choose(judged: Judged) -> list[tuple[str, int]]:
    """Choose the texts to show, each with its role.

    Of the surest tenth of the right ones the shortest, which is quickest to read; the least sure right one; and the
    surest wrong one, from which most is to be learnt.
    """
    sure = confidence(judged)
    is_right = judged.right()
    right, wrong = np.flatnonzero(is_right), np.flatnonzero(~is_right)
    if judged.kind == "multilabel" and judged.truth[right].any():
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


def make_examples(model: TextCategorizer, judged: Judged) -> list[Example]:
    """Explain the texts chosen as examples."""
    return [_example(model, judged, what, i) for what, i in choose(judged)]


def _example(model: TextCategorizer, judged: Judged, what: str, i: int) -> Example:
    text, truth, proba, decisions = judged.texts[i], judged.truth[i], judged.proba[i], judged.decisions[i]
    names = [str(name) for name in model.classes_]
    columns = _columns_to_explain(judged.kind, proba, decisions, truth, what)
    explanations = model.explain(text, [names[j] for j in columns])
    (by_column,) = model.explain(text, [names[columns[0]]], merge=False)
    values = {part.word: part.log_odds / part.occurrences for part in by_column.contributions}
    order = np.argsort(-proba, kind="stable")[:_MOST_PROBABILITIES]
    n_shown = _cut(text)
    return Example(
        kind=what,
        id=judged.ids[i],
        headline=snippet(text, 60),
        truth=judged.true_labels(i, names),
        decided=[names[j] for j in np.flatnonzero(decisions)],
        probabilities=[(names[j], float(proba[j])) for j in order],
        reasons=[_reason(told, bool(decisions[j])) for told, j in zip(explanations, columns, strict=True)],
        fragments=highlight(text, model.vectorizer_, values, n_shown),
        n_shown=n_shown,
        n_characters=len(text),
    )


def _columns_to_explain(kind: str, proba: FloatArray, decisions: BoolArray, truth: BoolArray, what: str) -> list[int]:
    """The label decided on and, where that is the question, the one it competed with; two at most."""
    order = np.argsort(-proba, kind="stable")
    if kind != "multilabel":
        first = int(order[decisions[order]][0]) if decisions.any() else int(order[0])
        if what == SURE or kind == "binary":  # what speaks for one of two classes speaks against the other
            return [first]
        rivals = order[(truth if what == WRONG else ~truth)[order]]
        return [first, *(int(j) for j in rivals if j != first)][:2]
    mistaken = order[(decisions != truth)[order]]
    given = order[decisions[order]]
    return list(dict.fromkeys(int(j) for j in [*mistaken, *given, order[0]]))[:2]


def _cut(text: str) -> int:
    """Number of characters to show: all of a text that is hardly too long, else up to the end of a word."""
    if len(text) <= 1.2 * _MOST_CHARACTERS:
        return len(text)
    space = max(text.rfind(blank, 0, _MOST_CHARACTERS) for blank in (" ", "\n"))
    return space if space > 0 else _MOST_CHARACTERS


def _reason(explanation: Explanation, decision: bool) -> Reason:
    parts = explanation.contributions
    rest = parts[_MOST_WORDS:]
    return Reason(
        label=explanation.label,
        decision=decision,
        base=explanation.base,
        words=[Word(*part) for part in parts[:_MOST_WORDS]],
        others_for=_together([p.log_odds for p in rest if p.log_odds > 0.0], "for"),
        others_against=_together([p.log_odds for p in rest if p.log_odds < 0.0], "against"),
        log_odds=explanation.log_odds,
        probability=explanation.probability,
        rivals=[(one.label, one.probability, one.log_odds) for one in explanation.rivals],
    )


def _together(values: list[float], side: str) -> Word | None:
    """Words too many to name, as one; ``occurrences`` counts the words."""
    if not values:
        return None
    name = f"{len(values)} other word{'s' if len(values) > 1 else ''} {side} it"
    return Word(name, float(sum(values)), len(values))

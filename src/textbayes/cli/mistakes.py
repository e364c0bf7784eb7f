"""The surest mistakes of a model on labelled texts, with the words behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from textbayes.cli.assess import Assessed
from textbayes.cli.terminal import echo
from textbayes.core.types import BoolArray, Document
from textbayes.core.wording import plural
from textbayes.display.escapes import snippet

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer

COLUMNS = ("id", "true", "given", "label", "mistake", "probability", "snippet", "words")
_WORDS = 6
_SNIPPET = 160  # characters


class _Mistake(NamedTuple):
    sureness: float
    document: Document
    given: tuple[str, ...]
    label: str
    probability: float
    was_given: bool


class Mistakes:
    """The ``most`` documents whose worst decision was wrong with the greatest probability, kept while batches pass."""

    def __init__(self, most: int, names: list[str], exclusive: bool) -> None:
        self._most, self._names, self._exclusive = most, names, exclusive
        self._kept: list[_Mistake] = []

    def add(self, batch: Assessed, truth: BoolArray) -> None:
        """Look at a batch; ``truth`` is the indicator of its documents."""
        from textbayes.evaluate.measures import mistake_sureness

        sureness = mistake_sureness(truth, batch.decisions, batch.proba, self._exclusive)
        for i in np.flatnonzero(sureness.max(axis=1, initial=-1.0) >= 0.0):
            j = int(sureness[i].argmax())
            self._kept.append(
                _Mistake(
                    float(sureness[i, j]),
                    batch.documents[i],
                    tuple(self._names[k] for k in np.flatnonzero(batch.decisions[i])),
                    self._names[j],
                    float(batch.proba[i, j]),
                    bool(batch.decisions[i, j]),
                )
            )
        self._kept.sort(key=lambda mistake: -mistake.sureness)  # stable: of equal ones the first met
        del self._kept[self._most :]

    def rows(self, model: TextCategorizer) -> list[dict[str, Any]]:
        """One object per mistake: what was true, what was given, the label in question, and the words behind it."""
        return [
            {
                "id": one.document.id,
                "true": list(one.document.labels),
                "given": list(one.given),
                "label": one.label,
                "mistake": "given" if one.was_given else "missed",
                "probability": one.probability,
                "snippet": snippet(one.document.text, _SNIPPET),
                "words": _words(model, one),
            }
            for one in self._kept
        ]


def flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Flatten mistakes for CSV, whose cells hold no objects."""
    return [row | {"words": [f"{part['word']} {part['log_odds']:+.4f}" for part in row["words"]]} for row in rows]


def print_mistakes(rows: list[dict[str, Any]], n_wrong: int) -> None:
    """Print the mistakes for people to read."""
    echo(f"The {len(rows):,} most confident of {plural(n_wrong, 'wrong decision')}", bold=True)
    for row in rows:
        true, given = (" + ".join(row[name]) or "(none)" for name in ("true", "given"))
        what = f"{row['label']} {row['mistake']} at probability {row['probability']:.3f}"
        echo(f"\n{row['id']}: true {true}, predicted {given} ({what})", bold=True)
        echo(f"  {row['snippet']}")
        words = ", ".join(f"{part['word']} {part['log_odds']:+.2f}" for part in row["words"])
        echo(f"  words: {words or 'none; the decision rests on the frequency of the label'}")


def _words(model: TextCategorizer, one: _Mistake) -> list[dict[str, Any]]:
    """The words that spoke for the mistake, the strongest first."""
    (told,) = model.explain(one.document.text, [one.label])
    sign = 1.0 if one.was_given else -1.0
    spoke = [part for part in told.contributions if sign * part.log_odds > 0.0][:_WORDS]
    return [{"word": part.word, "log_odds": part.log_odds} for part in spoke]

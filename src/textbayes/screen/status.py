"""A screening as people see it: records with probabilities and intervals, the table of all, the status of a topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray, IntArray
from textbayes.screen.remaining import State, calibration_line, estimate_remaining
from textbayes.screen.screening import Screening
from textbayes.screen.settings import ScreenSettings
from textbayes.screen.solver import WIDE
from textbayes.screen.stopping import make_rule, reads_left, seconds_each
from textbayes.screen.topic import UNREAD, UNSURE, ScreeningTopic


class RelevanceInterval(NamedTuple):
    """How probably a record is relevant, and between which bounds with 95 %.

    Parameters
    ----------
    probability, low, high : float
    """

    probability: float
    low: float
    high: float


def estimate(topic: ScreeningTopic, rows: Sequence[int]) -> list[RelevanceInterval]:
    """Probabilities of some records, as :func:`probabilities` has them, with bounds.

    Bounds are those of the model's weights alone; what the calibration does not know is not in them.

    Parameters
    ----------
    topic : ScreeningTopic
    rows : sequence of int
    """
    chosen = np.asarray(rows, dtype=np.int64)
    spread = WIDE * topic.standard_errors(chosen)
    return [
        RelevanceInterval(*map(float, bounds))
        for bounds in zip(*(probabilities(topic, chosen, shift) for shift in (0.0, -spread, spread)), strict=True)
    ]


def probabilities(topic: ScreeningTopic, rows: Sequence[int] | IntArray, shift: FloatArray | float = 0.0) -> FloatArray:
    """Probabilities of some records at their predictors plus ``shift``, calibrated on the records that were judged.

    Those that are not judged have less: in all, as many are relevant as the estimate says are left.

    Parameters
    ----------
    topic : ScreeningTopic
    rows : sequence of int
    shift : float or array
    """
    chosen = np.asarray(rows, dtype=np.int64)
    level, slope = calibration_line(topic.left_out())
    unread = topic.answers == UNREAD
    total = float(special.expit(level + slope * topic.predictors[unread]).sum())
    share = min(1.0, estimate_remaining(State.of(topic)).mean / total) if total > 0.0 else 1.0
    found = special.expit(level + slope * (topic.predictors[chosen] + shift))
    return np.where(unread[chosen], share, 1.0) * found


SAID = {0: "", 1: "relevant", -1: "irrelevant", 2: "unsure"}


def table_rows(screening: Screening, records: Iterable[Mapping[str, Any]], topic: str | None) -> list[dict[str, Any]]:
    """All records in the order of reading, those that were not read by probability, with their own fields first.

    Parameters
    ----------
    screening : Screening
    records : iterable of mappings
        With ``id``, ``text`` and ``fields``, in the order of the rows.
    topic : str, optional
        Needed where there are several.
    """
    known = screening.topic(topic)
    read = known.reading().rows.tolist()
    unread = known.unread()
    order = [*read, *unread[np.argsort(-known.predictors[unread], kind="stable")].tolist()]
    place_of = {row: place for place, row in enumerate(order, start=1)}
    found = estimate(known, range(len(order)))
    behind = known.words_behind_each(range(len(order)))
    rows = []
    for row, record in enumerate(records):
        fields = dict(record["fields"]) or {"text": record["text"]}
        words = " ".join(f"{word} {part:+.2f}" for word, part in behind[row].items())
        figures = {name: round(value, 4) for name, value in found[row]._asdict().items()}
        said = SAID[int(known.answers[row])]
        own = {"id": record["id"], "decision": said, "place": place_of[row], **figures, "words": words}
        rows.append({**fields, **{_free(name, fields): value for name, value in own.items()}})
    return [rows[row] for row in order]


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """The name of a column of ours where the input may have one of the same name."""
    return f"textbayes_{name}" if name in taken else name


DEFAULT_RULES = ("estimate", "hypergeometric")


class Standing(NamedTuple):
    """What the status of a topic is computed from: a look at a screening, which may change meanwhile.

    Parameters
    ----------
    topic : str
    settings : ScreenSettings
    state : State
    n_unsure, n_handed_out : int
    """

    topic: str
    settings: ScreenSettings
    state: State
    n_unsure: int
    n_handed_out: int

    @classmethod
    def of(cls, screening: Screening, topic: str | None) -> Self:
        """How a topic of a screening stands now.

        Parameters
        ----------
        screening : Screening
        topic : str, optional
            Needed where there are several.
        """
        known = screening.topic(topic)
        n_unsure = int((known.answers == UNSURE).sum())
        return cls(known.name, screening.settings, State.of(known), n_unsure, len(known.handed_out))


def status_of(standing: Standing, times: Sequence[float], rules: Sequence[str] = DEFAULT_RULES) -> dict[str, Any]:
    """What was found for a topic, how much is left, and what each rule advises; as JSON has it.

    Parameters
    ----------
    standing : Standing
    times : sequence of float
        When its answers were given, in seconds: they tell the pace.
    rules : sequence of str
        See :func:`~textbayes.screen.stopping.make_rule`.
    """
    settings, state, each = standing.settings, standing.state, seconds_each(times)
    advices = []
    for name in rules:
        rule = make_rule(name, settings.target, settings.confidence)
        advice = rule.advise(state)
        more = 0 if advice.stop else reads_left(state, rule)
        hours = None if each is None else round(more * each / 3600.0, 2)
        advices.append({"rule": rule.name, **advice._asdict(), "reads_left": more, "hours_left": hours})
    left = estimate_remaining(state)
    return {
        "topic": standing.topic,
        "records": state.n_records,
        "read": len(state.reading.rows),
        "relevant": state.n_found,
        "unsure": standing.n_unsure,
        "handed_out": standing.n_handed_out,
        "left": round(left.mean, 2),
        "left_at_most": left.quantile(0.9),
        "seconds_each": each,
        "advice": advices,
    }

"""How a topic stands: what was read and found, what is left, and what stopping rules say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from textbayes.screen.forecast import reads_left, seconds_each
from textbayes.screen.gauge import State, gauge
from textbayes.screen.screening import Screening
from textbayes.screen.settings import ScreenSettings
from textbayes.screen.stopping import make_rule
from textbayes.screen.topic import UNSURE

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
    left = gauge(state)
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

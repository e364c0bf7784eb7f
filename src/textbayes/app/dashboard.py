"""How a project stands: status, what more certainty costs, and agreement between people."""

from __future__ import annotations

import functools
from itertools import combinations
from typing import Any, NamedTuple

from sklearn.metrics import cohen_kappa_score

from textbayes.app.desk import Desk
from textbayes.app.live import LiveReview
from textbayes.screen.forecast import ReadingOn
from textbayes.screen.gauge import State
from textbayes.screen.status import Standing, status_of
from textbayes.screen.stopping import make_rule

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


class Cost(NamedTuple):
    """Records to read until the gauge is so sure, if nothing more is found; and the hours at the present pace."""

    confidence: float
    reads: int
    hours: float | None


class Agreement(NamedTuple):
    """How far two people agree on the records that both have answered.

    Parameters
    ----------
    users : tuple of int
    n_records, n_same : int
    kappa : float or None
        Cohen's κ over relevant, irrelevant and unsure; None where it is not defined: fewer than two records, or only
        one answer given by both.
    """

    users: tuple[int, int]
    n_records: int
    n_same: int
    kappa: float | None


def project_status(review: LiveReview, topic: str) -> dict[str, Any]:
    """What was read and found, how much is left, and what the stopping rules say.

    Parameters
    ----------
    review : LiveReview
    topic : str
    """
    with review.looking() as desk:
        times, n_conflicts, n_waiting = list(desk.times[topic]), len(desk.conflicts(topic)), desk.n_waiting(topic)
    with review.model() as screening:
        standing = Standing.of(screening, topic)
    told, settings = status_of(standing, times), standing.settings  # it takes time: others go on
    more = {"conflicts": n_conflicts, "waiting": n_waiting, "strategy": settings.strategy, "target": settings.target}
    return {**told, **more, "confidence": settings.confidence}


def costs_of_certainty(state: State, target: float, seconds_each: float | None) -> list[Cost]:
    """What it costs to be surer that the target is reached.

    Parameters
    ----------
    state : State
    target : float
    seconds_each : float or None
        Pace of reading.
    """
    on, rule = ReadingOn(state), make_rule("estimate", target, confidence=0.0)

    @functools.cache  # one look for all confidences
    def probability(n: int) -> float:
        advice = rule.advise(on.after(n))
        return (advice.probability or 0.0) if advice.stop else -1.0

    found = []
    for confidence in CONFIDENCES:
        reads = on.until(lambda n, sure=confidence: probability(n) >= sure)  # type: ignore[misc]
        found.append(Cost(confidence, reads, None if seconds_each is None else reads * seconds_each / 3600.0))
    return found


def agreements(desk: Desk, topic: str) -> list[Agreement]:
    """Agreement of every two people who have answered records in common.

    Parameters
    ----------
    desk : Desk
    topic : str
    """
    people = sorted({desk.person(user) for said in desk.opinions[topic].values() for user in said})
    found = []
    for users in combinations(people, 2):
        pairs = desk.pairs(topic, users)
        if pairs:
            found.append(Agreement(users, len(pairs), sum(one == other for one, other in pairs), _kappa(pairs)))
    return found


def _kappa(pairs: list[tuple[str, str]]) -> float | None:
    if len({answer for pair in pairs for answer in pair}) < 2:
        return None
    return float(cohen_kappa_score(*map(list, zip(*pairs, strict=True))))

"""Rules that say when enough was read, each with its reason; how much there is to read until one says so.

Rules can be combined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy import stats

from textbayes.core.errors import InputError, plural
from textbayes.screen.remaining import (
    DEFAULT_WEIGHTS,
    Line,
    RemainingWeights,
    State,
    estimate_remaining,
    may_be_left,
    recalibration,
)

GATE = 0.3  # p-value of the ranked hypergeometric test from which on the estimate may speak


NOTHING_READ = "too early to estimate: no record has been read"


class StoppingAdvice(NamedTuple):
    """What a rule says.

    Parameters
    ----------
    stop : bool
    reason : str
    probability : float or None
        That the target is reached, where the rule has one.
    """

    stop: bool
    reason: str
    probability: float | None = None


class StoppingRule(Protocol):
    """A rule that says whether to go on reading."""

    name: str

    def advise(self, state: State) -> StoppingAdvice:
        """What the rule says of a state."""


class _Target:
    """A rule for a share of the relevant records, the target, that is to be found with some confidence."""

    def __init__(self, target: float = 0.95, confidence: float = 0.9) -> None:
        self._target, self._confidence = target, confidence


class RemainingRule(_Target):
    """Stop when the estimate is sure enough that the target is reached, and the reading so far does not contradict it.

    Parameters
    ----------
    target, confidence : float
    weights : RemainingWeights
    """

    name = "estimate"

    def __init__(
        self, target: float = 0.95, confidence: float = 0.9, weights: RemainingWeights = DEFAULT_WEIGHTS
    ) -> None:
        super().__init__(target, confidence)
        self._weights = weights

    def advise(self, state: State) -> StoppingAdvice:
        """See :class:`StoppingRule`."""
        left = estimate_remaining(state, self._weights)
        probability = left.at_most(may_be_left(state.n_found, self._target))
        held_back = ranked_p_value(state, self._target) > GATE
        if not len(state.reading.rows):
            return StoppingAdvice(False, NOTHING_READ, probability)
        number = plural(round(left.mean), "relevant record is", "relevant records are")
        reason = (
            f"about {number} left; the probability of a recall of at least "
            f"{self._target:.0%} is {probability:.2f}"
            + (", but too few records were read since the last relevant ones to rely on it" * held_back)
        )
        return StoppingAdvice(probability >= self._confidence and not held_back, reason, probability)


class RankedHypergeometric(_Target):
    """Stop when so few relevant records in what was read last would be a surprise, were the target not reached.

    What was read after any find is treated as if it had been drawn at random from what was unread then: cautious, since
    it was chosen to be relevant. The find that gives the smallest p-value counts.

    Callaghan & Müller-Hansen (2020), Statistical stopping criteria for automated screening in systematic reviews,
    Systematic Reviews 9.

    Parameters
    ----------
    target, confidence : float
    """

    name = "hypergeometric"

    def advise(self, state: State) -> StoppingAdvice:
        """See :class:`StoppingRule`."""
        p = ranked_p_value(state, self._target)
        return StoppingAdvice(p < 1.0 - self._confidence, f"p = {p:.3f} for a recall below {self._target:.0%}", 1.0 - p)


class AuditHypergeometric(_Target):
    """The same test on records drawn at random at the end of the reading, for which it is exact.

    Parameters
    ----------
    target, confidence : float
    """

    name = "audit"

    def advise(self, state: State) -> StoppingAdvice:
        """See :class:`StoppingRule`."""
        others = np.flatnonzero(~state.reading.at_random)
        start = int(others[-1]) + 1 if len(others) else 0
        n_drawn = len(state.reading.rows) - start
        if not n_drawn:
            return StoppingAdvice(False, "the last record was not drawn at random: an audit is needed")
        p = float(_p_values(state, np.array([start]), self._target)[0])
        return StoppingAdvice(
            p < 1.0 - self._confidence, f"p = {p:.3f} by the last {n_drawn} records, drawn at random", 1.0 - p
        )


class QuantileBound(_Target):
    """Stop when enough of the relevant records drawn at random would have come up by themselves (QBCB).

    One that was drawn counts as come up when the ranking has nothing left that is as likely as it was before it was
    read. With r of them, j must have come up, the least with P(Binomial(r, target) ≥ j) ≤ 1 − confidence.

    Lewis, Yang & Frieder (2021), Certifying one-phase technology-assisted reviews, CIKM.

    Parameters
    ----------
    target, confidence : float
    """

    name = "qbcb"

    def advise(self, state: State) -> StoppingAdvice:
        """See :class:`StoppingRule`."""
        drawn = state.reading.predictors[state.reading.at_random & state.reading.relevant]
        bar = int(stats.binom.ppf(self._confidence, len(drawn), self._target)) + 1
        if bar > len(drawn):
            return StoppingAdvice(
                False, f"{len(drawn)} relevant records were drawn at random, which is too few for this bound"
            )
        come_up = int((drawn > state.unread.max(initial=-np.inf)).sum())
        return StoppingAdvice(
            come_up >= bar, f"{come_up} of the {len(drawn)} drawn at random were found; {bar} are needed"
        )


class ConsecutiveIrrelevant:
    """Stop after so many records in a row that are not relevant.

    Parameters
    ----------
    n : int
    """

    name = "consecutive"

    def __init__(self, n: int = 50) -> None:
        self._n = int(n)

    def advise(self, state: State) -> StoppingAdvice:
        """See :class:`StoppingRule`."""
        finds = np.flatnonzero(state.reading.relevant)
        run = len(state.reading.rows) - (int(finds[-1]) + 1 if len(finds) else 0)
        return StoppingAdvice(run >= self._n, f"the last {plural(run, 'record was', 'records were')} not relevant")


class ShareRead:
    """Stop when a share of all records was read.

    Parameters
    ----------
    share : float
    """

    name = "share"

    def __init__(self, share: float = 0.5) -> None:
        self._share = share

    def advise(self, state: State) -> StoppingAdvice:
        """See :class:`StoppingRule`."""
        read = len(state.reading.rows) / state.n_records
        return StoppingAdvice(read >= self._share, f"{read:.0%} of the records were read")


class AllOf:
    """Stop when all of several rules say so.

    Parameters
    ----------
    rules : sequence of StoppingRule
    """

    def __init__(self, rules: Sequence[StoppingRule]) -> None:
        self._rules = list(rules)
        self.name = "+".join(rule.name for rule in rules)

    def advise(self, state: State) -> StoppingAdvice:
        """See :class:`StoppingRule`."""
        advices = [rule.advise(state) for rule in self._rules]
        return StoppingAdvice(all(advice.stop for advice in advices), "; ".join(advice.reason for advice in advices))


def ranked_p_value(state: State, target: float) -> float:
    """The smallest p-value of a recall below the target, over all finds that reading may have begun after.

    Parameters
    ----------
    state : State
    target : float
    """
    starts = np.append(0, np.flatnonzero(state.reading.relevant) + 1)
    starts = starts[starts < len(state.reading.rows)]
    return float(_p_values(state, starts, target).min(initial=1.0))


def _p_values(state: State, starts: np.ndarray, target: float) -> np.ndarray:
    """P(no more finds than there were after a start | the fewest relevant records with which the target is missed)."""
    found = np.append(0, np.cumsum(state.reading.relevant))
    before, n_read = found[starts], len(state.reading.rows)
    population = state.n_records - starts
    relevant = np.minimum(np.floor(found[-1] / target - before + 1.0 + 1e-9).astype(np.int64), population)
    p: np.ndarray = stats.hypergeom.cdf(found[-1] - before, population, relevant, n_read - starts)
    return p


_RULES: dict[str, Callable[..., StoppingRule]] = {
    kind.name: kind
    for kind in (
        RemainingRule,
        RankedHypergeometric,
        AuditHypergeometric,
        QuantileBound,
        ConsecutiveIrrelevant,
        ShareRead,
    )
}
_OWN_NUMBER = ("consecutive", "share")


def make_rule(spec: str, target: float = 0.95, confidence: float = 0.9) -> StoppingRule:
    """The rule of a name; ``consecutive:50`` and ``share:0.5`` have a number, and ``+`` asks for several at once.

    Parameters
    ----------
    spec : str
        estimate, hypergeometric, audit, qbcb, consecutive or share.
    target, confidence : float

    Examples
    --------
    >>> make_rule("estimate+consecutive:30").name
    'estimate+consecutive'
    """
    rules: list[StoppingRule] = []
    for part in spec.split("+"):
        name, _, number = part.strip().partition(":")
        try:
            given = float(number) if number else None
        except ValueError:
            given = -1.0
        if name not in _RULES or (given is not None and (name not in _OWN_NUMBER or given <= 0.0)):
            raise InputError(
                f"stopping rule {part.strip()!r} is not usable; name one of {', '.join(_RULES)}, "
                "with a number as in consecutive:50 or share:0.5"
            )
        if name in _OWN_NUMBER:
            rules.append(_RULES[name]() if given is None else _RULES[name](given))
        else:
            rules.append(_RULES[name](target, confidence))
    return rules[0] if len(rules) == 1 else AllOf(rules)


_LATEST = 50  # answers that tell the pace
_PAUSE = 600.0  # seconds: a longer wait between two answers is a break, not reading


class ReadingOn:
    """States after more records were read, the most probable ones, none of them relevant.

    Parameters
    ----------
    state : State
        From which one reads on.
    """

    def __init__(self, state: State) -> None:
        self._state, self._ahead = state, np.sort(state.unread)[::-1]
        self._lines: dict[int, Line] = {}  # by how many were read

    def after(self, n: int) -> State:
        """The state after ``n`` more records.

        Parameters
        ----------
        n : int
        """
        reading = self._state.reading
        longer = reading._replace(
            rows=np.append(reading.rows, np.full(n, -1)),
            relevant=np.append(reading.relevant, np.zeros(n, dtype=np.bool_)),
            predictors=np.append(reading.predictors, self._ahead[:n]),
            at_random=np.append(reading.at_random, np.zeros(n, dtype=np.bool_)),
        )
        return State(self._state.n_records, longer, self._ahead[n:], self._recalibrate)

    def _recalibrate(self, later: State) -> Line:
        n_read = len(later.reading.rows)
        if n_read not in self._lines:
            last = next(reversed(self._lines.values()), None)  # a search comes closer and closer
            self._lines[n_read] = recalibration(later._replace(quicker=None), last)
        return self._lines[n_read]

    def until(self, stops: Callable[[int], bool]) -> int:
        """How many more are read before something holds; all that are left, if it never does.

        Parameters
        ----------
        stops : callable
            Given the number, whether it holds.
        """
        low, high = -1, len(self._ahead)  # does not hold; holds, or there is nothing more to read
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if stops(middle) else (middle, high)
        return high


def reads_left(state: State, rule: StoppingRule) -> int:
    """Records to read until a rule says stop, if none of them is relevant; all that are left, if it never does.

    Parameters
    ----------
    state : State
    rule : StoppingRule
    """
    on = ReadingOn(state)
    return on.until(lambda n: rule.advise(on.after(n)).stop)


def seconds_each(times: Sequence[float]) -> float | None:
    """Median time between two answers of late, without breaks; None where too few are known.

    Parameters
    ----------
    times : sequence of float
        When answers were given, in seconds.
    """
    waits = np.diff(np.asarray(times[-_LATEST:], dtype=np.float64))
    waits = waits[(waits > 0.0) & (waits < _PAUSE)]
    return float(np.median(waits)) if len(waits) >= 3 else None

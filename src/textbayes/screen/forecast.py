"""How much there is still to read until a stopping rule speaks, if nothing more is found; and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from textbayes.screen.gauge import Line, State, recalibration
from textbayes.screen.stopping import Rule

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


def reads_left(state: State, rule: Rule) -> int:
    """Records to read until a rule says stop, if none of them is relevant; all that are left, if it never does.

    Parameters
    ----------
    state : State
    rule : Rule
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

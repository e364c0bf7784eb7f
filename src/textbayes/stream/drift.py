"""Whether a topic drifts: its judgements of late against what the filter promised, and how well it kept it before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

RECENT = 50  # deliveries that count as late
_LEAST = 20  # on either side, for a difference to mean something
_FAR = -3.0  # standard errors: one false alarm in 740 looks at a topic that stays the same


class Drift(NamedTuple):
    """Relevant documents among those delivered as relevant and judged: of late, and before.

    ``expected`` is what the filter promised of late, corrected by how it kept its promises before; ``z`` the distance
    of ``relevant`` from it in standard errors.
    """

    n_recent: int
    relevant: int
    expected: float
    z: float

    @property
    def has_drifted(self) -> bool:
        """Whether late deliveries are worse than chance explains."""
        return self.z < _FAR

    def told(self, topic: str) -> str:
        """In a sentence."""
        return (
            f"topic {topic!r} may have drifted: of the last {self.n_recent} delivered as relevant and judged, "
            f"{self.relevant} were, where {self.expected:.0f} were to be expected; forget faster with --retention 0.99 "
            "and --rehearsal recent"
        )


def find_drift(probability: Sequence[float], relevant: Sequence[bool], recent: int = RECENT) -> Drift | None:
    """Compare judgements of late with those before, given the probabilities at delivery; None with too few of them.

    A filter may be too sure at all times, so what counts is the mean of y − p of late less that before, in standard
    errors of the difference.

    Parameters
    ----------
    probability, relevant : sequences
        Of the documents delivered as relevant and judged, in the order of delivery.
    recent : int
        How many of them are late.

    Examples
    --------
    >>> find_drift([0.8] * 150, [True, True, True, True, False] * 20 + [False, True] * 25).has_drifted
    True
    >>> find_drift([0.8] * 150, [True, True, True, True, False] * 30).has_drifted
    False
    """
    y, p = np.asarray(relevant, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    late, early = y[-recent:] - p[-recent:], y[:-recent] - p[:-recent]
    if min(len(late), len(early)) < _LEAST:
        return None
    # Half an observation of either kind, so that a perfect record does not promise perfection.
    spread = [float((part**2).sum() + 0.5) / (len(part) + 1.0) - float(part.mean()) ** 2 for part in (late, early)]
    error = math.sqrt(max(spread[0], 1e-12) / len(late) + max(spread[1], 1e-12) / len(early))
    z = float(late.mean() - early.mean()) / error
    expected = float(p[-recent:].sum() + len(late) * early.mean())
    return Drift(len(late), int(y[-recent:].sum()), min(max(expected, 0.0), float(len(late))), z)

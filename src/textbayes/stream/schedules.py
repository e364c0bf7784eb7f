"""When a filter asks: how much a document must teach, how often to look at random, and how many questions a reader has.

A schedule is a function of the number of documents delivered for a topic so far. Those with a name can be kept in a
state folder and given on the command line, ``paper:target=20``; in Python any function will do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from textbayes.core.errors import InputError
from textbayes.core.parameters import settings_of
from textbayes.data.options import check_options

Schedule: TypeAlias = Callable[[int], float]

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_LARGEST_EXPONENT = 700.0  # exp of more leaves the floats


def paper_threshold(n_delivered: int, target: float = 50.0, width: float = 10.0) -> float:
    """θ = 0.999 / (1 + exp(−(n − target)/width)) + 0.001 bits: asks willingly until ``target`` documents are delivered.

    Chai, Ng & Chieu (2002), SIGIR, § 4.2.3, for T9P, which counts at least 50 documents.

    >>> [round(paper_threshold(n), 4) for n in (0, 50, 100)]
    [0.0077, 0.5005, 0.9933]
    """
    exponent = min(-(n_delivered - target) / width, _LARGEST_EXPONENT)
    return 0.999 / (1.0 + math.exp(exponent)) + 0.001


def paper_rate(n_delivered: int, documents: float, target: float = 50.0) -> float:
    """U = (target − n) / documents, 0 from the target on: the chance of a look at random (§ 4.2.3, +rnd)."""
    return max(target - n_delivered, 0.0) / documents


def _ask_paper(*, target: float = 50.0, width: float = 10.0) -> Schedule:
    if not width > 0.0:
        raise InputError(f"width={width} is given; the schedule needs a width above 0")
    return lambda n: paper_threshold(n, target, width)


def _ask_constant(*, bits: float = 0.1) -> Schedule:
    return lambda n: bits


def _ask_never() -> Schedule:
    return lambda n: math.inf


def _explore_paper(*, documents: float = 293856.0, target: float = 50.0) -> Schedule:
    if not documents > 0:
        raise InputError(f"documents={documents} is given; pass the number of documents that are expected")
    return lambda n: paper_rate(n, documents, target)


def _explore_constant(*, rate: float = 0.001) -> Schedule:
    if not 0.0 <= rate <= 1.0:
        raise InputError(f"rate={rate} is given; a probability lies in [0, 1]")
    return lambda n: rate


def _explore_never() -> Schedule:
    return lambda n: 0.0


def _rehearse_turn() -> Schedule:
    return lambda age: 1.0


def _rehearse_recent(*, half_life: float = 20.0) -> Schedule:
    if not half_life > 0.0:
        raise InputError(f"half_life={half_life} is given; pass a number of relevant documents above 0")
    return lambda age: 0.5 ** (age / half_life)


_REHEARSE: Mapping[str, Callable[..., Schedule]] = {"turn": _rehearse_turn, "recent": _rehearse_recent}
_ASK: Mapping[str, Callable[..., Schedule]] = {"paper": _ask_paper, "constant": _ask_constant, "never": _ask_never}
_EXPLORE: Mapping[str, Callable[..., Schedule]] = {
    "paper": _explore_paper,
    "constant": _explore_constant,
    "never": _explore_never,
}


def make_ask(schedule: str | Schedule) -> Schedule:
    """Bits that a document must be expected to teach, by name or as a function of the documents delivered.

    ``paper``, ``paper:target=20,width=5``, ``constant:bits=0.2`` or ``never``.

    >>> make_ask("constant:bits=0.2")(7)
    0.2
    """
    return _make("asking schedule", _ASK, schedule)


def make_explore(schedule: str | Schedule) -> Schedule:
    """The chance that a document is delivered at random: ``paper:documents=293856``, ``constant:rate=0.01``, ``never``.

    >>> make_explore("paper:documents=1000")(10)
    0.04
    """
    return _make("exploration", _EXPLORE, schedule)


def make_rehearsal(schedule: str | Schedule) -> Schedule:
    """How much a past relevant document is favoured for rehearsal, by how many relevant ones have come since.

    ``turn``, each in its turn; ``recent:half_life=20``, drawn, with half the chance for every 20 that came since, for
    topics that drift (§ 4.2.2).

    >>> make_rehearsal("recent:half_life=10")(20)
    0.25
    """
    return _make("rehearsal", _REHEARSE, schedule)


class Budget(NamedTuple):
    """At most ``most`` questions in each stretch of ``per`` seconds, or of ``per`` documents."""

    most: int
    per: float
    unit: str

    def window(self, time: float, n_seen: int) -> int:
        """The number of the stretch that a moment or a document falls into."""
        return int((time if self.unit == "seconds" else n_seen) // self.per)


def make_budget(text: str) -> Budget:
    """A budget as users write it: a number of questions per time, or per number of documents.

    >>> make_budget("20/day"), make_budget("5/1000")
    (Budget(most=20, per=86400, unit='seconds'), Budget(most=5, per=1000, unit='documents'))
    """
    found = re.fullmatch(r"(\d+)\s*/\s*(?:(\d+)|([a-z]+?)s?)", str(text).strip().lower())
    if found is not None and found[3] in _SECONDS:
        return Budget(int(found[1]), _SECONDS[found[3]], "seconds")
    if found is not None and found[2] is not None and int(found[2]) > 0:
        return Budget(int(found[1]), int(found[2]), "documents")
    raise InputError(
        f"budget={text!r} is not usable; write 20/day (or second, minute, hour, week), or 5/1000 for five questions in "
        "every thousand documents"
    )


def _make(kind: str, known: Mapping[str, Callable[..., Schedule]], schedule: str | Schedule) -> Schedule:
    if callable(schedule):
        return schedule
    name, _, rest = str(schedule).partition(":")
    if name not in known:
        raise InputError(f"unknown {kind} {name!r}: choose one of {', '.join(known)}")
    given = settings_of(_setting(kind, part) for part in rest.split(",") if part)
    check_options(f"{kind} {name!r}", known[name], given)
    return known[name](**given)


def _setting(kind: str, part: str) -> tuple[str, float]:
    key, _, value = part.partition("=")
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{part!r} is no setting of an {kind}; write NAME=NUMBER, as in target=50") from None
    if not math.isfinite(number):
        raise InputError(f"{part!r} is no setting of an {kind}; the number must be finite")
    return key.strip(), number

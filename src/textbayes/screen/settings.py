"""What a screening is told at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from textbayes.core.errors import InputError
from textbayes.screen.strategies import make_strategy

TOPIC = "relevant"  # the one topic where none is named
ANSWERS = ("relevant", "irrelevant", "unsure", "withdrawn")


@dataclass(frozen=True)
class ScreenSettings:
    """How a screening ranks records, what it hands out and when it says that enough was read.

    Parameters
    ----------
    topics : tuple of str
        What records are judged for; each has a model and a queue of its own.
    questions : mapping of str to str
        Topic → the review's question or a description, which counts as one relevant record.
    balance : float
        How much more all relevant records weigh together than all irrelevant ones.
    follow : float
        Share of the prior table's means that is taken before anything relevant is found.
    fade : float
        Relevant records at which half of that share is left.
    strategy : str
        Which records are handed out: see :func:`~textbayes.screen.strategies.make_strategy`.
    target, confidence : float
        Share of the relevant records to find, and how sure of it to be before reading is called enough.
    random_state : int
        Of everything drawn by chance.
    """

    topics: tuple[str, ...] = (TOPIC,)
    questions: Mapping[str, str] = field(default_factory=dict)
    balance: float = 9.8
    follow: float = 0.5
    fade: float = 20.0
    strategy: str = "likely"
    target: float = 0.95
    confidence: float = 0.9
    random_state: int = 0

    def __post_init__(self) -> None:
        if not self.topics or len(set(self.topics)) < len(self.topics) or not all(map(str.strip, self.topics)):
            raise InputError(f"topics={self.topics!r} is not usable; name one or several, each once")
        for topic in self.questions:
            if topic not in self.topics:
                raise InputError(f"there is a question of {topic!r}, which is no topic; name one of {self.topics}")
        for name in ("balance", "fade", "target"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise InputError(f"{name}={getattr(self, name)!r} is not usable; pass a number above 0")
        for name in ("follow", "target", "confidence"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name}={getattr(self, name)!r} is not usable; pass a number from 0 to 1")
        make_strategy(self.strategy)

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "topics": list(self.topics), "questions": dict(self.questions)}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """What :meth:`to_json` wrote."""
        known = {item.name for item in fields(cls)}
        given = {name: value for name, value in told.items() if name in known}
        return cls(**{**given, "topics": tuple(given["topics"])})

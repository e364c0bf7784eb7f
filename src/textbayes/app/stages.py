"""The two stages of a review: title and abstract, then the full text of what was included.

To the assignments the full texts of a topic are a topic of their own, so that who has which record, double reading,
conflicts and agreement are the same in both stages. The screening knows the first stage alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from textbayes.core.errors import InputError

_FULL_TEXT = ": full text"  # ends the name of the second stage


def full_text_of(topic: str) -> str:
    """The second stage of a topic.

    >>> full_text_of("harms")
    'harms: full text'
    """
    return topic if is_full_text(topic) else topic + _FULL_TEXT


def topic_of(stage: str) -> str:
    """The topic of a stage.

    >>> topic_of("harms: full text"), topic_of("harms")
    ('harms', 'harms')
    """
    return stage.removesuffix(_FULL_TEXT)


def is_full_text(stage: str) -> bool:
    """Whether this is the second stage of a topic."""
    return stage.endswith(_FULL_TEXT)


def stages_of(topics: Iterable[str]) -> list[str]:
    """Both stages of every topic."""
    return [stage for topic in topics for stage in (topic, full_text_of(topic))]


def check_topics(topics: Iterable[str]) -> None:
    """Refuse topics that are called like a second stage."""
    for topic in topics:
        if is_full_text(topic):
            raise InputError(f"a topic cannot be called {topic!r}; give a name that does not end in {_FULL_TEXT!r}")

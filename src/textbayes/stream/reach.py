"""Whether a topic can deliver: how many of the relevant documents it knows it would deliver itself."""

from __future__ import annotations

from typing import NamedTuple

from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.topic import predict

_MOST = 500  # relevant documents that are looked at, the latest


class Reach(NamedTuple):
    """Of ``examples`` relevant documents of a topic, ``reached`` have a probability above the threshold."""

    examples: int
    reached: int

    @property
    def can_deliver(self) -> bool:
        """A topic that would not deliver any document that it knows to be relevant cannot be expected to deliver.

        One that knows none, having come from a model, may.
        """
        return self.reached > 0 or self.examples == 0


def reach(filter: AdaptiveFilter, k: int) -> Reach:
    """Score the relevant documents of topic k as if they came now."""
    topic = filter.topics[k]
    examples = topic.examples[-_MOST:]
    rows = filter.lexicon.weigh_kept([filter.kept[number] for number in examples])
    predictor = predict(topic, rows, topic.position(len(filter.lexicon)))
    probability = filter.likelihood.predictive(*predictor)
    return Reach(len(examples), int((probability > filter.settings.threshold).sum()))


def why_silent(filter: AdaptiveFilter, k: int, found: Reach) -> str:
    """What to tell of a topic that cannot deliver, and what becomes of it."""
    topic, settings = filter.topics[k], filter.settings
    words = f"{len(topic.words)} word(s)" if len(topic.words) else "no words"
    told = (
        f"topic {topic.name!r} cannot deliver yet: with {words}, none of its {found.examples} relevant document(s) is "
        f"more probable than {settings.threshold:g}"
    )
    if settings.ask != "never" and settings.patience:
        return f"{told}; it will ask about the most probable documents instead, so judge them"
    return f"{told}; give it more relevant documents, lower --threshold, or let it ask (--ask paper, --patience 50)"

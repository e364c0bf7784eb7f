"""How a filter is doing, topic by topic; read beside one that may be running."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from textbayes.stream.events import FilterState
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.folder import read_state
from textbayes.stream.ledger import read_ledger
from textbayes.stream.log import read_log
from textbayes.stream.reach import reach, why_silent
from textbayes.stream.snapshot import newest, read_config


class TopicStatus(NamedTuple):
    """One topic so far.

    ``relevant`` counts relevant documents known, labelled ones among them; ``asked`` deliveries that were questions.
    ``precision`` is the share of relevant documents among those delivered as relevant and judged, None before any is.
    ``new_*`` count what came since a moment. ``warning`` says why a topic cannot deliver.
    """

    topic: str
    relevant: int
    words: int
    delivered: int
    asked: int
    judged: int
    precision: float | None
    pending: int
    can_deliver: bool
    new_delivered: int
    new_judged: int
    new_relevant: int
    warning: str | None


class Status(NamedTuple):
    """A filter so far. ``last`` is the time of the last document; ``questions_left`` is None without a budget."""

    documents: int
    new_documents: int
    last: float | None
    budget: str | None
    questions_left: int | None
    topics: list[TopicStatus]


def read_status(folder: str | Path, since: float, now: float) -> Status:
    """The status of a state folder at a time, and what is new since another."""
    path = Path(folder)
    filter, judgements = newest_state(path).filter, read_ledger(path).judgements
    counts: Counter[tuple[str, str]] = Counter()
    reasons: dict[tuple[str, str], str] = {}
    last, new_documents = None, 0
    for entry, _ in read_log(path / "log.jsonl", brief=True):
        new = entry.get("time", 0.0) >= since
        if entry["kind"] in ("document", "repeated"):
            last, new_documents = entry["time"], new_documents + new
        for told in entry.get("delivered", ()):
            reasons[entry["id"], told["topic"]] = told["reason"]
            counts["new_delivered", told["topic"]] += new
        if entry["kind"] == "judgement":
            counts["new_judged", entry["topic"]] += new
            counts["new_relevant", entry["topic"]] += new and entry["relevant"]
    for (document, topic), reason in reasons.items():
        counts["asked", topic] += reason != "relevant"
        counts["pending", topic] += (document, topic) not in judgements
    for (document, topic), relevant in judgements.items():
        counts["judged", topic] += 1
        if reasons.get((document, topic)) == "relevant":
            counts["right" if relevant else "wrong", topic] += 1
    topics = [_topic_status(filter, k, counts) for k in range(len(filter.topics))]
    budget, left = filter.settings.budget, filter.questions_left(now)
    return Status(filter.n_seen, new_documents, last, budget, left, topics)


def newest_state(folder: str | Path) -> FilterState:
    """The state of a state folder up to the end of its log, without taking hold of it."""
    path = Path(folder)
    read_config(path)
    (state, position), _ = newest(path / "snapshots", read_state)
    for entry, _ in read_log(path / "log.jsonl", position):
        state.apply(entry)
    return state


def _topic_status(filter: AdaptiveFilter, k: int, counts: Counter[tuple[str, str]]) -> TopicStatus:
    topic, found = filter.topics[k], reach(filter, k)
    name, right = topic.name, counts["right", topic.name]
    n_told = right + counts["wrong", name]
    fresh = {f"new_{what}": counts[f"new_{what}", name] for what in ("delivered", "judged", "relevant")}
    return TopicStatus(
        topic=name,
        relevant=topic.n_relevant,
        words=len(topic.words),
        delivered=topic.delivered,
        asked=counts["asked", name],
        judged=counts["judged", name],
        precision=right / n_told if n_told else None,
        pending=counts["pending", name],
        can_deliver=found.can_deliver,
        **fresh,
        warning=None if found.can_deliver else why_silent(filter, k, found),
    )

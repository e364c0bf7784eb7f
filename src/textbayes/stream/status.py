"""How a filter is doing, topic by topic; read beside one that may be running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from textbayes.store.log import read_log
from textbayes.store.snapshots import newest
from textbayes.stream.drift import Drift, find_drift
from textbayes.stream.events import FilterState, is_counted
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.folder import read_state
from textbayes.stream.ledger import read_ledger
from textbayes.stream.reach import reach, why_silent
from textbayes.stream.snapshot import FILTER_FILE, read_config


class TopicStatus(NamedTuple):
    """One topic so far.

    ``relevant`` counts relevant documents known, labelled ones among them; ``asked`` deliveries that were questions.
    ``precision`` is the share of relevant documents among those delivered as relevant and judged, None before any is.
    ``new_*`` count what came since a moment, of judgements those that stand, as ``judged`` does.
    ``drift`` is the distance of late judgements from what was to be expected,
    in standard errors, None where too few are judged (see :mod:`~textbayes.stream.drift`). ``warning`` says why a topic
    cannot deliver, or that it drifts.
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
    drift: float | None
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
    promised: dict[tuple[str, str], float] = {}  # of those delivered as relevant, in the order they came
    learnt: dict[tuple[str, str], tuple[bool, bool]] = {}  # the judgement that stands in the log, and whether it is new
    last, new_documents = None, 0
    for entry, _ in read_log(path / "log.jsonl", brief=True):
        new = entry.get("time", 0.0) >= since
        if entry["kind"] in ("document", "repeated"):
            last = entry["time"]
            new_documents += new and is_counted(entry, filter.settings.skip_seen)
        for told in entry.get("delivered", ()):
            reasons[entry["id"], told["topic"]] = told["reason"]
            if told["reason"] == "relevant":
                promised[entry["id"], told["topic"]] = float(told["probability"])
            counts["new_delivered", told["topic"]] += new
        if entry["kind"] == "judgement":
            key = (entry["id"], entry["topic"])
            if key not in learnt or learnt[key][0] != entry["relevant"]:  # the same again is none
                learnt[key] = (entry["relevant"], new)
    for (document, topic), reason in reasons.items():
        counts["asked", topic] += reason != "relevant"
        counts["pending", topic] += (document, topic) not in judgements
    for (document, topic), relevant in judgements.items():
        before, new = learnt.get((document, topic), (None, True))
        new = new or before != relevant  # what waits in the inbox is new
        counts["judged", topic] += 1
        counts["new_judged", topic] += new
        counts["new_relevant", topic] += new and relevant
        if reasons.get((document, topic)) == "relevant":
            counts["right" if relevant else "wrong", topic] += 1
    drifts = {topic.name: _drift(topic.name, promised, judgements) for topic in filter.topics}
    topics = [_topic_status(filter, k, counts, drifts[topic.name]) for k, topic in enumerate(filter.topics)]
    budget, left = filter.settings.budget, filter.questions_left(now)
    return Status(filter.n_seen, new_documents, last, budget, left, topics)


def newest_state(folder: str | Path) -> FilterState:
    """The state of a state folder up to the end of its log, without taking hold of it."""
    path = Path(folder)
    read_config(path)
    (state, position), _ = newest(path / "snapshots", FILTER_FILE, read_state)
    for entry, _ in read_log(path / "log.jsonl", position):
        state.apply(entry)
    return state


def _drift(
    topic: str, promised: Mapping[tuple[str, str], float], judgements: Mapping[tuple[str, str], bool]
) -> Drift | None:
    judged = [(p, judgements[key]) for key, p in promised.items() if key[1] == topic and key in judgements]
    return find_drift([p for p, _ in judged], [relevant for _, relevant in judged])


def _topic_status(filter: AdaptiveFilter, k: int, counts: Counter[tuple[str, str]], drift: Drift | None) -> TopicStatus:
    topic, found = filter.topics[k], reach(filter, k)
    warning = None if found.can_deliver else why_silent(filter, k, found)
    if warning is None and drift is not None and drift.has_drifted:
        warning = drift.told(topic.name)
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
        drift=None if drift is None else drift.z,
        warning=warning,
    )

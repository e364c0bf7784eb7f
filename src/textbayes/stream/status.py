"""How a filter is doing, topic by topic; read beside one that may be running."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from textbayes.core.errors import plural
from textbayes.core.types import FloatArray
from textbayes.evaluate import ContingencyTable, linear_utility, t9p, t9u
from textbayes.models.online import DiagonalPosterior, GaussianProcess
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.folder import newest_state
from textbayes.stream.judgements import filter_events, read_ledger
from textbayes.stream.state import is_counted
from textbayes.stream.topic import Topic, predict

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

    def message(self, topic: str) -> str:
        """In a sentence."""
        return (
            f"topic {topic!r} may have drifted: of the last {self.n_recent} delivered as relevant and judged, "
            f"{self.relevant} were, where {self.expected:.0f} were to be expected; forget faster with "
            "--forgetting-factor 0.99 and --rehearsal recent"
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
    message = (
        f"topic {topic.name!r} cannot deliver yet: with {words}, none of its {found.examples} relevant document(s) is "
        f"more probable than {settings.threshold:g}"
    )
    if settings.ask != "never" and settings.patience:
        return f"{message}; it will ask about the most probable documents instead, so judge them"
    return f"{message}; give it more relevant documents, lower --threshold, or let it ask (--ask paper, --patience 50)"


class TopicWord(NamedTuple):
    """The posterior mean of a word's weight and an interval that holds the weight with a given probability.

    A Gaussian process is over documents and has no posterior of weights: ``low`` and ``high`` are None.
    """

    word: str
    weight: float
    low: float | None
    high: float | None


def topic_words(filter: AdaptiveFilter, topic: str, top: int = 20, level: float = 0.95) -> list[TopicWord]:
    """The ``top`` words of a topic by the size of their mean weight, largest first."""
    own = filter.topics[filter.index[topic]]
    mean, sd = own.mean[1:], _deviations(own)
    order = np.argsort(-np.abs(mean), kind="stable")[:top]
    half = None if sd is None else float(norm.ppf(0.5 + level / 2)) * sd
    found = []
    for j in order.tolist():
        weight = float(mean[j])
        bounds = (None, None) if half is None else (weight - float(half[j]), weight + float(half[j]))
        found.append(TopicWord(filter.lexicon.name(int(own.words[j])), weight, *bounds))
    return found


def _deviations(topic: Topic) -> FloatArray | None:
    """Posterior standard deviations of the weights of a topic's words."""
    posterior = topic.posterior
    if isinstance(posterior, GaussianProcess):
        return None
    if isinstance(posterior, DiagonalPosterior):
        return np.sqrt(posterior.var[1:, 0])
    deviations: FloatArray = np.sqrt(np.maximum(np.diag(posterior.cov)[1:], 0.0))  # type: ignore[attr-defined]
    return deviations


class TopicStatus(NamedTuple):
    """One topic so far.

    ``relevant`` counts relevant documents known, labelled ones among them; ``asked`` deliveries that were questions.
    ``precision`` is the share of relevant documents among those delivered as relevant and judged, None before any is.
    ``t9p`` and ``utility`` are R⁺ / max(50, R⁺ + N⁺) and 2R⁺ − N⁺ of all that was delivered and judged, questions too,
    R⁺ of them relevant; ``t9u`` is the utility, but −100 at least (TREC-9). A topic that delivered nothing has 0, as at
    TREC; None where nothing that was delivered is judged yet, or the filter has seen nothing.
    ``new_*`` count what came since a moment, of judgements those that stand, as ``judged`` does.
    ``drift`` is the distance of late judgements from what was to be expected, in standard errors, None where too few
    are judged (see :class:`Drift`). ``warning`` says why a topic cannot deliver, or that it drifts.
    """

    topic: str
    relevant: int
    words: int
    delivered: int
    asked: int
    judged: int
    precision: float | None
    t9p: float | None
    utility: float | None
    t9u: float | None
    pending: int
    can_deliver: bool
    new_delivered: int
    new_judged: int
    new_relevant: int
    drift: float | None
    warning: str | None


class FilterStatus(NamedTuple):
    """A filter so far. ``last`` is the time of the last document; ``questions_left`` is None without a budget."""

    documents: int
    new_documents: int
    last: float | None
    budget: str | None
    questions_left: int | None
    topics: list[TopicStatus]

    def utility_in_words(self) -> str | None:
        """Means of T9P, T9U and utility over topics, in a sentence; None before any delivery is judged."""
        known = [one for one in self.topics if one.utility is not None]
        silent = sum(not one.delivered for one in known)
        if len(known) == silent:
            return None
        means = np.array([(one.t9p, one.utility, one.t9u) for one in known], dtype=np.float64).mean(axis=0)
        parts = [f"{plural(len(known) - silent, 'topic')} with judged deliveries"]
        parts += [f"{silent} that delivered nothing"] if silent else []
        figures = f"T9P {means[0]:.3f} (target 50), utility 2R-N {means[1]:+.1f}, T9U {means[2]:+.1f}"
        return f"TREC-9 measures: {figures}: means of {' and '.join(parts)}."


def read_status(folder: str | Path, since: float, now: float) -> FilterStatus:
    """The status of a state folder at a time, and what is new since another."""
    path = Path(folder)
    filter, judgements = newest_state(path).filter, read_ledger(path).judgements
    counts: Counter[tuple[str, str]] = Counter()
    reasons: dict[tuple[str, str], str] = {}
    promised: dict[tuple[str, str], float] = {}  # of those delivered as relevant, in the order they came
    learnt: dict[tuple[str, str], tuple[bool, bool]] = {}  # the judgement that stands in the log, and whether it is new
    last, new_documents = None, 0
    for entry, _ in filter_events(path).entries(brief=True):
        new = entry.get("time", 0.0) >= since
        if entry["kind"] in ("document", "repeated"):
            last = entry["time"]
            new_documents += new and is_counted(entry, filter.settings.skip_seen)
        for delivery in entry.get("delivered", ()):
            reasons[entry["id"], delivery["topic"]] = delivery["reason"]
            if delivery["reason"] == "relevant":
                promised[entry["id"], delivery["topic"]] = float(delivery["probability"])
            counts["new_delivered", delivery["topic"]] += new
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
        if (document, topic) in reasons:
            counts["useful" if relevant else "useless", topic] += 1
        counts["new_judged", topic] += new
        counts["new_relevant", topic] += new and relevant
        if reasons.get((document, topic)) == "relevant":
            counts["right" if relevant else "wrong", topic] += 1
    drifts = {topic.name: _drift(topic.name, promised, judgements) for topic in filter.topics}
    topics = [_topic_status(filter, k, counts, drifts[topic.name]) for k, topic in enumerate(filter.topics)]
    budget, left = filter.settings.budget, filter.questions_left(now)
    return FilterStatus(filter.n_seen, new_documents, last, budget, left, topics)


def _drift(
    topic: str, promised: Mapping[tuple[str, str], float], judgements: Mapping[tuple[str, str], bool]
) -> Drift | None:
    judged = [(p, judgements[key]) for key, p in promised.items() if key[1] == topic and key in judgements]
    return find_drift([p for p, _ in judged], [relevant for _, relevant in judged])


def _topic_status(filter: AdaptiveFilter, k: int, counts: Counter[tuple[str, str]], drift: Drift | None) -> TopicStatus:
    topic, found = filter.topics[k], reach(filter, k)
    warning = None if found.can_deliver else why_silent(filter, k, found)
    if warning is None and drift is not None and drift.has_drifted:
        warning = drift.message(topic.name)
    name, right = topic.name, counts["right", topic.name]
    n_told = right + counts["wrong", name]
    useful, useless = (np.array([float(counts[what, name])]) for what in ("useful", "useless"))
    retrieved = ContingencyTable(useful, useless, np.zeros(1), np.zeros(1))
    measured = {"t9p": t9p(retrieved), "utility": linear_utility(retrieved), "t9u": t9u(retrieved)}
    counts_for_means = useful[0] + useless[0] > 0 or (filter.n_seen > 0 and not topic.delivered)
    shown: dict[str, Any] = {what: float(value[0]) if counts_for_means else None for what, value in measured.items()}
    fresh = {f"new_{what}": counts[f"new_{what}", name] for what in ("delivered", "judged", "relevant")}
    return TopicStatus(
        topic=name,
        relevant=topic.n_relevant,
        words=len(topic.words),
        delivered=topic.delivered,
        asked=counts["asked", name],
        judged=counts["judged", name],
        precision=right / n_told if n_told else None,
        **shown,
        pending=counts["pending", name],
        can_deliver=found.can_deliver,
        **fresh,
        drift=None if drift is None else drift.z,
        warning=warning,
    )

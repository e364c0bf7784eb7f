"""How a project stands: status, what more certainty costs, agreement between people, and drawings of it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import stats

from textbayes.app.accounts import names_of
from textbayes.app.agreement import Coefficient, alpha, kappa
from textbayes.app.downloads import Download
from textbayes.app.labelling import Labels
from textbayes.app.live import LiveReview
from textbayes.app.words import WordWeight, strong_words
from textbayes.core.types import FloatArray
from textbayes.core.validation import check_choice
from textbayes.display import Colours, blank_figure, figure_svg
from textbayes.report.plots import ACCENT, INK, LINE, MUTED, SECOND, embed
from textbayes.screen import Screening
from textbayes.screen.remaining import State, estimate_remaining, may_be_left
from textbayes.screen.status import Standing, probabilities, status_of
from textbayes.screen.stopping import ReadingOn, make_rule

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


class Cost(NamedTuple):
    """Records to read until the estimate is so sure, if nothing more is found; and the hours at the present pace."""

    confidence: float
    reads: int
    hours: float | None


@dataclass(frozen=True)
class Agreement:
    """How far two people agree on the records that both have answered.

    Parameters
    ----------
    people : list of str
        Their names.
    n_records, n_same : int
    measure : {"Cohen's kappa", "Krippendorff's alpha"}
        Alpha, with Jaccard's distance between sets, where a text may have several labels.
    value, low, high : float or None
        The measure over all answers, and its 95% credible interval; None where it is not defined: only one answer
        given by both.
    """

    people: list[str]
    n_records: int
    n_same: int
    measure: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class NamedConflict:
    """A record that people answered differently: name of the person → answer, and reason where one was given."""

    id: str
    answers: dict[str, str]
    reasons: dict[str, str]


@dataclass(frozen=True)
class Disagreements:
    """Conflicts that are not settled, and how far people agree."""

    conflicts: list[NamedConflict]
    agreement: list[Agreement]


def project_status(review: LiveReview, topic: str) -> dict[str, Any]:
    """What was read and found, how much is left, and what the stopping rules say.

    Parameters
    ----------
    review : LiveReview
    topic : str
    """
    with review.looking() as assignments:
        times, n_conflicts, n_waiting = (
            list(assignments.times[topic]),
            len(assignments.conflicts(topic)),
            assignments.n_waiting(topic),
        )
    goal = review.goal
    with review.model() as screening:
        standing = Standing.of(screening, topic)
    settings = replace(standing.settings, target=goal.target, confidence=goal.confidence)
    status = status_of(standing._replace(settings=settings), times)  # it takes time: others go on
    more = {"conflicts": n_conflicts, "waiting": n_waiting, "strategy": settings.strategy}
    return {**status, **more, "target": goal.target, "confidence": goal.confidence}


def costs_of_certainty(state: State, target: float, seconds_each: float | None) -> list[Cost]:
    """What it costs to be surer that the target is reached.

    Parameters
    ----------
    state : State
    target : float
    seconds_each : float or None
        Pace of reading.
    """
    on, rule = ReadingOn(state), make_rule("estimate", target, confidence=0.0)

    @functools.cache  # one look for all confidences
    def probability(n: int) -> float:
        advice = rule.advise(on.after(n))
        return (advice.probability or 0.0) if advice.stop else -1.0

    found = []
    for confidence in CONFIDENCES:
        reads = on.until(lambda n, sure=confidence: probability(n) >= sure)  # type: ignore[misc]
        found.append(Cost(confidence, reads, None if seconds_each is None else reads * seconds_each / 3600.0))
    return found


def disagreements(review: LiveReview, topic: str) -> Disagreements:
    """Conflicts that are not settled, and the agreement of every two people who have answered records in common.

    Parameters
    ----------
    review : LiveReview
    topic : str
    """
    names = names_of(review.store)
    with review.looking() as assignments:
        people = sorted({assignments.person(user) for said in assignments.opinions[topic].values() for user in said})
        pairs = {users: assignments.pairs(topic, users) for users in combinations(people, 2)}
        conflicts, labels = assignments.conflicts(topic), assignments.labels
        reasons = {one.id: dict(assignments.marks.reasons_given(topic, one.id)) for one in conflicts}
        shown = (lambda answer: answer) if labels is None else labels.shown
    return Disagreements(
        [
            NamedConflict(
                one.id,
                {names.get(user, "?"): shown(said) for user, said in one.answers.items()},
                {names.get(user, "?"): reason for user, reason in reasons[one.id].items()},
            )
            for one in conflicts
        ],
        [_agreement([names.get(user, "?") for user in users], both, labels) for users, both in pairs.items() if both],
    )


def _agreement(people: list[str], pairs: list[tuple[str, str]], labels: Labels | None) -> Agreement:
    found: Coefficient | None
    if labels is not None and labels.several:
        sets = [(_labels(labels, one), _labels(labels, other)) for one, other in pairs]
        n_same, measure, found = sum(one == other for one, other in sets), "Krippendorff's alpha", alpha(sets)
    else:
        said = pairs if labels is None else [(labels.shown(one), labels.shown(other)) for one, other in pairs]
        n_same, measure, found = sum(one == other for one, other in said), "Cohen's kappa", kappa(said)
    return Agreement(people, len(pairs), n_same, measure, *(found or (None, None, None)))


def _labels(labels: Labels, answer: str) -> frozenset[str]:
    """The labels of an answer; "unsure" counts as one."""
    names = labels.names(answer)
    return frozenset((answer,) if names is None else names)


_drawing = threading.Lock()  # matplotlib's settings are one for all threads
_WORDS = 16
_MOST_BARS = 60
_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


class Palette(NamedTuple):
    """Colours of what is drawn."""

    ink: str
    muted: str
    line: str
    accent: str
    second: str


_PAGE = Palette(INK, MUTED, LINE, ACCENT, SECOND)  # stand for the page's own, light or dark
_PAPER = Palette("#1c2430", "#566070", "#d5dae1", "#1f5fbf", "#7a3fb0")


class TopicView(NamedTuple):
    """What drawings show: a look at a topic, which may change meanwhile.

    Parameters
    ----------
    state : State
    target : float
    words : list of WordWeight
    unread : array
        Probabilities of the records that are not judged.
    """

    state: State
    target: float
    words: list[WordWeight]
    unread: FloatArray

    @classmethod
    def of(cls, screening: Screening, topic: str, target: float) -> Self:
        """A look at a topic of a screening."""
        known = screening.topic(topic)
        unread = probabilities(known, known.unread())
        return cls(State.of(known), target, strong_words(screening, topic, _WORDS), unread)


class Drawing(NamedTuple):
    """A kind of drawing: width and height in inches, what draws it and says in words what is to be seen."""

    size: tuple[float, float]
    draw: Callable[[Any, Palette, Any], str]


def recall_curve(axes: Any, colours: Palette, seen: TopicView) -> str:
    """Relevant records found, by records read; beside it what reading by chance would have found."""
    reading = seen.state.reading
    found, n = np.append(0, np.cumsum(reading.relevant)), len(reading.rows)
    left = estimate_remaining(seen.state).mean
    axes.plot(np.arange(n + 1), found, color=colours.accent, linewidth=2, label="found")
    expected = (found[-1] + left) * np.arange(n + 1) / seen.state.n_records
    axes.plot(
        np.arange(n + 1),
        expected,
        color=colours.muted,
        linewidth=1,
        linestyle=(0, (4, 3)),
        label="expected in random order",
    )
    axes.set(
        xlabel="records screened", ylabel="relevant records", xlim=(0, max(n, 1)), ylim=(0, max(found[-1], 1) * 1.08)
    )
    tidy(axes, colours)
    whole_numbers(axes.xaxis, axes.yaxis)
    axes.legend(frameon=False, loc="upper left")
    return f"Curve of relevant records found: {found[-1]} in {n} records screened"


def left_distribution(axes: Any, colours: Palette, seen: TopicView) -> str:
    """How many relevant records are left, as a distribution; those that the target allows are marked."""
    left = estimate_remaining(seen.state)
    allowed = may_be_left(seen.state.n_found, seen.target)
    numbers = np.arange(min(max(left.quantile(0.995), allowed + 2, 5), _MOST_BARS) + 1)
    p = stats.nbinom.pmf(numbers, left.size, left.size / (left.size + left.mean))
    axes.bar(numbers, p, color=[colours.accent if number <= allowed else colours.line for number in numbers], width=0.8)
    axes.set(xlabel="relevant records left", ylabel="probability")
    tidy(axes, colours)
    whole_numbers(axes.xaxis)
    return f"Distribution of the relevant records left: about {left.mean:.1f}; {allowed} may be left"


def probability_histogram(axes: Any, colours: Palette, seen: TopicView) -> str:
    """How probable the unread records are, on a logarithmic scale of numbers."""
    p = seen.unread
    axes.hist(p, bins=np.linspace(0.0, 1.0, 21), color=colours.accent)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set(xlabel="predicted probability of being relevant", ylabel="unscreened records", xlim=(0, 1))
    tidy(axes, colours)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return f"Histogram of the probabilities of {len(p)} unscreened records; {int((p > 0.5).sum())} are above one half"


def word_intervals(axes: Any, colours: Palette, seen: TopicView) -> str:
    """The strongest words with 95 % intervals."""
    words = seen.words[::-1]
    places = np.arange(len(words))
    for place, word in zip(places, words, strict=True):
        colour = colours.accent if word.weight > 0.0 else colours.second
        axes.plot([word.low, word.high], [place, place], color=colour, linewidth=1.5)
        axes.plot(word.weight, place, "o", color=colour, markersize=5)
    axes.axvline(0.0, color=colours.muted, linewidth=0.8)
    axes.set_yticks(places, [word.word.replace("$", r"\$") for word in words])
    axes.set(xlabel="weight, with 95% credible interval")
    tidy(axes, colours)
    return "Words with the largest weights: " + ", ".join(f"{word.word} {word.weight:+.2f}" for word in words[::-1][:5])


DRAWINGS = {
    "recall": Drawing((5.4, 3.4), recall_curve),
    "left": Drawing((5.4, 3.4), left_distribution),
    "probabilities": Drawing((5.4, 3.4), probability_histogram),
    "words": Drawing((5.4, 4.4), word_intervals),
}


def page_svg(name: str, seen: TopicView) -> str:
    """A drawing to stand in a page, in the page's colours.

    Parameters
    ----------
    name : str
        One of ``DRAWINGS``.
    seen : TopicView
    """
    check_choice("name", name, tuple(DRAWINGS))
    return svg_of(name, DRAWINGS[name], seen)


def svg_of(name: str, drawing: Drawing, seen: Any) -> str:
    """A drawing to stand in a page; its ids begin with the name."""

    def draw() -> bytes:
        with _drawn(drawing, seen, _PAGE) as (figure, description):
            return embed(figure_svg(figure), name, description).encode()

    return _drawings.get(("page", name), seen, draw).decode()


def picture(review: LiveReview, topic: str, name: str, format: str) -> Download:
    """A drawing as a file of its own, SVG or PNG, on white.

    Parameters
    ----------
    review : LiveReview
    topic : str
    name : str
        One of ``DRAWINGS``.
    format : {"svg", "png"}
    """
    check_choice("format", format, tuple(_TYPES))
    check_choice("name", name, tuple(DRAWINGS))
    with review.model() as screening:
        seen = TopicView.of(screening, topic, review.goal.target)

    def draw() -> bytes:
        with _drawn(DRAWINGS[name], seen, _PAPER) as (figure, _):
            if format == "svg":
                return figure_svg(figure, "white").encode()
            stream = io.BytesIO()
            figure.savefig(stream, format="png", dpi=150, facecolor="white")
            return stream.getvalue()

    return Download(f"{name}.{format}", _TYPES[format], _drawings.get((format, name), seen, draw))


class LatestDrawings:
    """Drawings that were made last, by all that they show: one is drawn again only where something changed.

    Parameters
    ----------
    most : int
        How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most, self._made = most, OrderedDict[tuple[str, ...], bytes]()
        self._lock = threading.Lock()

    def get(self, kind: tuple[str, ...], seen: Any, draw: Callable[[], bytes]) -> bytes:
        """A drawing of a kind; ``draw`` makes it, unless it was made of the same view."""
        # All of the view is in the key: nobody is ever shown the drawing of another view.
        key = *kind, hashlib.sha256(pickle.dumps(seen)).hexdigest()
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = draw()
        with self._lock:
            self._made[key] = made
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        return made


_drawings = LatestDrawings(128)  # of some 20 kB each


@contextlib.contextmanager
def _drawn(drawing: Drawing, seen: Any, colours: Palette) -> Iterator[tuple[Any, str]]:
    size, draw = drawing
    with _drawing, blank_figure(*size, Colours(colours.ink, colours.muted, colours.line)) as figure:
        yield figure, draw(figure.subplots(), colours, seen)


def tidy(axes: Any, colours: Palette) -> None:
    """Faint lines behind what is drawn."""
    axes.grid(color=colours.line, linewidth=0.6)
    axes.set_axisbelow(True)


def whole_numbers(*sides: Any) -> None:
    """At most six whole numbers along each axis."""
    from matplotlib.ticker import MaxNLocator

    for side in sides:
        side.set_major_locator(MaxNLocator(6, integer=True))

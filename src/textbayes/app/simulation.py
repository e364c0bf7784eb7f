"""How the engine would have screened an answered project: simulated in the background, kept until answers change."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import select

from textbayes.app.dashboard import Drawing, Palette, svg_of, tidy, whole_numbers
from textbayes.app.database import StoredRecord
from textbayes.app.live import LiveReview
from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray
from textbayes.evaluate.retrieval import read_until
from textbayes.screen import Collection, ScreenSettings
from textbayes.screen.simulate import Stop, TopicReader, simulate
from textbayes.screen.stopping import make_rule
from textbayes.screen.transfer import shipped_prior

FEWEST, FEWEST_RELEVANT = 20, 2  # answers that a simulation needs, and relevant ones among them
RULES = ("estimate", "hypergeometric", "consecutive:50", "share:0.5")
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)  # of the records, at which recall is told
_SIGNS = "os^D"


class Answers(NamedTuple):
    """What a simulation starts from: records whose answer stands, whether each is relevant, and what is asked of them.

    Parameters
    ----------
    relevant : dict
        Id → whether the record is relevant; in the order of the file.
    question, strategy, prior : str
    target, confidence : float
    """

    relevant: dict[str, bool]
    question: str
    strategy: str
    prior: str
    target: float
    confidence: float

    @classmethod
    def of(cls, review: LiveReview, topic: str) -> Answers:
        """Those of a topic as they stand now."""
        with review.looking() as assignments:
            said = {id: assignments.answer(topic, id) for id in assignments.opinions[topic]}
        row_of, settings = review.collection.row_of, review.screening.settings
        known = sorted(
            (id for id, answer in said.items() if answer in ("relevant", "irrelevant")), key=row_of.__getitem__
        )
        question = dict(settings.questions).get(topic, "")
        prior = review.settings.get("prior", "reviews")
        return cls({id: said[id] == "relevant" for id in known}, question, settings.strategy, prior, *review.goal)

    @property
    def n_relevant(self) -> int:
        """How many are relevant."""
        return sum(self.relevant.values())

    @property
    def problem(self) -> str:
        """Why nothing can be simulated of them; empty where it can."""
        n, found = len(self.relevant), self.n_relevant
        if n >= FEWEST and FEWEST_RELEVANT <= found < n:
            return ""
        return (
            f"{n} records have the answer relevant or not relevant, {found} of them relevant; a simulation needs at "
            f"least {FEWEST}, {FEWEST_RELEVANT} of them relevant and one not: screen more records"
        )

    @property
    def mark(self) -> str:
        """Changes when any of it does."""
        return hashlib.sha256(json.dumps(self).encode()).hexdigest()


class Simulated(NamedTuple):
    """A review that was read again.

    Parameters
    ----------
    found : array of bool (n_records,)
        Whether each record is relevant, in the order in which the engine shows them.
    stops : tuple of Stop
    target : float
    """

    found: BoolArray
    stops: tuple[Stop, ...]
    target: float

    @property
    def n_until_target(self) -> int:
        """Records that the engine shows until the target is reached."""
        return read_until(self.found, self.target)

    @property
    def n_until_target_at_random(self) -> float:
        """Records until then in random order: the mean place of the k-th of R among n, k (n + 1) / (R + 1)."""
        total = int(self.found.sum())
        needed = int(np.ceil(self.target * total - 1e-9))
        return needed * (len(self.found) + 1) / (total + 1)

    @property
    def shares(self) -> list[tuple[int, float, float]]:
        """Records read, recall of the engine, and mean recall in random order."""
        n, total = len(self.found), int(self.found.sum())
        reads = sorted({max(1, round(share * n)) for share in _SHARES})
        return [(k, int(self.found[:k].sum()) / total, k / n) for k in reads]


class ReviewSimulations:
    """Simulates reviews one after the other, and keeps what came of each until its answers change."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="simulation")
        self._lock, self._closed = threading.Lock(), False
        self._done: dict[tuple[str, str], tuple[str, Simulated | str]] = {}
        self._running: dict[tuple[str, str], tuple[str, str]] = {}

    def begin(self, review: LiveReview, topic: str) -> None:
        """Simulate a topic in the background, unless that is done or under way."""
        answers, key = Answers.of(review, topic), (review.id, topic)
        if answers.problem:
            raise InputError(answers.problem)
        with self._lock:
            if key in self._running or self._done.get(key, ("",))[0] == answers.mark:
                return
            self._running[key] = answers.mark, "waiting"
        self._pool.submit(self._run, review, key, answers)

    def look(self, review: LiveReview, topic: str, answers: Answers) -> tuple[Simulated | str | None, str]:
        """What came of the answers as they are, or why nothing did, or None; and what is being done."""
        key = review.id, topic
        with self._lock:
            mark, found = self._done.get(key, ("", None))
            return found if mark == answers.mark else None, self._running.get(key, ("", ""))[1]

    def close(self) -> None:
        """Stop everything."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, review: LiveReview, key: tuple[str, str], answers: Answers) -> None:
        def report(done: int) -> None:
            if self._closed:
                raise InputError("the server was stopped")
            self._running[key] = answers.mark, f"{done:,} of {len(answers.relevant):,} records screened"

        found: Simulated | str
        try:
            report(0)
            found = _simulated(review, answers, report)
        except InputError as error:
            found = str(error)
        except Exception:  # it must not be under way for ever
            logging.getLogger("textbayes.app").exception("simulation")
            found = "this is a bug in textbayes; please report it with the traceback in the log of the server"
        with self._lock:
            self._done[key] = answers.mark, found
            self._running.pop(key, None)


class _Counting(TopicReader):
    """A reader that says how far it is."""

    def __init__(self, collection: Collection, settings: ScreenSettings, report: Callable[[int], None]) -> None:
        super().__init__(collection, settings)
        self._report, self._n = report, 0

    def answer(self, row: int, relevant: bool) -> None:
        super().answer(row, relevant)
        self._n += 1
        self._report(self._n)


def _simulated(review: LiveReview, answers: Answers, report: Callable[[int], None]) -> Simulated:
    """Screen the answered records again, with nothing known but the question; as ``textbayes simulate``."""
    with review.store.read() as session:
        own = select(StoredRecord.name, StoredRecord.text).where(StoredRecord.project_id == review.id)
        texts = {name: text for name, text in session.execute(own) if name in answers.relevant}
    ids, prior = list(answers.relevant), shipped_prior() if answers.prior == "reviews" else None
    topic = ScreenSettings().topics[0]
    collection = Collection.read(ids, [texts[id] for id in ids], [topic], {topic: answers.question}, prior)
    reader = _Counting(collection, ScreenSettings(strategy=answers.strategy), report)
    rules = [make_rule(rule, answers.target, answers.confidence) for rule in RULES]
    relevant = np.array(list(answers.relevant.values()), dtype=np.bool_)
    made = simulate(reader, relevant, [], rules, answers.target)
    return Simulated(made.found, made.stops, answers.target)


def recall_picture(axes: Any, colours: Palette, seen: Simulated) -> str:
    """Recall by records read, of the engine and in random order, and where each rule would have stopped."""
    n, total = len(seen.found), int(seen.found.sum())
    axes.axhline(100.0 * seen.target, color=colours.muted, linewidth=0.8, linestyle=(0, (1, 2)))
    curve = np.append(0.0, 100.0 * np.cumsum(seen.found) / total)
    axes.plot(np.arange(n + 1), curve, color=colours.accent, linewidth=2, label="engine")
    axes.plot([0, n], [0, 100], color=colours.muted, linewidth=1, linestyle=(0, (4, 3)), label="random order")
    for sign, stop in zip(_SIGNS, seen.stops, strict=True):
        at = stop.n_read, 100.0 * stop.recall
        axes.plot(*at, sign, color=colours.second, markersize=7, fillstyle="none", markeredgewidth=1.6, label=stop.rule)
    axes.set(xlabel="records screened", ylabel="relevant records found, %", xlim=(0, n), ylim=(0, 104))
    tidy(axes, colours)
    whole_numbers(axes.xaxis)
    axes.legend(frameon=False, loc="lower right")
    stops = ", ".join(f"{one.rule} after {one.n_read} with {one.recall:.0%}" for one in seen.stops)
    return (
        f"Recall by records screened: {seen.target:.0%} of {total} relevant records after {seen.n_until_target} of {n} "
        f"records, in random order after about {seen.n_until_target_at_random:.0f}. Stops: {stops}"
    )


_DRAWING = Drawing((5.2, 3.6), recall_picture)


def simulation_svg(seen: Simulated) -> str:
    """The drawing to stand in a page."""
    return svg_of("simulation", _DRAWING, seen)

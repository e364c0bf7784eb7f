"""The numbers of a PRISMA 2020 flow diagram, counted from the log of a project, and the diagram as SVG.

Page, M. J. et al. (2021). The PRISMA 2020 statement: an updated guideline for reporting systematic reviews. BMJ 372,
n71.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import escape
from sqlalchemy import select

from textbayes.app.assignments import Assignments
from textbayes.app.database import Event
from textbayes.app.downloads import Download
from textbayes.app.live import LiveReview
from textbayes.app.marks import NOT_RETRIEVED
from textbayes.app.stages import full_text_of

_NO_REASON = "no reason given"


@dataclass(frozen=True)
class PrismaNumbers:
    """How many records a review has at each step; what one of two people has answered counts as not screened yet.

    Parameters
    ----------
    topic : str
    sources : dict
        File that records came from → records in it.
    n_identified, n_duplicates : int
        Records of all files, and those of them that were there already.
    n_screened, n_unscreened : int
        Records with an answer on title and abstract, and those without.
    n_excluded, n_undecided : int
        Of those screened: excluded, and unsure or in conflict.
    excluded_for : dict
        Reason → records excluded on title and abstract, where reasons were given.
    uses_full_texts : bool
        Whether full texts are read at all: a PDF was added or an answer given.
    n_sought, n_not_retrieved, n_assessed : int
        Full texts: those of all included records, those that could not be had, and those that were read.
    full_texts_excluded_for : dict
        Reason → full texts excluded.
    n_waiting : int
        Full texts that are still to be assessed, unsure or in conflict.
    n_included : int
        Records in the review; without full texts those included on title and abstract.
    """

    topic: str
    sources: dict[str, int]
    n_identified: int
    n_duplicates: int
    n_screened: int
    n_unscreened: int
    n_excluded: int
    n_undecided: int
    excluded_for: dict[str, int]
    uses_full_texts: bool
    n_sought: int
    n_not_retrieved: int
    n_assessed: int
    full_texts_excluded_for: dict[str, int]
    n_waiting: int
    n_included: int


def uses_full_texts(assignments: Assignments, topic: str) -> bool:
    """Whether the full texts of a topic are read."""
    return bool(assignments.opinions[full_text_of(topic)]) or assignments.has_full_texts


def is_included(assignments: Assignments, topic: str, id: str) -> bool:
    """Whether a record is in the review, as things stand: after its full text, where full texts are read."""
    included = assignments.answer(topic, id) == "relevant"
    if included and uses_full_texts(assignments, topic):
        return assignments.answer(full_text_of(topic), id) == "relevant"
    return included


def prisma_numbers(review: LiveReview, topic: str) -> PrismaNumbers:
    """Count a project's records at each step.

    Parameters
    ----------
    review : LiveReview
    topic : str
    """
    with review.store.read() as session:
        log = session.scalars(select(Event.body).where(Event.project_id == review.id).order_by(Event.sequence))
        of_files = [body for body in log if body["kind"] in ("imported", "merged", "unmerged")]
    imports = [body for body in of_files if body["kind"] == "imported"]
    sources: Counter[str] = Counter()
    for one in imports:
        sources[one["source"]] += one["n_found"]
    n_merged = sum({"merged": 1, "unmerged": -1}.get(one["kind"], one.get("n_merged", 0)) for one in of_files)
    full = full_text_of(topic)
    with review.looking() as assignments:
        ids = list(review.collection.row_of)
        marks, answers = assignments.marks, {id: assignments.answer(topic, id) for id in assignments.opinions[topic]}
        counts = Counter(said for said in answers.values() if said is not None)
        excluded = Counter(marks.reason(assignments, topic, id) for id, said in answers.items() if said == "irrelevant")
        sought = assignments.to_assess(topic)
        read = {id: assignments.answer(full, id) for id in sought}
        reasons = Counter(marks.reason(assignments, full, id) for id, said in read.items() if said == "irrelevant")
        uses = uses_full_texts(assignments, topic)
        order = {reason: place for place, reason in enumerate(marks.choices(full_text=True))}
    decided = Counter(said for said in read.values() if said is not None)
    n_not_retrieved = reasons.pop(NOT_RETRIEVED, 0)
    n_screened = sum(counts.values())
    n_known = sum(sources.values())
    return PrismaNumbers(
        topic=topic,
        sources=dict(sources),
        n_identified=max(n_known, len(ids) + n_merged),
        n_duplicates=n_merged,
        n_screened=n_screened,
        n_unscreened=len(ids) - n_screened,
        n_excluded=counts["irrelevant"],
        n_undecided=n_screened - counts["irrelevant"] - counts["relevant"],
        excluded_for=_listed(excluded, order) if set(excluded) - {""} else {},
        uses_full_texts=uses,
        n_sought=len(sought),
        n_not_retrieved=n_not_retrieved,
        n_assessed=decided["relevant"] + sum(reasons.values()),
        full_texts_excluded_for=_listed(reasons, order),
        n_waiting=len(sought) - decided["relevant"] - sum(reasons.values()) - n_not_retrieved if uses else 0,
        n_included=decided["relevant"] if uses else len(sought),
    )


def _listed(reasons: Counter[str], order: dict[str, int]) -> dict[str, int]:
    """Reasons in the order of the project's list, those that are not in it after them."""
    names = sorted(reasons, key=lambda name: (not name, order.get(name, len(order)), name))
    return {name or _NO_REASON: reasons[name] for name in names if reasons[name]}


def prisma_picture(review: LiveReview, topic: str) -> Download:
    """The flow diagram of a project as a file."""
    return Download("prisma.svg", "image/svg+xml", prisma_svg(prisma_numbers(review, topic)).encode())


class _Box(NamedTuple):
    """A box of the diagram: its place, its lines, and how high it is at least."""

    x: int
    y: int
    lines: list[str]
    least: int

    @property
    def height(self) -> int:
        return max(_LINE * len(self.lines) + 2 * _INSIDE, self.least)

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def middle(self) -> int:
        return self.y + self.height // 2


_WIDTH, _LEFT, _RIGHT, _TOTAL = 300, 50, 420, 740
_LINE, _INSIDE, _GAP = 19, 12, 34
_CHARACTERS = 40  # of a line
_ARROW_HEAD = (
    '<defs><marker id="flow-end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0L8 4L0 8z"/></marker></defs>'
)


def prisma_svg(numbers: PrismaNumbers) -> str:
    """The flow diagram, black on white, as a file of its own.

    Parameters
    ----------
    numbers : PrismaNumbers
    """
    rows = [_step(*step) for step in prisma_steps(numbers)]
    parts, y, before = [], 16, None
    groups: list[tuple[str, int, int]] = []
    single = {group for group, n in Counter(group for group, _, _ in rows).items() if n == 1}
    for group, left, right in rows:
        least = _side_height(group) if group in single else 0
        box = _Box(_LEFT, y, left, least)
        beside = _Box(_RIGHT, y, right, least) if right else None
        parts += _drawn(box)
        if before is not None:
            parts.append(_arrow(_LEFT + _WIDTH // 2, before.bottom, _LEFT + _WIDTH // 2, box.y))
        if beside is not None:
            parts += [*_drawn(beside), _arrow(_LEFT + _WIDTH, box.y + 22, _RIGHT, box.y + 22)]
        end = max(box.bottom, beside.bottom if beside else 0)
        groups.append((group, y, end))
        before, y = box, end + _GAP
    height = y - _GAP + 16
    for name in dict.fromkeys(group for group, _, _ in groups):
        start = min(top for group, top, _ in groups if group == name)
        parts += _side(name, start, max(end for group, _, end in groups if group == name))
    described = escape("; ".join(" ".join(left) for _, left, _ in rows))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_TOTAL} {height}" role="img"'
    names = 'aria-labelledby="flow-title flow-text" font-family="Helvetica, Arial, sans-serif" font-size="14"'
    white = f'<rect width="{_TOTAL}" height="{height}" fill="#ffffff"/>'
    said = f'<title id="flow-title">PRISMA 2020 flow diagram</title><desc id="flow-text">{described}</desc>'
    return f"{head} {names}>{said}{_ARROW_HEAD}{white}{''.join(parts)}</svg>"


def prisma_steps(n: PrismaNumbers) -> list[tuple[str, list[str], list[str]]]:
    """The group of every step, the lines of its box, and those of the box beside it, which may have none.

    Parameters
    ----------
    n : PrismaNumbers
    """
    found = [_n("Records identified", n.n_identified), *_each(n.sources)]
    removed = ["Records removed before screening:", _n("Duplicates", n.n_duplicates)]
    screening = [_n("Records screened", n.n_screened)]
    if n.n_unscreened:
        screening.append(_n("Not screened yet", n.n_unscreened))
    excluded = [_n("Records excluded", n.n_excluded), *_each(n.excluded_for)]
    if n.n_undecided:
        excluded.append(_n("Unsure or in conflict", n.n_undecided))
    steps = [("Identification", found, removed), ("Screening", screening, excluded)]
    if n.uses_full_texts:
        assessed = [_n("Reports assessed for eligibility", n.n_assessed)]
        if n.n_waiting:
            assessed.append(_n("To be assessed", n.n_waiting))
        out = sum(n.full_texts_excluded_for.values())
        steps += [
            ("Screening", [_n("Reports sought for retrieval", n.n_sought)],
             [_n("Reports not retrieved", n.n_not_retrieved)]),
            ("Screening", assessed, [_n("Reports excluded", out), *_each(n.full_texts_excluded_for)]),
        ]  # fmt: skip
    return [*steps, ("Included", [_n("Reports included in the review", n.n_included)], [])]


def _n(name: str, number: int) -> str:
    return f"{name} (n = {number:,})"


def _each(numbers: dict[str, int]) -> list[str]:
    return [f"  {_n(name, number)}" for name, number in numbers.items()]


def _step(group: str, left: list[str], right: list[str]) -> tuple[str, list[str], list[str]]:
    return group, _wrapped(left), _wrapped(right)


def _wrapped(lines: list[str]) -> list[str]:
    """Lines no longer than a box is wide; what is indented stays so."""
    found = []
    for line in lines:
        indent = "    " if line.startswith("  ") else ""
        found += textwrap.wrap(line.strip(), _CHARACTERS, initial_indent=indent, subsequent_indent=indent + "  ")
    return found


def _drawn(box: _Box) -> list[str]:
    """A box with its lines."""
    parts = [f'<rect x="{box.x}" y="{box.y}" width="{_WIDTH}" height="{box.height}" fill="none" stroke="#1c2430"/>']
    for place, line in enumerate(box.lines):
        indent = 4 * (len(line) - len(line.lstrip()))
        y = box.y + _INSIDE + _LINE * place + 14
        parts.append(f'<text x="{box.x + _INSIDE + indent}" y="{y}" fill="#1c2430">{escape(line.strip())}</text>')
    return parts


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path d="M{x} {y}L{to_x} {to_y}" stroke="#1c2430" fill="none" marker-end="url(#flow-end)"/>'


def _side_height(name: str) -> int:
    """How high the field of a group must be for its name, at 8 for a letter, which is wider than any font has it."""
    return 8 * len(name) + 16


def _side(name: str, top: int, bottom: int) -> list[str]:
    """The name of a group, upright at the left."""
    middle = (top + bottom) // 2
    upright = f'transform="rotate(-90 23 {middle})" text-anchor="middle" dominant-baseline="middle"'
    return [
        f'<rect x="8" y="{top}" width="30" height="{bottom - top}" rx="6" fill="#d3e3fa"/>',
        f'<text x="23" y="{middle}" {upright} font-weight="600" font-size="13">{escape(name)}</text>',
    ]

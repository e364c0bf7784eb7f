"""Chai, Ng & Chieu (2002): the Bayesian online perceptron and Gaussian process, classifying and filtering.

What can be reproduced is gathered from its parts, ``classification`` and ``filtering``. A part is a module that is
cheap to import and has

- ``NUMBERS``: what it reproduces, such as ``("table 4", "table 5", "figure 2")``;
- ``corpora_for(wanted)``: the corpora that those of the wanted numbers need;
- ``tables(wanted, quick, progress)``: yields those of the wanted results that are its own, in the paper's order.

``docs/papers/online.md`` explains the differences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import ModuleType
from typing import ClassVar

from textbayes.reproduce import papers
from textbayes.reproduce.online import classification, filtering
from textbayes.reproduce.results import Paper, Progress, Result

_PARTS: tuple[ModuleType, ...] = (classification, filtering)
_CORPORA = ("reuters21578", "arxiv_cs")  # OHSUMED is used where it is, and not asked for


class OnlinePaper(Paper):
    """Tables 2 to 7 and both figures: classification on Reuters-21578 first, then filtering."""

    name: ClassVar[str] = "online"
    title: ClassVar[str] = "Bayesian online classifiers for text classification and filtering"
    reference: ClassVar[str] = (
        "K. M. A. Chai, H. T. Ng & H. L. Chieu (2002), Bayesian online classifiers for text classification and "
        "filtering, SIGIR."
    )
    numbers: ClassVar[tuple[str, ...]] = tuple(number for part in _PARTS for number in part.NUMBERS)
    corpora: ClassVar[tuple[str, ...]] = _CORPORA

    def corpora_for(self, wanted: Collection[str]) -> tuple[str, ...]:
        needed = {name for part in _PARTS for name in part.corpora_for(wanted)}
        return tuple(name for name in self.corpora if name in needed)

    def run(self, wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
        for part in _PARTS:
            if set(wanted).intersection(part.NUMBERS):
                yield from part.tables(wanted, quick, progress)


papers.register("online")(OnlinePaper())

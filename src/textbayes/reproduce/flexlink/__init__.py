"""Eyheramendy & Madigan (2007): the flexible Student-t link, on simulated data and on Reuters-21578.

What can be reproduced: Tables 1 to 8, Figures 1, 2, 3 and 5. ``docs/papers/flexlink.md`` explains the differences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

from textbayes.reproduce import papers
from textbayes.reproduce.results import Paper, Progress, Result

_EXAMPLES = {1: ("table 1", "table 2"), 2: ("table 3", "table 4")}
_MEASURES = {"table 6": "F1", "table 7": "recall", "table 8": "precision"}
_REUTERS = ("table 5", *_MEASURES)


class FlexlinkPaper(Paper):
    """Tables and figures of the paper, the cheap ones first."""

    name: ClassVar[str] = "flexlink"
    title: ClassVar[str] = "A flexible Bayesian generalized linear model for dichotomous response data"
    reference: ClassVar[str] = (
        "S. Eyheramendy & D. Madigan (2007), A flexible Bayesian generalized linear model for dichotomous response "
        "data with an application to text categorization, IMS Lecture Notes – Monograph Series 54."
    )
    numbers: ClassVar[tuple[str, ...]] = (
        *("figure 1", "figure 2", "figure 3", "figure 5"),
        *("table 1", "table 2", "table 3", "table 4"),
        *_REUTERS,
    )
    corpora: ClassVar[tuple[str, ...]] = ("reuters21578",)

    def corpora_for(self, wanted: Collection[str]) -> tuple[str, ...]:
        """Reuters-21578 for Tables 5 to 8, nothing for the others."""
        return self.corpora if set(wanted).intersection(_REUTERS) else ()

    def run(self, wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
        """``quick``: 3 of the 10 data sets of each example, 1 of the 5 splits of Reuters-21578."""
        from textbayes.reproduce.flexlink import examples, figures, text_tables

        for number, draw in figures.FIGURES.items():
            if number in wanted:
                yield draw()
        for example, numbers in _EXAMPLES.items():
            if set(wanted).intersection(numbers):
                outcomes = examples.run_examples(example, quick, progress)
                yield from examples.example_tables(example, outcomes, tuple(wanted))
        if set(wanted).intersection(_REUTERS):
            splits = text_tables.run_splits(quick, progress)
            if "table 5" in wanted:
                yield text_tables.chosen_table(splits)
            for number, measure in _MEASURES.items():
                if number in wanted:
                    yield text_tables.measure_table(measure, splits)


papers.register("flexlink")(FlexlinkPaper())

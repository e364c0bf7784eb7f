"""Madahian & Faghihi (2014): the sparse probit model by Gibbs sampling on ten subject domains, beside an SVM.

What can be reproduced: Tables 1 and 2, Figure 1; Tables 2a (other readings) and 2b (probabilities) are our own.
``docs/papers/gibbs.md`` explains the differences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

from textbayes.core.errors import InputError
from textbayes.reproduce import papers
from textbayes.reproduce.results import Paper, Progress, Result

_TABLES = ("table 1", "table 2", "table 2a", "table 2b")
_N_QUICK = 3


class GibbsPaper(Paper):
    """Tables and figure of the paper; ``draws`` kept of each posterior, or, by default, as many as are needed."""

    name: ClassVar[str] = "gibbs"
    title: ClassVar[str] = "A fully Bayesian sparse probit model for text categorization"
    reference: ClassVar[str] = (
        "B. Madahian & U. Faghihi (2014), A fully Bayesian sparse probit model for text categorization, Open Journal "
        "of Statistics 4(8)."
    )
    numbers: ClassVar[tuple[str, ...]] = ("figure 1", *_TABLES)
    corpora: ClassVar[tuple[str, ...]] = ("openstax",)

    def __init__(self, draws: int | None = None) -> None:
        if draws is not None and draws < 8:
            raise InputError(f"draws={draws} is given; pass 8 or more, such as 40000 as in the paper")
        self.draws = draws

    def with_draws(self, draws: int) -> GibbsPaper:
        """The same with chains of a given length."""
        return GibbsPaper(draws)

    def run(self, wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
        """``quick``: 3 of the 50 resamplings; all readings, models and machines are run for 10 of 50, or for all 3."""
        from textbayes.reproduce.gibbs import figures, measures, published, study, tables
        from textbayes.reproduce.gibbs.domains import documents

        texts = documents()
        if "figure 1" in wanted:
            yield figures.figure_1(texts, draws=self.draws)
        if set(wanted).intersection(_TABLES):
            n = _N_QUICK if quick else published.N_RESAMPLINGS
            own = {"table 2a", "table 2b"} & set(wanted)
            n_beside = min(n, study.N_BESIDE) if own else 0
            if own == set(wanted).intersection(_TABLES):
                n = n_beside
            found: measures.Study = study.run_study(
                texts, range(n), self.draws, progress, n_beside=n_beside, n_own=n_beside
            )
            for part in (0, 1):
                if f"table {part + 1}" in wanted:
                    yield tables.rates_table(found, part)
            if "table 2a" in wanted:
                yield tables.readings_table(found)
            if "table 2b" in wanted:
                yield tables.losses_table(found)


papers.register("gibbs")(GibbsPaper())

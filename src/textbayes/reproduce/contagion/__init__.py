"""``textbayes reproduce contagion``: count models for frequent words and the Δ² test, Tables 1 to 3."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from textbayes.reproduce import papers
from textbayes.reproduce.results import Paper, Progress, Result

_CORPORA = {
    "table 1": ("federalist",),
    "table 2": ("20newsgroups", "reuters21578", "spamassassin"),
    "table 2a": ("20newsgroups",),
    "table 3": ("movie_reviews",),
}


class ContagionPaper(Paper):
    """Table 1 on the Federalist papers, the public rows of Tables 2 and 3; Table 2a is a second reading of a row."""

    name = "contagion"
    title = "Bayesian methods for frequent terms in text"
    reference = (
        "E. M. Airoldi, W. W. Cohen & S. E. Fienberg, Bayesian methods for frequent terms in text: models of contagion "
        "and the Δ² statistic."
    )
    numbers = tuple(_CORPORA)
    corpora = tuple(dict.fromkeys(name for names in _CORPORA.values() for name in names))

    def corpora_for(self, wanted: Collection[str]) -> tuple[str, ...]:
        needed = {name for number in wanted for name in _CORPORA[number]}
        return tuple(name for name in self.corpora if name in needed)

    def run(self, wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
        from textbayes.reproduce.contagion.tables import reproduce  # numba and scikit-learn: only when something is run

        return reproduce(wanted, quick, progress)


papers.register("contagion")(ContagionPaper())

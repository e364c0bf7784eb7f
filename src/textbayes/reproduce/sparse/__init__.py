"""``textbayes reproduce sparse``: probit and logistic regression with sparse priors, Tables 1 to 8."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from textbayes.reproduce import papers
from textbayes.reproduce.results import Paper, Progress, Result


class SparsePaper(Paper):
    """Tables 1–8, Figures 2 and 3; beyond the paper a look at the text processing (3a) and at Table 4 (4a, 4b)."""

    name = "sparse"
    title = "Sparse Bayesian classifiers for text categorization"
    reference = (
        "Eyheramendy, Genkin, Ju, Lewis & Madigan (2003), Sparse Bayesian classifiers for text categorization, Journal "
        "of Intelligence Community Research and Development."
    )
    numbers = (
        *("table 1", "figure 2", "table 2", "table 3", "table 3a", "table 4", "table 4a"),
        *("table 5", "table 6", "table 7", "table 8", "figure 3"),
    )
    corpora = ("reuters21578", "rcv1")

    def corpora_for(self, wanted: Collection[str]) -> tuple[str, ...]:
        of_rcv1 = {"table 7", "table 8"}
        needed = {"rcv1"} if of_rcv1 & set(wanted) else set()
        if set(wanted) - of_rcv1 - {"figure 3"}:
            needed.add("reuters21578")
        return tuple(name for name in self.corpora if name in needed)

    def run(self, wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
        from textbayes.reproduce.sparse.tables import reproduce  # numba and scikit-learn: only when something is run

        return reproduce(wanted, quick, progress)


papers.register("sparse")(SparsePaper())

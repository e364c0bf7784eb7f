"""Table 1: words whose counts a Poisson or a negative binomial fits, by the test of the paper and by a better one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.lexical.burstiness import Burstiness, burstiness
from textbayes.reproduce.contagion import published
from textbayes.reproduce.contagion.corpora import Documents
from textbayes.reproduce.contagion.systems import ranking
from textbayes.reproduce.results import Cell, Table

_LEVEL: Final = 0.05
_N_FREQUENT, _N_TELLING = 50, 27
_LEAST: Final = 5  # occurrences from which on a word's fit is looked at: of one that occurs once, everything fits
# The words that Mosteller & Wallace (1964, § 3.6) used in their main study, in the forms that the papers have.
MARKERS: Final = (
    *("upon", "also", "an", "by", "of", "on", "there", "this", "to", "although", "both", "enough", "while", "whilst"),
    *("always", "though", "commonly", "consequently", "considerable", "according", "apt", "direction", "innovation"),
    *("language", "vigor", "kind", "matter", "particularly", "probability", "work"),
)
POOLS: Final = (
    f"{_N_FREQUENT} highest frequency words",
    f"{len(MARKERS)} markers of Mosteller & Wallace",
    f"{_N_TELLING} words by information gain",
)


def table_1(documents: Documents) -> Table:
    """Table 1: words of each pool, author by author, that a test at 5 % does not refuse."""
    authors = {name: np.flatnonzero(documents.y == number) for number, name in enumerate(documents.classes)}
    ours: dict[str, list[Cell]] = {}
    sizes: list[str] = []
    for pool, columns in pool_columns(documents).items():
        for name, rows in authors.items():
            found = fits(documents, rows, columns)
            tests = found.ks_poisson, found.ks_negative_binomial, found.fit_poisson, found.fit_negative_binomial
            shares = [100.0 * float((p > _LEVEL).mean()) if len(p) else None for p in tests]
            ours[f"{pool}, {name} ({len(rows)} papers)"] = shares
            sizes.append(str(len(found.words)))
    theirs = {
        f"{pool}, {who}": [100.0 * counts[place][0] / counts[place][1] for place in places]
        for pool, counts in zip(published.TABLE_1_POOLS, published.TABLE_1, strict=True)
        for who, places in {"Hannaford": (0, 2), "Reagan": (1, 3)}.items()
    }
    notes = (
        "The paper's rows are of Reagan's radio addresses, which are not public, ours of the Federalist papers. It "
        "prints numbers of words: here they are shares of the pool.",
        "Words of each of our rows, in this order: " + ", ".join(sizes) + f"; words with fewer than {_LEAST} "
        "occurrences in an author's papers are left out.",
        "The first two columns are the paper's two-sample Kolmogorov–Smirnov test, which is too kind to counts; the "
        "others are a bootstrap of the fitted model, which knows that counts are discrete and parameters fitted.",
    )
    caption = "Goodness of fit: per cent of the words of a pool that are not refused at 5 %."
    tests_run = ("Poisson, KS", "Neg-Bin, KS", "Poisson, bootstrap", "Neg-Bin, bootstrap")
    rows_ = (*ours, *theirs)
    return Table.by_row("1", caption, tests_run, ours, theirs, rows_, digits=0, notes=notes, mark=np.inf)


def pool_columns(documents: Documents) -> Mapping[str, IntArray]:
    """The columns of each pool's words."""
    totals = np.asarray(documents.X.sum(axis=0)).ravel()
    column = {str(word): place for place, word in enumerate(documents.words)}
    markers = np.array([column[word] for word in MARKERS if word in column], dtype=np.int64)
    frequent = np.argsort(-totals, kind="stable")[:_N_FREQUENT]
    telling = ranking(documents, np.arange(len(documents.y)), "IG")[:_N_TELLING]
    return dict(zip(POOLS, (frequent, markers, telling), strict=True))


def fits(documents: Documents, rows: IntArray, columns: IntArray) -> Burstiness:
    """The tests of the words that these documents have often enough."""
    X = documents.X[rows]
    totals: FloatArray = np.asarray(X[:, columns].sum(axis=0)).ravel()
    return burstiness(X, documents.lengths[rows], words=np.sort(columns[totals >= _LEAST]))

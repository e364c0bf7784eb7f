"""Long documents, smoothing and count models: errors on the newsgroups and the mails, where the Poisson does not win.

A rate Σx/Σω weighs documents by their length, so that a few long ones decide it; and rates are shrunk towards the
word's common rate by so many occurrences, one in `textbayes reproduce contagion`. Here documents of more than so many
words are left out of the training parts of its five folds (Table 2), and rates are shrunk less. All documents are
classified, by all words. The bar: the Poisson comes within a point of the published error on the newsgroups.

    python benchmarks/bench_counts_long.py
"""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from _common import close
from textbayes.core.types import IntArray
from textbayes.models.counts import make_count_model
from textbayes.reproduce.contagion.systems import (
    LOADERS,
    ClassDocuments,
    count_model,
    folds_of,
    wrong_decisions,
)
from textbayes.reproduce.results import published_figures

ROWS: Final = ("Newsgroups", "Spam-Assassin")
MOST: Final = (None, 2_000, 500)  # words of a training document
SHRUNK: Final = (1.0, 0.1, 0.01)  # occurrences that rates are shrunk by
WITHIN: Final = 1.0
MODELS: Final[dict[str, tuple[Any, ...]]] = {
    "naive Bayes": (count_model("naive Bayes, counts"), count_model("naive Bayes, TF-IDF")),
    "Neg-Bin": (count_model("Neg-Bin"),),
    **{f"Poisson, {shrunk:g}": (make_count_model("poisson", pseudo_counts=shrunk),) for shrunk in SHRUNK},
}


def errors(documents: ClassDocuments, most: int | None) -> tuple[dict[str, float], float]:
    """Errors in per cent of each model, of naive Bayes the better, and the share of documents that are left out."""
    columns: IntArray = np.arange(documents.X.shape[1])
    short = documents.lengths <= (np.inf if most is None else most / 1000.0)
    found = {}
    for name, kinds in MODELS.items():
        wrong = [
            sum(
                wrong_decisions(kind, documents, train[short[train]], test, columns).sum()
                for train, test in folds_of(documents.y)
            )
            for kind in kinds
        ]
        found[name] = 100.0 * float(min(wrong)) / len(documents.y)
    return found, 100.0 * float((~short).mean())


def main() -> None:
    start, printed = time.perf_counter(), published_figures("contagion")
    poisson: dict[str, list[float]] = {}
    for row in ROWS:
        documents, poisson[row] = LOADERS[row](), []
        told = dict(zip(printed["models"], printed["table 2"][row], strict=False))  # without Dir-Pois
        print(f"{row}, {len(documents.y):,} documents: errors in per cent")
        print(f"  {'published':40}" + "".join(f"  {name} {value:.2f}" for name, value in told.items()))
        for most in MOST:
            found, left_out = errors(documents, most)
            what = "all documents" if most is None else f"at most {most:,} words ({left_out:.1f} % left out)"
            print(f"  {what:40}" + "".join(f"  {name} {value:.2f}" for name, value in found.items()), flush=True)
            poisson[row] += [value for name, value in found.items() if name.startswith("Poisson")]
    print(f"{time.perf_counter() - start:.0f} s")
    best, goal = min(poisson[ROWS[0]]), float(printed["table 2"][ROWS[0]][1])
    close(
        "counts_long",
        best <= goal + WITHIN,
        f"errors of the Poisson on the newsgroups {poisson[ROWS[0]][0]:.2f} % as in Table 2, {best:.2f} % without long "
        f"documents and with less smoothing (published {goal:.2f} %, bar within {WITHIN:g} point)",
    )


if __name__ == "__main__":
    main()

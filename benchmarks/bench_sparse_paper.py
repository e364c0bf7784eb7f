"""The sparse paper on Reuters-21578, ten topics: `textbayes reproduce sparse`, Tables 1 to 6, against its figures.

Bars: own micro-F1 within 1.5 points of every published micro-average in Tables 1, 2, 3, 5 and 6, or above it; rank
correlation of at least 0.95 over the 60 Laplace cells of Table 4.
"""

from __future__ import annotations

import time

import numpy as np

from _common import close
from textbayes.reproduce import Table, papers
from textbayes.reproduce.results import silent
from textbayes.reproduce.sparse.study import rank_correlation

WITHIN, CORRELATION_BAR = 1.5, 0.95
WANTED = ("table 1", "table 2", "table 3", "table 4", "table 5", "table 6")


def main() -> None:
    start = time.perf_counter()
    differences, correlation = [], 0.0
    for table in papers.get("sparse").run(WANTED, False, silent):
        assert isinstance(table, Table)
        if table.number == "4":
            cells = np.array(
                [(ours[1:], published[1:]) for ours, published in zip(table.ours, table.published, strict=True)]
            )
            assert cells.shape == (10, 2, 6)
            correlation = rank_correlation(cells[:, 0], cells[:, 1]) or 0.0
            off = np.abs(cells[:, 0] - cells[:, 1]).mean()
            print(f"table 4: rank correlation {correlation:.4f}, mean absolute difference {off:.1f} parameters")
            continue
        micro = table.rows.index("micro-average")
        for j, column in enumerate(table.columns):
            if (difference := table.difference(micro, j)) is not None:
                differences.append(difference)
                published, ours = table.published[micro][j], table.ours[micro][j]
                print(f"table {table.number}: {column:22} micro-F1 {ours:.1f}, published {published:.1f}")
    print(f"{len(differences)} columns, {time.perf_counter() - start:.0f} s")
    passed = len(differences) == 20 and min(differences) >= -WITHIN and correlation >= CORRELATION_BAR
    close(
        "sparse paper",
        passed,
        f"micro-F1 at worst {min(differences):+.1f} points from the published (bar −{WITHIN}), "
        f"Table 4 rank correlation {correlation:.3f} (bar {CORRELATION_BAR})",
    )


if __name__ == "__main__":
    main()

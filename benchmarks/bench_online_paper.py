"""The online paper on Reuters-21578, 90 topics: the Bayesian rows of Table 2, `textbayes reproduce online --quick`.

Bars, for the perceptron, GP-1, GP-2 and GP-R1 at 0.5, MaxF1 and ExpectedF1 (3 passes, −2 ln λ > 12.13, at most 300
words, ltc): micro-F1 within 0.7 and macro-F1 within 3 points of the paper's Table 2, or above.
"""

from __future__ import annotations

import time

from _common import close
from textbayes.reproduce import Table, papers
from textbayes.reproduce.online.systems import BAYESIAN, RULES

WITHIN = {"micro": 0.7, "macro": 3.0}


def main() -> None:
    start = time.perf_counter()
    (table,) = papers.get("online").run(("table 2",), True)
    assert isinstance(table, Table)
    differences: dict[str, list[float]] = {average: [] for average in WITHIN}
    for system in BAYESIAN:
        row = table.rows.index(system)
        for rule in RULES:
            shown = []
            for average in WITHIN:
                column = table.columns.index(f"{rule} {average}")
                difference = table.difference(row, column)
                assert difference is not None
                differences[average].append(difference)
                shown.append(
                    f"{average}-F1 {table.ours[row][column]:.2f}, published {table.published[row][column]:.2f}"
                )
            print(f"{system:10} {rule:10} {'; '.join(shown)}")
    print(*table.notes, f"{time.perf_counter() - start:.0f} s", sep="\n")
    n_cells = len(BAYESIAN) * len(RULES)
    passed = all(len(found) == n_cells and min(found) >= -WITHIN[average] for average, found in differences.items())
    worst = [f"{average}-F1 {min(found):+.2f} (bar −{WITHIN[average]})" for average, found in differences.items()]
    close("online paper", passed, f"{n_cells} cells of Table 2, at worst {', '.join(worst)} points from the published")


if __name__ == "__main__":
    main()

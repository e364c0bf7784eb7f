"""Adaptive filtering of the arXiv stream by seven systems: what asking for information is worth.

Topics are the 34 complete categories. The batch phase has the years to 2010, the stream 2011 to 2019. Relevance is
rationed so that topics are rare: ten relevant documents to begin with, 51 in the stream, as many as topics of TREC-9
have in the mean, drawn at random; a topic is not shown the others of its category. One in eight of all other documents
is shown to it. Every delivered document is judged at once.

Bars: mean T9P of Pptron+ig at least 1.4 times that of Pptron, the lower end of the 95 % interval over topics above 1;
and mean utilities ordered as in Table 4 of Chai, Ng & Chieu (2002), or better: asking above random looks, with and
without rehearsal, and Pptron+ig above Pptron+rel+ig.

Usage: python benchmarks/bench_filter_arxiv.py [--topics N] [--rations]. Exits 1 when short.
"""

from __future__ import annotations

import argparse
import sys
import time

from _common import close
from textbayes.reproduce import PaperRun, Table
from textbayes.reproduce.online.filtering_systems import SYSTEMS, FilteringSimulation, arxiv
from textbayes.reproduce.online.filtering_tables import breakdown, keeps_order, rations, t9p_ratio, table_4a, utilities
from textbayes.reproduce.results import published_figures

BAR = 1.4


def show(table: Table) -> None:
    print(f"\n{table.name}. {table.caption}")
    width = max(len(row) for row in table.rows) + 2
    print(" " * width + "".join(f"{column:>{max(len(column) + 2, 15)}}" for column in table.columns))
    for row, cells in zip(table.rows, table.ours, strict=True):
        shown = ["–" if cell is None else f"{cell:.{table.digits}f}" for cell in cells]
        widths = [max(len(column) + 2, 15) for column in table.columns]
        print(f"{row:{width}}" + "".join(f"{cell:>{size}}" for cell, size in zip(shown, widths, strict=True)))
    for note in table.notes:
        print(f"  {note}")


def progress(what: str, done: int, total: int | None) -> None:
    if sys.stderr.isatty():
        print(f"\r{what}: {done} of {total}", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--topics", type=int, help="so many topics only, evenly spread")
    parser.add_argument("--rations", action="store_true", help="Table 4b as well")
    arguments = parser.parse_args()
    start = time.perf_counter()
    collection = arxiv(only=arguments.topics)
    tasks = collection.tasks
    first = tasks[0]
    print(f"{len(tasks)} topics, {len(collection.texts):,} documents")
    print(
        f"{first.topic} is shown {len(first.train):,} labelled documents, {first.train_relevant.sum()} of them "
        f"relevant, and then a stream of {len(first.test):,}, {first.test_relevant.sum()} relevant"
    )
    outcome = FilteringSimulation(collection).outcomes([SYSTEMS], "filtering", progress)[SYSTEMS]
    show(table_4a(outcome))
    show(breakdown("5a", "the arXiv stream", outcome, {}))
    utility, found = utilities(outcome), t9p_ratio(outcome, "Pptron+ig", "Pptron")
    printed = published_figures("online")["table 4"]
    published = sorted((name for name in printed if name in utility), key=lambda name: -printed[name][5])
    print(f"\nby mean utility, published: {' > '.join(published)}")
    print(f"by mean utility, here:      {' > '.join(sorted(published, key=lambda name: -utility[name]))}")
    if arguments.rations:
        show(rations(PaperRun()))
    print(f"{time.perf_counter() - start:.0f} s")
    in_order = keeps_order(utility)
    close(
        "filter arxiv",
        found.ratio >= BAR and found.low > 1.0 and in_order,
        f"T9P of Pptron+ig {found.ratio:.2f}x Pptron's (bar {BAR:g}x), interval {found.low:.2f} to {found.high:.2f}, "
        f"utilities {'ordered as in Table 4 or better' if in_order else 'NOT ordered as in Table 4'}",
    )


if __name__ == "__main__":
    main()

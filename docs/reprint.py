"""Rewrite the tables and figures on the papers' pages by running the experiments again.

    python docs/reprint.py                           every exhibit of the five papers (hours)
    python docs/reprint.py sparse --only "table 2"   these
    python docs/reprint.py --sample                  change nothing: run a little again, exit 1 where a page differs

On a page, what an exhibit printed stands between ``<!-- printed: Table 2 -->`` and ``<!-- end -->``, with the day and
the commit that printed it; a result without such a place is put after the one before it. A page is written after every
result, so that an interrupted run keeps what was finished. Changes under ``src`` that are not committed are refused.
Exhibits whose corpora are not there are named and left as they are.

Numbers of a sample may differ by one in their last digit, as in ``docs/generate.py``: another processor rounds
differently.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # also when a test loads this file by its path

from generate import agree

from textbayes.reproduce import Experiment, Figure, Result, papers
from textbayes.reproduce.render import figure_file, figure_markdown, table_markdown

PAPERS = Path(__file__).resolve().parent / "papers"
# What a sample runs again: of each paper something that shows whether its page is of this code, in seconds.
SAMPLE = {
    "sparse": ("table 5",),
    "flexlink": ("table 4",),
    "online": ("table 6",),
    "contagion": ("table 1",),
}
_BLOCK = "<!-- printed: {} -->\n{}<!-- end -->"
_STAMP = re.compile(r"^\*(Printed|Not yet run again) .*\n", re.MULTILINE)


def block(page: str, name: str) -> re.Match[str] | None:
    """Where a page has what an exhibit printed: its first group."""
    return re.search(_BLOCK.format(re.escape(name), "(.*?)"), page, re.DOTALL)


def body(paper: Experiment, result: Result, stamp: str) -> str:
    """What stands on a page of a result: as ``textbayes reproduce`` writes it, one heading deeper, and the stamp."""
    figure = isinstance(result, Figure)
    shown = figure_markdown(paper.name, result, "###") if figure else table_markdown(result, "###")
    return f"\n{shown}\n\n{stamp}\n\n"


def with_result(page: str, name: str, body: str, before: str = "") -> str:
    """The page with a result in its place; without one, after the result ``before`` it, or as the first."""
    new = _BLOCK.format(name, body)
    if found := block(page, name):
        return page[: found.start()] + new + page[found.end() :]
    if found := block(page, before):
        return f"{page[: found.end()]}\n\n{new}{page[found.end() :]}"
    first = page.find(_BLOCK.partition("{")[0])
    return f"{page.rstrip()}\n\n{new}\n" if first < 0 else f"{page[:first]}{new}\n\n{page[first:]}"


def difference(old: str, new: str) -> Iterator[str]:
    """Lines of a result that do not say the same, apart from the stamp and from what is marked."""
    lines = [_STAMP.sub("", f"{text}\n").replace("**", "").strip().splitlines() for text in (old, new)]
    for i in range(max(map(len, lines))):
        was, now = (side[i] if i < len(side) else "" for side in lines)
        if not agree(was, now):
            yield f"- {was}\n+ {now}"


def results(paper: Experiment, only: Sequence[str]) -> Iterator[Result]:
    """Run what can be run of what is asked for, with a line on the terminal for each exhibit."""
    wanted = []
    for number in paper.choose(only):
        missing = paper.missing_corpora((number,))
        if missing:
            print(
                f"{paper.name}, {number}: left as it is; corpora that are not there: {', '.join(missing)}", flush=True
            )
        else:
            wanted.append(number)
    yield from paper.run(wanted)


def commit() -> str:
    """The commit at work, if ``src`` is as it has it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=PAPERS, check=True, capture_output=True, text=True).stdout.strip()

    if changed := git("status", "--porcelain", "--", ":/src"):
        sys.exit(
            f"Changes that are not committed would be printed under the wrong commit:\n{changed}\nCommit them first."
        )
    return git("rev-parse", "--short=8", "HEAD")


def rewrite(paper: Experiment, only: Sequence[str], stamp: str) -> None:
    """Put results into the page of a paper, one after the other."""
    path, before = PAPERS / f"{paper.name}.md", ""
    for result in results(paper, only):
        if isinstance(result, Figure):
            (PAPERS / figure_file(paper.name, result)).write_text(result.svg, encoding="utf-8")
        page = path.read_text(encoding="utf-8")
        path.write_text(with_result(page, result.name, body(paper, result, stamp), before), encoding="utf-8")
        before = result.name
        print(f"{paper.name}, {result.name}: written", flush=True)


def sample() -> int:
    """Run the sample and say where pages differ: the number of results that do."""
    n_different = 0
    for name, only in SAMPLE.items():
        paper = papers.get(name)
        page = (PAPERS / f"{name}.md").read_text(encoding="utf-8")
        for result in results(paper, only):
            found = block(page, result.name)
            lines = list(difference("" if found is None else found[1], body(paper, result, "")))
            print(
                f"{name}, {result.name}: " + ("\n".join(["the page differs", *lines]) if lines else "as the page"),
                flush=True,
            )
            n_different += bool(lines)
    return n_different


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", action="store_true", help="change nothing; exit 1 where a page differs")
    parser.add_argument("--only", action="append", default=[], help='such as "table 2", of one paper')
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"{', '.join(papers.names())}; all by default")
    given = parser.parse_args()
    if given.sample:
        if different := sample():
            print(f"{different} results differ; run make papers and read what it changed.")
        return int(bool(different))
    stamp = f"*Printed by `make papers` on {datetime.now(UTC):%Y-%m-%d}, commit `{commit()}`.*"
    for name in given.papers or papers.names():
        rewrite(papers.get(name), given.only, stamp)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Bring README.md and docs/ up to date with the code.

    python docs/generate.py                    rewrite what is stale
    python docs/generate.py --check            change nothing, name what is stale, exit 1 if anything is
    python docs/generate.py --check README.md  these pages only

Two things are written. Between ``<!-- generated: NAME -->`` and ``<!-- end -->`` stands what the block of that name
says, see BLOCKS. And every Python and bash block is run, page by page and in order, in a temporary folder; a ``text``
block right after it holds what it printed. A line ``<!-- not run -->`` before a block (installation) leaves it alone.

Numbers that differ by one in their last digit, or in their fourth after the point, are not stale: another processor
rounds differently.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))  # also when a test loads this file by its path

from _blocks import BLOCKS, fenced
from _examples import run_page

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page]

_MARKED = re.compile(r"<!-- generated: (?P<name>[\w -]+) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Stale(NamedTuple):
    """A stretch of a page and what should stand there."""

    what: str
    start: int
    end: int
    new: str


def agree(old: str, new: str) -> bool:
    """Whether the words are the same, and the numbers up to one in their last or fourth decimal; counts are exact.

    >>> agree("F1 0.979, bank +19.4", "F1 0.980, bank +19.4"), agree("F1 0.979", "F1 0.981"), agree("3 texts", "4")
    (True, False, False)
    """
    if _NUMBER.sub("#", old.strip()) != _NUMBER.sub("#", new.strip()):
        return False
    return all(map(_close, _NUMBER.findall(old), _NUMBER.findall(new)))


def _close(old: str, new: str) -> bool:
    digits, others = (min(4, len(number.partition(".")[2])) for number in (old, new))
    if digits == 0 or digits != others:
        return old == new
    return abs(float(old) - float(new)) < 1.5 * 10.0**-digits


def stale_blocks(text: str, leave_out: Iterable[str] = ()) -> Iterator[Stale]:
    """The marked blocks of a page that do not say what they should."""
    for found in _MARKED.finditer(text):
        name = found["name"]
        if name not in BLOCKS:
            raise KeyError(f"there is no block {name!r}; choose one of {', '.join(BLOCKS)}")
        if name not in leave_out:
            new = f"\n{BLOCKS[name]()}\n"
            if not agree(found["body"], new):
                yield Stale(f"block {name!r}", *found.span("body"), new)


def stale_outputs(page: str, text: str) -> Iterator[Stale]:
    """The examples of a page that print something other than the page says."""
    for example, printed in run_page(page, text):
        if not agree(example.shown, printed):
            new = f"```{example.language}\n{example.source}```\n" + (f"\n{fenced(printed)}" if printed.strip() else "")
            yield Stale(f"the output of the example in line {example.line}", example.start, example.end, new)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if anything is stale")
    parser.add_argument("pages", nargs="*", default=PAGES, help="README.md, docs/start.md, …; all of them by default")
    given = parser.parse_args()
    any_stale = False
    for page in given.pages:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        stale = sorted((*stale_blocks(text), *stale_outputs(page, text)), key=lambda part: -part.start)
        for part in stale:
            print(f"{page}: {part.what} {'is stale' if given.check else 'was rewritten'}")
            text = text[: part.start] + part.new + text[part.end :]
        if stale and not given.check:
            path.write_text(text, encoding="utf-8")
        any_stale |= bool(stale)
    if given.check and any_stale:
        print("Run python docs/generate.py and read what it changed.")
    return int(given.check and any_stale)


if __name__ == "__main__":
    sys.exit(main())

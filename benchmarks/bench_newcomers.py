"""Drive the newcomers' paths through the commands that the tutorials name, and check what they print.

    python benchmarks/bench_newcomers.py [PAGE ...]

Every example of the tutorials is run on a terminal of 80 columns, with what goes to standard error, and once more on a
wide one. Counted are: lines wider than 80 columns, broken words (parts of words that the wide terminal does not show)
and banned phrases (``tests/banned_phrases.txt``). All kernels are compiled first, since only the first of the two runs
would say that it compiles.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.cells import cell_len

from _common import close

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from _examples import WIDTH, run_page  # noqa: E402

from references.banned_phrases import banned  # noqa: E402

_WIDE = 2_000
_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)


def faults(narrow: str, wide: str) -> Iterator[str]:
    """Lines of an output that are too wide, parts of words, and banned phrases."""
    for line in narrow.splitlines():
        if cell_len(line) > WIDTH:
            yield f"{cell_len(line)} columns: {line}"
    for word in broken_words(narrow, wide):
        yield f"broken word {word!r}"
    for match, instead in banned(narrow):
        yield f"banned phrase {match[0]!r}; write: {instead}"


def broken_words(narrow: str, wide: str) -> list[str]:
    """Parts of words of the narrow output: none of them is a word of the wide one.

    >>> broken_words("the reviewers agr\\nee on 12 texts", "the reviewers agree on 12 texts")
    ['agr', 'ee']
    """
    known = set(_WORD.findall(wide))
    return [word for word in dict.fromkeys(_WORD.findall(narrow)) if word not in known]


def main(pages: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "textbayes", "compile"], check=True, capture_output=True)
    found = commands = 0
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        runs = [run_page(page, text, width, notes=True) for width in (WIDTH, _WIDE)]
        outputs = [list(run) for run in runs]  # one after the other: each has a folder of its own
        for (example, narrow), (_, wide) in zip(*outputs, strict=True):
            commands += example.source.count("textbayes ") if example.language == "bash" else 1
            for fault in faults(narrow, wide):
                found += 1
                print(f"{page}:{example.line + 1}: {fault}")
        print(f"{page}: {len(outputs[0])} examples", flush=True)
    close("newcomers", found == 0, f"{len(pages)} paths, {commands} commands and Python blocks, {found} faults (bar 0)")


if __name__ == "__main__":
    main(sys.argv[1:] or sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "tutorials").glob("[!i]*.md")))

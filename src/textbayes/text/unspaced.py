"""Scripts that put no spaces between words: their runs of characters, to be read as overlapping n-grams.

A dictionary for each language could cut the runs into words; overlapping pairs of characters need none and classify
about as well (for Chinese: Li, Sun & Zhang 2006; for Japanese search engines have long done so).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, IntArray
from textbayes.text.packed import code_points


class Script(NamedTuple):
    """Characters of scripts that are read alike: n-grams of them are longer than those of words by up to ``more``."""

    characters: str
    more: int


# Han, kana and bopomofo: most words are one or two characters.
_EAST_ASIAN = Script(
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U000323af",
    1,
)
# Thai, Lao, Burmese, Khmer and the Tai scripts: letters and vowel signs, of which a syllable has several.
_SOUTH_EAST_ASIAN = Script(
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f\u1780-\u17d3"
    "\u17d7\u17dc\u17dd\u1950-\u1974\u1980-\u19c9\u1a20-\u1a7c\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f",
    2,
)
SCRIPTS = (_EAST_ASIAN, _SOUTH_EAST_ASIAN)

_FIRST = 0x0E01  # the least of these characters
RUN = re.compile("|".join(f"([{script.characters}]+)" for script in SCRIPTS))


class Runs(NamedTuple):
    """Runs of one script as symbols: run r is ``symbols[starts[r]:starts[r + 1]]``, document d's begin at a run."""

    script: Script
    symbols: AnyArray
    starts: IntArray
    doc_starts: IntArray
    alphabet: list[str]


def blank(text: str) -> str:
    """The text with spaces in place of its unspaced runs, as long as before.

    >>> blank("Pythonが好き")
    'Python   '
    """
    return RUN.sub(lambda run: " " * len(run[0]), text)


def find_unspaced(text: str) -> Iterator[tuple[int, Script]]:
    """Places of the characters of unspaced scripts."""
    for run in RUN.finditer(text):
        for place in range(*run.span()):
            yield place, SCRIPTS[int(run.lastindex or 1) - 1]


def split_unspaced(texts: Sequence[str]) -> tuple[Sequence[str], list[Runs]]:
    """Texts without the runs of unspaced scripts, and these runs, script by script."""
    with_runs = [i for i, text in enumerate(texts) if not text.isascii() and _may_have_runs(text) and RUN.search(text)]
    if not with_runs:
        return texts, []
    rest = list(texts)
    found: list[list[tuple[str, ...]]] = [[] for _ in texts]
    for i in with_runs:
        found[i] = RUN.findall(rest[i])
        rest[i] = blank(rest[i])
    return rest, [runs for kind, script in enumerate(SCRIPTS) if len((runs := _runs(script, kind, found)).symbols)]


def _may_have_runs(text: str) -> bool:
    """Whether the text goes beyond the alphabets with spaces; the expression takes many times as long to tell."""
    return bool(code_points(text).max() >= _FIRST)


def _runs(script: Script, kind: int, found: Sequence[Sequence[tuple[str, ...]]]) -> Runs:
    by_doc = [[run[kind] for run in runs if run[kind]] for runs in found]
    runs = [run for of_doc in by_doc for run in of_doc]
    codes = code_points("".join(runs))
    alphabet, symbols = np.unique(codes, return_inverse=True)
    return Runs(
        script,
        symbols.astype(np.int32),
        _ends(map(len, runs), len(runs)),
        _ends(map(len, by_doc), len(by_doc)),
        [chr(code) for code in alphabet.tolist()],
    )


def _ends(lengths: map[int], n: int) -> IntArray:
    ends = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=n), out=ends[1:])
    return ends

r"""Token patterns: the common ones as tables for a kernel, any other by the regular expression itself.

A pattern such as ``\b\w\w+\b`` or ``[a-z]{3,}`` finds the maximal runs of one class of characters that are long enough.
That needs no regular expression engine: a table says of each character whether it belongs, and a kernel reads the
bytes once.

Some patterns have names: what a word is in clean and in messy text.

========== ============================================================================================================
"words"    two letters or more, with the vowel signs and accents that belong to them; no digits
"all"      every run of letters, digits and ``_``, single ones too; each ``!``, ``?`` and emoji
"tweets"   as "all", with ``#hashtags``, ``@mentions``, words with apostrophes ("don't") and emoticons kept whole
========== ============================================================================================================

Unlike ``\w`` they hold words together that are written with marks, as those of Hindi, Tamil or vocalised Arabic are.
HTML entities ("&amp;") are read as what they stand for, and ’ as an apostrophe.

Runs of characters in scripts that put no spaces between words are read as overlapping n-grams. A dictionary for each
language could cut the runs into words; overlapping pairs of characters need none and classify about as well (for
Chinese: Li, Sun & Zhang 2006; for Japanese search engines have long done so).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, IntArray
from textbayes.text.packed import Packed, StringIndex, code_points, pack, pack_bytes

PATTERN_NAMES = ("words", "all", "tweets")

# Named or by number, at most 31 letters: as HTML has them. Without the semicolon "&copy=1" of an address would be one.
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_FLAG = "[\U0001f1e6-\U0001f1ff]{1,2}"
# Pictures, without the skin tones and joiners that vary them.
_EMOJI = (
    "[\u231a\u231b\u23e9-\u23f3\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_FIRST_EMOJI = 0x231A
_ALONE = f"[!?]|{_FLAG}|{_EMOJI}"
_EMOTICON = r"[:;=]['\-]?[()\[\]dp*|]|<3"
_LAST_MARK = 0x1E94A  # beyond it come variation selectors only
_NON_JOINER = "\u200c"  # stands between the parts of one word in Persian and in scripts of India


class NamedPattern(NamedTuple):
    """A named pattern: its regular expression, and what a kernel needs to find the same tokens.

    ``unit`` is the class of characters, ``least`` how many a token has, ``bounded`` whether other word characters spoil
    it, ``alone`` what is a token by itself whatever is next to it. ``unit`` is None where only ``re`` finds the tokens,
    and then ``in_ascii`` is a shorter expression, several times as fast, that finds the same in ASCII text.
    """

    expression: str
    in_ascii: str = ""
    unit: str | None = None
    least: int = 1
    bounded: bool = False
    alone: str | None = None


@lru_cache(maxsize=len(PATTERN_NAMES))
def named_pattern(name: str) -> NamedPattern | None:
    """The pattern of that name, or None where it is a regular expression of the user's."""
    if name not in PATTERN_NAMES:
        return None
    marks = _marks()
    word = rf"[\w{marks}]"
    if name == "words":
        letter = rf"(?:[^\W\d_]|[{marks}])"
        return NamedPattern(f"(?<!{word}){letter}{{2,}}(?!{word})", unit=letter, least=2, bounded=True)
    if name == "all":
        return NamedPattern(f"{word}+|{_ALONE}", unit=f"(?:{word}|{_ALONE})", alone=_ALONE)
    return NamedPattern(f"{_tweets(word)}|{_ALONE}", in_ascii=_tweets(r"\w") + "|[!?]")


def _tweets(word: str) -> str:
    return rf"{word}+(?:'{word}+)*|[#@]{word}+|{_EMOTICON}"


def token_expression(pattern: str) -> str:
    """The regular expression of a token pattern that may be a name."""
    named = named_pattern(pattern)
    return pattern if named is None else named.expression


def tidied(texts: Sequence[str]) -> Sequence[str]:
    """Texts with characters in place of the HTML entities that stand for them, and one kind of apostrophe.

    >>> tidied(["salt &amp; pepper don&#39;t", "AT&T don’t"])
    ["salt & pepper don't", "AT&T don't"]
    """
    return [(ENTITY.sub(_character, text) if "&" in text else text).replace("’", "'") for text in texts]


def set_apart(texts: Sequence[str], alone: str) -> list[str]:
    """Texts with spaces around all that is a token by itself, so that runs of characters end there."""
    find = re.compile(alone)
    return [
        text.replace("!", " ! ").replace("?", " ? ") if not _may_have_emoji(text) else find.sub(r" \g<0> ", text)
        for text in texts
    ]


def _may_have_emoji(text: str) -> bool:
    return not text.isascii() and bool(code_points(text).max() >= _FIRST_EMOJI)


def _character(entity: re.Match[str]) -> str:
    return html.unescape(entity[0])


@lru_cache(maxsize=1)
def _marks() -> str:
    """Ranges of the marks that are written with letters, for brackets of a regular expression."""
    codes = [code for code in range(0x300, _LAST_MARK + 1) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    codes = [code for code in codes if not 0xFE00 <= code <= 0xFE0F]  # choose how an emoji is drawn
    starts = [code for i, code in enumerate(codes) if not i or codes[i - 1] != code - 1]
    ends = [code for i, code in enumerate(codes) if i + 1 == len(codes) or codes[i + 1] != code + 1]
    return _NON_JOINER + "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


DEFAULT_PATTERN = r"(?u)\b\w\w+\b"

_SIMPLE = re.compile(
    r"(?:\(\?u\))?(?P<before>\\b)?(?P<unit>\\w|\[(?:[^\[\]\\]|\\.)+\])(?P<more>(?P=unit)*)(?:\+|\{(?P<least>\d+),\})(?P<after>\\b)?"
)
# Classes inside \w, so that \b on both sides asks for whole words: ASCII letters and digits, or \w less something.
_WITHIN_WORDS = re.compile(r"\\w|\[(?:a-z|A-Z|0-9|[A-Za-z0-9_])+\]|\[\^\\W.*\]")
_CODE_POINTS = 0x110000
_PAGE = 256
# The only characters that str.lower does not map one to one, whatever is around them: İ becomes two, Σ may be final.
_CONTEXTUAL = ("\u0130", "\u03a3")


class SlowTokenPatternWarning(UserWarning):
    """The token pattern is not one that the kernel reads, so Python's ``re`` finds the tokens, many times slower."""


class TokenRule(NamedTuple):
    """Tokens are the maximal runs of at least ``least`` characters of one class, whole words only if ``bounded``.

    Before it, spaces are put around what matches ``alone``.
    """

    unit: str
    least: int
    bounded: bool
    alone: str | None = None


class TextTokens(NamedTuple):
    """Tokens of some documents: ids in reading order, where each document's begin, and the token of each id."""

    ids: AnyArray
    doc_starts: IntArray
    names: Packed


def parse_pattern(pattern: str) -> TokenRule | None:
    r"""The rule that finds the same tokens as the pattern, or None if only ``re`` can.

    Known are ``C+``, ``C{n,}`` and ``CC+`` of a class C, which is ``\w`` or brackets, and the same between ``\b`` if C
    is within ``\w``: ``\w``, brackets of ASCII letters, digits and ``_``, or ``[^\W…]``. ``(?u)`` may come first. So
    are the names of :mod:`textbayes.text.tokenize`.

    >>> parse_pattern(r"(?u)\b\w\w+\b"), parse_pattern(r"\w+(?:-\w+)*")
    (TokenRule(unit='\\w', least=2, bounded=False, alone=None), None)
    """
    if not isinstance(pattern, str):
        raise InputError(f"token_pattern is a {type(pattern).__name__}; pass a regular expression as a str")
    named = named_pattern(pattern)
    if named is not None:
        return None if named.unit is None else TokenRule(named.unit, named.least, named.bounded, named.alone)
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:  # a{10**20}, and ((((…
        raise InputError(f"token_pattern={pattern[:100]!r} is not a regular expression: {error}") from error
    if compiled.groups > 1:
        raise InputError(
            f"token_pattern={pattern!r} captures {compiled.groups} groups; capture one at most, (?:…) for the others"
        )
    match = _SIMPLE.fullmatch(pattern)
    if match is None:
        return None
    unit = match["unit"]
    least = int(match["least"] or 1) + len(match["more"]) // len(unit)
    edges = (match["before"] is not None) + (match["after"] is not None)
    bounded = edges > 0 and unit != r"\w"  # a maximal run of \w has word boundaries on both sides anyway
    if bounded and (edges == 1 or not _WITHIN_WORDS.fullmatch(unit)):
        return None
    if least < 1 or re.match(unit, "\0"):  # the kernel marks separators by NUL
        return None
    return TokenRule(unit, least, bounded)


class CharacterTable:
    """Table of a rule's verdict on each code point, computed a page of 256 at a time when a text first needs it.

    ``kind`` is 0 for separators, 1 for characters of the class and 2 for word characters outside a bounded class;
    ``lower`` the character to write; ``fold`` both for one byte of ASCII text: 0, the lower-case letter, or 255.
    """

    def __init__(self, unit: str, bounded: bool, lowercase: bool) -> None:
        self._unit, self._bounded, self._lowercase = re.compile(unit), bounded, lowercase
        self._filled = np.zeros(_CODE_POINTS // _PAGE, dtype=np.bool_)
        self.kind = np.zeros(_CODE_POINTS, dtype=np.uint8)  # zeros are mapped, not written: unused pages cost nothing
        self.lower = np.zeros(_CODE_POINTS, dtype=np.int32)
        self._fill(0)
        ascii_kind = self.kind[:128]
        self.fold = np.zeros(256, dtype=np.uint8)
        self.fold[:128] = np.where(ascii_kind == 1, self.lower[:128], np.where(ascii_kind == 2, 255, 0))

    def cover(self, text: str) -> None:
        """Make sure of every character in the text. Threads may do so at once: each writes the same values."""
        pages = code_points(text) // _PAGE
        missing = ~self._filled[pages]
        if missing.any():
            for page in np.unique(pages[missing]).tolist():
                self._fill(page)

    def _fill(self, page: int) -> None:
        for code in range(page * _PAGE, (page + 1) * _PAGE):
            lowered = chr(code).lower() if self._lowercase else chr(code)
            self.lower[code] = ord(lowered[0])
            if self._unit.match(lowered):
                self.kind[code] = 1
            elif self._bounded and (lowered.isalnum() or lowered == "_"):
                self.kind[code] = 2
        self._filled[page] = True


@lru_cache(maxsize=32)
def character_table(unit: str, bounded: bool, lowercase: bool) -> CharacterTable:
    """The table of a rule, one for all texts of a process; the first costs about 0.1 ms."""
    return CharacterTable(unit, bounded, lowercase)


def tokenize(texts: Sequence[str], pattern: str, lowercase: bool) -> TextTokens:
    """Find and number the tokens of texts, as ``re.findall(pattern, text.lower())`` finds them.

    Parameters
    ----------
    texts : sequence of str
    pattern : str
        The regular expression of a token, or its name.
    lowercase : bool
        Whether texts are put in lower case.

    Examples
    --------
    >>> tokens = tokenize(["To be, or not to be"], DEFAULT_PATTERN, lowercase=True)
    >>> from textbayes.text.packed import unpack
    >>> tokens.ids.tolist(), unpack(tokens.names)
    ([0, 1, 2, 3, 0, 1], ['to', 'be', 'or', 'not'])
    """
    rule = parse_pattern(pattern)
    return _by_pattern(texts, pattern, lowercase) if rule is None else _by_rule(texts, rule, lowercase)


def prepared(texts: Sequence[str], rule: TokenRule, lowercase: bool) -> tuple[Packed, BoolArray, CharacterTable]:
    """Texts as the kernel of a rule reads them, which of them are ASCII, and the table of their characters."""
    table = character_table(rule.unit, rule.bounded, lowercase)
    if rule.alone is not None:
        texts = set_apart(texts, rule.alone)
    is_ascii = np.array([text.isascii() for text in texts], dtype=np.bool_)
    if not is_ascii.all():
        others = [i for i in range(len(texts)) if not is_ascii[i]]
        texts = list(texts)
        if lowercase:
            for i in others:
                if any(character in texts[i] for character in _CONTEXTUAL):
                    texts[i] = texts[i].lower()  # lower once more by the table changes nothing
        table.cover("".join([texts[i] for i in others]))
    return pack(texts), is_ascii, table


def _by_rule(texts: Sequence[str], rule: TokenRule, lowercase: bool) -> TextTokens:
    from textbayes.kernels.text.tokens import scan_words

    packed, is_ascii, table = prepared(texts, rule, lowercase)
    ids, n_ids, doc_starts, data, offsets, n_names = scan_words(
        packed.data, packed.offsets[1:], is_ascii, table.fold, table.kind, table.lower, rule.least, rule.bounded
    )
    names = Packed(data[: offsets[n_names]].copy(), offsets[: n_names + 1].copy())
    return TextTokens(ids[:n_ids].copy(), doc_starts, names)


def _by_pattern(texts: Sequence[str], pattern: str, lowercase: bool) -> TextTokens:
    named = named_pattern(pattern)
    find_all = re.compile(token_expression(pattern)).findall
    find_in_ascii = re.compile(named.in_ascii).findall if named is not None else find_all
    found: list[bytes] = []
    doc_starts = np.zeros(len(texts) + 1, dtype=np.int64)
    for i, text in enumerate(texts):
        find = find_in_ascii if text.isascii() else find_all
        found.extend(token.encode("utf-8", "surrogatepass") for token in find(text.lower() if lowercase else text))
        doc_starts[i + 1] = len(found)
    index = StringIndex()
    ids = index.add(pack_bytes(found))
    return TextTokens(ids, doc_starts, index.strings())


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

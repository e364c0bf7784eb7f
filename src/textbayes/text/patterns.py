r"""Token patterns that have names: what a word is in clean and in messy text.

========== ============================================================================================================
"words"    two letters or more, with the vowel signs and accents that belong to them; no digits
"all"      every run of letters, digits and ``_``, single ones too; each ``!``, ``?`` and emoji
"tweets"   as "all", with ``#hashtags``, ``@mentions``, words with apostrophes ("don't") and emoticons kept whole
========== ============================================================================================================

Unlike ``\w`` they hold words together that are written with marks, as those of Hindi, Tamil or vocalised Arabic are.
HTML entities ("&amp;") are read as what they stand for, and ’ as an apostrophe.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from textbayes.text.packed import code_points

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

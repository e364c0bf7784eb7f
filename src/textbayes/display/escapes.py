"""Texts of others as they are shown: control characters as escapes that can be read, and beginnings of long ones."""

from __future__ import annotations

import re

# C0 controls but for tab and line end, DEL, C1 controls, and what reverses the direction of the text that follows.
_STEERING = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
# Marks of direction, separators of lines, byte order marks, and halves of a character, which have no bytes in UTF-8.
_UNSEEN = "\u061c\u200e\u200f\u2028\u2029\ufeff\ud800-\udfff"
_CONTROLS, _ALL = (re.compile(f"[{codes}]|\r(?!\n)") for codes in (_STEERING, _STEERING + _UNSEEN))


def visible(text: str, unseen: bool = False) -> str:
    r"""The text with control characters written as escapes; tabs and line ends stay.

    With ``unseen`` so are others that cannot be seen: a label must not look like another.

    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return (_ALL if unseen else _CONTROLS).sub(lambda found: ascii(found[0])[1:-1], text)


def snippet(text: str, most: int) -> str:
    """The beginning of a text on one line, at most so many characters, cut at the end of a word where it has one.

    >>> snippet("corn\\n  and wheat", 10)
    'corn and …'
    """
    line = " ".join(text[: 20 * most].split())  # not all of a long text, which may be spaces
    if len(line) <= most and len(text) <= 20 * most:
        return line
    start = line[: most - 1]
    return f"{start.rpartition(' ')[0]} …" if " " in start else f"{start}…"

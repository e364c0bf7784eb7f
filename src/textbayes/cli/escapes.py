"""Control characters as escapes that can be read."""

from __future__ import annotations

import re

# C0 controls but for tab and line end, DEL, C1 controls, and what reverses the direction of the text that follows.
_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def visible(text: str) -> str:
    r"""The text with control characters written as escapes; tabs and line ends stay.

    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)

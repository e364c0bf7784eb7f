"""Memory that is available, and a refusal before more is asked for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from textbayes.core.errors import ModelFileError


def check_fits_memory(n_bytes: int, what: str) -> None:
    """Refuse what needs more memory than the machine has; a file can claim any size."""
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not a Unix: what is too much fails when it is asked for
        return
    if n_bytes > available:
        raise ModelFileError(
            f"{what} take {n_bytes / 2**30:,.1f} GiB, more than the {available / 2**30:,.1f} GiB of this machine; was "
            "the file altered, or is it meant for a larger machine?"
        )


_WORKING = [1 << 29]  # bytes


def working_memory() -> int:
    """Bytes that one thread of a fit may use for copies that only save time; results do not depend on it."""
    return _WORKING[0]


@contextlib.contextmanager
def limited_working_memory(n_bytes: int) -> Iterator[None]:
    """Let fits in this block use no more for such copies, in all threads."""
    before, _WORKING[0] = _WORKING[0], n_bytes
    try:
        yield
    finally:
        _WORKING[0] = before

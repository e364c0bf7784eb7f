"""Memory that is available, and a refusal before more is asked for."""

from __future__ import annotations

import os

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

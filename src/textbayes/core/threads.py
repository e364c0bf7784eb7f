"""Number of threads that ``n_jobs`` means."""

from __future__ import annotations

import numbers

from textbayes.core.errors import InputError
from textbayes.core.machine import n_cores


def n_threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``: None is 1, −1 all cores, −2 all but one."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise InputError(f"n_jobs={n_jobs!r} is not usable; pass a positive number, −1 for all cores or None for 1")
    return n_jobs if n_jobs > 0 else max(1, n_cores() + 1 + n_jobs)

"""Ctrl-C is known again inside of what compiled kernels raise."""

from __future__ import annotations

import pytest

from textbayes.core.errors import is_interrupt


def raised(*kinds):
    """An error that was caused by one of the next kind, and so on."""
    error = None
    for kind in reversed(kinds):
        new = kind("said")
        new.__cause__ = error
        error = new
    return error


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((KeyboardInterrupt,), True),
        ((SystemError, KeyboardInterrupt), True),
        ((SystemError, SystemError, KeyboardInterrupt), True),
        ((SystemError,), False),
        ((SystemError, ValueError), False),
        ((ValueError, KeyboardInterrupt), False),
    ],
)
def test_interrupts(kinds, expected):
    assert is_interrupt(raised(*kinds)) == expected

"""Where the large matrix products of a fit are made: on a graphics card or on the CPU."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from functools import cache
from typing import Any

from textbayes.core.errors import InputError, MissingExtraError
from textbayes.core.lazy import LazyModule
from textbayes.core.validation import check_choice

torch: Any = LazyModule("torch")

DEVICES = ("auto", "cpu", "cuda")
_DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


@cache
def cuda_is_there() -> bool:
    """Whether PyTorch is installed and has a card to use; without a driver it is not imported, which takes seconds."""
    if importlib.util.find_spec("torch") is None:
        return False
    try:
        ctypes.CDLL(_DRIVER)
    except OSError:
        return False
    return bool(torch.cuda.is_available())


def on_card(device: str) -> bool:
    """Whether a training with ``device`` "auto", "cpu" or "cuda" uses a card; "cuda" without one is refused."""
    check_choice("device", device, DEVICES)
    if device == "cuda" and importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch", "gpu", "device='cuda'")
    if device == "cuda" and not cuda_is_there():
        raise InputError(
            "device='cuda' needs a graphics card that PyTorch can use, and there is none here; check what "
            "torch.cuda.is_available() says, or use device='cpu'"
        )
    return device == "cuda" or (device == "auto" and cuda_is_there())

"""What this process may use of the machine: cores and memory, within the limits of its container.

``os.cpu_count()`` and /proc/meminfo are those of the whole machine. Linux limits a process by the control groups above
it (version 2, or the older version 1): its own group and every group that contains it. The smallest limit holds.
A graphics card is used where there is one and PyTorch is installed.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import math
import numbers
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from threading import get_ident
from typing import IO, Any

import numpy as np

from textbayes.core.errors import InputError, MissingExtraError, ModelFileError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import AnyArray
from textbayes.core.validation import check_choice

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def n_cores() -> int:
    """Cores that this process may use: those it may run on, and no more than its container's share of CPU time."""
    return min([_cores_to_run_on(), *_core_limits()])


def total_memory() -> int | None:
    """Bytes of memory of the machine, or of the container if that is less; None where the system does not say."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return min([machine, *(limit for limit, _ in _memory_limits())])
    return None  # not a Unix


def available_memory() -> int | None:
    """Bytes that a program can have without another giving up its own; None where the system does not say."""
    in_groups = [max(limit - used, 0) for limit, used in _memory_limits()]
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = (PROC / "meminfo").read_text(encoding="ascii").splitlines()
        free = int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) * 1024
        return min([free, *in_groups])
    total = total_memory()
    return None if total is None else min([total // 2, *in_groups])


def _cores_to_run_on() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13, which also reads $PYTHON_CPU_COUNT
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _core_limits() -> Iterator[int]:
    """Cores that CPU time is limited to, a part of one counted as one."""
    for folder in _groups(""):
        quota, _, period = _read(folder / "cpu.max").partition(" ")
        if quota.isdecimal() and period.isdecimal() and int(period) > 0:
            yield max(1, math.ceil(int(quota) / int(period)))
    for folder in _groups("cpu"):
        quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
        if quota.isdecimal() and period.isdecimal() and int(period) > 0:  # a quota of -1 is none
            yield max(1, math.ceil(int(quota) / int(period)))


def _memory_limits() -> Iterator[tuple[int, int]]:
    """Limits of memory, and what is used of each; files that were read and can be dropped do not count as used."""
    for controller, limit_name, used_name, file_name in (
        ("", "memory.max", "memory.current", "inactive_file"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        for folder in _groups(controller):
            limit, used = _read(folder / limit_name), _read(folder / used_name)
            if limit.isdecimal():
                statistics = dict(line.split(" ", 1) for line in _read(folder / "memory.stat").splitlines())
                files = statistics.get(file_name, "0")
                yield int(limit), max(int(used or 0) - int(files), 0)


def _groups(controller: str) -> Iterator[Path]:
    """Folders of the control groups of this process, its own first: of version 2, or of a controller of version 1."""
    for line in _read(PROC / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            root = GROUPS / controller if controller or not (GROUPS / "unified").is_dir() else GROUPS / "unified"
            folder = root / path.lstrip("/")
            # A container may see its own group as the root and yet be given the path outside: folders not there say
            # nothing, and the root is asked in any case.
            while folder != root and root in folder.parents:
                yield folder
                folder = folder.parent
            yield root


def _read(path: Path) -> str:
    """Contents of a small file; nothing where there is none, or where it may not be read."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def check_fits_memory(n_bytes: int, what: str) -> None:
    """Refuse what needs more memory than the machine has; a file can claim any size."""
    available = total_memory()  # where that is not known, what is too much fails when it is asked for
    if available is not None and n_bytes > available:
        raise ModelFileError(
            f"{what} take {n_bytes / 2**30:,.1f} GiB, more than the {available / 2**30:,.1f} GiB of this machine; was "
            "the file altered, or is it meant for a larger machine?"
        )


COPIED = 12  # bytes of a non-zero that is copied: its row and its value


class _Working:
    """How much memory copies may take, and the mapped files, one for each thread, of those that are larger."""

    def __init__(self, n_bytes: int, folder: Path | None) -> None:
        self.n_bytes, self.folder = n_bytes, folder
        self.files: dict[int, AnyArray] = {}


_WORKING = [_Working(1 << 29, None)]


def working_memory() -> int:
    """Bytes that one thread of a fit may use for copies that only save time; results do not depend on it."""
    return _WORKING[-1].n_bytes


@contextlib.contextmanager
def limited_working_memory(n_bytes: int, folder: Path | None = None) -> Iterator[None]:
    """Let fits in this block use no more for such copies, in all threads; larger ones are files in ``folder``."""
    _WORKING.append(_Working(n_bytes, folder))
    try:
        yield
    finally:
        _WORKING.pop()


def room_for_copy(n_nonzeros: int) -> tuple[AnyArray, AnyArray]:
    """Rows and values, to be filled in, of so many non-zeros: in memory, or in a mapped file if that is too much.

    Within a block of ``limited_working_memory`` a thread uses its file again: what an earlier call returned is
    overwritten.
    """
    working, size = _WORKING[-1], COPIED * n_nonzeros
    if size <= working.n_bytes:
        return np.empty(n_nonzeros, dtype=np.int32), np.empty(n_nonzeros)
    room = working.files.get(get_ident())
    if room is None or len(room) < size:
        folder = working.folder or Path(gettempdir())
        with TemporaryFile(dir=folder) as file:  # without a name: it ends with the array
            take_space(file, size, folder)
            room = np.asarray(np.memmap(file, np.uint8, "r+"))
        if working is not _WORKING[0]:  # outside of any block nothing would ever end it
            working.files[get_ident()] = room
    return room[8 * n_nonzeros : size].view(np.int32), room[: 8 * n_nonzeros].view(np.float64)


def take_space(file: IO[bytes], size: int, folder: Path) -> None:
    """Make a file of ``size`` bytes; a disk that fills up while a mapped file is written would end the process."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    except OSError as error:
        raise InputError(
            f"{folder} has no room for {size / 2**30:.2f} GiB ({error.strerror}); free some space, or name another "
            "folder with $TEXTBAYES_SHARDS (out of core) or $TMPDIR (in memory)"
        ) from error


def n_threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``: None is 1, −1 all cores, −2 all but one."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise InputError(f"n_jobs={n_jobs!r} is not usable; pass a positive number, −1 for all cores or None for 1")
    return n_jobs if n_jobs > 0 else max(1, n_cores() + 1 + n_jobs)


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

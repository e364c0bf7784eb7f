"""An action on a folder that is killed at its first step on the disk, at its second, and so on to its last."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

_KILLED, _FAILED = 77, 78
_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.link", "os.symlink"}


def killed_at_every_step(action: Callable[[Path], object], folder: Path, copies: Path) -> list[Path]:
    """Copies of a folder, each as an action leaves it whose process ends without warning before its k-th step.

    The last copy is that of the action that was let through. Steps are files opened to be written, renamed, removed,
    cut or waited for; of what is written without a buffer, half is. ``action`` gets the folder to work in.
    """
    left: list[Path] = []
    while True:
        copy = copies / str(len(left) + 1)
        if folder.exists():
            shutil.copytree(folder, copy)
        else:
            copy.parent.mkdir(exist_ok=True)
        left.append(copy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads in a process that forks
            child = os.fork()
        if child == 0:
            _act(action, copy, len(left))
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended == 0:
            return left
        if ended != _KILLED:
            raise AssertionError(f"the action failed by itself before step {len(left)} ({ended}); see above")


def _act(action: Callable[[Path], object], folder: Path, kill_at: int) -> None:
    """The child's life, which ends here."""
    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        return steps == kill_at

    def on_event(event: str, told: tuple[Any, ...]) -> None:
        opened = event == "open" and isinstance(told[2], int) and told[2] & (os.O_WRONLY | os.O_RDWR)
        if (opened or event in _CHANGES) and step():
            os._exit(_KILLED)

    write, fsync = os.write, os.fsync

    def torn_write(file: int, data: bytes) -> int:
        if step():
            write(file, data[: len(data) // 2])
            os._exit(_KILLED)
        return write(file, data)

    def killed_fsync(file: int) -> None:
        if step():
            os._exit(_KILLED)
        fsync(file)

    try:
        os.write, os.fsync = torn_write, killed_fsync  # type: ignore[assignment]
        sys.addaudithook(on_event)
        action(folder)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(_FAILED)

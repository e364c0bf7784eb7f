"""Files that commands write: refused before the work begins if they could not be written at its end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from textbayes.core.errors import InputError


def check_output(path: str | Path, inputs: Iterable[str | Path] = ()) -> Path:
    """Check the path of an output file, which it must be possible to make; ``inputs`` are files it must not replace."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a folder; name a file in it, such as {target / 'model.tb'}")
    if target.exists():
        if not target.is_file():
            # A device or a pipe would be replaced by an ordinary file.
            raise InputError(f"{target} is not an ordinary file; name another")
        if not os.access(target, os.W_OK):
            raise InputError(f"{target} is write-protected; name another file or change its permissions")
        for source in inputs:
            if os.path.exists(source) and os.path.samefile(source, target):
                raise InputError(f"{target} is read as input and would be replaced; name another file for the output")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({error.strerror}); choose a folder that exists and allows it"
        ) from error
    return target.resolve() if target.is_symlink() else target  # the link stays, what it points to is replaced

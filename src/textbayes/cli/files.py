"""Files that commands write: refused before the work begins if they could not be written, or would replace another."""

from __future__ import annotations

import glob
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from textbayes.core.atomic import output_path
from textbayes.core.errors import InputError

_STATE = re.compile(r"(log|records(-\d+)?)\.jsonl|words(-\d+)?\.tbw|config\.json|prior\.csv|lock|snapshots|inbox")
_PATHS = ("FILE", "FOLDER", "MODEL")  # in the metavar of an option whose value is the path of something


def check_output(path: str | Path, may_replace: str | Path | None = None) -> Path:
    """Check the path of an output file: it must be possible to make, and no other that the command was given.

    Whatever else the command at hand was told to read or to write is looked at by itself: its arguments, and the
    options that name files and folders.

    Parameters
    ----------
    path : path
        As the user gave it.
    may_replace : path, optional
        What the command may read and then replace.
    """
    target = output_path(path)
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError(f"{path} is write-protected; name another file or change its permissions")
    _check_apart(str(path), target, may_replace)
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); choose a folder that exists and allows it"
        ) from error
    return target if Path(path).is_symlink() else Path(path)


def _check_apart(given: str, target: Path, may_replace: str | Path | None) -> None:
    """Refuse a file that is named a second time, as an input or as another output, by whatever name."""
    named = list(_named_paths())
    own = [one for one in named if one[0] == given]
    own.sort(key=lambda one: isinstance(one[1], click.Argument))  # an output is an option, where it can be either
    for value, parameter in named:
        if (value, parameter) in own[:1] or (may_replace is not None and value == str(may_replace)):
            continue
        if os.path.isdir(value):
            # A folder of texts is read anew each time; of other folders their own files are named in the manuals.
            if target.is_relative_to(os.path.realpath(value)) and _holds(Path(value), target):
                raise InputError(f"{given} is a file of the folder {value}, which is in use; name one somewhere else")
        elif any(_is_same(target, one) for one in (glob.glob(value) if glob.has_magic(value) else [value])):
            raise InputError(
                f"{given} would replace {value}, which the command was given as {_called(parameter)} too; name another "
                "file for the output"
            )


def _named_paths() -> Iterator[tuple[str, click.Parameter]]:
    """Paths that the command at hand was given, with the argument or option of each."""
    context = click.get_current_context(silent=True)
    for parameter in [] if context is None else context.command.params:
        metavar = parameter.metavar or ""
        if isinstance(parameter, click.Argument) or any(one in metavar for one in _PATHS):
            for value in _flat(context.params.get(parameter.name or "")):  # type: ignore[union-attr]  # as above
                if value not in ("", "-"):
                    yield value, parameter


def _flat(value: Any) -> list[str]:
    if isinstance(value, (tuple, list)):
        return [one for part in value for one in _flat(part)]
    return [str(value)] if isinstance(value, (str, Path)) else []


def _called(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else "an input"


def _holds(folder: Path, target: Path) -> bool:
    """Whether a file belongs to what is read from a folder: a state that is kept there, or a folder of texts."""
    if not target.exists():
        return False
    inside = target.relative_to(os.path.realpath(folder))
    if (folder / "log.jsonl").exists():  # a filter or a screening
        return bool(_STATE.fullmatch(inside.parts[0]))
    return not zipfile.is_zipfile(target)  # a model that an earlier run wrote there is no text


def _is_same(target: Path, other: str) -> bool:
    """Whether two paths are of one file, which need not be there yet."""
    try:
        if target.exists() or os.path.exists(other):
            return os.path.samefile(target, other)
    except OSError:
        return False  # only one of them is there, or the other cannot be a file
    found = os.path.realpath(other)
    if os.path.normcase(target) == os.path.normcase(found):
        return True
    return str(target).casefold() == found.casefold() and _ignores_case(target.parent)


def _ignores_case(folder: Path) -> bool:
    """Whether names that differ in case are one name in a folder."""
    try:
        with tempfile.NamedTemporaryFile(prefix="textbayes", dir=folder) as made:
            return os.path.exists(folder / Path(made.name).name.swapcase())
    except OSError:
        return False

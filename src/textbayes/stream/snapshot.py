"""The files of a filter that are not its log: what it says of itself, and snapshots, each a zip of JSON and arrays.

They only save time: the newest sound one and the log after it give the state, and the first one and the whole log do
as well.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textbayes._version import __version__
from textbayes.core.errors import InputError, ModelFileError

if TYPE_CHECKING:
    from textbayes.core.types import AnyArray

FORMAT = "textbayes filter"
FORMAT_VERSION = 1
_SUFFIX = ".snapshot"
T = TypeVar("T")


def check_format(path: Path, told: Mapping[str, Any]) -> None:
    """Refuse what another program, or a later version of this one, wrote."""
    if told.get("format") != FORMAT or not isinstance(told.get("format_version"), int):
        raise ModelFileError(f"{path} is not of a textbayes filter")
    if told["format_version"] > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {told['format_version']}, written by textbayes {told.get('textbayes', '?')}; "
            f"this is textbayes {__version__}, which reads up to version {FORMAT_VERSION}: upgrade textbayes"
        )


def read_config(folder: Path) -> dict[str, Any]:
    """What a state folder says of itself; anything that is none is refused."""
    path = folder / "config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{folder} is not the folder of a filter; start one: textbayes filter {folder} --train labelled.jsonl"
        ) from None
    except (ValueError, OSError) as error:
        raise ModelFileError(f"{path} cannot be read ({error}); restore the folder from a copy") from error
    check_format(path, config if isinstance(config, dict) else {})
    return config


def format_mark() -> dict[str, Any]:
    """What the files of a filter say of themselves."""
    return {"format": FORMAT, "format_version": FORMAT_VERSION, "textbayes": __version__}


def write_snapshot(folder: Path, sequence: int, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Path:
    """Write the state after ``sequence`` entries of the log."""
    from textbayes.store.container import pack_arrays, write_container

    path = folder / f"{sequence:012d}{_SUFFIX}"
    described = json.dumps({**format_mark(), **meta}).encode()
    write_container(path, {"state.json": described, "arrays.safetensors": pack_arrays(arrays)}, deflate=False)
    return path


def read_meta(path: Path) -> dict[str, Any]:
    """The JSON part of a snapshot."""
    meta: dict[str, Any] = _guarded(path, lambda archive: json.loads(archive.read("state.json")))
    check_format(path, meta)
    return meta


def read_snapshot(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Both parts of a snapshot; a damaged one is refused."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = _guarded(path, lambda archive: load(archive.read("arrays.safetensors")))
    except SafetensorError as error:
        raise _damaged(path, error) from error
    return read_meta(path), arrays


def snapshots(folder: Path) -> list[Path]:
    """The snapshots there are, oldest first."""
    return sorted(folder.glob(f"*{_SUFFIX}"))


def newest(folder: Path, read: Callable[[Path], T]) -> tuple[T, list[str]]:
    """What ``read`` makes of the newest snapshot that is sound, and what was wrong with newer ones."""
    faults: list[str] = []
    for path in reversed(snapshots(folder)):
        try:
            return read(path), faults
        except ModelFileError as error:
            faults.append(str(error))
    cause = faults[-1] if faults else f"there is no snapshot in {folder}"
    raise ModelFileError(f"no snapshot of the filter can be read ({cause}); restore the folder from a copy")


def remove_old(folder: Path, n_newest: int) -> None:
    """Remove all but the first snapshot, where the log begins, and the newest."""
    for path in snapshots(folder)[1:-n_newest]:
        path.unlink(missing_ok=True)


def _guarded(path: Path, read: Callable[[zipfile.ZipFile], T]) -> T:
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            return read(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, KeyError) as error:
        raise _damaged(path, error) from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error


def _damaged(path: Path, error: Exception) -> ModelFileError:
    return ModelFileError(f"{path} is truncated or altered ({error})")

"""The files of a filter that are not its log: what it says of itself, and snapshots, each a zip of JSON and arrays.

See ``store.snapshots`` for what they are good for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray
from textbayes.store.container import open_container, read_container, read_marked_json, write_container
from textbayes.store.file_format import FileFormat
from textbayes.store.snapshots import snapshot_path

FILTER_FILE = FileFormat(
    "textbayes filter", version=1, noun="filter file", remedy="restore the folder from a copy", largest=256 << 20
)


def read_config(folder: Path) -> dict[str, Any]:
    """What a state folder says of itself; anything that is none is refused."""
    path = folder / "config.json"
    if not os.path.exists(path):
        raise InputError(
            f"{folder} is not the folder of a filter; start one: textbayes filter {folder} --train labelled.jsonl"
        )
    return read_marked_json(path, FILTER_FILE)


def read_columns(folder: Path) -> dict[str, Any] | None:
    """The columns of the file that a filter was started from (``data.layout.Columns.to_state``), if it had any."""
    from textbayes.categorizer.schema import SavedColumns  # loads pydantic
    from textbayes.core.saved import read_saved

    told = read_config(folder).get("columns")
    if told is None:
        return None
    path = folder / "config.json"
    with FILTER_FILE.damage(path):
        return read_saved(SavedColumns, told, path.name).model_dump()


def write_snapshot(folder: Path, sequence: int, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Path:
    """Write the state after ``sequence`` entries of the log."""
    path = snapshot_path(folder, sequence)
    write_container(path, FILTER_FILE, meta, arrays)
    return path


def read_meta(path: Path) -> dict[str, Any]:
    """The JSON part of a snapshot, as it is; see :func:`checked_meta`."""
    with open_container(path, FILTER_FILE) as container:
        return container.mark


def checked_meta(path: Path, meta: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The JSON part of a snapshot, read unless given, with every field checked."""
    from textbayes.stream.saved import check_state  # loads pydantic

    told = read_meta(path) if meta is None else meta
    with FILTER_FILE.damage(path):
        check_state(told)
    return told


def read_snapshot(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Both parts of a snapshot; a damaged one is refused."""
    return read_container(path, FILTER_FILE)

"""Decisions in JSON lines, as ``classify`` and ``evaluate --save-decisions`` write them, read back for ``compare``."""

from __future__ import annotations

import json
from typing import Any

from textbayes.cli.settings import warn
from textbayes.core.errors import InputError, MalformedFileError

Labels = tuple[str, ...]


def read_decisions(path: str) -> dict[str, Labels]:
    """The labels decided on for each document, by its id."""
    from textbayes.data.streams import read_lines

    found: dict[str, Labels] = {}
    for number, line in read_lines(path):
        if line.isspace():
            continue
        identity, labels = _row(line, path, number)
        if identity in found:
            raise MalformedFileError(path, f"id {identity!r} was used before; make ids unique", number)
        found[identity] = labels
    return found


def aligned(found: dict[str, Labels], ids: list[str], path: str, truth: str) -> list[Labels]:
    """The decisions in the order of the documents of ``truth``; one that is missing is refused."""
    missing = [identity for identity in ids if identity not in found]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(
            f"{path} has no decision for {missing[0]!r}{more} of {truth}; make sure that ids are the same in both"
        )
    if len(found) > len(ids):
        warn(f"{path} has {len(found) - len(ids):,} decisions on documents that are not in {truth}; they are left out")
    return [found[identity] for identity in ids]


def _row(line: str, path: str, number: int) -> tuple[str, Labels]:
    wanted = 'write one object a line, such as {"id": "1", "labels": ["sport"]}'
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedFileError(path, f"neither a model nor decisions in JSON lines; {wanted}", number) from None
    if not isinstance(row, dict) or not {"id", "labels"} <= row.keys():
        raise MalformedFileError(path, f"'id' and 'labels' are needed; {wanted}", number)
    labels = [row["labels"]] if isinstance(row["labels"], str) else row["labels"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise MalformedFileError(path, f"'labels' must be a string or a list of strings; {wanted}", number)
    return _identity(row["id"], path, number), tuple(labels)


def _identity(value: Any, path: str, number: int) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise MalformedFileError(path, "'id' must be a string or a whole number", number)
    return str(value)

"""Search for corpora: an explicit path, $TEXTBAYES_DATA, beside the checkout, the user's cache.

Tests and benchmarks find their corpora by the same rule, through :func:`textbayes.data.corpus_path`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textbayes.core.errors import CorpusNotFoundError
from textbayes.core.folders import cache_folder

if TYPE_CHECKING:
    from textbayes.data.catalogue import CorpusInfo

VARIABLE = "TEXTBAYES_DATA"


def data_home() -> Path:
    """The folder downloads go to: the first of $TEXTBAYES_DATA, or else the user's cache."""
    return next(_from_environment(), None) or cache_folder()


def search_folders() -> list[Path]:
    """Folders in which corpora are looked for, in this order.

    $TEXTBAYES_DATA (several folders are separated as in $PATH); ``shared/data`` beside the git checkout that the
    current folder belongs to, if it exists; the user's cache.
    """
    folders = list(_from_environment())
    here = Path.cwd()
    checkout = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    if checkout is not None and (beside := checkout.parent / "shared" / "data").is_dir():
        folders.append(beside)
    return [*folders, cache_folder()]


def find_in(folder: Path, info: CorpusInfo) -> Path | None:
    """The corpus in a folder: in one of its own name, or directly in it; None if no file of it is there."""
    for place in (*(folder / name for name in (info.name, *info.folders)), folder):
        if place.is_dir() and any(True for pattern in info.files for _ in place.glob(pattern)):
            return place
    return None


def find_corpus(info: CorpusInfo, path: str | os.PathLike[str] | None = None) -> Path | None:
    """Find the file or folder to read a corpus from, or None; an explicit path that holds no copy is refused."""
    if path is None:
        return next((found for folder in search_folders() if (found := find_in(folder, info))), None)
    place = Path(path)
    if place.is_file():
        return place
    found = find_in(place, info)
    if found is None:
        what = f"holds none of {', '.join(info.files)}" if place.exists() else "does not exist"
        raise CorpusNotFoundError(f"corpus {info.name!r}: {place} {what}; {info.advice}")
    return found


def not_found(info: CorpusInfo) -> CorpusNotFoundError:
    """The refusal that lists every place searched and what to do."""
    places = "; ".join(str(folder / (info.folders or (info.name,))[0]) for folder in search_folders())
    unset = "" if os.environ.get(VARIABLE) else f" (${VARIABLE} is not set)"
    wanted = " or ".join(info.files)
    return CorpusNotFoundError(
        f"corpus {info.name!r} was not found{unset}. Searched for {wanted} in: {places}. To get it: {info.advice}"
    )


def _from_environment() -> Iterator[Path]:
    value = os.environ.get(VARIABLE, "")
    yield from (Path(part).expanduser() for part in value.split(os.pathsep) if part)

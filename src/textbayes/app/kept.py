"""Files that save time at the next start: matrices of records, and what screenings have learnt.

They are in the user's cache, can go at any time, and are not believed: one that is damaged, or of another history than
the database has, counts as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from textbayes._version import __version__
from textbayes.core.errors import TextBayesError
from textbayes.core.folders import make_private_folder
from textbayes.core.types import AnyArray
from textbayes.screen import Collection, Screening
from textbayes.screen.folder import SCREEN_FILE
from textbayes.store.container import read_container, write_container


class KeptFiles:
    """Files of projects in a folder.

    Parameters
    ----------
    folder : Path or None
        None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            make_private_folder(folder)  # the words of records are in it

    def collection(self, project: str, names: Sequence[str], read: Callable[[], Collection]) -> Collection:
        """The matrix of a project's records: the one that was kept, or else made now and kept.

        Parameters
        ----------
        project : str
        names : sequence of str
            Ids of the records.
        read : callable
            Makes it.
        """
        if self._folder is None:
            return read()
        mark = hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()
        path = self._folder / f"{project}.words.tbw"
        with contextlib.suppress(TextBayesError):
            meta, arrays = read_container(path, SCREEN_FILE)
            if meta.get("mark") == mark:
                with SCREEN_FILE.damage(path):
                    found = Collection.from_state(meta, arrays)
                if found.ids == tuple(names):
                    return found
        made = read()
        meta, arrays = made.to_state()
        with contextlib.suppress(TextBayesError):  # a full disk costs time, not work
            write_container(path, SCREEN_FILE, {**meta, "mark": mark}, arrays)
        return made

    def keep(self, project: str, n_records: int, sequence: int, at: float, screening: Screening) -> None:
        """Keep what a screening has learnt up to an event, and when that happened."""
        if self._folder is None:
            return
        meta, arrays = screening.to_state()
        told = {**meta, "n_records": n_records, "sequence": sequence, "at": at}
        with contextlib.suppress(TextBayesError):
            write_container(self._folder / f"{project}.state.tbw", SCREEN_FILE, told, arrays)

    def newest(
        self, project: str, n_records: int, time_of: Callable[[int], float | None]
    ) -> tuple[int, dict[str, Any], dict[str, AnyArray]] | None:
        """What was kept of a project with so many records: up to which event, and the state; None if nothing fits."""
        if self._folder is None:
            return None
        with contextlib.suppress(TextBayesError):
            path = self._folder / f"{project}.state.tbw"
            meta, arrays = read_container(path, SCREEN_FILE)
            with SCREEN_FILE.damage(path):
                sequence = int(meta["sequence"])
                same_rules = meta["textbayes"] == __version__  # another version may learn otherwise
                if same_rules and meta["n_records"] == n_records and time_of(sequence) == meta["at"]:
                    return sequence, meta, arrays
        return None

    def remove(self, project: str) -> None:
        """Remove what was kept of a project."""
        for path in self._files(project):
            path.unlink(missing_ok=True)

    def _files(self, project: str) -> Iterator[Path]:
        if self._folder is not None:
            yield from (self._folder / f"{project}.{kind}.tbw" for kind in ("words", "state"))

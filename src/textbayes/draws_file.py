"""A Gibbs run that survives being interrupted: its state in one file, written whole after every round.

The file is safetensors (arrays) with a JSON description in its header; nothing in it is executed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray
from textbayes.inference.gibbs.running import Progress
from textbayes.store.atomic import atomic_write

_FORMAT = "textbayes gibbs run"


class Checkpoint:
    """Keeps the newest state of every label at ``path``; pass it to ``Gibbs`` both ways.

    >>> import tempfile
    >>> from textbayes.inference.gibbs import Gibbs
    >>> checkpoint = Checkpoint(Path(tempfile.mkdtemp()) / "run.safetensors")
    >>> inference = Gibbs(progress=checkpoint, resume=checkpoint.states())  # empty at first
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._states: dict[int, tuple[dict[str, Any], dict[str, AnyArray]]] = self._read()

    def states(self) -> dict[int, tuple[dict[str, Any], dict[str, AnyArray]]]:
        """The states by label; empty where there is no file yet."""
        return dict(self._states)

    def __call__(self, progress: Progress) -> None:
        """Write the state that a round ended in."""
        from safetensors.numpy import save

        self._states[progress.label] = progress.state()
        described = {str(label): meta for label, (meta, _) in self._states.items()}
        arrays = {
            f"{label}/{name}": np.ascontiguousarray(array)
            for label, (_, parts) in self._states.items()
            for name, array in parts.items()
        }
        header = {"format": _FORMAT, "version": "1", "state": json.dumps(described)}
        with atomic_write(self.path) as stream:
            stream.write(save(arrays, metadata=header))

    def _read(self) -> dict[int, tuple[dict[str, Any], dict[str, AnyArray]]]:
        from safetensors import SafetensorError, safe_open

        if not self.path.exists():
            return {}
        try:
            with safe_open(self.path, framework="np") as file:
                header = file.metadata() or {}
                if header.get("format") != _FORMAT or header.get("version") != "1":
                    raise ModelFileError(f"{self.path} is not a Gibbs run of this version; choose another file")
                described = json.loads(header["state"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dictionary
        except (SafetensorError, OSError, ValueError, KeyError) as error:
            raise ModelFileError(
                f"{self.path} cannot be read as a Gibbs run ({error}); delete it to start anew"
            ) from error
        states = {}
        for label, meta in described.items():
            start = f"{label}/"
            parts = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
            states[int(label)] = (meta, parts)
        return states

"""Answers that a second run need not compute again: peers always say the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import platformdirs
import sklearn

import _peers
import _thresholds
import _views
from _peers import Answer
from textbayes.core.atomic import atomic_write


def remembered(
    name: str, given: Iterable[bytes], compute: Callable[[], dict[str, Answer]], fresh: bool = False
) -> dict[str, Answer]:
    """Answers of the peers from the user's cache folder; computed if they are not there.

    Parameters
    ----------
    name : str
        Of what is answered.
    given : iterable of bytes
        Texts, labels and rows. Other ones, other code of the peers or another scikit-learn are computed anew.
    compute : function
    fresh : bool
        Compute in any case.
    """
    digest = hashlib.sha256(sklearn.__version__.encode())
    for module in (_peers, _thresholds, _views):
        digest.update(Path(str(module.__file__)).read_bytes())
    for part in given:
        digest.update(len(part).to_bytes(8, "little") + part)
    folder = platformdirs.user_cache_path("textbayes") / "benchmarks"
    file = folder / f"{name}-{digest.hexdigest()[:16]}.npz"
    if fresh or not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {}
        for peer, answer in compute().items():
            arrays[f"decisions/{peer}"] = answer.decisions
            if answer.proba is not None:
                arrays[f"proba/{peer}"] = answer.proba.astype(np.float32)
        with atomic_write(file) as stream:
            np.savez_compressed(stream, **arrays)
    with np.load(file) as stored:
        parts = {key: stored[key] for key in stored.files}
    peers = [key.removeprefix("decisions/") for key in parts if key.startswith("decisions/")]
    return {peer: Answer(parts[f"decisions/{peer}"], parts.get(f"proba/{peer}")) for peer in peers}

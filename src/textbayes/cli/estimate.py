"""``train --estimate``: what a training will need, and whether this machine has it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from textbayes.cli.inputs import Inputs, require_documents
from textbayes.cli.labelled import read_labelled
from textbayes.cli.labelling import Labelling
from textbayes.cli.output import Output, console
from textbayes.cli.settings import note
from textbayes.core.errors import InputError
from textbayes.core.threads import n_threads

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.scale.estimate import Estimate


def print_estimate(
    model: TextCategorizer, inputs: Inputs, labelling: Labelling, out_of_core: bool, output: Output
) -> None:
    """Print what training will need; refuse, with advice, what this machine does not have.

    Parameters
    ----------
    model : TextCategorizer
        Not fitted.
    inputs : Inputs
    labelling : Labelling
    out_of_core : bool
    output : Output
    """
    from textbayes.scale.estimate import available_memory, estimate, free_disk, sample

    start = time.perf_counter()
    kept, total, _ = sample(inputs.documents())
    require_documents(kept, inputs)
    reading = time.perf_counter() - start
    least = max(round(labelling.min_texts * len(kept) / total), 1)  # as rare in the sample as in all texts
    given = read_labelled(inputs, replace(labelling, min_texts=least), kept, total)
    total = round(total * len(given.documents) / len(kept))

    def train(n_docs: int) -> int:
        own = clone(model)
        if not out_of_core:
            own.fit(given.texts[:n_docs], given.labels[:n_docs])
            return 0
        from textbayes.scale.out_of_core import fit_out_of_core, vectorizer_of
        from textbayes.scale.text_shards import TextShards

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shards = TextShards.build(given.documents[:n_docs], vectorizer_of(own), folder / "shards")
            fit_out_of_core(own, shards, given.labels[:n_docs], folder)
            size = shards.counts.nbytes()
            # The columns of one fit beside the shards: 12 bytes a word where these have 8, and the labels; and as much
            # for the copies that each thread makes of them.
            return int((2.5 + 1.5 * n_threads(own.n_jobs)) * size)

    note(f"trying on some of {total:,} documents")
    found = estimate(train, len(given.documents), total, reading, n_fits=_n_fits(model, out_of_core))
    memory, disk = available_memory(), _disk_there(out_of_core, free_disk)
    row = _row(found, memory, disk, out_of_core)
    if output.is_table:
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        for name, value in row.items():
            table.add_row(name.replace("_", " "), str(value))
        console().print(table)
    else:
        output.write([row], list(row))
    _refuse(found, memory, disk, out_of_core)


def _n_fits(model: TextCategorizer, out_of_core: bool) -> Callable[[int], float]:
    """How many fits a training on so many documents is worth: automatic ones hold out fewer folds of many."""
    from textbayes.categorizer.plan import fits_to_all
    from textbayes.categorizer.prepare import uses_auto

    if out_of_core or not uses_auto(model):
        return lambda _: 1.0  # as many of any number
    return lambda n_docs: fits_to_all(n_docs, model.cv, model.budget)


def _disk_there(out_of_core: bool, free_disk: Any) -> int | None:
    from textbayes.scale.cache import shards_folder

    return int(free_disk(shards_folder())) if out_of_core else None


def _row(found: Estimate, memory: int | None, disk: int | None, out_of_core: bool) -> dict[str, Any]:
    largest, seconds = found.tried[-1]
    row: dict[str, Any] = {
        "documents": found.documents,
        "out_of_core": out_of_core,
        "seconds": round(found.seconds, 1),
        "memory_gib": round(found.memory / 2**30, 2),
        "memory_available_gib": None if memory is None else round(memory / 2**30, 2),
        "disk_gib": round(found.disk / 2**30, 3),
    }
    if disk is not None:
        row["disk_free_gib"] = round(disk / 2**30, 2)
    tried = {"tried_documents": largest, "tried_seconds": round(seconds, 2)}
    return row | {"power_of_documents": round(found.power, 2)} | tried


def _refuse(found: Estimate, memory: int | None, disk: int | None, out_of_core: bool) -> None:
    """Refuse what will not fit, and say what to do."""
    if memory is not None and found.memory > memory:
        way = "take fewer documents, or use a larger machine or a cluster (--cluster)"
        if not out_of_core:
            way = "train with --out-of-core, or take fewer documents"
        needed, there = found.memory / 2**30, memory / 2**30
        raise InputError(f"training will take about {needed:.1f} GiB of memory and {there:.1f} are available; {way}")
    if disk is not None and found.disk > disk:
        needed, there = found.disk / 2**30, disk / 2**30
        raise InputError(
            f"training will take about {needed:.1f} GiB of disk and {there:.1f} are free; free some, or name another "
            "folder with $TEXTBAYES_SHARDS"
        )

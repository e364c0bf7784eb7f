"""``train`` with large inputs: out of core, and an estimate of what a training needs."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from sklearn.base import clone

from textbayes.categorizer.encoders import chosen_encoder
from textbayes.categorizer.plan import fits_to_all
from textbayes.categorizer.prepare import uses_auto
from textbayes.categorizer.reading import language_of
from textbayes.cli.inputs import Inputs, groups_of, require_documents
from textbayes.cli.labels import LabelledTexts, Labelling, label_tree_for, read_labelled
from textbayes.cli.options import TextChoices
from textbayes.cli.output import Output, console
from textbayes.cli.terminal import note, reporting, warn
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.machine import n_threads
from textbayes.core.types import Document
from textbayes.data import read_parents
from textbayes.scale import estimate as estimating
from textbayes.scale.out_of_core import check_supported, fit_out_of_core, vectorizer_of
from textbayes.scale.shards import Shards, folder_for, scratch_folder, shards_folder
from textbayes.scale.text_shards import TextShards
from textbayes.text.languages import load_stop_words
from textbayes.text.surface import surface_forms

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.scale.estimate import Estimate

_TASK = "task.json"
_TEXTS_FOR_FORMS = 2_000


def chosen_place(model: TextCategorizer, inputs: Inputs, asked: bool | None) -> bool:
    """Whether to train out of core: as the user asked, or where the input would not fit into memory.

    Automatic training is refused where the input does not fit: it needs all texts in memory.

    Parameters
    ----------
    model : TextCategorizer
        Not fitted.
    inputs : Inputs
    asked : bool or None
    """

    why = None if asked is not None or inputs.corpus is not None else estimating.too_large(inputs.paths)
    if not (asked or why):
        return False

    if uses_auto(model) and why:
        raise InputError(
            f"{why}, and automatic training needs all texts in memory; train with --preset linear --out-of-core, or "
            "try it all the same with --in-memory"
        )
    try:
        check_supported(model)
    except NotSupportedError as error:
        if asked:
            raise
        warn(f"{why}, and what was asked for cannot be done out of core ({error}); memory may run out")
        return False
    if why:
        note(f"{why}: training is out of core (--in-memory does it in memory all the same)")
    return True


def fit_from_shards(
    model: TextCategorizer, inputs: Inputs, labelling: Labelling, group_field: str | None, text: TextChoices
) -> LabelledTexts:
    """Read documents into shards, unless an earlier run has, and train from these; documents come without texts.

    Parameters
    ----------
    model : TextCategorizer
    inputs : Inputs
    labelling : Labelling
    group_field : str or None
    text : TextChoices
    """

    if "-" not in inputs.paths:  # which can be read once only
        language = language_of([one.text for one in islice(inputs.documents(count=False), _TEXTS_FOR_FORMS)])
        text = text.of_counted_words() if inputs.counted else text
        if language.name != "english" or inputs.counted:
            model.vectorizer = text.vectorizer(language)
    vectorizer = vectorizer_of(model)
    words = vectorizer.get_params() | {"stop_words": load_stop_words(vectorizer.stop_words)}
    settings = {
        "words": words, "labels": _plain(labelling), "format": inputs.format, "options": inputs.options,
        "duplicates": inputs.duplicates,
    }  # fmt: skip
    paths = () if inputs.corpus is not None else inputs.paths
    with folder_for(paths, settings) as folder, scratch_folder() as scratch:
        documents: Iterable[Document] = ()
        first: list[str] = []
        if Shards(folder / "counts").is_complete:
            note(f"the words of {inputs.name} were read before, into {folder}")
        else:
            documents = _keeping(inputs.documents(count=False), first)

        def choose(documents: Iterator[Document]) -> tuple[Any, list[tuple[str, ...]]]:
            numbered = [document._replace(text=str(number)) for number, document in enumerate(documents)]
            given = read_labelled(inputs, labelling, numbered)
            _remember_task(folder, given)
            return np.array([int(one.text) for one in given.documents]), [one.labels for one in given.documents]

        with reporting() as progress:
            shards = TextShards.build(documents, vectorizer, folder, choose, progress)
            stored = list(shards.documents())
            one_label = json.loads((folder / _TASK).read_bytes())["one_label"]
            labels: Any = [document.labels[0] if one_label else document.labels for document in stored]
            model.label_tree = label_tree_for(labelling, labels)
            groups = groups_of(stored, group_field, inputs)
            fit_out_of_core(model, shards, labels, scratch, progress, groups)
        if not first and "-" not in inputs.paths:  # read in an earlier run
            first = [document.text for document in islice(inputs.documents(count=False), _TEXTS_FOR_FORMS)]
        model.surface_ = surface_forms(first, model.vectorizer_)
        if paths and "-" not in paths:
            size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
            stay = f"its shards are stored in {folder} ({size / 2**20:,.0f} MiB) for the next training"
            note(f"{stay}; remove them at will")
    return LabelledTexts(stored, labels)


def _keeping(documents: Iterator[Document], texts: list[str]) -> Iterator[Document]:
    """Documents as they come, with the texts of the first ones stored: these tell how stems are shown."""
    for document in documents:
        if len(texts) < _TEXTS_FOR_FORMS:
            texts.append(document.text)
        yield document


def _remember_task(folder: Path, given: LabelledTexts) -> None:
    with atomic_write(folder / _TASK) as stream:
        stream.write(json.dumps({"one_label": bool(given.labels) and isinstance(given.labels[0], str)}).encode())


def _plain(labelling: Labelling) -> dict[str, Any]:
    tree = None if labelling.label_tree is None else read_parents(labelling.label_tree)  # not the name of its file
    return {**vars(labelling), "missing": sorted(labelling.missing), "label_tree": tree}


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

    start = time.perf_counter()
    sample, total, _ = estimating.sample(inputs.documents())
    require_documents(sample, inputs)
    reading = time.perf_counter() - start
    if inputs.counted and model.vectorizer is None:
        model.vectorizer = TextChoices((), None).of_counted_words().vectorizer()
    least = max(round(labelling.min_texts * len(sample) / total), 1)  # as rare in the sample as in all texts
    given = read_labelled(inputs, replace(labelling, min_texts=least), sample, total)
    total = round(total * len(given.documents) / len(sample))

    encoder = chosen_encoder(model, given.texts, total) if uses_auto(model) and not out_of_core else None

    def train(n_docs: int) -> int:
        own = clone(model).set_params(encoder="off")
        if not out_of_core:
            own.fit(given.texts[:n_docs], given.labels[:n_docs])
            return 0

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shards = TextShards.build(given.documents[:n_docs], vectorizer_of(own), folder / "shards")
            fit_out_of_core(own, shards, given.labels[:n_docs], folder)
            size = shards.counts.nbytes()
            # The columns of one fit beside the shards: 12 bytes a word where these have 8, and the labels; and as much
            # for the copies that each thread makes of them.
            return int((2.5 + 1.5 * n_threads(own.n_jobs)) * size)

    note(f"trying on some of {total:,} documents")
    found = estimating.estimate(train, len(given.documents), total, reading, n_fits=_n_fits(model, out_of_core))
    memory, disk = estimating.available_memory(), _disk_there(out_of_core, estimating.free_disk)
    row = _row(found, memory, disk, out_of_core)
    if encoder is not None and encoder.given is not None:
        row |= {"encoder_networks": encoder.n_networks, "encoder_seconds": round(encoder.seconds, 1)}
    if output.is_table:
        table = Table.grid(padding=(0, 2))
        for name, value in row.items():
            table.add_row(name.replace("_", " "), str(value))
        console().print(table)
    else:
        output.write([row], list(row))
    _refuse(found, memory, disk, out_of_core)


def _n_fits(model: TextCategorizer, out_of_core: bool) -> Callable[[int], float]:
    """How many fits a training on so many documents is worth: automatic ones hold out fewer folds of many."""

    if out_of_core or not uses_auto(model):
        return lambda _: 1.0  # as many of any number
    return lambda n_docs: fits_to_all(n_docs, model.cv, model.budget)


def _disk_there(out_of_core: bool, free_disk: Any) -> int | None:
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

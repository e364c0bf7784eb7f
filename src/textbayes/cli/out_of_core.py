"""Training with texts and matrix in files: ``train --out-of-core``, and where the input would not fit into memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textbayes.cli.groups import groups_of
from textbayes.cli.inputs import Inputs
from textbayes.cli.labelled import Labelled, read_labelled
from textbayes.cli.labelling import Labelling
from textbayes.cli.progress import reporting
from textbayes.cli.settings import note, warn
from textbayes.core.errors import NotSupportedError
from textbayes.core.types import Document

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer

_TASK = "task.json"
_TEXTS_FOR_FORMS = 2_000


def chosen_place(model: TextCategorizer, inputs: Inputs, asked: bool | None) -> bool:
    """Whether to train out of core: as the user asked, or where the input would not fit into memory.

    A model that is to choose by itself takes the preset that is trained out of core.

    Parameters
    ----------
    model : TextCategorizer
        Not fitted.
    inputs : Inputs
    asked : bool or None
    """
    from textbayes.scale.estimate import too_large

    why = None if asked is not None or inputs.corpus is not None else too_large(inputs.paths)
    if not (asked or why):
        return False
    from textbayes.categorizer.prepare import uses_auto
    from textbayes.scale.out_of_core import check_supported

    if uses_auto(model):
        note("out of core the words are read in one view, so --preset linear is used")
        model.set_params(preset="linear")
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


def fit_from_shards(model: TextCategorizer, inputs: Inputs, labelling: Labelling, group_field: str | None) -> Labelled:
    """Read documents into shards, unless an earlier run has, and train from these; documents come without texts.

    Parameters
    ----------
    model : TextCategorizer
    inputs : Inputs
    labelling : Labelling
    group_field : str or None
    """
    from textbayes.scale.cache import folder_for, scratch_folder
    from textbayes.scale.out_of_core import fit_out_of_core, vectorizer_of
    from textbayes.scale.shards import Shards
    from textbayes.scale.text_shards import TextShards
    from textbayes.text.languages import load_stop_words
    from textbayes.text.surface import surface_forms

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
            kept = list(shards.documents())
            one_label = json.loads((folder / _TASK).read_bytes())["one_label"]
            labels: Any = [document.labels[0] if one_label else document.labels for document in kept]
            groups = groups_of(kept, group_field, inputs)
            fit_out_of_core(model, shards, labels, scratch, progress, groups)
        if not first and "-" not in inputs.paths:  # read in an earlier run
            first = [document.text for document in islice(inputs.documents(count=False), _TEXTS_FOR_FORMS)]
        model.surface_ = surface_forms(first, model.vectorizer_)
        if paths and "-" not in paths:
            size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
            note(
                f"its shards are kept in {folder} ({size / 2**20:,.0f} MiB) for the next training; remove them at will"
            )
    return Labelled(kept, labels)


def _keeping(documents: Iterator[Document], texts: list[str]) -> Iterator[Document]:
    """Documents as they come, with the texts of the first ones kept: these tell how stems are shown."""
    for document in documents:
        if len(texts) < _TEXTS_FOR_FORMS:
            texts.append(document.text)
        yield document


def _remember_task(folder: Path, given: Labelled) -> None:
    from textbayes.core.atomic import atomic_write

    with atomic_write(folder / _TASK) as stream:
        stream.write(json.dumps({"one_label": bool(given.labels) and isinstance(given.labels[0], str)}).encode())


def _plain(labelling: Labelling) -> dict[str, Any]:
    return {**vars(labelling), "missing": sorted(labelling.missing)}

"""Scores of partitions: one Parquet file for each, written whole or not at all, each once, and resumed where it ended.

A manifest in the folder says of which model, settings and inputs the scores are. What is finished is known by its file,
which appears when it is complete; a partition that is given out again, since its worker died, takes its own place only.

Arrow batches are scored inside DuckDB, Spark, Polars or whatever else hands them out and takes them back.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.core.executor import Executor
from textbayes.core.progress import Progress, silent
from textbayes.core.types import Document
from textbayes.data.formats._fields import FieldReader
from textbayes.scale.partitions import FilePartition
from textbayes.store import load_categorizer
from textbayes.store.container import read_json
from textbayes.store.lock import replacing

if TYPE_CHECKING:
    import pyarrow

    from textbayes.categorizer import TextCategorizer

MANIFEST = "textbayes-scores.json"
_BATCH = 4_096  # documents scored at a time


class Scored(NamedTuple):
    """Outcome of scoring: partitions in all, those that were finished before, and documents scored now."""

    partitions: int
    finished_before: int
    documents: int


def score_partitions(
    model_file: str | Path, partitions: Sequence[FilePartition], folder: str | Path, executor: Executor,
    guess: bool = False, progress: Progress | None = None,
) -> Scored:  # fmt: skip
    """Score partitions into a folder; those that it has already are passed over.

    Parameters
    ----------
    model_file : path
    partitions : sequence of FilePartition
        See ``make_partitions``.
    folder : path
        Made if need be; workers must see it under the same name.
    executor : Executor
    guess : bool
        As for ``score_arrow``.
    progress : Progress, optional
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "writing Parquet files") from None
    model = load_categorizer(model_file)
    folder, report = Path(folder).absolute(), progress or silent
    names = [_output_name(number, one.name) for number, one in enumerate(partitions)]
    manifest = {
        "format": "textbayes scores",
        "version": 1,
        "model": hashlib.sha256(Path(model_file).read_bytes()).hexdigest(),
        "settings": {"guess": guess, **{key: str(value) for key, value in partitions[0].options.items()}},
        "partitions": [
            {"input": one.name, "state": one.state(), "output": name}
            for one, name in zip(partitions, names, strict=True)
        ],
    }
    with replacing(folder, lambda: report("waiting for another process", 0, 1), needed=False):
        _begin(folder, manifest, model_file)
        missing = [
            (one, folder / name) for one, name in zip(partitions, names, strict=True) if not (folder / name).exists()
        ]
        before, n_documents = len(partitions) - len(missing), 0
        report("partitions", before, len(partitions))
        for number, n in enumerate(executor.map(_score, missing, model, guess), start=1):
            n_documents += n
            report("partitions", before + number, len(partitions))
        for left in folder.glob(".*.parquet.*.tmp"):  # by workers that were killed
            left.unlink(missing_ok=True)
    return Scored(len(partitions), before, n_documents)


def _begin(folder: Path, manifest: dict[str, Any], model_file: str | Path) -> None:
    """Write the manifest of a new folder, or see that the one there is of the same model and inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    if not path.exists():
        if any(folder.iterdir()):
            raise InputError(f"{folder} holds other files and no {MANIFEST}; name a folder that is new or empty")
        with atomic_write(path) as stream:
            stream.write(json.dumps(manifest, indent=1).encode())
        return
    found = read_json(path.read_bytes(), str(path))
    start_anew = "remove it to score anew, or name another folder"
    if (
        not isinstance(found, dict)
        or found.get("format") != manifest["format"]
        or found.get("version") != manifest["version"]
    ):
        raise InputError(f"{path} is not a manifest that this version of textbayes wrote; {start_anew}")
    if found.get("model") != manifest["model"]:
        raise InputError(f"{folder} holds scores by another model than {model_file}; {start_anew}")
    if found.get("settings") != manifest["settings"]:
        raise InputError(f"{folder} holds scores with other settings ({found.get('settings')}); {start_anew}")
    if found.get("partitions") != manifest["partitions"]:
        known = {one["input"]: one["state"] for one in found.get("partitions", [])}
        changed = [one["input"] for one in manifest["partitions"] if known.get(one["input"]) != one["state"]]
        which = changed[0] if changed else "the list of files"
        raise InputError(f"{folder} holds scores of other inputs: {which} is new or has changed; {start_anew}")


def _output_name(number: int, name: str) -> str:
    """Name of a partition's scores: its number, so that none is met twice, and its own name.

    >>> _output_name(7, "s3://news/part 7.parquet")
    '00007-part_7.parquet'
    """
    stem = re.sub(r"\W+", "_", name.rstrip("/").rpartition("/")[2].partition(".")[0])[:80]
    return f"{number:05d}-{stem}.parquet"


# -- what workers do --------------------------------------------------------------------------------------------------
def _score(work: tuple[FilePartition, Path], model: TextCategorizer, guess: bool) -> int:
    """Score one partition into its file, and return the number of its documents."""
    import pyarrow as pa
    from pyarrow import parquet

    partition, path = work
    schema = arrow_schema(model, pa.schema([("id", pa.string())]))
    n_documents = 0
    with atomic_write(path) as stream, parquet.ParquetWriter(stream, schema) as writer:
        for batch in _batches(partition.documents()):
            columns = score_columns(model, [one.text for one in batch], guess)
            values = [[one.id for one in batch], *columns.values()]
            arrays = [pa.array(value, field.type) for value, field in zip(values, schema, strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
            n_documents += len(batch)
    return n_documents


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


Data = TypeVar("Data", bound="pyarrow.RecordBatch | pyarrow.Table")


def score_arrow(model: TextCategorizer, data: Data, text_field: Any = None, guess: bool = False) -> Data:
    """An Arrow batch or table with labels and probabilities of its texts as further columns.

    The columns are ``labels``, lists of the labels decided on; ``unsure``, where the model's rule leaves some to
    people; ``known_words``, how many of its words the model knows; and ``p_…``, the probability of each label. Ours
    that the data has too are named ``textbayes_…``.

    Parameters
    ----------
    model : TextCategorizer
        Fitted.
    data : pyarrow.RecordBatch or pyarrow.Table
    text_field : str or sequence of str, optional
        The columns of the text, several joined; found as in files if not given.
    guess : bool
        Give texts without a known word labels too: those that any such text would have.
    """
    pa = _pyarrow()
    names = FieldReader("the Arrow data", text_field=text_field).choose(data.schema.names).text
    columns = [data.column(name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if not _is_text(pa, column.type):
            raise InputError(f"column {name!r} holds {column.type}; a text is a string: name its column as text_field")
    parts = [column.to_pylist() for column in columns]
    texts = ["\n".join(part for part in row if part) for row in zip(*parts, strict=True)]
    found = score_columns(model, texts, guess)
    schema = arrow_schema(model, data.schema)
    arrays = [pa.array(found[name], type) for name, type in _fields(pa, model)]
    return type(data).from_arrays([*data.columns, *arrays], schema=schema)


def score_batches(
    model: TextCategorizer, batches: Iterable[Any], text_field: Any = None, guess: bool = False
) -> Iterator[Any]:
    """Arrow batches with labels and probabilities, one by one as they come; see :func:`score_arrow`.

    Parameters
    ----------
    model : TextCategorizer
    batches : iterable of pyarrow.RecordBatch
        A ``pyarrow.RecordBatchReader`` is one.
    text_field, guess
        As for :func:`score_arrow`.
    """
    return (score_arrow(model, batch, text_field, guess) for batch in batches)


def arrow_schema(model: TextCategorizer, schema: Any = None) -> Any:
    """The schema of batches after :func:`score_arrow`; without one given, of the columns that are ours alone.

    Parameters
    ----------
    model : TextCategorizer
    schema : pyarrow.Schema, optional
        Of the batches as they come.
    """
    pa = _pyarrow()
    taken = set() if schema is None else set(schema.names)
    ours = [pa.field(f"textbayes_{name}" if name in taken else name, type) for name, type in _fields(pa, model)]
    return pa.schema([*([] if schema is None else schema), *ours])


def score_columns(model: TextCategorizer, texts: list[str], guess: bool = False) -> dict[str, Any]:
    """Labels, probabilities and numbers of known words of texts, by name of the column.

    Parameters
    ----------
    model : TextCategorizer
    texts : list of str
    guess : bool
        As for :func:`score_arrow`.
    """
    space = model.label_space_
    if not texts:
        return {name: [] for name in _names(model)}
    found = model.assess(texts)
    known = np.asarray(found.known_words)
    labels = [list(row) if guess or n else [] for row, n in zip(space.decode(found.decisions), known, strict=True)]
    columns: dict[str, Any] = {"labels": labels}
    if hasattr(model.rule_, "unsure"):
        left = model.rule_.unsure(found.proba)
        columns["unsure"] = [[space.column_names[k] for k in np.flatnonzero(row)] for row in left]
    columns["known_words"] = known
    proba = space.both_columns(found.proba)
    return columns | {f"p_{name}": proba[:, k] for k, name in enumerate(space.class_names)}


def _names(model: TextCategorizer) -> list[str]:
    unsure = ["unsure"] if hasattr(model.rule_, "unsure") else []
    return ["labels", *unsure, "known_words", *(f"p_{name}" for name in model.label_space_.class_names)]


def _fields(pa: Any, model: TextCategorizer) -> list[tuple[str, Any]]:
    types = {"labels": pa.list_(pa.string()), "unsure": pa.list_(pa.string()), "known_words": pa.int64()}
    return [(name, types.get(name, pa.float64())) for name in _names(model)]


def _is_text(pa: Any, type: Any) -> bool:
    if pa.types.is_dictionary(type):
        type = type.value_type
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type))


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "scoring Arrow batches") from None
    return pyarrow

"""Scoring of Arrow batches: inside DuckDB, Spark, Polars or whatever else hands them out and takes them back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from textbayes.core.errors import InputError, MissingExtraError
from textbayes.data.formats._fields import FieldReader

if TYPE_CHECKING:
    import pyarrow

    from textbayes.categorizer import TextCategorizer

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

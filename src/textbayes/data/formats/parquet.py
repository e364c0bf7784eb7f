"""Parquet files by row group, through pyarrow (extra ``parquet``).

for document in FORMATS.get("parquet").read("news.parquet", text_field="headline", label_field="desk"): ...
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from textbayes.core.errors import InputError, MalformedFileError, MissingExtraError
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats._fields import ColumnOptions, FieldReader
from textbayes.data.streams import Bounded, Source, layout_of, path_of, source_label

_BATCH = 1024  # rows held in memory at a time


def read_parquet(source: Source, **columns: Unpack[ColumnOptions]) -> Iterator[Record]:
    """Read the rows of a Parquet file; only the columns that are used are read. A label column may hold lists.

    Parameters
    ----------
    source : path or seekable stream
    **columns : ColumnOptions
        Which columns are the text, the labels and the id, and which are kept.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "reading Parquet files") from None
    label, path = source_label(source), path_of(source)
    opened = source.source if isinstance(source, Bounded) else source
    if path is None and (opened == "-" or not getattr(opened, "seekable", lambda: False)()):
        raise InputError(f"{label}: Parquet is read from its end, so it needs a file; save it first and give its path")
    if path is not None and not path.is_file():
        raise InputError(f"there is no file {label}; check the path")
    layout = layout_of(source)
    layout.add(format="parquet")
    fields = FieldReader(label, layout, **columns)
    try:
        with parquet.ParquetFile(opened) as file:
            chosen = fields.choose(file.schema_arrow.names)
            used = (*chosen.text, *chosen.labels, chosen.id, *chosen.kept.values())
            wanted = list(dict.fromkeys(name for name in used if name is not None))
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield fields.record(row, number)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:  # or no UTF-8, or no date
        if isinstance(error, InputError):
            raise
        cause = (
            f"not a readable Parquet file ({(str(error).splitlines() or [type(error).__name__])[0]}); write it again"
        )
        raise MalformedFileError(label, cause) from error


FORMATS.register("parquet")(
    Format(
        "parquet", "Parquet (row number as line)", read_parquet, (".parquet",), lambda head: head.startswith(b"PAR1")
    )
)

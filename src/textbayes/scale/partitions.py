"""Documents in partitions: the files of a pattern, local or by an fsspec address, or a collection that Dask reads.

A partition is read by the worker that is given it, and again by another where that one dies. Files are read as those of
every other command are; a partition should fit the memory of a worker several times over.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textbayes.core.errors import InputError, MissingExtraError
from textbayes.core.types import Document
from textbayes.data.documents import guess_from_content, guess_from_name, open_documents
from textbayes.data.formats import Identifier, Record
from textbayes.data.formats._fields import FieldReader
from textbayes.data.layout import Columns, Layout
from textbayes.data.streams import open_input

_PATTERN = re.compile(r"[*?\[]")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*(::|://)")


def names_partitions(paths: Sequence[str]) -> bool:
    """Whether paths are patterns or addresses, whose files are partitions, and not files to be read here.

    >>> names_partitions(["parts/*.parquet"]), names_partitions(["s3://news/2024.jsonl"]), names_partitions(["a.csv"])
    (True, True, False)
    """
    return any(_PATTERN.search(path) or _ADDRESS.match(path) for path in paths)


@dataclass(frozen=True)
class FilePartition:
    """One file of a pattern.

    Parameters
    ----------
    file : fsspec.core.OpenFile
    format : str or None
        A name in ``textbayes.data.FORMATS``; guessed from the name and the first bytes if not given.
    options : mapping
        Of the format.
    columns : Columns, optional
        Columns that are looked for first.
    """

    file: Any
    format: str | None
    options: Mapping[str, Any]
    columns: Columns | None = None

    @property
    def name(self) -> str:
        """The address of the file, or its path."""
        return str(self.file.full_name).removeprefix("file://")

    def state(self) -> str:
        """What tells whether the file is still the same: its size, and when it was changed or a tag of its store."""
        info = self.file.fs.info(self.file.path)
        tags = {name: info[name] for name in ("size", "mtime", "ETag", "etag", "md5Hash", "generation") if name in info}
        return json.dumps(tags, default=str, sort_keys=True)

    def documents(self) -> Iterator[Document]:
        """Documents of the file; those without an id are numbered."""
        try:
            with self.file as raw:
                # As bytes: Parquet is read from its end, and a partition must fit the memory anyway.
                stream = io.BytesIO(raw.read())
        except OSError as error:
            raise InputError(
                f"{self.name} cannot be read ({error.strerror or error}); workers must see the files that are named"
            ) from error
        setattr(stream, "name", self.name)  # noqa: B010  # for messages; a stream of bytes has none
        name = self.format or guess_from_name(Path(self.name))
        if name is None:
            with open_input(stream) as opened:
                name = guess_from_content(opened, otherwise="lines")
            stream.seek(0)
        yield from open_documents(stream, name, duplicates="keep", layout=Layout(self.columns), **self.options)


@dataclass(frozen=True)
class DelayedPartition:
    """One partition of a Dask collection: a data frame, or a list of dictionaries.

    Parameters
    ----------
    delayed : dask.delayed.Delayed
    name : str
    options : mapping
        Which columns are what, see ``ColumnOptions``.
    """

    delayed: Any
    name: str
    options: Mapping[str, Any]

    def documents(self) -> Iterator[Document]:
        """Documents of the partition; those without an id are numbered."""
        rows = self.delayed.compute(scheduler="synchronous")
        if hasattr(rows, "to_dict"):
            rows = rows.to_dict("records")
        yield from Identifier(keep_duplicates=True).documents(self._records(rows), self.name)

    def _records(self, rows: Any) -> Iterator[Record]:
        reader = FieldReader(self.name, **self.options)
        for number, row in enumerate(rows, start=1):
            yield reader.record({str(key): _plain(value) for key, value in row.items()}, number)


Partition = FilePartition | DelayedPartition


def make_partitions(
    source: Any, format: str | None = None, columns: Columns | None = None, **options: Any
) -> list[Partition]:
    """The partitions of patterns of files, or of a Dask collection.

    Parameters
    ----------
    source : str, sequence of str, or Dask data frame or bag
        Patterns or addresses: ``parts/*.parquet``, ``s3://bucket/part-*.jsonl.gz``, ``file:///data/*.csv``. A bag has
        dictionaries.
    format : str, optional
        Of files, such as ``"jsonl"``.
    columns : Columns, optional
        Columns of files that are looked for first, such as those of a model's training texts.
    **options
        Of the format: ``text_field``, ``label_field`` and so on.
    """
    if hasattr(source, "to_delayed"):
        parts = source.to_delayed()
        return [DelayedPartition(part, f"partition {k}", options) for k, part in enumerate(parts, start=1)]
    patterns = [source] if isinstance(source, str) else list(source)
    found: list[Partition] = []
    for pattern in patterns:
        files = _files(pattern)
        if not files:
            raise InputError(f"no file fits {pattern!r}; check the pattern, and that workers see the same files")
        found += [FilePartition(file, format, options, columns) for file in files]
    return found


def _files(pattern: str) -> list[Any]:
    try:
        from fsspec.core import OpenFile, url_to_fs  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("fsspec", "scale", "reading partitions") from None
    try:
        filesystem, path = url_to_fs(pattern)
        if filesystem.isdir(path):
            path = f"{path.rstrip('/')}/*"
        paths = filesystem.glob(path) if _PATTERN.search(path) else [path]
        return [OpenFile(filesystem, one) for one in sorted(paths) if filesystem.isfile(one)]
    except (ImportError, OSError, ValueError) as error:  # ImportError: of the filesystem of an address
        raise InputError(f"{pattern!r} cannot be opened ({error}); check the address") from error


def _plain(value: Any) -> Any:
    """A cell of a data frame as JSON would have it: lists for arrays, None for what is missing."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, (str, list, tuple, dict, bool, int)):
        return value
    return None if value != value or type(value).__name__ in ("NAType", "NaTType") else value

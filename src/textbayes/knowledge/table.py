"""Table of prior knowledge of words: rows that every model of the toolkit can use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from textbayes.core.errors import InputError
from textbayes.knowledge.rows import ALL_LABELS, Refusal, WordPrior, checked

if TYPE_CHECKING:
    from textbayes.data.streams import Source


class WordPriors(Sequence[WordPrior]):
    """An unchanging table of :class:`WordPrior` rows, at most one for a word and a label.

    Tables are equal if they hold the same rows, in whatever order.

    Examples
    --------
    >>> table = WordPriors([WordPrior("wheat", "grain", mean=2.0, scale=0.5), WordPrior("bank", "grain", "against")])
    >>> print(table.to_csv(), end="")
    word,label,mean,scale,family,sign,source
    wheat,grain,2,0.5,,,
    bank,grain,against,,,,
    >>> WordPriors.merge([table, [WordPrior("bank", "grain", -1.0)]])[1].mean
    -1.0
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[WordPrior] = ()) -> None:
        if isinstance(rows, (str, bytes)):
            raise InputError(f"rows is the text {rows!r}; pass WordPrior rows, or read a file: WordPriors.read(path)")
        self._rows = checked([WordPrior(*row) for row in rows], _refuse)

    # -- files ----------------------------------------------------------------------------------------------------
    @classmethod
    def read(cls, source: Source, format: str | None = None, encoding: str = "utf-8") -> WordPriors:
        """Read a CSV or YAML file, ``"-"`` (standard input) or a stream; see ``textbayes.knowledge.files``.

        ``format`` is "csv" or "yaml" where the name does not end so. What cannot be used is refused with its line.

        Parameters
        ----------
        source : path, "-" or stream
        format : {"csv", "yaml"} or None
            None takes it from the name.
        encoding : str
        """
        from textbayes.knowledge.files import read_rows

        table = cls()
        table._rows = read_rows(source, format, encoding)
        return table

    def to_csv(self) -> str:
        """The table as CSV, one line for a row; :meth:`read` gives an equal table."""
        from textbayes.knowledge.files import csv_text

        return csv_text(self._rows)

    def to_yaml(self) -> str:
        """The table as YAML, label by label; :meth:`read` gives an equal table."""
        from textbayes.knowledge.files import yaml_text

        return yaml_text(self._rows)

    # -- tables ---------------------------------------------------------------------------------------------------
    @classmethod
    def merge(cls, tables: Iterable[Iterable[WordPrior]]) -> WordPriors:
        """One table of several: where two speak of one word for one label, the later row takes the earlier's place."""
        rows: dict[tuple[str, str], WordPrior] = {}
        for table in tables:
            rows.update(((row.word, row.label), row) for row in table)
        return cls(rows.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels spoken of by name, in order of first appearance."""
        return tuple(dict.fromkeys(row.label for row in self._rows if row.label != ALL_LABELS))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return WordPriors(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __iter__(self) -> Iterator[WordPrior]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordPriors) and len(self) == len(other) and set(self._rows) == set(other._rows)

    def __hash__(self) -> int:
        return hash(frozenset(self._rows))

    def __repr__(self) -> str:
        return f"<WordPriors: {len(self):,} rows, {len(self.labels)} labels>"


def _refuse(refusal: Refusal) -> NoReturn:
    earlier = "" if refusal.earlier is None else f" (it is row {refusal.earlier + 1} as well)"
    raise InputError(f"row {refusal.row + 1}: {refusal.cause}{earlier}")

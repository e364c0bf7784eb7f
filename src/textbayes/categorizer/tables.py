"""The tables of a ``TextCategorizer``, its prior and what became of it, as arrays of a model file: one for a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from textbayes.categorizer.knowledge import Advice
from textbayes.core.codec import Arrays, Column, Field, Sizes, Table
from textbayes.core.types import AnyArray
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.models.linear.audit import AuditRow
from textbayes.text.packed import Strings

_TEXT = Strings("n_rows")
_NUMBER = Column(np.float64)
_COUNT = Column(np.int64, least=0, most=2.0**53)
_STANCES = ("for", "against")


class _PriorRow(NamedTuple):
    """A row of a prior table: an empty text stands for None."""

    word: str
    label: str
    family: str
    source: str
    stance: str
    mean: float | None
    scale: float | None
    sign: float | None


class PriorTable(Field):
    """A prior table."""

    _rows = Table(
        {
            **dict.fromkeys(("word", "label", "family", "source", "stance"), _TEXT),
            "mean": Column(np.float64, lacking=None),
            "scale": Column(np.float64, most=np.inf, lacking=None),
            "sign": Column(np.float64, lacking=None),
        },
        _PriorRow,
    )

    def takes(self, value: Any) -> bool:
        return isinstance(value, WordPriors)

    def is_meant(self, saved: Any) -> bool:
        return self._rows.is_meant(saved)

    def write(self, value: WordPriors, place: str, arrays: dict[str, AnyArray]) -> Any:
        rows = [
            _PriorRow(row.word, row.label, row.family or "", row.source, *_mean(row.mean), row.scale, row.sign)
            for row in value
        ]
        return self._rows.write(rows, place, arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        rows: Sequence[_PriorRow] = self._rows.read(saved, place, arrays, sizes)
        if not {row.stance for row in rows} <= {"", *_STANCES}:
            raise ValueError("is neither for nor against a label")
        return WordPriors(
            WordPrior(
                row.word, row.label, row.stance or row.mean, row.scale, row.family or None,
                None if row.sign is None else int(row.sign), row.source,
            )
            for row in rows
        )  # fmt: skip


def _mean(mean: float | str | None) -> tuple[str, float | None]:
    return (mean, None) if isinstance(mean, str) else ("", mean)


AUDIT = Table(
    {
        **dict.fromkeys(("word", "label", "source"), _TEXT),
        "prior_mean": _NUMBER,
        "prior_scale": Column(np.float64, least=0.0, most=np.inf),
        "posterior": _NUMBER,
        "shift": Column(np.float64, least=-np.inf, most=np.inf),
        "n_documents": _COUNT,
        "p_value": Column(np.float64, least=0.0, most=1.0),
        "conflict": Column(np.bool_),
    },
    AuditRow,
)
ADVICE = Table(
    {
        "label": _TEXT,
        "weight": Column(np.float64, least=0.0, most=1.0),
        "why": _TEXT,
        **dict.fromkeys(("words", "not_in_texts"), _COUNT),
        **dict.fromkeys(("tried", "change", "error"), Column(np.float64, lacking=np.nan)),
    },
    Advice,
)

"""The tables of a ``TextCategorizer``, its prior and what became of it, as arrays of a model file: one for a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.saved_arrays import LARGEST, saved_array
from textbayes.core.types import AnyArray
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.models.linear.audit import AuditRow
from textbayes.text.packed import checked, pack, unpack

_STANCES = ("for", "against")


def prior_arrays(table: WordPriors | None) -> dict[str, AnyArray]:
    """A prior table as arrays; NaN and empty texts stand for None."""
    if table is None:
        return {}
    texts = [
        (row.word, row.label, row.family or "", row.source, row.mean if isinstance(row.mean, str) else "")
        for row in table
    ]
    means = [None if isinstance(row.mean, str) else row.mean for row in table]
    arrays = _texts("prior", ("word", "label", "family", "source", "stance"), texts)
    arrays |= {"prior.mean": _numbers(means)}
    arrays |= {f"prior.{name}": _numbers([getattr(row, name) for row in table]) for name in ("scale", "sign")}
    return arrays


def restored_prior(arrays: Mapping[str, AnyArray]) -> WordPriors | None:
    """The table of :func:`prior_arrays`; what no table may hold is refused."""
    if "prior.mean" not in arrays:
        return None
    words, labels, families, sources, stances = _unpacked(
        arrays, "prior", ("word", "label", "family", "source", "stance")
    )
    means, scales, signs = (_values(arrays, f"prior.{name}", len(words)) for name in ("mean", "scale", "sign"))
    if not set(stances) <= {"", *_STANCES}:
        raise ModelFileError("the model's prior is neither for nor against a label; was the file altered?")
    return WordPriors(
        WordPrior(word, label, stance or mean, scale, family or None, None if sign is None else int(sign), source)
        for word, label, stance, mean, scale, family, sign, source in zip(
            words, labels, stances, means, scales, families, signs, sources, strict=True
        )
    )


def audit_arrays(rows: Sequence[AuditRow]) -> dict[str, AnyArray]:
    """The audit as arrays; none where nothing was audited."""
    if not rows:
        return {}
    arrays = _texts("audit", ("word", "label", "source"), [(row.word, row.label, row.source) for row in rows])
    for name in ("prior_mean", "prior_scale", "posterior", "shift", "p_value"):
        arrays[f"audit.{name}"] = _numbers([getattr(row, name) for row in rows])
    arrays["audit.n_documents"] = np.array([row.n_documents for row in rows], dtype=np.int64)
    arrays["audit.conflict"] = np.array([row.conflict for row in rows], dtype=np.bool_)
    return arrays


def restored_audit(arrays: Mapping[str, AnyArray], space: LabelSpace) -> list[AuditRow]:
    """The audit of :func:`audit_arrays`, of labels that the model has."""
    if "audit.conflict" not in arrays:
        return []
    words, labels, sources = _unpacked(arrays, "audit", ("word", "label", "source"))
    if not set(labels) <= set(space.column_names):
        raise ModelFileError("the model's audit of its prior is of labels that it does not have; was the file altered?")
    n = (len(words),)
    columns = [
        saved_array(arrays, "audit.prior_mean", np.float64, n),
        saved_array(arrays, "audit.prior_scale", np.float64, n, least=0.0, most=np.inf),
        saved_array(arrays, "audit.posterior", np.float64, n),
        saved_array(arrays, "audit.shift", np.float64, n, least=-np.inf, most=np.inf),
        saved_array(arrays, "audit.n_documents", np.int64, n, least=0, most=2.0**53),
        saved_array(arrays, "audit.p_value", np.float64, n, least=0.0, most=1.0),
        saved_array(arrays, "audit.conflict", np.bool_, n),
    ]
    return [
        AuditRow(*row) for row in zip(words, labels, sources, *(column.tolist() for column in columns), strict=True)
    ]


def _texts(table: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, AnyArray]:
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    packed = {name: pack(column) for name, column in zip(names, columns, strict=True)}
    arrays = {f"{table}.{name}": one.data for name, one in packed.items()}
    return arrays | {f"{table}.{name}_offsets": one.offsets for name, one in packed.items()}


def _unpacked(arrays: Mapping[str, AnyArray], table: str, names: Sequence[str]) -> list[list[str]]:
    columns = [
        unpack(checked(arrays.get(name), arrays.get(f"{name}_offsets"), f"the model's {name}"))
        for name in (f"{table}.{name}" for name in names)
    ]
    if len({len(column) for column in columns}) > 1:
        raise ModelFileError(f"the columns of the model's {table} differ in length; was the file altered?")
    return columns


def _numbers(values: Sequence[Any]) -> AnyArray:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _values(arrays: Mapping[str, AnyArray], name: str, n: int) -> list[float | None]:
    array = np.asarray(arrays.get(name))
    given = {name: array[~np.isnan(array)]} if array.dtype == np.float64 else {name: array}
    saved_array(given, name, np.float64, (None,), least=-LARGEST, most=np.inf if name == "prior.scale" else LARGEST)
    if array.shape != (n,):
        raise ModelFileError("the columns of the model's prior differ in length; was the file altered?")
    return [None if value != value else value for value in array.tolist()]

"""Decisions of several systems in whatever form they come, as indicators of the same labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.labels import Kind, encode_labels, label_layout
from textbayes.core.types import BoolArray, Matrix
from textbayes.core.validation import check_choice, check_indicator, check_same_length
from textbayes.evaluate.contingency import check_pair

AnyKind = Literal["auto", "binary", "multiclass", "multilabel"]


class Decided(NamedTuple):
    """Indicators (n_docs, n_labels) of the truth and of each system, the names of the labels, and their kind."""

    truth: BoolArray
    systems: dict[str, BoolArray]
    names: list[str]
    kind: Kind


def as_indicators(
    systems: Mapping[str, Any],
    Y_true: Matrix | ArrayLike,
    label_names: Sequence[Any] | None = None,
    kind: AnyKind = "auto",
) -> Decided:
    """Bring labels and decisions of several systems into indicator matrices of the same columns.

    With ``kind="auto"`` classes exclude each other if all were given as vectors, or if there are two labels or more,
    every document has exactly one of them, and no system gives one more than one.

    Parameters
    ----------
    systems : name → decisions
        Indicator matrices, label vectors or lists of labels.
    Y_true : labels in any of these forms
    label_names : sequence, optional
        The columns of indicator matrices.
    kind : {"auto", "binary", "multiclass", "multilabel"}

    Examples
    --------
    >>> as_indicators({"ours": ["b", "a"]}, ["a", "a"]).kind
    'binary'
    """
    check_choice("kind", kind, ("auto", "binary", "multiclass", "multilabel"))
    given = {"Y_true": Y_true} | {f"system {name!r}": decisions for name, decisions in systems.items()}
    laid_out = {what: label_layout(labels) for what, labels in given.items()}
    layouts = {layout for layout, _ in laid_out.values()}
    if layouts == {"matrix"}:
        truth = check_indicator(Y_true, "Y_true")
        indicators = [check_pair(truth, decisions, ("Y_true", what))[1] for what, decisions in _after_first(given)]
        names = [str(j) for j in range(truth.shape[1])] if label_names is None else [str(name) for name in label_names]
    else:
        if "matrix" in layouts and label_names is None:
            mixed = ", ".join(what for what, (layout, _) in laid_out.items() if layout == "matrix")
            raise InputError(
                f"{mixed} holds an indicator matrix and the rest hold labels; pass label_names, in the order of its "
                "columns, or labels everywhere"
            )
        truth, *indicators = _encoded(laid_out, label_names)
        names = [str(name) for name in (_union(laid_out) if label_names is None else label_names)]
    if len(names) != truth.shape[1] or len(set(names)) != len(names):
        raise InputError(f"{truth.shape[1]} labels need as many different names; {len(names)} were given")
    decided = dict(zip(systems, indicators, strict=True))
    if kind == "binary" and len(names) == 1:
        both = [np.hstack([~columns, columns]) for columns in (truth, *indicators)]
        truth, decided, names = both[0], dict(zip(systems, both[1:], strict=True)), [f"not {names[0]}", *names]
    found = _kind(truth, list(decided.values()), layouts == {"vector"}) if kind == "auto" else kind
    _check_kind(truth, found)
    return Decided(truth, decided, names, found)


def _after_first(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(given.items())[1:]


def _encoded(laid_out: Mapping[str, tuple[str, Any]], label_names: Sequence[Any] | None) -> list[BoolArray]:
    classes = _union(laid_out) if label_names is None else list(label_names)
    indicators: list[BoolArray] = []
    for what, (layout, labels) in laid_out.items():
        rows = labels if layout != "vector" else [(label,) for label in _plain(labels)]
        indicators.append(encode_labels(rows, classes)[0])
        check_same_length(indicators[0], "Y_true", indicators[-1], what)
    return indicators


def _union(laid_out: Mapping[str, tuple[str, Any]]) -> list[Any]:
    """All labels that occur, sorted."""
    found: dict[Any, None] = {}
    for layout, labels in laid_out.values():
        rows = ((label,) for label in _plain(labels)) if layout == "vector" else labels
        for row in rows:
            found.update(
                dict.fromkeys(_plain(row) if isinstance(row, list | tuple | set | frozenset | np.ndarray) else (row,))
            )
    try:
        return sorted(found)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in found}))
        raise InputError(f"labels mix types ({kinds}); make them all strings or all numbers") from None


def _plain(labels: Any) -> list[Any]:
    values: list[Any] = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    return values


def _kind(truth: BoolArray, systems: list[BoolArray], vectors: bool) -> Kind:
    one_each = bool((truth.sum(axis=1) == 1).all()) and all((rows.sum(axis=1) <= 1).all() for rows in systems)
    if truth.shape[1] < 2 or not (vectors or one_each):
        return "multilabel"
    return "binary" if truth.shape[1] == 2 else "multiclass"


def _check_kind(truth: BoolArray, kind: Kind) -> None:
    if kind == "multilabel":
        return
    if kind == "binary" and truth.shape[1] != 2:
        raise InputError(f"kind='binary' has two classes but {truth.shape[1]} labels were given; use 'multiclass'")
    sizes = truth.sum(axis=1)
    if (sizes != 1).any():
        first = int((sizes != 1).argmax())
        raise InputError(
            f"document {first + 1} of Y_true has {int(sizes[first])} labels where kind={kind!r} has exactly one; "
            "correct it, or compare with kind='multilabel'"
        )

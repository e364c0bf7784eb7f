"""Labelled documents for training: one label each or many, as the documents say or as the user does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from textbayes.cli.inputs import Inputs, require_documents
from textbayes.cli.settings import note
from textbayes.core.errors import InputError
from textbayes.core.types import Document


@dataclass(frozen=True)
class Labelled:
    """Texts, and labels as estimators take them: a string each, or a tuple each."""

    texts: list[str]
    labels: list[str] | list[tuple[str, ...]]


def label_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--multi-label`` and ``--single-label``; neither leaves it to the documents."""
    return click.option(
        "--multi-label/--single-label",
        "multi_label",
        default=None,
        help="Whether a document has any number of labels, or exactly one; as the documents say if not given.",
    )(function)


def read_labelled(inputs: Inputs, multi_label: bool | None) -> Labelled:
    """All documents; single-label if each has exactly one label, else multi-label, unless the user says which."""
    documents = list(inputs.documents())
    require_documents(documents, inputs)
    sizes = [len(document.labels) for document in documents]
    if not any(sizes):
        raise no_label(inputs)
    none, several = sizes.count(0), sum(size > 1 for size in sizes)
    if multi_label is None:
        multi_label = bool(none or several)
        if multi_label:
            note(f"multi-label: {none:,} of {len(sizes):,} documents have no label, {several:,} have several")
        else:
            note("single-label: every document has exactly one label")
    texts = [document.text for document in documents]
    if multi_label:
        return Labelled(texts, [document.labels for document in documents])
    return Labelled(texts, [single_label(document, n, inputs) for n, document in enumerate(documents, start=1)])


def no_label(inputs: Inputs) -> InputError:
    """The refusal of documents of which none is labelled."""
    return InputError(f"no document of {inputs.name} has a label; name the field that holds it with --label-field")


def single_label(document: Document, number: int, inputs: Inputs) -> str:
    """The one label of a document; none or several are refused."""
    if len(document.labels) != 1:
        found = f"{len(document.labels)} labels ({', '.join(document.labels)})" if document.labels else "no label"
        raise InputError(
            f"{inputs.whereabouts(number, document)} has {found} where exactly one is needed; correct it, or train "
            "with --multi-label"
        )
    return document.labels[0]

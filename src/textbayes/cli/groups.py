"""Texts that belong together, by a field of the input: ``--group-field``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import click

from textbayes.cli.inputs import Inputs
from textbayes.cli.settings import note
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.core.wording import plural


def with_group_field(inputs: Inputs, field: str | None) -> Inputs:
    """Inputs whose documents carry the field of the groups."""
    if field is None:
        return inputs
    if inputs.corpus is not None:
        raise click.UsageError(
            "--group-field names a field of CSV, TSV, JSON lines or Parquet files; a corpus has none."
        )
    return replace(inputs, options=(*inputs.options, ("keep_fields", (field,))))


def groups_of(documents: Sequence[Document], field: str | None, inputs: Inputs) -> list[str] | None:
    """The group of each document, as the field says; None if no field was named."""
    if field is None:
        return None
    groups = [document.fields[field].strip() for document in documents]
    without = [document.id for document, group in zip(documents, groups, strict=True) if not group]
    if without:
        more = f" and {len(without) - 1:,} more" if len(without) > 1 else ""
        raise InputError(
            f"document {without[0]!r}{more} of {inputs.name} has nothing in the field {field!r}; fill it in, for "
            "example with the document's own id where it stands alone"
        )
    sizes = Counter(groups)
    largest = plural(max(sizes.values()), "text")
    note(f"{plural(len(sizes), 'group')} by {field!r}, the largest of {largest}; each is in one fold")
    return groups

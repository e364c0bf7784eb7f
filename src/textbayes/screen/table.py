"""All records of a screening as rows of a table, with decisions, probabilities and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from textbayes.screen.ranking import estimate
from textbayes.screen.screening import Screening

SAID = {0: "", 1: "relevant", -1: "irrelevant", 2: "unsure"}


def table_rows(screening: Screening, records: Iterable[Mapping[str, Any]], topic: str | None) -> list[dict[str, Any]]:
    """All records in the order of reading, those that were not read by probability, with their own fields first.

    Parameters
    ----------
    screening : Screening
    records : iterable of mappings
        With ``id``, ``text`` and ``fields``, in the order of the rows.
    topic : str, optional
        Needed where there are several.
    """
    known = screening.topic(topic)
    read = known.reading().rows.tolist()
    unread = known.unread()
    order = [*read, *unread[np.argsort(-known.predictors[unread], kind="stable")].tolist()]
    place_of = {row: place for place, row in enumerate(order, start=1)}
    found = estimate(known, range(len(order)))
    rows = []
    for row, record in enumerate(records):
        fields = dict(record["fields"]) or {"text": record["text"]}
        words = " ".join(f"{word} {part:+.2f}" for word, part in known.words_behind(row).items())
        figures = {name: round(value, 4) for name, value in found[row]._asdict().items()}
        said = SAID[int(known.answers[row])]
        own = {"id": record["id"], "decision": said, "place": place_of[row], **figures, "words": words}
        rows.append({**fields, **{_free(name, fields): value for name, value in own.items()}})
    return [rows[row] for row in order]


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """The name of a column of ours where the input may have one of the same name."""
    return f"textbayes_{name}" if name in taken else name

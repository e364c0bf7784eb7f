"""Oddities in the labels of a collection: twins by case, words for "missing", several labels in one, lone ones.

>>> found = examine_labels({"Trump": 9, "trump": 1, "N/A": 2, "UK": 4, "US": 5, "UK;US": 1})
>>> found.case_twins, found.missing_words, found.unsplit
([['Trump', 'trump']], ['N/A'], {';': ['UK;US']})
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from textbayes.core.types import MISSING_LABEL, Document

MISSING_WORDS = frozenset({"n/a", "#n/a", "na", "n.a.", "nan", "null", "none", "nil", "-", "--", "–", "?"})
_SEPARATORS = (";", "|", ",", "/")


class LabelFindings(NamedTuple):
    """Labels that may not mean what they say, by what may be wrong with them; the most frequent first."""

    case_twins: list[list[str]]
    missing_words: list[str]
    unsplit: dict[str, list[str]]
    lone: list[str]


def examine_labels(counts: Mapping[str, int]) -> LabelFindings:
    """Find oddities among labels, given the number of texts that have each."""
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    return LabelFindings(
        [twins for twins in _by_case(ranked).values() if len(twins) > 1],
        [label for label in ranked if label.casefold() in MISSING_WORDS],
        {mark: found for mark in _SEPARATORS if (found := _unsplit(ranked, mark))},
        [label for label in ranked if counts[label] == 1],
    )


def merge_case(counts: Mapping[str, int]) -> dict[str, str]:
    """The most frequent spelling of each label that is written in several letter cases.

    >>> merge_case({"Trump": 9, "trump": 1, "TRUMP": 1, "Clinton": 3})
    {'TRUMP': 'Trump', 'trump': 'Trump'}
    """
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    return {other: twins[0] for twins in _by_case(ranked).values() for other in twins[1:]}


def relabel(document: Document, names: Mapping[str, str], missing: Iterable[str] = ()) -> Document:
    """Respell the labels of a document as ``names`` says, and drop those that mean a missing label (in any case).

    Parameters
    ----------
    document : Document
    names : label → its new spelling
        Labels that are not in it stay.
    missing : iterable of str
        In small letters.
    """
    if not document.labels:
        return document
    named = dict.fromkeys(names.get(label, label) for label in document.labels if label.casefold() not in missing)
    # The one label that was there says that it is missing; of a list, the others remain.
    labels = MISSING_LABEL if not named and len(document.labels) == 1 else tuple(named)
    return document._replace(labels=labels)


def _by_case(labels: Iterable[str]) -> dict[str, list[str]]:
    twins: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        twins[label.casefold()].append(label)
    return twins


def _unsplit(labels: list[str], mark: str) -> list[str]:
    """Labels all of whose parts between ``mark`` are labels by themselves, or parts of another such label."""
    parts = {label: [part.strip() for part in label.split(mark)] for label in labels if mark in label}
    within: dict[str, int] = defaultdict(int)
    for found in parts.values():
        for part in set(found):
            within[part] += 1
    alone = set(labels) - set(parts)
    return [
        label
        for label, found in parts.items()
        if all(part and (part in alone or within[part] > 1) for part in found) and len(set(found)) > 1
    ]

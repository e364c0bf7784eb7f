"""Notes on labels found when reading, told on stderr: how many there are, what is odd, and what option settles it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import chain

from textbayes.cli.errors import offers
from textbayes.cli.settings import note, warn
from textbayes.core.types import Document
from textbayes.core.wording import plural
from textbayes.data.labels import examine_labels

_MOST = 6  # labels named in a summary
_EXAMPLES = 3


def summarise(counts: Mapping[str, int], n_docs: int, total: int | None = None) -> None:
    """Say how many texts have which label, the most frequent ones by name; ``total`` where these are some of more."""
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    shown = len(ranked) if len(ranked) <= _MOST + 1 else _MOST  # "and 1 more" takes as long as naming it
    listed = ", ".join(f"{repr(label) if ',' in label else label} {counts[label]:,}" for label in ranked[:shown])
    texts = plural(n_docs, "text") if total in (None, n_docs) else f"a sample of {n_docs:,} of {plural(total, 'text')}"
    note(f"{texts}, {plural(len(ranked), 'label')}: {listed}{_more(len(ranked) - shown)}")


def name_oddities(counts: Mapping[str, int], separated: bool) -> None:
    """Warn of labels that may not mean what they say; ``separated`` if the user has said how several are written."""
    found = examine_labels(counts)
    if found.case_twins:
        pairs = [" ~ ".join(f"{label!r} ({counts[label]:,})" for label in twins) for twins in found.case_twins]
        warn(f"labels differ by letter case only: {_listed(pairs)}; make them one with --merge-case")
    if found.missing_words:
        options = " ".join(_missing_options(found.missing_words))
        named = _listed([f"{label!r} ({counts[label]:,})" for label in found.missing_words])
        warn(f"{named} counts as a label; if it means that there is none, say so with {options}")
    for mark, labels in found.unsplit.items() if not separated else ():
        named = _listed([f"{label!r} ({counts[label]:,})" for label in labels])
        warn(f"several labels seem to be in one: {named}; split them with --label-separator {shlex.quote(mark)}")
    before = set(chain(*found.case_twins, found.missing_words, *found.unsplit.values()))  # named once is enough
    lone = [label for label in found.lone if label not in before]
    if lone:
        word = "labels have one text only" if len(lone) > 1 else "label has one text only"
        named = _listed([repr(label) for label in lone])
        note(f"{len(lone):,} {word}: {named}{_how_to_leave_out()}")


def _how_to_leave_out() -> str:
    """The option of the command at hand that leaves rare labels out."""
    if offers("min_texts"):
        return "; leave such labels out with --min-texts 2"
    return "; --topic names the labels to filter for" if offers("topics") else ""


def remedies(unknown: Mapping[str, int], known: Sequence[str]) -> str:
    """The options that would make known labels, or none, of unknown ones; empty if there are none."""
    found = examine_labels(unknown)
    spelt = {name.casefold() for name in known}
    options = ["--merge-case"] if any(label.casefold() in spelt for label in unknown) else []
    options += _missing_options(found.missing_words)
    return f"; see {' and '.join(options)}" if options else ""


def name_documents(documents: Sequence[Document]) -> str:
    """Name the first few documents by id."""
    shown = ", ".join(repr(document.id) for document in documents[:_EXAMPLES])
    return f"{'id' if len(documents) == 1 else 'ids'} {shown}{_more(len(documents) - _EXAMPLES)}"


def _missing_options(labels: Sequence[str]) -> list[str]:
    once = {label.casefold(): label for label in reversed(labels)}  # the option is blind to case
    return [f"--missing-label {shlex.quote(label)}" for label in reversed(once.values())]


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items[:_EXAMPLES]) + _more(len(items) - _EXAMPLES)


def _more(number: int) -> str:
    return f" and {number:,} more" if number > 0 else ""

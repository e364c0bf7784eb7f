"""Tables 2 and 3: errors of the models, published and own, with intervals of what separates them from naive Bayes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from statistics import median
from typing import Final

import numpy as np

from textbayes.core.types import BoolArray
from textbayes.reproduce.contagion import corpora, published
from textbayes.reproduce.contagion.experiment import (
    QUICK_SIZES,
    SELECTION,
    SIZES,
    SYSTEMS,
    Errors,
    cross_validate,
    ticks,
)
from textbayes.reproduce.contagion.fit import table_1
from textbayes.reproduce.results import Cell, Cells, Progress, Result, Table

_NAIVE: Final = SYSTEMS[:2]
_LOADERS: Final[dict[str, Callable[[], corpora.Documents]]] = {
    "Newsgroups": corpora.newsgroups,
    "Reuters": corpora.reuters,
    "Spam-Assassin": corpora.spam,
    "Movie Reviews": corpora.movies,
    "Newsgroups, computers": lambda: corpora.newsgroups(computers=True),
}


def reproduce(wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
    """``quick``: two numbers of words to choose from, beside all words."""
    sizes = QUICK_SIZES if quick else SIZES
    if "table 1" in wanted:
        yield table_1()
    if "table 2" in wanted:
        yield _table_2("2", tuple(published.TABLE_2), sizes, progress)
    if "table 2a" in wanted:
        yield _table_2("2a", ("Newsgroups, computers",), sizes, progress)
    if "table 3" in wanted:
        yield _table_3(sizes, progress)


def _table_2(number: str, names: tuple[str, ...], sizes: tuple[int, ...], progress: Progress) -> Table:
    ours: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for name in names:
        if name not in _LOADERS:
            ours.append((None,) * 4)
            continue
        documents = _LOADERS[name]()
        errors = _run(documents, "IG", sizes, f"table {number}, {name}", progress)
        ours.append(rates(errors))
        notes += [f"{name}: {_counts(documents)}. {described(errors)}"]
    if number == "2":
        caption = "Errors in per cent, words by information gain, by five-fold cross-validation; Dir-Pois is not in it."
        notes.append(published.NOT_PUBLIC)
        figures: Cells = tuple((*published.TABLE_2[name], None) for name in names)
    else:
        caption = "Not in the paper: the five groups about computers, the other reading of “5 classes”."
        figures = ((None,) * 4,)
    return Table(number, caption, names, published.MODELS, figures, tuple(ours), 2, tuple(notes))


def _table_3(sizes: tuple[int, ...], progress: Progress) -> Table:
    documents = corpora.movies()
    found = {
        selection: _run(documents, selection, sizes, f"table 3, Movie Reviews, {selection}", progress)
        for selection in SELECTION
    }
    ours: list[tuple[Cell, ...]] = [
        rates(found[selection]) if name == "Movie Reviews" else (None,) * 4 for name, selection in published.TABLE_3
    ]
    notes = [f"Movie Reviews: {_counts(documents)}."]
    notes += [f"By {selection}: {described(errors)}" for selection, errors in found.items()]
    return Table(
        "3",
        "Errors in per cent by five-fold cross-validation, words by information gain (IG) or Δ².",
        tuple(f"{name}, {selection}" for name, selection in published.TABLE_3),
        published.MODELS,
        tuple(published.TABLE_3.values()),
        tuple(ours),
        2,
        (*notes, published.NOT_PUBLIC),
    )


def _run(documents: corpora.Documents, selection: str, sizes: tuple[int, ...], what: str, progress: Progress) -> Errors:
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        progress(what, done, ticks())

    return cross_validate(documents, selection, sizes=sizes, tick=tick)


def better_naive(errors: Errors) -> str:
    """The better of counts and TF-IDF; of equals the counts."""
    return min(_NAIVE, key=lambda name: int(errors.wrong[name].sum()))


def rates(errors: Errors) -> tuple[float, ...]:
    """Errors in per cent in the order of the published columns."""
    names = (better_naive(errors), *SYSTEMS[2:])
    return tuple(100.0 * float(errors.wrong[name].mean()) for name in names)


def described(errors: Errors) -> str:
    """What naive Bayes was, how many words were chosen, and by how much each model differs from it."""
    naive = better_naive(errors)
    parts = [
        f"{name} " + f"{difference:+.2f} ({low:+.2f} to {high:+.2f})".replace("-", "−")
        for name in SYSTEMS[2:]
        for difference, low, high in [interval(errors.wrong[name], errors.wrong[naive])]
    ]
    other = next(name for name in _NAIVE if name != naive)
    sizes = ", ".join(f"{name} {median(errors.sizes[name]):,.0f}" for name in (naive, *SYSTEMS[2:]))
    beaten = 100.0 * float(errors.wrong[other].mean())
    return (
        f"{naive[0].upper()}{naive[1:]} ({other} has {beaten:.2f}). Points more than it, with 95 % intervals: "
        f"{'; '.join(parts)}. Words, median over folds: {sizes}."
    )


def interval(wrong: BoolArray, baseline: BoolArray) -> tuple[float, float, float]:
    """Difference of two error rates on the same documents in points, and its 95 % interval (paired, normal).

    >>> interval(np.array([True, False, False, False]), np.array([False, False, False, False]))[0]
    25.0
    """
    difference = 100.0 * (wrong.astype(np.float64) - baseline)
    mean, error = float(difference.mean()), float(difference.std(ddof=1)) / np.sqrt(len(difference))
    return mean, mean - 1.96 * error, mean + 1.96 * error


def _counts(documents: corpora.Documents) -> str:
    classes = ", ".join(
        f"{name} {count:,}" for name, count in zip(documents.classes, np.bincount(documents.y), strict=True)
    )
    held = ", ".join(f"{100.0 * share:.0f}" for share in long_shares(documents))
    middle, longest = 1000.0 * float(np.median(documents.lengths)), 1000.0 * float(documents.lengths.max())
    return (
        f"{len(documents.y):,} documents ({classes}), {documents.X.shape[1]:,} words in three of them or more; the "
        f"median has {middle:,.0f} words, the longest {longest:,.0f}; the longest one per cent holds {held} % of the "
        "text of each class"
    )


def long_shares(documents: corpora.Documents) -> list[float]:
    """The share of each class's text that the longest one per cent of its documents holds, of one document at least."""
    shares = []
    for number in range(len(documents.classes)):
        lengths = np.sort(documents.lengths[documents.y == number])[::-1]
        shares.append(float(lengths[: max(1, len(lengths) // 100)].sum() / lengths.sum()))
    return shares

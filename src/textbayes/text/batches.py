"""Texts as they come in: checked, gathered into batches, worked on by all cores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.machine import n_cores

LONGEST_HEAD = 200  # characters: where a first line is no headline, it is cut here


def head(text: str) -> str:
    """The first line of a text that has something in it, or as much of it as a headline could have."""
    return text.lstrip().partition("\n")[0][:LONGEST_HEAD]


_BATCH = 1 << 21  # characters: large enough to repeat few words, small enough for the caches and for all cores

T = TypeVar("T")
R = TypeVar("R")


def check_texts(texts: object) -> Iterable[str]:
    """Texts, also of a table of one column; anything else is refused. Each text is checked as it is read."""
    what = "pass an iterable of str, one for each document"
    if isinstance(texts, (str, bytes, bytearray)):
        kind = type(texts).__name__
        raise InputError(f"one {kind} was given as the corpus; {what}: [text] for a single document")
    if texts is None or not isinstance(texts, Iterable):
        raise InputError(f"{type(texts).__name__} was given as the corpus; {what}")
    if getattr(texts, "ndim", 1) == 1:
        return texts
    shape = getattr(texts, "shape", (0, 0))
    if len(shape) != 2 or shape[1] != 1:
        raise InputError(f'a corpus of shape {shape} was given; {what}, such as one text column: df["text"]')
    column: Iterable[str] = np.asarray(texts)[:, 0]  # a data frame or an array of one column is that column
    return column


def check_each(texts: Iterable[object]) -> None:
    """Refuse a text that is not a str, by its position."""
    for position, text in enumerate(texts):
        _check_one(position, text)


def _check_one(position: int, text: object) -> None:
    if not isinstance(text, str):
        hint = "decode it first" if isinstance(text, bytes) else "leave it out or pass ''"
        raise InputError(f"document {position} is a {type(text).__name__}, not a str; {hint}")


def batches(texts: Iterable[str], least: int = 0) -> Iterator[list[str]]:
    """Lists of texts of some two million characters in all; a text that is not a str is refused by its position.

    Without a text there are ``least`` lists: none, or an empty one.
    """
    batch: list[str] = []
    size = 0
    for position, text in enumerate(texts):
        _check_one(position, text)
        batch.append(text)
        size += len(text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
            least = 0
    if batch or least:
        yield batch


def in_order(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Map a function on all cores, results in the order of the items; at most two items a core are held at once."""
    items = iter(items)
    head = list(islice(items, 2))
    if len(head) < 2 or (n_cores := _n_cores()) == 1:
        yield from map(function, head)
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_cores) as pool:
        waiting: deque[Future[R]] = deque(pool.submit(function, item) for item in head)
        for item in items:
            if len(waiting) >= 2 * n_cores:
                yield waiting.popleft().result()
            waiting.append(pool.submit(function, item))
        while waiting:
            yield waiting.popleft().result()


def _n_cores() -> int:
    """Cores to use: those this process may, but not so many that merging what they find takes longer."""
    return min(n_cores(), 8)

"""What a training will need: seconds, memory and disk, from trainings on small parts of the same input.

The input is read through once, which counts the documents and draws a sample of them. The model is trained on more and
more of the sample, twice as many each time, until that has taken some seconds. Time of a fit is taken to be a constant
and a power of the number of documents, both found from the largest parts; memory grows in proportion.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.machine import available_memory as available_memory
from textbayes.core.types import Document

_FIRST, _MOST, _SECONDS = 250, 16_000, 30.0  # documents of the first part and of the last; seconds to try in all
_LEAST = 3  # parts, however long they take
# Time grows by these powers on arXiv and Reuters (docs/reference/growth.md); beyond them small parts are noise.
_POWERS = (1.2, 1.5)
_USUAL = 1.3  # where parts are too few to tell
# Bytes of memory that training takes for each byte of text, by the automatic preset (measured: 10 on arXiv abstracts).
_PER_BYTE = 12.0
_PACKED = {".gz": 4.0, ".xz": 5.0, ".bz2": 5.0, ".zip": 4.0, ".zst": 4.0, ".parquet": 3.0}
_SHARE = 0.8  # of the memory available that a training may take


class Estimate(NamedTuple):
    """What a training will need.

    Attributes
    ----------
    documents : int
    seconds : float
    memory, disk : int
        Bytes at the peak.
    power : float
        Time of a fit grows as documents to this power.
    tried : list of (documents, seconds)
    """

    documents: int
    seconds: float
    memory: int
    disk: int
    power: float
    tried: list[tuple[int, float]]


def sample(documents: Iterable[Document], most: int = _MOST, seed: int = 0) -> tuple[list[Document], int, int]:
    """Some of the documents in random order, each with the same chance; how many there are, and their characters.

    Parameters
    ----------
    documents : iterable of Document
    most : int
        Documents to keep.
    seed : int
    """
    generator = random.Random(seed)
    chosen: list[Document] = []
    total = characters = 0
    for document in documents:
        total += 1
        characters += len(document.text)
        if len(chosen) < most:
            chosen.append(document)
        elif (place := generator.randrange(total)) < most:
            chosen[place] = document
    generator.shuffle(chosen)
    return chosen, total, characters


def estimate(
    train: Callable[[int], int],
    n_sample: int,
    total: int,
    reading: float = 0.0,
    seconds: float = _SECONDS,
    n_fits: Callable[[int], float] = lambda _: 1.0,
) -> Estimate:
    """What a training of ``total`` documents will need.

    Parameters
    ----------
    train : function of a number of documents
        Trains on so many of the sample and returns the bytes of disk that it took.
    n_sample : int
        Documents of the sample.
    total : int
    reading : float
        Seconds that reading the whole input takes.
    seconds : float
        How long to try.
    n_fits : function of a number of documents
        How many fits to all of them a training is worth.
    """
    tried: list[tuple[int, float]] = []
    peaks: list[tuple[int, int]] = []
    disk = 0
    size = min(_FIRST, n_sample)
    with contextlib.suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(size)  # compiled code and libraries are loaded
    began = time.perf_counter()
    while True:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            disk = train(size)
        tried.append((size, time.perf_counter() - start))
        peaks.append((size, peak_memory()))
        # The next part takes at least twice as long.
        enough = len(tried) >= _LEAST and (time.perf_counter() - began) + 2.5 * tried[-1][1] > seconds
        if size >= n_sample or enough:
            break
        size = min(2 * size, n_sample)
    power, one_fit = grown([(size, took / n_fits(size)) for size, took in tried], total)
    return Estimate(
        total, n_fits(total) * one_fit + reading, _line(peaks, total), int(disk * total / size), power, tried
    )


def grown(tried: Sequence[tuple[int, float]], total: int) -> tuple[float, float]:
    """The power of n, and seconds at ``total`` documents, of the curve a + b·n^power through the last trials.

    Parameters
    ----------
    tried : sequence of (documents, seconds)
        Each twice as large as the one before, but the last may be smaller.
    total : int

    Examples
    --------
    >>> power, seconds = grown([(100, 2.0), (200, 3.0), (400, 3.0 + 2.0**1.25)], 800)
    >>> round(power, 6), round(seconds, 6)
    (1.25, 11.035268)
    """
    last, needed = tried[-1]
    if len(tried) < 2 or total <= last:
        return _USUAL, needed * (total / last) ** _USUAL
    before, less = tried[-2]
    power = _USUAL
    if len(tried) > 2 and last == 2 * before == 4 * tried[-3][0] and needed > less > tried[-3][1]:
        power = float(np.clip(np.log2((needed - less) / (less - tried[-3][1])), *_POWERS))
    # A part that took no longer than one of half its size was disturbed: then all of the time is taken to grow.
    rate = max(needed - less, 0.0) / (last**power - before**power) or needed / last**power
    return power, needed + rate * (total**power - last**power)


def _line(peaks: Sequence[tuple[int, int]], total: int) -> int:
    """Peak memory of ``total`` documents, in proportion to what the last documents added."""
    (first, before), (last, after) = (peaks[0], peaks[-1])
    per_document = (after - before) / (last - first) if last > first else 0.0
    return int(after + per_document * max(total - last, 0))


def peak_memory() -> int:
    """Largest resident memory of this process so far, in bytes."""
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most if sys.platform == "darwin" else most * 1024)


def free_disk(folder: Path) -> int:
    """Bytes free where a folder is, or will be made."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def too_large(paths: Sequence[str]) -> str | None:
    """Say that files would not fit into memory in training, with figures; None where they would, or none can tell.

    Parameters
    ----------
    paths : sequence of str
        Files and folders; standard input is not known.
    """
    there = available_memory()
    if there is None or "-" in paths:
        return None
    needed = _PER_BYTE * sum(_size(Path(path)) for path in paths)
    if needed <= _SHARE * there:
        return None
    return f"the input would take about {needed / 2**30:,.1f} GiB of memory of the {there / 2**30:,.1f} available"


def _size(path: Path) -> float:
    """Bytes of text in a file or folder; what is packed is taken to unpack as text does."""
    if path.is_dir():
        return sum(_size(one) for one in path.rglob("*") if one.is_file())
    size: Any = path.stat().st_size if path.exists() else 0
    return float(size * _PACKED.get(path.suffix.lower(), 1.0))

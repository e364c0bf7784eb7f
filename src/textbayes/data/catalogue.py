"""Catalogue of corpora: their declarations, and functions to list, load and check them.

>>> info = {corpus.name: corpus for corpus in list_corpora()}["reuters21578"]
>>> info.expected["train"], info.expected["test"]
(9603, 3299)
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textbayes.core.errors import CorpusNotFoundError, MissingExtraError, TextBayesError
from textbayes.core.progress import Progress
from textbayes.core.registry import Registry
from textbayes.data.corpus import Corpus
from textbayes.data.download import Download, fetch, verify
from textbayes.data.locate import data_home, find_corpus, not_found
from textbayes.data.options import check_options, option_defaults


@dataclass(frozen=True)
class CorpusInfo:
    """A corpus as declared in its module under ``textbayes.data.corpora``.

    Parameters
    ----------
    name, title, homepage, licence : str
        ``licence`` says the terms as far as they are known.
    load : callable
        ``load(path, *, option=default, …) -> Corpus``; its keyword-only parameters are the corpus's options.
    expected : mapping
        Counts that a complete copy has; compared with ``count(path)``.
    expected_at : callable, optional
        ``expected_at(path)``, the counts of a particular copy, where a corpus is distributed in several sizes.
    files : tuple of str
        Patterns of file or folder names, any of which shows that a folder holds the corpus.
    folders : tuple of str
        Other names of the corpus's folder than its own.
    downloads : tuple of Download
        Public files; empty where none is known to be stable.
    build : callable, optional
        ``build(folder, progress)``, writes the corpus's file into its folder, from the downloads there or from other
        public sources, where nobody offers it ready.
    obtain : str
        Where to get it by hand, as a sentence that follows "To get it:".
    count : callable, optional
        ``count(path) -> {name: number}``; without it documents, labels and parts are counted.
    complete : callable, optional
        ``complete(path)``, whether a copy has all that it takes to load it, where parts of it may be had alone.
    locate : callable, optional
        Finds the corpus where it is not a folder of data (the embedded default).
    """

    name: str
    title: str
    homepage: str
    licence: str
    load: Callable[..., Corpus]
    expected: Mapping[str, int]
    files: tuple[str, ...]
    obtain: str
    folders: tuple[str, ...] = ()
    downloads: tuple[Download, ...] = ()
    build: Callable[[Path, Progress | None], None] | None = None
    count: Callable[[Path], dict[str, int]] | None = None
    expected_at: Callable[[Path], Mapping[str, int]] | None = None
    complete: Callable[[Path], bool] | None = None
    locate: Callable[[], Path] | None = None
    notes: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """Options of ``load_corpus`` for this corpus, with their defaults."""
        return option_defaults(self.load)

    @property
    def advice(self) -> str:
        """Advice on how to get the corpus, in a sentence."""
        return ("pass download=True, or " if self.downloads or self.build else "") + self.obtain


class CorpusReport(NamedTuple):
    """Report on a copy of a corpus: its contents against those declared; ``problem`` is empty if all agrees."""

    name: str
    path: Path | None
    found: Mapping[str, int]
    expected: Mapping[str, int]
    problem: str

    @property
    def ok(self) -> bool:
        return not self.problem


CORPORA: Registry[CorpusInfo] = Registry("corpus", "textbayes.data.corpora")


def list_corpora() -> list[CorpusInfo]:
    """All corpora known by name, sorted."""
    return [CORPORA.get(name) for name in CORPORA.names()]


def load_corpus(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    download: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Corpus:
    """Load a corpus by name.

    Parameters
    ----------
    name : str
        One of :func:`list_corpora`.
    path : path, optional
        A file or folder to read it from; otherwise it is looked for in :func:`textbayes.data.search_folders`.
    download : bool
        Whether to get it by :func:`download_corpus` first.
    progress : callable, optional
        As :func:`download_corpus` has it.
    **options
        The corpus's own, see ``CorpusInfo.options``.
    """
    info = CORPORA.get(name)
    check_options(f"corpus {name!r}", info.load, options)
    if download and path is None:
        download_corpus(name, progress)
    place = _place(info, path)
    if place is None:
        raise not_found(info)
    for file in info.downloads:
        verify(file, place)
    return info.load(place, **options)


def download_corpus(name: str, progress: Progress | None = None) -> None:
    """Fetch a corpus to :func:`textbayes.data.data_home` where no copy is found, or build it from its public source.

    Files that are already there are only checked; copies elsewhere and corpora without a public source are left alone.
    A file without a published checksum is named in a warning, with the checksum that it has. Put the one that you
    expect into ``<file>.sha256`` before, and no other file is taken.

    Parameters
    ----------
    name : str
        One of :func:`list_corpora`.
    progress : callable, optional
        ``progress(file name, bytes so far, bytes in all or None)``, or where a corpus is built of many files
        ``progress(what, files so far, files in all)``.
    """
    info = CORPORA.get(name)
    home = data_home() / info.name
    if not (info.downloads or info.build) or _place(info, None) not in ((None,) if info.build else (None, home)):
        return
    for file in info.downloads:
        unchecked = file.expected(home) is None and not (home / file.filename).exists()
        fetch(file, home, progress)
        if unchecked:
            warnings.warn(
                f"{file.filename} is unchecked: no checksum of it is published. Its SHA-256 is {file.expected(home)}, "
                f"recorded in {home / file.filename}.sha256; later uses are checked against it",
                stacklevel=2,
            )
    if info.build is not None:
        home.mkdir(parents=True, exist_ok=True)
        info.build(home, progress)


def corpus_path(name: str) -> Path | None:
    """Path a corpus is read from by default, or None: for tests and benchmarks that skip what is not there."""
    try:
        return _place(CORPORA.get(name), None)
    except MissingExtraError:
        return None


def check_corpus(name: str, path: str | os.PathLike[str] | None = None) -> CorpusReport:
    """Check the copy of a corpus at hand: counts found beside those declared.

    Parameters
    ----------
    name : str
        One of :func:`list_corpora`.
    path : path, optional
        A file or folder to read it from; otherwise it is looked for as :func:`load_corpus` does.
    """
    info = CORPORA.get(name)
    try:
        place = _place(info, path)
        if place is None:
            return CorpusReport(name, None, {}, info.expected, str(not_found(info)))
        found = info.count(place) if info.count else corpus_counts(info.load(place))
        expected = info.expected_at(place) if info.expected_at else info.expected
    except TextBayesError as error:
        return CorpusReport(name, None, {}, info.expected, str(error))
    differ = [
        f"{what}: {found.get(what, 0):,} found, {number:,} expected"
        for what, number in expected.items()
        if found.get(what, 0) != number
    ]
    return CorpusReport(name, place, found, expected, "; ".join(differ))


def corpus_counts(corpus: Corpus) -> dict[str, int]:
    """Count documents, labels and the size of each part."""
    return {"documents": len(corpus), "labels": len(corpus.label_names), **corpus.parts}


def pick(place: Path, info_name: str, *patterns: str) -> Path:
    """A corpus's file: ``place`` itself if it is a file, else the first match of the patterns in it."""
    if place.is_file():
        return place
    for pattern in patterns:
        if found := sorted(place.glob(pattern)):
            return found[0]
    raise CorpusNotFoundError(f"corpus {info_name!r}: {place} holds none of {', '.join(patterns)}; check the folder")


def _place(info: CorpusInfo, path: str | os.PathLike[str] | None) -> Path | None:
    if path is None and info.locate is not None:
        return info.locate()
    return find_corpus(info, path)

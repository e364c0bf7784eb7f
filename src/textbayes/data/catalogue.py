"""Corpora by name: a corpus in memory, where copies are searched for, and functions to list, load and check them.

Copies are looked for at an explicit path, in $TEXTBAYES_DATA, beside the checkout and in the user's cache. Tests and
benchmarks find their corpora by the same rule, through :func:`textbayes.data.corpus_path`.

>>> info = {corpus.name: corpus for corpus in list_corpora()}["reuters21578"]
>>> info.expected["train"], info.expected["test"]
(9603, 3299)
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textbayes.core.atomic import cache_folder
from textbayes.core.errors import CorpusNotFoundError, InputError, MissingExtraError, TextBayesError
from textbayes.core.parameters import check_options, option_defaults
from textbayes.core.progress import Progress
from textbayes.core.registry import Registry
from textbayes.core.types import BoolArray, Document
from textbayes.core.validation import check_same_length
from textbayes.data.download import PublicFile, fetch, verify
from textbayes.data.formats import Record

if TYPE_CHECKING:
    from textbayes.core.labels import LabelSpace


@dataclass(frozen=True, eq=False)  # matrices have no single truth value to compare by
class Corpus:
    """Documents with labels.

    Parameters
    ----------
    name : str
    ids : list of str
    labels : list of tuples of str
        None, one or several per document.
    texts : list of str
        Empty for a corpus of vectors.
    label_names : tuple of str
        All categories, in sorted order; those of the parts are those of the whole.
    split : list of str, optional
        The part of each document: ``train`` or ``test``, or the number of its fold.
    dates : list of str, optional
        YYYY-MM-DD, or a year.
    X : sparse matrix, optional
        One row per document, for a corpus of vectors.
    notes : tuple of str
        What a careful user should know of this copy.

    Examples
    --------
    >>> corpus = Corpus("tea", ["1", "2"], [("green",), ("black",)], ["sencha", "assam"], split=["train", "test"])
    >>> corpus.train.texts, corpus.label_names
    (['sencha'], ('black', 'green'))
    """

    name: str
    ids: list[str]
    labels: list[tuple[str, ...]]
    texts: list[str]
    label_names: tuple[str, ...] = ()
    split: list[str] | None = None
    dates: list[str] | None = None
    X: Any = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_same_length(self.ids, "ids", self.labels, "labels")
        if self.X is None or self.texts:
            check_same_length(self.ids, "ids", self.texts, "texts")
        for name, values in (("split", self.split), ("dates", self.dates), ("X", self.X)):
            if values is not None:
                check_same_length(self.ids, "ids", values, name)
        if not self.label_names:
            found = sorted({label for labels in self.labels for label in labels})
            object.__setattr__(self, "label_names", tuple(found))

    @classmethod
    def of_records(
        cls, name: str, records: Iterable[Record], label_names: Iterable[str] = (), notes: Iterable[str] = ()
    ) -> Corpus:
        """Make a corpus of records in their order; ``split`` and ``date`` among their fields are its parts and dates.

        Parameters
        ----------
        name : str
        records : iterable of Record
        label_names, notes : iterable of str
            As for the corpus.
        """
        rows = list(records)
        split, dates = (
            [row.fields[field] for row in rows] if rows and all(field in row.fields for row in rows) else None
            for field in ("split", "date")
        )
        ids, labels, texts = ([str(row.id) for row in rows], [row.labels for row in rows], [row.text for row in rows])
        return cls(name, ids, labels, texts, tuple(label_names), split, dates, notes=tuple(notes))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        parts = "" if self.split is None else " " + " + ".join(f"{n:,} {part}" for part, n in self.parts.items())
        return f"<Corpus {self.name}: {len(self):,} documents{parts}, {len(self.label_names)} labels>"

    @property
    def parts(self) -> dict[str, int]:
        """The parts there are and their sizes, in order of first appearance."""
        return dict(Counter(self.split or ()))

    @property
    def train(self) -> Corpus:
        """The documents to learn from."""
        return self.part("train")

    @property
    def test(self) -> Corpus:
        """The documents held out."""
        return self.part("test")

    @property
    def single_label(self) -> bool:
        """Whether every document carries exactly one label."""
        return all(len(labels) == 1 for labels in self.labels)

    @property
    def targets(self) -> list[str] | list[tuple[str, ...]]:
        """Labels as estimators take them: a string per document if each has exactly one, else tuples."""
        return [labels[0] for labels in self.labels] if self.single_label else self.labels

    def part(self, *names: str) -> Corpus:
        """The documents of the parts named."""
        for name in names:
            if name not in self.parts:
                there = ", ".join(map(repr, self.parts)) or "none"
                raise InputError(f"corpus {self.name!r} has no part {name!r}; its parts are: {there}")
        assert self.split is not None  # a name was found in it
        return self.take([i for i, part in enumerate(self.split) if part in names])

    def take(self, rows: Sequence[int]) -> Corpus:
        """The documents of the given rows; categories stay those of the whole."""

        def chosen(values: list[Any] | None) -> Any:
            return None if values is None else [values[i] for i in rows]

        return replace(
            self,
            ids=chosen(self.ids),
            labels=chosen(self.labels),
            texts=chosen(self.texts) if self.texts else [],
            split=chosen(self.split),
            dates=chosen(self.dates),
            X=None if self.X is None else self.X[list(rows)],
        )

    def documents(self) -> Iterator[Document]:
        """The documents one by one; a corpus of vectors has none."""
        if not self.texts and len(self):
            raise InputError(f"corpus {self.name!r} holds vectors without texts; use its matrix X")
        yield from map(Document, self.ids, self.texts, self.labels)

    def encode(self) -> tuple[BoolArray, LabelSpace]:
        """Indicator matrix of the labels, in the order of ``label_names``, and their space."""
        from textbayes.core.labels import encode_labels  # scipy: only when used

        return encode_labels(self.targets, classes=self.label_names)


VARIABLE = "TEXTBAYES_DATA"


def data_home() -> Path:
    """The folder downloads go to: the first of $TEXTBAYES_DATA, or else the user's cache."""
    return next(_from_environment(), None) or cache_folder()


def search_folders() -> list[Path]:
    """Folders in which corpora are looked for, in this order.

    $TEXTBAYES_DATA (several folders are separated as in $PATH); ``shared/data`` beside the git checkout that the
    current folder belongs to, if it exists; the user's cache.
    """
    folders = list(_from_environment())
    here = Path.cwd()
    checkout = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    if checkout is not None and (beside := checkout.parent / "shared" / "data").is_dir():
        folders.append(beside)
    return [*folders, cache_folder()]


def copies_in(folder: Path, info: CorpusInfo) -> Iterator[Path]:
    """The places in a folder that hold files of a corpus: folders of its names, or the folder itself."""
    for place in (*(folder / name for name in (info.name, *info.folders)), folder):
        if place.is_dir() and any(True for pattern in info.files for _ in place.glob(pattern)):
            yield place


def _best(copies: Iterable[Path], info: CorpusInfo) -> Path | None:
    """The first copy; where parts may be had alone, the first that is complete if one is."""
    found = list(copies)
    if info.complete is not None and len(found) > 1:
        found = [next((place for place in found if info.complete(place)), found[0])]
    return found[0] if found else None


def find_corpus(info: CorpusInfo, path: str | os.PathLike[str] | None = None) -> Path | None:
    """Find the file or folder to read a corpus from, or None; an explicit path that holds no copy is refused."""
    if path is None:
        return _best((place for folder in search_folders() for place in copies_in(folder, info)), info)
    place = Path(path)
    if place.is_file():
        return place
    found = _best(copies_in(place, info), info)
    if found is None:
        what = f"holds none of {', '.join(info.files)}" if place.exists() else "does not exist"
        raise CorpusNotFoundError(f"corpus {info.name!r}: {place} {what}; {info.advice}")
    return found


def not_found(info: CorpusInfo) -> CorpusNotFoundError:
    """The refusal that lists every place searched and what to do."""
    places = "; ".join(str(folder / (info.folders or (info.name,))[0]) for folder in search_folders())
    unset = "" if os.environ.get(VARIABLE) else f" (${VARIABLE} is not set)"
    wanted = " or ".join(info.files)
    return CorpusNotFoundError(
        f"corpus {info.name!r} was not found{unset}. Searched for {wanted} in: {places}. To get it: {info.advice}"
    )


def _from_environment() -> Iterator[Path]:
    value = os.environ.get(VARIABLE, "")
    yield from (Path(part).expanduser() for part in value.split(os.pathsep) if part)


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
    downloads : tuple of PublicFile
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
    downloads: tuple[PublicFile, ...] = ()
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

    Files that are already there are only checked; copies elsewhere, unless they lack parts that it takes to load the
    corpus, and corpora without a public source are left alone.
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
    copy = _place(info, None)
    in_part = copy is not None and info.complete is not None and not info.complete(copy)
    if not (info.downloads or info.build) or (copy not in ((None,) if info.build else (None, home)) and not in_part):
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

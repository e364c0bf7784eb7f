"""One frame for all papers: an :class:`Experiment` that a paper fills in, and a :class:`PaperRun` that carries it out.

What every reproduction has in common stands here, once; a paper's folder holds only what is its own.

**Experiment** says what there is: the paper, the numbers of its tables and figures in the paper's order, the corpora
that each of them needs, and, behind a function, so that listing papers imports nothing heavy, the *exhibits*: one
function ``run -> Table``, ``Figure`` or several of them for each number. It chooses what is wanted, says what cannot
be run for want of a corpus, and goes through the rest. Each result is given away as soon as it is done.

**PaperRun** is what an exhibit gets: whether to be ``quick``, how many ``draws`` to keep, which numbers are ``wanted``,
and what earlier exhibits left behind. ``run.load(name, make)`` reads a data set once for all exhibits, and
``run.outcomes(...)`` runs systems with progress under the number of the exhibit.

**Systems** is the loop. The systems of one data set are run on its *units*: whatever is fitted by itself, so a topic
(sparse, online), a fold (contagion), a simulated data set or a split and a skewness (flexlink), a resampling and a
domain (gibbs), the stream of a topic (filtering). A paper writes two methods:

- ``fit(system, unit)`` does one piece of work. It may look at the training part of its unit only; hyperparameters are
  chosen there, by :func:`best_setting` of what a validation part says, the first of equals.
- ``collect(system, parts)`` makes the outcome of a system out of the parts of all units; by default it is their list.

The frame does the rest: units run in threads, each with one thread of linear algebra; parts come in the order of the
units whatever finishes first, so figures depend on seeds and not on threads; progress is counted; and outcomes are
remembered, for the tables of a paper share columns, and each system is fitted once.

**Table** (:mod:`textbayes.reproduce.results`) sets published figures beside ours. ``Table.by_row`` and
``Table.by_column`` take both by name, and leave a dash where either has nothing: a system that ``quick`` leaves out,
data that are not public, a table that the paper has not. What is said of the figures (notes) is made of the same
outcomes by the exhibit. Measures and tests are those of :mod:`textbayes.evaluate`; means over resamplings have the
intervals of :mod:`textbayes.reproduce.results`. :mod:`textbayes.reproduce.render` prints and writes results.

So a new paper is a folder with ``published.toml`` (figures as printed, held against the paper by ``tests/golden``), one
or more ``Systems``, and ``tables.py`` with its ``EXHIBITS``; its ``__init__`` registers the ``Experiment``:

    papers.register("sparse")(Experiment("sparse", title, reference, {"table 1": ("reuters21578",), ...}, exhibits))
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from textbayes.core.errors import InputError
from textbayes.core.executor import executor_in_use, in_parallel
from textbayes.core.machine import n_cores
from textbayes.core.progress import Progress, silent
from textbayes.core.types import BoolArray
from textbayes.data import CORPORA, Corpus, corpus_path
from textbayes.reproduce.results import Figure, Result, Table
from textbayes.text.tokenize import DEFAULT_PATTERN

System = TypeVar("System", bound=Hashable)
Unit = TypeVar("Unit")
Part = TypeVar("Part")
Outcome = TypeVar("Outcome")
T = TypeVar("T")
_LEAST_DRAWS = 8


class Systems(ABC, Generic[System, Unit, Part, Outcome]):
    """Run the systems of an experiment on every unit of one data set, each system once.

    Parameters
    ----------
    units : iterable
        What is fitted by itself: topics, folds, splits, ...
    """

    threads: ClassVar[bool] = True

    def __init__(self, units: Iterable[Unit]) -> None:
        self.units = tuple(units)
        self._outcomes: dict[System, Outcome] = {}

    @abstractmethod
    def fit(self, system: System, unit: Unit) -> Part:
        """Run a system on one unit."""

    def collect(self, system: System, parts: list[Part]) -> Outcome:
        """Make a system's outcome of its parts, which are in the order of the units; as they are unless overridden."""
        return parts  # type: ignore[return-value]

    def prepare(self, system: System) -> None:
        """Compute what the units of a system share, once, before the threads ask for it."""

    def outcomes(self, systems: Iterable[System], what: str = "", progress: Progress = silent) -> dict[System, Outcome]:
        """Return the outcome of each system; those that were not run yet are run, with progress under ``what``."""
        asked = list(dict.fromkeys(systems))
        missing = [system for system in asked if system not in self._outcomes]
        done, total = itertools.count(1), len(missing) * len(self.units)
        for system in missing:
            self.prepare(system)
            parts = []
            for part in run_units(partial(self.fit, system), self.units, self.threads):
                parts.append(part)
                progress(what, next(done), total)
            self._outcomes[system] = self.collect(system, parts)
        return {system: self._outcomes[system] for system in asked}

    def outcome(self, system: System) -> Outcome:
        """Return the outcome of one system."""
        return self.outcomes([system])[system]


def run_units(one: Callable[[Unit], Part], units: Iterable[Unit], threads: bool = True) -> Iterator[Part]:
    """Apply a function to every unit, by the executor in use or in ``threads``; results are in their order."""
    # Threads are for units: those of the linear algebra would wait for each other.
    with threadpool_limits(1 if threads else None):
        side_by_side = threads or executor_in_use() is not None
        yield from in_parallel(one, list(units), n_cores()) if side_by_side else map(one, units)


def corpus_is_there(name: str) -> bool:
    """Whether a corpus is found, and all of it."""
    path, complete = corpus_path(name), CORPORA.get(name).complete
    return path is not None and (complete is None or complete(path))


def best_setting(settings: Sequence[T], quality: Sequence[float]) -> T:
    """Return the setting of the highest quality, of equals the first.

    >>> best_setting(["few", "many", "all"], [0.8, 0.9, 0.9])
    'many'
    """
    return settings[max(range(len(settings)), key=lambda place: quality[place])]


class PaperRun:
    """One run of an experiment: what is asked of it, the data read, and the exhibit at work.

    Parameters
    ----------
    wanted : collection of str
        The numbers that are run.
    quick : bool
        Whether part of the work will do.
    progress : callable
        Called with ``(what, done, total)``.
    draws : int, optional
        Draws to keep of each posterior; as many as are needed unless given.
    iterations : int, optional
        Of a chain as the paper ran it, beside those that end when they may; none unless given.
    """

    def __init__(
        self, wanted: Collection[str] = (), quick: bool = False, progress: Progress = silent,
        draws: int | None = None, iterations: int | None = None,
    ) -> None:  # fmt: skip
        self.wanted, self.quick, self.progress = frozenset(wanted), quick, progress
        self.draws, self.iterations = draws, iterations
        self.number = ""
        self._loaded: dict[str, Any] = {}

    def load(self, name: str, make: Callable[[], T]) -> T:
        """Return the data of that name, made once in a run."""
        if name not in self._loaded:
            self.progress(f"reading {name}", 0, 1)
            self._loaded[name] = make()
            self.progress(f"reading {name}", 1, 1)
        found: T = self._loaded[name]
        return found

    def outcomes(
        self, of: Systems[System, Any, Any, Outcome], systems: Iterable[System], detail: str = ""
    ) -> dict[System, Outcome]:
        """Return the outcome of each system, run with progress under the number at work and a ``detail`` of it."""
        return of.outcomes(systems, self.number + detail, self.progress)

    def outcome(self, of: Systems[System, Any, Any, Outcome], system: System, detail: str = "") -> Outcome:
        """Return the outcome of one system."""
        return self.outcomes(of, [system], detail)[system]


Exhibit: TypeAlias = Callable[[PaperRun], Result | Iterable[Result]]


@dataclass(frozen=True)
class Experiment:
    """The experiments of a paper, to be run again.

    Parameters
    ----------
    name, title, reference : str
        The paper, by its short name and as it is cited.
    needs : mapping
        What can be reproduced, such as ``"table 1"`` and ``"figure 2"``, in the paper's order, and the corpora that
        each of them cannot do without.
    exhibits : callable
        Returns the function that makes each of these numbers; called only when something is run.
    minutes : (int, int)
        What all of it takes on two cores or so, and what the quick part of it takes.
    samples : bool
        Whether posteriors are sampled, so that the number of draws may be given.
    draws : int, optional
        Draws kept of each posterior; by default as many as are needed.
    iterations : int, optional
        Of a chain as the paper ran it, beside the others; by default none is run.
    """

    name: str
    title: str
    reference: str
    needs: Mapping[str, tuple[str, ...]]
    exhibits: Callable[[], Mapping[str, Exhibit]]
    minutes: tuple[int, int] = (1, 1)
    samples: bool = False
    draws: int | None = None
    iterations: int | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """Tables and figures that can be reproduced, in the paper's order."""
        return tuple(self.needs)

    def corpora_for(self, wanted: Collection[str]) -> tuple[str, ...]:
        """Return the corpora that the wanted numbers need, in the order in which they are first needed."""
        return tuple(dict.fromkeys(name for number in self.numbers if number in wanted for name in self.needs[number]))

    def choose(self, only: Iterable[str]) -> tuple[str, ...]:
        """Return the numbers asked for, in the paper's order; all of them if none is named.

        >>> short = Experiment("short", "A short paper", "1999", dict.fromkeys(("table 1", "table 2"), ()), dict)
        >>> short.choose(["Table  2"])
        ('table 2',)
        """
        asked = {" ".join(number.lower().split()) for number in only}
        unknown = sorted(asked.difference(self.numbers))
        if unknown:
            raise InputError(f"{self.name!r} has no {unknown[0]!r} to reproduce; it has {', '.join(self.numbers)}")
        return tuple(number for number in self.numbers if number in asked or not asked)

    def missing_corpora(self, wanted: Collection[str]) -> tuple[str, ...]:
        """Return those of the corpora needed that are not there, or only in part."""
        return tuple(name for name in self.corpora_for(wanted) if not corpus_is_there(name))

    def with_chains(self, draws: int | None = None, iterations: int | None = None) -> Experiment:
        """Return the same with chains of a given length, if the paper samples."""
        for name, given, such in (("draws", draws, 40_000), ("iterations", iterations, 60_000)):
            if given is not None and not self.samples:
                raise InputError(f"paper {self.name!r} draws no samples; leave --{name} out")
            if given is not None and given < _LEAST_DRAWS:
                raise InputError(f"{name}={given} is given; pass {_LEAST_DRAWS} or more, such as {such}")
        return replace(self, draws=draws, iterations=iterations)

    def run(self, wanted: Collection[str], quick: bool = False, progress: Progress = silent) -> Iterator[Result]:
        """Yield each of the wanted results as soon as it is done; ``quick`` runs part of it, in minutes."""
        run, exhibits = PaperRun(wanted, quick, progress, self.draws, self.iterations), self.exhibits()
        for number in self.numbers:
            if number in run.wanted:
                run.number = number
                made = exhibits[number](run)
                yield from (made,) if isinstance(made, Table | Figure) else made


class TextRules(NamedTuple):
    """Rules that turn stories into words.

    By default runs of two or more letters and digits of headline and body, in lower case, without the words of the
    SMART list, not stemmed.
    """

    pattern: str | None = None
    stop_words: str | None = "smart"
    stemmer: str | None = None
    headline: bool = True

    def counts(self, train: Corpus, test: Corpus) -> tuple[Any, Any]:
        """Count the words that the training stories have, in these and in the test stories."""
        from textbayes.text import TextVectorizer

        vectorizer = TextVectorizer(
            token_pattern=self.pattern or DEFAULT_PATTERN, stop_words=self.stop_words, stemmer=self.stemmer
        )
        texts = [part.texts if self.headline else list(map(_body, part.texts)) for part in (train, test)]
        return vectorizer.fit_transform(texts[0]), vectorizer.transform(texts[1])


def _body(text: str) -> str:
    """A story without its first line, which is the headline unless it is all there is."""
    return text.partition("\n")[2] or text


def indicator(labels: Iterable[Sequence[str]], topics: Sequence[str]) -> BoolArray:
    """Return which of the topics each document has, (n_docs, n_topics)."""
    return np.array([[topic in row for topic in topics] for row in map(set, labels)], dtype=np.bool_)

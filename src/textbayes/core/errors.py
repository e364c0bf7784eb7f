"""Errors a user can meet. Every message says what was given, what is needed and what to do.

TextBayesError
├── InputError (ValueError)          arguments or data that cannot be used
│   ├── NotSupportedError            a combination that does not exist, with a way on
│   └── MalformedFileError           a data file that cannot be read: file, line, cause
├── CorpusNotFoundError              a named corpus is on none of the paths searched
├── ModelFileError                   a model file that is truncated, altered, newer or not a model
└── MissingExtraError (ImportError)  an optional dependency is not installed
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import os
from collections.abc import Iterable
from os import PathLike

_LONGEST = 2_000  # characters of a cause
_MOST_BESIDE = 1_000  # files among which one that was misspelt is looked for


class TextBayesError(Exception):
    """Base of every error raised on purpose by textbayes; the command line prints it as one sentence."""


class InputError(TextBayesError, ValueError):
    """Arguments or data that cannot be used as given."""


class NotSupportedError(InputError):
    """A combination that does not exist; the message names what is missing and a way on."""


class MalformedFileError(InputError):
    """A data file that cannot be read; the message names the file, the line and the cause."""

    def __init__(self, path: str | PathLike[str], cause: str, line: int | None = None) -> None:
        where = f"{path}" if line is None else f"{path}, line {line}"
        if len(cause) > _LONGEST:  # it quotes the file, which may hold anything
            cause = f"{cause[: _LONGEST // 2]} … {cause[-_LONGEST // 2 :]}"
        super().__init__(f"{where}: {cause}")
        self.path, self.cause, self.line = path, cause, line

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.path, self.cause, self.line)


class CorpusNotFoundError(TextBayesError):
    """A named corpus is on none of the paths searched and could not be downloaded."""


class ModelFileError(TextBayesError):
    """A model file that is truncated, altered, written by a newer version or not a model file."""


class MissingExtraError(TextBayesError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'textbayes[{extra}]'")
        self._given = package, extra, purpose

    def __reduce__(self) -> tuple[type, tuple[str, ...]]:  # a worker's errors are raised where its work was asked for
        return type(self), self._given


def is_interrupt(error: BaseException) -> bool:
    """Whether an error is Ctrl-C: a compiled kernel that is interrupted raises a SystemError caused by it."""
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__ or cause.__context__
    return isinstance(cause, KeyboardInterrupt)


def plural(number: int, noun: str, several: str | None = None) -> str:
    """A number and what it counts; ``several`` is what more than one are called, with an s if not given.

    >>> plural(1, "label"), plural(0, "label"), plural(1200, "story", "stories")
    ('1 label', '0 labels', '1,200 stories')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message on a name that is not known: the closest one that is, or nothing where none is close.

    >>> did_you_mean("Buchaltung", ["Buchhaltung", "Vertrieb"]), did_you_mean("x", ["Vertrieb"])
    ("; did you mean 'Buchhaltung'?", '')
    """
    names = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), names, n=1)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def did_you_mean_path(path: str | PathLike[str], folders: bool = False) -> str:
    """The end of a message on a file or folder that is not there: one beside it with a name much like its own.

    Parameters
    ----------
    path : path
    folders : bool
        Whether a folder was meant.
    """
    place, name = os.path.split(os.fspath(path))
    with contextlib.suppress(OSError), os.scandir(place or ".") as found:
        beside = [one.name for one in itertools.islice(found, _MOST_BESIDE) if one.is_dir() or not folders]
        if close := did_you_mean(name, beside):
            return close
    return ""

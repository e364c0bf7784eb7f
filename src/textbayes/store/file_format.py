"""Kinds of file that hold state: how they say what they are, and what is said of one that cannot be used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textbayes._version import __version__
from textbayes.core.errors import ModelFileError, TextBayesError

ARRAYS = "arrays.safetensors"
MOST_BYTES = 32 << 20  # of JSON
_UNFORESEEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class FileFormat:
    """A kind of file that holds state.

    Parameters
    ----------
    name : str
        Told in the file.
    version : int
        The one that is written, and the newest that is read.
    noun : str
        A word for such a file in messages.
    remedy : str
        What to do about one that is damaged.
    description : str
        The member with the JSON part of a state.
    manifest : str, optional
        The member that names the format and has checksums of the others; without one the description names it.
    largest : int
        The most bytes that a description may have.
    source, missing : str, optional
        What to do where something else was given, and where there is nothing; the remedy if not told.
    """

    name: str
    version: int
    noun: str
    remedy: str
    description: str = "state.json"
    manifest: str | None = None
    largest: int = MOST_BYTES
    source: str | None = None
    missing: str | None = None

    @property
    def members(self) -> tuple[str, ...]:
        """Members of a file, none more than once."""
        return (*([self.manifest] if self.manifest else []), self.description, ARRAYS)

    def mark(self) -> dict[str, Any]:
        """What files that are written now say of themselves."""
        return {"format": self.name, "format_version": self.version, "textbayes": __version__}

    def check_mark(self, path: Path, told: Any) -> dict[str, Any]:
        """Refuse what another program, or a later version of this one, wrote."""
        version = told.get("format_version") if isinstance(told, dict) else None
        if type(version) is not int or version < 1 or told.get("format") != self.name:
            raise ModelFileError(f"{path} is not a textbayes {self.noun}; {self.source or self.remedy}")
        if version > self.version:
            raise ModelFileError(
                f"{path} has format version {version}, written by textbayes {str(told.get('textbayes', '?'))[:40]}; "
                f"this is textbayes {__version__}, which reads up to version {self.version}: upgrade textbayes"
            )
        return dict(told)

    @contextlib.contextmanager
    def damage(self, path: Path) -> Iterator[None]:
        """Turn what goes wrong with the contents of a file into a ``ModelFileError`` that names it."""
        try:
            yield
        except TextBayesError as error:
            reason = without_question(error)
            raise ModelFileError(f"{path} is a damaged {self.noun}: {reason}; {self.remedy}") from error
        except _UNFORESEEN as error:  # a file should never end in a traceback
            raise ModelFileError(
                f"{path} is a damaged {self.noun}, in a way that was not foreseen ({error!r:.100}); {self.remedy}"
            ) from error
        except MemoryError:
            raise ModelFileError(f"{path} needs more memory than there is; was the file altered?") from None


def without_question(error: TextBayesError) -> str:
    """The sentence of an error, which may end in "was the file altered?", for use in another one."""
    return str(error).removesuffix("; was the file altered?")

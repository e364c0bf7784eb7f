r"""BibTeX files.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> file = b"@article{a7, title={The {T}ea}, abstract={Leaves.}, year=1999}"
>>> next(FORMATS.get("bibtex").read(io.BytesIO(file)))
Document(id='a7', text='The Tea\nLeaves.', labels=())
"""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from textbayes.core.errors import MalformedFileError, MissingExtraError
from textbayes.data.formats import FORMATS
from textbayes.data.formats.references import Row, reference_format, reference_row
from textbayes.data.streams import Source, read_text, source_label

_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\\)%")  # in LaTeX; in a title it is a percentage
_LONGEST = 100_000  # characters of a field in which LaTeX is looked for
_ENTRY = re.compile(r"@\s*[^\s{}()@]+\s*[{(]")  # else an @ is of an address, say
_SIGNS = {"AT": "@", "QUOTE": '"', "LBRACE": "{", "RBRACE": "}"}  # by the parser's name for them
_FREE, _RATIO = 1 << 20, 4  # characters that abbreviations may stand for: so many, or a multiple of the file's own
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*@[A-Za-z]+\s*\{[^\n]*,\s*\n")


def _references(source: Source, encoding: str, errors: str) -> Iterator[Row]:
    for key, fields in _entries(read_text(source, encoding, errors), source_label(source)):

        def first(*names: str, fields: dict[str, str] = fields) -> str:
            return next((fields[name] for name in names if fields.get(name)), "")

        title = ": ".join(filter(None, (first("title", "booktitle"), first("subtitle"))))
        row = reference_row(
            **{name: first(name) for name in ("abstract", "doi", "keywords", "url")},
            title=title,
            authors=_AND.split(first("author")),
            year=first("year", "date"),
            journal=first("journal", "journaltitle", "booktitle"),
            pmid=first("pmid", *(["eprint"] if first("eprinttype").lower() == "pubmed" else [])),
        )
        yield None, {"id": key, **row}


def _entries(text: str, label: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The key and the fields of each entry; a fault in one is named, text between entries is passed over."""
    try:
        from pybtex.database.input.bibtex import LowLevelParser, month_names  # type: ignore[import-untyped]
        from pybtex.scanner import Token  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("pybtex", "screen", "reading BibTeX files") from None

    signs = {getattr(LowLevelParser, name): sign for name, sign in _SIGNS.items()}

    class Parser(LowLevelParser):
        """Looks for all signs at once: each by itself may be far away, and is looked for at every other one."""

        pos: int

        def skip_to(self, patterns: list[Any]) -> Any:
            of_sign = {signs[pattern]: pattern for pattern in patterns}
            found = re.compile(f"[{''.join(of_sign)}]").search(self.text, self.pos)
            if found is None:
                return None
            value = self.text[self.pos : found.end()]
            self.pos = found.end()
            self.update_lineno(value)
            return Token(value, of_sign[found[0]])

    passed_over: set[int] = set()

    def refuse(error: Exception) -> None:
        start = parser.command_start
        within_a_line = text[max(0, start - 200) : start].rpartition("\n")[2].strip()
        if within_a_line and _ENTRY.match(text, start) is None:
            passed_over.add(start)
            return
        raise MalformedFileError(label, f"{error}; mend the entry, or export the references as RIS") from error

    parser = Parser(text, macros=_Abbreviations(month_names, len(text), label), handle_error=refuse)
    for kind, content in parser:
        if parser.command_start not in passed_over and kind.lower() not in ("string", "preamble"):
            key, fields = content
            yield key, {name.lower(): _plain("".join(parts)) for name, parts in fields}


class _Abbreviations(dict[str, str]):
    """What ``@string`` names stand for, in capitals or not; refused before they stand for far more than the file has.

    Each may be made of others, so that a few hundred bytes could stand for gigabytes.
    """

    def __init__(self, given: Mapping[str, str], size: int, label: str) -> None:
        super().__init__(given)
        self._left, self._label = max(_FREE, _RATIO * size), label

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)

    def __getitem__(self, name: str) -> str:
        value = super().__getitem__(name.lower())
        self._left -= len(value)
        if self._left < 0:
            cause = f"its abbreviations (@string) stand for far more text than it has, {name!r:.40} among them"
            raise MalformedFileError(self._label, f"{cause}: write them out, or export the references as RIS")
        return value


def _plain(value: str) -> str:
    """Without LaTeX, as far as it stands for characters, and without braces; one space between words."""
    value = " ".join(value.split())
    if "\\" in value and len(value) < _LONGEST:
        import latexcodec  # noqa: F401 - registers the codec

        with contextlib.suppress(ValueError):  # left as it is
            value = codecs.lookup("ulatex").decode(_COMMENT.sub(r"\\%", value))[0]  # type: ignore[arg-type]  # a str
    return value.replace("{", "").replace("}", "")


FORMATS.register("bibtex")(reference_format("bibtex", "BibTeX", (".bib",), _BEGINS, _references))

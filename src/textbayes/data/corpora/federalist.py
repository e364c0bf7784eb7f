"""The Federalist Papers: 85 essays of 1787-88 and who wrote them, the authorship problem of Mosteller & Wallace.

corpus = load_corpus("federalist")
known, disputed = corpus.train, corpus.part("disputed")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textbayes.core.errors import CorpusNotFoundError, MalformedFileError
from textbayes.core.progress import Progress
from textbayes.core.validation import check_choice
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.download import PublicFile
from textbayes.data.formats.jsonl import read_jsonl, write_jsonl

_FIELDS = {"gutenberg": "text", "stine": "text_stine"}

_GUTENBERG = PublicFile(
    "pg1404.txt",
    # a copy that stays as it is: Project Gutenberg now and then sets its text anew
    ("https://raw.githubusercontent.com/mbernico/federalist/57b4649a318c38989f93568c436197f45058935f/data/pg1404.txt",),
    sha256="90ac654e4fa95dc4ddafbf73e585dabb21dc3ee0bb72e112d50bba3d3422a283",  # of the file in that commit
    largest=1_186_902,
)
_N_ESSAYS = 85
_HEADING = re.compile(r"^[ \t]*(?:THE )?FEDERALIST\.? No\. (\d+)\.?[ \t]*$", re.MULTILINE)
_NAME = "(HAMILTON|MADISON|JAY)"
_AUTHOR = re.compile(rf"^[ \t]*{_NAME}(?:,? (?i:and|or|with) {_NAME})?[ \t]*$", re.MULTILINE)
_END = re.compile(r"^(?:\*\*\* ?END OF|End of (?:the )?Project Gutenberg)", re.MULTILINE)
# Gutenberg follows Madison's claims; these are the essays that Mosteller & Wallace (1964) count as joint and disputed.
_JOINT, _DISPUTED = range(18, 21), {*range(49, 59), 62, 63}


def load_federalist(path: Path, *, text: str = "gutenberg") -> Corpus:
    """Essays by number, labelled by author.

    Parameters
    ----------
    path : Path
        ``federalist.jsonl``, compressed or not, or a folder that holds it.
    text : {"gutenberg", "stine"}
        Project Gutenberg's text, or R. Stine's with punctuation coded as ``<c>``, ``<p>``, ….

    The parts are ``train`` (one known author), ``disputed`` (Hamilton or Madison) and ``joint`` (Hamilton and Madison).
    """
    check_choice("text", text, tuple(_FIELDS))
    file = pick(path, "federalist", "federalist*.jsonl*")
    first = next(read_jsonl(file), None)
    if text == "stine" and first is not None and "text_stine" not in first.fields:
        raise CorpusNotFoundError(
            f"{file} has Project Gutenberg's text only, as built by download=True; take text='gutenberg', or add "
            "Stine's text of each essay as text_stine (github.com/ariddell/corpora-mosteller-wallace-federalist)"
        )
    records = read_jsonl(file, text_field=_FIELDS[text], label_field="author", id_field="number")
    parted = [record._replace(fields={"split": _part(record.labels[0])}) for record in records]
    return Corpus.of_records("federalist", sorted(parted, key=lambda record: int(record.id or 0)))


def _part(author: str) -> str:
    return "disputed" if " OR " in author else "joint" if " AND " in author else "train"


def build_federalist(folder: Path, progress: Progress | None = None) -> None:
    """Write ``federalist.jsonl`` from Project Gutenberg's text in the same folder.

    Parameters
    ----------
    folder : Path
    progress : callable, optional
        Not called: it takes no time.
    """
    file = folder / _GUTENBERG.filename
    text = file.read_text(encoding="utf-8-sig")
    essays = {essay["number"]: essay for essay in reversed(list(_essays(text)))}  # of two versions the first
    if sorted(essays) != list(range(1, _N_ESSAYS + 1)):
        cause = f"{len(essays)} essays with an author's line are found where {_N_ESSAYS} are needed"
        raise MalformedFileError(file, f"{cause}: take another copy of Project Gutenberg's text")
    write_jsonl(folder / "federalist.jsonl", (essays[number] for number in sorted(essays)))


def _essays(book: str) -> Iterator[dict[str, Any]]:
    """Essays in the order of the book, without their author's line; headings of a table of contents have none."""
    end = _END.search(book)
    _, *pieces = _HEADING.split(book[: end.start()] if end else book)
    for number, text in zip(map(int, pieces[::2]), pieces[1::2], strict=True):
        if line := _AUTHOR.search(text):
            author = "HAMILTON AND MADISON" if number in _JOINT else line[1]
            author = "HAMILTON OR MADISON" if number in _DISPUTED else author
            text = re.sub(r"\n{3,}", "\n\n", text[: line.start()] + text[line.end() :]).strip()
            yield {"number": number, "author": author, "text": text}


CORPORA.register("federalist")(
    CorpusInfo(
        name="federalist",
        title="The Federalist Papers: 85 essays by Hamilton, Madison and Jay, 12 of them disputed",
        homepage="https://www.gutenberg.org/ebooks/1404",
        licence="public domain",
        load=load_federalist,
        expected={"documents": 85, "labels": 5, "train": 70, "disputed": 12, "joint": 3},
        files=("federalist*.jsonl*",),
        downloads=(_GUTENBERG,),
        build=build_federalist,
        obtain="write federalist.jsonl, one object an essay with number, author and text, from the homepage's text",
    )
)

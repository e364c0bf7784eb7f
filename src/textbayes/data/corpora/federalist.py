"""The Federalist Papers: 85 essays of 1787-88 and who wrote them, the authorship problem of Mosteller & Wallace.

corpus = load_corpus("federalist")
known, disputed = corpus.train, corpus.part("disputed")
"""

from __future__ import annotations

from pathlib import Path

from textbayes.core.validation import check_choice
from textbayes.data.catalogue import CORPORA, CorpusInfo, pick
from textbayes.data.corpus import Corpus
from textbayes.data.formats.jsonl import read_jsonl

_FIELDS = {"gutenberg": "text", "stine": "text_stine"}


def load_federalist(path: Path, *, text: str = "gutenberg") -> Corpus:
    """Essays by number, labelled by author.

    Parameters
    ----------
    path : Path
        ``federalist.jsonl.gz`` or a folder that holds it.
    text : {"gutenberg", "stine"}
        Project Gutenberg's text, or R. Stine's with punctuation coded as ``<c>``, ``<p>``, ….

    The parts are ``train`` (one known author), ``disputed`` (Hamilton or Madison) and ``joint`` (Hamilton and Madison).
    """
    check_choice("text", text, tuple(_FIELDS))
    file = pick(path, "federalist", "federalist*.jsonl*")
    records = sorted(
        read_jsonl(file, text_field=_FIELDS[text], label_field="author", id_field="number"),
        key=lambda record: int(record.id or 0),
    )
    return Corpus(
        "federalist",
        [str(record.id) for record in records],
        [record.labels for record in records],
        [record.text for record in records],
        split=[_part(record.labels[0]) for record in records],
    )


def _part(author: str) -> str:
    return "disputed" if " OR " in author else "joint" if " AND " in author else "train"


CORPORA.register("federalist")(
    CorpusInfo(
        name="federalist",
        title="The Federalist Papers: 85 essays by Hamilton, Madison and Jay, 12 of them disputed",
        homepage="https://www.gutenberg.org/ebooks/1404",
        licence="public domain",
        load=load_federalist,
        expected={"documents": 85, "labels": 5, "train": 70, "disputed": 12, "joint": 3},
        files=("federalist*.jsonl*",),
        obtain="write federalist.jsonl, one object an essay with number, author and text, from the homepage's text",
    )
)

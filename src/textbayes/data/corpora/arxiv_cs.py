"""arXiv papers of computer science, 1989 to 2019, in order of time: a stream for adaptive filtering, multi-label.

corpus = load_corpus("arxiv_cs", test_from="2018-07-01")
"""

from __future__ import annotations

import sys
from pathlib import Path

from textbayes.core.errors import CorpusNotFoundError, InputError, MalformedFileError
from textbayes.core.validation import check_choice
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.formats.delimited import read_tsv


def load_arxiv(path: Path, *, categories: str = "complete", test_from: str = "2019-01-01") -> Corpus:
    """Titles and abstracts by date of creation.

    Parameters
    ----------
    path : Path
        ``arxiv_cs.tsv.xz`` with ``categories.tsv`` beside it, or a folder that holds them.
    categories : {"complete", "all"}
        Labels kept: the 34 categories of which all papers are here, or every category code.
    test_from : str
        Papers from this day on (YYYY-MM-DD) are the test part.
    """
    check_choice("categories", categories, ("complete", "all"))
    if len(test_from) != 10 or test_from[4::3] != "--":
        raise InputError(f"test_from={test_from!r} must be a day as YYYY-MM-DD")
    file = pick(path, "arxiv_cs", "arxiv_cs*.tsv*")
    names = _complete(file.parent / "categories.tsv") if categories == "complete" else None
    ids, labels, texts = [], [], []
    dates: list[str] = []
    options = {"text_field": ("title", "abstract"), "label_field": "categories", "id_field": "arxiv_id"}
    for record in read_tsv(file, label_separator=",", **options):  # type: ignore[arg-type]
        created = record.fields["created"]
        if dates and created < dates[-1]:
            raise MalformedFileError(
                file, f"{created} after {dates[-1]}: the rows must be in order of time", record.line
            )
        ids.append(str(record.id))
        # intern: a few hundred label tuples' strings instead of one copy per paper
        labels.append(tuple(sys.intern(name) for name in record.labels if names is None or name in names))
        texts.append(record.text)
        dates.append(sys.intern(created))
    split = ["test" if date >= test_from else "train" for date in dates]
    return Corpus("arxiv_cs", ids, labels, texts, tuple(sorted(names)) if names else (), split, dates)


def _complete(file: Path) -> set[str]:
    if not file.exists():
        raise CorpusNotFoundError(f"corpus 'arxiv_cs': {file} is missing; add it, or pass categories='all'")
    rows = read_tsv(file, text_field="category", label_field="complete")
    return {record.text for record in rows if record.labels == ("1",)}


CORPORA.register("arxiv_cs")(
    CorpusInfo(
        name="arxiv_cs",
        title="arXiv computer science 1989-2019: titles and abstracts in order of time, 34 categories, multi-label",
        homepage="https://doi.org/10.5281/zenodo.1463242",
        licence="descriptive metadata CC0 by arXiv's terms; cite Geiger 2020, doi:10.5281/zenodo.1463242",
        load=load_arxiv,
        expected={"documents": 146_600, "labels": 34, "train": 117_812, "test": 28_788},
        files=("arxiv_cs*.tsv*",),
        folders=("arxiv_cs_stream",),
        obtain="merge the cs.* files of the archive at the homepage into arxiv_cs.tsv "
        "(arxiv_id, created, categories, title, abstract; by date)",
        notes=("cs.AI, cs.CL, cs.CV, cs.DS, cs.IT and cs.LG are incomplete and no labels by default",),
    )
)

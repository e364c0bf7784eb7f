"""Screening data of systematic reviews: which of the references found were included, 14 drug reviews and 3 others.

corpus = load_corpus("systematic_reviews", review="ACEInhibitors")
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.data.archives import iter_members
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.formats.delimited import read_csv
from textbayes.data.streams import LabelledStream

_STAGES = {"final": "label_included", "abstract": "label_abstract_screening"}


def load_systematic_reviews(path: Path, *, review: str | None = None, stage: str = "final") -> Corpus:
    """Titles and abstracts, labelled ``included`` or ``excluded``; ids are ``review/record``, parts are the reviews.

    Parameters
    ----------
    path : Path
        ``csv.tar.xz``, or a folder that holds it or the CSV files.
    review : str, optional
        One review, such as ``ACEInhibitors``; all of them, if not given.
    stage : {"final", "abstract"}
        Included in the end, or after reading the abstract (where a review records that).
    """
    check_choice("stage", stage, tuple(_STAGES))
    records, names = [], []
    for name, stream in _files(path):
        names.append(name)
        if review not in (None, name):
            continue
        for record in read_csv(stream, label_field=_STAGES[stage], id_field="record_id"):
            label = "included" if record.labels == ("1",) else "excluded"
            fields = {"split": name, "date": str(record.fields.get("year") or "")}
            records.append(record._replace(labels=(label,), id=f"{name}/{record.id}", fields=fields))
    if not records:
        raise InputError(
            f"there is no review {review!r}; choose one of {', '.join(sorted(names)) or 'none (no CSV found)'}"
        )
    return Corpus.of_records("systematic_reviews", records, ("excluded", "included"))


def _files(path: Path) -> Iterator[tuple[str, LabelledStream]]:
    if path.is_dir() and not any(path.glob("*.csv")):
        path = pick(path, "systematic_reviews", "csv.tar*", "*.tar*", "*.zip")
    for name, stream in iter_members(path):
        if name.endswith(".csv"):
            yield PurePosixPath(name).stem, stream


def _count(path: Path) -> dict[str, int]:
    corpus = load_systematic_reviews(path)
    included = sum(labels == ("included",) for labels in corpus.labels)
    return {"documents": len(corpus), "included": included, "reviews": len(corpus.parts)}


CORPORA.register("systematic_reviews")(
    CorpusInfo(
        name="systematic_reviews",
        title="Systematic reviews: references screened for 17 reviews, included or excluded",
        homepage="https://github.com/asreview/systematic-review-datasets",
        licence="repository MIT; see its index for each data set; abstracts from PubMed",
        load=load_systematic_reviews,
        expected={"documents": 20_984, "included": 1_187, "reviews": 17},
        files=("csv.tar*", "ACEInhibitors.csv"),
        folders=("systematic_reviews_cohen",),
        obtain="fetch the output CSV files of the reviews from the homepage into one folder",
        count=_count,
    )
)

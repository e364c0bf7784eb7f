"""OHSUMED: 20,000 abstracts of 1991 in 23 diseases, and the MEDLINE references of 1987 to 1991 that TREC-9 filtered.

corpus = load_corpus("ohsumed20000")
corpus = load_corpus("ohsumed_trec9", path="t9.filtering.tar.gz")
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textbayes.core.errors import CorpusNotFoundError, InputError, MalformedFileError
from textbayes.data.archives import is_archive, iter_members
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.download import PublicFile
from textbayes.data.formats import Record
from textbayes.data.formats.smart import read_ohsumed, read_qrels, read_topics
from textbayes.data.formats.text_files import read_folder

_ARCHIVES = ("ohsumed-first-20000-docs*.tar*", "ohsumed-first-20000-docs*.tgz", "ohsumed-first-20000-docs*.zip")
_PARTS = {"training": "train", "test": "test"}


def load_ohsumed20000(path: Path) -> Corpus:
    """Title and abstract of each document, sorted by part and number; its labels are all folders that hold a copy.

    ``path`` is the archive, or a folder that holds it or the folders ``training`` and ``test``.
    """
    if path.is_dir() and not any(path.rglob("training")):
        path = pick(path, "ohsumed20000", *_ARCHIVES)
    records = []
    for record in read_folder(path, multilabel=True):
        *above, _, number = record.fields["path"].split("/")
        part = next((_PARTS[name] for name in reversed(above) if name in _PARTS), None)
        if part is None:
            raise MalformedFileError(path, f"{record.fields['path']} is in neither 'training' nor 'test'")
        records.append(record._replace(id=number, fields={"split": part}))
    records.sort(key=lambda record: (record.fields["split"] != "train", record.id))
    return Corpus.of_records("ohsumed20000", records)


CORPORA.register("ohsumed20000")(
    CorpusInfo(
        name="ohsumed20000",
        title="OHSUMED, first 20,000 documents of 1991: abstracts in 23 cardiovascular diseases, multi-label",
        homepage="http://disi.unitn.it/moschitti/corpora.htm",
        licence="free for research, non-commercial, not for clinical use (Hersh et al. 1994; MEDLINE by NLM)",
        load=load_ohsumed20000,
        expected={"documents": 13_929, "labels": 23, "train": 6_286, "test": 7_643},
        files=(*_ARCHIVES, "ohsumed-first-20000-docs", "training"),
        folders=("ohsumed_first20000",),
        obtain="fetch ohsumed-first-20000-docs.tar.gz from the homepage and give its path",
        downloads=(
            PublicFile(
                "ohsumed-first-20000-docs.tar.gz",
                ("https://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",),
                largest=50_000_000,
            ),
        ),
        notes=("the split is by record number, not by time",),
    )
)


_DOCUMENTS = {"ohsumed.87": "train", "ohsumed.88-91": "test"}
# 1987: the judgements given for batch and adaptive filtering; 1988 to 1991: those the systems are scored by
_JUDGEMENTS = ("qrels.ohsu.batch.87", "qrels.ohsu.88-91")
_TOPICS = "query.ohsu.1-63"


def load_ohsumed_trec9(path: Path, *, grade: int = 1, sections: str = "TW") -> Corpus:
    """Titles and abstracts in order of time, labelled by the topics they are relevant to (mostly none).

    Parameters
    ----------
    path : Path
        ``t9.filtering.tar.gz``, or a folder that holds it or its files (``ohsumed.87``, ``ohsumed.88-91``,
        ``qrels.ohsu.batch.87``, ``qrels.ohsu.88-91``), at any depth.
    grade : {1, 2}
        The least grade that counts: 1 possibly, 2 definitely relevant.
    sections : str
        Letters of the fields that make a text: T title, W abstract, A authors, S source, P publication type, M MeSH
        headings. Chai, Ng & Chieu (2002) have TWAS.
    """
    if not sections or set(sections) - set("TWASPM"):
        raise InputError(f"sections={sections!r} is not usable; give letters of T, W, A, S, P and M")
    relevant: dict[str, set[str]] = {}
    records: list[Record] = []
    found = set()
    for name, stream in _files(path):
        if name in _DOCUMENTS:
            for record in read_ohsumed(stream):
                parts = (record.fields.get(letter) for letter in sections)
                text = "\n".join(part for part in parts if part)
                records.append(Record(text, id=record.id, fields={"split": _DOCUMENTS[name]}))
        elif name in _JUDGEMENTS:
            for judgement in read_qrels(stream):
                if judgement.grade >= grade:
                    relevant.setdefault(judgement.document, set()).add(judgement.topic)
        found.add(name)
    missing = [name for name in (*_DOCUMENTS, *_JUDGEMENTS) if name not in found]
    if missing:
        there = ", ".join(sorted(found)) or "none of its files"
        raise CorpusNotFoundError(
            f"corpus 'ohsumed_trec9': {path} lacks {', '.join(missing)} (it has {there}); "
            "give the whole t9.filtering.tar.gz"
        )
    records.sort(key=lambda record: record.fields["split"] != "train")  # stable: within a part as stored, in time
    labelled = (record._replace(labels=tuple(sorted(relevant.get(str(record.id), ())))) for record in records)
    return Corpus.of_records("ohsumed_trec9", labelled)


def load_statements(path: Path) -> dict[str, str]:
    """Read the statement of each topic, its title and description, by its number, in the order of the file."""
    for name, stream in _files(path):
        if name == _TOPICS:
            return {topic.number: f"{topic.title}\n{topic.description}" for topic in read_topics(stream)}
    raise CorpusNotFoundError(f"corpus 'ohsumed_trec9': {path} lacks {_TOPICS}; give the whole t9.filtering.tar.gz")


def is_complete(path: Path) -> bool:
    """Whether documents, judgements and topics are all there."""
    names = {name for name, _ in _files(path)}
    return names.issuperset((*_DOCUMENTS, *_JUDGEMENTS, _TOPICS))


def _files(path: Path) -> Iterator[tuple[str, Any]]:
    if path.is_dir():  # the archive has everything: topics beside it may have been had alone
        path = next((file for file in sorted(path.glob("t9.filtering*")) if is_archive(file)), path)
    if path.is_file() and not is_archive(path):
        path = path.parent
    wanted = {*_DOCUMENTS, *_JUDGEMENTS, _TOPICS}
    for name, stream in iter_members(path):
        base = name.rpartition("/")[2]
        for ending in (".gz", ".xz", ".bz2"):
            base = base.removesuffix(ending)
        if base in wanted:
            wanted.discard(base)  # the archive holds some files twice
            yield base, stream


def _count(path: Path) -> dict[str, int]:
    counts = dict.fromkeys(("documents", "train", "test", "topics", "judgements 88-91"), 0)
    for name, stream in _files(path):
        if name in _DOCUMENTS:
            counts[_DOCUMENTS[name]] = sum(1 for _ in read_ohsumed(stream))
        elif name == _TOPICS:
            counts["topics"] = len(read_topics(stream))
        elif name == _JUDGEMENTS[1]:
            counts["judgements 88-91"] = sum(1 for _ in read_qrels(stream))
    counts["documents"] = counts["train"] + counts["test"]
    return counts


CORPORA.register("ohsumed_trec9")(
    CorpusInfo(
        name="ohsumed_trec9",
        title="OHSUMED, TREC-9 filtering: MEDLINE references of 1987 (train) and 1988-91 (test), 63 topics",
        homepage="https://trec.nist.gov/data/t9_filtering.html",
        licence="free for research, non-commercial, not for clinical use (Hersh et al. 1994)",
        load=load_ohsumed_trec9,
        expected={"documents": 348_566, "train": 54_710, "test": 293_856, "topics": 63, "judgements 88-91": 3_205},
        files=("t9.filtering*", "ohsumed.87*", "ohsumed.88-91*", "query.ohsu*", "ohsu-trec"),
        folders=("ohsumed_trec9_topics",),
        obtain="fetch t9.filtering.tar.gz from the homepage and give its path",
        downloads=(
            PublicFile(
                "t9.filtering.tar.gz",
                ("https://trec.nist.gov/data/filtering/t9.filtering.tar.gz",),
                # as Hugging Face's datasets publishes it for this address
                sha256="39184391aab6d080699882dbfd87de4cbcb24cce8a0cffd611debf18914481b0",
                largest=139_454_017,
            ),
        ),
        count=_count,
        complete=is_complete,
    )
)

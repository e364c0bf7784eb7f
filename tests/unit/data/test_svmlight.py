from __future__ import annotations

import io
import re

import numpy as np
import pytest

from textbayes.core.errors import InputError, MalformedFileError, NotSupportedError
from textbayes.core.types import Document
from textbayes.data import open_documents, read_svmlight
from textbayes.text import TextVectorizer

ROWS = b"2,7 1:0.5 4:1 # a comment\n 2:3\n-1 qid:3 1:1\n+1\n1.5 4:2\n"


def test_rows_in_every_compression(write_compressed):
    X, labels = read_svmlight(write_compressed("a.svm", ROWS))
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 0, 1], [0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]])
    assert labels == [("2", "7"), (), ("-1",), ("1",), ("1.5",)]


def test_width_and_base():
    assert read_svmlight(io.BytesIO(ROWS), n_features=9)[0].shape == (5, 9)
    assert read_svmlight(io.BytesIO(b"1 0:1 2:1\n"))[0].shape == (1, 3)
    assert read_svmlight(io.BytesIO(b"1 1:1 2:1\n"), zero_based=True)[0].shape == (1, 3)
    assert read_svmlight(io.BytesIO(b"1 1:1 2:1\n"), zero_based=False)[0].shape == (1, 2)
    with pytest.raises(InputError, match="zero_based='yes' is not known"):
        read_svmlight(io.BytesIO(ROWS), zero_based="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "line", "cause"),
    [
        (b"", None, "no rows"),
        (b"1 1:1\nspam 2:1\n", 2, "not svmlight .*spam"),
        (b"1 1:1\n1 1:1\n1 2:x\n", 3, "not svmlight"),
        (b"1 4:1 2:1\n", 1, "sorted and unique"),
        (b"1 1:1\n1 2\n", 2, "not svmlight"),
        (b"1 -3:1\n", 1, "Invalid index"),
        (b"1 99999999999999:1\n", 1, "not svmlight"),
        (b"1 1:1\n\0\0\n", 2, "NUL bytes"),
        (b"1 1:nan\n", None, "1 NaN or infinite"),
    ],
)
def test_malformed_files_are_refused_with_line_and_cause(data, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as caught:
        read_svmlight(io.BytesIO(data))
    assert caught.value.line == line


def test_an_index_0_in_a_one_based_file_and_too_few_columns():
    with pytest.raises(MalformedFileError, match=r"line 1: .*Invalid index 0"):
        read_svmlight(io.BytesIO(b"1 0:1\n"), zero_based=False)
    with pytest.raises(MalformedFileError, match="column 4 was found where n_features=3; raise n_features"):
        read_svmlight(io.BytesIO(ROWS), n_features=3)


def test_a_file_cut_short_is_refused(tmp_path):
    import lzma

    path = tmp_path / "cut.svm.xz"
    path.write_bytes(lzma.compress(ROWS * 1000)[:-40])
    with pytest.raises(MalformedFileError, match="cut short or damaged"):
        read_svmlight(path)


# -- counts as texts --------------------------------------------------------------------------------------------------
COUNTS = b"2,7 1:2 12:1 # a comment\n 2:3\n\n-1 qid:3 1:1\n+1\n"


def test_counts_are_texts_with_every_word_as_often(write_compressed):
    assert list(open_documents(write_compressed("a.svm", COUNTS))) == [
        Document("1", "f1 f1 f12", ("2", "7")),
        Document("2", "f2 f2 f2", ()),
        Document("3", "f1", ("-1",)),
        Document("4", "", ("1",)),
    ]
    assert len(list(open_documents(io.BytesIO(b"1 1:2 2:1\n" * 3)))) == 3  # known by its content


def test_the_matrix_comes_back_from_the_texts(tmp_path):
    """2,500 rows, more than are read at a time: the words that are found again have the counts of the file."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, (2_500, 30)) + (np.arange(30) == 0)
    path, words = tmp_path / "a.libsvm", tmp_path / "words.txt"
    path.write_text(
        "".join(
            f"{n % 3} " + " ".join(f"{j}:{c}" for j, c in enumerate(row) if c) + "\n" for n, row in enumerate(counts)
        )
    )
    names = [f"don't-{j}Ä" if j % 2 else f"Word.{j}" for j in range(30)]
    words.write_text("\n".join(names) + "\n", encoding="utf-8")
    documents = list(open_documents(path, vocabulary=str(words), zero_based=True))
    assert [document.labels for document in documents] == [(str(n % 3),) for n in range(2_500)]
    vectorizer = TextVectorizer(
        vocabulary=names, token_pattern=r"[^ \0]+", lowercase=False, stop_words=None, stemmer=None
    )
    found = vectorizer.fit_transform([document.text for document in documents])
    np.testing.assert_array_equal(found.toarray(), counts)
    matrix, _ = read_svmlight(path)
    np.testing.assert_array_equal(matrix.toarray(), counts)


@pytest.mark.parametrize("values", ["1:0.5", "1:-2", "1:1 2:1e-3"])
def test_numbers_that_are_no_counts_are_refused_with_the_way_to_read_them(values):
    with pytest.raises(NotSupportedError, match="whose values are no counts") as refused:
        list(open_documents(io.BytesIO(f"1 {values}\n".encode()), "svmlight"))
    assert "read_svmlight" in "\n".join(refused.value.__notes__)


def test_what_is_wrong_with_a_row_or_a_vocabulary_is_named(tmp_path):
    def read(rows, words=None, **options):
        path = tmp_path / "words.txt"
        if words is not None:
            path.write_text(words)
            options["vocabulary"] = str(path)
        return list(open_documents(io.BytesIO(rows), "svmlight", **options))

    with pytest.raises(MalformedFileError, match=r"line 1501: not svmlight"):
        read(b"1 1:1\n" * 1500 + b"spam 2:1\n")
    with pytest.raises(MalformedFileError, match="no rows"):
        read(b"")
    with pytest.raises(MalformedFileError, match="longer than 1,000 bytes"):
        read(b"1 1:999999999999\n", max_record=1_000)
    with pytest.raises(MalformedFileError, match=re.escape("index 3 has no word in the vocabulary, which has 2")):
        read(b"1 3:1\n", "wheat\ncorn\n")
    assert [one.text for one in read(b"1 1:1 2:1\n", "wheat\ncorn\n")] == ["wheat corn"]
    assert [one.text for one in read(b"1 0:1 1:1\n", "wheat\ncorn\n", zero_based=True)] == ["wheat corn"]
    for words, line in (("wheat\nnew york\n", 2), ("wheat\n\ncorn\n", 2), ("a\nb\na\n", 3)):
        with pytest.raises(MalformedFileError, match=f"line {line}: .* is no word of a vocabulary"):
            read(b"1 1:1\n", words)
